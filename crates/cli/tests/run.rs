//! `fwdlab run` as a user starts it: results, resuming after a kill, refusals.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]

mod lab;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use fwdlab_results::Results;
use lab::{EXPERIMENT, Lab, contents, ids, text};

#[test]
fn a_run_prints_its_verdict_and_leaves_a_report_that_can_be_made_again() {
    let lab = Lab::new(EXPERIMENT);
    let output = lab.measured(&["run", "short.toml"]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(stdout.contains("IPv4: "), "{stdout}");
    // Where others have the cores it says so instead.
    assert!(stdout.contains("1.00 %") || stdout.contains("cores taken"), "{stdout}");

    let dir = lab.path("results/short");
    assert_eq!(ids(&dir).len(), 6);
    for name in ["README.md", "graph.svg", "gnuplot.data", "environment.json"] {
        assert!(dir.join(name).exists(), "{name} is missing");
    }
    // What this build leaves out is missing and named.
    let draws_pictures = cfg!(feature = "png");
    assert_eq!(dir.join("graph.png").exists(), draws_pictures);
    let note = "left out of this build: ";
    let named = stderr.lines().any(|line| line.contains(note) && line.contains("PNG"));
    assert_eq!(named, !draws_pictures, "{stderr}");
    let before = contents(&dir);
    for (path, _) in &before {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !["trials.jsonl", "experiment.toml", "environment.json"].contains(&name) {
            fs::remove_file(path).expect("a removable file");
        }
    }
    let again = lab.fwdlab(&["report", "results/short"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(before == contents(&dir), "the report is not the same when made again");
}

/// Programs of tests that need what a build may leave out have no tests without it.
#[test]
fn what_this_build_left_out_is_named_and_its_tests_are_skipped() {
    let doctor = Lab::new(EXPERIMENT).fwdlab(&["doctor"]);
    let said = text(&doctor.stdout);
    let is_left_out = said.contains("left out of this build") && said.contains("device = \"vm\"");
    assert_eq!(is_left_out, cfg!(not(feature = "vm")), "{said}");
    let help = text(&Lab::new(EXPERIMENT).fwdlab(&["init", "--help"]).stdout);
    let is_named = help.contains("left out of this build");
    assert_eq!(is_named, cfg!(not(feature = "vm")), "{help}");
    for program in ["vm", "freebsd"] {
        if cfg!(not(feature = "vm")) {
            eprintln!("SKIPPED {program}: left out of this build (--features vm)");
        }
    }
}

/// The processes that this one has started; none where the system does not say.
fn children(parent: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    list.unwrap_or_default().split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

#[test]
fn a_killed_run_goes_on_where_it_stopped() {
    let lab = Lab::new(EXPERIMENT);
    let mut first = lab
        .command(&["run", "short.toml", "-o", "out"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let journal = lab.path("out/trials.jsonl");
    // Trials that ran again have records of their own, before those that count.
    let recorded = || {
        let text = fs::read_to_string(&journal).unwrap_or_default();
        text.lines().filter(|line| line.starts_with(r#"{"record":"trial""#)).count()
    };
    let start = Instant::now();
    // Two trials; then in the middle of the next comes SIGKILL.
    while recorded() < 2 && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let children = children(first.id());
    first.kill().expect("a running process");
    first.wait().expect("an ended process");
    // The process in which the trial ran ends with it.
    let start = Instant::now();
    let is_running = |id: &u32| Path::new(&format!("/proc/{id}/exe")).exists();
    while children.iter().any(is_running) && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!children.iter().any(is_running), "{children:?} go on");
    let kept = ids(&lab.path("out"));
    assert!((2..6).contains(&kept.len()), "{kept:?}");

    let output = lab.measured(&["run", "short.toml", "-o", "out"]);
    let stderr = text(&output.stderr);
    assert!(stderr.contains(&format!("{} of 6 trials are recorded", kept.len())), "{stderr}");
    let all = ids(&lab.path("out"));
    assert_eq!(all[..kept.len()], kept[..]);
    let distinct: BTreeSet<&String> = all.iter().collect();
    let planned = Results::read(&lab.path("out")).expect("readable results").campaign.trials;
    assert_eq!((all.len(), distinct), (6, planned.iter().collect()));
}

#[test]
fn a_pilot_tells_how_many_blocks_are_needed() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 8"));
    let output = lab.fwdlab(&["plan", "short.toml", "--pilot", "2"]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    assert!(stderr.contains("spread taken from results/pilot/short"), "{stderr}");
    assert!(stdout.contains("modular"), "{stdout}");
    assert_eq!(ids(&lab.path("results/pilot/short")).len(), 4);
    assert!(!lab.path("results/short").exists());
}

#[test]
fn a_finished_result_is_not_overwritten() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 2"));
    lab.measured(&["run", "short.toml", "-o", "out"]);
    let before = contents(&lab.path("out"));
    let output = lab.fwdlab(&["run", "short.toml", "-o", "out"]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("out already holds finished results"), "{stderr}");
    assert!(stderr.contains("-o DIR"), "{stderr}");
    assert!(before == contents(&lab.path("out")), "a finished result was changed");
}

#[test]
fn a_wrong_experiment_file_is_refused_with_its_line_and_a_remedy() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocsk = 3"));
    let output = lab.fwdlab(&["run", "short.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stdout), "");
    let stderr = text(&output.stderr);
    assert!(stderr.starts_with("error: short.toml:5:1"), "{stderr}");
    assert!(stderr.contains("did you mean blocks?"), "{stderr}");
    assert!(!lab.path("results").exists(), "something was made");
}

#[test]
fn a_directory_that_cannot_be_made_is_an_error_with_a_remedy() {
    let lab = Lab::new(EXPERIMENT);
    let output = lab.fwdlab(&["run", "short.toml", "-o", "/proc/no-such-place"]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("/proc/no-such-place"), "{stderr}");
    assert!(stderr.contains("-o DIR") || stderr.contains("check the path"), "{stderr}");
}

#[test]
fn a_missing_experiment_file_is_named() {
    let lab = Lab::new(EXPERIMENT);
    let output = lab.fwdlab(&["run", "absent.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("absent.toml"), "{}", text(&output.stderr));
}

/// The first experiment with flapping routes, short.
const CHURN: &str = r#"
title = "routes flap, in short"
baseline = "bsearch"
blocks = 1
warmup = "20ms"
duration = "300ms"
interval = "50ms"
latency = true
allow = ["saturation", "generator-limit"]

[churn]
flap = 200
rates = [0, 500]

[[variant]]
name = "bsearch"
set = { "net.route.algo.inet.algo" = "bsearch4" }

[[variant]]
name = "direct"
set = { "net.route.algo.inet.algo" = "direct4" }

[[traffic]]
name = "inet"
source = "198.18.10.1-198.18.10.20:2000"
destination = "198.19.10.1-198.19.10.100:2000"
load = "20kpps"

[routes]
static = ["198.18.0.0/16 via 198.18.0.203", "198.19.0.0/16 via 198.19.0.203"]
generate = 5000
"#;

#[test]
fn routes_change_while_frames_flow_and_the_report_says_what_came_of_it() {
    let lab = Lab::new(CHURN);
    let output = lab.fwdlab(&["run", "-q", "-o", "results", "short.toml"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let results = Results::read(&lab.dir.path().join("results")).expect("results");
    assert!(results.finished.is_some(), "{said}");
    for trial in &results.trials {
        assert!(trial.is_ok(), "{}: {:?}", trial.id, trial.reason);
        let churn = trial.measured.churn.as_ref().expect("changes are recorded");
        assert_eq!(churn.refused, 0, "{churn:?}");
        if trial.traffic == "inet-0" {
            assert_eq!((churn.changes, churn.switches), (0, 0), "{churn:?}");
            continue;
        }
        assert!(churn.changes > 0 && churn.switches > 0, "{churn:?}");
        assert!(churn.visible <= churn.changes, "{churn:?}");
        assert!(churn.visible_p50_ns <= churn.visible_p99_ns, "{churn:?}");
        assert!(churn.visible_p99_ns <= churn.visible_max_ns, "{churn:?}");
        // One algorithm takes each change, the other is built anew for all.
        match trial.variant.as_str() {
            "direct" => assert_eq!(churn.visible, churn.changes, "{churn:?}"),
            _ => assert!(churn.visible < churn.changes || churn.builds > 0, "{churn:?}"),
        }
    }
    let page = fs::read_to_string(lab.dir.path().join("results/README.md")).expect("a report");
    assert!(page.contains("## Changes of routes") && page.contains("inet-500"), "{page}");
}

#[test]
fn a_campaign_tells_how_its_own_truths_came_out_and_the_next_one_remembers() {
    let experiment = EXPERIMENT
        .replace("blocks = 3", "blocks = 8")
        .replace("\"300ms\"", "\"100ms\"")
        .replace("\"50ms\"", "\"20ms\"");
    let lab = Lab::new(&experiment);
    let run = |to: &str| {
        let options = ["-o", to, "--state", "state", "--calibrate-share", "50"];
        let output = lab.fwdlab(&[&["run", "-q", "short.toml"], &options[..]].concat());
        assert!(output.status.code().is_some_and(|code| code < 2), "{}", text(&output.stderr));
        Results::read(&lab.path(to)).expect("readable results")
    };
    let first = run("one");
    assert_eq!((first.trials.len(), first.known.len()), (16, 16));
    let slower = first.known.iter().find(|trial| trial.variant == "~slower").expect("a slowdown");
    assert_eq!(slower.measured.proof["fwdlab.device.extra_ns_per_frame"], "1");
    let readme = fs::read_to_string(lab.path("one/README.md")).expect("a report");
    assert!(readme.contains("own truths"), "{readme}");
    let state = fs::read_to_string(lab.path("state/truths.jsonl")).expect("a memory");
    assert_eq!(state.lines().count(), 1, "{state}");
    let second = run("two");
    let earlier = second.finished.expect("finished").earlier_truths;
    assert_eq!(earlier.len(), 2, "{earlier}");
    assert_eq!(fs::read_to_string(lab.path("state/truths.jsonl")).expect("one").lines().count(), 2);
    let check = lab.fwdlab(&["report", "--check", "two"]);
    assert_eq!(check.status.code(), Some(0), "{}", text(&check.stdout));
    // Bent, it is found.
    let journal = lab.path("two/trials.jsonl");
    let lines = fs::read_to_string(&journal).expect("a journal");
    fs::write(&journal, lines.replacen("~same", "~slower", 1)).expect("a writable journal");
    assert_eq!(lab.fwdlab(&["report", "--check", "two"]).status.code(), Some(1));
}
