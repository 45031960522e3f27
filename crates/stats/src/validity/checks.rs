//! Checks of single comparisons against what the plan promised.

use statrs::function::factorial::ln_binomial;

use super::{Finding, Limit};
use crate::comparison::{Comparison, LEAST_NAMED, Method};
use crate::dataset::{self, Dataset};

/// Share of a limit from which a rate counts as having reached it.
pub const SATURATION_SHARE: f64 = 0.995;
/// Correlation of offered and forwarded rate from which a bottleneck counts as shared.
pub const SHARED_CORRELATION: f64 = -0.8;

/// Share of its processors below which a trial says more of who else ran there than of the device.
pub const LEAST_CORE_SHARE: f64 = 0.6;

/// Whether both variants reached the line rate or the offered load.
///
/// `runs` are (offered, forwarded) in frames/s, of baseline and variant together; `line_rate_pps`
/// the limit of the link, where there is one. The slowest run decides: if even that one came
/// through whole, no difference could have been seen.
pub fn saturation(runs: &[(Option<f64>, f64)], line_rate_pps: Option<f64>) -> Option<Finding> {
    let forwarded_pps = runs.iter().map(|(_, forwarded)| *forwarded).reduce(f64::min)?;
    if let Some(limit_pps) = line_rate_pps.filter(|limit| forwarded_pps >= SATURATION_SHARE * limit)
    {
        return Some(Finding::Saturated { limit: Limit::LineRate, limit_pps, forwarded_pps });
    }
    let offered: Option<Vec<f64>> = runs.iter().map(|(offered, _)| *offered).collect();
    let offered = offered?;
    let is_whole = runs
        .iter()
        .zip(&offered)
        .all(|((_, forwarded), offered)| *forwarded >= SATURATION_SHARE * offered);
    let limit_pps = dataset::median(&offered);
    is_whole.then_some(Finding::Saturated { limit: Limit::OfferedLoad, limit_pps, forwarded_pps })
}

/// Whether what rare runs cost one side beside the other may exceed `margin` (a fraction).
pub fn rare_runs(
    comparison: &Comparison,
    margin: f64,
    (baseline, variant): (&str, &str),
) -> Option<Finding> {
    let rare = comparison.rare.filter(|rare| rare.unclear(margin).next().is_some())?;
    let (baseline, variant) = (baseline.to_owned(), variant.to_owned());
    Some(Finding::RareRuns { baseline, variant, rare: Box::new(rare) })
}

/// Most runs of each that [`out_of_reach`] looks at.
const MOST_RUNS: usize = 1000;

/// Whether so few runs could not reach the level, or their share of it, whatever they show. Without blocks Mann and Whitney's least p is 2 / C(n + m, n), when all of one side lie above
/// all of the other; in blocks fewer than [`LEAST_NAMED`] name no winner.
pub fn out_of_reach(comparison: &Comparison) -> Option<Finding> {
    if matches!(comparison.method, Method::Campaigns | Method::Sequential) {
        return None;
    }
    let is_blocked = comparison.method.is_blocked();
    let among = comparison.correction.map_or(1, |correction| correction.among.max(1));
    let among = if is_blocked { 1 } else { among };
    let level = comparison.confidence.alpha() / among as f64;
    let can = |b: usize, v: usize| {
        let least = 2f64.ln() - ln_binomial((b + v) as u64, b as u64);
        // a logarithm may be off by rounding
        b.min(v) >= LEAST_NAMED && (is_blocked || least <= level.ln() + 1e-9)
    };
    let runs = [comparison.n.baseline, comparison.n.variant];
    let percent = comparison.confidence.percent();
    let needed = (LEAST_NAMED..MOST_RUNS).find(|n| can(*n, *n))?;
    (!can(runs[0], runs[1])).then_some(Finding::OutOfReach { runs, needed, percent, among })
}

/// Whether the tester stayed more than 0.5 % below the load it was asked for.
pub fn generator(offered_pps: &[f64], asked_pps: Option<f64>) -> Option<Finding> {
    let asked_pps = asked_pps?;
    let offered_pps = offered_pps.iter().copied().reduce(f64::min)?;
    (offered_pps < SATURATION_SHARE * asked_pps)
        .then_some(Finding::OfferedTooLittle { asked_pps, offered_pps })
}

/// Whether offered load falls when the forwarded rate rises, over at least 5 runs given as
/// (offered, forwarded).
pub fn shared_bottleneck(runs: &[(f64, f64)]) -> Option<Finding> {
    if runs.len() < 5 {
        return None;
    }
    let (offered, forwarded): (Vec<f64>, Vec<f64>) = runs.iter().copied().unzip();
    let correlation = dataset::correlation(&offered, &forwarded);
    (correlation <= SHARED_CORRELATION).then_some(Finding::SharedBottleneck { correlation })
}

/// Whether figures that vary are the same on both sides, to the last digit and in their order. Where they take no more
/// than two values, as counts do, that is no wonder.
pub fn same_figures([baseline, variant]: [&str; 2], figures: [&[f64]; 2]) -> Option<Finding> {
    let [b, v] = figures;
    let first = b.first()?;
    let other = b.iter().find(|own| *own != first)?;
    let varies = b.iter().any(|own| own != first && own != other);
    let [baseline, variant] = [baseline, variant].map(str::to_owned);
    (varies && b == v).then_some(Finding::SameFigures { baseline, variant })
}

/// Whether medians lie a power of a thousand apart, within a factor of two.
pub fn units_apart(figures: [&[f64]; 2]) -> Option<Finding> {
    let near = 2f64.log10();
    let [b, v] = figures.map(|own| Dataset::new(own.to_vec()).map(|own| own.median()));
    let apart = (v.ok()? / b.ok()?).log10().abs();
    let powers = (apart / 3.0).round();
    let is_it = powers >= 1.0 && powers.is_finite() && (apart - 3.0 * powers).abs() <= near;
    is_it.then(|| Finding::UnitsApart { factor: 10f64.powf(3.0 * powers) })
}

/// Whether each trial's number of distinct flows equals the plan.
pub fn flows(planned: u64, seen: &[u64]) -> Option<Finding> {
    let seen = seen.iter().copied().max_by_key(|seen| seen.abs_diff(planned))?;
    (seen != planned).then_some(Finding::FlowsDiffer { planned, seen })
}

/// Whether others had the processors in more than half of the trials; `shares` are those of each
/// trial in its processors, 0 to 1, where they were measured, of all `of` trials of the comparison.
pub fn cores_taken(shares: &[f64], of: usize) -> Option<Finding> {
    let mut low: Vec<f64> =
        shares.iter().copied().filter(|share| *share < LEAST_CORE_SHARE).collect();
    low.sort_by(f64::total_cmp);
    let shares = [*low.first()?, *low.last()?];
    let finding = Finding::CoresTaken { trials: low.len(), of, shares, least: LEAST_CORE_SHARE };
    (2 * low.len() > of).then_some(finding)
}

/// Whether trials failed or are missing.
pub fn failed_trials(planned: usize, kept: usize, failed: Vec<String>) -> Option<Finding> {
    (planned != kept || !failed.is_empty()).then_some(Finding::TrialsMissing {
        planned,
        kept,
        failed,
    })
}

/// Whether more than one factor differs between baseline and variant.
///
/// `factors` names each factor with its value on either side; `expected` names those that the
/// experiment varies on purpose. A single unexpected factor is accepted only when nothing else was
/// expected to differ.
pub fn one_factor(factors: &[(&str, &str, &str)], expected: &[&str]) -> Option<Finding> {
    let differing: Vec<&(&str, &str, &str)> = factors.iter().filter(|(_, b, v)| b != v).collect();
    let surprises = differing.iter().filter(|(name, _, _)| !expected.contains(name)).count();
    let is_single = surprises == 0 || (expected.is_empty() && differing.len() == 1);
    (!is_single).then(|| Finding::FactorsDiffer {
        factors: differing.iter().map(|(name, b, v)| format!("{name} ({b} / {v})")).collect(),
    })
}

/// Whether any received frame was wrong; `counts` are (what, how many).
pub fn frames(checked: u64, counts: &[(&str, u64)]) -> Option<Finding> {
    let (what, wrong) =
        counts.iter().copied().filter(|(_, wrong)| *wrong > 0).max_by_key(|(_, wrong)| *wrong)?;
    Some(Finding::FramesWrong { what: what.to_owned(), wrong, checked })
}

/// Shares of lost frames that differ by more than this are not one share that is read twice.
const BURSTS: f64 = 0.01;

/// Whether frames were lost in bursts: of each trial the share that was lost in the median interval, and that of all
/// frames, where both are known.
pub fn loss_in_bursts(shares: &[Option<[f64; 2]>]) -> Option<Finding> {
    let distance = |[typical, all]: &[f64; 2]| (typical - all).abs();
    // Where hardly a frame was lost, what differs are the clocks of sender and receiver.
    let is_burst = |lost: &&[f64; 2]| distance(lost) > BURSTS && lost[1] > BURSTS;
    let burst: Vec<[f64; 2]> = shares.iter().flatten().filter(is_burst).copied().collect();
    let lost = burst.iter().copied().max_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    Some(Finding::LossInBursts { trials: burst.len(), of: shares.len(), lost })
}

/// Whether the device dropped another share of the frames in the trials of the variant than in those of the baseline, by
/// more than `margin`: what a frame costs is then no figure of forwarding. `shares` are those of each trial, 0 to 1.
pub fn drops_apart(
    [baseline, variant]: [&str; 2],
    shares: [&[f64]; 2],
    margin: f64,
) -> Option<Finding> {
    if shares.iter().any(|own| own.is_empty()) {
        return None;
    }
    let shares = shares.map(crate::median);
    ((shares[0] - shares[1]).abs() > margin).then(|| Finding::DropsApart {
        baseline: baseline.to_owned(),
        variant: variant.to_owned(),
        shares,
    })
}
