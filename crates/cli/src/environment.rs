//! On what a campaign runs.

use fwdlab_device::{Device, Facts};
use fwdlab_results::environment::Environment;

use crate::stamp;

/// What the campaign runs on; facts of the tester's host say so in their names.
pub fn of(seed: u64, device: &dyn Device) -> Environment {
    let Facts { mut device, tester } = device.facts();
    device.extend(tester.into_iter().map(|(name, value)| (format!("tester: {name}"), value)));
    Environment::collect(stamp::build(), seed, device)
}
