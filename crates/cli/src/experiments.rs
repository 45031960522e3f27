//! Experiment files, and the one that is built in.

use std::path::Path;

use fwdlab_experiment::Experiment;

use crate::{devices, features};

/// The experiment that runs when no file is named.
const MODULAR_FIB: &str = include_str!("../../../examples/modular-fib.toml");

/// Reads the experiment of a file, or the one that is built in.
///
/// # Errors
/// When it cannot be read or is wrong.
pub fn read(path: Option<&Path>) -> anyhow::Result<Experiment> {
    let devices = devices::schemas();
    Ok(match path {
        Some(path) => Experiment::read(path, &devices).map_err(|error| explained(error, path))?,
        None => Experiment::parse(Path::new("modular-fib.toml"), MODULAR_FIB, &devices)?,
    })
}

/// Says so when the file names a device that this build left out.
fn explained(error: fwdlab_experiment::Error, path: &Path) -> anyhow::Error {
    let text = fwdlab_guard::input::named_text(path, fwdlab_guard::MIB).unwrap_or_default();
    let named = text.parse::<toml::Table>().ok().and_then(|mut file| file.remove("device"));
    let named = named.as_ref().and_then(toml::Value::as_str);
    let left_out = features::left_out().find(|f| f.device.is_some() && f.device == named);
    match left_out {
        Some(feature) => anyhow::anyhow!(
            "{}: device = {:?} was left out of this build of fwdlab; {}",
            path.display(),
            feature.name,
            features::REMEDY
        ),
        None => error.into(),
    }
}
