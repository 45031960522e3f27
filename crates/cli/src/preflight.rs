//! Tries every variant before anything is measured: what cannot be set up would FAIL in every block.

use std::sync::atomic::AtomicBool;

use fwdlab_device::{Device, DeviceError, Watch};
use fwdlab_experiment::Experiment;

/// Sets every variant up once; false when it was stopped meanwhile.
///
/// # Errors
/// Names the line of the first variant that cannot be set up, and why.
pub fn pass(
    experiment: &Experiment,
    device: &mut dyn Device,
    stop: &AtomicBool,
) -> anyhow::Result<bool> {
    let mut watch = Watch { on_interval: &mut |_| {}, stop };
    for variant in &experiment.variants {
        match device.preflight(variant, &mut watch) {
            // One that is lost may be back when its trial comes, which is tried again, too.
            Ok(()) | Err(DeviceError::Lost(_)) => {}
            Err(DeviceError::Stopped) => return Ok(false),
            Err(error) => {
                let text = error.to_string();
                let line = experiment.line_of(&variant.name, &text);
                anyhow::bail!(
                    "{}:{line}: variant {:?} cannot be set up, and nothing was measured: {text}",
                    experiment.path.display(),
                    variant.name
                );
            }
        }
    }
    Ok(true)
}
