use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::{ProfiledTrial, Session};
use crate::plan::{Place, Terms};
use crate::runner::{Observer, Runner, Upcoming};
use fwdlab_device::{Device, DeviceError, Facts, Proof, Request, Watch};
use fwdlab_experiment::Anything;
use fwdlab_experiment::{Experiment, Variant};
use fwdlab_results::profile::*;
use fwdlab_results::{About, Busy, Interval, Measured, Results};

const EXPERIMENT: &str = r#"
title = "a test"
baseline = "one"
blocks = 2
duration = "100ms"
interval = "20ms"
profile = true

[[variant]]
name = "one"
set = { "net.route.algo.inet.algo" = "radix4" }

[[variant]]
name = "two"
set = { "net.route.algo.inet.algo" = "bsearch4" }

[[traffic]]
name = "inet"
source = "198.18.10.1-198.18.10.2:2000"
destination = "198.19.10.1-198.19.10.2:2000"

[routes]
static = ["198.18.0.0/16 via 198.18.0.203", "198.19.0.0/16 via 198.19.0.203"]
"#;

/// Counts as many frames as it is told; its profile is one function.
struct Scripted {
    frames: u64,
    profiles: usize,
}

impl Device for Scripted {
    fn facts(&self) -> Facts {
        Facts::default()
    }

    fn apply(&mut self, variant: &Variant, _: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        Ok(variant.set.clone())
    }

    fn warm_up(&mut self, _: &Request<'_>, _: &mut Watch<'_>) -> Result<(), DeviceError> {
        Ok(())
    }

    fn measure(&mut self, _: &Request<'_>, _: &mut Watch<'_>) -> Result<Measured, DeviceError> {
        let n = self.frames;
        let interval = Interval {
            ms: 100.0,
            tx: Some(n),
            rx: n,
            busy: Some(Busy { ns: 50_000, frames: n }),
            ..Interval::default()
        };
        Ok(Measured {
            intervals: vec![interval; 10],
            sent: Some(10 * n),
            received: 10 * n,
            flows_seen: Some(4),
            device_received: Some(10 * n),
            device_sent: Some(10 * n),
            busy: Some(Busy { ns: 500_000, frames: 10 * n }),
            ..Measured::default()
        })
    }

    fn profile(
        &mut self,
        request: &Request<'_>,
        _: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        self.profiles += 1;
        let stacks = Stacks::from([("poll;lookup".to_owned(), 7)]);
        let measured = self.measure(request, watch)?;
        Ok(Profiled { measured, stacks, profiler: "a test".to_owned() })
    }
}

struct Silent;

impl Observer for Silent {
    fn starts(&mut self, _: &Upcoming<'_>) {}
    fn interval(&mut self, _: &Upcoming<'_>, _: &Interval) {}
    fn ends(&mut self, _: &fwdlab_results::Trial) {}
}

fn experiment() -> Experiment {
    Experiment::parse(Path::new("test.toml"), EXPERIMENT, &[&Anything]).unwrap()
}

fn measured(dir: &Path, device: &mut dyn Device) -> Results {
    let experiment = experiment();
    let about = About::unknown("scripted");
    let terms = Terms {
        about,
        switch_cost: std::time::Duration::ZERO,
        lives_in_process: false,
        calibrate: 0.0,
        slow_word: None,
        testbed: None,
        environment: None,
    };
    let opened = Place::Named(dir.to_owned()).open(&experiment, &terms).unwrap();
    let (observer, stopper, stop) = (&mut Silent, &mut (), &AtomicBool::new(false));
    Runner { experiment: &experiment, device, observer, stopper, stop }.run(opened).unwrap();
    Results::read(dir).unwrap()
}

fn profiles(results: &Results, device: &mut dyn Device) -> Vec<ProfiledTrial> {
    let (experiment, stop) = (experiment(), AtomicBool::new(false));
    let mut session =
        Session { experiment: &experiment, device, results, frequency_hz: 997, stop: &stop };
    session.run(&mut |_, _| {}).unwrap()
}

#[test]
fn profiles_are_taken_per_variant_and_leave_the_journal_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut device = Scripted { frames: 1000, profiles: 0 };
    let results = measured(dir.path(), &mut device);
    let journal = std::fs::read(dir.path().join("trials.jsonl")).unwrap();
    let outcomes = profiles(&results, &mut device);
    assert_eq!(std::fs::read(dir.path().join("trials.jsonl")).unwrap(), journal);
    assert_eq!(device.profiles, 2);
    assert!(outcomes.iter().all(|o| o.samples == 7 && o.problem.is_none()), "{outcomes:?}");
    let folded = std::fs::read_to_string(dir.path().join("profiles/two.inet.folded")).unwrap();
    assert_eq!(folded, "poll;lookup 7\n");
    let json = std::fs::read_to_string(dir.path().join("profiles/two.inet.json")).unwrap();
    let taken: Taken = serde_json::from_str(&json).unwrap();
    assert_eq!((taken.rate_pps, taken.cost_ns), (Some(10_000.0), Some(50.0)));
}

#[test]
fn profiled_trial_that_misses_the_load_is_repeated_and_then_said_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut device = Scripted { frames: 1000, profiles: 0 };
    let results = measured(dir.path(), &mut device);
    device.frames = 800;
    let outcomes = profiles(&results, &mut device);
    assert_eq!(device.profiles, 6);
    let problem = outcomes[0].problem.as_deref().unwrap();
    assert!(problem.contains("the report refuses it"), "{problem}");
}

/// The first profile was taken, and lost.
#[test]
fn a_place_that_cannot_be_written_is_said_before_the_first_trial() {
    let dir = tempfile::tempdir().unwrap();
    let mut device = Scripted { frames: 1000, profiles: 0 };
    let results = measured(dir.path(), &mut device);
    // What root cannot write either.
    std::fs::write(dir.path().join("profiles"), "no directory").unwrap();
    let (experiment, stop) = (experiment(), AtomicBool::new(false));
    let (device, results) = (&mut device, &results);
    let mut session =
        Session { experiment: &experiment, device, results, frequency_hz: 997, stop: &stop };
    let mut begun = 0;
    let error = session.run(&mut |_, _| begun += 1).unwrap_err().to_string();
    assert!(error.starts_with("cannot write into") && error.contains("profiles"), "{error}");
    assert_eq!(begun, 0);
}
