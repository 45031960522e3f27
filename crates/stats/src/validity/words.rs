//! The findings in words.

use std::fmt;

use super::{Finding, Limit, MOST_NAMED, named};
use crate::decimal;
use crate::plural;
use crate::rare::rare_cost;

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Saturated { .. }
            | Self::OfferedTooLittle { .. }
            | Self::SharedBottleneck { .. }
            | Self::GeneratorLimited { .. }
            | Self::CostsApart { .. }
            | Self::CoresTaken { .. } => self.of_load(f),
            Self::FlowsDiffer { .. }
            | Self::AnnouncedFlowsDiffer { .. }
            | Self::TrialsMissing { .. }
            | Self::BlocksIncomplete { .. }
            | Self::BlocksApart { .. }
            | Self::FactorsDiffer { .. }
            | Self::OwnChoices { .. }
            | Self::NotApplied { .. }
            | Self::NothingDiffers { .. }
            | Self::SameFigures { .. }
            | Self::UnitsApart { .. }
            | Self::DirectionUnsaid { .. }
            | Self::TrafficDiffers { .. }
            | Self::FramesWrong { .. }
            | Self::LossInBursts { .. }
            | Self::DropsApart { .. }
            | Self::JournalChanged { .. }
            | Self::Allowed { .. } => self.of_plan(f),
            Self::StrayRuns { .. }
            | Self::TwoClusters { .. }
            | Self::Drift { .. }
            | Self::Ramp { .. }
            | Self::ZeroGaps { .. }
            | Self::RareRuns { .. } => self.of_runs(f),
            Self::NotBlocked
            | Self::TestsDisagree { .. }
            | Self::OutOfReach { .. }
            | Self::FewCampaigns { .. }
            | Self::TruthsMissed { .. }
            | Self::NoneKept { .. }
            | Self::NotComputable { .. } => self.of_tests(f),
        }
    }
}

impl Finding {
    /// What the tester offered, and what bounds the rate.
    fn of_load(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Saturated { limit, limit_pps, forwarded_pps } => {
                let limit = match limit {
                    Limit::LineRate => "line rate",
                    Limit::OfferedLoad => "offered load",
                };
                let share = forwarded_pps / limit_pps * 100.0;
                write!(
                    f,
                    "saturated: {forwarded_pps:.0} frames/s are {share:.1} % of the {limit} ({limit_pps:.0})"
                )
            }
            Self::OfferedTooLittle { asked_pps, offered_pps } => {
                write!(
                    f,
                    "generator limit: {offered_pps:.0} frames/s offered where {asked_pps:.0} were asked for"
                )
            }
            Self::SharedBottleneck { correlation } => write!(
                f,
                "generator limit: offered load falls when the forwarded rate rises (correlation {correlation:.2})"
            ),
            Self::GeneratorLimited { trials, of, .. } => {
                write!(
                    f,
                    "generator limit: the device waited for frames in {trials} of {}",
                    plural(*of, "trial")
                )
            }
            Self::CostsApart { sampled, timed } => write!(
                f,
                "device costs are not compared: that of {sampled} is sampled at ticks of the kernel's clock, that of \
                 {timed} lies between readings of a clock"
            ),
            Self::CoresTaken { trials, of, shares, least } => {
                let [low, high] = shares.map(|share| share * 100.0);
                write!(
                    f,
                    "cores taken: in {trials} of {} tester or device had their processors \
                     for {low:.0} to {high:.0} % of the time, less than {:.0} %",
                    plural(*of, "trial"),
                    least * 100.0
                )
            }
            _ => Ok(()),
        }
    }

    /// What was planned, and what was done.
    fn of_plan(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FlowsDiffer { planned, seen } => {
                write!(f, "flows: {planned} planned, {seen} seen")
            }
            Self::AnnouncedFlowsDiffer { announced, commanded } => write!(
                f,
                "flows: the report announces {announced}, the tester's command makes {commanded}"
            ),
            Self::TrialsMissing { planned, kept, failed } => {
                write!(f, "{planned} planned, {kept} kept")?;
                if failed.is_empty() {
                    Ok(())
                } else {
                    write!(f, " (FAILED: {})", named(failed, failed.len()))
                }
            }
            Self::BlocksIncomplete { blocks, lacking } => write!(
                f,
                "{} of {} without a figure of each variant, which count for none: {}",
                lacking.len(),
                plural(*blocks, "block"),
                named(lacking, lacking.len())
            ),
            Self::BlocksApart { blocks } => {
                write!(f, "no block has figures of all variants: {}", blocks.join(", "))
            }
            Self::FactorsDiffer { factors } => {
                write!(f, "more than one factor differs: {}", factors.join(", "))
            }
            Self::OwnChoices { words } => {
                write!(f, "the device chose otherwise as a consequence: {}", words.join(", "))
            }
            Self::NotApplied { settings } => {
                write!(f, "not proven to be applied: {}", settings.join(", "))
            }
            Self::NothingDiffers { baseline, variant } => write!(
                f,
                "nothing differs: {variant} is {baseline} under another name, the settings and the bytes of \
                 their files are the same"
            ),
            Self::SameFigures { baseline, variant } => write!(
                f,
                "same figures: those of {variant} are those of {baseline} to the last digit, in the same order; one is \
                 a copy of the other"
            ),
            Self::UnitsApart { factor } => write!(
                f,
                "units: the sides lie about {factor} times apart, as figures of two units do (kpps and pps, us and ns)"
            ),
            Self::DirectionUnsaid { metric } => {
                let what = if metric.is_empty() { "these figures" } else { metric.as_str() };
                write!(
                    f,
                    "direction: nothing says whether more or less of {what} is better; more is taken to be"
                )
            }
            Self::TrafficDiffers { traffic: [before, after] } => {
                write!(f, "traffic: {before} before, {after} after")
            }
            Self::FramesWrong { what, wrong, checked } => {
                write!(f, "frames: {wrong} of {checked} {what}")
            }
            Self::LossInBursts { trials, of, lost: [typical, all] } => write!(
                f,
                "losses in bursts: in {trials} of {of} trials the median interval, by which rates are told, lost {:.1} % \
                 of its frames, all together lost {:.1} %",
                100.0 * typical,
                100.0 * all
            ),
            Self::DropsApart { baseline, variant, shares: [base, own] } => write!(
                f,
                "drops: rules or the table of sessions dropped {:.1} % of the frames of {variant} and {:.1} % of those of \
                 {baseline}, and a frame that is dropped costs less than one that is forwarded",
                100.0 * own,
                100.0 * base
            ),
            Self::JournalChanged { line } => write!(
                f,
                "journal changed: line {line} of trials.jsonl, or what it follows from, is not as it was \
                 written, and nobody knows what was measured"
            ),
            Self::Allowed { what } => write!(f, "{what} (the experiment allows it)"),
            _ => Ok(()),
        }
    }

    /// How the runs lie.
    fn of_runs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StrayRuns { of, positions } => {
                let list: Vec<String> =
                    positions.iter().take(MOST_NAMED + 1).map(usize::to_string).collect();
                write!(f, "stray runs: {of} number {} (kept)", named(&list, positions.len()))
            }
            Self::TwoClusters { of, low, low_count, high, high_count } => {
                write!(
                    f,
                    "two clusters: {of} has {} near {} and {high_count} near {}",
                    plural(*low_count, "run"),
                    decimal(*low, 6),
                    decimal(*high, 6)
                )
            }
            Self::Drift { percent, p } => {
                write!(f, "drift: {percent:+.1} % over the campaign (p {p:.3})")
            }
            Self::Ramp { percent, trials, of } => {
                write!(
                    f,
                    "ramp: the rate changes by {percent:+.1} % within the window of {trials} of {}",
                    plural(*of, "trial")
                )
            }
            Self::ZeroGaps { intervals } => {
                write!(f, "gaps: {} without a frame", plural(*intervals, "interval"))
            }
            Self::RareRuns { baseline, variant, rare } => {
                let seen = rare.describe(baseline, variant).unwrap_or_default();
                let [b, v] = [rare.baseline, rare.variant].map(|side| side.share_at_most * 100.0);
                write!(f, "rare runs: {seen}")?;
                let costs: Vec<String> =
                    [rare.slower, rare.faster].iter().flatten().map(rare_cost).collect();
                if !costs.is_empty() {
                    let costs = costs.join(" and ");
                    write!(
                        f,
                        "; on average over all runs these alone are {costs} for {variant}, "
                    )?;
                    f.write_str("beside what typical runs differ by")?;
                }
                write!(
                    f,
                    "; it is 95 % sure only that of many more runs at most {v:.0} % of {variant}'s and \
                     {b:.0} % of {baseline}'s will be like that"
                )
            }
            _ => Ok(()),
        }
    }

    /// What can be concluded of them.
    fn of_tests(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBlocked => {
                write!(
                    f,
                    "not in randomised blocks: drift between the runs would look like a difference"
                )
            }
            Self::TestsDisagree { welch_p, rank_p } => {
                write!(f, "tests disagree: Welch p {welch_p:.3}, Mann-Whitney p {rank_p:.3}")
            }
            Self::OutOfReach { runs: [b, v], needed, percent, among } => {
                let shared = match among {
                    0 | 1 => String::new(),
                    among => format!(" among {among} comparisons"),
                };
                write!(
                    f,
                    "too few runs: {b} and {v} cannot reach {percent} %{shared} whatever they show; {needed} of each can"
                )
            }
            Self::FewCampaigns { campaigns: [b, v], needed } => write!(
                f,
                "too few campaigns: {b} and {v} where {needed} of each are needed to know how much campaigns differ"
            ),
            Self::TruthsMissed { held, of, e } => write!(
                f,
                "own truths missed: only {held} of {of} of them lie in their 95 % intervals, which \
                 speaks against 95 % (e = {e:.0})"
            ),
            Self::NoneKept { reason } | Self::NotComputable { reason } => write!(f, "{reason}"),
            _ => Ok(()),
        }
    }
}
