//! A second look at tests that failed beside others: each once more, alone. What passes then is said and
//! counted as unsteady, so that the machine's other work decides nothing and hides nothing.

use crate::programs::{self, Ended, Program};
use crate::steps::{Listener, Tally, heading};
use anyhow::Result;
use std::process::Command;

/// More failures than these are no accident.
const MOST: usize = 3;
/// What a test program ends with when a test failed, and not the program itself.
const A_TEST_FAILED: i32 = 101;

/// Tests that failed, with their programs.
#[derive(Default)]
pub(crate) struct Failures(Vec<(Program, Vec<String>)>);

impl Failures {
    /// Takes up what a program's tests ended with, or says that it is no matter of single tests.
    pub(crate) fn take(&mut self, ended: &Ended) -> bool {
        let tests = names(&String::from_utf8_lossy(&ended.output.stdout));
        let is_of_tests = ended.output.status.code() == Some(A_TEST_FAILED) && !tests.is_empty();
        if is_of_tests {
            self.0.push((ended.program.clone(), tests));
        }
        is_of_tests
    }

    /// Runs them again, alone, when nothing else of this run is left.
    pub(crate) fn judge(self, tally: &mut Tally, prepare: impl Fn(&mut Command)) -> Result<()> {
        let count: usize = self.0.iter().map(|(_, tests)| tests.len()).sum();
        if count > MOST {
            self.0.iter().for_each(|(program, _)| tally.hold(&program.name, false));
            return Ok(());
        }
        for (program, tests) in self.0 {
            for test in tests {
                heading(&format!("{}: {test} again, alone", program.name));
                let output = programs::alone(&program, &test, &prepare)?;
                let said = String::from_utf8_lossy(&output.stdout);
                if output.status.success() && said.contains("test result: ok. 1 passed") {
                    tally.is_unsteady(&program.name, &test);
                    continue;
                }
                let (mut listener, mut heard) = (Listener::default(), Tally::default());
                said.lines().for_each(|line| listener.hear(&mut heard, line));
                tally.hold(&format!("{}: {test}", program.name), false);
            }
        }
        Ok(())
    }
}

/// The tests that a program's runner lists as failed at its end.
fn names(output: &str) -> Vec<String> {
    let Some((_, list)) = output.rsplit_once("\nfailures:\n") else { return Vec::new() };
    let listed = list.lines().take_while(|line| line.starts_with("    "));
    listed.map(|line| line.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_tests_are_read_from_the_list_at_the_end() {
        let output = "running 3 tests\ntest a::b ... FAILED\ntest c ... ok\n\nfailures:\n\n\
                      ---- a::b stdout ----\nfailures:\n    not this one\n\n\nfailures:\n    a::b\n    d e\n\n\
                      test result: FAILED. 1 passed; 2 failed\n";
        assert_eq!(names(output), ["a::b", "d e"]);
        assert!(names("test result: ok. 3 passed\n").is_empty());
        // A program that died says no names.
        assert!(names("running 3 tests\ntest a ... ").is_empty());
    }

    /// This very program, asked for a test of its own.
    fn own(test: &str) -> Failures {
        let file = std::env::current_exe().unwrap();
        let program = Program::of("xtask lib", file, std::env::current_dir().unwrap());
        Failures(vec![(program, vec![test.to_owned()])])
    }

    const THIS: &str = "again::tests::failed_tests_are_read_from_the_list_at_the_end";

    #[test]
    fn what_passes_alone_is_unsteady_and_what_fails_again_is_broken() {
        let mut tally = Tally { failed: 1, ..Tally::default() };
        own(THIS).judge(&mut tally, |_| {}).unwrap();
        assert_eq!((tally.passed, tally.failed, tally.broken_steps.len()), (1, 0, 0));
        assert_eq!(tally.unsteady, [format!("xtask lib: {THIS}")]);
        // No such test: nothing passed, though the runner is content.
        let mut tally = Tally { failed: 1, ..Tally::default() };
        own("nobody").judge(&mut tally, |_| {}).unwrap();
        assert_eq!((tally.passed, tally.failed), (0, 1));
        assert_eq!(tally.broken_steps, ["xtask lib: nobody"]);
    }

    #[test]
    fn many_failures_are_no_accident() {
        let mut tally = Tally { failed: 4, ..Tally::default() };
        let mut many = own(THIS);
        many.0[0].1 = vec![THIS.to_owned(); MOST + 1];
        many.judge(&mut tally, |_| {}).unwrap();
        assert_eq!((tally.failed, tally.broken_steps), (4, vec!["xtask lib".to_owned()]));
    }
}
