//! Before and after a change: each variant with itself, in campaigns that did not share blocks.

use fwdlab_stats::campaigns::{self, Campaign, LEAST_CAMPAIGNS};
use fwdlab_stats::lost;
use fwdlab_stats::rare::Rare;
use fwdlab_stats::unpaired::{self, Pair};
use fwdlab_stats::validity::{self, Finding};
use fwdlab_stats::{Comparison, Error, Resolution, Subject, Verdict, percent_interval, shared};

use crate::apart::Settings;
use crate::asked::terms;
use crate::campaigns::{all_differ, least, of_one_experiment, speeds};
use crate::{CompareError, Group, Judgement, LeftOut, Options};
use fwdlab_claims::blocks;
use fwdlab_claims::judge::{self, Terms};
use fwdlab_claims::runs::{self, Series};
use fwdlab_claims::words::{self, Said};
use fwdlab_results::{Metric, Results, Trial};

/// A group for every traffic and variant that both sides have.
pub(crate) fn compare(
    sides: [&[Results]; 2],
    settings: &Settings,
    options: &Options,
) -> Result<Vec<Group>, CompareError> {
    if let Some(name) = &options.baseline {
        return Err(CompareError::OwnBaseline { name: name.clone() });
    }
    for side in sides {
        of_one_experiment(side)?;
    }
    all_differ(sides[0].iter().chain(sides[1]))?;
    let first = &sides[0][0];
    let new = &sides[1][0].campaign;
    let mut shared: Vec<(&str, &str)> = Vec::new();
    for traffic in first.campaign.traffics.iter().filter(|own| new.traffics.contains(own)) {
        let variants = first.campaign.variants.iter().filter(|own| new.variants.contains(own));
        shared.extend(variants.map(|variant| (traffic.as_str(), variant.as_str())));
    }
    if shared.is_empty() {
        let found = format!(
            "no variant and traffic is in both {} and {}",
            first.dir.display(),
            sides[1][0].dir.display()
        );
        return Err(CompareError::Alone { found });
    }
    for (traffic, _) in &shared {
        of_one_measure(sides, traffic)?;
    }
    let by = By {
        terms: terms(first, options)?,
        questions: shared.len(),
        least: least(options),
        is_single_campaign: options.is_single_campaign,
        names: names(sides),
    };
    Ok(shared
        .into_iter()
        .map(|(traffic, variant)| Own { sides, settings, traffic, variant }.group(&by))
        .collect())
}

/// Whether the figures of a traffic are of one kind.
fn of_one_measure(sides: [&[Results]; 2], traffic: &str) -> Result<(), CompareError> {
    let [old, new] = sides.map(|side| &side[0]);
    let [old_measure, new_measure] = [old, new].map(|side| words::measure(side, traffic));
    if old_measure == new_measure {
        return Ok(());
    }
    Err(CompareError::Measures {
        traffic: traffic.to_owned(),
        old: old.dir.clone(),
        old_measure: old_measure.title(),
        new: new.dir.clone(),
        new_measure: new_measure.title(),
    })
}

/// Traffics and variants that only one side has.
pub(crate) fn left_out(sides: [&[Results]; 2]) -> Vec<LeftOut> {
    let [old, new] = sides.map(|side| &side[0].campaign);
    let [old_name, new_name] = names(sides);
    let mut found = Vec::new();
    for (kind, old, new) in
        [("traffic", &old.traffics, &new.traffics), ("variant", &old.variants, &new.variants)]
    {
        let alone = |all: &[String], others: &[String], name: &str, is_lost| -> Vec<LeftOut> {
            let own = all.iter().filter(|own| !others.contains(own));
            let left = |own: &String| LeftOut {
                what: format!("{kind} {own}"),
                only_in: name.to_owned(),
                is_lost,
            };
            own.map(left).collect()
        };
        found.extend(alone(old, new, &old_name, true));
        found.extend(alone(new, old, &new_name, false));
    }
    found
}

/// What both sides are called: by their directories, or several of them by their time.
fn names(sides: [&[Results]; 2]) -> [String; 2] {
    let name = |side: &[Results]| -> Option<String> {
        let [only] = side else { return None };
        Some(only.dir.file_name()?.to_string_lossy().into_owned())
    };
    let times = ["before", "after"].map(str::to_owned);
    match (name(sides[0]), name(sides[1])) {
        (Some(old), Some(new)) if old != new => [old, new],
        _ => times,
    }
}

/// What the sides are judged by.
struct By {
    terms: Terms,
    /// Comparisons of all variants and traffics.
    questions: usize,
    /// Campaigns of a side that name a winner.
    least: usize,
    is_single_campaign: bool,
    names: [String; 2],
}

/// A variant's trials of one campaign: log speeds, and how many FAILED.
struct OneSide {
    speeds: Vec<f64>,
    failed: usize,
}

/// One variant with one traffic, on both sides.
struct Own<'a> {
    sides: [&'a [Results]; 2],
    settings: &'a Settings,
    traffic: &'a str,
    variant: &'a str,
}

impl<'a> Own<'a> {
    /// The kept trials of each campaign of each side.
    fn trials(&self) -> [Vec<Vec<&'a Trial>>; 2] {
        self.sides.map(|side| {
            let kept = |own: &'a Results| -> Vec<&'a Trial> {
                let all = own.trials_of(self.variant, self.traffic);
                all.into_iter().filter(|trial| trial.is_ok()).collect()
            };
            side.iter().map(kept).collect()
        })
    }

    fn group(&self, by: &By) -> Group {
        let trials = self.trials();
        let every = || trials.iter().flatten().flatten().copied();
        let metric = by.terms.metric.unwrap_or_else(|| Metric::deciding(every()));
        let series = [0, 1].map(|side| self.series(side, metric, &by.names[side]));
        let judgement = self.judge(&trials, &series, metric, by);
        let name = format!("{} {}", self.traffic, self.variant);
        Group::of(name, by.terms.margin, series.into(), vec![judgement])
    }

    /// The campaigns of both sides; with fewer than are needed the runs of all of them, which say nothing
    /// of the next campaign.
    fn compared(
        &self,
        trials: &[Vec<Vec<&Trial>>; 2],
        [before, after]: &[Series; 2],
        metric: Metric,
        by: &By,
    ) -> Result<Comparison, Error> {
        if !metric.is_one_quantity(trials.iter().flatten().flatten().copied()) {
            return Err(Error::Unlike { why: blocks::COSTS_APART });
        }
        let one = |(kept, results): (&Vec<&Trial>, &Results)| OneSide {
            speeds: speeds(kept, metric),
            failed: results.trials_of(self.variant, self.traffic).len() - kept.len(),
        };
        let [b, v] = [0, 1].map(|side| -> Vec<OneSide> {
            trials[side].iter().zip(self.sides[side]).map(one).collect()
        });
        let at = |confidence| -> Result<Comparison, Error> {
            if b.len().min(v.len()) < by.least {
                let (baseline, variant) = (&before.values[..], &after.values[..]);
                let failed = [before, after].map(|own| own.failed.len());
                let pair = Pair { baseline, variant, direction: metric.direction(), failed };
                return unpaired::compare_pair(&pair, confidence).map(|own| own.comparison);
            }
            let resolution = Resolution::of(before.values.iter().chain(&after.values));
            let terms = campaigns::Terms { confidence, least_campaigns: by.least, resolution };
            of_campaigns([&b, &v], terms)
        };
        let confidence = by.terms.confidence;
        let (whole, part) = (at(confidence)?, at(confidence.among(by.questions))?);
        Ok(shared::of_several(whole, part, by.questions))
    }

    fn series(&self, side: usize, metric: Metric, name: &str) -> Series {
        let of = (self.variant, self.traffic);
        let mut every = self.sides[side].iter().map(|own| runs::series(own, of, metric));
        let first = every.next().expect("invariant: each side has a campaign");
        let first = Series { name: name.to_owned(), blocks: None, context: None, ..first };
        every.fold(first, |mut sum, own| {
            sum.values.extend(own.values);
            sum.failed.extend(own.failed);
            sum
        })
    }

    fn judge(
        &self,
        trials: &[Vec<Vec<&'a Trial>>; 2],
        series: &[Series; 2],
        metric: Metric,
        by: &By,
    ) -> Judgement {
        let [before, after] = series;
        let compared = self.compared(trials, series, metric, by);
        let all = trials.each_ref().map(|side| side.concat());
        let mut findings: Vec<Finding> =
            self.sides.into_iter().flatten().flat_map(judge::changed).collect();
        findings.extend(self.settings.traffic(self.traffic));
        findings.extend(checks(trials, &all, metric));
        for own in series {
            // Both sides have trials of these names.
            let failed = own.failed.iter().map(|id| format!("{}/{id}", own.name)).collect();
            findings.extend(validity::failed_trials(own.planned(), own.values.len(), failed));
        }
        let counts = self.sides.map(<[Results]>::len);
        let is_few = counts.iter().any(|count| *count < LEAST_CAMPAIGNS) && !by.is_single_campaign;
        let few = Finding::FewCampaigns { campaigns: counts, needed: LEAST_CAMPAIGNS };
        let few = is_few.then_some(few);
        match &compared {
            Ok(own) => {
                let names = (before.name.as_str(), after.name.as_str());
                findings.extend(few.clone());
                findings.extend(validity::rare_runs(own, by.terms.margin, names));
                findings.extend(validity::out_of_reach(own));
                findings.extend((!own.method.is_blocked()).then_some(Finding::NotBlocked));
            }
            Err(error) => findings.push(Finding::NotComputable { reason: error.to_string() }),
        }
        let comparison = compared.ok();
        let findings = judge::by_weight(findings);
        let verdict = match &comparison {
            Some(own) => Verdict::judge(own, by.terms.margin, &findings),
            None => Verdict::invalid(&findings).unwrap_or(Verdict::Invalid { why: Vec::new() }),
        };
        let tick = self.sides[0][0].campaign.tick();
        let saved = comparison.as_ref();
        let saved = saved.and_then(|c| judge::saved(&verdict, c, &all[0], (metric, tick)));
        let words = words::metric(&self.sides[0][0], self.traffic, metric);
        let words = format!("{words} of {}", self.variant);
        let subject = Subject { variant: &after.name, baseline: &before.name, metric: &words };
        let apart = comparison.as_ref().and_then(|c| judge::apart(c, &all[0], metric));
        let said = Said {
            verdict: &verdict,
            comparison: comparison.as_ref(),
            saved: saved.as_ref(),
            apart: apart.as_ref(),
            change: metric.words(),
        };
        let sentence = match (&verdict, &comparison, few) {
            (Verdict::Inconclusive { .. }, Some(own), Some(few)) => unnamed(own, &few, subject),
            _ => words::sentence(said, by.terms.margin, subject),
        };
        Judgement {
            variant: after.name.clone(),
            baseline: before.name.clone(),
            comparison,
            rank: None,
            findings,
            word: words::word(&verdict, metric.words()),
            verdict,
            saved,
            campaigns: None,
            sentence,
        }
    }
}

/// The checks of all trials, of which each campaign is one of its own where it is asked what share of trials somebody
/// else slowed down: they did not run beside each other, so that half of all may be all of one side.
fn checks(trials: &[Vec<Vec<&Trial>>; 2], all: &[Vec<&Trial>; 2], metric: Metric) -> Vec<Finding> {
    let is_share = |own: &Finding| matches!(own, Finding::CoresTaken { .. });
    let alone = |kept: &Vec<&Trial>| {
        let own = judge::checks(&[kept.clone(), Vec::new()], metric);
        own.into_iter().find(is_share)
    };
    let shares = trials.iter().flatten().filter_map(alone);
    let others = judge::checks(all, metric).into_iter().filter(|own| !is_share(own));
    others.chain(shares).collect()
}

/// The campaigns of both sides, larger log speeds are faster, as measured and with the slowest of its campaign in
/// the place of each trial that FAILED.
fn of_campaigns(sides: [&[OneSide]; 2], terms: campaigns::Terms) -> Result<Comparison, Error> {
    let speeds = sides.map(|side| side.iter().map(|own| own.speeds.clone()).collect());
    let [b, v]: [Vec<Vec<f64>>; 2] = speeds;
    let compare = |is_filled: bool| {
        let campaign = |own: &OneSide| {
            let failed = if is_filled { own.failed } else { 0 };
            Campaign::of_one_process(lost::filled_side(own.speeds.clone(), failed))
        };
        let [b, v]: [Vec<Campaign>; 2] = sides.map(|side| side.iter().map(campaign).collect());
        campaigns::compare(&b, &v, terms)
    };
    let rare = Some(Rare::of_campaigns(&b, &v, terms.confidence.alpha()));
    let own = Comparison { rare, ..compare(false)? };
    match sides.map(|side| side.iter().map(|own| own.failed).sum()) {
        [0, 0] => Ok(own),
        failed => Ok(lost::of_both(own, &compare(true)?, failed)),
    }
}

/// What is said where no winner is named.
fn unnamed(comparison: &Comparison, few: &Finding, subject: Subject<'_>) -> String {
    let Subject { variant, baseline, metric } = subject;
    let interval = comparison.interval95;
    let interval = percent_interval(interval.low.percent(), interval.high.percent());
    format!(
        "inconclusive: no winner is named between {variant} and {baseline} in {metric}: {few}; these \
         campaigns alone lie {interval} apart (--single-campaign goes by them)"
    )
}
