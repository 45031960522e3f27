//! `cargo xtask test`: one command that says whether the tree is good.
//!
//! Tests that cannot run here print a line `SKIPPED <name>: <reason>`; those are collected and
//! counted, so that a skip is never silent.
//!
//! Linkers, guests and hosts leave processors idle. So what has a build folder of its own
//! (calibration, cost, README, models, fuzz targets) runs beside the lints and tests, in a process
//! that gives way to them.

use crate::again::Failures;
use crate::beside::{self, Beside};
use crate::deadline::{self, Deadline};
use crate::programs::{self, Ended, Outcome, Program};
use crate::steps::{Listener, Tally, cargo, heading, report, step, tests};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What to leave out.
#[derive(clap::Args)]
pub struct Args {
    /// Only the tests: no format check, lints or model checks
    #[arg(long)]
    only_tests: bool,
    /// Seconds for each fuzz target, 60 in the long form; 0 leaves them out
    #[arg(long, default_value_t = 6)]
    fuzz_seconds: u32,
    /// Draw fuzz inputs and property tests' cases anew, as `cargo test` and `cargo xtask fuzz` do;
    /// without it they are the same each time, so that what passed passes again
    #[arg(long)]
    fresh: bool,
    /// End within so many minutes: what finds no time then is SKIPPED, and counted as such
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    minutes: Option<u32>,
    /// Run only what goes beside the tests, and write what came of it to this file
    #[arg(long, hide = true)]
    beside: Option<PathBuf>,
}

impl Args {
    fn inputs(&self) -> beside::Inputs {
        let seed = (!self.fresh).then_some(SEED);
        beside::Inputs { seconds: self.fuzz_seconds, seed }
    }
}

/// Seconds that the examples in documents need.
const FOR_DOCUMENTS: u32 = 120;

/// Where drawn cases begin without `--fresh`.
const SEED: u32 = 1;

/// Runs every step, prints the tally, and returns whether all is well.
pub fn run(root: &Path, arguments: &Args) -> Result<bool> {
    if let Some(file) = &arguments.beside {
        return beside::run(root, &arguments.inputs(), file);
    }
    let mut tally = Tally::default();
    let before = checkout(root);
    let deadline = arguments.minutes.map(Deadline::in_minutes);
    let failures;
    if arguments.only_tests {
        failures = all(&mut tally, root, arguments, deadline)?;
    } else {
        step(&mut tally, "format", cargo(&["fmt", "--all", "--check"]))?;
        heading("layers");
        tally.hold("layers", crate::layers::check(root)?);
        let mut supply = Command::new(std::env::current_exe()?);
        supply.arg("supply");
        tests(&mut tally, "licences, bans, sources and advisories", &mut supply)?;
        let beside = Beside::start(root, &arguments.inputs(), deadline)?;
        let lints = ["clippy", "--workspace", "--all-targets", "--all-features", "--quiet"];
        let mut lints = cargo(&lints);
        lints.args(["--", "-D", "warnings"]);
        step(&mut tally, "lints", lints)?;
        failures = all(&mut tally, root, arguments, deadline)?;
        tally.add(beside.finish()?);
    }
    failures.judge(&mut tally, |command| shown(command, root, arguments))?;
    if let (Some(before), Some(after)) = (before, checkout(root))
        && before != after
    {
        println!("the tests changed the checkout; before:\n{before}after:\n{after}");
        tally.broken_steps.push("the checkout is as it was".to_owned());
    }
    Ok(report(&tally))
}

/// The workspace's tests: programs first, several at a time, then the examples in documents. Returns the
/// tests that failed, which are not judged yet.
fn all(
    tally: &mut Tally,
    root: &Path,
    arguments: &Args,
    deadline: Option<Deadline>,
) -> Result<Failures> {
    heading("tests");
    let mut failures = Failures::default();
    let whole = ["test", "--workspace", "--all-features"];
    let Some(built) = programs::build(root, cargo(&whole))? else {
        tally.broken_steps.push("tests do not compile".to_owned());
        return Ok(failures);
    };
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let show = |command: &mut Command| {
        shown(command, root, arguments);
        command.stderr(Stdio::piped());
    };
    let no_time = |tally: &mut Tally, what: &str| {
        let reason = deadline.map(Deadline::reason).unwrap_or_default();
        println!("SKIPPED {what}: {reason}");
        tally.skip(&format!("{what}: {reason}"));
    };
    programs::run(built, (jobs, deadline), show, |outcome| {
        let end = match outcome {
            Outcome::Ended(end) => end,
            Outcome::NoTime(program) => return no_time(tally, &program.name),
        };
        let Ended { program, output, took } = &end;
        print!("{}", String::from_utf8_lossy(&output.stderr));
        let mut listener = Listener::default();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            listener.hear(tally, line);
        }
        let Program { name, .. } = program;
        if output.status.code() == Some(programs::HUNG) {
            println!("{name} was stopped after {} s; it had said:", programs::PATIENCE);
            print!("{}", String::from_utf8_lossy(&output.stdout));
        }
        println!("{name}: {}, {:.0} s", output.status, took.as_secs_f64());
        if !failures.take(&end) {
            tally.hold(&end.program.name, end.output.status.success());
        }
    })?;
    if deadline::seconds(deadline, FOR_DOCUMENTS) < FOR_DOCUMENTS {
        no_time(tally, "examples in documents");
        return Ok(failures);
    }
    let mut documents = cargo(&whole);
    documents.args(["--no-fail-fast", "--doc", "--", "--show-output"]);
    prepare(&mut documents, root, arguments);
    tests(tally, "examples in documents", &mut documents)?;
    Ok(failures)
}

/// A test program that says all that its tests said.
fn shown(command: &mut Command, root: &Path, arguments: &Args) {
    command.arg("--show-output");
    prepare(command, root, arguments);
}

/// What every run of tests is given.
fn prepare(command: &mut Command, root: &Path, arguments: &Args) {
    if !arguments.only_tests && arguments.fuzz_seconds > 0 {
        // The router's malformed frames are no target of their own: they need two routers.
        command.env("FWDLAB_FUZZ_SECONDS", arguments.fuzz_seconds.to_string());
    }
    if !arguments.fresh {
        command.env("PROPTEST_RNG_SEED", SEED.to_string()).env("FWDLAB_SEED", SEED.to_string());
    }
    // What a machine remembers of campaigns is not for tests.
    command.env("XDG_STATE_HOME", root.join("target/state"));
}

/// What git says of the files; nothing outside a checkout.
fn checkout(root: &Path) -> Option<String> {
    let mut git = Command::new("git");
    let output = git.args(["status", "--porcelain"]).current_dir(root).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
