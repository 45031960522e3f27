//! `fwdlab run`: from an experiment file to verdicts and a report.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
#[cfg(target_os = "linux")]
use fwdlab_lab::device::Linux;
#[cfg(target_os = "linux")]
use fwdlab_lab::device::vm::Vm;
use fwdlab_lab::device::{Builtin, Device};
use fwdlab_lab::environment::Environment;
use fwdlab_lab::experiment::{DeviceKind, Experiment};
use fwdlab_lab::plan::{Opened, Place, UntilDecided};
use fwdlab_lab::profile::{FREQUENCY_HZ, Session};
use fwdlab_lab::report;
use fwdlab_lab::results::{Results, Status};
use fwdlab_lab::runner::{End, Runner};

use crate::progress::Bar;
use crate::{output, profile};

/// Arguments of `fwdlab run`.
#[derive(clap::Args)]
pub struct Args {
    /// Experiment file; without it, the modular-FIB experiment runs from a copy in this program
    experiment: Option<PathBuf>,
    /// Where the results go [default: results/<name of the experiment file>]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Draw no progress bar
    #[arg(short, long)]
    quiet: bool,
}

/// The device that the experiment names.
pub(crate) fn device(experiment: &Experiment) -> anyhow::Result<Box<dyn Device>> {
    Ok(match experiment.device {
        DeviceKind::Builtin => Box::new(Builtin::new(experiment)?),
        #[cfg(target_os = "linux")]
        DeviceKind::Linux | DeviceKind::BuiltinVeth => Box::new(Linux::new(experiment)?),
        #[cfg(not(target_os = "linux"))]
        DeviceKind::Linux | DeviceKind::BuiltinVeth => {
            anyhow::bail!("device = \"{}\" needs Linux; use \"builtin\"", experiment.device)
        }
        #[cfg(target_os = "linux")]
        DeviceKind::Vm => {
            let program = std::env::current_exe().context("cannot find this program")?;
            Box::new(Vm::new(experiment, &program)?)
        }
        #[cfg(not(target_os = "linux"))]
        DeviceKind::Vm => anyhow::bail!("device = \"vm\" needs Linux; use \"builtin\""),
    })
}

/// Runs the experiment, or what an earlier run left of it, and prints its verdicts.
///
/// Exit code 1 when a trial FAILED.
///
/// # Errors
/// A wrong experiment file, a place that cannot be written, results that are already finished.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let experiment = match &arguments.experiment {
        Some(path) => Experiment::read(path)?,
        None => Experiment::modular_fib()?,
    };
    let place = match &arguments.output {
        Some(dir) => Place::Named(dir.clone()),
        None => Place::Under(PathBuf::from("results")),
    };
    let mut device = device(&experiment)?;
    let opened = place.open(&experiment)?;
    let dir = opened.journal.dir().to_owned();
    let stop = stop_on_interrupt()?;
    let end = measure(&experiment, device.as_mut(), opened, arguments.quiet, &stop)?;
    if end == End::Stopped {
        eprintln!("stopped; run the same command again to go on in {}", dir.display());
        return Ok(ExitCode::from(130));
    }
    let results = Results::read(&dir)?;
    if experiment.profile {
        let session = Session {
            experiment: &experiment,
            device: device.as_mut(),
            results: &results,
            frequency_hz: FREQUENCY_HZ,
            stop: &stop,
        };
        profile::take(session)?;
    }
    report::write(&dir, &results)?;
    let failed = results.trials.iter().filter(|trial| trial.status == Status::Failed).count();
    output::print(&report::terminal(&results, output::width(), output::is_coloured()))?;
    eprintln!("report: {}", dir.join("README.md").display());
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs what is missing of a campaign, beside a record of what it runs on.
pub(crate) fn measure(
    experiment: &Experiment,
    device: &mut dyn Device,
    opened: Opened,
    is_quiet: bool,
    stop: &AtomicBool,
) -> anyhow::Result<End> {
    let dir = opened.journal.dir().to_owned();
    device.keep_logs_in(&dir);
    if let Some(earlier) = &opened.earlier {
        let total = earlier.campaign.trials.len();
        eprintln!(
            "going on in {}: {} of {total} trials are recorded",
            dir.display(),
            earlier.trials.len()
        );
    }
    let environment = Environment::collect(opened.plan.seed, device.settings());
    match Environment::read(&dir)? {
        None => environment.write(&dir)?,
        Some(earlier) => {
            for difference in earlier.differences(&environment) {
                eprintln!("warning: this is not what the earlier trials ran on: {difference}");
            }
        }
    }
    let runner = Runner {
        experiment,
        device,
        observer: &mut Bar::new(is_quiet),
        stopper: &mut UntilDecided::new(experiment),
        stop,
    };
    Ok(runner.run(opened)?)
}

/// A flag that the first Ctrl-C sets; a second one ends the process at once.
pub(crate) fn stop_on_interrupt() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .context("cannot take over Ctrl-C")?;
    Ok(stop)
}
