//! Trials in processes of their own: `fwdlab trial-process`, which fwdlab runs itself.

use std::io::BufReader;
use std::process::ExitCode;
use std::sync::Arc;

use fwdlab_campaign::process::{self, Proxy, Start, Wanted};
use fwdlab_device::{Device, Place};
use fwdlab_experiment::Experiment;

use crate::devices;

/// Arguments of `fwdlab trial-process`.
#[derive(clap::Args)]
pub struct Args {
    /// Number of the process in its campaign, for whoever looks at the list of processes
    _number: u32,
}

/// Runs the trials that standard input asks for, until it ends.
///
/// # Errors
/// When standard output is closed, or nobody asks as a campaign does.
pub fn execute() -> anyhow::Result<ExitCode> {
    let input = BufReader::new(std::io::stdin());
    process::serve(input, std::io::stdout().lock(), open, || std::process::exit(0))?;
    Ok(ExitCode::SUCCESS)
}

fn open(wanted: &Wanted<'_>) -> Result<(Arc<Experiment>, Box<dyn Device>), String> {
    let experiment = Experiment::of_text(wanted.path, wanted.text, &devices::schemas());
    let experiment = Arc::new(experiment.map_err(|error| error.to_string())?);
    let own = devices::place().map_err(|error| error.to_string())?;
    let place =
        Place { layout: Some(wanted.layout), fastest_beat_ns: wanted.fastest_beat_ns, ..own };
    let device = devices::open_at(&experiment, &place).map_err(|error| error.to_string())?;
    Ok((experiment, device))
}

/// `model` where it stands, or the same device in processes of its own, when the campaign of that
/// seed runs `blocks_per_process`.
///
/// # Errors
/// When this program cannot be found.
pub fn in_processes(
    model: Box<dyn Device>,
    experiment: &Arc<Experiment>,
    (seed, blocks_per_process): (u64, Option<u32>),
    is_watched: bool,
) -> anyhow::Result<Box<dyn Device>> {
    if blocks_per_process.is_none() {
        return Ok(model);
    }
    let program = devices::place()?.program;
    let arguments = vec!["trial-process".into()];
    let start = Start { program, arguments, seed, is_watched };
    Ok(Box::new(Proxy::new(experiment.clone(), start, model.as_ref())))
}
