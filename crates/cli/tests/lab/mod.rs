//! What tests of the command share: a directory with a short experiment, and the program in it.

// not every test file uses all of it
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fwdlab_results::Results;

/// Short trials: these tests look at what is written, not at how fast it is.
pub const EXPERIMENT: &str = r#"
title = "radix against the modular FIB, in short"
device = "builtin"
baseline = "radix"
blocks = 3
warmup = "20ms"
duration = "300ms"
interval = "50ms"

[[variant]]
name = "radix"
set = { "net.route.algo.inet.algo" = "radix4" }

[[variant]]
name = "modular"
set = { "net.route.algo.inet.algo" = "auto" }

[[traffic]]
name = "inet"
source = "198.18.10.1-198.18.10.20:2000"
destination = "198.19.10.1-198.19.10.100:2000"
frame = "min"
load = "max"

[routes]
static = ["198.18.0.0/16 via 198.18.0.203", "198.19.0.0/16 via 198.19.0.203"]
"#;

/// What becomes of a short trial whose tester or device got no processor while it ran.
const STARVED: [&str; 2] = ["no frame came back of 0 sent", "none within a counting interval"];

pub struct Lab {
    pub dir: tempfile::TempDir,
}

impl Lab {
    pub fn new(experiment: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        fs::write(dir.path().join("short.toml"), experiment).expect("a writable directory");
        Self { dir }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
        command.args(arguments).current_dir(self.dir.path()).stdin(Stdio::null());
        // What a machine remembers of campaigns is not for tests.
        command.env("XDG_STATE_HOME", self.dir.path().join("state"));
        command
    }

    /// As from a terminal: SIGHUP counts, also where whoever runs the tests ignores it.
    pub fn command_that_hears(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("env");
        command.arg("--default-signal=HUP").arg(env!("CARGO_BIN_EXE_fwdlab"));
        command.args(arguments).current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    pub fn fwdlab(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary starts")
    }

    /// Measures a campaign to its end, and holds its exit code against the table of docs/ci.md: 0, or 1 where
    /// a trial FAILED. Only those may that got no processor from a busy machine.
    pub fn measured(&self, arguments: &[&str]) -> Output {
        let output = self.fwdlab(arguments);
        let stderr = text(&output.stderr);
        let readme = stderr.lines().find_map(|line| line.strip_prefix("report: "));
        let readme = readme.unwrap_or_else(|| panic!("no report: {stderr}"));
        let dir = self.path(readme).parent().expect("a directory").to_owned();
        let results = Results::read(&dir).expect("readable results");
        assert!(results.finished.is_some(), "{stderr}");
        for trial in results.trials.iter().filter(|trial| !trial.is_ok()) {
            let reason = trial.reason.as_deref().unwrap_or_default();
            assert!(STARVED.iter().any(|own| reason.contains(own)), "{reason}: {stderr}");
        }
        let wanted = if results.failed().is_empty() { 0 } else { 1 };
        assert_eq!(output.status.code(), Some(wanted), "{stderr}");
        output
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn ids(dir: &Path) -> Vec<String> {
    let results = Results::read(dir).expect("readable results");
    results.trials.into_iter().map(|trial| trial.id).collect()
}

/// Every file below `dir` with its content.
pub fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("a readable directory") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            let bytes = fs::read(&path).expect("a readable file");
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}
