//! Capture files: reading pcap and pcapng, writing pcap, and a [`Port`] over both. Frames are
//! without FCS, as captures are.

mod blocks;
mod input;
mod reader;

use std::io::{Read, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use fwdlab_wire::MacAddr;

use crate::counters::Counters;
use crate::error::PortError;
use crate::interface::Port;
use crate::{Batch, Pool};

pub use reader::{CutFrames, PcapReader};

use input::{LINKTYPE_ETHERNET, MAX_PACKET};
use reader::MAGIC_NANOS;

const HEADER_LEN: usize = 24;
const RECORD_LEN: usize = 16;

/// Writes a capture file, little-endian, with time stamps in ns.
#[derive(Debug)]
pub struct PcapWriter<W> {
    output: W,
    packets: u64,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the file header.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn new(mut output: W) -> Result<Self, PortError> {
        let mut header = Vec::with_capacity(HEADER_LEN);
        header.extend(MAGIC_NANOS.to_le_bytes());
        // Version 2.4, in one word; no time zone, no accuracy; snapshot length; link type.
        for word in [0x0004_0002, 0, 0, MAX_PACKET as u32, LINKTYPE_ETHERNET] {
            header.extend(u32::to_le_bytes(word));
        }
        output.write_all(&header).map_err(|source| PortError::Capture { packet: 0, source })?;
        Ok(Self { output, packets: 0 })
    }

    /// Appends a packet with its time in ns.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write(&mut self, bytes: &[u8], time_ns: u64) -> Result<(), PortError> {
        self.packets += 1;
        let seconds = (time_ns / 1_000_000_000) as u32;
        let fraction = (time_ns % 1_000_000_000) as u32;
        let mut record = Vec::with_capacity(RECORD_LEN + bytes.len());
        for word in [seconds, fraction, bytes.len() as u32, bytes.len() as u32] {
            record.extend(word.to_le_bytes());
        }
        record.extend(bytes);
        let packet = self.packets;
        self.output.write_all(&record).map_err(|source| PortError::Capture { packet, source })
    }

    /// Flushes and gives the output back.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn into_inner(mut self) -> Result<W, PortError> {
        let packet = self.packets;
        self.output.flush().map_err(|source| PortError::Capture { packet, source })?;
        Ok(self.output)
    }
}

/// The present of several captures that are played together, ns: ports on one timeline receive
/// only what is due, and stamp what they send with this time.
///
/// ```
/// use fwdlab_port::{Batch, Pool, Port, pcap::{PcapPort, PcapWriter, Timeline}};
/// let mut capture = PcapWriter::new(Vec::new())?;
/// capture.write(&[7; 60], 1_500)?;
/// capture.write(&[7; 60], 2_500)?;
/// let capture = capture.into_inner()?;
///
/// let (pool, now) = (Pool::with_frames(8)?, Timeline::default());
/// let port = PcapPort::new(pool, Some(&capture[..]), None::<Vec<u8>>)?;
/// let mut port = port.with_timeline(&now);
/// let mut batch = Batch::new();
/// assert_eq!((port.next_time_ns(), port.receive(&mut batch)), (Some(1_500), 0));
/// now.set(1_500);
/// assert_eq!((port.receive(&mut batch), port.next_time_ns()), (1, Some(2_500)));
/// # Ok::<(), fwdlab_port::PortError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Timeline(Arc<AtomicU64>);

impl Timeline {
    /// The present.
    pub fn now_ns(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Moves the present.
    pub fn set(&self, now_ns: u64) {
        self.0.store(now_ns, Relaxed);
    }
}

/// A capture that several ports write into, in the order in which they send.
#[derive(Debug)]
pub struct SharedOutput<W>(Arc<Mutex<PcapWriter<W>>>);

impl<W> Clone for SharedOutput<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: Write> SharedOutput<W> {
    /// Writes the file header.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn new(output: W) -> Result<Self, PortError> {
        Ok(Self(Arc::new(Mutex::new(PcapWriter::new(output)?))))
    }

    fn write(&self, bytes: &[u8], time_ns: u64) -> Result<(), PortError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes, time_ns)
    }

    /// The output, if this was the last handle of it.
    fn finish(self) -> Result<Option<W>, PortError> {
        let writer = Arc::into_inner(self.0);
        let writer = writer.map(|lock| lock.into_inner().unwrap_or_else(PoisonError::into_inner));
        writer.map(PcapWriter::into_inner).transpose()
    }
}

/// A port that receives from one capture and sends into another; either may be missing.
///
/// An error stops the direction in which it happened; [`PcapPort::finish`] reports it.
///
/// ```
/// use fwdlab_port::{Batch, Pool, Port, pcap::{PcapPort, PcapReader, PcapWriter}};
/// let mut capture = PcapWriter::new(Vec::new())?;
/// capture.write(&[7; 60], 1_500)?;
/// let capture = capture.into_inner()?;
///
/// let pool = Pool::with_frames(8)?;
/// let mut port = PcapPort::new(pool.clone(), Some(&capture[..]), Some(Vec::new()))?;
/// let mut batch = Batch::new();
/// assert_eq!(port.receive(&mut batch), 1);
/// assert_eq!(batch[0].len(), 60);
/// port.send(&mut batch);
/// assert!(port.is_at_end());
/// let written = port.finish()?.expect("an output");
/// assert_eq!(PcapReader::new(&written[..])?.next_packet(&mut Vec::new())?, Some(1_500));
/// # Ok::<(), fwdlab_port::PortError>(())
/// ```
#[derive(Debug)]
pub struct PcapPort<R, W> {
    pool: Pool,
    input: Option<PcapReader<R>>,
    output: Option<SharedOutput<W>>,
    cut: CutFrames,
    error: Option<PortError>,
    timeline: Option<Timeline>,
    /// Of the packet received last; packets sent get the same time, unless there is a timeline.
    time_ns: u64,
    /// The packet that comes next, and its time.
    bytes: Vec<u8>,
    next_time_ns: Option<u64>,
    mac: MacAddr,
    mtu: usize,
    counters: Counters,
}

impl<R: Read + Send, W: Write + Send> PcapPort<R, W> {
    /// A port that takes frames from `pool` for what it reads, and gives those sent back to it.
    ///
    /// # Errors
    /// The input is no capture of Ethernet frames, or the output cannot be written.
    pub fn new(pool: Pool, input: Option<R>, output: Option<W>) -> Result<Self, PortError> {
        let mut port = Self {
            input: input.map(PcapReader::new).transpose()?,
            output: output.map(SharedOutput::new).transpose()?,
            cut: CutFrames::default(),
            error: None,
            timeline: None,
            time_ns: 0,
            bytes: Vec::new(),
            next_time_ns: None,
            mac: MacAddr::numbered(1),
            mtu: pool.config().capacity.saturating_sub(14),
            pool,
            counters: Counters::default(),
        };
        port.read_next();
        Ok(port)
    }

    /// The same port with an output that other ports have, too.
    #[must_use]
    pub fn with_output(mut self, output: SharedOutput<W>) -> Self {
        self.output = Some(output);
        self
    }

    /// The same port on a timeline.
    #[must_use]
    pub fn with_timeline(mut self, timeline: &Timeline) -> Self {
        self.timeline = Some(timeline.clone());
        self
    }

    /// Time of the packet that is received next; `None` when there is none any more.
    pub fn next_time_ns(&self) -> Option<u64> {
        self.next_time_ns
    }

    /// The same port with another MAC address.
    #[must_use]
    pub fn with_mac(mut self, mac: MacAddr) -> Self {
        self.mac = mac;
        self
    }

    /// The same port with another MTU in bytes.
    #[must_use]
    pub fn with_mtu(mut self, mtu: usize) -> Self {
        self.mtu = mtu;
        self
    }

    /// Whether all packets of the input have been received.
    pub fn is_at_end(&self) -> bool {
        self.next_time_ns.is_none()
    }

    /// Frames of the input so far of which the capture holds only the beginning.
    pub fn cut_frames(&self) -> CutFrames {
        self.cut
    }

    /// Ends both captures; gives back the output, if no other port writes to it any more.
    ///
    /// # Errors
    /// The first error of reading or writing.
    pub fn finish(self) -> Result<Option<W>, PortError> {
        match self.error {
            Some(error) => Err(error),
            None => self.output.map_or(Ok(None), SharedOutput::finish),
        }
    }

    /// Reads ahead.
    fn read_next(&mut self) {
        self.next_time_ns = None;
        let Some(input) = &mut self.input else { return };
        match input.next_packet(&mut self.bytes) {
            Ok(time_ns) => self.next_time_ns = time_ns,
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
        self.cut = input.cut_frames();
        if self.next_time_ns.is_none() {
            self.input = None;
        }
    }

    /// Puts the next packet into a frame of the batch; false when there is none, or none due.
    fn receive_one(&mut self, batch: &mut Batch) -> bool {
        let Some(time_ns) = self.next_time_ns else { return false };
        let is_due = self.timeline.as_ref().is_none_or(|timeline| time_ns <= timeline.now_ns());
        if !is_due || batch.is_full() || self.pool.available() == 0 {
            return false;
        }
        self.time_ns = time_ns;
        let fits = self.bytes.len() <= self.pool.config().capacity;
        match self.pool.take().filter(|_| fits) {
            None => self.counters.rx_dropped += 1,
            Some(mut frame) => {
                frame.set_len(self.bytes.len());
                frame.copy_from_slice(&self.bytes);
                self.counters.rx_frames += 1;
                self.counters.rx_bytes += self.bytes.len() as u64;
                // There is room, as was seen above; were there none, the frame would go home.
                let _ = batch.push(frame);
            }
        }
        self.read_next();
        true
    }
}

impl<R: Read + Send, W: Write + Send> Port for PcapPort<R, W> {
    fn receive(&mut self, batch: &mut Batch) -> usize {
        let before = batch.len();
        while self.receive_one(batch) {}
        batch.len() - before
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        let count = batch.len();
        let time_ns = self.timeline.as_ref().map_or(self.time_ns, Timeline::now_ns);
        for frame in batch.iter() {
            if let Some(output) = &mut self.output
                && let Err(error) = output.write(frame, time_ns)
            {
                self.output = None;
                self.error.get_or_insert(error);
            }
            self.counters.tx_frames += 1;
            self.counters.tx_bytes += frame.len() as u64;
        }
        self.pool.put(batch);
        count
    }

    fn mac(&self) -> MacAddr {
        self.mac
    }

    fn mtu(&self) -> usize {
        self.mtu
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}
