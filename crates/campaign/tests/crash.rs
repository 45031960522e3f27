//! Results survive a kill, a full disk, and a place that cannot be written.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
// a test may end with a panic wherever it stands
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fwdlab_campaign::plan::{Opened, Place, PlannedTrial, Terms};
use fwdlab_experiment::Anything;
use fwdlab_experiment::Experiment;
use fwdlab_results::Error;
use fwdlab_results::Family;
use fwdlab_results::{About, Busy, Interval, LimitedBy, Measured, Results, Status, Trial};

/// Names the results directory to the child process of a test.
const CHILD_DIR: &str = "FWDLAB_TEST_CHILD_DIR";

fn experiment(blocks: u32) -> Experiment {
    let text = format!(
        "title = \"t\"\nbaseline = \"a\"\nblocks = {blocks}\nseed = 5\n\
         [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1:7\"\ndestination = \"198.19.0.1:7\"\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n"
    );
    Experiment::parse(Path::new("sample.toml"), &text, &[&Anything]).unwrap()
}

/// A record as long as one of a second of traffic.
fn trial(planned: &PlannedTrial) -> Trial {
    Trial {
        id: planned.id.clone(),
        block: planned.block,
        order: planned.order,
        variant: ["a", "b"][planned.variant].to_owned(),
        traffic: "inet".to_owned(),
        family: Family::Inet,
        measure: fwdlab_results::Measure::Rate,
        status: Status::Ok,
        reason: None,
        started: Some("2026-11-21T13:00:00Z".to_owned()),
        frame_bytes: 64,
        flows_planned: Some(1),
        load: "max".to_owned(),
        offered_pps_asked: None,
        interval_ms: 100.0,
        limited_by: LimitedBy::Device,
        failure: None,
        steady: None,
        rate_pps: None,
        measured: measured(),
    }
}

fn measured() -> Measured {
    let busy = Some(Busy { ns: 9, frames: 1 });
    let interval =
        Interval { ms: 100.01, tx: Some(400_000), rx: 400_000, busy, ..Interval::default() };
    Measured {
        intervals: vec![interval; 11],
        sent: Some(4_400_000),
        received: 4_400_000,
        flows_seen: Some(1),
        device_received: Some(4_400_000),
        device_sent: Some(4_400_000),
        busy,
        idle_share: Some(0.0),
        ..Measured::default()
    }
}

fn terms() -> Terms {
    Terms {
        about: About::unknown("sample"),
        switch_cost: Duration::ZERO,
        lives_in_process: false,
        calibrate: 0.0,
        slow_word: None,
        testbed: None,
        environment: None,
    }
}

fn run_missing(opened: Opened) -> Result<(), Error> {
    let missing: Vec<PlannedTrial> = opened.missing().into_iter().cloned().collect();
    let mut journal = opened.journal;
    for planned in &missing {
        journal.append(&trial(planned))?;
    }
    journal.finish("all blocks run")
}

/// Not a test of its own: what the killed process of the next test does. It
/// records at most a hundred trials, then waits to be killed, so that the
/// campaign cannot end before the test does.
#[test]
fn child_process_that_is_killed() {
    let Some(dir) = std::env::var_os(CHILD_DIR) else { return };
    let mut opened = Place::Named(PathBuf::from(dir)).open(&experiment(1_000), &terms()).unwrap();
    let missing: Vec<PlannedTrial> = opened.missing().into_iter().cloned().collect();
    for planned in &missing[..100] {
        opened.journal.append(&trial(planned)).unwrap();
    }
    loop {
        std::thread::park();
    }
}

fn start_child(dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_process_that_is_killed"])
        .env(CHILD_DIR, dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until the journal is longer than `bytes`, or the child ended.
fn wait_for_growth(journal: &Path, bytes: u64, child: &mut Child) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline
        && fs::metadata(journal).map_or(0, |m| m.len()) <= bytes
        && child.try_wait().unwrap().is_none()
    {
        std::thread::yield_now();
    }
}

#[test]
fn a_killed_run_goes_on_and_ends_with_every_trial_once() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("results");
    let journal = dir.join("trials.jsonl");
    for round in 0..12 {
        let before = fs::metadata(&journal).map_or(0, |m| m.len());
        let mut child = start_child(&dir);
        wait_for_growth(&journal, before + 700 * round, &mut child);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let experiment = experiment(1_000);
    let planned = {
        let opened = Place::Named(dir.clone()).open(&experiment, &terms()).unwrap();
        let ids: Vec<String> = opened.plan.trials.iter().map(|t| t.id.clone()).collect();
        assert!(opened.missing().len() < ids.len(), "no round recorded a trial");
        run_missing(opened).unwrap();
        ids
    };
    let results = Results::read(&dir).unwrap();
    let recorded: Vec<String> = results.trials.iter().map(|t| t.id.clone()).collect();
    assert_eq!(recorded, planned);
    assert!(results.finished.is_some());
}

/// A file system of its own; unmounted when dropped.
struct Mount(PathBuf);

impl Mount {
    /// Mounts a tmpfs with `options`, or says why the test is skipped.
    fn tmpfs(dir: &Path, options: &str, test: &str) -> Option<Self> {
        let output =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(dir).output();
        match output {
            Ok(output) if output.status.success() => Some(Self(dir.to_owned())),
            _ => {
                eprintln!("SKIPPED {test}: cannot mount a tmpfs (needs root)");
                None
            }
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_keeps_what_was_recorded_and_the_run_goes_on_after_it() {
    let root = tempfile::tempdir().unwrap();
    let test = "a_full_disk_keeps_what_was_recorded_and_the_run_goes_on_after_it";
    let Some(_mount) = Mount::tmpfs(root.path(), "size=64k", test) else { return };
    let dir = root.path().join("results");
    let filler = root.path().join("filler");
    fs::write(&filler, vec![0; 44 * 1_024]).unwrap();

    let experiment = experiment(12);
    let place = Place::Named(dir.clone());
    let error = run_missing(place.open(&experiment, &terms()).unwrap()).unwrap_err().to_string();
    assert!(error.contains("trials.jsonl") && error.contains("free some space"), "{error}");
    let recorded = Results::read(&dir).unwrap();
    assert!(!recorded.is_torn, "a half record was left behind");
    assert!(!recorded.trials.is_empty());

    fs::remove_file(&filler).unwrap();
    run_missing(place.open(&experiment, &terms()).unwrap()).unwrap();
    assert_eq!(Results::read(&dir).unwrap().trials.len(), 24);
}

#[test]
fn a_start_on_a_full_disk_leaves_nothing_behind() {
    let root = tempfile::tempdir().unwrap();
    let test = "a_start_on_a_full_disk_leaves_nothing_behind";
    let Some(_mount) = Mount::tmpfs(root.path(), "size=4k", test) else { return };
    fs::write(root.path().join("filler"), vec![0; 4_096]).unwrap();
    let error =
        Place::Named(root.path().join("results")).open(&experiment(2), &terms()).unwrap_err();
    assert!(error.to_string().contains("free some space"), "{error}");
    assert!(!root.path().join("results").exists());
}

#[test]
fn a_place_that_cannot_be_written_is_named_with_a_remedy() {
    let root = tempfile::tempdir().unwrap();
    let test = "a_place_that_cannot_be_written_is_named_with_a_remedy";
    let Some(_mount) = Mount::tmpfs(root.path(), "ro,size=64k", test) else { return };
    let error =
        Place::Named(root.path().join("results")).open(&experiment(2), &terms()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("cannot create") && text.contains("-o DIR"), "{text}");
}
