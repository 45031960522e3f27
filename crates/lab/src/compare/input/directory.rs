//! Results directories: one series per traffic, variant and metric.

use std::path::Path;

use super::super::CompareError;
use super::super::context::Context;
use super::Series;
use crate::results::{LimitedBy, Metric, Results};

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
    let is_bounded = trials().any(|trial| trial.limited_by != LimitedBy::Device);
    let has_cost = trials().all(|trial| trial.cost_ns().is_some());
    match (is_bounded, has_cost) {
        (true, true) => vec![Metric::Cost],
        (false, true) => vec![Metric::Rate, Metric::Cost],
        (_, false) => vec![Metric::Rate],
    }
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
    // imported results have run numbers, no blocks
    let is_blocked = results.campaign.device != "imported";
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
    let farthest = trials.iter().max_by_key(|trial| trial.flows_seen.abs_diff(trial.flows_planned));
    // a receiver that counts no flows has seen none, which says nothing
    let counted = farthest.filter(|trial| trial.flows_seen > 0);
    Context {
        flows: counted.map(|trial| trial.flows_seen),
        planned_flows: counted.map(|trial| trial.flows_planned),
        frame_bytes: trials.first().map(|trial| usize::from(trial.frame_bytes)),
        ..Context::default()
    }
}
