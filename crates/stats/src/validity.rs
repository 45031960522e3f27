//! What can be wrong with a comparison, as values: each finding says what it saw and the remedy.
//!
//! A finding either makes the comparison invalid (nothing can be concluded) or is a warning (the
//! verdict stands, with a doubt that the report prints). The functions that look for them are in
//! the submodules; this module knows their names, weight and words.

mod checks;
mod stability;
mod words;

pub use checks::{
    LEAST_CORE_SHARE, SATURATION_SHARE, SHARED_CORRELATION, cores_taken, drops_apart,
    failed_trials, flows, frames, generator, loss_in_bursts, one_factor, out_of_reach, rare_runs,
    same_figures, saturation, shared_bottleneck, units_apart,
};
pub use stability::{drift, gaps, ramp, stray_runs, two_clusters};

use serde::{Deserialize, Serialize};

use crate::rare::Rare;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The verdict stands, with a doubt.
    Warning,
    /// The comparison says nothing about the variants.
    Invalid,
}

/// What a rate ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The frames per second that the link carries at that frame length.
    LineRate,
    /// The load that the tester offered.
    OfferedLoad,
}

/// One thing found wrong, with the figures that show it. Rates are in frames/s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "check", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Finding {
    /// Both variants forwarded all that could come: the device is faster than the test.
    Saturated {
        /// What was reached.
        limit: Limit,
        /// The limit in frames/s.
        limit_pps: f64,
        /// The forwarded rate in frames/s, the smallest of the runs.
        forwarded_pps: f64,
    },
    /// The tester offered less than it was asked to.
    OfferedTooLittle {
        /// Asked load in frames/s.
        asked_pps: f64,
        /// Offered load in frames/s, the smallest of the runs.
        offered_pps: f64,
    },
    /// Offered load falls when the forwarded rate rises: tester and device share a bottleneck.
    SharedBottleneck {
        /// Pearson's correlation of offered and forwarded rate over the runs.
        correlation: f64,
    },
    /// The device idled for want of frames, so that its rate is the tester's.
    GeneratorLimited {
        /// Trials marked so.
        trials: usize,
        /// All trials of the comparison.
        of: usize,
        /// Whether all of these have a device cost, which could be compared.
        has_cost: bool,
    },
    /// The device costs, which would decide, were taken in two ways: only the rates are left.
    CostsApart {
        /// The variant whose cost is sampled at ticks of the kernel's clock.
        sampled: String,
        /// The variant whose cost lies between readings of a clock.
        timed: String,
    },
    /// The receiver saw another number of flows than the plan says.
    FlowsDiffer {
        /// Planned number of distinct flows.
        planned: u64,
        /// Number seen (the one farthest from the plan).
        seen: u64,
    },
    /// The report announces another number of flows than the tester's command makes. Which of the
    /// two is true cannot be told from here.
    AnnouncedFlowsDiffer {
        /// Flows in the report's text.
        announced: u64,
        /// Flows in the command.
        commanded: u64,
    },
    /// Trials are missing: n planned is not n kept.
    TrialsMissing {
        /// Planned values per variant, or blocks.
        planned: usize,
        /// Values that entered the comparison.
        kept: usize,
        /// Names of the failed trials, as far as they are known.
        failed: Vec<String>,
    },
    /// Some blocks have no figure of a variant, so that the others' figures of them count for nothing.
    BlocksIncomplete {
        /// All blocks.
        blocks: usize,
        /// Which, and whose figure they lack: `block 3 (radix)`.
        lacking: Vec<String>,
    },
    /// No block has figures of all variants: nothing can be compared within blocks.
    BlocksApart {
        /// The blocks of each variant: `radix has 10 of 1 to 10`.
        blocks: Vec<String>,
    },
    /// More than one factor differs between variant and baseline.
    FactorsDiffer {
        /// The factors in words.
        factors: Vec<String>,
    },
    /// Words that both sides leave to the device read back differently: what it chose follows from what
    /// the variants set.
    OwnChoices {
        /// The words, each with its value on either side.
        words: Vec<String>,
    },
    /// The variant's settings, read back from the device, are those of the baseline or are missing.
    NotApplied {
        /// Which settings.
        settings: Vec<String>,
    },
    /// Variant and baseline are the same thing under two names.
    NothingDiffers {
        /// Name of the baseline.
        baseline: String,
        /// Name of the variant.
        variant: String,
    },
    /// The figures of both sides are the same to the last digit, in their order.
    SameFigures {
        /// Name of the baseline.
        baseline: String,
        /// Name of the variant.
        variant: String,
    },
    /// The sides lie as far apart as figures of two units do.
    UnitsApart {
        /// About so many times, a power of a thousand.
        factor: f64,
    },
    /// Nothing says whether more or less of the figure is better.
    DirectionUnsaid {
        /// What the figure is called; empty where it has no name.
        metric: String,
    },
    /// What was sent before a change is not what was sent after it.
    TrafficDiffers {
        /// The traffic, before and after.
        traffic: [String; 2],
    },
    /// Received frames were wrong.
    FramesWrong {
        /// What was wrong with them: `misrouted`, `bad checksum`, ...
        what: String,
        /// How many.
        wrong: u64,
        /// Out of how many.
        checked: u64,
    },
    /// Frames were lost in bursts: the median interval lost another share of them than all together, so that
    /// the rate, which is the median's, is not that of the frames.
    LossInBursts {
        /// Trials in which that was so.
        trials: usize,
        /// All trials of the comparison.
        of: usize,
        /// Share lost in the median interval and of all frames, 0 to 1, where they differ most.
        lost: [f64; 2],
    },
    /// The device dropped another share of the frames on one side than on the other, on purpose, and what decides is what
    /// a frame costs it: a frame that is dropped costs less than one that is forwarded.
    DropsApart {
        /// Name of the baseline.
        baseline: String,
        /// Name of the variant.
        variant: String,
        /// Share of the frames that each dropped, 0 to 1.
        shares: [f64; 2],
    },
    /// Single runs lie far from the others. They are kept.
    StrayRuns {
        /// Whose runs.
        of: String,
        /// Positions in the order of measurement, from 1.
        positions: Vec<usize>,
    },
    /// The runs fall into two groups (flow placement, frequency steps).
    TwoClusters {
        /// Whose runs.
        of: String,
        /// Centre of the lower group, in the metric's unit.
        low: f64,
        /// Runs in the lower group.
        low_count: usize,
        /// Centre of the upper group.
        high: f64,
        /// Runs in the upper group.
        high_count: usize,
    },
    /// The figures drift over the campaign.
    Drift {
        /// Change from the first to the last run, in per cent.
        percent: f64,
        /// p of "no trend" (Mann-Kendall).
        p: f64,
    },
    /// The rate climbs or falls within the steady window of trials.
    Ramp {
        /// Change from begin to end of the window, in per cent; the median of the trials concerned.
        percent: f64,
        /// Trials concerned.
        trials: usize,
        /// All trials.
        of: usize,
    },
    /// The rate fell to zero inside a trial.
    ZeroGaps {
        /// Intervals with no frame inside steady windows.
        intervals: usize,
    },
    /// The order of runs is unknown or not random: drift cannot be told from a difference.
    NotBlocked,
    /// Welch's test and the rank test do not agree.
    TestsDisagree {
        /// p of Welch's t.
        welch_p: f64,
        /// p of Mann-Whitney.
        rank_p: f64,
    },
    /// What rare runs cost one side beside the other may exceed the margin: what holds of the typical
    /// run need not hold of all.
    RareRuns {
        /// Name of the baseline.
        baseline: String,
        /// Name of the variant.
        variant: String,
        /// How many, by how much, what they cost, and the share that may have gone unseen.
        rare: Box<Rare>,
    },
    /// No figures of so few runs could reach the level asked for.
    OutOfReach {
        /// Runs of the baseline and of the variant.
        runs: [usize; 2],
        /// Runs of each that could.
        needed: usize,
        /// The confidence asked for, in per cent.
        percent: f64,
        /// Comparisons that share it.
        among: usize,
    },
    /// Too few campaigns to know how much campaigns differ, so that no winner is named.
    FewCampaigns {
        /// Campaigns of the baseline and of the variant.
        campaigns: [usize; 2],
        /// Campaigns of each that are needed.
        needed: usize,
    },
    /// Others had the processors of tester and device for so long that the figures are of them, too.
    CoresTaken {
        /// Trials in which that was so.
        trials: usize,
        /// All trials of the comparison.
        of: usize,
        /// Their smallest and largest share of their processors, 0 to 1.
        shares: [f64; 2],
        /// Share below which a trial is counted here.
        least: f64,
    },
    /// The lab's own intervals miss what it knows too often to be believed.
    TruthsMissed {
        /// Truths in their 95 % intervals, in all campaigns of this machine.
        held: usize,
        /// All of them.
        of: usize,
        /// Evidence against 95 %.
        e: f64,
    },
    /// The journal is not as it was written: nobody knows what was measured.
    JournalChanged {
        /// The first line of it that is not, from 1.
        line: usize,
    },
    /// A check that is not met, and need not be.
    Allowed {
        /// What it says.
        what: String,
    },
    /// One side has no number at all, for its trials FAILED.
    NoneKept {
        /// Why.
        reason: String,
    },
    /// The numbers cannot be compared at all.
    NotComputable {
        /// Why.
        reason: String,
    },
}

impl Finding {
    /// How much it weighs.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Saturated { .. }
            | Self::OfferedTooLittle { .. }
            | Self::SharedBottleneck { .. }
            | Self::GeneratorLimited { .. }
            | Self::FlowsDiffer { .. }
            | Self::FactorsDiffer { .. }
            | Self::TrafficDiffers { .. }
            | Self::BlocksApart { .. }
            | Self::NotApplied { .. }
            | Self::FramesWrong { .. }
            | Self::LossInBursts { .. }
            | Self::DropsApart { .. }
            | Self::CoresTaken { .. }
            | Self::TruthsMissed { .. }
            | Self::JournalChanged { .. }
            | Self::NoneKept { .. }
            | Self::NotComputable { .. } => Severity::Invalid,
            _ => Severity::Warning,
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Saturated { .. } => {
                "offer more, use a faster link or a slower device clock, or compare ns per frame"
            }
            Self::OfferedTooLittle { .. } => {
                "give the tester more cores or ask for a rate that it reaches"
            }
            Self::SharedBottleneck { .. } => {
                "put the tester on cores, memory or a machine of its own"
            }
            Self::GeneratorLimited { has_cost: true, .. } => {
                "compare the device cost per frame, or use a faster tester"
            }
            Self::GeneratorLimited { has_cost: false, .. } => {
                "use a faster tester, or ask for a load that it reaches (load = \"RATE\"): these trials have no \
                 device cost to compare"
            }
            Self::CostsApart { .. } => {
                "compare the forwarding rates at a load that the device does not bear (load = \"max\")"
            }
            Self::FlowsDiffer { .. } => {
                "check the address and port ranges of the tester against the plan, which of them the device drops, and \
                 whether a trial sends each flow at all (load by duration)"
            }
            Self::AnnouncedFlowsDiffer { .. } => {
                "count distinct flows at the receiver, and correct the report or the command"
            }
            Self::TrialsMissing { failed, .. } if failed.is_empty() => {
                "run what is missing: a campaign that was stopped goes on with the same `fwdlab run`"
            }
            Self::TrialsMissing { .. } => {
                "look at the failed trials and run them again (in a campaign: the same `fwdlab run` with \
                 --retry-failed)"
            }
            Self::BlocksIncomplete { .. } => {
                "give every block a row of each variant, with an empty cell where a trial FAILED"
            }
            Self::BlocksApart { .. } => {
                "give what ran beside each other the same number of block, or leave that column out: then \
                 they are compared without blocks"
            }
            Self::FactorsDiffer { .. } => {
                "run both variants on the same set-up, or declare the factors in the experiment"
            }
            Self::OwnChoices { .. } => {
                "this is part of what is compared; to see the rest alone, set these words in both variants"
            }
            Self::NotApplied { .. } => "check that the device accepts the variant's settings",
            Self::NothingDiffers { .. } => {
                "name what is to be tested: files with other bytes, or other settings; to see what the lab \
                 makes of equal variants leave it so"
            }
            Self::SameFigures { .. } => "give the figures of two runs",
            Self::UnitsApart { .. } => "write the figures of both sides in one unit",
            Self::DirectionUnsaid { .. } => {
                "give --lower-is-better if less of it is better; a head with a unit says it itself, such as \
                 `latency (us)` or `rate (pps)`"
            }
            Self::TrafficDiffers { .. } => {
                "measure before and after with the same traffic; two traffics of one experiment have two names"
            }
            Self::FramesWrong { .. } => {
                "look at the device's configuration: it did not forward what it should"
            }
            Self::LossInBursts { .. } => {
                "take intervals that are several times as long as these bursts, or measure the share that is lost \
                 (measure = \"loss-curve\")"
            }
            Self::DropsApart { .. } => {
                "compare the forwarding rates (`fwdlab compare --metric rate`, with the results), or give all variants \
                 rules that drop the same frames"
            }
            Self::StrayRuns { .. } => {
                "look at what else ran then; more blocks make the verdict firmer"
            }
            Self::TwoClusters { .. } => {
                "pin queues and threads, fix the clock frequency, and find what switches"
            }
            Self::Drift { .. } => "let the machine warm up, and keep runs in randomised blocks",
            Self::Ramp { .. } => "make the trials longer or warm the device up before them",
            Self::ZeroGaps { .. } => "look for link flaps, resets or pauses of the device",
            Self::NotBlocked => "measure again in randomised blocks",
            Self::TestsDisagree { .. } => "look at the single runs; more runs will settle it",
            Self::RareRuns { .. } => {
                "look at what these runs have in common; more blocks tell how rare they are"
            }
            Self::OutOfReach { .. } => "make more runs of each, or ask for less confidence",
            Self::FewCampaigns { .. } => {
                "run the experiment again, each time in a fresh process, and give all its directories"
            }
            Self::CoresTaken { .. } => {
                "stop what else runs on this machine, or give fwdlab two cores of its own, and run \
                 again; `fwdlab doctor` watches each core"
            }
            Self::TruthsMissed { .. } => {
                "find what disturbs this machine: its intervals cannot be believed before; the lab's \
                 own truths are in claims.json"
            }
            Self::Allowed { .. } => {
                "the experiment allows it; take it out of allow = [...] to have no verdict then"
            }
            Self::JournalChanged { .. } => {
                "take the directory again from where it was measured, or measure again; `fwdlab report \
                 --check` names all that does not agree"
            }
            Self::NoneKept { .. } => {
                "mend what the trials say and run them again (the same `fwdlab run` with --retry-failed)"
            }
            Self::NotComputable { reason } if reason.contains(NO_FIGURE) => {
                "more blocks would have none either: leave --metric out or name another one; the warnings of the \
                 trials may say why"
            }
            Self::NotComputable { .. } => {
                "give each side two values or more, all above 0; in a campaign run more blocks, such as \
                 --blocks 8"
            }
        }
    }
}

/// What [`Finding::NotComputable`] says of a figure that was not measured.
pub const NO_FIGURE: &str = "figure for the ";

/// More runs than these are counted, not named: of a million values thousands may be stray.
const MOST_NAMED: usize = 20;

/// The first of `count` names, and how many more there are.
fn named(first: &[String], count: usize) -> String {
    match count.checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        Some(more) => format!("{} and {more} more", first[..MOST_NAMED].join(", ")),
        None => first.join(", "),
    }
}

#[cfg(test)]
mod tests;
