//! Results directories: what their reports say, before and after a change, or several campaigns.

use std::path::Path;

use crate::apart::Settings;
use crate::asked::{based, terms};
use crate::input::{metric_of, results};
use crate::{CompareError, Compared, Group, Judgement, Options, Unfinished, campaigns, sides};
use fwdlab_claims::judge::{self, judge_by};
use fwdlab_claims::runs::{self, Series};
use fwdlab_claims::setting::Setting;
use fwdlab_claims::words;
use fwdlab_results::{Metric, Results};

/// The groups, when all sources are results directories that are compared as such: one, or several
/// of campaigns in blocks, and what only one side has. `None` when the sources are of other kinds too.
pub(crate) fn compare(options: &Options) -> Result<Option<Compared>, CompareError> {
    let is_asked = !options.after.is_empty();
    let mut every = options.sources.iter().chain(&options.after);
    if options.sources.is_empty() {
        return Ok(None);
    }
    if let Some(other) = every.find(|path| !path.is_dir()) {
        return if is_asked { Err(no_campaign(other)) } else { Ok(None) };
    }
    let before = read(&options.sources)?;
    let after = read(&options.after)?;
    match before.iter().chain(&after).find(|own| !own.campaign.is_blocked()) {
        Some(published) if is_asked => return Err(no_campaign(&published.dir)),
        Some(_) if before.len() > 1 => return Ok(None),
        _ => {}
    }
    let sides = match (&before[..], &after[..]) {
        (_, []) if before.len() != 2 => None,
        ([old, new], []) => Some([std::slice::from_ref(old), std::slice::from_ref(new)]),
        (before, after) => Some([before, after]),
    };
    let unfinished = before.iter().chain(&after).filter_map(Unfinished::of).collect();
    let all = sides.unwrap_or([&before, &after]);
    let settings = Settings::read(all)?;
    let groups = match (&before[..], sides) {
        (_, Some(sides)) => sides::compare(sides, &settings, options)?,
        ([only], None) => alone(only, options)?,
        (all, None) => campaigns::compare(all, options)?,
    };
    let left_out = sides.map(sides::left_out).unwrap_or_default();
    let confidence = options.confidence;
    let (apart, debug_builds) = (settings.apart(all), settings.debug_builds(all));
    Ok(Some(Compared {
        confidence,
        groups,
        apart,
        debug_builds,
        exports: Vec::new(),
        left_out,
        unfinished,
    }))
}

fn no_campaign(path: &Path) -> CompareError {
    CompareError::NoCampaign { path: path.to_owned() }
}

fn read(paths: &[std::path::PathBuf]) -> Result<Vec<Results>, CompareError> {
    paths.iter().map(|path| results(path)).collect()
}

/// One directory: for each traffic and figure that decides, a group with the judgements of the
/// report.
fn alone(results: &Results, options: &Options) -> Result<Vec<Group>, CompareError> {
    let results = based(results, options)?;
    let terms = terms(&results, options)?;
    let setting = Setting::read(&results)?;
    let mut groups = Vec::new();
    let measures = |traffic: &str, metric: Metric| {
        results
            .trials
            .iter()
            .filter(|own| own.traffic == traffic)
            .any(|own| Metric::own(std::iter::once(own)) == Some(metric))
    };
    for traffic in &results.campaign.traffics {
        // what this traffic was not measured by is no comparison that failed
        if let Some(asked @ Metric::Own(_)) = terms.metric
            && !measures(traffic, asked)
        {
            continue;
        }
        let mut judged = judge_by(&results, traffic, &setting, terms);
        judged.retain(|own| has_run(&results, own.variant, traffic));
        let mut metrics: Vec<Metric> = judged.iter().map(|own| own.metric).collect();
        metrics.sort_unstable();
        metrics.dedup();
        for metric in metrics {
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

/// The groups that are a campaign's alone, as its report has them, and in groups that it shares the comparisons of two
/// of its variants: beside a file nothing was left of its blocks and checks. With it what is to be
/// known of the campaigns: which are unfinished, what they differ in, and which a debug build measured.
pub(crate) fn as_reported(
    mut compared: Compared,
    options: &Options,
) -> Result<Compared, CompareError> {
    let mut campaigns = Vec::new();
    for path in options.sources.iter().filter(|path| path.is_dir()) {
        let results = Results::read(path)?;
        compared.unfinished.extend(Unfinished::of(&results));
        if results.campaign.is_blocked() {
            campaigns.push(results);
        }
    }
    let settings = Settings::read([&campaigns, &[]])?;
    compared.apart = settings.apart([&campaigns, &[]]);
    compared.debug_builds = settings.debug_builds([&campaigns, &[]]);
    let groups = &mut compared.groups;
    for results in &campaigns {
        for group in groups.iter_mut() {
            in_blocks(group, results, options)?;
        }
        let source = results.dir.to_string_lossy();
        let is_own = |group: &Group| group.series.iter().all(|own| own.source == source);
        let Some(at) = groups.iter().position(is_own) else { continue };
        // a baseline of the file's is none of the campaign's
        let is_known = |name: &String| results.campaign.variants.contains(name);
        let baseline = options.baseline.clone().filter(is_known);
        let mut said = alone(results, &Options { baseline, ..options.clone() })?;
        said.retain(|group| groups.iter().any(|own| is_own(own) && own.name == group.name));
        groups.retain(|group| !is_own(group));
        groups.splice(at..at, said);
    }
    Ok(compared)
}

/// Puts the judgements of a campaign's own report into a group that it shares with other sources, where its baseline
/// is one of the campaign's variants.
fn in_blocks(group: &mut Group, results: &Results, options: &Options) -> Result<(), CompareError> {
    let source = results.dir.to_string_lossy();
    let [first, others @ ..] = &group.series[..] else { return Ok(()) };
    let is_own = |own: &Series| own.source == source;
    let is_shared = is_own(first) && others.iter().any(is_own) && !others.iter().all(is_own);
    let Some(metric) = metric_of(first).filter(|_| is_shared) else { return Ok(()) };
    // where two sources have one name, that of the source stands before it
    let plain = |name: &str| -> String {
        let bare = name.strip_prefix(&*source).and_then(|rest| rest.strip_prefix(':'));
        bare.unwrap_or(name).to_owned()
    };
    let options = Options {
        baseline: Some(plain(&first.name)),
        metric: Some(metric.name().to_owned()),
        ..options.clone()
    };
    let said = alone(results, &options)?;
    let Some(said) = said.into_iter().find(|own| own.name == first.group) else { return Ok(()) };
    for (series, own) in others.iter().zip(&mut group.judgements) {
        let is_it = |said: &&Judgement| said.variant == plain(&series.name);
        if let Some(said) = said.judgements.iter().find(is_it).filter(|_| is_own(series)) {
            let is_prefixed = series.name != said.variant || first.name != said.baseline;
            let of = if is_prefixed { format!("of {source}: ") } else { String::new() };
            *own = Judgement {
                variant: series.name.clone(),
                baseline: first.name.clone(),
                sentence: format!("{of}{}", said.sentence),
                ..said.clone()
            };
        }
    }
    Ok(())
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
        word: words::word(&own.verdict, own.metric.words()),
        verdict: own.verdict,
        saved: own.saved,
        campaigns: None,
        sentence: own.sentence,
    };
    Group::of(traffic.to_owned(), margin, series, judged.into_iter().map(judgement).collect())
}
