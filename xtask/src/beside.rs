//! What runs beside the lints and tests: all that builds in a folder of its own.

use crate::deadline::Deadline;
use crate::programs::HUNG;
use crate::steps::{Tally, cargo, heading, tests};
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// What fuzz targets are fed.
pub(super) struct Inputs {
    /// For each target; 0 leaves them out.
    pub(super) seconds: u32,
    /// Where they begin; anew each time without it.
    pub(super) seed: Option<u32>,
}

/// The process that does it.
pub(super) struct Beside {
    child: Child,
    tally: PathBuf,
    log: PathBuf,
    deadline: Option<Deadline>,
}

impl Beside {
    pub(super) fn start(root: &Path, inputs: &Inputs, deadline: Option<Deadline>) -> Result<Self> {
        let place = root.join("target");
        let (tally, log) = (place.join("beside.json"), place.join("beside.log"));
        fs::create_dir_all(&place)?;
        if tally.exists() {
            fs::remove_file(&tally)?;
        }
        let output = File::create(&log).with_context(|| format!("cannot write {log:?}"))?;
        // The tests come first: some of them wait for each other.
        let mut command = match deadline {
            None => Command::new("nice"),
            Some(end) => {
                let mut command = Command::new("timeout");
                command.args(["--kill-after=5", &end.left().as_secs().to_string(), "nice"]);
                command
            }
        };
        command
            .args(["-n", "5"])
            .arg(std::env::current_exe()?)
            .args(["test", "--fuzz-seconds", &inputs.seconds.to_string()])
            .args(inputs.seed.is_none().then_some("--fresh"))
            .arg("--beside")
            .arg(&tally)
            .stderr(output.try_clone()?)
            .stdout(output);
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        Ok(Self { child, tally, log, deadline })
    }

    /// Waits, shows what it said, and returns what came of it: of the steps that found time.
    pub(super) fn finish(mut self) -> Result<Tally> {
        let status = self.child.wait()?;
        print!("{}", String::from_utf8_lossy(&fs::read(&self.log)?));
        let text = fs::read_to_string(&self.tally)
            .with_context(|| format!("what runs beside the tests ended with {status}"))?;
        let mut tally: Tally =
            serde_json::from_str(&text).with_context(|| format!("cannot read {:?}", self.tally))?;
        if let Some(end) = self.deadline.filter(|_| status.code() == Some(HUNG)) {
            let what = format!("the rest of what runs beside the tests: {}", end.reason());
            println!("SKIPPED {what}");
            tally.skip(&what);
        }
        Ok(tally)
    }
}

impl Drop for Beside {
    /// Ends with the tests, also where those could not go on; one that has ended stays as it is.
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

/// Runs it here and writes what came of it.
pub(super) fn run(root: &Path, inputs: &Inputs, file: &Path) -> Result<bool> {
    let mut tally = Tally::default();
    let save = |tally: &Tally| {
        // Whole or not at all: the next step may be cut off.
        let part = file.with_extension("part");
        fs::write(&part, serde_json::to_vec(tally)?)
            .and_then(|()| fs::rename(&part, file))
            .with_context(|| format!("cannot write {}", file.display()))
    };
    save(&tally)?;
    heading("cost of a frame with and without link-time optimisation");
    match crate::cost::obstacle() {
        Some(reason) => tally.skip(&format!("cost: {reason}")),
        None if crate::cost::check()? => tally.passed += 1,
        None => tally.broken_steps.push("cost".to_owned()),
    }
    save(&tally)?;
    heading("README");
    for fault in crate::readme::faults(root)? {
        println!("{fault}");
        tally.broken_steps.push(fault);
    }
    save(&tally)?;
    let readers = ["fwdlab-fib", "--lib", "loom"];
    let queue = ["fwdlab-port", "--test", "loom_ring"];
    for model in [&readers[..], &queue[..]] {
        let mut models = cargo(&["test", "--target-dir"]);
        models.arg(root.join("target/loom"));
        // What is modelled takes microseconds of what the models take: optimising it takes longer.
        for package in ["fib", "port", "wire"] {
            let own = format!("profile.dev.package.fwdlab-{package}.opt-level=1");
            models.args(["--config", &own]);
        }
        models.arg("-p").args(model).args(["--", "--show-output"]);
        tests(&mut tally, "models of lock-free code", models.env("RUSTFLAGS", "--cfg loom"))?;
    }
    save(&tally)?;
    heading("calibration");
    tally.hold("calibration", crate::calibrate::run(root, &crate::calibrate::Args::quick())?);
    save(&tally)?;
    fuzz(&mut tally, root, inputs)?;
    save(&tally)?;
    Ok(true)
}

/// Every fuzz target for a while; each counts as one test. They need LLVM's counters, which are
/// tried on x86-64 and 64-bit ARM only.
fn fuzz(tally: &mut Tally, root: &Path, inputs: &Inputs) -> Result<()> {
    let seconds = inputs.seconds;
    heading("fuzz targets");
    if seconds == 0 {
        tally.skip("fuzz targets: left out by --fuzz-seconds 0");
        return Ok(());
    }
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        tally.skip("fuzz targets: not tried on this architecture");
        return Ok(());
    }
    for outcome in crate::fuzz::outcomes(root, &crate::fuzz::Args::all(seconds, inputs.seed))? {
        println!("{}", outcome.line());
        match outcome.fault {
            None => tally.passed += 1,
            Some(_) => {
                tally.failed += 1;
                tally.broken_steps.push(format!("fuzz {}", outcome.target));
            }
        }
    }
    Ok(())
}
