//! Test programs, as many at a time as there are processors: those that wait for a guest or a host
//! leave theirs to others.

use crate::deadline::{self, Deadline};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

/// Seconds after which a program hangs: five times what the longest takes on a busy machine.
pub(super) const PATIENCE: u32 = 1500;
/// What timeout(1) ends with then.
pub(super) const HUNG: i32 = 124;

/// A test program that cargo has built.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Program {
    /// Its package's folder and its own name, such as `crates/fib lib`.
    pub(super) name: String,
    file: PathBuf,
    /// Where cargo would start it.
    folder: PathBuf,
}

impl Program {
    #[cfg(test)]
    pub(super) fn of(name: &str, file: PathBuf, folder: PathBuf) -> Self {
        Self { name: name.to_owned(), file, folder }
    }
}

/// What became of a program.
pub(super) enum Outcome {
    Ended(Ended),
    /// It was not started before the deadline, or stopped by it.
    NoTime(Program),
}

/// How a program ended.
pub(super) struct Ended {
    pub(super) program: Program,
    pub(super) output: Output,
    pub(super) took: Duration,
}

/// What cargo says of something that it has built.
#[derive(Deserialize)]
struct Artifact {
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Builds the test programs of the `cargo test` command; nothing where they do not compile.
pub(super) fn build(root: &Path, mut command: Command) -> Result<Option<Vec<Program>>> {
    command.args(["--no-run", "--message-format=json-render-diagnostics"]).stderr(Stdio::inherit());
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8(output.stdout).context("cargo's messages are no UTF-8")?;
    Ok(Some(listed(root, &text)))
}

/// The programs in cargo's messages, the longest first, so that none of them is left to run alone: those that boot
/// guests, those of devices, those that start the whole program, then those that compute for long.
fn listed(root: &Path, messages: &str) -> Vec<Program> {
    let mut programs: Vec<Program> = messages
        .lines()
        // a message of another kind lacks what an artifact has
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter_map(|artifact| program(root, artifact))
        .collect();
    programs.sort_by_key(|program| rank(&program.name));
    programs
}

/// Where a program stands in the order: the smaller, the sooner.
fn rank(name: &str) -> usize {
    let longest = [
        "crates/cli test freebsd",
        "crates/cli test vm",
        "devices/linux lib",
        "crates/cli test linux",
        "devices/",
        "crates/cli ",
        "crates/fib lib",
        "crates/audit lib",
        "crates/report lib",
        "crates/campaign test",
    ];
    longest.iter().position(|start| name.starts_with(start)).unwrap_or(longest.len())
}

fn program(root: &Path, artifact: Artifact) -> Option<Program> {
    let file = artifact.executable.filter(|_| artifact.profile.test)?;
    let folder = artifact.manifest_path.parent()?.to_owned();
    let package = folder.strip_prefix(root).unwrap_or(&folder).display();
    let kind = artifact.target.kind.first()?;
    let name = match kind.as_str() {
        "lib" => format!("{package} lib"),
        _ => format!("{package} {kind} {}", artifact.target.name),
    };
    Some(Program { name, file, folder })
}

/// Runs the programs, `jobs` at a time, each prepared by `prepare`; `ended` hears of each in turn. Before a
/// deadline the short ones come first: two guests alone can take what all others need.
pub(super) fn run(
    mut programs: Vec<Program>,
    (jobs, deadline): (usize, Option<Deadline>),
    prepare: impl Fn(&mut Command) + Sync,
    mut ended: impl FnMut(Outcome),
) -> Result<()> {
    if deadline.is_some() {
        programs.reverse();
    }
    let waiting = Mutex::new(programs.into_iter());
    let next = || waiting.lock().ok()?.next();
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                while let Some(program) = next() {
                    if sender.send(run_one(program, deadline, &prepare)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for outcome in receiver {
            ended(outcome?);
        }
        Ok(())
    })
}

/// The command for a program that is stopped after so many seconds, where there is timeout(1).
fn within(seconds: u32, program: &Path) -> Command {
    if !cfg!(target_os = "linux") {
        return Command::new(program);
    }
    let mut command = Command::new("timeout");
    // in the foreground Ctrl-C reaches the program
    command.args(["--foreground", "--kill-after=10"]).arg(seconds.to_string()).arg(program);
    command
}

fn run_one(
    program: Program,
    deadline: Option<Deadline>,
    prepare: &impl Fn(&mut Command),
) -> Result<Outcome> {
    let seconds = deadline::seconds(deadline, PATIENCE);
    if seconds == 0 {
        return Ok(Outcome::NoTime(program));
    }
    println!("running {}", program.name);
    let begin = Instant::now();
    let output = output(&program, seconds, prepare)?;
    let took = begin.elapsed();
    if seconds < PATIENCE && output.status.code() == Some(HUNG) {
        return Ok(Outcome::NoTime(program));
    }
    Ok(Outcome::Ended(Ended { program, output, took }))
}

/// Runs one test of a program.
pub(super) fn alone(
    program: &Program,
    test: &str,
    prepare: &impl Fn(&mut Command),
) -> Result<Output> {
    output(program, PATIENCE, |command: &mut Command| {
        command.args(["--exact", test]);
        prepare(command);
    })
}

fn output(program: &Program, seconds: u32, prepare: impl Fn(&mut Command)) -> Result<Output> {
    let mut command = within(seconds, &program.file);
    command.current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder);
    command.stdin(Stdio::null());
    prepare(&mut command);
    command.output().with_context(|| format!("cannot start {}", program.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message as cargo writes it, without what nobody reads here.
    fn message(package: &str, kind: &str, test: bool) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","manifest_path":"/w/{package}/Cargo.toml","target":{{"kind":["{kind}"],"name":"it"}},"profile":{{"test":{test}}},"executable":"/w/target/it"}}"#
        )
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_program_that_hangs_is_stopped() {
        let mut command = within(1, Path::new("sleep"));
        assert_eq!(command.arg("600").status().unwrap().code(), Some(HUNG));
        let mut command = within(PATIENCE, Path::new("sh"));
        assert_eq!(command.args(["-c", "exit 7"]).status().unwrap().code(), Some(7));
    }

    #[test]
    fn only_tests_are_listed_and_the_longest_come_first() {
        let messages = [
            message("crates/wire", "lib", true),
            message("crates/fib", "lib", true),
            message("crates/cli", "test", true),
            message("crates/fib", "example", false),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
            message("devices/vm", "test", true),
        ]
        .join("\n");
        let names: Vec<String> =
            listed(Path::new("/w"), &messages).into_iter().map(|program| program.name).collect();
        let expected =
            ["devices/vm test it", "crates/cli test it", "crates/fib lib", "crates/wire lib"];
        assert_eq!(names, expected);
    }

    #[test]
    fn every_program_runs_once_and_its_end_is_told() {
        let program = |name: &str| Program {
            name: name.to_owned(),
            file: name.into(),
            folder: std::env::temp_dir(),
        };
        let mut ends = Vec::new();
        let programs = vec![program("true"), program("false"), program("true")];
        let hear = |outcome| match outcome {
            Outcome::Ended(end) => ends.push((end.program.name, end.output.status.success())),
            Outcome::NoTime(program) => panic!("{} did not run", program.name),
        };
        run(programs, (2, None), |_| {}, hear).unwrap();
        ends.sort();
        let expected = [("false", false), ("true", true), ("true", true)];
        assert_eq!(ends, expected.map(|(name, good)| (name.to_owned(), good)));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_finds_no_time_is_told_apart_from_what_hangs() {
        let program = |name: &str| Program::of(name, PathBuf::from(name), std::env::temp_dir());
        let end = Deadline::in_minutes(1);
        let outcome = run_one(program("true"), Some(end), &|_| {}).unwrap();
        assert!(matches!(outcome, Outcome::NoTime(program) if program.name == "true"));
        // Half a second before the end of a longer one: it is stopped.
        let sleep = |command: &mut Command| {
            command.arg("600");
        };
        let outcome = run_one(program("sleep"), Some(Deadline::with_left(1)), &sleep).unwrap();
        assert!(matches!(outcome, Outcome::NoTime(program) if program.name == "sleep"));
    }
}
