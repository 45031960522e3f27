//! From the trials of a variant and its baseline to a verdict.
//!
//! METRIC: the forwarding rate decides when it is the device's own in every
//! trial of the pair; as soon as the tester or the asked load bounded one of
//! them, a rate cannot show what the device could do, and the device cost
//! (busy ns per frame) decides instead.

use fwdlab_stats::validity::{self, Finding};
use fwdlab_stats::{Comparison, Direction, Verdict, paired};

use crate::results::{LimitedBy, Metric, Results, Trial};

/// The trials of one block that are compared.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// The baseline's trial.
    pub baseline: &'a Trial,
    /// The variant's trial.
    pub variant: &'a Trial,
}

/// A verdict with all that it rests on.
#[derive(Debug, Clone)]
pub struct Judgement<'a> {
    /// The figure that decides.
    pub metric: Metric,
    /// Complete blocks, in their order.
    pub pairs: Vec<Pair<'a>>,
    /// Trials of the pairs in which the tester, or the asked load, bounded the rate.
    pub bounded: usize,
    /// The comparison of the forwarding rates.
    pub rate: Option<Comparison>,
    /// The comparison of the device costs.
    pub cost: Option<Comparison>,
    /// Doubts about the comparison that decides.
    pub findings: Vec<Finding>,
    /// The verdict.
    pub verdict: Verdict,
}

impl Judgement<'_> {
    /// The comparison that decides; `None` when there are too few figures.
    pub const fn comparison(&self) -> Option<&Comparison> {
        match self.metric {
            Metric::Rate => self.rate.as_ref(),
            Metric::Cost => self.cost.as_ref(),
        }
    }
}

/// Judges `variant` against the baseline with one traffic.
pub fn judge<'a>(results: &'a Results, variant: &str, traffic: &str) -> Judgement<'a> {
    let baseline_trials = results.trials_of(&results.campaign.baseline, traffic);
    let variant_trials = results.trials_of(variant, traffic);
    let pairs = complete_blocks(&baseline_trials, &variant_trials);
    let bounded = trials(&pairs).filter(|t| t.limited_by != LimitedBy::Device).count();
    let metric = if bounded == 0 { Metric::Rate } else { Metric::Cost };
    let rate = compare(&pairs, Metric::Rate);
    let cost = compare(&pairs, Metric::Cost);
    let mut findings = checks(results, &pairs, metric);
    let failed = baseline_trials.iter().chain(&variant_trials).filter(|t| !t.is_ok());
    let failed: Vec<String> = failed.map(|t| t.id.clone()).collect();
    findings.extend(validity::failed_trials(planned_blocks(results), pairs.len(), failed));
    let chosen = match metric {
        Metric::Rate => &rate,
        Metric::Cost => &cost,
    };
    let verdict = match chosen {
        Ok(comparison) => Verdict::judge(comparison, results.campaign.margin, &findings),
        Err(reason) => {
            let finding = Finding::NotComputable { reason: reason.clone() };
            findings.insert(0, finding);
            Verdict::invalid(&findings).unwrap_or(Verdict::Invalid { why: vec![reason.clone()] })
        }
    };
    Judgement { metric, pairs, bounded, rate: rate.ok(), cost: cost.ok(), findings, verdict }
}

/// Blocks that every comparison should hold: those planned, or those run when
/// the campaign was to stop as soon as it was decided.
pub fn planned_blocks(results: &Results) -> usize {
    let campaign = &results.campaign;
    if campaign.until_decided && results.finished.is_some() {
        let last = results.trials.iter().map(|t| t.block).max();
        return last.unwrap_or(0) as usize;
    }
    campaign.blocks as usize
}

fn complete_blocks<'a>(baseline: &[&'a Trial], variant: &[&'a Trial]) -> Vec<Pair<'a>> {
    let usable = |t: &&&'a Trial| t.is_ok();
    baseline
        .iter()
        .filter(usable)
        .filter_map(|b| {
            let v = variant.iter().filter(usable).find(|v| v.block == b.block)?;
            Some(Pair { baseline: b, variant: v })
        })
        .collect()
}

fn trials<'a>(pairs: &'a [Pair<'a>]) -> impl Iterator<Item = &'a Trial> {
    pairs.iter().flat_map(|p| [p.baseline, p.variant])
}

fn compare(pairs: &[Pair<'_>], metric: Metric) -> Result<Comparison, String> {
    let blocks: Option<Vec<paired::Block>> = pairs
        .iter()
        .map(|p| Some(paired::Block::new(metric.of(p.baseline)?, metric.of(p.variant)?)))
        .collect();
    let direction = match metric {
        Metric::Rate => Direction::HigherIsBetter,
        Metric::Cost => Direction::LowerIsBetter,
    };
    let blocks =
        blocks.ok_or_else(|| format!("a trial has no figure for the {}", metric.name()))?;
    paired::compare(&blocks, direction).map_err(|e| e.to_string())
}

/// The validity checks and stability warnings of one comparison.
fn checks(results: &Results, pairs: &[Pair<'_>], metric: Metric) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(first) = pairs.first() else { return found };
    let asked = first.baseline.offered_pps_asked;
    if metric == Metric::Rate {
        let offered: Vec<f64> = trials(pairs).map(offered_pps).collect();
        let forwarded = trials(pairs).map(|t| t.rate_pps.unwrap_or(0.0));
        let runs: Vec<(f64, f64)> = offered.iter().copied().zip(forwarded).collect();
        let bounded: Vec<_> = runs.iter().map(|&(o, f)| (asked.map(|_| o), f)).collect();
        found.extend(validity::saturation(&bounded, None));
        found.extend(validity::generator(&offered, asked));
        found.extend(validity::shared_bottleneck(&runs));
    }
    let seen: Vec<u64> = trials(pairs).map(|t| t.flows_seen).collect();
    found.extend(validity::flows(first.baseline.flows_planned, &seen));
    found.extend(wrong_frames(pairs));
    found.extend(stability(results, pairs, metric));
    found
}

fn wrong_frames(pairs: &[Pair<'_>]) -> Option<Finding> {
    let sum = |count: fn(&Trial) -> u64| trials(pairs).map(count).sum::<u64>();
    validity::frames(
        sum(|t| t.checks.checked),
        &[
            ("duplicated", sum(|t| t.checks.duplicated)),
            ("misrouted", sum(|t| t.checks.misrouted)),
            ("with a bad TTL or hop limit", sum(|t| t.checks.bad_ttl)),
            ("with a bad checksum", sum(|t| t.checks.bad_checksum)),
            ("with a bad MAC address", sum(|t| t.checks.bad_mac)),
        ],
    )
}

fn stability(results: &Results, pairs: &[Pair<'_>], metric: Metric) -> Vec<Finding> {
    let mut found = Vec::new();
    let figures = |pick: for<'b> fn(&Pair<'b>) -> &'b Trial| -> Vec<f64> {
        pairs.iter().filter_map(|p| metric.of(pick(p))).collect()
    };
    let variant = pairs.first().map_or("", |p| p.variant.variant.as_str());
    let sides = [
        (results.campaign.baseline.as_str(), figures(|p| p.baseline)),
        (variant, figures(|p| p.variant)),
    ];
    for (name, values) in &sides {
        found.extend(validity::two_clusters(name, values));
        found.extend(validity::stray_runs(name, values));
    }
    found.extend(sides.iter().find_map(|(_, values)| validity::drift(values)));
    let windows: Vec<Vec<f64>> = trials(pairs).map(steady_rates).collect();
    let windows: Vec<&[f64]> = windows.iter().map(Vec::as_slice).collect();
    found.extend(validity::ramp(&windows));
    found
}

/// Forwarding rates of the steady intervals, in frames/s.
pub fn steady_rates(trial: &Trial) -> Vec<f64> {
    steady_intervals(trial).iter().map(crate::results::Interval::rx_pps).collect()
}

/// Median offered load of the steady intervals, in frames/s.
pub fn offered_pps(trial: &Trial) -> f64 {
    let rates: Vec<f64> =
        steady_intervals(trial).iter().map(crate::results::Interval::tx_pps).collect();
    super::figure::Summary::of(&rates).map_or(0.0, |s| s.median)
}

fn steady_intervals(trial: &Trial) -> &[crate::results::Interval] {
    let Some(steady) = &trial.steady else { return &[] };
    let end = steady.first.saturating_add(steady.count).min(trial.intervals.len());
    &trial.intervals[steady.first.min(end)..end]
}
