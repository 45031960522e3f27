//! `fwdlab run`: from an experiment file to verdicts and a report.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use fwdlab_campaign::plan::{Opened, Place, Terms, UntilDecided};
use fwdlab_campaign::profiling::Session;
use fwdlab_campaign::runner::{End, Runner};
use fwdlab_device::Device;
use fwdlab_experiment::Experiment;
use fwdlab_report as report;
use fwdlab_results::environment::Environment;
use fwdlab_results::profile::FREQUENCY_HZ;
use fwdlab_results::{Results, Status};

use crate::progress::Bar;
use crate::state::Memory;
use crate::{devices, experiments, features, interrupt, output, process, profile, stamp};

/// Arguments of `fwdlab run`.
#[derive(clap::Args)]
pub struct Args {
    /// Experiment file; without it, the modular-FIB experiment runs from a copy in this program
    experiment: Option<PathBuf>,
    /// Where the results go [default: results/<name of the experiment file>]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Share of the trials whose answer the lab knows, in per cent; 0 for none [default: the
    /// experiment's, 20]
    #[arg(long, value_name = "PERCENT", value_parser = calibrate_share)]
    calibrate_share: Option<f64>,
    /// Where it is remembered how the lab's own truths came out on this machine [default: the user's
    /// state directory]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Draw no progress bar
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the experiment, or what an earlier run left of it, and prints its verdicts.
///
/// Exit code 1 when a trial FAILED.
///
/// # Errors
/// A wrong experiment file, a place that cannot be written, results that are already finished.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let mut experiment = experiments::read(arguments.experiment.as_deref())?;
    if let Some(percent) = arguments.calibrate_share {
        experiment.calibrate = percent / 100.0;
    }
    let experiment = Arc::new(experiment);
    let place = match &arguments.output {
        Some(dir) => Place::Named(dir.clone()),
        None => Place::Under(PathBuf::from("results")),
    };
    let device = devices::open(&experiment)?;
    let mut opened = place.open(&experiment, &terms(&experiment, device.as_ref())?)?;
    let memory = memory(arguments);
    if let Some(memory) = &memory {
        let campaign = opened.plan.campaign(&experiment, String::new());
        let begun = opened.earlier.as_ref().map_or(campaign, |earlier| earlier.campaign.clone());
        opened.journal.remember(memory.earlier(&begun));
    }
    let processes = (opened.plan.seed, opened.plan.blocks_per_process);
    let is_watched = !arguments.quiet && std::io::stderr().is_terminal();
    let mut device = process::in_processes(device, &experiment, processes, is_watched)?;
    let dir = opened.journal.dir().to_owned();
    let stop = interrupt::stop_on_interrupt()?;
    let end = measure(&experiment, device.as_mut(), opened, arguments.quiet, &stop)?;
    if end == End::Stopped {
        eprintln!("stopped; run the same command again to go on in {}", dir.display());
        return Ok(ExitCode::from(130));
    }
    let results = Results::read(&dir)?.knowing(&devices::known());
    if let Some(memory) = &memory {
        memory.remember(&results)?;
    }
    if experiment.profile {
        let mut device = devices::open(&experiment)?;
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
    features::say_what_reports_lack();
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The memory of this machine; what a debug build measures is not worth one, unless asked for.
fn memory(arguments: &Args) -> Option<Memory> {
    let is_kept = arguments.state.is_some() || stamp::build().profile != "debug";
    is_kept.then(|| Memory::open(arguments.state.as_deref())).flatten()
}

fn calibrate_share(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').trim().parse::<f64>().ok();
    percent
        .filter(|percent| (0.0..=50.0).contains(percent))
        .ok_or_else(|| "wanted a percentage from 0 to 50, such as 20".to_owned())
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
    let environment = Environment::collect(stamp::build(), opened.plan.seed, device.facts().device);
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

/// What the experiment's device asks of the plan.
pub(crate) fn terms(experiment: &Experiment, device: &dyn Device) -> anyhow::Result<Terms> {
    let kind = devices::named(&experiment.device).context("invariant: the device was opened")?;
    Ok(Terms {
        about: kind.about(),
        switch_cost: device.switch_cost(),
        lives_in_process: kind.lives_in_process(),
        calibrate: experiment.calibrate,
        slow_word: kind.slow_word(),
    })
}
