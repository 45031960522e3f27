//! From the trials of a variant and its baseline to a verdict.
//!
//! METRIC: the forwarding rate decides when it is the device's own in every
//! trial of the pair; as soon as the tester or the asked load bounded one of
//! them, alone or together with the device, a rate cannot show what the device
//! could do, and the device cost (busy ns per frame) decides instead: [`Metric::deciding`].

use fwdlab_stats::lost::Lost;
use fwdlab_stats::multiple::Kind;
use fwdlab_stats::unpaired::RankTest;
use fwdlab_stats::validity::{self, Finding};
use fwdlab_stats::{Comparison, Confidence, Subject, Verdict};

use crate::apart::Apart;
use crate::blocks::{self, Blocks, Next};
use crate::known::Proven;
use crate::ledger::wrong_frames;
use crate::runs::{self, Series};
use crate::saved::Saved;
use crate::setting::Setting;
use crate::unlike::unlike;
use crate::words::{self, Said};
use fwdlab_experiment::Allowance;
use fwdlab_results::{Benchmark, Measure, Metric, Results, Tick, Trial};

/// What a verdict is judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// The margin as a ratio.
    pub margin: f64,
    /// How sure it has to be.
    pub confidence: Confidence,
    /// The figure that decides, if it is asked for; else [`Metric::deciding`].
    pub metric: Option<Metric>,
}

impl Terms {
    /// What a report goes by: the experiment's own margin, at 95 %.
    pub fn of(results: &Results) -> Self {
        Self { margin: results.campaign.margin, confidence: Confidence::USUAL, metric: None }
    }
}

/// A verdict with all that it rests on.
#[derive(Debug, Clone)]
pub struct Judgement<'a> {
    /// Name of the variant.
    pub variant: &'a str,
    /// The figure that decides.
    pub metric: Metric,
    /// The trials compared, of the baseline and of the variant: those of the
    /// complete blocks in their order, or without blocks all that were kept.
    pub sides: [Vec<&'a Trial>; 2],
    /// The blocks that lost the trial of one side; none of runs without blocks.
    pub lost: Vec<Lost>,
    /// Trials of the sides in which the tester, or the asked load, bounded the rate, alone or
    /// together with the device.
    pub bounded: usize,
    /// The comparison of the forwarding rates.
    pub rate: Option<Comparison>,
    /// The comparison of the device costs.
    pub cost: Option<Comparison>,
    /// Comparison of the figure that the measure has of its own.
    pub own: Option<Comparison>,
    /// The rank test beside the comparison, without blocks.
    pub rank: Option<RankTest>,
    /// Doubts about the comparison that decides.
    pub findings: Vec<Finding>,
    /// The verdict.
    pub verdict: Verdict,
    /// What the next run of the experiment will show, where this one ran in several processes.
    pub next: Option<Next>,
    /// The nanoseconds per frame of a proven difference.
    pub saved: Option<Saved>,
    /// The difference in its unit, where a percentage would be of next to nothing.
    pub apart: Option<Apart>,
    /// The verdict in words.
    pub sentence: String,
}

impl Judgement<'_> {
    /// The comparison that decides; `None` when there are too few figures.
    pub const fn comparison(&self) -> Option<&Comparison> {
        match self.metric {
            Metric::Rate => self.rate.as_ref(),
            Metric::Cost => self.cost.as_ref(),
            Metric::Own(_) => self.own.as_ref(),
        }
    }
}

/// Judges every variant but the baseline with one traffic, in the order of
/// the experiment, as a report does.
///
/// The blocks are those in which the baseline and every variant kept their
/// trial; a variant with fewer than two such trials is left out of them, so
/// that it does not take the others with it.
pub fn judge<'a>(results: &'a Results, traffic: &str, setting: &Setting) -> Vec<Judgement<'a>> {
    judge_by(results, traffic, setting, Terms::of(results))
}

/// As [`judge`], by other terms.
pub fn judge_by<'a>(
    results: &'a Results,
    traffic: &str,
    setting: &Setting,
    terms: Terms,
) -> Vec<Judgement<'a>> {
    let campaign = &results.campaign;
    let others: Vec<&str> =
        campaign.variants.iter().filter(|v| **v != campaign.baseline).map(String::as_str).collect();
    if !campaign.is_blocked() {
        return published(results, &others, traffic, terms);
    }
    let blocks = Blocks::of(&results.trials, &campaign.baseline, &others, traffic);
    let compare = |metric| blocks::compare(&blocks, metric, campaign, terms.confidence);
    let (rate, cost) = (compare(Metric::Rate), compare(Metric::Cost));
    // of a figure that was asked for by name only trials that measured it tell
    let is_asked =
        |own: &Metric| !matches!(terms.metric, Some(Metric::Own(_))) || terms.metric == Some(*own);
    let own = Metric::own(blocks.rows.iter().flatten().copied()).filter(is_asked).map(compare);
    let one = |(variant, column): (&&'a str, &Result<usize, usize>)| {
        let least = blocks::LEAST_TRIALS;
        let pick = |all: &[Result<Comparison, String>]| match column {
            Ok(column) => all[column - 1].clone(),
            Err(_) if results.planned_blocks() < least => {
                Err(format!("one block holds one trial of each, and a comparison takes {least}"))
            }
            Err(n) => Err(format!("{n} of its trials kept where at least {least} are needed")),
        };
        let sides = column.map_or_else(|_| [Vec::new(), Vec::new()], |c| blocks.sides(c));
        let unlike = unlike(results, setting, &sides);
        let own = own.as_deref().map(pick);
        let lost = column.map_or_else(|_| Vec::new(), |column| blocks.lost[column - 1].clone());
        let allow = setting.allow.clone();
        let (rate, cost) = (pick(&rate), pick(&cost));
        let figures = Figures { rate, cost, own, unlike, lost, allow };
        judgement(results, (*variant, traffic), sides, figures, terms)
    };
    others.iter().zip(&blocks.columns).map(one).collect()
}

/// The trials that bear a figure: those that did not fail and have a rate.
fn kept<'a>(results: &'a Results, variant: &str, traffic: &str) -> Vec<&'a Trial> {
    results.trials_of(variant, traffic).into_iter().filter(|t| blocks::bears(t)).collect()
}

/// Judges published runs, which have no blocks, and without the checks of what their receiver did
/// not count.
fn published<'a>(
    results: &'a Results,
    variants: &[&'a str],
    traffic: &str,
    terms: Terms,
) -> Vec<Judgement<'a>> {
    let metric = terms.metric.unwrap_or(Metric::Rate);
    let baseline = results.campaign.baseline.as_str();
    let words = words::metric(results, traffic, metric);
    let series = |variant: &str| Series {
        metric: words.clone(),
        ..runs::series(results, (variant, traffic), metric)
    };
    let base = series(baseline);
    let others: Vec<Series> = variants.iter().map(|variant| series(variant)).collect();
    let pairs: Vec<[&Series; 2]> = others.iter().map(|own| [&base, own]).collect();
    let by = runs::Terms { margin: terms.margin, confidence: terms.confidence };
    let judged = runs::without_blocks(&pairs, Kind::Holm, by);
    let one = |(variant, judged): (&&'a str, runs::Judged)| {
        let sides = [baseline, *variant].map(|name| kept(results, name, traffic));
        let mut findings = judged.findings;
        findings.extend(ramp(&sides));
        let (rate, cost) = match metric {
            Metric::Cost => (None, judged.comparison),
            _ => (judged.comparison, None),
        };
        Judgement {
            variant,
            metric,
            bounded: bounded(&sides),
            sides,
            lost: Vec::new(),
            rate,
            cost,
            own: None,
            rank: judged.rank,
            findings,
            verdict: judged.verdict,
            next: None,
            saved: judged.saved,
            apart: None,
            sentence: judged.sentence,
        }
    };
    variants.iter().zip(judged).map(one).collect()
}

/// The comparisons of one variant, or why there is none.
struct Figures {
    rate: Result<Comparison, String>,
    cost: Result<Comparison, String>,
    /// Of a measure that has a figure of its own.
    own: Option<Result<Comparison, String>>,
    /// How the sides differ from what the experiment says.
    unlike: Vec<Finding>,
    /// The blocks that lost the trial of one side.
    lost: Vec<Lost>,
    /// Checks that need not be met.
    allow: Vec<Allowance>,
}

/// A finding as it counts where the experiment allows some.
pub fn permitted(finding: Finding, allow: &[Allowance]) -> Finding {
    let allowance = match finding {
        Finding::Saturated { .. } => Allowance::Saturation,
        Finding::OfferedTooLittle { .. }
        | Finding::SharedBottleneck { .. }
        | Finding::GeneratorLimited { .. } => Allowance::GeneratorLimit,
        other => return other,
    };
    match allow.contains(&allowance) {
        true => Finding::Allowed { what: finding.to_string() },
        false => finding,
    }
}

fn judgement<'a>(
    results: &Results,
    (variant, traffic): (&'a str, &str),
    sides: [Vec<&'a Trial>; 2],
    figures: Figures,
    terms: Terms,
) -> Judgement<'a> {
    let compared = [results.campaign.baseline.as_str(), variant];
    let metric = terms.metric.unwrap_or_else(|| deciding(results, (traffic, compared), &sides));
    let mut findings = changed(results);
    findings.extend(checks(&sides, metric).into_iter().map(|own| permitted(own, &figures.allow)));
    findings.extend(figures.unlike);
    findings.extend(Proven::of(results).and_then(|own| own.finding()));
    findings.extend(stability(compared, &sides, metric));
    findings.extend(costs_apart(compared, &sides, metric));
    findings.extend(drops_apart(compared, &sides, (metric, terms.margin)));
    let failed = results
        .trials
        .iter()
        .filter(|t| t.traffic == traffic && !t.is_ok() && compared.contains(&t.variant.as_str()));
    let failed: Vec<String> = failed.map(|t| t.id.clone()).collect();
    // a variant with too few trials for a comparison kept them all the same
    let least = || compared.map(|own| kept(results, own, traffic).len()).into_iter().min();
    let blocks = if sides[0].is_empty() { least().unwrap_or(0) } else { sides[0].len() };
    findings.extend(validity::failed_trials(results.planned_blocks(), blocks, failed));
    let none = Err(format!("no trial has a {}{}", validity::NO_FIGURE, metric.title()));
    let chosen = match metric {
        Metric::Rate => &figures.rate,
        Metric::Cost => &figures.cost,
        Metric::Own(_) => figures.own.as_ref().unwrap_or(&none),
    };
    let verdict = match chosen {
        Ok(comparison) => {
            findings.extend(validity::rare_runs(comparison, terms.margin, compared.into()));
            Verdict::judge(comparison, terms.margin, &findings)
        }
        Err(reason) => {
            let why = none_kept(results, (compared, traffic), reason)
                .unwrap_or_else(|| Finding::NotComputable { reason: reason.clone() });
            findings.insert(0, why);
            Verdict::invalid(&findings).unwrap_or(Verdict::Invalid { why: vec![reason.clone()] })
        }
    };
    let by = (metric, results.campaign.tick());
    let saved = chosen.as_ref().ok().and_then(|c| saved(&verdict, c, &sides[0], by));
    let apart = chosen.as_ref().ok().and_then(|c| apart(c, &sides[0], metric));
    let said = Said {
        verdict: &verdict,
        comparison: chosen.as_ref().ok(),
        saved: saved.as_ref(),
        apart: apart.as_ref(),
        change: metric.words(),
    };
    let words = words::metric(results, traffic, metric);
    let subject = Subject { variant, baseline: compared[0], metric: &words };
    let sentence = words::sentence(said, terms.margin, subject);
    let decides = chosen.as_ref().ok().cloned();
    let (rate, cost, bounded) = (figures.rate.ok(), figures.cost.ok(), bounded(&sides));
    let own = figures.own.and_then(Result::ok);
    let rank = None;
    let next = blocks::next_run([&sides[0], &sides[1]], metric, decides.as_ref());
    Judgement {
        variant,
        metric,
        sides,
        lost: figures.lost,
        bounded,
        rate,
        cost,
        own,
        rank,
        findings,
        verdict,
        next,
        saved,
        apart,
        sentence,
    }
}

/// Why a side has no trial to compare, where all that it has FAILED: the first of them says it.
fn none_kept(
    results: &Results,
    (compared, traffic): ([&str; 2], &str),
    reason: &str,
) -> Option<Finding> {
    let failed = compared.into_iter().filter(|own| kept(results, own, traffic).is_empty());
    let mut failed = failed.flat_map(|own| results.trials_of(own, traffic));
    let trial = failed.find(|trial| !trial.is_ok())?;
    // What helps stands behind it, and with the failures.
    let why = trial.reason.as_deref().and_then(|why| why.split("; ").next());
    let own = format!("{} FAILED: {}", trial.id, why.unwrap_or("no reason recorded"));
    let is_alone = results.planned_blocks() < blocks::LEAST_TRIALS;
    let reason = if is_alone { own } else { format!("{reason}: {own}") };
    Some(Finding::NoneKept { reason })
}

/// The figure that decides; where no block is complete, that of all trials.
fn deciding(
    results: &Results,
    (traffic, compared): (&str, [&str; 2]),
    sides: &[Vec<&Trial>; 2],
) -> Metric {
    if trials(sides).next().is_some() {
        return Metric::deciding(trials(sides));
    }
    let all = compared.map(|own| kept(results, own, traffic));
    let measure = words::measure(results, traffic);
    let own = Some(Metric::Own(measure)).filter(|_| measure.is_benchmark());
    own.unwrap_or_else(|| Metric::deciding(trials(&all)))
}

/// How far the sides lie apart in the figure's unit, where a percentage would be of next to nothing.
pub fn apart(comparison: &Comparison, baseline: &[&Trial], metric: Metric) -> Option<Apart> {
    let figures: Vec<f64> = baseline.iter().filter_map(|trial| metric.of(trial)).collect();
    let apart = Apart::of(comparison, &figures, metric)?;
    let lasted = baseline.iter().filter_map(|trial| match &trial.measured.benchmark {
        Some(Benchmark::Soak(own)) => Some(own.seconds),
        _ => None,
    });
    match lasted.reduce(f64::max) {
        Some(most) => Some(apart.at_most(most, comparison)),
        None => Some(apart),
    }
}

/// The nanoseconds per frame of a proven difference, from the baseline's trials.
pub fn saved(
    verdict: &Verdict,
    comparison: &Comparison,
    baseline: &[&Trial],
    (metric, tick): (Metric, Tick),
) -> Option<Saved> {
    let ns = |trial: &&Trial| {
        let figure = metric.of(trial)?;
        match metric {
            Metric::Rate => Some(1e9 / figure),
            Metric::Cost => Some(figure),
            Metric::Own(_) => None, // of frames and seconds no nanoseconds per frame follow
        }
    };
    let ns: Vec<f64> = baseline.iter().filter_map(ns).collect();
    Saved::of(verdict, comparison, (&ns, tick))
}

/// The findings, the gravest first.
pub fn by_weight(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|f| std::cmp::Reverse(f.severity()));
    findings
}

fn trials<'a>(sides: &[Vec<&'a Trial>; 2]) -> impl Iterator<Item = &'a Trial> {
    sides.iter().flatten().copied()
}

fn bounded(sides: &[Vec<&Trial>; 2]) -> usize {
    trials(sides).filter(|t| !t.limited_by.is_device_alone()).count()
}

/// Whether the journal is not as it was written.
pub fn changed(results: &Results) -> Vec<Finding> {
    results.changed.map(|line| Finding::JournalChanged { line }).into_iter().collect()
}

/// The validity checks of one comparison.
pub fn checks(sides: &[Vec<&Trial>; 2], metric: Metric) -> Vec<Finding> {
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
        let shares: Vec<_> = trials(sides).map(lost_shares).collect();
        found.extend(validity::loss_in_bursts(&shares));
        // Where they share a core on purpose, it is known and said what bounded each trial.
        if trials(sides).all(|t| t.measured.environment.device_share.is_none()) {
            found.extend(validity::shared_bottleneck(&runs));
        }
        // Where both share the limit and there is no cost, the rate is that of both, and said so. Where they take turns,
        // it is without a cost because the tester waited for what was lost.
        let is_anothers =
            |t: &&Trial| t.limited_by.hides_device() || t.measured.environment.takes_turns;
        let trials = trials(sides).filter(is_anothers).count();
        let of = sides.iter().map(Vec::len).sum();
        let has_cost = self::trials(sides).all(|t| t.cost_ns().is_some());
        let limited = Finding::GeneratorLimited { trials, of, has_cost };
        found.extend((trials > 0).then_some(limited));
    } else if matches!(metric, Metric::Own(_)) {
        // A time is seen no closer than frames come.
        let offered: Vec<f64> = trials(sides).filter_map(Trial::offered_pps).collect();
        found.extend(validity::generator(&offered, asked));
    }
    let seen: Vec<u64> = trials(sides).filter_map(|t| t.measured.flows_seen).collect();
    found.extend(first.flows_due().and_then(|planned| validity::flows(planned, &seen)));
    found.extend(wrong_frames(sides));
    let shares: Vec<f64> = trials(sides).filter_map(core_share).collect();
    found.extend(validity::cores_taken(&shares, sides.iter().map(Vec::len).sum()));
    found
}

/// Costs that would decide, had they been taken in one way.
fn costs_apart(
    [baseline, variant]: [&str; 2],
    sides: &[Vec<&Trial>; 2],
    metric: Metric,
) -> Option<Finding> {
    let is_missed = metric == Metric::Rate && bounded(sides) > 0;
    let ways = sides.each_ref().map(|side| side.iter().find_map(|trial| trial.measured.busy_by));
    let (sampled, timed) = match ways.map(|by| by.is_some()) {
        [true, false] => (baseline, variant),
        [false, true] => (variant, baseline),
        _ => return None,
    };
    let (sampled, timed) = (sampled.to_owned(), timed.to_owned());
    is_missed.then_some(Finding::CostsApart { sampled, timed })
}

/// Frames that were dropped on purpose, where what a frame costs decides.
fn drops_apart(
    compared: [&str; 2],
    sides: &[Vec<&Trial>; 2],
    (metric, margin): (Metric, f64),
) -> Option<Finding> {
    let is_cost =
        matches!(metric, Metric::Cost | Metric::Own(Measure::Insertion | Measure::Lookup));
    let share = |trial: &&Trial| trial.measured.refused_share();
    let shares = sides.each_ref().map(|side| side.iter().filter_map(share).collect::<Vec<f64>>());
    let [base, own] = &shares;
    is_cost.then(|| validity::drops_apart(compared, [base, own], margin)).flatten()
}

/// The share of its processors that a trial had: others of this machine, or a hypervisor, had the
/// rest.
pub(crate) fn core_share(trial: &Trial) -> Option<f64> {
    let environment = &trial.measured.environment;
    let kept = environment.steal_share.map(|stolen| 1.0 - stolen);
    environment.core_share.into_iter().chain(kept).reduce(f64::min)
}

/// The share of frames lost in the median interval, and of all in the steady window, of a trial with a load of its own:
/// at most a device's rate swings, and the median is what it is told by.
pub(crate) fn lost_shares(trial: &Trial) -> Option<[f64; 2]> {
    trial.offered_pps_asked.filter(|_| !trial.was_away())?;
    let steady = trial.steady_intervals();
    let sent = steady.iter().map(|own| own.tx).sum::<Option<u64>>().filter(|sent| *sent > 0)?;
    let came = steady.iter().map(|own| own.rx).fold(0, u64::saturating_add);
    let typical = trial.rate_pps? / trial.offered_pps().filter(|offered| *offered > 0.0)?;
    Some([typical, came as f64 / sent as f64].map(|came| (1.0 - came).max(0.0)))
}

/// The stability warnings of one comparison.
fn stability(
    [baseline, variant]: [&str; 2],
    sides: &[Vec<&Trial>; 2],
    metric: Metric,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let figures = |side: &Vec<&Trial>| -> Vec<f64> {
        side.iter().filter_map(|trial| metric.of(trial)).collect()
    };
    let named = [(baseline, figures(&sides[0])), (variant, figures(&sides[1]))];
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
