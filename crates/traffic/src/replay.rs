//! Replay: the frames of a capture, again and again, at a given load.
//!
//! Frames go out as they were captured, so nothing is known about what must come back: it is
//! counted, not checked. For checked traffic use a [`Tester`](crate::Tester).

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

use fwdlab_port::pcap::{CutFrames, PcapReader};
use fwdlab_port::{Batch, Pool, Port, PortError};

use crate::pacer::{Pacer, Pacing};
use crate::time::TimeSource;

/// The frames of a capture.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use fwdlab_port::{Clock, Pool, pcap::PcapWriter, ring};
/// use fwdlab_traffic::{Replay, ReplayPlan};
///
/// let mut capture = PcapWriter::new(Vec::new())?;
/// capture.write(&[1; 60], 0)?;
/// capture.write(&[2; 1514], 0)?;
/// let replay = Replay::read(&capture.into_inner()?[..])?;
/// assert_eq!((replay.frames(), replay.mean_len()), (2, 787.0));
///
/// let pool = Pool::with_frames(64)?;
/// let (mut out, mut back) = ring::pair(64);
/// let plan = ReplayPlan { frames_per_second: Some(1e6), duration_ns: 1_000_000, drain_ns: 100_000 };
/// let result = replay.run(&plan, &pool, (&mut out, &mut back), Clock::new(), &AtomicBool::new(false));
/// assert!(result.sent > 0 && result.received == result.sent);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Replay {
    frames: Vec<Vec<u8>>,
    cut: CutFrames,
}

/// How a capture is replayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayPlan {
    /// Load in frames/s; `None` is as fast as the port takes them.
    pub frames_per_second: Option<f64>,
    /// How long frames are sent, in ns.
    pub duration_ns: u64,
    /// How long to wait for frames after that, in ns.
    pub drain_ns: u64,
}

/// What a replay yielded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReplayResult {
    /// Frames sent.
    pub sent: u64,
    /// Frames received on the other port.
    pub received: u64,
    /// Frames received on the sending port.
    pub returned: u64,
    /// Time of sending in ns.
    pub duration_ns: u64,
    /// How regularly the rate was kept.
    pub pacing: Option<Pacing>,
}

/// A replay under way.
struct Run<'a> {
    frames: &'a [Vec<u8>],
    next: usize,
    pool: &'a Pool,
    arrived: Batch,
    ready: Batch,
    result: ReplayResult,
}

impl Replay {
    /// Reads all frames of a capture into memory.
    ///
    /// # Errors
    /// The input is no capture of Ethernet frames, or is broken.
    pub fn read(input: impl Read) -> Result<Self, PortError> {
        let mut reader = PcapReader::new(input)?;
        let (mut frames, mut bytes) = (Vec::new(), Vec::new());
        while reader.next_packet(&mut bytes)?.is_some() {
            frames.push(bytes.clone());
        }
        Ok(Self { frames, cut: reader.cut_frames() })
    }

    /// Those of which the capture holds only the beginning; they are sent so.
    pub fn cut_frames(&self) -> CutFrames {
        self.cut
    }

    /// How many frames it has.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// How many frames are longer than this, in bytes without FCS.
    pub fn longer_than(&self, bytes: usize) -> usize {
        self.frames.iter().filter(|frame| frame.len() > bytes).count()
    }

    /// Mean length in bytes, without FCS.
    pub fn mean_len(&self) -> f64 {
        let bytes: usize = self.frames.iter().map(Vec::len).sum();
        bytes as f64 / self.frames.len().max(1) as f64
    }

    /// Sends the frames in a loop from port `out`, and counts what `back` receives. Frames longer
    /// than the pool's slots are left out.
    pub fn run(
        &self,
        plan: &ReplayPlan,
        pool: &Pool,
        (out, back): (&mut dyn Port, &mut dyn Port),
        mut time: impl TimeSource,
        stop: &AtomicBool,
    ) -> ReplayResult {
        let fitting: Vec<_> = self
            .frames
            .iter()
            .filter(|frame| frame.len() <= pool.config().capacity)
            .cloned()
            .collect();
        let (arrived, ready) = (Batch::new(), Batch::new());
        let result = ReplayResult::default();
        let mut run = Run { frames: &fitting, next: 0, pool, arrived, ready, result };
        let ns_per_tick = time.ns_per_tick();
        let ticks = |ns: u64| (ns as f64 / ns_per_tick) as u64;
        let start = time.ticks();
        let end = start + ticks(plan.duration_ns);
        let mut pacer = plan.frames_per_second.map(|rate| Pacer::new(rate, ns_per_tick, start));
        let mut now = start;
        while now < end && !stop.load(Ordering::Relaxed) {
            run.inhale(out, back);
            let due = pacer.as_mut().map_or(Batch::CAPACITY, |pacer| pacer.due(now));
            let sent = run.exhale(out, due);
            if let (Some(pacer), true) = (&mut pacer, sent > 0) {
                pacer.left(sent, now);
            }
            now = time.ticks();
        }
        run.result.duration_ns = ((now - start) as f64 * ns_per_tick) as u64;
        let mut last_frame = now;
        while now - last_frame < ticks(plan.drain_ns) {
            if run.inhale(out, back) > 0 {
                last_frame = now;
            }
            now = time.ticks();
        }
        run.pool.put(&mut run.ready);
        run.result.pacing = pacer.map(|pacer| pacer.summary(ns_per_tick));
        run.result
    }
}

impl Run<'_> {
    /// Counts what has come on both ports; returns how many frames.
    fn inhale(&mut self, out: &mut dyn Port, back: &mut dyn Port) -> usize {
        let received = back.receive(&mut self.arrived);
        let returned = out.receive(&mut self.arrived);
        self.result.received += received as u64;
        self.result.returned += returned as u64;
        if received + returned > 0 {
            self.pool.put(&mut self.arrived);
        }
        received + returned
    }

    /// Sends up to `due` frames; returns how many left.
    fn exhale(&mut self, out: &mut dyn Port, due: usize) -> usize {
        if self.frames.is_empty() {
            return 0;
        }
        let before = self.ready.len();
        self.pool.take_batch(&mut self.ready, due.saturating_sub(before));
        for frame in &mut self.ready[before..] {
            let bytes = &self.frames[self.next];
            self.next = (self.next + 1) % self.frames.len();
            frame.set_len(bytes.len());
            frame.copy_from_slice(bytes);
        }
        let sent = if self.ready.is_empty() { 0 } else { out.send(&mut self.ready) };
        self.result.sent += sent as u64;
        sent
    }
}
