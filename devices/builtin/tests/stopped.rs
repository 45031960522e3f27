//! A trial that is told to stop ends within its long waits, whatever it measures.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
// a test may end with a panic wherever it stands
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fwdlab_builtin::Builtin;
use fwdlab_device::{DeviceError, Kind, Place, Request, Watch};
use fwdlab_experiment::Experiment;

/// Trials want the same two cores: one runs at a time.
static CORES: Mutex<()> = Mutex::new(());

/// How a trial of ten minutes ends that is stopped at once, or else in its first interval; `None` without
/// two cores.
fn end(measure: &str, load: &str, is_at_once: bool) -> Option<Result<(), DeviceError>> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        eprintln!("SKIPPED a trial of {measure} that is stopped: needs two cores");
        return None;
    }
    let text = format!(
        "title = \"t\"\nbaseline = \"a\"\nmeasure = \"{measure}\"\nduration = \"600s\"\n\
         warmup = \"0ms\"\ninterval = \"20ms\"\n\
         [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1:7\"\n\
         destination = \"198.19.10.1-198.19.10.9:7\"\nload = \"{load}\"\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n"
    );
    let experiment = Experiment::of_text(Path::new("t.toml"), &text, &[&Builtin]).unwrap();
    let _alone = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    let experiment = Arc::new(experiment);
    let mut device = Builtin.open(&experiment, &Place::default()).unwrap();
    let stop = AtomicBool::new(false);
    let variant = &experiment.variants[0];
    device.apply(variant, &mut Watch { on_interval: &mut |_| {}, stop: &stop }).unwrap();
    stop.store(is_at_once, Ordering::Relaxed);
    let mut watch =
        Watch { on_interval: &mut |_| stop.store(true, Ordering::Relaxed), stop: &stop };
    let request = Request { experiment: &experiment, variant, traffic: &experiment.traffics[0] };
    Some(device.measure(&request, &mut watch).map(drop))
}

#[test]
fn a_long_trial_ends_in_the_interval_in_which_it_is_stopped() {
    let Some(end) = end("rate", "max", false) else { return };
    assert!(matches!(end, Err(DeviceError::Stopped)), "{end:?}");
}

#[test]
fn every_measure_ends_where_it_is_stopped() {
    let most = ["rate", "ndr", "loss-curve", "back-to-back", "recovery", "reset"];
    let most = most.map(|measure| (measure, "max"));
    for (measure, load) in most.into_iter().chain([("convergence", "100kpps")]) {
        let Some(end) = end(measure, load, true) else { return };
        assert!(matches!(end, Err(DeviceError::Stopped)), "{measure}: {end:?}");
    }
}
