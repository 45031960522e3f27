//! `cargo xtask test`: one command that says whether the tree is good.
//!
//! Tests that cannot run here print a line `SKIPPED <name>: <reason>`; those are collected and
//! counted, so that a skip is never silent.

use crate::programs::{self, Ended, Program};
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// What to leave out.
#[derive(clap::Args)]
pub struct Args {
    /// Only the tests: no format check, lints or model checks
    #[arg(long)]
    only_tests: bool,
    /// Seconds for each fuzz target, 60 in the long form; 0 leaves them out
    #[arg(long, default_value_t = 12)]
    fuzz_seconds: u32,
    /// Draw fuzz inputs and property tests' cases anew, as `cargo test` and `cargo xtask fuzz` do;
    /// without it they are the same each time, so that what passed passes again
    #[arg(long)]
    fresh: bool,
}

/// Where drawn cases begin without `--fresh`.
const SEED: u32 = 1;

/// What the test runs said, added up.
#[derive(Default)]
struct Tally {
    passed: u64,
    failed: u64,
    skipped: Vec<String>,
    broken_steps: Vec<String>,
}

impl Tally {
    /// A step that cannot run here: as the test runner counts a skipped test, once as passed too.
    fn skip(&mut self, what: &str) {
        self.passed += 1;
        self.skipped.push(what.to_owned());
    }
}

/// Runs every step, prints the tally, and returns whether all is well.
pub fn run(root: &Path, arguments: &Args) -> Result<bool> {
    let mut tally = Tally::default();
    let before = checkout(root);
    if !arguments.only_tests {
        step(&mut tally, "format", cargo(&["fmt", "--all", "--check"]))?;
        let lints = [
            "clippy",
            "--workspace",
            "--all-targets",
            "--all-features",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ];
        step(&mut tally, "lints", cargo(&lints))?;
        heading("layers");
        if !crate::layers::check(root)? {
            tally.broken_steps.push("layers".to_owned());
        }
        let mut supply = Command::new(std::env::current_exe()?);
        supply.arg("supply");
        tests(&mut tally, "licences, bans, sources and advisories", &mut supply)?;
        let mut calibration = Command::new(std::env::current_exe()?);
        calibration.args(["calibrate", "--quick"]);
        step(&mut tally, "calibration", calibration)?;
        heading("cost of a frame with and without link-time optimisation");
        match crate::cost::obstacle() {
            Some(reason) => tally.skip(&format!("cost: {reason}")),
            None if crate::cost::check()? => tally.passed += 1,
            None => tally.broken_steps.push("cost".to_owned()),
        }
        heading("README");
        for fault in crate::readme::faults(root)? {
            println!("{fault}");
            tally.broken_steps.push(fault);
        }
        let readers = ["fwdlab-fib", "--lib", "loom"];
        let queue = ["fwdlab-port", "--test", "loom_ring"];
        for model in [&readers[..], &queue[..]] {
            let mut models = cargo(&["test", "--target-dir"]);
            models
                .arg(root.join("target/loom"))
                .arg("-p")
                .args(model)
                .args(["--", "--show-output"]);
            tests(&mut tally, "models of lock-free code", models.env("RUSTFLAGS", "--cfg loom"))?;
        }
    }
    if !arguments.only_tests {
        fuzz(&mut tally, root, arguments)?;
    }
    all(&mut tally, root, arguments)?;
    if let (Some(before), Some(after)) = (before, checkout(root))
        && before != after
    {
        println!("the tests changed the checkout; before:\n{before}after:\n{after}");
        tally.broken_steps.push("the checkout is as it was".to_owned());
    }
    Ok(report(&tally))
}

/// The workspace's tests: programs first, several at a time, then the examples in documents.
fn all(tally: &mut Tally, root: &Path, arguments: &Args) -> Result<()> {
    let prepare = |command: &mut Command| {
        if !arguments.only_tests && arguments.fuzz_seconds > 0 {
            // The router's malformed frames are no target of their own: they need two routers.
            command.env("FWDLAB_FUZZ_SECONDS", arguments.fuzz_seconds.to_string());
        }
        if !arguments.fresh {
            command.env("PROPTEST_RNG_SEED", SEED.to_string()).env("FWDLAB_SEED", SEED.to_string());
        }
        // What a machine remembers of campaigns is not for tests.
        command.env("XDG_STATE_HOME", root.join("target/state"));
    };
    heading("tests");
    let whole = ["test", "--workspace", "--all-features"];
    let Some(built) = programs::build(root, cargo(&whole))? else {
        tally.broken_steps.push("tests do not compile".to_owned());
        return Ok(());
    };
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let show = |command: &mut Command| {
        command.arg("--show-output").stderr(Stdio::piped());
        prepare(command);
    };
    programs::run(built, jobs, show, |end| {
        let Ended { program, output, took } = end;
        print!("{}", String::from_utf8_lossy(&output.stderr));
        let mut listener = Listener::default();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            listener.hear(tally, line);
        }
        let Program { name, .. } = program;
        println!("{name}: {}, {:.0} s", output.status, took.as_secs_f64());
        if !output.status.success() {
            tally.broken_steps.push(name);
        }
    })?;
    let mut documents = cargo(&whole);
    documents.args(["--no-fail-fast", "--doc", "--", "--show-output"]);
    prepare(&mut documents);
    tests(tally, "examples in documents", &mut documents)
}

/// What git says of the files; nothing outside a checkout.
fn checkout(root: &Path) -> Option<String> {
    let mut git = Command::new("git");
    let output = git.args(["status", "--porcelain"]).current_dir(root).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = crate::cargo();
    command.args(arguments);
    command
}

fn heading(name: &str) {
    println!("== {name}");
}

/// A step that passes or fails as a whole.
fn step(tally: &mut Tally, name: &str, mut command: Command) -> Result<()> {
    heading(name);
    if !command.status().with_context(|| format!("cannot start {command:?}"))?.success() {
        tally.broken_steps.push(name.to_owned());
    }
    Ok(())
}

/// A run of cargo's test runner, its output passed on without the noise of passing tests.
fn tests(tally: &mut Tally, name: &str, command: &mut Command) -> Result<()> {
    heading(name);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))?;
    let stdout = child.stdout.take().context("invariant: stdout was piped")?;
    let mut reader = BufReader::new(stdout);
    let (mut line, mut listener) = (Vec::new(), Listener::default());
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        listener.hear(tally, &String::from_utf8_lossy(&line));
    }
    if !child.wait()?.success() {
        tally.broken_steps.push(name.to_owned());
    }
    Ok(())
}

/// Hears a test runner line by line and says what is worth reading.
#[derive(Default)]
struct Listener {
    in_successes: bool,
}

impl Listener {
    fn hear(&mut self, tally: &mut Tally, line: &str) {
        let text = line.trim_end();
        self.in_successes = match text {
            "successes:" => true,
            "failures:" => false,
            _ => self.in_successes && !text.starts_with("test result:"),
        };
        count(tally, text);
        if !self.in_successes && !text.is_empty() && !text.ends_with("... ok") {
            println!("{text}");
        }
    }
}

/// Adds what one line of the test runner says.
fn count(tally: &mut Tally, line: &str) {
    if let Some(skip) = line.strip_prefix("SKIPPED ") {
        tally.skipped.push(skip.to_owned());
    }
    let Some(result) = line.strip_prefix("test result: ") else { return };
    for part in result.split(['.', ';']) {
        let mut words = part.split_whitespace();
        if let (Some(Ok(number)), Some(word)) = (words.next().map(str::parse::<u64>), words.next())
        {
            match word {
                "passed" => tally.passed += number,
                "failed" => tally.failed += number,
                _ => {}
            }
        }
    }
}

/// Every fuzz target for a while; each counts as one test. They need LLVM's counters, which are
/// tried on x86-64 and 64-bit ARM only.
fn fuzz(tally: &mut Tally, root: &Path, arguments: &Args) -> Result<()> {
    let seconds = arguments.fuzz_seconds;
    heading("fuzz targets");
    if seconds == 0 {
        tally.skip("fuzz targets: left out by --fuzz-seconds 0");
        return Ok(());
    }
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        tally.skip("fuzz targets: not tried on this architecture");
        return Ok(());
    }
    let seed = (!arguments.fresh).then_some(SEED);
    for outcome in crate::fuzz::outcomes(root, &crate::fuzz::Args::all(seconds, seed))? {
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

fn report(tally: &Tally) -> bool {
    heading("summary");
    for skip in &tally.skipped {
        println!("SKIPPED {skip}");
    }
    for name in &tally.broken_steps {
        println!("FAILED {name}");
    }
    // A skipped test returns early and so counts as passed with the runner: do not count it twice.
    let skipped = tally.skipped.len() as u64;
    let passed = tally.passed.saturating_sub(skipped);
    let failed = tally.failed.max(tally.broken_steps.len() as u64);
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    failed == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_skips_are_added_up() {
        let mut tally = Tally::default();
        count(
            &mut tally,
            "test result: ok. 12 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out",
        );
        count(&mut tally, "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured");
        count(&mut tally, "SKIPPED full_table: no table here");
        assert_eq!((tally.passed, tally.failed, tally.skipped.len()), (15, 1, 1));
    }

    #[test]
    fn a_broken_step_fails_the_whole() {
        let tally = Tally { broken_steps: vec!["lints".to_owned()], ..Tally::default() };
        assert!(!report(&tally));
    }
}
