//! How long a trial takes beside its traffic. It is printed, not asserted: it is this machine's.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::rig::{EXPERIMENT, Rig, is_long};

/// What each trial of an experiment took beyond `traffic`, in ms, sorted. A trial lasts from the
/// record of the one before to its own.
fn overheads(rig: &Rig, experiment: &str, traffic: Duration) -> Vec<f64> {
    let _ = std::fs::remove_dir_all(rig.results());
    let mut command = rig.command(experiment);
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut ends: Vec<Instant> = Vec::new();
    let journal = rig.results().join("trials.jsonl");
    while child.try_wait().expect("it is there").is_none() {
        let text = std::fs::read_to_string(&journal).unwrap_or_default();
        let count = text.matches("\"record\":\"trial\"").count();
        ends.resize_with(count, Instant::now);
        thread::sleep(Duration::from_millis(1));
    }
    rig.assert_finished(&child.wait_with_output().expect("it ended"));
    let mut all: Vec<f64> = ends
        .windows(2)
        .map(|pair| ((pair[1] - pair[0]).as_secs_f64() - traffic.as_secs_f64()) * 1e3)
        .collect();
    all.sort_by(f64::total_cmp);
    all
}

#[test]
fn what_a_trial_takes_beside_its_traffic() {
    if !is_long("what a trial takes beside its traffic") {
        return;
    }
    let Some(rig) = Rig::up("what a trial takes beside its traffic", &[]) else { return };
    let whole = EXPERIMENT.replace("blocks = 1", "blocks = 10\ncalibrate = \"0%\"");
    let unwarmed = whole.replace("warmup = \"100ms\"", "warmup = \"0ms\"");
    let most = whole.replace("\"20kpps\"", "\"max\"");
    for (name, experiment, traffic) in [
        ("20 kpps, warm-up", &whole, 300),
        ("20 kpps, no warm-up: 100 frames probe the way", &unwarmed, 200),
        ("the highest load, warm-up", &most, 300),
    ] {
        let all = overheads(&rig, experiment, Duration::from_millis(traffic));
        assert_eq!(all.len(), 19, "20 trials in a row");
        let [least, middle, most] = [0, all.len() / 2, all.len() - 1].map(|at| all[at]);
        eprintln!("{name}: {middle:.0} ms a trial beside its traffic ({least:.0} to {most:.0})");
        // Less than nothing would mean that traffic was cut short.
        assert!(middle > 0.0, "{all:?}");
    }
}
