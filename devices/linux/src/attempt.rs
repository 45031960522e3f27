//! A few frames before anything is measured: where none of them comes back, none would in any block.

use std::time::Duration;

use fwdlab_device::{Request, moment};
use fwdlab_experiment::{Experiment, Traffic};
use fwdlab_results::{Measure, Measured};

use crate::LinuxError;

/// How often frames are sent to see whether any comes back, at most.
const TRIES: usize = 3;

/// Has `trial` send frames for a moment, again where none of them comes back.
///
/// # Errors
/// When none ever does.
pub(super) fn a_few(
    request: &Request<'_>,
    mut trial: impl FnMut(&Request<'_>) -> Result<Measured, LinuxError>,
) -> Result<(), LinuxError> {
    let short = Experiment {
        duration: moment::LENGTH,
        warmup: Duration::ZERO,
        interval: moment::LENGTH,
        ..request.experiment.clone()
    };
    let traffic = Traffic { measure: Measure::Rate, ..request.traffic.clone() };
    let alone = Request { experiment: &short, variant: request.variant, traffic: &traffic };
    let mut sent = 0;
    for _ in 0..TRIES {
        let measured = trial(&alone)?;
        if measured.received > 0 {
            return Ok(());
        }
        sent += measured.sent.unwrap_or(0);
    }
    // A tester that others kept from sending knows nothing.
    match sent {
        0 => Ok(()),
        _ => {
            Err(LinuxError::Setup { what: moment::without_frames(sent, &traffic, request.variant) })
        }
    }
}
