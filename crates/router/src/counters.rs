//! Counters of one worker: written by its thread once per poll, read by any other thread at any
//! time, without locks.

use fwdlab_fib::{Family, Nexthop, NexthopId};
use fwdlab_port::{Clock, Counters as PortCounters};

use crate::counter::Counter;
use crate::drops::DropReason;
use crate::tally::TallyReader;

/// What a port has moved, as its worker last said.
#[derive(Debug, Default)]
struct PortCells {
    rx_frames: Counter,
    rx_bytes: Counter,
    rx_dropped: Counter,
    rx_too_long: Counter,
    tx_frames: Counter,
    tx_bytes: Counter,
    tx_refused: Counter,
    tx_dropped: Counter,
}

/// How many packets have followed a nexthop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NexthopCount<F: Family> {
    /// Its number in the table.
    pub id: NexthopId,
    /// What it is now; `None` when it has gone since.
    pub nexthop: Option<Nexthop<F>>,
    /// Packets that a lookup has sent this way, the router's own included. Numbers that are used
    /// again count on.
    pub packets: u64,
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
    /// By port number.
    ports: Box<[PortCells]>,
    /// By FIB number.
    pub(crate) nexthops: Vec<TallyReader>,
    pub(crate) nexthops6: Vec<TallyReader>,
    clock: Clock,
}

/// What the counters of a worker are made of.
pub(crate) struct Counted {
    pub(crate) clock: Clock,
    /// How many ports the router has.
    pub(crate) ports: usize,
    pub(crate) nexthops: Vec<TallyReader>,
    pub(crate) nexthops6: Vec<TallyReader>,
}

impl Counters {
    pub(crate) fn new(counted: Counted) -> Self {
        let Counted { clock, ports, nexthops, nexthops6 } = counted;
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
            ports: (0..ports).map(|_| PortCells::default()).collect(),
            nexthops,
            nexthops6,
            clock,
        }
    }

    #[inline]
    pub(crate) fn count_drop(&self, reason: DropReason) {
        self.drops[reason as usize].add(1);
    }

    /// Notes what a port has moved.
    #[inline]
    pub(crate) fn publish_port(&self, number: u8, now: &PortCounters) {
        if let Some(cells) = self.ports.get(usize::from(number)) {
            cells.rx_frames.set(now.rx_frames);
            cells.rx_bytes.set(now.rx_bytes);
            cells.rx_dropped.set(now.rx_dropped);
            cells.rx_too_long.set(now.rx_too_long);
            cells.tx_frames.set(now.tx_frames);
            cells.tx_bytes.set(now.tx_bytes);
            cells.tx_refused.set(now.tx_refused);
            cells.tx_dropped.set(now.tx_dropped);
        }
    }

    /// What this worker's queue of a port has moved; zeros for a port that it does not have.
    pub fn port(&self, number: u16) -> PortCounters {
        self.ports.get(usize::from(number)).map_or_else(PortCounters::default, |cells| {
            PortCounters {
                rx_frames: cells.rx_frames.value(),
                rx_bytes: cells.rx_bytes.value(),
                rx_dropped: cells.rx_dropped.value(),
                rx_too_long: cells.rx_too_long.value(),
                tx_frames: cells.tx_frames.value(),
                tx_bytes: cells.tx_bytes.value(),
                tx_refused: cells.tx_refused.value(),
                tx_dropped: cells.tx_dropped.value(),
            }
        })
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
