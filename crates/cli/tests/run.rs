//! `fwdlab run` as a user starts it: results, resuming after a kill, refusals.

mod lab;

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use fwdlab_results::Results;
use lab::{EXPERIMENT, Lab, contents, ids, text};

#[test]
fn a_run_prints_its_verdict_and_leaves_a_report_that_can_be_made_again() {
    let lab = Lab::new(EXPERIMENT);
    let output = lab.fwdlab(&["run", "short.toml"]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("IPv4: "), "{stdout}");
    assert!(stdout.contains("1.00 %"), "{stdout}");

    let dir = lab.path("results/short");
    assert_eq!(ids(&dir).len(), 6);
    for name in ["README.md", "graph.svg", "graph.png", "gnuplot.data", "environment.json"] {
        assert!(dir.join(name).exists(), "{name} is missing");
    }
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
    first.kill().expect("a running process");
    first.wait().expect("an ended process");
    let kept = ids(&lab.path("out"));
    assert!((2..6).contains(&kept.len()), "{kept:?}");

    let output = lab.fwdlab(&["run", "short.toml", "-o", "out"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
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
    assert_eq!(lab.fwdlab(&["run", "short.toml", "-o", "out"]).status.code(), Some(0));
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
