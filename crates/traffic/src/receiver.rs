//! The receiver: checks every frame that arrives.

use fwdlab_port::Frame;

use crate::checks::Checks;
use crate::error::TrafficError;
use crate::flows::Family;
use crate::inspect::{Expected, Seen, has_valid_payload, stamp};
use crate::latency::Latency;
use crate::layout::INET6_SEQUENCE_MASK;
use crate::numbering::Numbering;
use crate::plan::Plan;
use crate::sequence::{Arrival, FlowFaults, FlowState};

/// How far ahead of the frame being checked memory is asked for the next ones: some 30 frames of
/// 3 ns cover the 100 ns that a line takes from another core.
const PREFETCH: usize = 32;

/// Checks arrived frames against the plan and counts.
pub struct Receiver {
    expected: Expected,
    streams: Vec<ReceiveStream>,
    checks: Checks,
    latency: Option<Latency>,
    until_sample: u64,
}

struct ReceiveStream {
    family: Family,
    numbering: Numbering,
    /// Which bits of the sequence number frames carry.
    mask: u32,
    flows: Vec<FlowState>,
    /// Empty until the first fault.
    faults: Vec<FlowFaults>,
    received: u64,
    duplicated: u64,
}

/// Whether a frame keeps its contents when it is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// As the tester wrote it, but for the header.
    Kept,
    /// Something else: to be written anew.
    Changed,
}

impl Receiver {
    /// Prepares the checks for a plan.
    ///
    /// # Errors
    /// A field of the plan is out of range.
    pub fn new(plan: &Plan) -> Result<Self, TrafficError> {
        plan.check()?;
        let streams = plan.streams.iter().map(|stream| ReceiveStream {
            family: stream.flows.family(),
            numbering: Numbering::new(&stream.flows),
            mask: match stream.flows.family() {
                Family::Inet => u32::MAX,
                Family::Inet6 => INET6_SEQUENCE_MASK,
            },
            flows: vec![FlowState::default(); stream.flows.count() as usize],
            faults: Vec::new(),
            received: 0,
            duplicated: 0,
        });
        Ok(Self {
            expected: Expected::new(plan.arrival_mac, plan.ttl),
            streams: streams.collect(),
            checks: Checks::default(),
            latency: plan.latency.then(Latency::new),
            until_sample: Checks::SAMPLING,
        })
    }

    /// Checks frames that came in on the receiving port at `now` (ticks). Calls `changed` with
    /// the position of each frame that is not ours.
    pub fn check(&mut self, frames: &[Frame], now: u64, mut changed: impl FnMut(usize)) {
        for frame in frames.iter().take(PREFETCH) {
            frame.prefetch_write();
        }
        for (at, frame) in frames.iter().enumerate() {
            if let Some(ahead) = frames.get(at + PREFETCH) {
                ahead.prefetch_write();
            }
            if self.check_one(frame, now) == Contents::Changed {
                changed(at);
            }
        }
    }

    #[inline(always)]
    fn check_one(&mut self, frame: &Frame, now: u64) -> Contents {
        let Some(seen) = self.expected.inspect(frame) else {
            return self.foreign();
        };
        if !seen.is_right {
            self.expected.diagnose(frame, &mut self.checks);
        }
        for stream in &mut self.streams {
            if stream.family != seen.family {
                continue;
            }
            let (flow, is_known) = stream.numbering.flow(seen.ends);
            if is_known {
                stream.take(flow, &seen, &mut self.checks);
                self.until_sample -= 1;
                let contents = match self.until_sample {
                    0 => self.sample(frame, seen.family),
                    _ => Contents::Kept,
                };
                if let Some(latency) = &mut self.latency {
                    latency.record(stamp(frame, seen.family), now);
                }
                return contents;
            }
        }
        self.unknown(&seen)
    }

    #[cold]
    fn foreign(&mut self) -> Contents {
        self.checks.foreign += 1;
        Contents::Changed
    }

    #[cold]
    fn unknown(&mut self, seen: &Seen) -> Contents {
        // What is no UDP frame of the right kind may well be ICMP of the device itself.
        match seen.is_right {
            true => self.checks.unknown_flow += 1,
            false => self.checks.foreign += 1,
        }
        Contents::Changed
    }

    #[cold]
    fn sample(&mut self, frame: &Frame, family: Family) -> Contents {
        self.until_sample = Checks::SAMPLING;
        self.checks.sampled += 1;
        if has_valid_payload(frame, family) {
            return Contents::Kept;
        }
        self.checks.bad_payload += 1;
        Contents::Changed
    }

    /// Looks at a frame that came back on the sending port.
    #[cold]
    pub(crate) fn check_returned(&mut self, frame: &Frame) {
        let seen = self.expected.inspect(frame);
        let is_ours = seen.is_some_and(|seen| {
            self.streams
                .iter()
                .any(|stream| stream.family == seen.family && stream.numbering.flow(seen.ends).1)
        });
        match is_ours {
            true => self.checks.misrouted += 1,
            false => self.checks.foreign += 1,
        }
    }

    /// Frames of test traffic received so far, duplicates included.
    pub fn received(&self) -> u64 {
        self.streams.iter().map(|stream| stream.received).sum()
    }

    /// The same for each stream, with duplicates beside.
    pub(crate) fn received_by_stream(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.streams.iter().map(|stream| (stream.received, stream.duplicated))
    }

    /// What the checks found.
    pub fn checks(&self) -> Checks {
        self.checks
    }

    /// How many different flows have arrived, per stream.
    pub fn flows_seen(&self) -> impl Iterator<Item = u32> + '_ {
        let seen =
            |stream: &ReceiveStream| stream.flows.iter().filter(|flow| flow.is_seen()).count();
        self.streams.iter().map(move |stream| seen(stream) as u32)
    }

    /// Faults of a flow, given how many of its frames were sent.
    pub(crate) fn faults_of(&self, stream: usize, flow: usize, sent: u32) -> FlowFaults {
        let stream = &self.streams[stream];
        let mut faults = stream.faults.get(flow).copied().unwrap_or_default();
        faults.lost += sent.wrapping_sub(stream.flows[flow].next());
        faults
    }

    /// The latencies, if the plan asked for them.
    pub(crate) fn latency(&self) -> Option<&Latency> {
        self.latency.as_ref()
    }
}

impl ReceiveStream {
    #[inline(always)]
    fn take(&mut self, flow: u32, seen: &Seen, checks: &mut Checks) {
        self.received += 1;
        let arrival = self.flows[flow as usize].take(seen.sequence, self.mask);
        if arrival != Arrival::InOrder {
            self.count_fault(flow, arrival, checks);
        }
    }

    #[cold]
    fn count_fault(&mut self, flow: u32, arrival: Arrival, checks: &mut Checks) {
        if self.faults.is_empty() {
            self.faults = vec![FlowFaults::default(); self.flows.len()];
        }
        let faults = &mut self.faults[flow as usize];
        match arrival {
            Arrival::InOrder => {}
            Arrival::Ahead(skipped) => faults.lost += skipped,
            Arrival::Late => {
                faults.lost = faults.lost.saturating_sub(1);
                faults.reordered += 1;
                checks.reordered += 1;
            }
            Arrival::Again => {
                faults.duplicated += 1;
                checks.duplicated += 1;
                self.duplicated += 1;
            }
        }
    }
}
