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
