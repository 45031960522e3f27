//! What a report states, as data.
//!
//! Sentences, badges, tables and captions are rendered from these values and
//! from nothing else. Every statement names the trials on which it rests;
//! [`resolve`] computes it again from those trials and refuses a report in
//! which a number, a label or a trial does not agree. The same values are
//! `claims.json` in the results directory and `fwdlab report --format json`
//! (schema: docs/report.md).

mod badge;
mod badges;
mod build;
mod doubt;
mod resolve;
mod spread;

use std::collections::BTreeMap;

use fwdlab_stats::unpaired::RankTest;
use fwdlab_stats::validity::Finding;
use fwdlab_stats::{Comparison, Effect, Verdict, percent_interval};
use serde::Serialize;

use super::apart::Apart;
use super::blocks::Next;
use super::known::Proven;
use super::saved::Saved;
use super::setting::Setting;
use super::words;
use fwdlab_results::units;
use fwdlab_results::{Family, Metric, Tick};

pub use badge::{Badge, State};
pub use build::build;
pub use resolve::resolve;
pub use spread::Spread;

/// Version of the schema of `claims.json`.
pub const SCHEMA: u32 = 1;

/// Everything that a report states.
#[derive(Debug, Clone, Serialize)]
pub struct Claims {
    /// Version of the schema.
    pub schema: u32,
    /// The experiment's title.
    pub title: String,
    /// Whether the campaign ran to its end, and what is missing.
    pub progress: Progress,
    /// What was measured and on what.
    pub setting: Setting,
    /// One verdict per traffic and variant, the baseline left out.
    pub verdicts: Vec<VerdictClaim>,
    /// What holds of the campaign as a whole, each met or not.
    pub badges: Vec<Badge>,
    /// One cell per traffic and variant, the baseline included.
    pub cells: Vec<Cell>,
    /// How the lab's own truths came out; absent when it ran none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proven: Option<Proven>,
    /// Doubts about single trials and the campaign.
    pub warnings: Vec<Warning>,
}

impl Claims {
    /// What stands in the place of blocks, order and seed for published runs;
    /// `None` for campaigns of our own.
    pub fn published_order(&self) -> Option<String> {
        (!self.setting.is_blocked).then(|| self.progress.line(&self.setting))
    }

    /// What a verdict is about: the family, and the traffic where others are of the same family.
    pub fn subject(&self, family: Family, traffic: &str) -> String {
        match self.verdicts.iter().all(|v| v.family != family || v.traffic == traffic) {
            true => family.title().to_owned(),
            false => format!("{} ({traffic})", family.title()),
        }
    }
}

/// How far the campaign came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// When it began, UTC.
    pub started: String,
    /// When it ended, UTC; `None` while it is unfinished.
    pub finished: Option<String>,
    /// Why it ended.
    pub stopped: Option<String>,
    /// Trials planned.
    pub planned: usize,
    /// Trials recorded, failed ones included.
    pub recorded: usize,
    /// Trials whose figures are used.
    pub kept: usize,
    /// Blocks planned.
    pub blocks: usize,
}

impl Progress {
    /// What ran, in one line: `device DUT, 8 blocks in random order, ...`.
    pub fn line(&self, setting: &Setting) -> String {
        let Self { kept, planned, started, .. } = self;
        let kept = format!("{kept} of {} kept", units::plural(*planned, "trial"));
        if !setting.is_blocked {
            let runs = units::plural(self.blocks, "run");
            return format!("published results, up to {runs} of each kind, {kept}");
        }
        let end = match (&self.finished, &self.stopped) {
            (Some(at), Some(why)) => format!(" to {at} ({why})"),
            (Some(at), None) => format!(" to {at}"),
            _ => ", unfinished".to_owned(),
        };
        let blocks = units::plural(self.blocks, "block");
        format!(
            "device {}, {blocks} in random order (seed {}), {kept}; run from {started}{end}",
            setting.device, setting.seed
        )
    }
}

/// A variant against the baseline with one traffic.
#[derive(Debug, Clone, Serialize)]
pub struct VerdictClaim {
    /// Name of the traffic.
    pub traffic: String,
    /// Its address family.
    pub family: Family,
    /// Name of the variant.
    pub variant: String,
    /// Name of the baseline.
    pub baseline: String,
    /// The margin as a ratio.
    pub margin: f64,
    /// `rate`, `cost`, or the name of a measure with a figure of its own: the figure that decides.
    pub metric: &'static str,
    /// What a cost counts.
    #[serde(skip_serializing_if = "Tick::is_nanosecond")]
    pub tick: Tick,
    /// Trials of the comparison in which the tester or the asked load bounded the rate, alone or
    /// together with the device.
    pub bounded: usize,
    /// Ids of the trials compared, block by block: baseline, variant. Empty
    /// without blocks.
    pub pairs: Vec<[String; 2]>,
    /// Ids of the trials compared without blocks, as of published runs:
    /// baseline, variant. Absent with blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<[Vec<String>; 2]>,
    /// The comparison of forwarding rates; effects are ratios, 1.02 is 2 % faster.
    pub rate: Option<Comparison>,
    /// The comparison of device costs, as the change in frames per busy second.
    pub cost: Option<Comparison>,
    /// The comparison of the figure that the measure has of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<Comparison>,
    /// The rank test beside a comparison without blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<RankTest>,
    /// Doubts, the gravest first.
    pub findings: Vec<Finding>,
    /// The verdict.
    pub verdict: Verdict,
    /// The nanoseconds per frame of a proven difference, and what they would be on other devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<Saved>,
    /// The difference in the unit of the figure, where a percentage would be of next to nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apart: Option<Apart>,
    /// What the next run of the experiment will show, where this one ran in several processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Next>,
    /// The verdict in words: nanoseconds first, then the ratio, then what is quoted.
    pub sentence: String,
}

impl VerdictClaim {
    /// The comparison that decides.
    pub fn comparison(&self) -> Option<&Comparison> {
        match self.metric {
            "rate" => self.rate.as_ref(),
            "cost" => self.cost.as_ref(),
            _ => self.own.as_ref(),
        }
    }

    /// The change that decides and its interval, as they are written.
    pub fn change(&self) -> Option<[String; 2]> {
        Some(words::change(self.comparison()?, self.apart.as_ref()))
    }

    /// Another interval of that change, as it is written.
    pub fn interval(&self, ends: [Effect; 2]) -> String {
        let percent = || percent_interval(ends[0].percent(), ends[1].percent());
        self.apart.as_ref().map_or_else(percent, |apart| apart.interval_of(ends))
    }

    /// The verdict in a word that fits its figure.
    pub fn word(&self) -> &'static str {
        words::word(&self.verdict, self.words())
    }

    /// The words for better and worse of its figure.
    pub fn words(&self) -> [&'static str; 2] {
        Metric::named(self.metric).unwrap_or(Metric::Rate).words()
    }

    /// How many trials were compared, of both sides together.
    pub fn trials(&self) -> usize {
        let unblocked = self.runs.as_ref().map_or(0, |sides| sides.iter().map(Vec::len).sum());
        2 * self.pairs.len() + unblocked
    }
}

/// The trials of one variant with one traffic.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// Name of the traffic.
    pub traffic: String,
    /// Its address family.
    pub family: Family,
    /// Length of its frames in bytes, FCS included; `None` before its first trial.
    pub frame_bytes: Option<u16>,
    /// Name of the variant.
    pub variant: String,
    /// Whether it is the baseline.
    pub is_baseline: bool,
    /// Trials planned.
    pub planned: usize,
    /// Ids of the trials whose figures are used, by block.
    pub kept: Vec<String>,
    /// Failed trials with their reasons.
    pub failed: Vec<Failure>,
    /// Forwarding rate in frames/s over the kept trials.
    pub rate: Option<Spread>,
    /// The rate of all frames of a trial's steady window together, in frames/s, median over the kept trials: where
    /// losses come in bursts, and the median interval, by which `rate` is told, lost another share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_rate: Option<f64>,
    /// Device cost in ns/frame over the kept trials.
    pub cost: Option<Spread>,
    /// The figure that the measure has of its own, in its unit, over the kept trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<Spread>,
    /// Kept trials by what bounded their rate: `device`, `generator`, `load`, `core`.
    pub limited_by: BTreeMap<&'static str, usize>,
    /// Frames sent by the tester in the kept trials; absent when one did not count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
    /// Frames received by the tester in the kept trials.
    pub received: u64,
    /// Frames dropped by the device in the kept trials, by reason, zeros left out; absent when one
    /// did not count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<BTreeMap<String, u64>>,
    /// Settings read back from the device, where all trials agree.
    pub proof: BTreeMap<String, String>,
    /// Largest share of a trial in which the device had nothing to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_share: Option<f64>,
}

impl Cell {
    /// The figure of a [`VerdictClaim::metric`].
    pub fn figure(&self, metric: &str) -> Option<&Spread> {
        match metric {
            "rate" => self.rate.as_ref(),
            "cost" => self.cost.as_ref(),
            _ => self.own.as_ref(),
        }
    }

    /// What bounded the trials, in words: `device`, `6 device, 2 tester`.
    pub fn limits(&self) -> String {
        // Of a figure that is no rate, such as a time, nobody says what bounded the rate beside it.
        if self.own.is_some() {
            return "-".to_owned();
        }
        match self.limited_by.len() {
            0 => "-".to_owned(),
            1 => self.limited_by.keys().copied().map(bound).collect(),
            _ => {
                let parts = self.limited_by.iter().map(|(what, n)| format!("{n} {}", bound(what)));
                parts.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// The journal's word for what bounded a trial, in the words of the glossary.
fn bound(limit: &str) -> &str {
    match limit {
        "generator" => "tester",
        "core" => "tester and device",
        other => other,
    }
}

/// A trial that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Id of the trial.
    pub trial: String,
    /// Why it failed.
    pub reason: String,
}

/// A doubt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// What is doubtful.
    pub text: String,
    /// The trials concerned; empty when it is the campaign.
    pub trials: Vec<String>,
}
