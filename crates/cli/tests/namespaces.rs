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

/// Frames that an interface did not take were counted as sent: it was down, or they were shorter than a header.
#[test]
fn frames_of_a_capture_that_an_interface_refuses_are_not_sent() {
    let name = format!("replayed-{}", std::process::id());
    let ip = |words: &str| Command::new("ip").args(words.split(' ')).output();
    if !ip(&format!("netns add {name}")).is_ok_and(|output| output.status.success()) {
        eprintln!(
            "SKIPPED frames_of_a_capture_that_an_interface_refuses_are_not_sent: no network namespace"
        );
        return;
    }
    let lab = Lab::new("");
    let capture = |length: u8| {
        let head = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1].map(u32::to_le_bytes);
        let packet = [0, 0, u32::from(length), u32::from(length)].map(u32::to_le_bytes);
        [head.concat(), packet.concat(), vec![0xff; usize::from(length)]].concat()
    };
    fs::write(lab.path("whole.pcap"), capture(60)).expect("a file");
    fs::write(lab.path("short.pcap"), capture(9)).expect("a file");
    let sent = |file: &str| -> [u64; 2] {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &name, env!("CARGO_BIN_EXE_fwdlab"), "gen", "--json"]);
        command.args(["--interface", "a0", "--load", "1kpps", "--seconds", "0.1", "--pcap"]);
        let output = command.arg(lab.path(file)).output().expect("it starts");
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        ["sent", "refused"].map(|key| said[key].as_u64().expect("a count"))
    };
    let made = ip(&format!("-n {name} link add a0 type veth peer name a1"));
    assert!(made.is_ok_and(|output| output.status.success()));
    let down = sent("whole.pcap");
    for end in ["a0", "a1"] {
        ip(&format!("-n {name} link set {end} up")).expect("it starts");
    }
    let all = [down, sent("whole.pcap"), sent("short.pcap")];
    ip(&format!("netns del {name}")).expect("it starts");
    let [down, up, short] = all;
    assert!(down[0] == 0 && down[1] > 0, "{down:?}");
    assert!(up[0] > 0 && up[1] == 0, "{up:?}");
    assert!(short[0] == 0 && short[1] > 0, "{short:?}");
}
