//! What the options ask of results directories.

use crate::{CompareError, Options};
use fwdlab_claims::judge::Terms;
use fwdlab_results::{Metric, Results};

/// The terms of the results' report, but for what is asked for.
pub(crate) fn terms(results: &Results, options: &Options) -> Result<Terms, CompareError> {
    let unknown = |name: &String| CompareError::Unknown {
        what: "metric",
        name: name.clone(),
        known: [Metric::Rate, Metric::Cost]
            .into_iter()
            .chain(Metric::own(results.trials.iter()))
            .map(|own| own.name().to_owned())
            .collect(),
    };
    let named = |name: &String| Metric::named(name).ok_or_else(|| unknown(name));
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
