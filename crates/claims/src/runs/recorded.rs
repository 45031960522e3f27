//! Series from a results directory.

use super::context::Context;
use super::series::{SaidBy, Series};
use fwdlab_results::{BusyBy, Metric, Results, Trial};

/// A series per traffic, variant and metric, the baseline first, to be compared with other sources.
/// The rate is left out when it is not the device's own in any trial of the traffic and there is a
/// cost to compare instead.
pub fn all(results: &Results) -> Vec<Series> {
    let campaign = &results.campaign;
    let mut names = vec![&campaign.baseline];
    names.extend(campaign.variants.iter().filter(|name| **name != campaign.baseline));
    let mut all = Vec::new();
    for traffic in &campaign.traffics {
        for metric in metrics(results, traffic) {
            all.extend(names.iter().map(|name| series(results, (name, traffic), metric)));
        }
    }
    all
}

/// The figures that say something about the device.
fn metrics(results: &Results, traffic: &str) -> Vec<Metric> {
    let trials = || results.trials.iter().filter(|trial| trial.traffic == traffic && trial.is_ok());
    match Metric::deciding(trials()) {
        Metric::Rate if trials().all(|trial| trial.cost_ns().is_some()) => {
            vec![Metric::Rate, Metric::Cost]
        }
        metric => vec![metric],
    }
}

/// The figures of one variant with one traffic.
pub fn series(results: &Results, (variant, traffic): (&str, &str), metric: Metric) -> Series {
    let figures = results.figures(metric, variant, traffic);
    let trials = results.trials_of(variant, traffic);
    let is_blocked = results.campaign.is_blocked();
    let failed = || trials.iter().filter(|trial| !trial.is_ok());
    Series {
        name: variant.to_owned(),
        source: results.dir.to_string_lossy().into_owned(),
        group: traffic.to_owned(),
        metric: title(metric, &trials).to_owned(),
        unit: metric.unit_in(results.campaign.tick()).to_owned(),
        direction: metric.direction(),
        said_by: SaidBy::Source,
        values: figures.iter().map(|(_, value)| *value).collect(),
        blocks: is_blocked.then(|| figures.iter().map(|(block, _)| *block).collect()),
        failed: failed().map(|trial| trial.id.clone()).collect(),
        failed_blocks: failed().filter(|_| is_blocked).map(|trial| trial.block).collect(),
        is_benchmark: false,
        doubts: Vec::new(),
        context: Some(context(results, variant, traffic)),
    }
}

/// The figure in words; a cost says how it was taken, where not between readings of a clock: series of different words
/// are not compared.
fn title(metric: Metric, trials: &[&Trial]) -> &'static str {
    let is_sampled = trials.iter().any(|trial| trial.measured.busy_by == Some(BusyBy::Ticks));
    if metric == Metric::Cost && is_sampled { "sampled device cost" } else { metric.title() }
}

fn context(results: &Results, variant: &str, traffic: &str) -> Context {
    let trials: Vec<_> =
        results.trials_of(variant, traffic).into_iter().filter(|trial| trial.is_ok()).collect();
    let counted = trials.iter().filter_map(|t| Some((t.measured.flows_seen?, t.flows_due()?)));
    let farthest = counted.max_by_key(|(seen, planned)| seen.abs_diff(*planned));
    let frame_bytes = trials.first().map(|trial| usize::from(trial.frame_bytes));
    if !results.campaign.is_blocked() {
        return Context { frame_bytes, ..published(&trials) };
    }
    Context {
        flows: farthest.map(|(seen, _)| seen),
        planned_flows: farthest.map(|(_, planned)| planned),
        frame_bytes,
        ..Context::default()
    }
}

/// What the logs of published runs say: flows and loads as commanded and sent; nobody counted what
/// arrived.
fn published(trials: &[&Trial]) -> Context {
    let both = |trial: &&Trial| Some((trial.offered_pps()?, trial.rate_pps?));
    let runs: Vec<(f64, f64)> = trials.iter().filter_map(both).collect();
    Context {
        flows: trials.iter().filter_map(|trial| trial.flows_planned).max(),
        offered_pps: runs.iter().map(|(offered, _)| *offered).collect(),
        forwarded_pps: runs.iter().map(|(_, forwarded)| *forwarded).collect(),
        asked_pps: trials.first().and_then(|trial| trial.offered_pps_asked),
        tester: trials.first().and_then(|trial| trial.measured.proof.get("sender.host").cloned()),
        ..Context::default()
    }
}
