//! What the options ask of results directories.

use std::collections::BTreeSet;

use crate::{CompareError, Options};
use fwdlab_claims::judge::Terms;
use fwdlab_results::{Metric, Results};

/// The terms of the results' report, but for what is asked for.
pub(crate) fn terms(results: &Results, options: &Options) -> Result<Terms, CompareError> {
    let measured: BTreeSet<Metric> =
        results.trials.iter().filter_map(|trial| Metric::own(std::iter::once(trial))).collect();
    let unknown = |name: &String| CompareError::Unknown {
        what: "metric",
        name: name.clone(),
        known: [Metric::Rate, Metric::Cost]
            .into_iter()
            .chain(measured.iter().copied())
            .map(|own| own.name().to_owned())
            .collect(),
    };
    let is_there = |own: &Metric| !matches!(own, Metric::Own(_)) || measured.contains(own);
    let named = |name: &String| Metric::named(name).filter(is_there).ok_or_else(|| unknown(name));
    Ok(Terms {
        margin: options.margin.unwrap_or(results.campaign.margin),
        confidence: options.confidence,
        metric: options.metric.as_ref().map(named).transpose()?,
    })
}

/// The results with the baseline that is asked for.
pub(crate) fn based(results: &Results, options: &Options) -> Result<Results, CompareError> {
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
