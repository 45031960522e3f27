//! A trial on the kernel that is told to stop ends within its long waits. Skipped without root.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use fwdlab_device::{Device as _, DeviceError, Request, Watch};
use fwdlab_experiment::{Experiment, Schema};
use fwdlab_topology::tracking;

use super::Namespaces;
use super::tests::ALONE;
use crate::probe::try_live_frames;
use crate::{BUILTIN_VETH, LINUX};

const ENDS: &str = "source = \"198.18.10.1-198.18.10.20:2000\"\n\
    destination = \"198.19.10.1-198.19.10.100:5001\"\n";

/// How a trial of ten minutes ends that is stopped at once, or else in its first interval; `None`, and a
/// line that says why, when this machine cannot.
fn end(test: &str, head: &str, traffic: &str, is_at_once: bool) -> Option<Result<(), DeviceError>> {
    let ends = if traffic.contains("source") { "" } else { ENDS };
    let text = format!(
        "title = \"t\"\nbaseline = \"a\"\nduration = \"600s\"\nwarmup = \"0ms\"\n\
         interval = \"20ms\"\n{head}[[traffic]]\nname = \"inet\"\n{traffic}{ends}[routes]\n\
         static = [\"198.18.0.0/16 via 198.18.0.203\", \"198.19.0.0/16 via 198.19.0.203\"]\n"
    );
    let devices: [&dyn Schema; 2] = [&LINUX, &BUILTIN_VETH];
    let experiment = Experiment::of_text(Path::new("t.toml"), &text, &devices).expect("right");
    let experiment = Arc::new(experiment);
    let opened = Namespaces::new(experiment.clone(), experiment.device == BUILTIN_VETH.name());
    let why = match (&opened, try_live_frames()) {
        (Err(error), _) => Some(error.to_string()),
        (_, Err(error)) => Some(error.to_string()),
        _ => None,
    };
    if let Some(why) = why {
        eprintln!("SKIPPED {test}: {why}");
        return None;
    }
    let mut device = opened.expect("it was opened");
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let stop = AtomicBool::new(false);
    let variant = &experiment.variants[0];
    device.set_up(variant).expect("set up");
    stop.store(is_at_once, Ordering::Relaxed);
    let mut watch =
        Watch { on_interval: &mut |_| stop.store(true, Ordering::Relaxed), stop: &stop };
    let request = Request { experiment: &experiment, variant, traffic: &experiment.traffics[0] };
    Some(device.measure(&request, &mut watch).map(drop))
}

fn of(device: &str, measure: &str, set: &str) -> String {
    format!(
        "device = \"{device}\"\nmeasure = \"{measure}\"\n\
         [[variant]]\nname = \"a\"\n{set}[[variant]]\nname = \"b\"\n{set}"
    )
}

#[test]
fn a_long_trial_ends_in_the_interval_in_which_it_is_stopped() {
    let test = "a_long_trial_ends_in_the_interval";
    let sockets = "set = { tester = \"af_packet\" }\n";
    for head in [
        of(LINUX.name(), "rate", ""),
        of(LINUX.name(), "rate", sockets),
        of(BUILTIN_VETH.name(), "rate", ""),
    ] {
        let Some(end) = end(test, &head, "", false) else { return };
        assert!(matches!(end, Err(DeviceError::Stopped)), "{head}: {end:?}");
    }
}

#[test]
fn every_measure_ends_where_it_is_stopped() {
    let test = "every_measure_ends_where_it_is_stopped";
    let streams = "kind = \"tcp\"\nsource = \"198.18.10.1-198.18.10.2:2000-2003\"\n\
        destination = \"198.19.10.1:5001\"\nflows = 8\n";
    let sessions = "kind = \"sessions\"\nlifetime = 6\n";
    let kinds = [("rate", ""), ("convergence", "load = \"20kpps\"\n"), ("goodput", streams)];
    let tracks = [("lookup", sessions), ("insertion", sessions)];
    let tracks = tracks.into_iter().filter(|_| tracking::room().is_ok());
    for (measure, traffic) in kinds.into_iter().chain(tracks) {
        let Some(end) = end(test, &of(LINUX.name(), measure, ""), traffic, true) else { return };
        assert!(matches!(end, Err(DeviceError::Stopped)), "{measure}: {end:?}");
    }
}
