//! A capture made ready to be sent through a device: its addresses mapped onto the experiment's, and
//! room found for marks.

use std::collections::HashMap;
use std::fmt;

use fwdlab_wire::{checksum, ethernet, ipv4, ipv6};

use super::capture::{Capture, CaptureError, LeftOut, Packet};
use super::segment::Segment;
use crate::flows::{Endpoints, Family};

/// The mark: number of the packet in the recording, number of the frame in its flow.
pub(super) const MARK: usize = 8;
/// The mark with a time stamp behind it.
pub(super) const STAMPED: usize = 16;
/// Frames without FCS are at least this long.
const SHORTEST: usize = ethernet::MIN_FRAME_LEN_WITH_FCS - ethernet::FCS_LEN;
/// Packets that a router would not forward any more get this.
const TTL: u8 = 64;

/// The frames of a capture, with addresses of the experiment.
#[derive(Clone, PartialEq)]
pub struct Recording {
    bytes: Vec<u8>,
    pub(super) frames: Vec<RecordedFrame>,
    flows: u32,
    addresses: u32,
    longest: usize,
    period_ns: u64,
    left_out: LeftOut,
    is_dual: bool,
}

/// One frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordedFrame {
    start: usize,
    /// Without FCS, with the padding of a short frame.
    pub(super) len: usize,
    /// Without padding, which a device may take off.
    pub(super) least: usize,
    pub(super) flow: u32,
    pub(super) family: Family,
    /// Where the checksum above IP stands, if there is one and marks change it.
    pub(super) checksum_at: Option<u16>,
    pub(super) mark: Mark,
    pub(super) time_ns: u64,
}

/// The room for a mark, at the end of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The payload is too short, or is not known.
    None,
    /// At this offset, without a time stamp.
    Bare(u16),
    /// At this offset, with room for a time stamp.
    Stamped(u16),
}

impl Mark {
    pub(super) fn at(self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Bare(at) | Self::Stamped(at) => Some(usize::from(at)),
        }
    }
}

/// Where a mark of this length would stand in a packet of this length: at its end, on a word of the
/// checksum.
pub(super) fn place(packet_len: usize, mark_len: usize) -> Option<usize> {
    Some(packet_len.checked_sub(mark_len)? & !1)
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recording of {} frames in {} flows", self.frames.len(), self.flows)
    }
}

/// What makes a flow.
type FlowKey = (Family, u128, u128, u8, [u16; 2]);

/// Addresses of a capture and what stands for them, in the order in which they appear.
struct Names<'a> {
    range: &'a Endpoints,
    numbers: HashMap<u128, u32>,
}

impl<'a> Names<'a> {
    fn new(range: &'a Endpoints) -> Self {
        Self { range, numbers: HashMap::new() }
    }

    fn of(&mut self, address: u128) -> u128 {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(address).or_insert(next);
        self.range.first() + u128::from(number % self.range.addresses())
    }
}

impl Capture {
    /// The capture between these ends, one pair for each family: the k-th sender of the capture
    /// becomes the k-th source, the k-th addressee the k-th destination; where there are more than
    /// addresses, it starts over. Ports stay as they are.
    ///
    /// # Errors
    /// No packet is of a family that there are ends of.
    pub fn mapped(&self, ends: &[(Endpoints, Endpoints)]) -> Result<Recording, CaptureError> {
        let mut names: Vec<_> = ends
            .iter()
            .map(|(source, destination)| (Names::new(source), Names::new(destination)))
            .collect();
        let mut recording = Recording {
            bytes: Vec::new(),
            frames: Vec::new(),
            flows: 0,
            addresses: 0,
            longest: 0,
            period_ns: 0,
            left_out: self.left_out(),
            is_dual: false,
        };
        let mut flows: HashMap<FlowKey, u32> = HashMap::new();
        for packet in &self.packets {
            let mut of_family =
                names.iter_mut().filter(|(from, _)| from.range.family() == packet.family);
            match of_family.next() {
                Some(names) => recording.add(packet, names, &mut flows),
                None => recording.left_out.other_family += 1,
            }
        }
        let Some((first, last)) = recording.frames.first().zip(recording.frames.last()) else {
            let family = ends.first().map_or("IP", |(source, _)| source.family().name());
            return Err(CaptureError::OtherFamily { packets: self.packets.len(), family });
        };
        let length_ns = last.time_ns - first.time_ns;
        // After the last frame comes the first again, at the mean distance.
        let gaps = (recording.frames.len() as u64 - 1).max(1);
        recording.period_ns =
            if length_ns == 0 { 0 } else { length_ns + (length_ns / gaps).max(1) };
        recording.flows = flows.len() as u32;
        recording.addresses =
            names.iter().map(|(from, to)| (from.numbers.len() + to.numbers.len()) as u32).sum();
        recording.is_dual = recording.frames.iter().any(|frame| frame.family != first.family);
        Ok(recording)
    }
}

impl Recording {
    /// How many frames it has, at least one.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Distinct flows: addresses, protocol and ports.
    pub fn flows(&self) -> u32 {
        self.flows
    }

    /// The number of a frame's flow, below [`flows`](Self::flows); 0 for frames that it does not have.
    pub fn flow_of(&self, frame: usize) -> u32 {
        self.frames.get(frame).map_or(0, |frame| frame.flow)
    }

    /// Bytes of a frame without FCS and without padding, which a device may take off; 0 for frames that
    /// it does not have.
    pub fn least_of(&self, frame: usize) -> usize {
        self.frames.get(frame).map_or(0, |frame| frame.least)
    }

    /// Distinct senders and addressees of the capture.
    pub fn addresses(&self) -> u32 {
        self.addresses
    }

    /// Frames with room for a mark: those whose order is checked.
    pub fn marked(&self) -> usize {
        self.frames.iter().filter(|frame| frame.mark != Mark::None).count()
    }

    /// Frames with room for a time stamp.
    pub fn stamped(&self) -> usize {
        self.frames.iter().filter(|frame| matches!(frame.mark, Mark::Stamped(_))).count()
    }

    /// Frames of the capture that are not among them.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// The longest frame in bytes with FCS.
    pub fn longest(&self) -> usize {
        self.longest + ethernet::FCS_LEN
    }

    /// The number of the longest among the frames that are replayed, from 1.
    pub fn longest_packet(&self) -> u64 {
        let found = self.frames.iter().position(|frame| frame.len == self.longest);
        found.map_or(0, |at| at as u64 + 1)
    }

    /// Mean length in bytes with FCS.
    pub fn mean_len(&self) -> f64 {
        let bytes: usize = self.frames.iter().map(|frame| frame.len + ethernet::FCS_LEN).sum();
        bytes as f64 / self.frames.len() as f64
    }

    /// The rate at which it was recorded, frames/s; `None` when all frames have the same time.
    pub fn recorded_pps(&self) -> Option<f64> {
        let period = (self.period_ns > 0).then_some(self.period_ns as f64)?;
        Some(self.frames.len() as f64 * 1e9 / period)
    }

    /// When each frame is due, in ns from the first, and after how long it starts over.
    pub(crate) fn schedule(&self) -> (Vec<u64>, u64) {
        let start = self.frames.first().map_or(0, |frame| frame.time_ns);
        (self.frames.iter().map(|frame| frame.time_ns - start).collect(), self.period_ns)
    }

    /// A frame's bytes, without MAC addresses and mark.
    pub(super) fn bytes_of(&self, frame: &RecordedFrame) -> &[u8] {
        &self.bytes[frame.start..frame.start + frame.len]
    }

    fn add(
        &mut self,
        packet: &Packet,
        (sources, destinations): &mut (Names<'_>, Names<'_>),
        flows: &mut HashMap<FlowKey, u32>,
    ) {
        let mut bytes = packet.bytes.clone();
        let (source, destination) =
            rename(packet.family, &mut bytes, |from, to| (sources.of(from), destinations.of(to)));
        let segment = Segment::of(packet.family, &bytes);
        // What was not recorded of a header is not there to be read.
        let has_header = segment.payload_at.is_some_and(|at| at <= packet.recorded);
        let room = segment.payload_at.filter(|_| has_header).map_or(0, |at| bytes.len() - at);
        let place = |len| {
            let at = place(bytes.len(), len).filter(|at| bytes.len() - at <= room)?;
            Some((ethernet::HEADER_LEN + at) as u16)
        };
        let mark = match (place(STAMPED), place(MARK)) {
            (Some(at), _) => Mark::Stamped(at),
            (None, Some(at)) => Mark::Bare(at),
            (None, None) => Mark::None,
        };
        match mark {
            Mark::Stamped(at) => bytes[usize::from(at) - ethernet::HEADER_LEN..][..STAMPED].fill(0),
            Mark::Bare(at) => bytes[usize::from(at) - ethernet::HEADER_LEN..][..MARK].fill(0),
            Mark::None => {}
        }
        segment.sum_anew(packet.family, &packet.bytes, &mut bytes);
        let key = (packet.family, source, destination, segment.protocol, segment.ports);
        let next = flows.len() as u32;
        let flow = *flows.entry(key).or_insert(next);
        let start = self.bytes.len();
        let kind = match packet.family {
            Family::Inet => ethernet::TYPE_IPV4,
            Family::Inet6 => ethernet::TYPE_IPV6,
        };
        self.bytes.extend([0; 2 * 6]);
        self.bytes.extend(kind.to_be_bytes());
        self.bytes.extend(&bytes);
        let least = ethernet::HEADER_LEN + bytes.len();
        let len = least.max(SHORTEST);
        self.bytes.resize(start + len, 0);
        self.longest = self.longest.max(len);
        let checksum_at = segment.checksum_at.map(|at| (ethernet::HEADER_LEN + at) as u16);
        let (family, time_ns) = (packet.family, packet.time_ns);
        self.frames.push(RecordedFrame {
            start,
            len,
            least,
            flow,
            family,
            checksum_at,
            mark,
            time_ns,
        });
    }
}

/// Gives a packet other addresses, and a TTL that outlives a router; returns the addresses.
fn rename(
    family: Family,
    packet: &mut [u8],
    mut names: impl FnMut(u128, u128) -> (u128, u128),
) -> (u128, u128) {
    match family {
        Family::Inet => {
            let address = |at: usize| {
                u32::from_be_bytes([packet[at], packet[at + 1], packet[at + 2], packet[at + 3]])
            };
            let (from, to) = (address(ipv4::SOURCE.start), address(ipv4::DESTINATION.start));
            let (source, destination) = names(from.into(), to.into());
            packet[ipv4::SOURCE].copy_from_slice(&(source as u32).to_be_bytes());
            packet[ipv4::DESTINATION].copy_from_slice(&(destination as u32).to_be_bytes());
            if packet[ipv4::TTL] < 2 {
                packet[ipv4::TTL] = TTL;
            }
            packet[ipv4::CHECKSUM].fill(0);
            let header = usize::from(packet[0] & 15) * 4;
            let sum = checksum::finish(checksum::sum(&packet[..header]));
            packet[ipv4::CHECKSUM].copy_from_slice(&sum.to_be_bytes());
            (source, destination)
        }
        Family::Inet6 => {
            let address = |field: std::ops::Range<usize>| {
                packet[field].iter().fold(0, |sum: u128, byte| sum << 8 | u128::from(*byte))
            };
            let (source, destination) = names(address(ipv6::SOURCE), address(ipv6::DESTINATION));
            packet[ipv6::SOURCE].copy_from_slice(&source.to_be_bytes());
            packet[ipv6::DESTINATION].copy_from_slice(&destination.to_be_bytes());
            if packet[ipv6::HOP_LIMIT] < 2 {
                packet[ipv6::HOP_LIMIT] = TTL;
            }
            (source, destination)
        }
    }
}
