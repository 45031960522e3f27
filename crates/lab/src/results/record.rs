//! The records of a journal, field by field as they stand in the file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::experiment::{Family, Measure};

/// The version of the journal's schema that this build writes and the newest
/// that it reads.
pub const SCHEMA: u32 = 1;

/// One line of `trials.jsonl`; the key `record` tells the kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
pub enum Record {
    /// The first line: what was planned.
    Campaign(Campaign),
    /// One trial.
    Trial(Box<Trial>),
    /// A trial that does not count because it was run again; its `reason` says why.
    Repeated(Box<Trial>),
    /// The last line: why the campaign ended.
    Finished(Finished),
}

/// A whole run of an experiment on one machine: what was planned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Campaign {
    /// Version of the schema, [`SCHEMA`] when written by this build.
    pub schema: u32,
    /// SHA-256 of the experiment file's bytes, in lower-case hexadecimal.
    pub experiment_sha256: String,
    /// The experiment's title.
    pub title: String,
    /// The device: `builtin`, `linux`, ...
    pub device: String,
    /// The seed from which the order of trials was drawn.
    pub seed: u64,
    /// Blocks planned; with `until_decided` the cap.
    pub blocks: u32,
    /// True when the campaign stops as soon as every comparison is decided.
    #[serde(default)]
    pub until_decided: bool,
    /// What the rate of a trial is.
    #[serde(default, skip_serializing_if = "Measure::is_rate")]
    pub measure: Measure,
    /// The margin as a ratio: 0.01 is 1 %.
    pub margin: f64,
    /// Name of the baseline variant.
    pub baseline: String,
    /// Names of all variants, in the order of the file.
    pub variants: Vec<String>,
    /// Names of all traffics, in the order of the file.
    pub traffics: Vec<String>,
    /// Ids of all planned trials, in the order in which they run.
    pub trials: Vec<String>,
    /// When the campaign began, UTC (`2026-11-21T13:00:00Z`).
    pub started: String,
}

/// The device of campaigns that `fwdlab import` made from published logs.
pub const IMPORTED: &str = "imported";

impl Campaign {
    /// Whether the campaign was read from published logs. Those have run
    /// numbers but no blocks, and do not say what the device dropped, which
    /// flows arrived and whether their frames were right: in such trials 0
    /// means "not counted".
    pub fn is_imported(&self) -> bool {
        self.device == IMPORTED
    }
}

/// One run of one variant with one traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Stable id: `b01-inet-radix`.
    pub id: String,
    /// Block, from 1.
    pub block: u32,
    /// Place in the campaign's running order, from 1.
    pub order: u32,
    /// Name of the variant.
    pub variant: String,
    /// Name of the traffic.
    pub traffic: String,
    /// Address family of the traffic.
    pub family: Family,
    /// Whether the trial's figures may be used.
    pub status: Status,
    /// Why the trial failed; `None` when it did not.
    pub reason: Option<String>,
    /// When the trial began, UTC.
    pub started: String,
    /// Length of the frames sent, FCS included.
    pub frame_bytes: u16,
    /// Distinct flows in the plan.
    pub flows_planned: u64,
    /// Distinct flows that the receiver saw.
    pub flows_seen: u64,
    /// Offered load as the experiment says it: `max`, `1Gbps`, `500kpps`.
    pub load: String,
    /// Offered load in frames/s, `None` for `max`.
    pub offered_pps_asked: Option<f64>,
    /// Wanted length of an interval, in milliseconds.
    pub interval_ms: f64,
    /// Raw counts per interval, start-up and tail included, nothing trimmed.
    pub intervals: Vec<Interval>,
    /// Frames sent by the tester over the whole trial.
    pub sent: u64,
    /// Frames received by the tester over the whole trial.
    pub received: u64,
    /// Frames dropped by the device, by reason.
    pub drops: BTreeMap<String, u64>,
    /// Frames that the device received, by its own counters.
    pub device_received: u64,
    /// Frames that the device sent, by its own counters.
    pub device_sent: u64,
    /// What the receiver found in the frames that it looked into.
    pub checks: Checks,
    /// Nanoseconds that the device spent on non-empty batches.
    pub busy_ns: u64,
    /// Frames in those batches.
    pub busy_frames: u64,
    /// Share of the device's time without a frame to work on, 0 to 1.
    pub idle_share: f64,
    /// What bounded the forwarding rate.
    pub limited_by: LimitedBy,
    /// The window of intervals from which `rate_pps` is taken; `None` when
    /// none was found.
    pub steady: Option<Steady>,
    /// Median forwarding rate of the steady intervals, in frames/s.
    pub rate_pps: Option<f64>,
    /// How the load was found, where it was searched for; the trial ran at its lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<RateSearch>,
    /// Latency of the frames, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyFigures>,
    /// Latency at shares of the rate that was searched for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency_at: Vec<LatencyAt>,
    /// Settings read back from the device while the variant was in force.
    #[serde(default)]
    pub proof: BTreeMap<String, String>,
    /// State of the machine around this trial.
    #[serde(default)]
    pub environment: TrialEnvironment,
    /// Doubts about this trial.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl Trial {
    /// True when the figures of this trial may be used.
    pub fn is_ok(&self) -> bool {
        self.status == Status::Ok
    }

    /// The steady intervals; none when no steady window was found.
    pub fn steady_intervals(&self) -> Vec<Interval> {
        let Some(steady) = &self.steady else { return Vec::new() };
        let window = self.intervals.iter().enumerate().skip(steady.first).take(steady.count);
        let kept = window.filter(|(index, _)| !steady.skipped.contains(index));
        kept.map(|(_, interval)| *interval).collect()
    }

    /// Device cost in busy nanoseconds per frame: the median over the steady
    /// intervals (one preempted interval does not move it), or that of the
    /// whole trial when the intervals do not tell. `None` when the device
    /// worked on no frame.
    pub fn cost_ns(&self) -> Option<f64> {
        let costs = self.steady_intervals().iter().filter_map(Interval::cost_ns).collect();
        median(costs).or_else(|| cost_ns(self.busy_ns, self.busy_frames))
    }

    /// Median load offered in the steady intervals, in frames/s; `None` when
    /// there are none, or no sender was recorded.
    pub fn offered_pps(&self) -> Option<f64> {
        let loads = self.steady_intervals().iter().map(Interval::tx_pps).collect();
        median(loads).filter(|load| *load > 0.0)
    }

    /// Frames dropped by the device, over all reasons.
    pub fn dropped(&self) -> u64 {
        self.drops.values().sum()
    }
}

/// Whether a trial's figures may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The trial ran and its counters agree.
    Ok,
    /// The trial broke or its counters do not agree; `reason` says why.
    Failed,
}

/// What bounded the forwarding rate of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitedBy {
    /// The device was busy throughout: the rate is its own.
    Device,
    /// The device idled for want of frames: the rate is the tester's.
    Generator,
    /// The asked load was forwarded in full.
    Load,
    /// Tester and device share a core, of which the tester takes a third or more: the rate is that
    /// of both.
    Core,
}

impl LimitedBy {
    /// Whether the device could have done more than the rate shows.
    pub const fn hides_device(self) -> bool {
        matches!(self, Self::Generator | Self::Load)
    }
}

/// Counts of one interval of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Measured length, in milliseconds.
    pub ms: f64,
    /// Frames sent by the tester in it.
    pub tx: u64,
    /// Frames received by the tester in it.
    pub rx: u64,
    /// Nanoseconds that the device spent on non-empty batches in it; 0 when
    /// the device cannot say.
    #[serde(default)]
    pub busy_ns: u64,
    /// Frames in those batches.
    #[serde(default)]
    pub busy_frames: u64,
    /// Share of it in which the device's processor computed slower than it can, 0 to 1, where that
    /// was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_share: Option<f64>,
    /// Median time of the arithmetic by which that was measured, in ns: it falls as the processor's
    /// clock rises.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beat_ns: Option<f64>,
}

impl Interval {
    /// From this share of slow time on an interval is left out of a trial's figures, if enough
    /// others remain. The rates of slow and fast time differ by up to a third, so that what stays in
    /// is off by 1 % at most.
    pub const MOST_SLOW: f64 = 0.04;

    /// Whether the device's processor was slow for too long.
    pub fn is_slow(&self) -> bool {
        self.slow_share.is_some_and(|share| share > Self::MOST_SLOW)
    }

    /// Frames sent per second.
    pub fn tx_pps(&self) -> f64 {
        self.tx as f64 * 1_000.0 / self.ms
    }

    /// Frames received per second: the forwarding rate of this interval.
    pub fn rx_pps(&self) -> f64 {
        self.rx as f64 * 1_000.0 / self.ms
    }

    /// Device cost in busy nanoseconds per frame; `None` when the device
    /// worked on no frame, or cannot say.
    pub fn cost_ns(&self) -> Option<f64> {
        cost_ns(self.busy_ns, self.busy_frames)
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { (values[middle - 1] + upper) / 2.0 })
}

fn cost_ns(busy_ns: u64, busy_frames: u64) -> Option<f64> {
    (busy_frames > 0).then(|| busy_ns as f64 / busy_frames as f64)
}

/// What the receiver found in the frames that it looked into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checks {
    /// Frames looked into.
    pub checked: u64,
    /// Frames of a flow that never came, by their sequence numbers.
    pub lost: u64,
    /// Frames that came more than once.
    pub duplicated: u64,
    /// Frames that came after a later one of their flow.
    pub reordered: u64,
    /// Frames that came out of the wrong port or belong to no planned flow.
    pub misrouted: u64,
    /// Frames whose TTL or hop limit was not one less than sent.
    pub bad_ttl: u64,
    /// Frames with a wrong checksum.
    pub bad_checksum: u64,
    /// Frames with a wrong source or destination MAC address.
    pub bad_mac: u64,
}

/// A search for the highest load that meets a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateSearch {
    /// What the device forwarded of all that the tester could send, in frames/s.
    pub mrr_pps: f64,
    /// The largest load that met the goal, in frames/s.
    pub lower_pps: f64,
    /// The smallest load that did not, in frames/s.
    pub upper_pps: f64,
    /// Every load that was tried, in order.
    pub trials: Vec<SearchTrial>,
}

/// One load that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchTrial {
    /// The load, in frames/s.
    pub load_pps: f64,
    /// For how long, in milliseconds.
    pub ms: f64,
    /// Frames sent.
    pub sent: u64,
    /// Frames that were due and did not come back, those included that could not be sent.
    pub lost: u64,
}

/// Latency at a share of the rate that was searched for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyAt {
    /// The share of the rate that was offered, 0 to 1.
    pub share: f64,
    /// What was measured there.
    #[serde(flatten)]
    pub figures: LatencyFigures,
}

/// How long frames took from the tester through the device and back, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyFigures {
    /// Frames with a time stamp.
    pub frames: u64,
    /// The shortest.
    pub minimum_ns: u64,
    /// Half the frames took no longer.
    pub median_ns: u64,
    /// 99 of 100.
    pub p99_ns: u64,
    /// 999 of 1,000.
    pub p99_9_ns: u64,
    /// 9,999 of 10,000.
    pub p99_99_ns: u64,
    /// The longest.
    pub maximum_ns: u64,
}

/// The window of intervals from which a trial's rate is taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steady {
    /// Index of the first steady interval, from 0.
    pub first: usize,
    /// Number of intervals from the first to the last steady one.
    pub count: usize,
    /// Intervals left out before the window.
    pub trimmed_head: usize,
    /// Intervals left out after the window.
    pub trimmed_tail: usize,
    /// Indices of intervals between these that are left out too: the device's processor was slow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<usize>,
    /// Why the window begins and ends there.
    pub why: String,
}

/// State of the machine around one trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrialEnvironment {
    /// Cache-line round trip between the two cores in nanoseconds before the
    /// trial, where it was measured.
    pub roundtrip_ns: Option<f64>,
    /// The same at the end of each interval; empty where it was not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roundtrips_ns: Vec<Option<f64>>,
    /// Share of the trial in which the tester's and the device's thread had
    /// their core, 0 to 1, the smaller of the two; others ran in the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_share: Option<f64>,
    /// Share of the core that the device worked on, 0 to 1, where it shares one with the tester.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_share: Option<f64>,
    /// Share of processor time that a hypervisor took away, 0 to 1.
    pub steal_share: Option<f64>,
    /// True when tester and device were pinned to cores of their own.
    pub pinned: bool,
}

/// The end of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// When it ended, UTC.
    pub at: String,
    /// Why it ended: `all blocks run`, `every comparison decided after 5 blocks`.
    pub stopped: String,
}
