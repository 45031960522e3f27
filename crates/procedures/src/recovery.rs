//! An overload, then a load that the device bears: RFC 2544, section 26.5.

use fwdlab_experiment::Experiment;
use fwdlab_results::{Loss, Recovery};
use fwdlab_traffic::{Load, LoadChange};

use crate::offer::{Offers, Order};

/// Losses are dated as closely as this, in ns.
const DATED_NS: u64 = 1_000_000;

/// Offers an overload and then a relief, each for the trial's duration, by a throughput that was found.
///
/// # Errors
/// The loads could not be offered.
pub fn recovery<O: Offers>(
    bench: &mut O,
    experiment: &Experiment,
    throughput_pps: f64,
) -> Result<Recovery, O::Error> {
    let how = &experiment.benchmarks;
    let (overload_pps, relief_pps) = (throughput_pps * how.overload, throughput_pps * how.relief);
    let overload_ns = experiment.duration.as_nanos() as u64;
    let offered = bench.offer(&Order {
        load: Load::Pps(overload_pps),
        change: Some(LoadChange { after_ns: overload_ns, pps: relief_pps }),
        duration_ns: 2 * overload_ns,
        dated_ns: Some(DATED_NS),
    })?;
    let (inside, after) = around(&offered.losses, overload_ns);
    Ok(Recovery {
        throughput_pps,
        overload_pps,
        relief_pps,
        overload_ms: overload_ns as f64 / 1e6,
        lost_in_overload: inside,
        lost_afterwards: after.iter().map(|loss| loss.frames).sum(),
        ended_ns: ended(&after, overload_ns),
    })
}

/// Frames lost before `at_ns`, and the losses after it.
fn around(losses: &[Loss], at_ns: u64) -> (u64, Vec<Loss>) {
    let inside = |loss: &&Loss| loss.at_ns < at_ns;
    let count = losses.iter().filter(inside).map(|loss| loss.frames).sum();
    let mut after: Vec<Loss> = losses.iter().filter(|loss| !inside(loss)).copied().collect();
    // One that began in the overload may last longer than it.
    let over = losses.iter().rfind(inside).filter(|last| last.at_ns + last.ns > at_ns);
    after
        .splice(0..0, over.map(|last| Loss { at_ns, ns: last.at_ns + last.ns - at_ns, frames: 0 }));
    (count, after)
}

/// From `since_ns` to the last loss before the first quiet time, in ns.
fn ended(losses: &[Loss], since_ns: u64) -> u64 {
    let mut end = since_ns;
    for loss in losses {
        if loss.at_ns > end + Recovery::QUIET_NS {
            break;
        }
        end = end.max(loss.at_ns + loss.ns);
    }
    end - since_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(at_ms: u64, ms: u64, frames: u64) -> Loss {
        Loss { at_ns: at_ms * 1_000_000, ns: ms * 1_000_000, frames }
    }

    #[test]
    fn loss_ends_before_the_first_quiet_time() {
        let losses = [loss(10, 5, 7), loss(95, 10, 50), loss(110, 1, 3), loss(190, 1, 4)];
        let (inside, after) = around(&losses, 100_000_000);
        assert_eq!((inside, after.len()), (57, 3));
        // The loss of the overload lasts 5 ms into what follows, the next one is near, and the last
        // one is another.
        assert_eq!(ended(&after, 100_000_000), 11_000_000);
        assert_eq!(ended(&[], 100_000_000), 0);
        assert_eq!(ended(&[loss(150, 1, 1)], 100_000_000), 0);
    }
}
