//! A share of the non-drop rate for long.

use fwdlab_experiment::Experiment;
use fwdlab_results::{Loss, Soak};
use fwdlab_traffic::Load;

use crate::offer::{Offers, Order};

/// Frames that the device itself drops are dated as closely as this, in ns.
const DATED_NS: u64 = 100_000_000;
/// Most losses that are recorded one by one; later ones count to the last.
const MOST_LOSSES: usize = 10_000;

/// Offers the experiment's share of a non-drop rate that was found, for as long as it says.
///
/// # Errors
/// The load could not be offered.
pub fn soak<O: Offers>(
    bench: &mut O,
    experiment: &Experiment,
    ndr_pps: f64,
) -> Result<Soak, O::Error> {
    let how = &experiment.benchmarks;
    let load_pps = ndr_pps * how.soak_load;
    let offered = bench.offer(&Order {
        load: Load::Pps(load_pps),
        duration_ns: how.soak.as_nanos() as u64,
        change: None,
        dated_ns: Some(DATED_NS),
    })?;
    Ok(Soak {
        ndr_pps,
        load_pps,
        // What it took longer is no time without loss: all soaks without one are as long as they were to be.
        seconds: (offered.duration_ns as f64 / 1e9).min(how.soak.as_secs_f64()),
        sent: offered.sent + offered.given_up,
        lost: offered.lost + offered.given_up,
        losses: bounded(offered.losses),
    })
}

/// In order of time, and not too many.
fn bounded(mut losses: Vec<Loss>) -> Vec<Loss> {
    losses.sort_by_key(|loss| loss.at_ns);
    let rest = losses.split_off(losses.len().min(MOST_LOSSES));
    if let Some(last) = losses.last_mut() {
        for loss in rest {
            last.frames += loss.frames;
            last.ns = loss.at_ns + loss.ns - last.at_ns;
        }
    }
    losses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_stand_in_order_and_none_is_left_out() {
        let one = |at_ns| Loss { at_ns, ns: 1, frames: 2 };
        let losses: Vec<Loss> = (0..MOST_LOSSES as u64 + 5).rev().map(one).collect();
        let kept = bounded(losses);
        assert_eq!(kept.len(), MOST_LOSSES);
        assert!(kept.is_sorted_by_key(|loss| loss.at_ns));
        assert_eq!(kept.last().map(|last| last.frames), Some(12));
    }
}
