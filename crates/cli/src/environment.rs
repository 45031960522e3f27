//! On what a campaign runs.

use fwdlab_device::{Device, Facts};
use fwdlab_experiment::Experiment;
use fwdlab_results::environment::Environment;

use crate::stamp;

/// What the campaign runs on; facts of the tester's host say so in their names.
pub fn of(seed: u64, experiment: &Experiment, device: &dyn Device) -> Environment {
    let Facts { mut device, tester } = device.facts();
    device.extend(tester.into_iter().map(|(name, value)| (format!("tester: {name}"), value)));
    let captures = experiment.traffics.iter().filter_map(|traffic| {
        let fact = traffic.capture.as_ref()?.fact()?;
        Some((format!("capture of {}", traffic.name), fact))
    });
    device.extend(captures);
    Environment::collect(stamp::build(), seed, device)
}
