//! Experiment files, and the one that is built in.

use std::path::Path;

use fwdlab_experiment::Experiment;

use crate::devices;

/// The experiment that runs when no file is named.
const MODULAR_FIB: &str = include_str!("../../../examples/modular-fib.toml");

/// Reads the experiment of a file, or the one that is built in.
///
/// # Errors
/// When it cannot be read or is wrong.
pub fn read(path: Option<&Path>) -> anyhow::Result<Experiment> {
    let devices = devices::schemas();
    Ok(match path {
        Some(path) => Experiment::read(path, &devices)?,
        None => Experiment::parse(Path::new("modular-fib.toml"), MODULAR_FIB, &devices)?,
    })
}
