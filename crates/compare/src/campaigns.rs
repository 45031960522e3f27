//! Several campaigns of one experiment: blocks within each, campaigns beside each other.

use std::path::Path;

use fwdlab_stats::campaigns::{self, Campaign, LEAST_CAMPAIGNS, Together};
use fwdlab_stats::lost::{self, Lost};
use fwdlab_stats::paired::{self, Block};
use fwdlab_stats::rare::Rare;
use fwdlab_stats::validity::{self, Finding};
use fwdlab_stats::{Comparison, Error, Resolution, Subject, Verdict, percent_interval, shared};

use crate::asked::{based, terms};
use crate::{CompareError, Group, Judgement, OneCampaign, Options, Several};
use fwdlab_claims::judge::{self, Terms, judge_by};
use fwdlab_claims::runs::{self, Series};
use fwdlab_claims::setting::Setting;
use fwdlab_claims::words::{self, Said};
use fwdlab_claims::{ClaimsError, blocks};
use fwdlab_results::{Metric, Results, Trial};

/// Refuses directories of other experiments than the first one's, and one campaign given twice.
pub(crate) fn of_one_experiment(all: &[Results]) -> Result<(), CompareError> {
    let first = &all[0];
    let other =
        all.iter().find(|own| own.campaign.experiment_sha256 != first.campaign.experiment_sha256);
    match other {
        Some(own) => {
            Err(CompareError::OtherExperiment { path: own.dir.clone(), first: first.dir.clone() })
        }
        None => all_differ(all.iter()),
    }
}

/// Refuses one campaign given twice: beside itself it is equal, however much it changes from run to run.
pub(crate) fn all_differ<'a>(
    all: impl Iterator<Item = &'a Results> + Clone,
) -> Result<(), CompareError> {
    for (at, own) in all.clone().enumerate() {
        let is_it = |other: &&Results| !own.trials.is_empty() && other.trials == own.trials;
        if let Some(same) = all.clone().take(at).find(is_it) {
            return Err(CompareError::SameCampaign {
                path: own.dir.clone(),
                first: same.dir.clone(),
            });
        }
    }
    Ok(())
}

/// How many campaigns of a side name a winner.
pub(crate) fn least(options: &Options) -> usize {
    if options.is_single_campaign { 2 } else { LEAST_CAMPAIGNS }
}

/// Logarithms of speeds: larger is faster.
pub(crate) fn speeds(trials: &[&Trial], metric: Metric) -> Vec<f64> {
    let speed = |trial: &&Trial| Some(metric.direction().log_gain(1.0, metric.of(trial)?));
    trials.iter().filter_map(speed).collect()
}

/// For each traffic and figure that decides, a group with every variant over all campaigns.
pub(crate) fn compare(all: &[Results], options: &Options) -> Result<Vec<Group>, CompareError> {
    of_one_experiment(all)?;
    let all: Result<Vec<Results>, CompareError> =
        all.iter().map(|own| based(own, options)).collect();
    let all = all?;
    let settings: Result<Vec<Setting>, ClaimsError> = all.iter().map(Setting::read).collect();
    let settings = settings?;
    let terms = terms(&all[0], options)?;
    let campaign = &all[0].campaign;
    let variants: Vec<&String> =
        campaign.variants.iter().filter(|own| **own != campaign.baseline).collect();
    let questions = variants.len() * campaign.traffics.len();
    let mut groups: Vec<Group> = Vec::new();
    for traffic in &campaign.traffics {
        for variant in &variants {
            let pair = Pair { all: &all, settings: &settings, traffic, variant };
            let metric = terms.metric.unwrap_or_else(|| pair.deciding());
            let by = By {
                terms: Terms { metric: Some(metric), ..terms },
                metric,
                questions,
                least: least(options),
            };
            let own = pair.judge(by);
            let series = |name: &str| pair.series(name, metric);
            let unit = metric.unit_in(campaign.tick());
            let at = groups.iter().position(|g| g.name == *traffic && g.unit == unit);
            let at = at.unwrap_or_else(|| {
                let baseline = vec![series(&campaign.baseline)];
                groups.push(Group::of(traffic.clone(), terms.margin, baseline, Vec::new()));
                groups.len() - 1
            });
            groups[at].series.push(series(variant));
            groups[at].judgements.push(own);
        }
    }
    Ok(groups)
}

/// A variant beside the baseline with one traffic, in all campaigns.
struct Pair<'a> {
    all: &'a [Results],
    /// Of each of them.
    settings: &'a [Setting],
    traffic: &'a str,
    variant: &'a str,
}

/// What a pair is judged by.
#[derive(Clone, Copy)]
struct By {
    terms: Terms,
    metric: Metric,
    /// Comparisons of all variants and traffics.
    questions: usize,
    /// Campaigns that name a winner.
    least: usize,
}

impl Pair<'_> {
    fn baseline(&self) -> &str {
        &self.all[0].campaign.baseline
    }

    /// The figure that decides over all campaigns.
    fn deciding(&self) -> Metric {
        let names = [self.baseline(), self.variant];
        let is_ours = |trial: &&Trial| {
            trial.is_ok()
                && trial.traffic == self.traffic
                && names.contains(&trial.variant.as_str())
        };
        Metric::deciding(self.all.iter().flat_map(|own| &own.trials).filter(is_ours))
    }

    /// The values of all campaigns after each other.
    fn series(&self, name: &str, metric: Metric) -> Series {
        let mut every = self.all.iter().map(|own| runs::series(own, (name, self.traffic), metric));
        let first = every.next().expect("invariant: there are campaigns");
        every.fold(Series { blocks: None, context: None, ..first }, |mut sum, own| {
            sum.values.extend(own.values);
            sum.failed.extend(own.failed);
            sum.source = format!("{}, {}", sum.source, own.source);
            sum
        })
    }

    fn judge(&self, by: By) -> Judgement {
        let own = |(results, setting)| {
            let all = judge_by(results, self.traffic, setting, by.terms);
            all.into_iter().find(|own| own.variant == self.variant)
        };
        let each: Vec<judge::Judgement<'_>> =
            self.all.iter().zip(self.settings).filter_map(own).collect();
        let together = together(&each, by);
        let findings = self.findings(&each, together.as_ref(), by);
        let verdict = match &together {
            Ok(own) => Verdict::judge(&own.comparison, by.terms.margin, &findings),
            Err(_) => Verdict::invalid(&findings).unwrap_or(Verdict::Invalid { why: Vec::new() }),
        };
        self.say(&each, together.ok(), (verdict, findings), by)
    }

    /// What is wrong with any campaign, each said once, and with all of them.
    fn findings(
        &self,
        each: &[judge::Judgement<'_>],
        together: Result<&Together, &fwdlab_stats::Error>,
        by: By,
    ) -> Vec<Finding> {
        let mut found: Vec<Finding> = Vec::new();
        // Rare runs are those of all campaigns together.
        let is_own = |finding: &&Finding| !matches!(finding, Finding::RareRuns { .. });
        for (results, own) in self.all.iter().zip(each) {
            for finding in own.findings.iter().filter(is_own) {
                let finding = of_campaign(&results.dir, finding);
                if !found.contains(&finding) {
                    found.push(finding);
                }
            }
        }
        let is_said = found
            .iter()
            .any(|own| matches!(own, Finding::NotComputable { .. } | Finding::NoneKept { .. }));
        match together {
            Ok(own) => {
                let names = (self.baseline(), self.variant);
                found.extend(validity::rare_runs(&own.comparison, by.terms.margin, names));
            }
            Err(_) if is_said => {}
            Err(error) => found.push(Finding::NotComputable { reason: error.to_string() }),
        }
        judge::by_weight(found)
    }

    fn say(
        &self,
        each: &[judge::Judgement<'_>],
        together: Option<Together>,
        (verdict, findings): (Verdict, Vec<Finding>),
        by: By,
    ) -> Judgement {
        let comparison = together.as_ref().map(|own| own.comparison.clone());
        let baselines: Vec<&Trial> = each.iter().flat_map(|own| own.sides[0].clone()).collect();
        let of = (by.metric, self.all[0].campaign.tick());
        let saved = comparison.as_ref();
        let saved = saved.and_then(|own| judge::saved(&verdict, own, &baselines, of));
        let apart = comparison.as_ref();
        let apart = apart.and_then(|own| judge::apart(own, &baselines, by.metric));
        let said = Said {
            verdict: &verdict,
            comparison: comparison.as_ref(),
            saved: saved.as_ref(),
            apart: apart.as_ref(),
            change: by.metric.words(),
        };
        let metric = words::metric(&self.all[0], self.traffic, by.metric);
        let subject = Subject { variant: self.variant, baseline: self.baseline(), metric: &metric };
        let mut sentence = words::sentence(said, by.terms.margin, subject);
        if let Some(own) = &together {
            let (low, high) = (own.next.low, own.next.high);
            let percent = || percent_interval(low.percent(), high.percent());
            let next = apart.as_ref().map_or_else(percent, |apart| apart.interval_of([low, high]));
            sentence.push_str(&format!("; the next run of this experiment will show {next}"));
        }
        let sources = self.all.iter().map(|own| own.dir.to_string_lossy().into_owned());
        let one = |(source, own): (String, &judge::Judgement<'_>)| OneCampaign {
            source,
            comparison: own.comparison().cloned(),
        };
        let campaigns = sources.zip(each).map(one).collect();
        Judgement {
            variant: self.variant.to_owned(),
            baseline: self.baseline().to_owned(),
            comparison,
            rank: None,
            findings,
            word: words::word(&verdict, by.metric.words()),
            verdict,
            saved,
            campaigns: together.map(|own| Several {
                campaigns,
                next: own.next,
                spread: own.spread,
                same_p: own.same_p,
            }),
            sentence,
        }
    }
}

/// All campaigns together: what their whole blocks say, and what they say with the worst in the place of each
/// trial of one side that FAILED.
fn together(each: &[judge::Judgement<'_>], by: By) -> Result<Together, Error> {
    // A campaign without a figure says so itself; the others are not judged without it.
    if each.iter().any(|own| own.sides[0].is_empty()) {
        return Err(Error::TooFew { what: "blocks of a campaign", got: 0, need: 2 });
    }
    let trials = || each.iter().flat_map(|own| own.sides.iter().flatten()).copied();
    if !by.metric.is_one_quantity(trials()) {
        return Err(Error::Unlike { why: blocks::COSTS_APART });
    }
    let figures: Vec<f64> = trials().filter_map(|trial| by.metric.of(trial)).collect();
    let resolution = Resolution::of(&figures);
    let confidence = by.terms.confidence;
    let at = |campaigns: &[Campaign]| -> Result<Together, Error> {
        let terms =
            |confidence| campaigns::Terms { confidence, least_campaigns: by.least, resolution };
        let whole = campaigns::together(campaigns, terms(confidence))?;
        let part = campaigns::together(campaigns, terms(confidence.among(by.questions)))?;
        let own = shared::of_several(whole.comparison, part.comparison, by.questions);
        Ok(Together { comparison: own, ..part })
    };
    let campaigns = |is_filled: bool| -> Vec<Campaign> {
        let one = |own: &judge::Judgement<'_>| {
            let lost = if is_filled { &own.lost[..] } else { &[] };
            campaign(own, lost, by.metric)
        };
        each.iter().map(one).collect()
    };
    let side = |at: usize| -> Vec<Vec<f64>> {
        each.iter().map(|own| speeds(&own.sides[at], by.metric)).collect()
    };
    let rare = Rare::of_campaigns(&side(0), &side(1), confidence.alpha());
    let own = at(&campaigns(false))?;
    let own = Together { comparison: Comparison { rare: Some(rare), ..own.comparison }, ..own };
    let lost: Vec<Lost> = each.iter().flat_map(|own| own.lost.iter().copied()).collect();
    match lost.is_empty() {
        true => Ok(own),
        false => Ok(own.beside(&at(&campaigns(true))?, lost::counts(&lost))),
    }
}

/// A finding that is one campaign's alone: trials have the same names in all of them.
fn of_campaign(dir: &Path, finding: &Finding) -> Finding {
    let name = dir.file_name().unwrap_or(dir.as_os_str()).to_string_lossy();
    match finding {
        Finding::NotComputable { reason } => {
            Finding::NotComputable { reason: format!("{name}: {reason}") }
        }
        Finding::NoneKept { reason } => Finding::NoneKept { reason: format!("{name}: {reason}") },
        Finding::TrialsMissing { planned, kept, failed } => Finding::TrialsMissing {
            planned: *planned,
            kept: *kept,
            failed: failed.iter().map(|id| format!("{name}/{id}")).collect(),
        },
        other => other.clone(),
    }
}

/// The blocks of one campaign, by process, the lost ones filled.
fn campaign(own: &judge::Judgement<'_>, lost: &[Lost], metric: Metric) -> Campaign {
    let sides = [&own.sides[0][..], &own.sides[1][..]];
    if let Some(processes) = blocks::by_process(sides, lost, metric) {
        return Campaign::of_processes(processes);
    }
    let block = |(b, v): (&&Trial, &&Trial)| Some(Block::new(metric.of(b)?, metric.of(v)?));
    let blocks: Vec<Block> = sides[0].iter().zip(sides[1]).filter_map(block).collect();
    let Ok(gains) = paired::log_gains(&blocks, metric.direction()) else {
        return Campaign::default();
    };
    let all = lost::filled(&gains, lost);
    Campaign::of_one_process(all.iter().map(|own| gains[own.figures_of]).collect())
}
