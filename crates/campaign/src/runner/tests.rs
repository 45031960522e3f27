use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fwdlab_device::{Breakdown, Facts, Fault};
use fwdlab_experiment::Anything;
use fwdlab_experiment::Variant;
use fwdlab_results::{About, Busy, FailureKind, Grouping, Ledger, TestbedMark};

use super::*;
use crate::plan::{Place, Terms};
use fwdlab_results::Results;

const EXPERIMENT: &str = r#"
title = "a test"
baseline = "one"
blocks = 3
seed = 7

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
frame = "min"
load = "max"

[routes]
static = ["198.18.0.0/16 via 198.18.0.203", "198.19.0.0/16 via 198.19.0.203"]
"#;

fn experiment() -> Experiment {
    Experiment::parse(Path::new("test.toml"), EXPERIMENT, &[&Anything]).expect("a valid experiment")
}

/// Answers with sound counts, changed by `alter` for the trial of that number.
struct Scripted<'a> {
    runs: usize,
    warm_ups: usize,
    /// Variants in the order in which they were applied.
    applied: Vec<String>,
    switch_cost: Duration,
    ledger: Ledger,
    alter: &'a dyn Fn(usize, &mut Measured) -> Result<(), DeviceError>,
    stop_after: Option<(usize, &'a AtomicBool)>,
    /// Numbers of the processes that were started.
    renewed: Vec<u32>,
    /// How many of the next trials it wants to know, and the variants that it was told of.
    looks_ahead: usize,
    told: Vec<Vec<String>>,
}

impl Device for Scripted<'_> {
    fn facts(&self) -> Facts {
        Facts::default()
    }

    fn renew(&mut self, process: u32) -> Result<(), DeviceError> {
        self.renewed.push(process);
        Ok(())
    }

    fn apply(&mut self, variant: &Variant, _: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        self.applied.push(variant.name.clone());
        Ok(variant.set.clone())
    }

    fn switch_cost(&self) -> Duration {
        self.switch_cost
    }

    fn looks_ahead(&self) -> usize {
        self.looks_ahead
    }

    fn coming(&mut self, trials: &[Request<'_>]) {
        self.told.push(trials.iter().map(|trial| trial.variant.name.clone()).collect());
    }

    fn warm_up(&mut self, _: &Request<'_>, _: &mut Watch<'_>) -> Result<(), DeviceError> {
        self.warm_ups += 1;
        Ok(())
    }

    fn measure(&mut self, _: &Request<'_>, watch: &mut Watch<'_>) -> Result<Measured, DeviceError> {
        self.runs += 1;
        let interval = Interval {
            ms: 100.0,
            tx: Some(1000),
            rx: 1000,
            busy: Some(Busy { ns: 50_000, frames: 1000 }),
            ..Interval::default()
        };
        (watch.on_interval)(&interval);
        let mut measured = Measured {
            intervals: vec![interval; 10],
            sent: Some(10_000),
            received: 10_000,
            flows_seen: Some(4),
            device_received: Some(10_000),
            device_sent: Some(10_000),
            busy: Some(Busy { ns: 500_000, frames: 10_000 }),
            ledger: self.ledger,
            ..Measured::default()
        };
        if let Some((runs, stop)) = self.stop_after
            && self.runs > runs
        {
            stop.store(true, Ordering::Relaxed);
        }
        (self.alter)(self.runs, &mut measured)?;
        Ok(measured)
    }
}

fn scripted<'a>(
    alter: &'a dyn Fn(usize, &mut Measured) -> Result<(), DeviceError>,
) -> Scripted<'a> {
    Scripted {
        runs: 0,
        warm_ups: 0,
        applied: Vec::new(),
        switch_cost: Duration::ZERO,
        ledger: Ledger::Exact,
        alter,
        stop_after: None,
        renewed: Vec::new(),
        looks_ahead: 0,
        told: Vec::new(),
    }
}

struct Silent;

impl Observer for Silent {
    fn starts(&mut self, _: &Upcoming<'_>) {}
    fn interval(&mut self, _: &Upcoming<'_>, _: &Interval) {}
    fn ends(&mut self, _: &Trial) {}
}

fn run_in(dir: &Path, device: &mut Scripted<'_>, stop: &AtomicBool) -> End {
    let experiment = experiment();
    let terms = Terms {
        about: About::unknown("scripted"),
        switch_cost: device.switch_cost,
        lives_in_process: false,
        calibrate: 0.0,
        slow_word: None,
        testbed: None,
        environment: None,
    };
    let opened = Place::Named(dir.to_owned()).open(&experiment, &terms).expect("a free place");
    let runner =
        Runner { experiment: &experiment, device, observer: &mut Silent, stopper: &mut (), stop };
    runner.run(opened).expect("a writable journal")
}

/// Runs all trials with one alteration and returns the results.
fn results_with(alter: &dyn Fn(usize, &mut Measured) -> Result<(), DeviceError>) -> Results {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut device = scripted(alter);
    assert_eq!(run_in(dir.path(), &mut device, &AtomicBool::new(false)), End::Finished);
    Results::read(dir.path()).expect("readable results")
}

#[test]
fn every_planned_trial_is_recorded_once_and_the_campaign_is_finished() {
    let results = results_with(&|_, _| Ok(()));
    let recorded: Vec<&str> = results.trials.iter().map(|trial| trial.id.as_str()).collect();
    assert_eq!(recorded, results.campaign.trials);
    assert!(results.trials.iter().all(Trial::is_ok));
    assert_eq!(results.finished.expect("an end").stopped, "all blocks run");
}

#[test]
fn a_device_that_looks_ahead_is_told_what_comes_in_the_order_in_which_it_is_measured() {
    let dir = tempfile::tempdir().expect("a directory");
    let stop = AtomicBool::new(false);
    let mut device = Scripted { looks_ahead: 4, ..scripted(&|_, _| Ok(())) };
    assert_eq!(run_in(dir.path(), &mut device, &stop), End::Finished);
    let first: Vec<String> = device.told.iter().map(|told| told[0].clone()).collect();
    assert_eq!(first.len(), device.runs);
    for (at, told) in device.told.iter().enumerate() {
        let end = first.len().min(at + 4);
        assert_eq!(told, &first[at..end], "trial {at}");
    }
    // Who does not ask is not told.
    let dir = tempfile::tempdir().expect("a directory");
    let mut device = scripted(&|_, _| Ok(()));
    assert_eq!(run_in(dir.path(), &mut device, &stop), End::Finished);
    assert!(device.told.is_empty() && device.runs > 0);
}

#[test]
fn a_stopped_campaign_goes_on_with_the_trials_that_are_missing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let stop = AtomicBool::new(false);
    let mut first = Scripted { stop_after: Some((2, &stop)), ..scripted(&|_, _| Ok(())) };
    assert_eq!(run_in(dir.path(), &mut first, &stop), End::Stopped);
    assert_eq!(Results::read(dir.path()).expect("results").trials.len(), 2);

    let mut second = scripted(&|_, _| Ok(()));
    assert_eq!(run_in(dir.path(), &mut second, &AtomicBool::new(false)), End::Finished);
    assert_eq!((second.runs, second.warm_ups), (4, 4), "each trial has a warm-up of its own");
    let results = Results::read(dir.path()).expect("results");
    let recorded: Vec<&str> = results.trials.iter().map(|trial| trial.id.as_str()).collect();
    assert_eq!(recorded, results.campaign.trials);
}

#[test]
fn a_device_that_fails_gives_a_failed_trial_and_the_campaign_goes_on() {
    let results = results_with(&|run, _| match run {
        2 => Err(DeviceError::trial("it was killed")),
        _ => Ok(()),
    });
    assert_eq!(results.trials.len(), 6);
    let failed: Vec<&Trial> = results.trials.iter().filter(|trial| !trial.is_ok()).collect();
    assert_eq!(failed.len(), 1);
    assert!(failed[0].reason.as_deref().is_some_and(|reason| reason.contains("it was killed")));
}

#[test]
fn a_frame_that_vanished_fails_the_trial() {
    let results = results_with(&|run, measured| {
        match run {
            1 => measured.received -= 1,
            2 => measured.device_received = Some(9_999),
            3 => *measured = Measured { sent: Some(10), ..Measured::default() },
            _ => {}
        }
        Ok(())
    });
    let reasons: Vec<Option<&str>> =
        results.trials.iter().map(|trial| trial.reason.as_deref()).collect();
    assert!(
        reasons[0].is_some_and(|r| r.contains("the tester received 9999 frames")),
        "{reasons:?}"
    );
    assert!(
        reasons[1].is_some_and(|r| r.contains("the device received 9999 frames")),
        "{reasons:?}"
    );
    assert!(reasons[2].is_some_and(|r| r.contains("no frame came back of 10")), "{reasons:?}");
    assert_eq!(reasons[3..], [None, None, None]);
}

#[test]
fn dropped_frames_are_part_of_the_account() {
    let results = results_with(&|_, measured| {
        measured.drops = Some([("no-route".to_owned(), 10)].into());
        measured.device_sent = Some(9_990);
        measured.received -= 10;
        Ok(())
    });
    assert!(results.trials.iter().all(Trial::is_ok));
}

#[test]
fn a_setting_that_did_not_take_fails_the_trial() {
    let results = results_with(&|run, measured| {
        if run == 1 {
            measured.proof.insert("net.route.algo.inet.algo".to_owned(), "dxr".to_owned());
        }
        Ok(())
    });
    let reason = results.trials[0].reason.as_deref().expect("a reason");
    assert!(reason.contains("net.route.algo.inet.algo was set to"), "{reason}");
    assert!(reason.contains("the device answers dxr"), "{reason}");
}

#[test]
fn a_device_that_waited_for_frames_is_marked_generator_limited() {
    let results = results_with(&|run, measured| {
        measured.idle_share = Some(if run == 1 { 0.2 } else { 0.001 });
        Ok(())
    });
    assert_eq!(results.trials[0].limited_by, LimitedBy::Generator);
    assert_eq!(results.trials[1].limited_by, LimitedBy::Device);
}

#[test]
fn a_stopper_ends_the_campaign_after_a_whole_block() {
    struct AfterTwo;
    impl Stopper for AfterTwo {
        fn look(&mut self, trials: &[Trial]) -> Look {
            if trials.len() < 3 {
                return Look::Open(Vec::new());
            }
            Look::Settled(format!("decided after {} trials", trials.len()))
        }
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let experiment = experiment();
    let terms = Terms {
        about: About::unknown("scripted"),
        switch_cost: Duration::ZERO,
        lives_in_process: false,
        calibrate: 0.0,
        slow_word: None,
        testbed: None,
        environment: None,
    };
    let place = Place::Named(dir.path().to_owned());
    let opened = place.open(&experiment, &terms).expect("a free place");
    let runner = Runner {
        experiment: &experiment,
        device: &mut scripted(&|_, _| Ok(())),
        observer: &mut Silent,
        stopper: &mut AfterTwo,
        stop: &AtomicBool::new(false),
    };
    assert_eq!(runner.run(opened).expect("a writable journal"), End::Finished);
    let results = Results::read(dir.path()).expect("results");
    assert_eq!(results.trials.len(), 4);
    assert_eq!(results.finished.expect("an end").stopped, "decided after 4 trials");
}

/// Runs the first variant near, then everything far: what was near runs again.
#[test]
fn trials_at_another_distance_than_the_rest_of_their_block_run_again() {
    let results = results_with(&|run, measured| {
        let roundtrip = if run == 1 { 60.0 } else { 400.0 };
        measured.environment.roundtrips_ns = vec![Some(roundtrip); 10];
        Ok(())
    });
    let recorded: Vec<&str> = results.trials.iter().map(|trial| trial.id.as_str()).collect();
    assert_eq!(recorded.len(), 6);
    assert!(results.trials.iter().all(|trial| trial.measured.warnings.is_empty()));
    assert_eq!(results.repeated.len(), 1);
    assert_eq!(results.repeated[0].measured.environment.roundtrips_ns[0], Some(60.0));
    let reason = results.repeated[0].reason.as_deref().expect("a reason");
    assert!(reason.contains("its cores were 60 ns apart, then 400 ns apart"), "{reason}");
}

#[test]
fn repeats_are_limited_and_what_stays_is_marked() {
    let results = results_with(&|run, measured| {
        let roundtrip = if run % 2 == 1 { 60.0 } else { 400.0 };
        measured.environment.roundtrips_ns = vec![Some(roundtrip); 10];
        Ok(())
    });
    assert_eq!(results.trials.len(), 6);
    assert_eq!(results.repeated.len(), 2, "a third of the trials");
    assert!(results.trials.iter().any(|trial| trial.measured.warnings[0].contains("cores were")));
}

#[test]
fn a_lost_device_is_tried_again_and_every_attempt_is_recorded() {
    let lost = |what: &str| DeviceError::Lost(Fault::new(what));
    let results = results_with(&|run, _| match run {
        2 | 3 => Err(lost("the line broke")),
        5..=7 => Err(lost("it is gone")),
        _ => Ok(()),
    });
    assert_eq!(results.trials.len(), 6);
    let failed: Vec<&Trial> = results.trials.iter().filter(|trial| !trial.is_ok()).collect();
    assert_eq!(failed.len(), 1, "the one that was lost three times");
    assert_eq!(failed[0].reason.as_deref(), Some("it is gone"));
    let reasons: Vec<&str> =
        results.repeated.iter().filter_map(|trial| trial.reason.as_deref()).collect();
    assert_eq!(
        reasons,
        [
            "attempt 1 of 3, tried again: the line broke",
            "attempt 2 of 3, tried again: the line broke",
            "attempt 1 of 3, tried again: it is gone",
            "attempt 2 of 3, tried again: it is gone",
        ]
    );
}

#[test]
fn a_device_that_takes_long_to_set_up_is_set_up_once_for_each_variant_and_block() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut device = scripted(&|_, _| Ok(()));
    device.switch_cost = Duration::from_secs(250);
    assert_eq!(run_in(dir.path(), &mut device, &AtomicBool::new(false)), End::Finished);
    let results = Results::read(dir.path()).expect("results");
    assert_eq!(results.campaign.grouping, Grouping::Variant);
    // The second block of this seed begins with the variant that the first one ended with.
    let ran: Vec<&String> = results.trials.iter().map(|trial| &trial.variant).collect();
    let mut changes = ran.clone();
    changes.dedup();
    assert_eq!(device.applied.iter().collect::<Vec<_>>(), changes);
    assert!(results.trials.iter().all(|trial| !trial.measured.proof.is_empty()));

    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut quick = scripted(&|_, _| Ok(()));
    run_in(dir.path(), &mut quick, &AtomicBool::new(false));
    assert_eq!(quick.applied.len(), 6, "set up anew for each trial");
}

#[test]
fn counts_must_agree_as_exactly_as_the_devices_ledger_says() {
    let statuses = |ledger: Ledger| -> Vec<bool> {
        let results = results_with(&|run, measured| {
            measured.ledger = ledger;
            measured.received -= [0, 1, 5, 6, 0, 0][run - 1];
            measured.device_sent = (run != 6).then_some(10_000);
            Ok(())
        });
        results.trials.iter().map(Trial::is_ok).collect()
    };
    assert_eq!(statuses(Ledger::Exact), [true, false, false, false, true, true]);
    assert_eq!(statuses(Ledger::Within(5)), [true, true, true, false, true, true]);
    assert_eq!(statuses(Ledger::Unknown), [true; 6]);
}

fn run_in_processes(dir: &Path, device: &mut Scripted<'_>, stop: &AtomicBool) -> End {
    let experiment = experiment();
    let terms = Terms {
        about: About::unknown("scripted"),
        switch_cost: Duration::ZERO,
        lives_in_process: true,
        calibrate: 0.0,
        slow_word: None,
        testbed: None,
        environment: None,
    };
    let opened = Place::Named(dir.to_owned()).open(&experiment, &terms).expect("a free place");
    let runner =
        Runner { experiment: &experiment, device, observer: &mut Silent, stopper: &mut (), stop };
    runner.run(opened).expect("a writable journal")
}

fn processes(results: &Results) -> Vec<(u32, u32)> {
    let of = |trial: &Trial| (trial.block, trial.measured.environment.process.unwrap_or(0));
    results.trials.iter().map(of).collect()
}

#[test]
fn each_block_runs_in_a_process_of_its_own_and_a_resumed_one_in_another() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let stop = AtomicBool::new(false);
    let nothing = |_: usize, _: &mut Measured| Ok(());
    // Stopped within the second block.
    let mut first = Scripted { stop_after: Some((3, &stop)), ..scripted(&nothing) };
    assert_eq!(run_in_processes(dir.path(), &mut first, &stop), End::Stopped);
    assert_eq!(first.renewed, [1, 2]);
    let mut second = scripted(&nothing);
    let stop = AtomicBool::new(false);
    assert_eq!(run_in_processes(dir.path(), &mut second, &stop), End::Finished);
    assert_eq!(second.renewed, [3, 4]);
    let results = Results::read(dir.path()).expect("readable results");
    assert_eq!(results.campaign.blocks_per_process, Some(1));
    assert_eq!(processes(&results), [(1, 1), (1, 1), (2, 2), (2, 3), (3, 4), (3, 4)]);
    // A trial that says another process, or none, is found.
    let doubts = |results: &Results| {
        let faults = fwdlab_verify::verify(results).expect("readable results").faults;
        faults.iter().filter(|fault| fault.to_string().contains("process")).count()
    };
    assert_eq!(doubts(&results), 0);
    let mut bent = results.clone();
    bent.trials[5].measured.environment.process = Some(2);
    assert_eq!(doubts(&bent), 1);
    bent.trials[4].measured.environment.process = Some(2);
    bent.trials[0].measured.environment.process = None;
    assert!(doubts(&bent) >= 2);
    let mut unplanned = results;
    unplanned.campaign.blocks_per_process = None;
    assert_eq!(doubts(&unplanned), 6);
}

#[test]
fn a_lost_device_is_tried_again_in_another_process() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let lost = |run: usize, _: &mut Measured| match run {
        2 => Err(DeviceError::Lost(Fault::new("gone"))),
        _ => Ok(()),
    };
    let mut device = scripted(&lost);
    let stop = AtomicBool::new(false);
    assert_eq!(run_in_processes(dir.path(), &mut device, &stop), End::Finished);
    assert_eq!(device.renewed, [1, 2, 3, 4]);
    let results = Results::read(dir.path()).expect("readable results");
    assert_eq!(processes(&results), [(1, 1), (1, 2), (2, 3), (2, 3), (3, 4), (3, 4)]);
}

/// A failure of this kind.
fn of_kind(kind: FailureKind) -> Fault {
    let lines = |line: &str| vec![line.to_owned()];
    let (remedies, console, logs) = (lines("waited"), lines("panic"), lines("tester: gone"));
    let breakdown = Some(Box::new(Breakdown { kind, remedies, console, logs }));
    Fault { breakdown, ..Fault::new("it broke") }
}

#[test]
fn failures_of_machines_are_recorded_with_their_kind_and_what_was_done() {
    let results = results_with(&|run, _| match run {
        2 => Err(DeviceError::Lost(of_kind(FailureKind::DutHung))),
        _ => Ok(()),
    });
    assert!(results.trials.iter().all(Trial::is_ok));
    let failure = results.repeated[0].failure.clone().expect("a failure");
    assert_eq!(failure.kind, FailureKind::DutHung);
    assert_eq!(
        [failure.remedies, failure.console, failure.logs].concat(),
        ["waited", "panic", "tester: gone"]
    );
}

#[test]
fn three_failures_of_tester_or_network_in_a_row_stop_the_campaign_which_goes_on_later() {
    let dir = tempfile::tempdir().expect("a directory");
    let broken = |run: usize, _: &mut Measured| match run {
        1 | 3 => Err(DeviceError::Lost(of_kind(FailureKind::TesterFailed))),
        5 => Err(DeviceError::Lost(of_kind(FailureKind::TransportLost))),
        6 => Err(DeviceError::Lost(of_kind(FailureKind::DutRebooted))),
        7.. => Err(DeviceError::Lost(of_kind(FailureKind::LinkLost))),
        _ => Ok(()),
    };
    let end = run_in(dir.path(), &mut scripted(&broken), &AtomicBool::new(false));
    assert_eq!(end, End::TestbedBroken { why: "it broke".to_owned() });
    let results = Results::read(dir.path()).expect("results");
    // The third trial: transport, reboot; then links, the last of which ends its attempts.
    assert_eq!(results.trials.len(), 3, "{:?}", results.trials);
    assert_eq!(results.trials.iter().filter(|trial| !trial.is_ok()).count(), 1);
    assert!(results.finished.is_none());
    let end = run_in(dir.path(), &mut scripted(&|_, _| Ok(())), &AtomicBool::new(false));
    assert_eq!(end, End::Finished);
}

#[test]
fn what_a_person_must_mend_stops_at_once_and_uses_no_trial_up() {
    let dir = tempfile::tempdir().expect("a directory");
    let wrong = |_: usize, _: &mut Measured| {
        Err(DeviceError::Configuration(of_kind(FailureKind::Misconfigured)))
    };
    let mut device = scripted(&wrong);
    let end = run_in(dir.path(), &mut device, &AtomicBool::new(false));
    assert_eq!(end, End::Misconfigured { why: "it broke".to_owned() });
    assert_eq!(device.runs, 1);
    let results = Results::read(dir.path()).expect("results");
    assert_eq!((results.trials.len(), results.repeated.len()), (0, 1));
}

#[test]
fn a_campaign_of_another_testbed_is_never_gone_on_with() {
    let dir = tempfile::tempdir().expect("a directory");
    let experiment = experiment();
    let on = |name: &str| Terms {
        about: About::unknown("scripted"),
        switch_cost: Duration::ZERO,
        lives_in_process: false,
        calibrate: 0.0,
        slow_word: None,
        testbed: Some(TestbedMark { name: name.to_owned(), fingerprint: name.to_owned() }),
        environment: None,
    };
    let place = Place::Under(dir.path().to_owned());
    let first = place.open(&experiment, &on("one")).expect("a free place").journal.dir().to_owned();
    let second = place.open(&experiment, &on("two")).expect("another").journal.dir().to_owned();
    assert_ne!(first, second);
    let again = place.open(&experiment, &on("one")).expect("the first").journal.dir().to_owned();
    assert_eq!(first, again);
    assert!(Place::Named(first).open(&experiment, &on("two")).is_err());
}
