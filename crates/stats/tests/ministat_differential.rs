//! `ministat --compat 2015` against the installed ministat 20150715, on generated command lines.
//!
//! The seed is printed; FWDLAB_SEED repeats a run, FWDLAB_CASES sets the number of cases.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![allow(clippy::unwrap_used, reason = "a test")]

mod generator;

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use fwdlab_stats::ministat::{self, Streams};
use generator::{Case, Generator};

/// Debian's package.
const ORIGINAL: &str = "/usr/bin/ministat";
const CASES: usize = 2500;

/// stdout, stderr and exit code; no code when a signal ended the process.
#[derive(PartialEq, Eq)]
struct Ran {
    out: Vec<u8>,
    err: Vec<u8>,
    code: Option<i32>,
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (out, err) = (String::from_utf8_lossy(&self.out), String::from_utf8_lossy(&self.err));
        write!(f, "exit {:?}\n--- stdout\n{out}--- stderr\n{err}", self.code)
    }
}

fn original(case: &Case, directory: &std::path::Path) -> Ran {
    let mut child = Command::new(ORIGINAL)
        .arg0("ministat")
        .args(&case.args)
        .current_dir(directory)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // it may end without reading its input
    let _ = child.stdin.take().unwrap().write_all(&case.stdin);
    let output = child.wait_with_output().unwrap();
    Ran { out: output.stdout, err: output.stderr, code: output.status.code() }
}

fn ours(case: &Case) -> Ran {
    let mut args = vec![OsString::from("--compat=2015")];
    args.extend(case.args.iter().cloned());
    let (mut out, mut err, mut stdin) = (Vec::new(), Vec::new(), case.stdin.as_slice());
    let streams =
        Streams { stdin: &mut stdin, out: &mut out, err: &mut err, terminal_columns: None };
    let code = ministat::cli(&args, streams);
    Ran { out, err, code: Some(i32::from(code)) }
}

fn without_plot(outcome: &mut Ran) {
    outcome.out = outcome
        .out
        .split_inclusive(|b| *b == b'\n')
        .filter(|line| line[0] != b'|')
        .flatten()
        .copied()
        .collect();
}

fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn generated_command_lines_give_the_output_of_the_installed_ministat() {
    if !std::path::Path::new(ORIGINAL).exists() {
        eprintln!(
            "SKIPPED generated_command_lines_give_the_output_of_the_installed_ministat: {ORIGINAL} is not installed"
        );
        return;
    }
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
    let seed = number_from_environment("FWDLAB_SEED").unwrap_or(u64::from(now));
    let cases = number_from_environment("FWDLAB_CASES").map_or(CASES, |n| n as usize);
    println!("ministat differential: FWDLAB_SEED={seed}, {cases} cases");

    let directory = std::env::temp_dir().join(format!("fwdlab-ministat-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    // ours runs in this process and finds the files by the same relative names; the other test
    // names its files from the root
    std::env::set_current_dir(&directory).unwrap();
    let mut generator = Generator::new(seed);
    let (mut compared, mut crashed, mut errors) = (0, 0, 0);
    for number in 0..cases {
        let case = generator.case();
        for (name, data) in &case.files {
            std::fs::write(directory.join(name), data).unwrap();
        }
        let (mut theirs, mut ours) = (original(&case, &directory), ours(&case));
        if theirs.code.is_none() {
            crashed += 1;
            continue;
        }
        if String::from_utf8_lossy(&theirs.out).contains("-nan\n") {
            // a negative one-pass variance: the original writes outside its plot, over anything
            without_plot(&mut theirs);
            without_plot(&mut ours);
        }
        compared += 1;
        errors += usize::from(theirs.code != Some(0));
        assert!(
            theirs == ours,
            "FWDLAB_SEED={seed} case {number}: ministat {:?} in {}\n=== original\n{theirs}\n=== ours\n{ours}",
            case.args,
            directory.display()
        );
    }
    let _ = std::fs::remove_dir_all(&directory);
    println!(
        "ministat differential: {compared} equal ({errors} of them errors), the original crashed on {crashed}"
    );
    assert!(errors * 20 > cases, "too few errors among the cases to mean something");
    assert!(crashed * 50 < cases, "the original crashed on {crashed} cases: narrow the generator");
}

/// Every row and column of the t table: the printed error tells the entry.
#[test]
fn every_entry_of_the_t_table_is_that_of_the_installed_ministat() {
    if !std::path::Path::new(ORIGINAL).exists() {
        eprintln!(
            "SKIPPED every_entry_of_the_t_table_is_that_of_the_installed_ministat: {ORIGINAL} is not installed"
        );
        return;
    }
    let directory = std::env::temp_dir().join(format!("fwdlab-ttable-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let lines = |count: usize, offset: usize| -> Vec<u8> {
        (0..count).map(|i| format!("{}\n", offset + i % 3)).collect::<String>().into_bytes()
    };
    for df in 4..=105 {
        let (low, high) = (directory.join(format!("low{df}")), directory.join(format!("high{df}")));
        std::fs::write(&low, lines(3, 0)).unwrap();
        std::fs::write(&high, lines(df - 1, 4000)).unwrap();
        for level in ["80", "90", "95", "98", "99", "99.5"] {
            let args = vec![
                "-A".into(),
                "-c".into(),
                level.into(),
                low.clone().into(),
                high.clone().into(),
            ];
            let case = Case { args, files: vec![], stdin: vec![] };
            let (theirs, ours) = (original(&case, &directory), ours(&case));
            assert!(
                theirs == ours,
                "df {df} at {level} %\n=== original\n{theirs}\n=== ours\n{ours}"
            );
        }
    }
    let _ = std::fs::remove_dir_all(&directory);
}
