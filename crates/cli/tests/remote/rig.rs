//! A testbed of namespaces for a test, and what is done to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use fwdlab_guard::Scratch;
use serde_json::Value;

/// The longest that anything may take on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A running rig; it is taken away when dropped. What a killed test leaves of it goes with the next rig,
/// and its directory, which holds a key, with the next fwdlab.
pub struct Rig {
    dir: Scratch,
}

/// Two variants and one traffic, with short trials.
pub const EXPERIMENT: &str = r#"
title = "A remote device"
device = "remote"
baseline = "loose"
blocks = 1
duration = "200ms"
warmup = "100ms"
interval = "40ms"
seed = 7

[[variant]]
name = "loose"
set = { "net.ipv4.conf.all.rp_filter" = 0 }

[[variant]]
name = "strict"
set = { "net.ipv4.conf.all.rp_filter" = 1 }

[[traffic]]
name = "inet"
source = "198.18.10.1-198.18.10.4:2000"
destination = "198.19.10.1-198.19.10.5:2000"
load = "20kpps"

[routes]
static = ["198.18.0.0/16 via 198.18.0.203", "198.19.0.0/16 via 198.19.0.203"]
"#;

/// [`EXPERIMENT`] with trials so long that something can happen in the middle.
pub fn long() -> String {
    EXPERIMENT.replace("duration = \"200ms\"", "duration = \"3s\"")
}

/// Says that also what takes long is to be tested.
pub const LONG: &str = "FWDLAB_LONG_TESTS";

/// Whether what takes long is tested too; else says that it is not.
pub fn is_long(name: &str) -> bool {
    let is_long = std::env::var_os(LONG).is_some();
    if !is_long {
        eprintln!("SKIPPED {name}: takes long; {LONG}=1 runs it");
    }
    is_long
}

/// fwdlab without what only a debugger reads: it travels to every tester of every rig.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let whole = env!("CARGO_BIN_EXE_fwdlab");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("remote-fwdlab");
        // Renamed into its place: another run may be using the one that is there.
        let new = path.with_extension(std::process::id().to_string());
        let stripped = Command::new("strip").arg("-o").arg(&new).arg(whole).status();
        if !stripped.is_ok_and(|status| status.success()) {
            fs::copy(whole, &new).expect("copied");
        }
        fs::rename(&new, &path).expect("renamed");
        path
    })
}

pub fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/remote-rig.sh")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Rig {
    /// A rig, or nothing with a word why.
    pub fn up(name: &str, arguments: &[&str]) -> Option<Self> {
        let is_root = fs::read_to_string("/proc/self/status")
            .is_ok_and(|status| status.lines().any(|line| line.starts_with("Uid:\t0\t")));
        if !is_root {
            eprintln!("SKIPPED {name}: needs root");
            return None;
        }
        if !Path::new("/usr/sbin/sshd").exists() {
            eprintln!("SKIPPED {name}: no sshd; apt-get install openssh-server");
            return None;
        }
        let rig = Self { dir: Scratch::new().expect("a directory") };
        let mut command = Command::new(script());
        command.arg("up").arg(rig.dir()).args(arguments);
        command.args(["--of", &std::process::id().to_string()]);
        let made = command.output().expect("the script starts");
        if !made.status.success() {
            let said = text(&made.stderr);
            // Without namespaces there is nothing to test; whatever else is wrong is a fault.
            let is_unable = said.contains("Operation not permitted");
            assert!(is_unable, "{said}");
            eprintln!("SKIPPED {name}: {}", said.trim());
            return None;
        }
        let program = format!("os = \"linux\"\nprogram = {:?}", program());
        rig.edit("testbed.toml", "os = \"linux\"", &program);
        Some(rig)
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn results(&self) -> PathBuf {
        self.dir().join("results")
    }

    /// Changes the testbed file.
    pub fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.dir().join(file);
        let before = fs::read_to_string(&path).expect("the file is there");
        assert!(before.contains(from), "{before}");
        fs::write(path, before.replace(from, to)).expect("writable");
    }

    /// Adds to a file of the rig.
    pub fn append(&self, file: &str, more: &str) {
        let path = self.dir().join(file);
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, before + more).expect("writable");
    }

    /// A command on the machine of a role, past ssh.
    pub fn on(&self, role: &str, command: &str) -> String {
        let mut process = Command::new(script());
        process.arg("in").arg(self.dir()).args([role, "sh", "-c", command]);
        let said = process.output().expect("the script starts");
        text(&said.stdout)
    }

    /// fwdlab where the machines can be reached.
    pub fn fwdlab(&self) -> Command {
        let mut command = Command::new(script());
        command.arg("run").arg(self.dir()).arg(env!("CARGO_BIN_EXE_fwdlab"));
        command.env("USER", "canary-user");
        command
    }

    /// The command that runs an experiment.
    pub fn command(&self, experiment: &str) -> Command {
        let file = self.dir().join("experiment.toml");
        fs::write(&file, experiment).expect("writable");
        let mut command = self.fwdlab();
        command.args(["run", "-q", "-o"]).arg(self.results()).arg(&file);
        command.arg("--testbed").arg(self.dir().join("testbed.toml"));
        command
    }

    pub fn run(&self, experiment: &str) -> Output {
        self.command(experiment).output().expect("it starts")
    }

    /// Runs an experiment and does something in the middle of a trial.
    pub fn run_and(&self, experiment: &str, disturb: impl FnOnce(&Self, &Child)) -> Output {
        let mut command = self.command(experiment);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("it starts");
        self.wait_for_traffic();
        disturb(self, &child);
        child.wait_with_output().expect("it ends")
    }

    /// Waits until the measured frames come through, which are more than those of a probe.
    pub fn wait_for_traffic(&self) {
        let start = Instant::now();
        let count = || {
            let counter = "cat /sys/class/net/port0/statistics/rx_packets";
            self.on("dut", counter).trim().parse::<u64>().unwrap_or(0)
        };
        // What the tester sends alone, to find its limit, comes in a burst: look for a steady rate.
        let mut steady = 0;
        let mut before = count();
        while steady < 4 {
            assert!(start.elapsed() < PATIENCE, "no traffic comes through");
            std::thread::sleep(Duration::from_millis(100));
            let now = count();
            let more = now - before;
            steady = if (150..60_000).contains(&more) { steady + 1 } else { 0 };
            before = now;
        }
    }

    /// The journal's records.
    pub fn journal(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.results().join("trials.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// Records of this kind.
    pub fn records(&self, kind: &str) -> Vec<Value> {
        self.journal().into_iter().filter(|record| record["record"] == kind).collect()
    }

    /// The kinds of all failures, in order; each is printed as docs/remote.md has it.
    pub fn failures(&self) -> Vec<String> {
        self.tell_failures();
        let kind = |record: &Value| record["failure"]["kind"].as_str().map(str::to_owned);
        self.journal().iter().filter_map(kind).collect()
    }

    fn tell_failures(&self) {
        for record in self.journal().iter().filter(|record| record["failure"].is_object()) {
            let failure = &record["failure"];
            eprintln!("{}: {}; {}", failure["kind"], record["reason"], failure["remedies"]);
        }
    }

    /// Fails unless the campaign is finished and every trial is good.
    pub fn assert_finished(&self, output: &Output) {
        let said = text(&output.stderr);
        let trials = self.records("trial");
        let bad: Vec<&Value> = trials.iter().filter(|trial| trial["status"] != "ok").collect();
        assert!(
            bad.is_empty(),
            "{:?}\n{said}",
            bad.iter().map(|t| &t["reason"]).collect::<Vec<_>>()
        );
        assert!(output.status.success(), "{said}");
        assert_eq!(self.records("finished").len(), 1, "{said}");
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = Command::new(script()).arg("down").arg(self.dir()).status();
    }
}
