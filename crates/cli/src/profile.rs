//! `fwdlab profile`: profiles of finished results, in trials of their own, and the report with
//! their flame graphs.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use fwdlab_campaign::profiling::{ProfiledTrial, Session, check_place};
use fwdlab_guard::words::one_line;
use fwdlab_report as report;
use fwdlab_results::environment::Environment;
use fwdlab_results::profile::FREQUENCY_HZ;
use fwdlab_results::{EXPERIMENT_FILE, Error, Results};

use crate::{devices, environment, experiments, features, interrupt, output};

/// Arguments of `fwdlab profile`.
#[derive(clap::Args)]
pub struct Args {
    /// Results directory; its journal stays as it is
    dir: PathBuf,
    /// The experiment file, when it names a file of routes [default: DIR/experiment.toml]
    #[arg(short, long, value_name = "FILE")]
    experiment: Option<PathBuf>,
    /// Samples a second
    #[arg(short, long, value_name = "HZ", default_value_t = FREQUENCY_HZ,
          value_parser = clap::value_parser!(u32).range(10..=20_000))]
    frequency: u32,
    #[command(flatten)]
    testbed: devices::Testbed,
}

/// Runs one profiled trial for each variant and traffic and makes the report anew.
///
/// Exit code 1 when a profile is missing or was refused, 130 when it was stopped.
///
/// # Errors
/// When the results or the experiment cannot be read, or a file cannot be written.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let results = Results::read(&arguments.dir)?.knowing(&devices::known());
    let own = arguments.dir.join(EXPERIMENT_FILE);
    let path = arguments.experiment.as_ref().unwrap_or(&own);
    let experiment = Arc::new(experiments::read(Some(path))?);
    anyhow::ensure!(
        experiment.sha256 == results.campaign.experiment_sha256,
        "{} is not the experiment of these results (SHA-256 {}, recorded {}); name the file that \
         was run with --experiment FILE",
        path.display(),
        experiment.sha256,
        results.campaign.experiment_sha256
    );
    check_place(&arguments.dir).map_err(elsewhere)?;
    let stop = interrupt::stop_on_interrupt()?;
    let mut device = devices::open(&experiment, &arguments.testbed)?;
    if let Some(why) = device.without_profiles() {
        anyhow::bail!("{why}; {}", features::REMEDY);
    }
    if let Some(earlier) = Environment::read(&arguments.dir)? {
        let now = environment::of(results.campaign.seed, &experiment, device.as_ref());
        for difference in earlier.differences(&now) {
            // of a file that a stranger may have written
            let difference = one_line(&difference);
            fwdlab_guard::say!(
                "warning: this is not what the measured trials ran on: {difference}"
            );
        }
    }
    let end = take(Session {
        experiment: &experiment,
        device: device.as_mut(),
        results: &results,
        frequency_hz: arguments.frequency,
        stop: &stop,
    })?;
    report::write(&arguments.dir, &results)?;
    output::print(&format!("report: {}\n", arguments.dir.join("README.md").display()))?;
    Ok(match end {
        Taken::Complete => ExitCode::SUCCESS,
        Taken::Lacking => ExitCode::FAILURE,
        Taken::Stopped => {
            fwdlab_guard::say!("stopped\nrun the same command again to take all profiles");
            ExitCode::from(interrupt::STOPPED)
        }
    })
}

/// There is no other place for profiles than their results, but a copy of these.
fn elsewhere(error: Error) -> anyhow::Error {
    match error {
        Error::Io { doing, path, source } => anyhow::anyhow!(
            "cannot {doing} {}: {source}; copy the results to where you may write, and take their profiles there",
            path.display()
        ),
        other => other.into(),
    }
}

/// What became of the profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// All are there, and good.
    Complete,
    /// One is missing, or the report refuses it.
    Lacking,
    /// A signal came before the last.
    Stopped,
}

/// Takes the profiles and says on stderr what became of them.
///
/// # Errors
/// When a file cannot be written.
pub fn take(mut session: Session<'_>) -> anyhow::Result<Taken> {
    if let Some(why) = session.device.without_profiles() {
        fwdlab_guard::say!("warning: no profiles: {why}; {}", features::REMEDY);
        return Ok(Taken::Lacking);
    }
    session.device.keep_logs_in(&session.results.dir);
    let wanted = session.experiment.variants.len() * session.experiment.traffics.len();
    let (began, mut done) = (Instant::now(), 0);
    let profiled = session.run(&mut |variant, traffic| {
        let left = began.elapsed().as_secs() * (wanted - done) as u64 / done.max(1) as u64;
        let left = if done == 0 { String::new() } else { format!(", {left} s left") };
        done += 1;
        fwdlab_guard::say!("profile {done} of {wanted}: {variant}, {traffic}{left}");
    })?;
    let is_good = |one: &ProfiledTrial| one.problem.is_none();
    let is_complete = profiled.len() == wanted && profiled.iter().all(is_good);
    // One that came behind the last of good ones stopped nothing.
    if session.stop.load(Ordering::Relaxed) && !is_complete {
        return Ok(Taken::Stopped);
    }
    for one in &profiled {
        if let Some(problem) = &one.problem {
            fwdlab_guard::say!("warning: profile of {}, {}: {problem}", one.variant, one.traffic);
        }
    }
    Ok(if is_complete { Taken::Complete } else { Taken::Lacking })
}
