//! Steps of a test run, and what they said.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

/// What the test runs said, added up.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: Vec<String>,
    /// What failed beside others and passed alone.
    pub(crate) unsteady: Vec<String>,
    pub(crate) broken_steps: Vec<String>,
}

impl Tally {
    /// A step that cannot run here: as the test runner counts a skipped test, once as passed too.
    pub(crate) fn skip(&mut self, what: &str) {
        self.passed += 1;
        self.skipped.push(what.to_owned());
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped.extend(other.skipped);
        self.unsteady.extend(other.unsteady);
        self.broken_steps.extend(other.broken_steps);
    }

    /// A test that was counted as failed, and passes alone.
    pub(crate) fn is_unsteady(&mut self, program: &str, test: &str) {
        self.failed = self.failed.saturating_sub(1);
        self.passed += 1;
        self.unsteady.push(format!("{program}: {test}"));
    }

    /// A step that passes or fails as a whole.
    pub(crate) fn hold(&mut self, name: &str, is_well: bool) {
        if !is_well {
            self.broken_steps.push(name.to_owned());
        }
    }
}

pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = crate::workspace::cargo();
    command.args(arguments);
    command
}

/// A step begins; so much time has gone by, and so much of it the processors worked for steps that ended.
pub(crate) fn heading(name: &str) {
    static START: OnceLock<Instant> = OnceLock::new();
    let gone = START.get_or_init(Instant::now).elapsed().as_secs();
    match worked().filter(|_| gone > 0) {
        None => println!("== {name}"),
        Some(busy) => println!("== {name} (after {gone} s; processors: {busy:.0} s)"),
    }
}

/// Seconds of processor time of all programs that were started here and have ended, where the system
/// tells (proc_pid_stat(5): cutime and cstime, in hundredths).
pub(crate) fn worked() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is a name in brackets, which may hold anything.
    let fields = text.rsplit_once(')')?.1.split_whitespace().skip(13).take(2);
    let ticks: Option<Vec<u32>> = fields.map(|field| field.parse().ok()).collect();
    Some(ticks?.into_iter().map(f64::from).sum::<f64>() / 100.0)
}

/// A step that passes or fails as a whole.
pub(crate) fn step(tally: &mut Tally, name: &str, mut command: Command) -> Result<()> {
    heading(name);
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    tally.hold(name, status.success());
    Ok(())
}

/// A run of cargo's test runner, its output passed on without the noise of passing tests.
pub(crate) fn tests(tally: &mut Tally, name: &str, command: &mut Command) -> Result<()> {
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
    tally.hold(name, child.wait()?.success());
    Ok(())
}

/// Hears a test runner line by line and says what is worth reading.
#[derive(Default)]
pub(crate) struct Listener {
    in_successes: bool,
}

impl Listener {
    pub(crate) fn hear(&mut self, tally: &mut Tally, line: &str) {
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

/// Prints what was skipped and what failed; whether all is well.
pub(crate) fn report(tally: &Tally) -> bool {
    heading("summary");
    for skip in &tally.skipped {
        println!("SKIPPED {skip}");
    }
    for name in &tally.unsteady {
        println!("UNSTEADY {name}: failed beside others, passed alone");
    }
    for name in &tally.broken_steps {
        println!("FAILED {name}");
    }
    // A skipped test returns early and so counts as passed with the runner: do not count it twice.
    let skipped = tally.skipped.len() as u64;
    let passed = tally.passed.saturating_sub(skipped);
    let failed = tally.failed.max(tally.broken_steps.len() as u64);
    let unsteady = match tally.unsteady.len() {
        0 => String::new(),
        some => format!(", {some} of the passed unsteady"),
    };
    println!("{passed} passed, {failed} failed, {skipped} skipped{unsteady}");
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
    fn the_time_of_programs_that_ended_is_counted() {
        let before = worked().unwrap_or_default();
        let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        assert!(Command::new("sh").args(["-c", work]).status().unwrap().success());
        assert!(!cfg!(target_os = "linux") || worked().unwrap() >= before);
    }

    #[test]
    fn a_broken_step_fails_the_whole() {
        let tally = Tally { broken_steps: vec!["lints".to_owned()], ..Tally::default() };
        assert!(!report(&tally));
    }
}
