//! Results directories: what their reports say, before and after a change, or several campaigns.

use std::path::Path;

use super::{CompareError, Group, Judgement, Options, campaigns, sides};
use crate::judge::{self, Terms, judge_by};
use crate::runs;
use fwdlab_results::{Metric, Results};

/// The groups, when all sources are results directories that are compared as such: one, or several
/// of campaigns in blocks. `None` when the sources are of other kinds too.
pub(super) fn compare(options: &Options) -> Result<Option<Vec<Group>>, CompareError> {
    let is_directory = |path: &std::path::PathBuf| path.is_dir();
    if !options.sources.iter().chain(&options.after).all(is_directory) {
        return match options.after.iter().find(|path| !path.is_dir()) {
            None if options.after.is_empty() => Ok(None),
            Some(path) => Err(no_directory(path)),
            None => Err(no_directory(
                options.sources.iter().find(|p| !p.is_dir()).unwrap_or(&options.after[0]),
            )),
        };
    }
    let before = read(&options.sources)?;
    let after = read(&options.after)?;
    let is_several = before.len() + after.len() > 1;
    if is_several && before.iter().chain(&after).any(|own| !own.campaign.is_blocked()) {
        return match options.after.is_empty() {
            true => Ok(None),
            false => Err(no_directory(&options.after[0])),
        };
    }
    let groups = match (&before[..], &after[..]) {
        ([only], []) => alone(only, options)?,
        ([old, new], []) => {
            sides::compare([std::slice::from_ref(old), std::slice::from_ref(new)], options)?
        }
        (all, []) => campaigns::compare(all, options)?,
        (before, after) => sides::compare([before, after], options)?,
    };
    Ok(Some(groups))
}

fn no_directory(path: &Path) -> CompareError {
    CompareError::NoCampaign { path: path.to_owned() }
}

fn read(paths: &[std::path::PathBuf]) -> Result<Vec<Results>, CompareError> {
    paths.iter().map(|path| Ok(Results::read(path)?)).collect()
}

/// The terms of the results' report, but for what is asked for.
pub(super) fn terms(results: &Results, options: &Options) -> Result<Terms, CompareError> {
    let unknown = |name: &String| CompareError::Unknown {
        what: "metric",
        name: name.clone(),
        known: [Metric::Rate, Metric::Cost].map(|own| own.name().to_owned()).to_vec(),
    };
    let named = |name: &String| Metric::named(name).ok_or_else(|| unknown(name));
    Ok(Terms {
        margin: options.margin.unwrap_or(results.campaign.margin),
        confidence: options.confidence,
        metric: options.metric.as_ref().map(named).transpose()?,
    })
}

/// The results with the baseline that is asked for.
pub(super) fn based(results: &Results, options: &Options) -> Result<Results, CompareError> {
    let mut results = results.clone();
    if let Some(name) = &options.baseline {
        if !results.campaign.variants.contains(name) {
            let known = results.campaign.variants;
            return Err(CompareError::Unknown { what: "baseline", name: name.clone(), known });
        }
        results.campaign.baseline.clone_from(name);
    }
    Ok(results)
}

/// One directory: for each traffic and figure that decides, a group with the judgements of the
/// report.
fn alone(results: &Results, options: &Options) -> Result<Vec<Group>, CompareError> {
    let results = based(results, options)?;
    let terms = terms(&results, options)?;
    let mut groups = Vec::new();
    for traffic in &results.campaign.traffics {
        let mut judged = judge_by(&results, traffic, terms);
        judged.retain(|own| has_run(&results, own.variant, traffic));
        for metric in [Metric::Rate, Metric::Cost] {
            let own: Vec<judge::Judgement<'_>> =
                judged.iter().filter(|own| own.metric == metric).cloned().collect();
            if !own.is_empty() && has_run(&results, &results.campaign.baseline, traffic) {
                groups.push(group(&results, traffic, (metric, terms.margin), own));
            }
        }
    }
    if groups.is_empty() {
        let found = format!("only one variant in {}", results.dir.display());
        return Err(CompareError::Alone { found });
    }
    Ok(groups)
}

/// Published campaigns did not run every variant with every traffic.
fn has_run(results: &Results, variant: &str, traffic: &str) -> bool {
    results.campaign.is_blocked() || !results.trials_of(variant, traffic).is_empty()
}

fn group(
    results: &Results,
    traffic: &str,
    (metric, margin): (Metric, f64),
    judged: Vec<judge::Judgement<'_>>,
) -> Group {
    let baseline = &results.campaign.baseline;
    let names = std::iter::once(baseline.as_str()).chain(judged.iter().map(|own| own.variant));
    let series = names.map(|name| runs::series(results, (name, traffic), metric)).collect();
    let judgement = |own: judge::Judgement<'_>| Judgement {
        variant: own.variant.to_owned(),
        baseline: baseline.clone(),
        comparison: own.comparison().cloned(),
        rank: own.rank,
        findings: judge::by_weight(own.findings),
        verdict: own.verdict,
        saved: own.saved,
        campaigns: None,
        sentence: own.sentence,
    };
    Group {
        name: traffic.to_owned(),
        metric: metric.title().to_owned(),
        unit: metric.unit().to_owned(),
        direction: metric.direction(),
        margin,
        series,
        judgements: judged.into_iter().map(judgement).collect(),
    }
}
