//! What the linux device makes on a machine is gone after every end of a run.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]

mod lab;

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lab::{EXPERIMENT, Lab};

const PATIENCE: Duration = Duration::from_secs(120);

/// Names of the namespaces that a process made.
fn namespaces(process: u32) -> Vec<String> {
    let mark = format!("fwdlab-{process}-");
    let Ok(entries) = fs::read_dir("/run/netns") else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| name.starts_with(&mark)).collect()
}

fn wait(mut what: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

fn lab() -> Lab {
    let text = EXPERIMENT
        .replace("device = \"builtin\"", "device = \"linux\"")
        .replace("blocks = 3", "blocks = 200")
        .replace(
            "\"net.route.algo.inet.algo\" = \"radix4\"",
            "\"net.ipv4.conf.all.rp_filter\" = \"0\"",
        )
        .replace(
            "\"net.route.algo.inet.algo\" = \"auto\"",
            "\"net.ipv4.conf.all.rp_filter\" = \"1\"",
        );
    Lab::new(&text)
}

/// Starts a run and waits until it has namespaces; says why the test is skipped when it cannot.
fn started(lab: &Lab, test: &str) -> Option<Child> {
    let mut child = lab
        .command_that_hears(&["run", "short.toml", "-o", "out"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let id = child.id();
    let mut has_ended = false;
    let start = Instant::now();
    while namespaces(id).len() < 2 && !has_ended && start.elapsed() < PATIENCE {
        has_ended = child.try_wait().expect("a process").is_some();
        std::thread::sleep(Duration::from_millis(5));
    }
    if has_ended {
        child.wait().expect("an ended process");
        eprintln!("SKIPPED {test}: the linux device needs root and network namespaces");
        return None;
    }
    Some(child)
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status();
    assert!(sent.is_ok_and(|status| status.success()));
}

#[test]
fn a_signal_ends_a_run_without_leftovers_and_so_does_a_second_one() {
    let test = "a_signal_ends_a_run_without_leftovers_and_so_does_a_second_one";
    for signals in [["TERM"].as_slice(), &["HUP"], &["INT", "INT"], &["TERM", "INT"]] {
        let lab = lab();
        let Some(mut child) = started(&lab, test) else { return };
        for name in signals {
            signal(&child, name);
        }
        assert!(wait(|| child.try_wait().expect("a process").is_some()), "{signals:?}");
        assert_eq!(namespaces(child.id()), [""; 0], "{signals:?}");
    }
}

/// Kills runs and lets the next command, of any kind, clean up.
fn kills(wanted: u32, test: &str) {
    for round in 0..wanted {
        let lab = lab();
        let Some(mut child) = started(&lab, test) else { return };
        std::thread::sleep(Duration::from_millis(u64::from(round * 37 % 700)));
        child.kill().expect("a running process");
        child.wait().expect("an ended process");
        assert_eq!(lab.fwdlab(&["examples"]).status.code(), Some(0));
        // Another command may be removing them now.
        assert!(wait(|| namespaces(child.id()).is_empty()), "{:?}", namespaces(child.id()));
    }
}

#[test]
fn the_next_command_removes_what_a_killed_run_left() {
    kills(3, "the_next_command_removes_what_a_killed_run_left");
}

#[test]
#[ignore = "takes some minutes"]
fn the_next_command_removes_what_a_hundred_killed_runs_left() {
    kills(100, "the_next_command_removes_what_a_hundred_killed_runs_left");
}
