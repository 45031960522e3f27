//! What is compared and how, and what came out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fwdlab_stats::campaigns::Deviations;
use fwdlab_stats::validity::Finding;
use fwdlab_stats::{
    Comparison, Confidence, ConfidenceInterval, Direction, Verdict, plural, unpaired,
};
use serde::Serialize;

use crate::apart::Apart;
use fwdlab_claims::runs::{SaidBy, Series};
use fwdlab_claims::saved::Saved;
use fwdlab_claims::words;
use fwdlab_guard::words::pasted;
use fwdlab_results::{EXPERIMENT_FILE, Results};

/// What to compare, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Sources in order; `-` is standard input.
    pub sources: Vec<PathBuf>,
    /// Results directories of after a change; the sources then are those of before it.
    pub after: Vec<PathBuf>,
    /// Name of the baseline; the first series otherwise.
    pub baseline: Option<String>,
    /// Metric to compare: `rate` or `cost` of results directories, or the unit of a Go benchmark.
    pub metric: Option<String>,
    /// Column to read, by number from 1 or by name.
    pub column: Option<String>,
    /// Whether lower values are better, where the source does not say.
    pub is_lower_better: bool,
    /// The margin as a ratio, 0.01 is 1 %; that of a results directory's experiment, else 1 %,
    /// unless it is asked for.
    pub margin: Option<f64>,
    /// How sure a verdict has to be.
    pub confidence: Confidence,
    /// Whether fewer than three campaigns a side may name a winner.
    pub is_single_campaign: bool,
}

/// The margin where nobody names one.
pub(super) const MARGIN: f64 = 0.01;

impl Default for Options {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            after: Vec::new(),
            baseline: None,
            metric: None,
            column: None,
            is_lower_better: false,
            margin: None,
            confidence: Confidence::USUAL,
            is_single_campaign: false,
        }
    }
}

/// Everything that was compared.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    /// How sure the verdicts are.
    pub confidence: Confidence,
    /// One group per metric, traffic or benchmark.
    pub groups: Vec<Group>,
    /// Campaigns that differ in more than is compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<Apart>,
    /// Campaigns that a debug build measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub debug_builds: Vec<String>,
    /// Files that `fwdlab export` wrote.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exports: Vec<Exported>,
    /// What has nothing to be compared with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Campaigns that were stopped before their end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<Unfinished>,
}

/// The trials of a campaign in a file that `fwdlab export` wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// The file.
    pub source: String,
    /// Trials that count, those that FAILED among them.
    pub trials: usize,
    /// Those that FAILED.
    pub failed: usize,
    /// Those that ran again, and do not count.
    pub repeated: usize,
    /// Those that count and have a warning in the file.
    pub warned: usize,
}

impl std::fmt::Display for Exported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { source, trials, failed, repeated, warned } = self;
        write!(f, "{source} is an export of {}", plural(*trials, "trial"))?;
        for (count, what) in [
            (failed, "FAILED"),
            (repeated, "repeated and not counted"),
            (warned, "with warnings, which stand in its column"),
        ] {
            if *count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        f.write_str(
            "; it holds no checks of the set-up and the machine, no calibration, no build (debug or release), no \
             margin (--margin, else 1 %), and not whether the campaign ran until decided: the results directory \
             does",
        )
    }
}

/// A campaign that was stopped before its end: what it shows is of fewer blocks than were planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    /// Its directory.
    pub source: String,
    /// Blocks that are whole.
    pub blocks: usize,
    /// Blocks that were planned.
    pub planned: usize,
    /// Whether it may end before all of these.
    pub is_until_decided: bool,
    /// The command that goes on with it.
    pub command: String,
}

impl Unfinished {
    /// What is to be said of a campaign; nothing of one that is finished, or that was published.
    pub fn of(results: &Results) -> Option<Self> {
        let campaign = &results.campaign;
        if results.finished.is_some() || !campaign.is_blocked() {
            return None;
        }
        let mut counts = BTreeMap::new();
        for trial in &results.trials {
            *counts.entry(trial.block).or_insert(0) += 1;
        }
        let each = campaign.variants.len() * campaign.traffics.len();
        let blocks = counts.values().filter(|count| **count >= each).count();
        if blocks >= campaign.blocks as usize {
            return None; // killed before its end was written down
        }
        let testbed = campaign.testbed.as_ref().map_or("", |_| " --testbed FILE");
        Some(Self {
            source: results.dir.to_string_lossy().into_owned(),
            blocks,
            planned: campaign.blocks as usize,
            is_until_decided: campaign.until_decided,
            command: format!(
                "fwdlab run {} -o {}{testbed}",
                pasted(&results.dir.join(EXPERIMENT_FILE)),
                pasted(&results.dir)
            ),
        })
    }
}

impl std::fmt::Display for Unfinished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { source, blocks, planned, is_until_decided, command } = self;
        let most = if *is_until_decided { "at most " } else { "" };
        let planned = plural(*planned, "block");
        write!(f, "{source} is unfinished, with {blocks} of {most}{planned}; to go on: {command}")
    }
}

/// What is on one side alone: a traffic, a variant, a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// It in words.
    pub what: String,
    /// Where it is.
    pub only_in: String,
    /// Whether it was measured before a change and not after it, so that nobody knows what became
    /// of it.
    pub is_lost: bool,
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is in {} alone: not compared", self.what, self.only_in)
    }
}

/// Series of one metric, the baseline first.
#[derive(Debug, Clone, Serialize)]
pub struct Group {
    /// Name of the traffic or benchmark; empty when there is but one.
    pub name: String,
    /// The metric in words.
    pub metric: String,
    /// Its unit; empty when the source names none.
    pub unit: String,
    /// Which way is better.
    pub direction: Direction,
    /// The margin as a ratio.
    pub margin: f64,
    /// The series, the baseline first.
    pub series: Vec<Series>,
    /// One judgement per series behind the baseline, in their order.
    pub judgements: Vec<Judgement>,
}

impl Compared {
    /// Whether the wish of whoever asked decided which way of any figure is better.
    pub fn is_direction_asked(&self) -> bool {
        self.groups.iter().flat_map(|own| &own.series).any(|own| own.said_by == SaidBy::Asked)
    }

    /// What is to be known of the campaigns, but for what goes on with them.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.apart.iter().map(ToString::to_string).collect();
        notes.extend(self.exports.iter().map(ToString::to_string));
        if let [first, others @ ..] = &self.debug_builds[..] {
            let more = match others.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            notes.push(format!(
                "measured with a debug build of fwdlab, whose figures mean little: {first}{more}; build it with \
                 --release and measure again"
            ));
        }
        notes
    }

    /// What is to be known of all of it.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let unfinished = self.unfinished.iter().map(ToString::to_string);
        self.notes().into_iter().chain(unfinished)
    }
}

impl Group {
    /// Series of one metric, the baseline first, with what is known of them.
    pub(crate) fn of(
        name: String,
        margin: f64,
        series: Vec<Series>,
        judgements: Vec<Judgement>,
    ) -> Self {
        let first = series.first().expect("invariant: a group has a baseline");
        let (metric, unit) = (first.metric.clone(), first.unit.clone());
        Self { name, metric, unit, direction: first.direction, margin, series, judgements }
    }
}

/// A series against the baseline of its group.
#[derive(Debug, Clone, Serialize)]
pub struct Judgement {
    /// Name of the series.
    pub variant: String,
    /// Name of the baseline.
    pub baseline: String,
    /// The comparison; absent when it cannot be computed.
    pub comparison: Option<Comparison>,
    /// The rank test beside it, without blocks.
    pub rank: Option<unpaired::RankTest>,
    /// What is wrong or doubtful, the invalidating findings first.
    pub findings: Vec<Finding>,
    /// The verdict.
    pub verdict: Verdict,
    /// It in a word that fits the figure: a burst is better, not faster.
    pub word: &'static str,
    /// The nanoseconds per frame of a proven difference, where values are of frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<Saved>,
    /// The campaigns behind it, where there are several of one experiment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub campaigns: Option<Several>,
    /// The verdict in words.
    pub sentence: String,
}

impl Judgement {
    /// What the sentence leaves out: the same nanoseconds on other devices, and what is quoted.
    pub fn notes(&self) -> Vec<String> {
        let is_valid = !matches!(self.verdict, Verdict::Invalid { .. });
        let quoted =
            |own: &Comparison| format!("{}; quoted: {}", own.method.describe(), words::quoted(own));
        let quoted = self.comparison.as_ref().filter(|_| is_valid).map(quoted);
        self.saved.as_ref().and_then(words::elsewhere).into_iter().chain(quoted).collect()
    }
}

/// The campaigns behind a comparison, and what the next one will show.
#[derive(Debug, Clone, Serialize)]
pub struct Several {
    /// Each campaign by itself.
    pub campaigns: Vec<OneCampaign>,
    /// Where the figure of the next run of the experiment lies, at the same confidence.
    pub next: ConfidenceInterval,
    /// Standard deviations of log ratios: of blocks, and of campaigns.
    pub spread: Deviations,
    /// p of "all campaigns have the same effect".
    pub same_p: f64,
}

/// One campaign by itself.
#[derive(Debug, Clone, Serialize)]
pub struct OneCampaign {
    /// Its directory.
    pub source: String,
    /// What its report says.
    pub comparison: Option<Comparison>,
}
