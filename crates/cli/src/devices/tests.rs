//! What is said about experiment files, right and wrong, with all devices of the program.

use std::fs;
use std::path::{Path, PathBuf};

use fwdlab_experiment::Experiment;

use super::schemas;

/// Whether every device is part of this build; else says what is skipped.
fn are_all_there(test: &str) -> bool {
    let are_there = cfg!(all(target_os = "linux", feature = "vm"));
    if !are_there {
        eprintln!("SKIPPED {test}: left out of this build (--features vm)");
    }
    are_there
}

/// Every `NAME.toml` of tests/golden/experiment-errors is refused with the
/// text of `NAME.expected`; `BLESS=1 cargo test` writes the texts anew.
#[test]
fn every_broken_experiment_gets_its_message() {
    if !are_all_there("every_broken_experiment") {
        return;
    }
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/experiment-errors");
    let mut cases: Vec<PathBuf> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    cases.sort();
    assert!(cases.len() > 60, "only {} cases found", cases.len());
    // the list grows; the messages stay
    let algorithms: Vec<_> =
        fwdlab_fib::Fib::<fwdlab_fib::Inet>::new(0).unwrap().algorithms().collect();
    let algorithms = algorithms.join(", ");
    let mut wrong = Vec::new();
    for case in cases {
        let text = fs::read_to_string(&case).unwrap();
        let name = Path::new(case.file_name().unwrap());
        let got = match Experiment::parse(name, &text, &schemas()) {
            Ok(_) => "accepted\n".to_owned(),
            Err(problems) => format!("{problems}\n").replace(&algorithms, "(the algorithms)"),
        };
        let expected = case.with_extension("expected");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &got).unwrap();
        }
        let wanted = fs::read_to_string(&expected).unwrap_or_default();
        if got != wanted || got == "accepted\n" {
            wrong.push(format!("{}: got\n{got}wanted\n{wanted}", name.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_shipped_experiment_is_right() {
    if !are_all_there("every_shipped_experiment") {
        return;
    }
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut read = 0;
    for entry in fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let text = fs::read_to_string(&path).unwrap();
            Experiment::parse(&path, &text, &schemas()).unwrap();
            read += 1;
        }
    }
    assert!(read >= 15, "{read} experiments");
}
