//! Takes the profiles of an experiment.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use crate::plan::PlannedTrial;
use crate::runner::applied::Applied;
use crate::runner::{judged, proven};
use crate::{Error, Result};
use fwdlab_device::{Device, DeviceError, Request, Watch};
use fwdlab_experiment::Experiment;
use fwdlab_guard::{Folder, check_writable};
use fwdlab_results::journal::utc_stamp;
use fwdlab_results::profile::{LEAST_LOAD_SHARE, Profiled, Taken, folded};
use fwdlab_results::{Results, Trial, units};

/// A profiled trial lasts at least this long, so that it holds some thousand samples.
pub(crate) const LEAST_DURATION: Duration = Duration::from_secs(2);

/// So often a profiled trial is repeated that misses the load: something else may have run.
const ATTEMPTS: u32 = 3;

/// Takes one profile for each variant and traffic of an experiment.
pub struct Session<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Where the trials run.
    pub device: &'a mut dyn Device,
    /// The measured trials, whose load the profiled ones must meet.
    pub results: &'a Results,
    /// Samples a second.
    pub frequency_hz: u32,
    /// Set from outside to stop.
    pub stop: &'a AtomicBool,
}

/// What became of one profile.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfiledTrial {
    /// Name of the variant.
    pub variant: String,
    /// Name of the traffic.
    pub traffic: String,
    /// Samples in it; 0 when there is no profile.
    pub samples: u64,
    /// Why there is none, or why the report will refuse it.
    pub problem: Option<String>,
}

impl Session<'_> {
    /// Runs the trials and writes `profiles/` into the directory of the results, each file whole.
    /// `begins` hears variant and traffic before each trial. Ends early when told to stop.
    ///
    /// # Errors
    /// When a file cannot be written, which is tried before the first trial. A trial that fails is an outcome, not
    /// an error.
    pub fn run(&mut self, begins: &mut dyn FnMut(&str, &str)) -> Result<Vec<ProfiledTrial>> {
        check_place(&self.results.dir)?;
        let mut experiment = self.experiment.clone();
        experiment.duration = experiment.duration.max(LEAST_DURATION);
        let mut outcomes = Vec::new();
        for traffic in 0..experiment.traffics.len() {
            for variant in 0..experiment.variants.len() {
                if self.stop.load(Ordering::Relaxed) {
                    return Ok(outcomes);
                }
                let planned = planned(&experiment, variant, traffic);
                let names =
                    (&experiment.variants[variant].name, &experiment.traffics[traffic].name);
                begins(names.0, names.1);
                let (samples, problem) = match self.best_of(&experiment, &planned) {
                    Ok((profiled, trial)) => {
                        write(&self.results.dir, &profiled, &trial)?;
                        (profiled.stacks.values().sum(), self.missed_load(&trial))
                    }
                    Err(why) => (0, Some(why)),
                };
                let (variant, traffic) = (names.0.clone(), names.1.clone());
                outcomes.push(ProfiledTrial { variant, traffic, samples, problem });
            }
        }
        Ok(outcomes)
    }

    /// The first profiled trial that meets the load, else the last.
    fn best_of(
        &mut self,
        experiment: &Experiment,
        planned: &PlannedTrial,
    ) -> Result<(Profiled, Trial), String> {
        let mut attempt = 1;
        loop {
            let (profiled, trial) = self.once(experiment, planned)?;
            if attempt == ATTEMPTS || self.missed_load(&trial).is_none() {
                return Ok((profiled, trial));
            }
            attempt += 1;
        }
    }

    fn once(
        &mut self,
        experiment: &Experiment,
        planned: &PlannedTrial,
    ) -> Result<(Profiled, Trial), String> {
        let variant = &experiment.variants[planned.variant];
        let traffic = &experiment.traffics[planned.traffic];
        let request = Request { experiment, variant, traffic };
        let mut watch = Watch { on_interval: &mut |_| {}, stop: self.stop };
        let words = |error: DeviceError| error.to_string();
        let proof = Applied::default()
            .apply(self.device, (&variant.name, &request), &mut watch)
            .map_err(words)?;
        let outcome = self.device.profiled_trial(&request, self.frequency_hz, &mut watch);
        let mut profiled = outcome.map_err(words)?;
        proven(&mut profiled.measured, proof);
        let trial = judged(experiment, planned, profiled.measured.clone());
        match &trial.reason {
            Some(reason) => Err(format!("the profiled trial failed: {reason}")),
            None if profiled.stacks.is_empty() => Err("the profiler took no sample".to_owned()),
            None => Ok((profiled, trial)),
        }
    }

    /// Says so when `trial` forwarded clearly less than the measured trials of its kind.
    fn missed_load(&self, trial: &Trial) -> Option<String> {
        let measured = self.results.trials_of(&trial.variant, &trial.traffic);
        let rates: Vec<f64> =
            measured.iter().filter(|t| t.is_ok()).filter_map(|t| t.rate_pps).collect();
        if rates.is_empty() {
            return None;
        }
        let median = fwdlab_stats::median(&rates);
        let rate = trial.rate_pps.unwrap_or(0.0);
        (rate < LEAST_LOAD_SHARE * median).then(|| {
            format!(
                "the profiled trial forwarded {}, the measured ones {}: the report refuses it; run \
                 `fwdlab profile` with a lower --frequency, or when nothing else runs",
                units::rate(rate),
                units::rate(median)
            )
        })
    }
}

/// A trial that is in no plan.
fn planned(experiment: &Experiment, variant: usize, traffic: usize) -> PlannedTrial {
    let names = (&experiment.variants[variant].name, &experiment.traffics[traffic].name);
    PlannedTrial {
        id: format!("profile-{}-{}", names.1, names.0),
        block: 0,
        order: 0,
        variant,
        known: None,
        traffic,
    }
}

/// Whether profiles can be written into a directory of results. Nothing is made: no trial may fail yet.
///
/// # Errors
/// They cannot.
pub fn check_place(dir: &Path) -> Result<()> {
    check_writable(dir).map_err(Error::io("write into", dir))?;
    let place = dir.join(PROFILES);
    if place.symlink_metadata().is_err() {
        return Ok(());
    }
    let folder = Folder::open(dir).and_then(|folder| folder.sub(PROFILES.as_ref()));
    folder.and_then(|_| check_writable(&place)).map_err(Error::io("write into", &place))
}

/// The directory of the profiles in one of results.
const PROFILES: &str = "profiles";

fn write(dir: &Path, profiled: &Profiled, trial: &Trial) -> Result<()> {
    let taken = Taken {
        profiler: Some(profiled.profiler.clone()),
        started: Some(utc_stamp(SystemTime::now())),
        rate_pps: trial.rate_pps,
        cost_ns: trial.cost_ns(),
        idle_share: trial.measured.idle_share,
    };
    let place = dir.join(PROFILES);
    let folder = Folder::open(dir).and_then(|folder| folder.sub(PROFILES.as_ref()));
    let folder = folder.map_err(Error::io("create", &place))?;
    let encode = |source| Error::Encode { what: "a profile's description", source };
    let json = serde_json::to_string_pretty(&taken).map_err(encode)? + "\n";
    let name = format!("{}.{}", trial.variant, trial.traffic);
    let put = |file: String, bytes: &[u8]| {
        folder.put(file.as_ref(), bytes).map_err(Error::io("write", &place))
    };
    put(format!("{name}.folded"), folded(&profiled.stacks).as_bytes())?;
    put(format!("{name}.json"), json.as_bytes())
}

#[cfg(test)]
mod tests;
