//! The records of a journal, field by field as they stand in the file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::interval::median;
use crate::{
    About, Calibration, Failure, Family, Interval, KNOWN_MARK, Measure, Measured, Queue,
    TestbedMark, Tick, TrialEnvironment, Way,
};

/// The version of the journal's schema that this build writes and the newest
/// that it reads.
pub const SCHEMA: u32 = 1;

/// The rule by which this build draws the running order, and the newest that it can draw again.
pub const ORDER_VERSION: u32 = 3;

/// One line of `trials.jsonl`; the key `record` tells the kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
// a journal holds one campaign
#[allow(clippy::large_enum_variant)]
pub enum Record {
    /// The first line: what was planned.
    Campaign(Box<Campaign>),
    /// One trial.
    Trial(Box<Trial>),
    /// A trial that does not count because it was run again; its `reason` says why.
    Repeated(Box<Trial>),
    /// A later run goes on here.
    Resumed(Resumed),
    /// The last line, unless trials run again: why the campaign ended.
    Finished(Finished),
}

/// A whole run of an experiment on one machine: what was planned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Campaign {
    /// Version of the schema, [`SCHEMA`] when written by this build.
    pub schema: u32,
    /// SHA-256 of the experiment file's bytes, in lower-case hexadecimal.
    pub experiment_sha256: String,
    /// SHA-256 of each file that the experiment names, by its name there; copies lie where
    /// [`kept_input`](crate::kept_input) says. Journals of earlier versions have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
    /// The experiment's title.
    pub title: String,
    /// Name of the device.
    pub device: String,
    /// What the device is; absent from journals of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
    /// The machines that it runs on, where these are named by a file of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub testbed: Option<TestbedMark>,
    /// The order of the trials.
    #[serde(default, skip_serializing_if = "TrialOrder::is_blocks")]
    pub order: TrialOrder,
    /// Which trials of a block follow each other.
    #[serde(default, skip_serializing_if = "Grouping::is_traffic")]
    pub grouping: Grouping,
    /// The seed from which the order of trials was drawn.
    pub seed: u64,
    /// The rule by which it was drawn, [`ORDER_VERSION`] when planned by this build; 1 in journals of
    /// earlier versions, which do not say it.
    #[serde(default = "first_order_version", skip_serializing_if = "is_first_order_version")]
    pub order_version: u32,
    /// Blocks planned; with `until_decided` the cap.
    pub blocks: u32,
    /// True when the campaign stops as soon as every comparison is decided.
    #[serde(default)]
    pub until_decided: bool,
    /// So many blocks ran in each process, with its memory laid out anew; absent when all trials ran
    /// in the program that planned them, or where the device does not live in a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks_per_process: Option<u32>,
    /// What it runs to prove itself; absent when it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// Why it proves less of itself than it was asked to; absent where it does not, and in journals of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproven: Option<String>,
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
    /// SHA-256 of `environment.json` beside the journal; absent from journals of earlier versions. With
    /// it, the last record carries a hash of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment_sha256: Option<String>,
}

fn first_order_version() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands it so
fn is_first_order_version(version: &u32) -> bool {
    *version == 1
}

/// The device that campaigns of earlier versions name which `fwdlab import` made of published logs;
/// since then it is said by [`Campaign::order`], and what their logs do not count is absent.
pub const IMPORTED: &str = "imported";

/// When earlier versions let an imported trial begin of which that is not known.
const NEVER: &str = "1970-01-01T00:00:00Z";

/// The order in which the trials of a campaign ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrialOrder {
    /// In blocks, each of them every trial once, in random order.
    #[default]
    Blocks,
    /// Not known: the runs were published with their numbers.
    Published,
}

/// Which trials of a block follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grouping {
    /// The variants of one traffic: what is compared lies close together in time.
    #[default]
    Traffic,
    /// The traffics of one variant, because it takes long to set one up.
    Variant,
}

impl Grouping {
    /// Whether the variants of one traffic follow each other.
    pub const fn is_traffic(&self) -> bool {
        matches!(self, Self::Traffic)
    }
}

impl TrialOrder {
    /// Whether the trials ran in blocks.
    const fn is_blocks(&self) -> bool {
        matches!(self, Self::Blocks)
    }
}

impl Campaign {
    /// Whether the trials ran in blocks, so that those of one block can be compared; else they only
    /// have numbers.
    pub fn is_blocked(&self) -> bool {
        self.order.is_blocks()
    }

    /// A key that only versions write whose journals are chains of hashes; `None` when it has none.
    pub fn key_with_chain(&self) -> Option<&'static str> {
        [
            ("environment_sha256", self.environment_sha256.is_some()),
            ("inputs", !self.inputs.is_empty()),
            ("calibration", self.calibration.is_some()),
            ("blocks_per_process", self.blocks_per_process.is_some()),
            ("testbed", self.testbed.is_some()),
            ("order_version", self.order_version > 1),
        ]
        .into_iter()
        .find_map(|(key, is_there)| is_there.then_some(key))
    }

    /// What the device's clock counts.
    pub fn tick(&self) -> Tick {
        self.about.as_ref().map_or(Tick::default(), |about| about.tick)
    }

    /// Brings a record of an earlier version up to this one.
    pub(crate) fn modernise(&mut self) {
        if self.device == IMPORTED {
            self.order = TrialOrder::Published;
            if self.started == NEVER {
                self.started.clear();
            }
        }
    }

    /// The same for one of its trials.
    pub(crate) fn modern(&self, mut trial: Trial) -> Trial {
        if !self.is_blocked() {
            trial.flows_planned = trial.flows_planned.filter(|flows| *flows > 0);
            trial.started = trial.started.filter(|at| at != NEVER);
            trial.measured.forget_zeros();
        }
        trial
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
    /// What its figure is, where the campaign has several measures.
    #[serde(default, skip_serializing_if = "Measure::is_rate")]
    pub measure: Measure,
    /// Whether the trial's figures may be used.
    pub status: Status,
    /// Why the trial failed; `None` when it did not.
    pub reason: Option<String>,
    /// When the trial began, UTC; absent where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// Length of the frames sent, FCS included.
    pub frame_bytes: u16,
    /// Distinct flows in the plan; absent where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows_planned: Option<u64>,
    /// Offered load as the experiment says it: `max`, `1Gbps`, `500kpps`.
    pub load: String,
    /// Offered load in frames/s, `None` for `max`.
    pub offered_pps_asked: Option<f64>,
    /// Wanted length of an interval, in milliseconds.
    pub interval_ms: f64,
    /// What bounded the forwarding rate.
    pub limited_by: LimitedBy,
    /// The window of intervals from which `rate_pps` is taken; `None` when
    /// none was found.
    pub steady: Option<Steady>,
    /// Median forwarding rate of the steady intervals, in frames/s.
    pub rate_pps: Option<f64>,
    /// What the machines around it failed by, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// What was counted.
    #[serde(flatten)]
    pub measured: Measured,
}

impl Trial {
    /// True when its answer is known beforehand: it shows whether the lab can be believed.
    pub fn is_known(&self) -> bool {
        self.variant.starts_with(KNOWN_MARK)
    }

    /// The flows that have to arrive: all that were planned, but what a full table refuses does not.
    pub fn flows_due(&self) -> Option<u64> {
        self.flows_planned.filter(|_| self.measure != Measure::FullTable)
    }

    /// True when the figures of this trial may be used.
    pub fn is_ok(&self) -> bool {
        self.status == Status::Ok
    }

    /// Whether others ran on the cores of its threads for too long.
    pub fn was_away(&self) -> bool {
        let share = self.measured.environment.core_share;
        share.is_some_and(|share| share < TrialEnvironment::LEAST_CORE_SHARE)
    }

    /// Whether the device's processor was slow so long that too few other intervals remained.
    pub fn was_slow(&self) -> bool {
        self.steady_intervals().iter().any(Interval::is_slow)
    }

    /// The steady intervals; none when no steady window was found.
    pub fn steady_intervals(&self) -> Vec<Interval> {
        let Some(steady) = &self.steady else { return Vec::new() };
        let window =
            self.measured.intervals.iter().enumerate().skip(steady.first).take(steady.count);
        let kept = window.filter(|(index, _)| !steady.skipped.contains(index));
        kept.map(|(_, interval)| *interval).collect()
    }

    /// Frames of one way received a second in the steady intervals; `None` without any.
    pub fn way_pps(&self, way: &Way) -> Option<f64> {
        let steady = self.steady.as_ref()?;
        let own = |at: usize| {
            Some(Interval { rx: *way.rx.get(at)?, ..*self.measured.intervals.get(at)? })
        };
        let window = steady.first..steady.first.saturating_add(steady.count);
        let kept = window.filter(|at| !steady.skipped.contains(at));
        let own: Vec<Interval> = kept.map_while(own).collect();
        Interval::rate(&own, |interval| interval.rx)
    }

    /// Device cost in busy nanoseconds per frame: the median over the steady
    /// intervals (one preempted interval does not move it), or that of the
    /// whole trial when the intervals do not tell. `None` when the device
    /// worked on no frame, or in no time.
    pub fn cost_ns(&self) -> Option<f64> {
        let steady = self.steady_intervals();
        let costs: Vec<f64> = steady.iter().filter_map(Interval::cost_ns).collect();
        median(&costs).or_else(|| self.measured.cost_ns()).filter(|cost| *cost > 0.0)
    }

    /// What there is to say where one of several queues, processors or ports took too much, and the device did not
    /// bear the load: it is bounded by that one.
    pub fn imbalance(&self) -> Option<String> {
        let is_borne = self.limited_by == LimitedBy::Load;
        Queue::warning(&self.measured.queues).filter(|_| !is_borne)
    }

    /// Median load offered in the steady intervals, in frames/s; `None` when
    /// there are none, or no sender was recorded.
    pub fn offered_pps(&self) -> Option<f64> {
        let steady = self.steady_intervals();
        let is_counted = steady.iter().all(|interval| interval.tx.is_some());
        is_counted.then(|| Interval::rate(&steady, |interval| interval.tx.unwrap_or(0)))?
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
    /// Whether the rate is the device's own, and nobody else's.
    pub const fn is_device_alone(self) -> bool {
        matches!(self, Self::Device)
    }

    /// Whether the device could have done more than the rate shows.
    pub const fn hides_device(self) -> bool {
        matches!(self, Self::Generator | Self::Load)
    }
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

/// A run that went on with a campaign on another machine, kernel or build than the run before, or ran trials again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// When it went on, UTC.
    pub at: String,
    /// What is not as it was for the first trials, as `name: first, then now`; nothing where all is again as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    /// Ids of FAILED trials that run again; those recorded before do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<String>,
}

/// The end of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// When it ended, UTC.
    pub at: String,
    /// Why it ended: `all blocks run`, `every comparison decided after 5 blocks`.
    pub stopped: String,
    /// How the lab's own truths came out in earlier campaigns of this machine, the latest last: `1` for
    /// one that lay in its interval, `0` for one outside.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub earlier_truths: String,
}
