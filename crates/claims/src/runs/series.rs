//! The values of one variant from one source.

use std::collections::HashMap;
use std::path::Path;

use fwdlab_stats::Direction;
use fwdlab_stats::validity::Finding;
use serde::Serialize;

use super::context::Context;
use fwdlab_results::{Measure, Metric};

/// Who says which way of a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SaidBy {
    /// Its unit or its name, or the campaign that measured it.
    #[default]
    Source,
    /// Whoever asked for the comparison.
    Asked,
    /// Nobody: more is taken to be better.
    Nobody,
}

/// Values of one variant from one source.
#[derive(Debug, Clone, Serialize)]
pub struct Series {
    /// Name of the variant.
    pub name: String,
    /// Where it comes from.
    pub source: String,
    /// Traffic or benchmark; empty when the source knows none.
    pub group: String,
    /// The metric in words; empty when the source names none.
    pub metric: String,
    /// Its unit; empty when the source names none.
    pub unit: String,
    /// Which way is better.
    pub direction: Direction,
    /// Who says so.
    #[serde(skip)]
    pub said_by: SaidBy,
    /// The values in the order of the source, in base units.
    pub values: Vec<f64>,
    /// The block of each value, from a source with randomised blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<u32>>,
    /// Planned values without a figure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// The blocks of those, from a source with blocks.
    #[serde(skip)]
    pub failed_blocks: Vec<u32>,
    /// Whether it is one of a list of benchmarks, which share a false discovery rate.
    #[serde(skip)]
    pub is_benchmark: bool,
    /// What its own trials show to be wrong with any comparison of it.
    #[serde(skip)]
    pub doubts: Vec<Finding>,
    /// What the logs beside it say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
}

impl Series {
    /// A series of nothing but values.
    pub fn plain(path: &Path, values: Vec<f64>, is_lower_better: bool) -> Self {
        let lossy = |text: Option<&std::ffi::OsStr>| {
            text.map(|t| t.to_string_lossy().into_owned()).unwrap_or_default()
        };
        Self {
            name: if path.as_os_str() == "-" {
                "stdin".to_owned()
            } else {
                lossy(path.file_stem())
            },
            source: path.to_string_lossy().into_owned(),
            group: String::new(),
            metric: String::new(),
            unit: String::new(),
            direction: if is_lower_better {
                Direction::LowerIsBetter
            } else {
                Direction::HigherIsBetter
            },
            said_by: if is_lower_better { SaidBy::Asked } else { SaidBy::Nobody },
            values,
            blocks: None,
            failed: Vec::new(),
            failed_blocks: Vec::new(),
            is_benchmark: false,
            doubts: Vec::new(),
            context: None,
        }
    }

    /// The series with a metric and a unit; the unit decides which way is better if it can, else the
    /// metric's name.
    pub fn of_metric(mut self, metric: &str, unit: &str) -> Self {
        let said = direction_of_losses(metric).or_else(|| direction_of(unit));
        if let Some(said) = said.or_else(|| direction_of_name(metric)) {
            (self.direction, self.said_by) = (said, SaidBy::Source);
        }
        (self.metric, self.unit) = (metric.to_owned(), unit.to_owned());
        self
    }

    /// The values as nanoseconds (or instructions) a frame, where they are of frames: a cost as it is, a rate turned
    /// round.
    pub fn ns_per_frame(&self) -> Option<Vec<f64>> {
        match self.unit.as_str() {
            "ns/frame" | "instructions/frame" => Some(self.values.clone()),
            "frames/s" => Some(self.values.iter().map(|rate| 1e9 / rate).collect()),
            _ => None,
        }
    }

    /// The words for better and worse: rates and times are faster or slower, what a measure has of its
    /// own says it, and bytes, shares or latencies are better or worse. Bare numbers are speeds.
    pub fn words(&self) -> [&'static str; 2] {
        if let Some(metric) = Metric::named(&self.metric).filter(|_| !self.metric.is_empty()) {
            return metric.words();
        }
        let metric = self.metric.to_lowercase();
        let is_speed = match self.unit.as_str() {
            "" => !metric.split(|c: char| !c.is_alphanumeric()).any(|word| LOSSES.contains(&word)),
            "B/op" | "allocs/op" => false,
            unit => direction_of(unit).is_some(),
        };
        let is_other = ["latency", "delay", "jitter"].iter().any(|own| metric.contains(own));
        if is_speed && !is_other { Metric::FASTER } else { Metric::BETTER }
    }

    /// Whether two series measure the same.
    pub fn is_comparable(&self, other: &Self) -> bool {
        self.group == other.group && self.unit == other.unit && self.metric == other.metric
    }

    /// Whether `name` names this series: its variant, its source, or both.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.source == name || format!("{}:{}", self.source, self.name) == name
    }

    /// What it is, for messages.
    pub fn describe(&self) -> String {
        let group =
            if self.group.is_empty() { String::new() } else { format!(" of {}", self.group) };
        format!("`{}`{group} in {}", self.name, self.source)
    }

    /// Number of values that there should be.
    pub fn planned(&self) -> usize {
        self.values.len() + self.failed.len()
    }

    /// The value of each block; empty without blocks.
    pub fn by_block(&self) -> HashMap<u32, f64> {
        let blocks = self.blocks.iter().flatten().copied();
        blocks.zip(self.values.iter().copied()).collect()
    }
}

/// Words of what nobody wants more of, in whatever time it comes.
const LOSSES: [&str; 14] = [
    "loss",
    "losses",
    "lost",
    "drop",
    "drops",
    "dropped",
    "miss",
    "misses",
    "error",
    "errors",
    "failures",
    "retransmits",
    "retransmissions",
    "jitter",
];
/// Words of what something takes.
const COSTS: [&str; 22] = [
    "latency",
    "latencies",
    "delay",
    "delays",
    "time",
    "times",
    "duration",
    "seconds",
    "cycles",
    "instructions",
    "cost",
    "costs",
    "overhead",
    "rtt",
    "energy",
    "joules",
    "watts",
    "cpu",
    "ns",
    "us",
    "ms",
    "s",
];
/// Words of what everybody wants more of.
const GAINS: [&str; 7] = ["rate", "throughput", "goodput", "bandwidth", "speed", "pps", "ipc"];
/// What something is counted in if it comes per time.
const PER_TIME: [&str; 11] =
    ["s", "sec", "second", "seconds", "ms", "us", "ns", "minute", "hour", "cycle", "cycles"];

/// The direction of a metric whose name says it: one of this program's, a unit itself, a time at its end (`cost_ns`),
/// what something takes or loses, what comes per time. `None` where its words do not agree, as of a rate of losses.
fn direction_of_name(metric: &str) -> Option<Direction> {
    if let Some(own) = direction_of_own(metric) {
        return Some(own);
    }
    let metric = metric.to_lowercase().replace('/', " per ");
    let words = words_of(&metric);
    let per = words.iter().position(|word| *word == "per").unwrap_or(words.len());
    let has = |all: &[&str]| words[..per].iter().any(|word| all.contains(word));
    let is_per_time = words.get(per + 1).is_some_and(|word| PER_TIME.contains(word));
    match ((has(&LOSSES) || has(&COSTS)) && !is_per_time, has(&GAINS) || is_per_time) {
        (true, false) => Some(Direction::LowerIsBetter),
        (false, true) => Some(Direction::HigherIsBetter),
        _ => None,
    }
}

/// What is lost is lost, also per second.
fn direction_of_losses(metric: &str) -> Option<Direction> {
    let lower = metric.to_lowercase();
    let words = words_of(&lower);
    let has = |all: &[&str]| words.iter().any(|word| all.contains(word));
    let is_loss = has(&LOSSES) && !has(&GAINS) && direction_of_own(metric).is_none();
    is_loss.then_some(Direction::LowerIsBetter)
}

/// The direction of one of this program's own figures.
fn direction_of_own(metric: &str) -> Option<Direction> {
    let mut plain = [Metric::Rate, Metric::Cost].into_iter();
    let plain =
        plain.find(|own| [own.name(), own.title()].contains(&metric)).map(Metric::direction);
    let own = || Measure::ALL.into_iter().find(|own| [own.name(), own.title()].contains(&metric));
    plain.or_else(|| own().map(Measure::direction))
}

fn words_of(metric: &str) -> Vec<&str> {
    metric.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// The direction of a unit that says it itself: what is per second is a rate, what is per
/// operation, frame or is a time is a cost.
pub fn direction_of(unit: &str) -> Option<Direction> {
    let is_rate = unit.ends_with("/s") || RATES.contains(&unit);
    let is_cost = ["/op", "/frame", "/packet"].iter().any(|end| unit.ends_with(end))
        || ["per frame", "per packet", "per op"].iter().any(|end| unit.ends_with(end))
        || TIMES.contains(&unit);
    match (is_rate, is_cost) {
        (true, _) => Some(Direction::HigherIsBetter),
        (_, true) => Some(Direction::LowerIsBetter),
        _ => None,
    }
}

const RATES: [&str; 9] = ["pps", "kpps", "Kpps", "Mpps", "Gpps", "bps", "kbps", "Mbps", "Gbps"];
const TIMES: [&str; 8] = ["s", "ms", "us", "ns", "\u{b5}s", "\u{3bc}s", "cycles", "instructions"];
