use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use fwdlab_results::profile::*;
use fwdlab_device::{Builtin, Device, DeviceError, Request, Watch};
use fwdlab_experiment::Experiment;
use crate::plan::Place;
use fwdlab_results::{Interval, Results};
use crate::runner::{Observer, Runner, Upcoming};

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
    fn settings(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn run(&mut self, request: &Request<'_>, _: &mut Watch<'_>) -> Result<Measured, DeviceError> {
        let n = self.frames;
        let interval = Interval {
            ms: 100.0,
            tx: n,
            rx: n,
            busy_ns: 50_000,
            busy_frames: n,
            ..Interval::default()
        };
        Ok(Measured {
            intervals: vec![interval; 10],
            sent: 10 * n,
            received: 10 * n,
            flows_seen: 4,
            device_received: 10 * n,
            device_sent: 10 * n,
            busy_ns: 500_000,
            busy_frames: 10 * n,
            proof: request.variant.set.clone(),
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
        let measured = self.run(request, watch)?;
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
    Experiment::parse(Path::new("test.toml"), EXPERIMENT).unwrap()
}

fn measured(dir: &Path, device: &mut dyn Device) -> Results {
    let experiment = experiment();
    let opened = Place::Named(dir.to_owned()).open(&experiment).unwrap();
    let (observer, stopper, stop) = (&mut Silent, &mut (), &AtomicBool::new(false));
    Runner { experiment: &experiment, device, observer, stopper, stop }.run(opened).unwrap();
    Results::read(dir).unwrap()
}

fn profiles(results: &Results, device: &mut dyn Device) -> Vec<Outcome> {
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
    let claims = fwdlab_report::write(dir.path(), &results).unwrap();
    assert!(claims.files.iter().all(|f| !f.to_string_lossy().contains("flame")));
}

#[test]
fn built_in_device_profiles_itself_without_privileges() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        eprintln!("SKIPPED built_in_device_profiles_itself_without_privileges: needs two cores");
        return;
    }
    let experiment = experiment();
    let mut device = Builtin::new(&experiment).unwrap();
    let request = Request {
        experiment: &experiment,
        variant: &experiment.variants[0],
        traffic: &experiment.traffics[0],
    };
    let mut watch = Watch { on_interval: &mut |_| {}, stop: &AtomicBool::new(false) };
    let profiled = device.profile(&request, 997, &mut watch).unwrap();
    assert!(profiled.stacks.values().sum::<u64>() > 20, "{:?}", profiled.stacks);
    let names = profiled.stacks.keys().filter(|s| s.contains("poll")).count();
    assert!(2 * names > profiled.stacks.len(), "{:?}", profiled.stacks);
}

#[test]
fn perf_samples_the_whole_machine_when_it_may() {
    let recording = match perf::Recording::start(997) {
        Ok(recording) => recording,
        Err(error) => {
            eprintln!("SKIPPED perf_samples_the_whole_machine_when_it_may: {error}");
            return;
        }
    };
    let begun = std::time::Instant::now();
    while begun.elapsed().as_millis() < 200 {
        std::hint::black_box(begun.elapsed());
    }
    let stacks = recording.finish().unwrap();
    assert!(stacks.values().sum::<u64>() > 20, "{stacks:?}");
}

#[test]
fn folded_text_reads_back_the_same() {
    let stacks = Stacks::from([("a;b c".to_owned(), 3), ("a".to_owned(), 1)]);
    assert_eq!(parse_folded(&folded(&stacks)), Ok(stacks));
    assert!(parse_folded("a;b\n").unwrap_err().contains("line 1"));
    assert_eq!(frame_name("a;b\n"), "a:b:");
}
