//! A moment of traffic before anything is measured: where no frame comes back, none would in any trial.

use std::time::Duration;

use fwdlab_experiment::{Experiment, Traffic, Variant};
use fwdlab_results::{Measure, Measured};

use crate::Request;

/// How long frames are sent to see whether any comes back.
pub const LENGTH: Duration = Duration::from_millis(20);

/// How often, at most.
const TRIES: usize = 3;

/// Has `trial` send frames for a moment, again where none of them comes back; where none ever does, says why
/// the variant is not measured. A tester that others kept from sending knows nothing.
///
/// # Errors
/// Those of `trial`.
pub fn a_few<E>(
    request: &Request<'_>,
    mut trial: impl FnMut(&Request<'_>) -> Result<Measured, E>,
) -> Result<Option<String>, E> {
    let short = Experiment {
        duration: LENGTH,
        warmup: Duration::ZERO,
        interval: LENGTH,
        ..request.experiment.clone()
    };
    let traffic = Traffic { measure: Measure::Rate, ..request.traffic.clone() };
    let alone = Request { experiment: &short, variant: request.variant, traffic: &traffic };
    let mut sent = 0;
    for _ in 0..TRIES {
        let measured = trial(&alone)?;
        if measured.received > 0 {
            return Ok(None);
        }
        sent += measured.sent.unwrap_or(0);
    }
    Ok((sent > 0).then(|| without_frames(sent, &traffic, request.variant)))
}

/// Why a variant is not measured of whose frames none came back.
pub fn without_frames(sent: u64, traffic: &Traffic, variant: &Variant) -> String {
    format!(
        "none of {sent} frames of traffic {:?} came back, and none would in any trial; correct what keeps them: {}",
        traffic.name,
        suspects(variant)
    )
}

/// What a variant sets, as what may keep every frame.
fn suspects(variant: &Variant) -> String {
    let words: Vec<&str> = variant.set.keys().map(String::as_str).collect();
    match &words[..] {
        [] => "the routes".to_owned(),
        words => format!("{}, or the routes", words.join(", ")),
    }
}
