//! From the trials of a variant and its baseline to a verdict.
//!
//! METRIC: the forwarding rate decides when it is the device's own in every
//! trial of the pair; as soon as the tester or the asked load bounded one of
//! them, a rate cannot show what the device could do, and the device cost
//! (busy ns per frame) decides instead: [`Metric::deciding`].

use fwdlab_stats::unpaired::RankTest;
use fwdlab_stats::validity::{self, Finding};
use fwdlab_stats::{Comparison, Verdict};

use crate::blocks::{Row, compare};
use crate::setting::Setting;
use crate::unlike::unlike;
use fwdlab_results::{Checks, Metric, Results, Trial};

/// A verdict with all that it rests on.
#[derive(Debug, Clone)]
pub struct Judgement<'a> {
    /// The figure that decides.
    pub metric: Metric,
    /// The trials compared, of the baseline and of the variant: those of the
    /// complete blocks in their order, or without blocks all that were kept.
    pub sides: [Vec<&'a Trial>; 2],
    /// Trials of the sides in which the tester, or the asked load, bounded the rate.
    pub bounded: usize,
    /// The comparison of the forwarding rates.
    pub rate: Option<Comparison>,
    /// The comparison of the device costs.
    pub cost: Option<Comparison>,
    /// The rank test beside the comparison, without blocks.
    pub rank: Option<RankTest>,
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
pub fn judge<'a>(results: &'a Results, traffic: &str, setting: &Setting) -> Vec<Judgement<'a>> {
    let campaign = &results.campaign;
    let others: Vec<&String> =
        campaign.variants.iter().filter(|v| **v != campaign.baseline).collect();
    if !campaign.is_blocked() {
        return others.iter().map(|variant| published(results, (variant, traffic))).collect();
    }
    let baseline = kept(results, &campaign.baseline, traffic);
    let kept: Vec<Vec<&Trial>> = others.iter().map(|v| kept(results, v, traffic)).collect();
    let in_model: Vec<&Vec<&Trial>> = kept.iter().filter(|trials| trials.len() >= 2).collect();
    let rows = complete_blocks(&baseline, &in_model);
    let [rate, cost] =
        [Metric::Rate, Metric::Cost].map(|m| compare(&rows, in_model.len(), m, campaign));
    let mut column = 0;
    let mut judgements = Vec::with_capacity(others.len());
    for (variant, trials) in others.iter().zip(&kept) {
        if trials.len() < 2 {
            judgements.push(too_few(results, (variant, traffic), trials.len()));
            continue;
        }
        column += 1;
        let sides = [0, column].map(|side| rows.iter().map(|row| row[side]).collect());
        let [rate, cost] = [&rate, &cost].map(|all| all[column - 1].clone());
        let figures = Figures { rate, cost, unlike: unlike(results, setting, &sides) };
        judgements.push(judgement(results, (variant, traffic), sides, figures));
    }
    judgements
}

/// The trials that bear a figure: those that did not fail and have a rate.
fn kept<'a>(results: &'a Results, variant: &str, traffic: &str) -> Vec<&'a Trial> {
    let has_rate = |t: &&Trial| Metric::Rate.of(t).is_some_and(|r| r.is_finite() && r > 0.0);
    results.trials_of(variant, traffic).into_iter().filter(has_rate).collect()
}

/// Judges published runs as [`compare`](crate::compare) does: without blocks,
/// and without the checks of what their receiver did not count.
fn published<'a>(results: &'a Results, (variant, traffic): (&str, &str)) -> Judgement<'a> {
    let judged = crate::compare::published(results, traffic, variant);
    let sides =
        [results.campaign.baseline.as_str(), variant].map(|name| kept(results, name, traffic));
    let mut findings = judged.findings;
    findings.extend(ramp(&sides));
    Judgement {
        metric: Metric::Rate,
        bounded: bounded(&sides),
        sides,
        rate: judged.comparison,
        cost: None,
        rank: judged.rank,
        findings,
        verdict: judged.verdict,
    }
}

/// The comparisons of one variant, or why there is none.
struct Figures {
    rate: Result<Comparison, String>,
    cost: Result<Comparison, String>,
    /// How the sides differ from what the experiment says.
    unlike: Vec<Finding>,
}

fn too_few<'a>(results: &Results, names: (&str, &str), kept: usize) -> Judgement<'a> {
    let why = format!("{kept} of its trials kept where at least 2 are needed");
    judgement(
        results,
        names,
        [Vec::new(), Vec::new()],
        Figures { rate: Err(why.clone()), cost: Err(why), unlike: Vec::new() },
    )
}

fn judgement<'a>(
    results: &Results,
    (variant, traffic): (&str, &str),
    sides: [Vec<&'a Trial>; 2],
    figures: Figures,
) -> Judgement<'a> {
    let metric = Metric::deciding(trials(&sides));
    let mut findings = checks(results, &sides, metric);
    findings.extend(figures.unlike);
    let compared = [results.campaign.baseline.as_str(), variant];
    let failed = results
        .trials
        .iter()
        .filter(|t| t.traffic == traffic && !t.is_ok() && compared.contains(&t.variant.as_str()));
    let failed: Vec<String> = failed.map(|t| t.id.clone()).collect();
    findings.extend(validity::failed_trials(planned_blocks(results), sides[0].len(), failed));
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
    let bounded = bounded(&sides);
    Judgement { metric, sides, bounded, rate, cost, rank: None, findings, verdict }
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

fn trials<'a>(sides: &[Vec<&'a Trial>; 2]) -> impl Iterator<Item = &'a Trial> {
    sides.iter().flatten().copied()
}

fn bounded(sides: &[Vec<&Trial>; 2]) -> usize {
    trials(sides).filter(|t| t.limited_by.hides_device()).count()
}

/// The validity checks and stability warnings of one comparison.
fn checks(results: &Results, sides: &[Vec<&Trial>; 2], metric: Metric) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(first) = sides[0].first() else { return found };
    let asked = first.offered_pps_asked;
    if metric == Metric::Rate {
        let offered: Vec<f64> = trials(sides).map(|t| t.offered_pps().unwrap_or(0.0)).collect();
        let forwarded = trials(sides).map(|t| t.rate_pps.unwrap_or(0.0));
        let runs: Vec<(f64, f64)> = offered.iter().copied().zip(forwarded).collect();
        // where nobody counted what was offered, nobody can say that all of it came through
        let known = |offered: f64| asked.map(|_| offered).filter(|offered| *offered > 0.0);
        let loads: Vec<_> = runs.iter().map(|&(o, f)| (known(o), f)).collect();
        found.extend(validity::saturation(&loads, None));
        found.extend(validity::generator(&offered, asked));
        // Where they share a core on purpose, it is known and said what bounded each trial.
        if trials(sides).all(|t| t.measured.environment.device_share.is_none()) {
            found.extend(validity::shared_bottleneck(&runs));
        }
        let trials = bounded(sides);
        let of = sides.iter().map(Vec::len).sum();
        found.extend((trials > 0).then_some(Finding::GeneratorLimited { trials, of }));
    }
    let seen: Vec<u64> = trials(sides).filter_map(|t| t.measured.flows_seen).collect();
    found.extend(validity::flows(first.flows_planned, &seen));
    found.extend(wrong_frames(sides));
    found.extend(stability(results, sides, metric));
    found
}

fn wrong_frames(sides: &[Vec<&Trial>; 2]) -> Option<Finding> {
    let checks = || trials(sides).filter_map(|t| t.measured.checks);
    let sum = |count: fn(Checks) -> u64| checks().map(count).sum::<u64>();
    validity::frames(
        sum(|c| c.checked),
        &[
            ("duplicated", sum(|c| c.duplicated)),
            ("misrouted", sum(|c| c.misrouted)),
            ("with a bad TTL or hop limit", sum(|c| c.bad_ttl)),
            ("with a bad checksum", sum(|c| c.bad_checksum)),
            ("with a bad MAC address", sum(|c| c.bad_mac)),
        ],
    )
}

fn stability(results: &Results, sides: &[Vec<&Trial>; 2], metric: Metric) -> Vec<Finding> {
    let mut found = Vec::new();
    let figures = |side: &Vec<&Trial>| -> Vec<f64> {
        side.iter().filter_map(|trial| metric.of(trial)).collect()
    };
    let variant = sides[1].first().map_or("", |trial| trial.variant.as_str());
    let named =
        [(results.campaign.baseline.as_str(), figures(&sides[0])), (variant, figures(&sides[1]))];
    for (name, values) in &named {
        found.extend(validity::two_clusters(name, values));
        found.extend(validity::stray_runs(name, values));
    }
    found.extend(named.iter().find_map(|(_, values)| validity::drift(values)));
    found.extend(ramp(sides));
    found
}

fn ramp(sides: &[Vec<&Trial>; 2]) -> Option<Finding> {
    let windows: Vec<Vec<f64>> = trials(sides).map(steady_rates).collect();
    let windows: Vec<&[f64]> = windows.iter().map(Vec::as_slice).collect();
    validity::ramp(&windows)
}

/// Forwarding rates of the steady intervals, in frames/s.
pub fn steady_rates(trial: &Trial) -> Vec<f64> {
    trial.steady_intervals().iter().map(fwdlab_results::Interval::rx_pps).collect()
}
