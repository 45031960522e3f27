//! What a trial yielded.

use crate::checks::Checks;
use crate::fan::Came;
use crate::latency::LatencySummary;
use crate::pacer::{self, Lapse, Pacing};
use crate::sequence::FlowFaults;

/// One interval: what happened between two readings of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntervalCounts {
    /// Number of the interval, from 0.
    pub index: usize,
    /// Start in ns since sending began.
    pub start_ns: u64,
    /// True length in ns, not the planned one.
    pub length_ns: u64,
    /// Frames sent.
    pub sent: u64,
    /// Frames of test traffic received.
    pub received: u64,
    /// Time in ns in which the tester found nothing to receive and nothing it could send. At
    /// load max this is the tester's spare time: with none, the tester limits the rate.
    pub waiting_ns: u64,
}

impl IntervalCounts {
    /// The sum of two ways in the same time.
    #[must_use]
    pub(crate) fn beside(&self, other: &Self) -> Self {
        Self {
            sent: self.sent + other.sent,
            received: self.received + other.received,
            waiting_ns: self.waiting_ns.min(other.waiting_ns),
            ..*self
        }
    }

    /// Forwarding rate in frames/s.
    pub fn received_pps(&self) -> f64 {
        self.received as f64 * 1e9 / self.length_ns.max(1) as f64
    }

    /// Offered rate in frames/s.
    pub fn sent_pps(&self) -> f64 {
        self.sent as f64 * 1e9 / self.length_ns.max(1) as f64
    }
}

/// Totals of one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOutcome {
    /// Frames sent.
    pub sent: u64,
    /// Frames received, duplicates included.
    pub received: u64,
    /// Of these, frames received again.
    pub duplicated: u64,
    /// Flows of the plan.
    pub flows_planned: u32,
    /// Flows of which at least one frame was sent.
    pub flows_sent: u32,
    /// Flows of which at least one frame arrived.
    pub flows_seen: u32,
}

impl StreamOutcome {
    /// Frames that never arrived.
    pub fn lost(&self) -> u64 {
        (self.sent + self.duplicated).saturating_sub(self.received)
    }
}

/// A flow with faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultyFlow {
    /// Number of the stream.
    pub stream: usize,
    /// Number of the flow in its stream.
    pub flow: u32,
    /// What was wrong.
    pub faults: FlowFaults,
}

/// A time in which no frame arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// The arrival before it, in ns since sending began.
    pub at_ns: u64,
    /// Until the next arrival, in ns.
    pub ns: u64,
}

/// The result of a trial: intervals and totals. Sent = received - duplicated + lost, always.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The intervals in order; the last may be shorter than planned.
    pub intervals: Vec<IntervalCounts>,
    /// Each stream's totals.
    pub streams: Vec<StreamOutcome>,
    /// What the receiver's checks found.
    pub checks: Checks,
    /// Bytes sent, with FCS.
    pub sent_bytes: u64,
    /// Frames that the port refused at first, for want of room.
    pub refused: u64,
    /// Time of sending in ns.
    pub duration_ns: u64,
    /// Time after it in ns until everything had arrived or silence was long enough.
    pub drain_ns: u64,
    /// The asked rate and how regularly it was kept; `None` at load max.
    pub pacing: Option<Pacing>,
    /// Latencies, if asked for.
    pub latency: Option<LatencySummary>,
    /// Frames that were given up, at a load other than max; in order, at most
    /// [`Outcome::MOST_LAPSES`].
    pub lapses: Vec<Lapse>,
    /// The longest times between two arrivals, at most [`Outcome::MOST_GAPS`]; in no order.
    pub gaps: Vec<Gap>,
    /// How many flows had lost, duplicated or reordered frames.
    pub faulty_flows: u64,
    /// The first of them, at most [`Outcome::WORST_FLOWS`].
    pub worst_flows: Vec<FaultyFlow>,
    /// Where frames went both ways: what each yielded, to the destinations and back. What stands
    /// above is then the sum of both, and streams, those of the way back last, are of both.
    pub ways: Vec<Outcome>,
    /// Of a device with more than two ports: frames from behind each, by the port by which they came back.
    pub by_pair: Vec<Vec<u64>>,
}

impl Outcome {
    /// With what came by each of many ports.
    #[must_use]
    pub fn with(mut self, came: &Came) -> Self {
        let (misrouted, returned) = (came.misrouted(), came.returned());
        self.by_pair = came.by_pair();
        self.checks.misrouted += misrouted.iter().sum::<u64>();
        self.checks.returned += returned.iter().sum::<u64>();
        for (way, (misrouted, returned)) in
            self.ways.iter_mut().zip(misrouted.into_iter().zip(returned))
        {
            way.checks.misrouted += misrouted;
            way.checks.returned += returned;
        }
        self
    }
}

impl Outcome {
    /// How many faulty flows are listed.
    pub const WORST_FLOWS: usize = 100;

    /// How many lapses are dated; later ones count to the last.
    pub const MOST_LAPSES: usize = pacer::MOST_LAPSES;

    /// How many gaps are kept.
    pub const MOST_GAPS: usize = 16;

    /// The sum of two ways beside each other; `latency` is that of the frames of both. No gap is
    /// one of both.
    pub(crate) fn beside(ahead: Self, back: Self, latency: Option<LatencySummary>) -> Self {
        let streams_ahead = ahead.streams.len();
        let behind = |own: &FaultyFlow| FaultyFlow { stream: own.stream + streams_ahead, ..*own };
        let mut worst_flows = ahead.worst_flows.clone();
        worst_flows.extend(back.worst_flows.iter().map(behind));
        worst_flows.truncate(Self::WORST_FLOWS);
        let mut lapses = [&ahead.lapses[..], &back.lapses[..]].concat();
        lapses.sort_by_key(|lapse| lapse.at_ns);
        let both = ahead.intervals.iter().zip(&back.intervals);
        Self {
            intervals: both.map(|(one, two)| one.beside(two)).collect(),
            streams: [&ahead.streams[..], &back.streams[..]].concat(),
            checks: ahead.checks.plus(&back.checks),
            sent_bytes: ahead.sent_bytes + back.sent_bytes,
            refused: ahead.refused + back.refused,
            duration_ns: ahead.duration_ns,
            drain_ns: ahead.drain_ns,
            pacing: ahead.pacing.as_ref().zip(back.pacing.as_ref()).map(|(a, b)| a.beside(b)),
            latency,
            lapses,
            gaps: Vec::new(),
            faulty_flows: ahead.faulty_flows + back.faulty_flows,
            worst_flows,
            by_pair: Vec::new(),
            ways: vec![ahead, back],
        }
    }

    /// Frames sent.
    pub fn sent(&self) -> u64 {
        self.streams.iter().map(|stream| stream.sent).sum()
    }

    /// Frames of test traffic received, duplicates included.
    pub fn received(&self) -> u64 {
        self.streams.iter().map(|stream| stream.received).sum()
    }

    /// Frames that never arrived where they were sent to: [dropped](Outcome::dropped), or misrouted.
    pub fn lost(&self) -> u64 {
        self.streams.iter().map(StreamOutcome::lost).sum()
    }

    /// Frames that came nowhere; must equal what the device says it dropped. Sent = received - duplicated +
    /// misrouted + dropped.
    pub fn dropped(&self) -> u64 {
        self.lost().saturating_sub(self.checks.misrouted)
    }

    /// Lost of sent (RFC 1242's frame loss rate), 0 to 1.
    pub fn loss_ratio(&self) -> f64 {
        self.lost() as f64 / self.sent().max(1) as f64
    }

    /// Distinct flows planned.
    pub fn flows_planned(&self) -> u64 {
        self.streams.iter().map(|stream| u64::from(stream.flows_planned)).sum()
    }

    /// Distinct flows received.
    pub fn flows_seen(&self) -> u64 {
        self.streams.iter().map(|stream| u64::from(stream.flows_seen)).sum()
    }

    /// Share of the sending time in which the tester waited for the device, 0 to 1. Near zero
    /// at load max, the tester is the limit, and the rate says little about the device.
    pub fn waiting_share(&self) -> f64 {
        let waiting: u64 = self.intervals.iter().map(|interval| interval.waiting_ns).sum();
        waiting as f64 / self.duration_ns.max(1) as f64
    }
}
