//! The log speed ratios of a comparison, block by block.

use fwdlab_stats::paired::{self, Block};

use fwdlab_experiment::Experiment;
use fwdlab_results::{Metric, Trial};

/// A variant beside the baseline with one traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pairing {
    pub variant: String,
    pub baseline: String,
    pub traffic: String,
}

/// What the blocks so far say about one pairing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Gains {
    /// The figure that decides.
    pub metric: Metric,
    /// ln(variant / baseline) of speed, one for each block in which both
    /// trials are usable.
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
    };
    experiment
        .traffics
        .iter()
        .flat_map(|traffic| variants.iter().map(|variant| pairing(&traffic.name, variant)))
        .collect()
}

/// The gains of `pairing` in `trials`.
pub(super) fn gains(trials: &[Trial], pairing: &Pairing) -> Gains {
    let usable = |variant: &str| -> Vec<&Trial> {
        let of = |t: &&Trial| t.is_ok() && t.variant == variant && t.traffic == pairing.traffic;
        trials.iter().filter(of).collect()
    };
    let mut baseline = usable(&pairing.baseline);
    baseline.sort_by_key(|trial| trial.block);
    let variant = usable(&pairing.variant);
    let pairs: Vec<(&Trial, &Trial)> = baseline
        .into_iter()
        .filter_map(|b| Some((b, *variant.iter().find(|v| v.block == b.block)?)))
        .collect();
    let metric = Metric::deciding(pairs.iter().flat_map(|(b, v)| [*b, *v]));
    let blocks: Vec<Block> =
        pairs.iter().filter_map(|(b, v)| Some(Block::new(metric.of(b)?, metric.of(v)?))).collect();
    let values = paired::log_gains(&blocks, metric.direction()).unwrap_or_default();
    Gains { metric, values, blocks }
}
