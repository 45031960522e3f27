//! Measures on the built-in device, against truths that were planted.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
// a test may end with a panic wherever it stands
#![allow(clippy::unwrap_used)]

mod both_ways;
mod convergence;
mod energy;
mod mesh;
mod warm_up;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use fwdlab_builtin::Builtin;
use fwdlab_claims::settle;
use fwdlab_device::{Kind, Place, Request, Watch};
use fwdlab_experiment::Experiment;
use fwdlab_results::Trial;

/// Trials want the same two cores: one runs at a time.
static CORES: Mutex<()> = Mutex::new(());

/// A settled trial of the first variant with the first traffic; `None` without two cores.
fn trial(text: &str, place: Place, on_interval: &mut dyn FnMut()) -> Option<Trial> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        eprintln!("SKIPPED a trial: needs two cores");
        return None;
    }
    let experiment = Experiment::of_text(Path::new("t.toml"), text, &[&Builtin]).unwrap();
    let _alone = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    let experiment = Arc::new(experiment);
    let mut device = Builtin.open(&experiment, &Place { layout: Some(7), ..place }).unwrap();
    let stop = AtomicBool::new(false);
    let mut watch = Watch { on_interval: &mut |_| on_interval(), stop: &stop };
    let variant = &experiment.variants[0];
    device.apply(variant, &mut watch).unwrap();
    let traffic = &experiment.traffics[0];
    let request = Request { experiment: &experiment, variant, traffic };
    let measured = match device.trial(&request, &mut watch) {
        Ok(measured) => measured,
        // A search tries loads for some 20 ms, in which others may have the device's core.
        Err(error) if error.to_string().contains("the rate search found nothing") => {
            eprintln!("SKIPPED a trial: {error}");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let mut trial = fwdlab_results::examples::trial(0);
    trial.offered_pps_asked = traffic.offered_pps();
    settle::settle(&mut trial, measured, &BTreeMap::new());
    Some(trial)
}
