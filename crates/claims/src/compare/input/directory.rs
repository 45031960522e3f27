//! Results directories: one series per traffic, variant and metric.

use std::path::Path;

use super::super::CompareError;
use crate::compare::context::Context;
use crate::compare::series::Series;
use fwdlab_results::{Metric, Results, Trial};

/// Reads a results directory. The rate is left out when the tester or the asked load bounded it in
/// any trial of the traffic and there is a cost to compare instead.
pub(super) fn read(path: &Path) -> Result<Vec<Series>, CompareError> {
    let results = Results::read(path)?;
    let campaign = &results.campaign;
    let mut names = vec![&campaign.baseline];
    names.extend(campaign.variants.iter().filter(|name| **name != campaign.baseline));
    let mut all = Vec::new();
    for traffic in &campaign.traffics {
        for metric in metrics(&results, traffic) {
            all.extend(names.iter().map(|name| series(&results, path, (name, traffic), metric)));
        }
    }
    Ok(all)
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

/// The forwarding rates of one variant with one traffic.
pub(in crate::compare) fn rates(results: &Results, traffic: &str, variant: &str) -> Series {
    series(results, &results.dir, (variant, traffic), Metric::Rate)
}

fn series(
    results: &Results,
    path: &Path,
    (variant, traffic): (&str, &str),
    metric: Metric,
) -> Series {
    let figures = results.figures(metric, variant, traffic);
    let trials = results.trials_of(variant, traffic);
    let name = match metric {
        Metric::Rate => "forwarding rate",
        Metric::Cost => "device cost",
    };
    let is_blocked = results.campaign.is_blocked();
    Series {
        name: variant.to_owned(),
        source: path.to_string_lossy().into_owned(),
        group: traffic.to_owned(),
        metric: name.to_owned(),
        unit: metric.unit().to_owned(),
        direction: metric.direction(),
        values: figures.iter().map(|(_, value)| *value).collect(),
        blocks: is_blocked.then(|| figures.iter().map(|(block, _)| *block).collect()),
        failed: trials
            .iter()
            .filter(|trial| !trial.is_ok())
            .map(|trial| trial.id.clone())
            .collect(),
        context: Some(context(results, variant, traffic)),
    }
}

fn context(results: &Results, variant: &str, traffic: &str) -> Context {
    let trials: Vec<_> =
        results.trials_of(variant, traffic).into_iter().filter(|trial| trial.is_ok()).collect();
    let counted = trials.iter().filter_map(|t| Some((t.measured.flows_seen?, t.flows_planned)));
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
    let commanded = trials.iter().map(|trial| trial.flows_planned).max();
    Context {
        flows: commanded.filter(|flows| *flows > 0),
        offered_pps: runs.iter().map(|(offered, _)| *offered).collect(),
        forwarded_pps: runs.iter().map(|(_, forwarded)| *forwarded).collect(),
        asked_pps: trials.first().and_then(|trial| trial.offered_pps_asked),
        tester: trials.first().and_then(|trial| trial.measured.proof.get("sender.host").cloned()),
        ..Context::default()
    }
}
