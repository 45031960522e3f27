//! Counters of one worker: written by its thread once per poll, read by any other thread at any
//! time, without locks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fwdlab_port::Clock;

use crate::drops::DropReason;

/// A counter with one writer: an addition is a load and a store, no locked instruction.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    #[inline(always)]
    pub(crate) fn add(&self, count: u64) {
        self.0.store(self.0.load(Relaxed) + count, Relaxed);
    }

    #[inline]
    pub(crate) fn value(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// What a worker has done so far. Aligned so that no two workers share cache lines.
#[derive(Debug)]
#[repr(align(128))]
pub struct Counters {
    pub(crate) received: Counter,
    pub(crate) sent: Counter,
    pub(crate) consumed: Counter,
    pub(crate) originated: Counter,
    pub(crate) busy_ticks: Counter,
    pub(crate) busy_frames: Counter,
    pub(crate) idle_ticks: Counter,
    pub(crate) busy_polls: Counter,
    pub(crate) idle_polls: Counter,
    pub(crate) drops: [Counter; DropReason::ALL.len()],
    clock: Clock,
}

impl Counters {
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            received: Counter::default(),
            sent: Counter::default(),
            consumed: Counter::default(),
            originated: Counter::default(),
            busy_ticks: Counter::default(),
            busy_frames: Counter::default(),
            idle_ticks: Counter::default(),
            busy_polls: Counter::default(),
            idle_polls: Counter::default(),
            drops: std::array::from_fn(|_| Counter::default()),
            clock,
        }
    }

    #[inline]
    pub(crate) fn count_drop(&self, reason: DropReason) {
        self.drops[reason as usize].add(1);
    }

    /// All counters at this moment. While the worker runs, counters of one poll may be half in;
    /// they agree whenever it rests.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            received: self.received.value(),
            sent: self.sent.value(),
            consumed: self.consumed.value(),
            originated: self.originated.value(),
            busy_ns: self.clock.ticks_to_ns(self.busy_ticks.value()),
            busy_frames: self.busy_frames.value(),
            idle_ns: self.clock.ticks_to_ns(self.idle_ticks.value()),
            busy_polls: self.busy_polls.value(),
            idle_polls: self.idle_polls.value(),
            drops: std::array::from_fn(|index| self.drops[index].value()),
        }
    }
}

/// The counters of a worker, or of all workers of a router, at one moment.
///
/// When a worker rests, `received + originated == sent + dropped() + consumed + held`, where
/// held frames wait for a neighbour or in an output queue ([`crate::Worker::held`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// Frames taken from ports.
    pub received: u64,
    /// Frames that ports have taken.
    pub sent: u64,
    /// Frames that were for the router itself.
    pub consumed: u64,
    /// Frames that the router made: replies, errors, queries.
    pub originated: u64,
    /// Time spent in polls that found frames, ns.
    pub busy_ns: u64,
    /// Frames handled in that time; `busy_ns / busy_frames` is the device cost per frame.
    pub busy_frames: u64,
    /// Time spent in polls that found nothing, ns.
    pub idle_ns: u64,
    /// Polls that found frames.
    pub busy_polls: u64,
    /// Polls that found nothing.
    pub idle_polls: u64,
    drops: [u64; DropReason::ALL.len()],
}

impl Snapshot {
    /// Frames dropped for one reason.
    pub fn drops(&self, reason: DropReason) -> u64 {
        self.drops[reason as usize]
    }

    /// Frames dropped for any reason.
    pub fn dropped(&self) -> u64 {
        self.drops.iter().sum()
    }

    /// Reasons that have occurred, with their counts.
    pub fn drop_counts(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        DropReason::ALL.iter().map(|&reason| (reason, self.drops(reason))).filter(|&(_, n)| n > 0)
    }

    /// Device cost: busy nanoseconds per frame; `None` before the first frame.
    pub fn cost_ns(&self) -> Option<f64> {
        (self.busy_frames > 0).then(|| self.busy_ns as f64 / self.busy_frames as f64)
    }

    /// Sum of this and another worker's counters.
    #[must_use]
    pub fn plus(&self, other: &Snapshot) -> Snapshot {
        self.combine(other, u64::wrapping_add)
    }

    /// What was counted since `earlier`, field by field.
    #[must_use]
    pub fn since(&self, earlier: &Snapshot) -> Snapshot {
        self.combine(earlier, u64::wrapping_sub)
    }

    fn combine(&self, other: &Snapshot, with: impl Fn(u64, u64) -> u64) -> Snapshot {
        Snapshot {
            received: with(self.received, other.received),
            sent: with(self.sent, other.sent),
            consumed: with(self.consumed, other.consumed),
            originated: with(self.originated, other.originated),
            busy_ns: with(self.busy_ns, other.busy_ns),
            busy_frames: with(self.busy_frames, other.busy_frames),
            idle_ns: with(self.idle_ns, other.idle_ns),
            busy_polls: with(self.busy_polls, other.busy_polls),
            idle_polls: with(self.idle_polls, other.idle_polls),
            drops: std::array::from_fn(|index| with(self.drops[index], other.drops[index])),
        }
    }
}
