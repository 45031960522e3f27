//! From the trials of a variant and its baseline to a verdict.
//!
//! METRIC: the forwarding rate decides when it is the device's own in every
//! trial of the pair; as soon as the tester or the asked load bounded one of
//! them, a rate cannot show what the device could do, and the device cost
//! (busy ns per frame) decides instead.

use fwdlab_stats::validity::{self, Finding};
use fwdlab_stats::{Comparison, Verdict};

use super::compare::{Row, compare};
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

/// Judges every variant but the baseline with one traffic, in the order of
/// the experiment.
///
/// The blocks are those in which the baseline and every variant kept their
/// trial; a variant with fewer than two such trials is left out of them, so
/// that it does not take the others with it.
pub fn judge<'a>(results: &'a Results, traffic: &str) -> Vec<Judgement<'a>> {
    let campaign = &results.campaign;
    let kept = |variant: &str| -> Vec<&'a Trial> {
        results.trials_of(variant, traffic).into_iter().filter(|t| t.is_ok()).collect()
    };
    let baseline = kept(&campaign.baseline);
    let others: Vec<&String> =
        campaign.variants.iter().filter(|v| **v != campaign.baseline).collect();
    let kept: Vec<Vec<&Trial>> = others.iter().map(|v| kept(v)).collect();
    let in_model: Vec<&Vec<&Trial>> = kept.iter().filter(|trials| trials.len() >= 2).collect();
    let rows = complete_blocks(&baseline, &in_model);
    let rate = compare(&rows, Metric::Rate, campaign);
    let cost = compare(&rows, Metric::Cost, campaign);
    let mut column = 0;
    let mut judgements = Vec::with_capacity(others.len());
    for (variant, trials) in others.iter().zip(&kept) {
        if trials.len() < 2 {
            judgements.push(too_few(results, (variant, traffic), trials.len()));
            continue;
        }
        column += 1;
        let pairs: Vec<Pair<'a>> =
            rows.iter().map(|row| Pair { baseline: row[0], variant: row[column] }).collect();
        let pick = |all: &Result<Vec<Comparison>, String>| match all {
            Ok(all) => Ok(all[column - 1].clone()),
            Err(why) => Err(why.clone()),
        };
        let figures = Figures { rate: pick(&rate), cost: pick(&cost) };
        judgements.push(judgement(results, (variant, traffic), pairs, figures));
    }
    judgements
}

/// The comparisons of one variant, or why there is none.
struct Figures {
    rate: Result<Comparison, String>,
    cost: Result<Comparison, String>,
}

fn too_few<'a>(results: &Results, names: (&str, &str), kept: usize) -> Judgement<'a> {
    let why = format!("{kept} of its trials kept where at least 2 are needed");
    judgement(results, names, Vec::new(), Figures { rate: Err(why.clone()), cost: Err(why) })
}

fn judgement<'a>(
    results: &Results,
    (variant, traffic): (&str, &str),
    pairs: Vec<Pair<'a>>,
    figures: Figures,
) -> Judgement<'a> {
    let bounded = trials(&pairs).filter(|t| t.limited_by != LimitedBy::Device).count();
    let metric = if bounded == 0 { Metric::Rate } else { Metric::Cost };
    let mut findings = checks(results, &pairs, metric);
    let compared = [results.campaign.baseline.as_str(), variant];
    let failed = results
        .trials
        .iter()
        .filter(|t| t.traffic == traffic && !t.is_ok() && compared.contains(&t.variant.as_str()));
    let failed: Vec<String> = failed.map(|t| t.id.clone()).collect();
    findings.extend(validity::failed_trials(planned_blocks(results), pairs.len(), failed));
    let chosen = match metric {
        Metric::Rate => &figures.rate,
        Metric::Cost => &figures.cost,
    };
    let verdict = match chosen {
        Ok(comparison) => {
            let questions = results.campaign.traffics.len();
            findings.extend(validity::one_of_several(comparison, questions));
            Verdict::judge(comparison, results.campaign.margin, &findings)
        }
        Err(reason) => {
            findings.insert(0, Finding::NotComputable { reason: reason.clone() });
            Verdict::invalid(&findings).unwrap_or(Verdict::Invalid { why: vec![reason.clone()] })
        }
    };
    let (rate, cost) = (figures.rate.ok(), figures.cost.ok());
    Judgement { metric, pairs, bounded, rate, cost, findings, verdict }
}

/// The blocks in which every one of the variants has a trial.
fn complete_blocks<'a>(baseline: &[&'a Trial], variants: &[&Vec<&'a Trial>]) -> Vec<Row<'a>> {
    baseline
        .iter()
        .filter_map(|b| {
            let find =
                |trials: &&Vec<&'a Trial>| trials.iter().find(|v| v.block == b.block).copied();
            let others: Option<Row<'a>> = variants.iter().map(find).collect();
            let mut row = vec![*b];
            row.extend(others?);
            Some(row)
        })
        .collect()
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

fn trials<'a>(pairs: &'a [Pair<'a>]) -> impl Iterator<Item = &'a Trial> {
    pairs.iter().flat_map(|p| [p.baseline, p.variant])
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
