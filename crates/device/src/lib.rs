//! The seam between the lab and its devices: what a device under test brings, and what it is asked.
//!
//! A [`Kind`] is a device as the lab knows it before it runs: its part of the experiment file (it is
//! a [`Schema`]), what it is in words, what it needs of this machine. Opened for an experiment it is
//! a [`Device`], which is told which variant to apply and which traffic to send, and answers with
//! raw counts from both sides. Whether they add up is judged by the campaign, the same for all.
//!
//! Nothing above this seam matches a device's name.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod energy;
mod error;
mod finding;
pub mod host;
pub mod moment;
#[cfg(feature = "flame")]
pub mod perf;
pub mod pulse;
mod quietest;
pub mod turns;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use fwdlab_experiment::{Experiment, Schema, Traffic, Variant};
use fwdlab_results::profile::{Profiled, Stacks};
use fwdlab_results::{About, Interval, Measure, Measured, TestbedMark, Tick};

use energy::Powercap;
pub use error::{Breakdown, DeviceError, Fault};
pub use finding::DoctorFinding;
pub use quietest::quietest;

/// How far trials of one variant lie apart on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeatability {
    /// Coefficients of variation, as ratios, each with what it was seen of.
    pub of: Vec<(&'static str, f64)>,
    /// What they are, and where they stand.
    pub source: &'static str,
}

/// A device before it runs.
pub trait Kind: Schema {
    /// What it is, for the campaign's record and the report.
    fn about(&self) -> About;

    /// What its clock counts in `experiment`, which was read with this schema.
    fn tick(&self, _: &Experiment) -> Tick {
        Tick::default()
    }

    /// What it needs of this machine, each tried where it can be tried. `place` says what may be
    /// used for trying.
    fn examine(&self, place: &Place) -> Vec<DoctorFinding>;

    /// How many boots [`Device::preflight`] takes for all variants together.
    fn preflight_boots(&self, _: &Experiment) -> usize {
        0
    }

    /// Seconds that such a boot takes on a machine with nothing else to do.
    fn boot_seconds(&self) -> f64 {
        0.0
    }

    /// Seconds that a trial of `experiment` takes on a machine with nothing else to do, and what more than
    /// its traffic is in them, such as "a boot"; nothing where the traffic is nearly all.
    fn trial_seconds(&self, _: &Experiment) -> Option<(f64, &'static str)> {
        None
    }

    /// How far trials of one variant lie apart, where that is known beforehand and the machine changes
    /// nothing; nothing where only the machine can tell.
    fn repeatability(&self, _: &Experiment) -> Option<Repeatability> {
        None
    }

    /// Whether a file of its own names the machines that it stands on.
    fn takes_testbed(&self) -> bool {
        false
    }

    /// The control word that slows the device down by so many ns a frame, if it has one: the lab
    /// proves with it that it finds what is there.
    fn slow_word(&self) -> Option<&'static str> {
        None
    }

    /// Each setting in which a variant of `experiment` differs from the baseline and that does nothing with its
    /// traffics, in words.
    fn idle(&self, _: &Experiment) -> Vec<String> {
        Vec::new()
    }

    /// Prepares for the trials of `experiment`, which was read with this schema.
    ///
    /// # Errors
    /// When the device cannot be set up here.
    fn open(
        &self,
        experiment: &Arc<Experiment>,
        place: &Place,
    ) -> Result<Box<dyn Device>, DeviceError>;

    /// Removes from this machine what runs left behind that were killed. Every command begins so.
    fn tidy(&self) {}

    /// Removes from this machine what the devices of this process made: it ends at once, and
    /// nothing will be dropped.
    fn abandon(&self) {}
}

/// A variant that takes longer to set up is not tried before the first block.
const LONGEST_PREFLIGHT: Duration = Duration::from_secs(10);

/// Where the lab stands.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// This program, which some devices start again on other systems.
    pub program: PathBuf,
    /// The file that names the machines, for devices that [take one](Kind::takes_testbed).
    pub testbed: Option<PathBuf>,
    /// From what a device that lives in this program draws where its memory lies; `None` leaves that
    /// to the system.
    pub layout: Option<u64>,
    /// The fastest beat of the device's processor so far, in ns, where one was taken.
    pub fastest_beat_ns: Option<f64>,
    /// Where the machine says what energy it uses.
    pub powercap: Powercap,
}

/// What the device answers when asked for each setting of a variant, by control word.
pub type Proof = BTreeMap<String, String>;

/// Facts that hold for the whole campaign, by the host that they are of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Of the device under test.
    pub device: BTreeMap<String, String>,
    /// Of the host of the tester, where it is not the controller's.
    pub tester: BTreeMap<String, String>,
}

impl Facts {
    /// Facts of the device, where all run on one host.
    pub fn of_device<'a>(facts: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        let device = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { device, tester: BTreeMap::new() }
    }
}

/// A device and the tester around it.
pub trait Device {
    /// Facts for `environment.json`.
    fn facts(&self) -> Facts;

    /// Tells the device in which results directory it may keep what explains a FAILED trial, or a variant
    /// that cannot be set up; before the first trial the directory need not exist.
    fn keep_logs_in(&mut self, _dir: &Path) {}

    /// Starts anew in fresh memory, as the campaign's process of that number, where the device can.
    ///
    /// # Errors
    /// When it cannot be started again.
    fn renew(&mut self, _process: u32) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Sets the device up as `variant` says, and reads back what is set, and what only other variants
    /// set ([`Experiment::words_of_others`]) where there is such a word. What can only be read back while
    /// a trial runs comes with [`Measured::proof`] instead.
    ///
    /// # Errors
    /// When the variant could not be applied; the trial is then recorded as FAILED.
    fn apply(&mut self, variant: &Variant, watch: &mut Watch<'_>) -> Result<Proof, DeviceError>;

    /// Tries to set the device up as `variant` says, before a campaign begins; what the device answers
    /// where it is asked then.
    ///
    /// # Errors
    /// When the variant could not be applied; the campaign then does not begin.
    fn preflight(
        &mut self,
        variant: &Variant,
        watch: &mut Watch<'_>,
    ) -> Result<Proof, DeviceError> {
        // Where it takes a reboot, the trials themselves are soon enough.
        if self.switch_cost() > LONGEST_PREFLIGHT {
            return Ok(Proof::new());
        }
        self.apply(variant, watch)
    }

    /// Sends the traffic for [`Experiment::warmup`] as a run of its own, of which nothing is counted, and
    /// returns when no frame of it is on the way any more: what [`Device::measure`] counts begins with no
    /// frame in flight, and its ledger adds up. What a device does not say otherwise: it measures for so
    /// long, and what it counted is forgotten. [`trial`](trait.Device.html#method.trial) asks for it.
    ///
    /// # Errors
    /// Those of [`Device::measure`].
    fn warm_up(&mut self, trial: &Request<'_>, watch: &mut Watch<'_>) -> Result<(), DeviceError> {
        let experiment = trial.experiment.of_warm_up();
        let traffic = Traffic { measure: Measure::Rate, ..trial.traffic.clone() };
        let alone = Request { experiment: &experiment, variant: trial.variant, traffic: &traffic };
        let mut silent = Watch { on_interval: &mut |_| {}, stop: watch.stop };
        self.measure(&alone, &mut silent).map(drop)
    }

    /// Sends the traffic through the device as it was set up last, for [`Experiment::duration`], and
    /// returns what was counted.
    ///
    /// # Errors
    /// When the trial could not be run to its end; it is then recorded as FAILED and the campaign
    /// goes on.
    fn measure(
        &mut self,
        trial: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError>;

    /// Why it takes no profiles, where this build of it takes none.
    fn without_profiles(&self) -> Option<&'static str> {
        None
    }

    /// As [`Device::measure`], with a sampling profiler beside it, `frequency_hz` samples a second. A
    /// device that runs on this machine samples it by [`whole_machine`]; what a device does not say
    /// otherwise: it takes none.
    ///
    /// # Errors
    /// Those of [`Device::measure`], or when the profiler is missing or not allowed.
    fn profile(
        &mut self,
        _trial: &Request<'_>,
        _frequency_hz: u32,
        _watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        Err(DeviceError::Setup(Fault {
            what: "this device takes no profiles".to_owned(),
            try_next: "take them on the device itself (perf, hwpmc)".to_owned(),
            ..Fault::default()
        }))
    }

    /// How many of the next trials the device wants to know before each, where it can begin with them;
    /// what a device does not say otherwise: none.
    fn looks_ahead(&self) -> usize {
        0
    }

    /// Tells which trials come next: the one that is about to be set up and measured, and those planned after
    /// it, which may yet come in another order, or not at all.
    fn coming(&mut self, _trials: &[Request<'_>]) {}

    /// How long it takes to go from one variant to another, a reboot for instance. The plan runs
    /// the traffics of one variant after each other where that is long, and the device is then
    /// set up once for all of them.
    fn switch_cost(&self) -> Duration {
        Duration::ZERO
    }

    /// How often a trial is begun before it counts as FAILED, where the device is
    /// [`Lost`](DeviceError::Lost).
    fn attempts(&self) -> u32 {
        DeviceError::ATTEMPTS
    }

    /// The machines that it stands on, where a file names them.
    fn testbed(&self) -> Option<TestbedMark> {
        None
    }
}

impl dyn Device + '_ {
    /// A whole trial: the device is warmed up where the experiment says so, then it is measured.
    ///
    /// # Errors
    /// Those of [`Device::measure`].
    pub fn trial(
        &mut self,
        trial: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        self.warmed(trial, watch)?;
        self.measure(trial, watch)
    }

    /// As [`trial`](Self::trial), with a sampling profiler beside what is measured.
    ///
    /// # Errors
    /// Those of [`Device::profile`].
    pub fn profiled_trial(
        &mut self,
        trial: &Request<'_>,
        frequency_hz: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        self.warmed(trial, watch)?;
        self.profile(trial, frequency_hz, watch)
    }

    fn warmed(&mut self, trial: &Request<'_>, watch: &mut Watch<'_>) -> Result<(), DeviceError> {
        match trial.experiment.warmup.is_zero() {
            true => Ok(()),
            false => self.warm_up(trial, watch),
        }
    }
}

/// Samples the whole machine while `measure` runs, by perf, kernel and user stacks: that is the device
/// only where it runs here.
///
/// # Errors
/// Those of `measure`, or when perf is missing or not allowed.
#[cfg(feature = "flame")]
pub fn whole_machine(
    frequency_hz: u32,
    measure: impl FnOnce() -> Result<Measured, DeviceError>,
) -> Result<Profiled, DeviceError> {
    let recording = perf::Recording::start(frequency_hz).map_err(DeviceError::setup)?;
    let measured = measure()?;
    let stacks = recording.finish().map_err(DeviceError::trial)?;
    Ok(Profiled { measured, stacks, profiler: perf::NAME.to_owned() })
}

/// The stacks of what `perf script` printed on another machine, and what took them.
///
/// # Errors
/// When it is not that, or this build left it out.
#[cfg(feature = "flame")]
pub fn stacks_of_perf(script: &str) -> Result<(Stacks, &'static str), DeviceError> {
    Ok((perf::stacks(script.as_bytes()).map_err(DeviceError::trial)?, perf::NAME))
}

/// Says that this build cannot.
///
/// # Errors
/// Always.
#[cfg(not(feature = "flame"))]
pub fn stacks_of_perf(_: &str) -> Result<(Stacks, &'static str), DeviceError> {
    Err(DeviceError::setup(LEFT_OUT))
}

const LEFT_OUT: &str = "profiles of the whole machine were left out of this build";

/// Why [`whole_machine`] cannot, where this build left it out.
pub const fn without_whole_machine() -> Option<&'static str> {
    if cfg!(feature = "flame") { None } else { Some(LEFT_OUT) }
}

/// Says that this build cannot.
///
/// # Errors
/// Always.
#[cfg(not(feature = "flame"))]
pub fn whole_machine(
    _: u32,
    _: impl FnOnce() -> Result<Measured, DeviceError>,
) -> Result<Profiled, DeviceError> {
    Err(DeviceError::setup(LEFT_OUT))
}

/// One trial to run.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The experiment that it belongs to: how long it takes, what is measured.
    pub experiment: &'a Experiment,
    /// What is set on the device.
    pub variant: &'a Variant,
    /// What to send.
    pub traffic: &'a Traffic,
}

/// How the caller follows a trial while it runs, and stops it.
pub struct Watch<'a> {
    /// Called at the end of each interval.
    pub on_interval: &'a mut dyn FnMut(&Interval),
    /// Set when the campaign is to stop, for example by Ctrl-C.
    pub stop: &'a AtomicBool,
}

impl Watch<'_> {
    /// Whether the trial is to end now.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Waits until `is_over` answers true, looking every `step`, but no longer than `limit`; returns
    /// whether it did.
    ///
    /// # Errors
    /// [`DeviceError::Stopped`] as soon as the campaign is to stop.
    pub fn wait(
        &self,
        limit: Duration,
        step: Duration,
        mut is_over: impl FnMut() -> bool,
    ) -> Result<bool, DeviceError> {
        let start = Instant::now();
        loop {
            if self.is_stopped() {
                return Err(DeviceError::Stopped);
            }
            if is_over() {
                return Ok(true);
            }
            let left = limit.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            std::thread::sleep(step.min(left));
        }
    }
}

#[cfg(test)]
mod tests;
