//! The measures that overload the device: it has a processor of its own then, by receive packet steering, and
//! the kernel drops what its backlog has no room for (`net.core.netdev_max_backlog`).

use fwdlab_device::Request;
use fwdlab_experiment::Traffic;
use fwdlab_port::affinity;
use fwdlab_procedures::{Asked, Bursts, Most, Offers, curve, mrr, recovery, search, soak};
use fwdlab_results::{BackToBack, Benchmark, Measure, RateSearch};
use fwdlab_traffic::Load;

use crate::LinuxError;
use crate::settings::LinuxSettings;
use crate::tester::{MOST_BURST, Offering};

/// Whether a measure offers more than the device bears.
pub(super) fn needs_overload(traffic: &Traffic) -> bool {
    let has_own =
        matches!(traffic.measure, Measure::LossCurve | Measure::BackToBack | Measure::Reset);
    has_own || traffic.measure.loss_ratio().is_some()
}

/// Gives the device a processor beside the tester's, unless the variant says which it has.
///
/// # Errors
/// There is only one.
pub(super) fn place(settings: &mut LinuxSettings, core: Option<usize>) -> Result<(), LinuxError> {
    if settings.rps != 0 {
        return Ok(());
    }
    let mut others = affinity::allowed_cores().into_iter();
    let other = others.rfind(|other| *other < 64 && Some(*other) != core);
    let what = "this measure overloads the device, which needs a processor beside the tester's; give this \
                process two";
    let other = other.ok_or_else(|| LinuxError::Setup { what: what.to_owned() })?;
    settings.rps = 1 << other;
    Ok(())
}

/// What a search found, what the measure observes beside it, and the load of the frames that are counted
/// afterwards.
pub(super) type Found = (Option<RateSearch>, Option<Benchmark>, Load);

/// Takes a measure.
///
/// # Errors
/// A load could not be offered, or no frame came back.
pub(super) fn measure(
    bench: &mut Offering<'_, '_>,
    request: &Request<'_>,
) -> Result<Found, LinuxError> {
    let (experiment, measure) = (request.experiment, request.traffic.measure);
    let seconds = experiment.duration.as_secs_f64();
    let Some(loss_ratio) = measure.loss_ratio() else {
        let own = match measure {
            Measure::BackToBack => Benchmark::BackToBack(back_to_back(bench, seconds)?),
            Measure::Reset => {
                let shortest_s = bench.shortest_s();
                let mrr_pps = mrr(bench, (seconds / 5.0).max(shortest_s))?;
                Benchmark::Reset(bench.reset(mrr_pps, experiment.duration)?)
            }
            _ => Benchmark::LossCurve(curve(bench, &experiment.benchmarks.loads, seconds)?),
        };
        return Ok((None, Some(own), request.traffic.load));
    };
    let found = search(bench, Asked { measure, loss_ratio, seconds })?;
    let mut load = Load::Pps(found.lower_pps);
    let benchmark = match measure {
        Measure::Recovery => {
            Some(Benchmark::Recovery(recovery(bench, experiment, found.lower_pps)?))
        }
        Measure::Soak => {
            let own = soak(bench, experiment, found.lower_pps)?;
            load = Load::Pps(own.load_pps);
            Some(Benchmark::Soak(own))
        }
        _ => None,
    };
    Ok((Some(found), benchmark, load))
}

/// The longest bursts without loss. How fast they are sent is known from all that the tester can send.
fn back_to_back(bench: &mut Offering<'_, '_>, seconds: f64) -> Result<BackToBack, LinuxError> {
    let shortest_s = bench.shortest_s();
    let most = Most::of(bench, (seconds / 5.0).max(shortest_s))?;
    let Bursts { found, rest, is_rested } = bench.bursts(most.sent_pps)?;
    let rest_ms = Some(rest.as_secs_f64() * 1e3);
    Ok(BackToBack { found, most: MOST_BURST, mrr_pps: most.received_pps, rest_ms, is_rested })
}
