//! The log speed ratios of a comparison, block by block.

use fwdlab_stats::paired::{self, Block};

use fwdlab_claims::blocks::Blocks;
use fwdlab_experiment::Experiment;
use fwdlab_results::{Metric, Trial};

/// A variant beside the baseline with one traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pairing {
    pub variant: String,
    pub baseline: String,
    pub traffic: String,
    /// Every variant but the baseline: they share the blocks in which all kept their trial.
    pub beside: Vec<String>,
}

/// What the blocks so far say about one pairing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Gains {
    /// The figure that decides.
    pub metric: Metric,
    /// ln(variant / baseline) of speed, one for each block that the report
    /// compares.
    pub values: Vec<f64>,
    /// The figures they come from.
    pub blocks: Vec<Block>,
}

/// Every variant but the baseline with every traffic.
pub(super) fn pairings(experiment: &Experiment) -> Vec<Pairing> {
    let variants: Vec<&str> = experiment
        .variants
        .iter()
        .map(|variant| variant.name.as_str())
        .filter(|name| *name != experiment.baseline)
        .collect();
    let pairing = |traffic: &str, variant: &str| Pairing {
        variant: variant.to_owned(),
        baseline: experiment.baseline.clone(),
        traffic: traffic.to_owned(),
        beside: variants.iter().map(|name| (*name).to_owned()).collect(),
    };
    experiment
        .traffics
        .iter()
        .flat_map(|traffic| variants.iter().map(|variant| pairing(&traffic.name, variant)))
        .collect()
}

/// The gains of `pairing` in `trials`, over the blocks of their report.
pub(super) fn gains(trials: &[Trial], pairing: &Pairing) -> Gains {
    let Pairing { variant, baseline, traffic, beside } = pairing;
    let names: Vec<&str> = beside.iter().map(String::as_str).collect();
    let common = Blocks::of(trials, baseline, &names, traffic);
    let place = names.iter().position(|name| name == variant);
    let column = place.and_then(|place| common.columns[place].ok());
    let sides = column.map_or([Vec::new(), Vec::new()], |column| common.sides(column));
    let metric = Metric::deciding(sides.iter().flatten().copied());
    let blocks: Vec<Block> = sides[0]
        .iter()
        .zip(&sides[1])
        .filter_map(|(b, v)| Some(Block::new(metric.of(b)?, metric.of(v)?)))
        .collect();
    let values = paired::log_gains(&blocks, metric.direction()).unwrap_or_default();
    Gains { metric, values, blocks }
}

/// Whether the baseline or the variant never kept a trial.
pub(super) fn is_hopeless(trials: &[Trial], pairing: &Pairing) -> bool {
    [&pairing.baseline, &pairing.variant].into_iter().any(|name| {
        !trials.iter().any(|t| t.is_ok() && t.variant == *name && t.traffic == pairing.traffic)
    })
}
