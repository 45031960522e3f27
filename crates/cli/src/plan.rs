//! `fwdlab plan`: validates an experiment and says how many blocks it needs, and how long.

use crate::output;
use anyhow::{Context, bail};
use fwdlab_lab::Error;
use fwdlab_lab::experiment::Experiment;
use fwdlab_lab::plan::{Needs, USUAL_POWER, Wanted};
use fwdlab_lab::results::Results;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `fwdlab plan`.
#[derive(clap::Args)]
pub struct Args {
    /// Experiment file; without it the modular FIB experiment
    experiment: Option<PathBuf>,

    /// Earlier results of the experiment, whose spread is taken [default: results/NAME]
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,

    /// The difference to be found, in percent [default: the experiment's margin]
    #[arg(long, value_name = "PERCENT")]
    difference: Option<f64>,

    /// The chance of finding it, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = USUAL_POWER * 100.0)]
    power: f64,

    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// What `fwdlab plan` prints.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A table
    Text,
    /// All figures as data
    Json,
}

/// Runs the command.
///
/// # Errors
/// When the experiment is wrong, or the named results cannot be read.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let experiment = match &arguments.experiment {
        Some(path) => Experiment::read(path)?,
        None => Experiment::modular_fib()?,
    };
    let wanted = wanted(arguments, &experiment)?;
    let earlier = earlier(arguments.from.as_deref(), &experiment)?;
    let needs = Needs::of(&experiment, earlier.as_ref(), wanted);
    match &earlier {
        Some(results) if needs.is_measured() => {
            eprintln!("spread taken from {}", results.dir.display());
        }
        _ => eprintln!(
            "no earlier results with two blocks: the spread is that of published runs; \
             run a few blocks first to plan for this machine"
        ),
    }
    let text = match arguments.format {
        Format::Text => needs.text(),
        Format::Json => {
            serde_json::to_string_pretty(&needs).context("cannot encode the plan as JSON")? + "\n"
        }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn wanted(arguments: &Args, experiment: &Experiment) -> anyhow::Result<Wanted> {
    let difference = arguments.difference.map_or(experiment.margin, |percent| percent / 100.0);
    if !(difference > 0.0 && difference < 1.0) {
        bail!("--difference: wanted a percentage above 0 and below 100, such as 1");
    }
    let power = arguments.power / 100.0;
    if !(0.5..=0.999).contains(&power) {
        bail!("--power: wanted a percentage from 50 to 99.9, such as 80");
    }
    Ok(Wanted { difference, margin: experiment.margin, power })
}

/// The results to learn from: those named, or those at the default place if there are any.
fn earlier(named: Option<&Path>, experiment: &Experiment) -> anyhow::Result<Option<Results>> {
    if let Some(dir) = named {
        return Ok(Some(Results::read(dir)?));
    }
    match Results::read(&Path::new("results").join(experiment.stem())) {
        Ok(results) => Ok(Some(results)),
        Err(Error::NoResults { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
