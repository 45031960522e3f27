//! What both sides counted, read at the end of each interval.

use std::sync::Arc;

use fwdlab_device::energy::{NoJoules, noted};
use fwdlab_device::pulse::{Diary, Pulse};
use fwdlab_port::Clock;
use fwdlab_port::pingpong::Rally;
use fwdlab_results::{Busy, Interval, Measured};
use fwdlab_router::{Counters, Snapshot};
use fwdlab_traffic::Outcome;

use crate::figures::{checks, ways};

/// The way to the other core, and the clock by which it is measured.
pub(super) struct Cores<'a> {
    pub(super) rally: &'a Rally,
    pub(super) clock: &'a Clock,
}

/// Reads at the end of each of the tester's intervals the device's counters, how far the two cores
/// are from each other, and how fast the device's was.
pub(super) struct Intervals<'a> {
    counters: Arc<Counters>,
    first: Option<Snapshot>,
    last: Snapshot,
    intervals: Vec<Interval>,
    cores: Option<Cores<'a>>,
    pulse: Option<(&'a Diary, &'a mut Pulse)>,
    /// Beats of the diary that were read.
    read: u64,
    pub(super) roundtrips_ns: Vec<Option<f64>>,
    /// Energy that the machine used meanwhile.
    pub(super) joules: Option<Result<f64, NoJoules>>,
}

impl<'a> Intervals<'a> {
    pub(super) fn new(
        counters: Arc<Counters>,
        cores: Option<Cores<'a>>,
        pulse: Option<(&'a Diary, &'a mut Pulse)>,
    ) -> Self {
        let last = counters.snapshot();
        Self {
            counters,
            first: None,
            last,
            intervals: Vec::new(),
            cores,
            pulse,
            read: 0,
            roundtrips_ns: Vec::new(),
            joules: None,
        }
    }

    pub(super) fn read(&mut self, interval: &fwdlab_traffic::IntervalCounts) -> Interval {
        let now = self.counters.snapshot();
        let since = now.since(&self.last);
        self.last = now;
        // What came before the first reading is start-up: threads, caches, an empty ring.
        self.first.get_or_insert(now);
        let mut read = Interval {
            ms: interval.length_ns as f64 / 1e6,
            tx: Some(interval.sent),
            rx: interval.received,
            busy: Some(Busy { ns: since.busy_ns, frames: since.busy_frames }),
            ..Interval::default()
        };
        if let Some((diary, pulse)) = &mut self.pulse {
            pulse.note(&diary.read_from(&mut self.read), &mut read);
        }
        self.intervals.push(read);
        if let Some(Cores { rally, clock }) = &self.cores {
            self.roundtrips_ns.push(rally.measure(clock));
        }
        read
    }

    /// The trial's counts, once both sides rest.
    pub(super) fn measured(self, outcome: &Outcome) -> Measured {
        let end = self.counters.snapshot();
        let running = self.last.since(&self.first.unwrap_or_default());
        let polled_ns = running.busy_ns + running.idle_ns;
        // Errors that it sent of its own accord are not forwarded frames.
        let own = outcome.checks.foreign.min(end.originated);
        let (joules, no_joules) = noted(self.joules);
        Measured {
            intervals: self.intervals,
            sent: Some(outcome.sent()),
            received: outcome.received(),
            flows_seen: Some(outcome.flows_seen()),
            device_received: Some(end.received),
            device_sent: Some(end.sent - own.min(end.sent)),
            drops: Some(
                end.drop_counts().map(|(reason, n)| (reason.name().to_owned(), n)).collect(),
            ),
            checks: Some(checks(outcome)),
            joules,
            warnings: no_joules.into_iter().collect(),
            ways: ways(outcome, Some(&self.counters)),
            busy: Some(Busy { ns: end.busy_ns, frames: end.busy_frames }),
            idle_share: Some(match polled_ns {
                0 => 0.0,
                polled_ns => running.idle_ns as f64 / polled_ns as f64,
            }),
            ..Measured::default()
        }
    }
}
