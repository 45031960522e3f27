//! `fwdlab run`: from an experiment file to verdicts and a report.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use anyhow::Context as _;
use fwdlab_campaign::plan::{Opened, Place, Terms, UntilDecided};
use fwdlab_campaign::profiling::Session;
use fwdlab_campaign::runner::{End, Runner};
use fwdlab_compare::Unfinished;
use fwdlab_device::Device;
use fwdlab_experiment::Experiment;
use fwdlab_report as report;
use fwdlab_results::environment::Environment;
use fwdlab_results::journal::{Reserved, utc_stamp};
use fwdlab_results::profile::FREQUENCY_HZ;
use fwdlab_results::{About, JOURNAL_FILE, Results, Resumed};

use crate::changes::Changes;
use crate::experiments::Named;
use crate::gate::{self, FailOn, Gated};
use crate::progress::Bar;
use crate::report::Format;
use crate::state::Memory;
use crate::{
    devices, environment, experiments, features, interrupt, kernels, output, preflight, process,
    profile, stamp,
};

/// The exit code of a campaign that stopped because tester or network failed again and again.
const TESTBED_BROKEN: u8 = 3;

/// Arguments of `fwdlab run`.
#[derive(clap::Args)]
pub struct Args {
    /// Experiment file, "-" for standard input; without it, the modular-FIB experiment runs from a copy in this program
    #[arg(conflicts_with_all = ["example", "kernel"])]
    experiment: Option<PathBuf>,
    /// Run an example of this program (`fwdlab examples` lists them)
    #[arg(long, value_name = "NAME", conflicts_with = "kernel")]
    example: Option<String>,
    /// Compare kernels under QEMU, in instructions per frame; give it twice, as before=PATH and
    /// after=PATH. A path is a build tree, a bzImage, a .deb or an unpacked one; or a release that is
    /// installed here
    #[arg(long, value_name = "NAME=PATH")]
    kernel: Vec<String>,
    #[command(flatten)]
    changes: Changes,
    /// Where the results go [default: results/<name of the experiment file>]
    #[arg(short, long, value_name = "DIR", value_parser = crate::own::directory())]
    output: Option<PathBuf>,
    /// Share of the trials whose answer the lab knows, in per cent; 0 for none [default: the
    /// experiment's, 20]
    #[arg(long, value_name = "PERCENT", value_parser = calibrate_share)]
    calibrate_share: Option<f64>,
    /// Where it is remembered how the lab's own truths came out on this machine [default: the user's
    /// state directory]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    testbed: devices::Testbed,
    /// Run the FAILED trials of earlier results again; both attempts stay in the journal
    #[arg(long)]
    retry_failed: bool,
    /// End with exit code 1 when any verdict is this, and with 4 when a comparison could not tell; may
    /// be repeated. "slower" is asked at 99.9 %
    #[arg(long, value_enum, value_name = "VERDICT")]
    fail_on: Vec<FailOn>,
    /// What to print at the end
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Show no progress
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the experiment, or what an earlier run left of it, and prints its verdicts.
///
/// Exit code 1 when a trial FAILED or a verdict is one of `--fail-on`, 3 when the campaign stopped
/// because tester or network failed, 4 when the gate could not tell.
///
/// # Errors
/// A wrong experiment file, a place that cannot be written, results that are already finished.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let mut experiment = arguments.experiment()?;
    if let Some(percent) = arguments.calibrate_share {
        experiment.calibrate = percent / 100.0;
    }
    let experiment = Arc::new(experiment);
    let memory = memory(arguments);
    let place = match &arguments.output {
        Some(dir) => Place::Named(dir.clone()),
        None => Place::Under(PathBuf::from("results")),
    };
    if arguments.is_from_stdin() && arguments.output.is_none() && !arguments.quiet {
        fwdlab_guard::say!(
            "results go to results/{0}, or results/{0}-2 and on where other ones are there; the same \
             text again goes on with a run that was stopped",
            experiments::STDIN
        );
    }
    let work = Work::find(&place, &experiment, arguments.retry_failed)?;
    // Before there is a device, which must not outlive this command.
    let stop = interrupt::stop_on_interrupt()?;
    let dir = match &work {
        // What was measured needs no device any more.
        Work::Report(dir) => {
            fwdlab_guard::say!("{} is finished and lacks its report", dir.display());
            dir.clone()
        }
        Work::Campaign | Work::Again(_) => {
            let campaign = Campaign {
                arguments,
                experiment: &experiment,
                place: &place,
                again: work.again(),
                memory: memory.as_ref(),
                stop: &stop,
            };
            match campaign.run()? {
                Ran::Whole(dir) => dir,
                Ran::Ended(code) => return Ok(code),
            }
        }
    };
    let results = Results::read(&dir)?.knowing(&devices::known());
    if let Some(memory) = &memory {
        memory.remember(&results)?;
    }
    if experiment.profile && !is_profiled(arguments, &experiment, &results, &stop)? {
        fwdlab_guard::say!(
            "stopped\nrun the same command again: it takes the profiles and writes the report of {}; `fwdlab report {}` \
             writes it without them",
            dir.display(),
            fwdlab_guard::words::pasted(&dir)
        );
        return Ok(ExitCode::from(interrupt::STOPPED));
    }
    let written = report::write(&dir, &results)?;
    let failed = results.failed().len();
    output::print_raw(arguments.format.of(&results, &written.claims)?.as_bytes())?;
    fwdlab_guard::say!("report: {}", dir.join("README.md").display());
    if failed > 0 {
        fwdlab_guard::say!("{failed} FAILED: --retry-failed runs those trials again");
    }
    features::say_what_reports_lack();
    let outcome = gate::of_results(&dir, &arguments.fail_on)?;
    Ok(if failed > 0 { Gated::Failed.code() } else { outcome.code() })
}

/// Takes the profiles of finished results, where that can be done; false when it was stopped meanwhile.
fn is_profiled(
    arguments: &Args,
    experiment: &Arc<Experiment>,
    results: &Results,
    stop: &AtomicBool,
) -> anyhow::Result<bool> {
    match devices::open(experiment, &arguments.testbed) {
        Ok(mut device) => {
            let session = Session {
                experiment,
                device: device.as_mut(),
                results,
                frequency_hz: FREQUENCY_HZ,
                stop,
            };
            Ok(profile::take(session)? != profile::Taken::Stopped)
        }
        // What was measured is worth its report without them.
        Err(error) => {
            fwdlab_guard::say!(
                "warning: no profiles: {error:#}; `fwdlab profile {}` takes them",
                fwdlab_guard::words::pasted(&results.dir)
            );
            Ok(true)
        }
    }
}

impl Args {
    fn is_from_stdin(&self) -> bool {
        self.experiment.as_deref().is_some_and(experiments::is_stdin)
    }

    /// The experiment that is meant, with the changes asked for.
    fn experiment(&self) -> anyhow::Result<Experiment> {
        let named = match (&self.experiment, &self.example) {
            (Some(file), _) => Named::File(file),
            (None, Some(example)) => Named::Example(example),
            (None, None) if self.kernel.is_empty() => Named::Example(experiments::USUAL),
            (None, None) => Named::Made(kernels::NAME, kernels::experiment(&self.kernel)?),
        };
        if !self.quiet {
            named.announce();
        }
        named.read(&self.changes)
    }
}

/// A campaign that begins, or goes on.
struct Campaign<'a> {
    arguments: &'a Args,
    experiment: &'a Arc<Experiment>,
    place: &'a Place,
    /// The results whose FAILED trials run again.
    again: Option<&'a Path>,
    memory: Option<&'a Memory>,
    stop: &'a AtomicBool,
}

/// What became of a campaign.
enum Ran {
    /// It is whole, in this directory.
    Whole(PathBuf),
    /// It is not, and the command ends.
    Ended(ExitCode),
}

impl Campaign<'_> {
    /// Tries every variant, then runs what is missing.
    fn run(&self) -> anyhow::Result<Ran> {
        let Self { arguments, experiment, place, again, memory, stop } = *self;
        let nowhere = |error| experiments::placed(error, experiment);
        let mut device = devices::open(experiment, &arguments.testbed).map_err(nowhere)?;
        let terms = terms(experiment, device.as_ref())?;
        let dir = again.map_or_else(|| place.dir(experiment, &terms), |dir| Ok(dir.to_owned()))?;
        if again.is_none() && !dir.join(JOURNAL_FILE).exists() {
            say_left_behind(place, experiment, &dir);
        }
        // Nobody else's, before anything boots; it is free again for the journal.
        let reserved = Reserved::take(&dir)?;
        device.keep_logs_in(&dir);
        if !self.is_ready(device.as_mut()).map_err(nowhere)? {
            fwdlab_guard::say!("stopped before the first trial");
            return Ok(Ran::Ended(ExitCode::from(interrupt::STOPPED)));
        }
        drop(reserved);
        let mut opened = match again {
            Some(dir) => Place::retry(dir, experiment)?,
            None => place.open(experiment, &terms)?,
        };
        if let Some(memory) = memory {
            let own = opened.earlier.as_ref().map(|earlier| &earlier.campaign);
            opened.journal.remember(memory.earlier(own));
        }
        let processes = (opened.plan.seed, opened.plan.blocks_per_process);
        let is_watched = !arguments.quiet && std::io::stderr().is_terminal();
        device = process::in_processes(device, experiment, processes, is_watched)?;
        let dir = opened.journal.dir().to_owned();
        let is_profiled = experiment.profile && device.without_profiles().is_none();
        let profiles = experiment.variants.len() * experiment.traffics.len();
        let how = How {
            is_quiet: arguments.quiet,
            is_retry: arguments.retry_failed,
            profiles: if is_profiled { profiles } else { 0 },
        };
        let end = measure(experiment, device.as_mut(), opened, how, stop)?;
        Ok(ended_early(&end, &dir).map_or(Ran::Whole(dir), Ran::Ended))
    }

    /// Tries every variant; false when it was stopped meanwhile.
    fn is_ready(&self, device: &mut dyn Device) -> anyhow::Result<bool> {
        if self.experiment.blocks.planned() == 1 {
            fwdlab_guard::say!("warning: one block decides nothing: --blocks 8 gives a verdict");
        }
        preflight::say_idle(self.experiment);
        preflight::caution(self.experiment);
        if !self.arguments.quiet {
            preflight::announce(self.experiment);
        }
        preflight::pass(self.experiment, device, self.arguments.quiet, self.stop)
    }
}

/// Says what a run before left undone, whose experiment file was changed since: nobody goes on with it unasked.
fn say_left_behind(place: &Place, experiment: &Experiment, dir: &Path) {
    for own in place.left_behind(experiment).iter().filter_map(Unfinished::of) {
        fwdlab_guard::say!(
            "a new campaign begins in {}: {} was changed since the one in {}, which is left as it is ({own})",
            dir.display(),
            experiment.path.display(),
            own.source
        );
    }
    for error in place.damaged(experiment) {
        fwdlab_guard::say!("a new campaign begins in {}; left as it is: {error}", dir.display());
    }
}

/// What there is to do.
enum Work {
    /// Begin a campaign, or go on with one.
    Campaign,
    /// A campaign is finished, and whoever measured it was killed before its report was whole.
    Report(PathBuf),
    /// Run the FAILED trials of these results again.
    Again(PathBuf),
}

impl Work {
    /// The results whose FAILED trials run again.
    fn again(&self) -> Option<&Path> {
        match self {
            Self::Again(dir) => Some(dir),
            Self::Campaign | Self::Report(_) => None,
        }
    }

    fn find(place: &Place, experiment: &Experiment, retries: bool) -> anyhow::Result<Self> {
        let finished = place.finished(experiment)?;
        if retries {
            let failed = finished.iter().rev().find(|results| !results.failed().is_empty());
            return match (failed, finished.last()) {
                (Some(results), _) => Ok(Self::Again(results.dir.clone())),
                (None, Some(results)) => anyhow::bail!(
                    "no trial in {} FAILED: there is nothing to run again",
                    results.dir.display()
                ),
                (None, None) => Ok(Self::Campaign),
            };
        }
        let lacking = finished.iter().rev().take(1).find(|results| !report::is_current(results));
        Ok(lacking.map_or(Self::Campaign, |results| Self::Report(results.dir.clone())))
    }
}

/// How a campaign is run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    /// Without progress.
    pub is_quiet: bool,
    /// FAILED trials run again.
    pub is_retry: bool,
    /// Profiles that follow.
    pub profiles: usize,
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

/// Says why a campaign is not finished; the exit code then.
pub(crate) fn ended_early(end: &End, dir: &Path) -> Option<ExitCode> {
    let (code, why) = match end {
        End::Finished => return None,
        End::Stopped => (interrupt::STOPPED, "stopped".to_owned()),
        End::TestbedBroken { why } => (TESTBED_BROKEN, format!("the testbed fails: {why}")),
        End::Misconfigured { why } => (2, format!("error: {why}")),
    };
    fwdlab_guard::say!("{why}\nrun the same command again to go on in {}", dir.display());
    Some(ExitCode::from(code))
}

/// Runs what is missing of a campaign, beside a record of what it runs on.
pub(crate) fn measure(
    experiment: &Experiment,
    device: &mut dyn Device,
    mut opened: Opened,
    how: How,
    stop: &AtomicBool,
) -> anyhow::Result<End> {
    let dir = opened.journal.dir().to_owned();
    device.keep_logs_in(&dir);
    if let Some(earlier) = &opened.earlier {
        let total = earlier.campaign.trials.len();
        fwdlab_guard::say!(
            "going on in {}: {} of {total} trials are recorded",
            dir.display(),
            earlier.every().count()
        );
    }
    let mut resumed = Resumed { at: utc_stamp(SystemTime::now()), ..Resumed::default() };
    if opened.earlier.is_some() {
        let environment = environment::of(opened.plan.seed, experiment, device);
        match Environment::read(&dir)? {
            None => environment.write(&dir)?,
            Some(earlier) => resumed.differences = earlier.differences(&environment),
        }
    }
    for difference in &resumed.differences {
        fwdlab_guard::say!("warning: this is not what the first trials ran on: {difference}");
    }
    if let Some(earlier) = &mut opened.earlier {
        if how.is_retry {
            resumed.again = earlier.failed();
        }
        // Said once for each machine, however often a run stops on it, and where it is the first one again.
        let last = earlier.resumed.last().map_or(&[][..], |last| &last.differences);
        if !resumed.again.is_empty() || last != resumed.differences {
            opened.journal.append_resumed(&resumed)?;
            *earlier = Results::read(&dir)?;
        }
    }
    let runner = Runner {
        experiment,
        device,
        observer: &mut Bar::new(how.is_quiet, how.profiles),
        stopper: &mut UntilDecided::new(experiment),
        stop,
    };
    Ok(runner.run(opened)?)
}

/// What the experiment's device asks of the plan.
pub(crate) fn terms(experiment: &Experiment, device: &dyn Device) -> anyhow::Result<Terms> {
    let kind = devices::named(&experiment.device).context("invariant: the device was opened")?;
    Ok(Terms {
        about: About { tick: kind.tick(experiment), ..kind.about() },
        switch_cost: device.switch_cost(),
        lives_in_process: kind.abilities().lives_in_process,
        calibrate: experiment.calibrate,
        slow_word: kind.slow_word(),
        testbed: device.testbed(),
        environment: Some(environment::of(0, experiment, device)),
    })
}
