//! Bisections of chains that are known.

use super::*;
use std::collections::BTreeMap;

const FILE: &str = r#"
title = "t"
baseline = "x"
blocks = "until-decided"
cap = 9
[[variant]]
name = "plain"
[[variant]]
name = "{}"
set = { kernel = "/images/{}/kernel" }
[[traffic]]
name = "inet"
"#;

fn header(count: usize) -> Header {
    Header {
        chain: (0..count).map(|i| format!("r{i}")).collect(),
        blocks: 3,
        experiment: FILE.to_owned(),
        asked: Vec::new(),
    }
}

#[test]
fn a_comparison_holds_both_states_and_nothing_else() {
    let path = Path::new("e.toml");
    let text = derive(path, FILE, ["plain", "r312205"], 3, &BTreeMap::new()).unwrap();
    assert_eq!(variants(path, &text).unwrap(), ["plain", "r312205"]);
    assert!(text.contains("/images/r312205/kernel") && text.contains("blocks = 3"), "{text}");
    assert!(text.contains("baseline = \"plain\"") && !text.contains("cap"), "{text}");
    let without = FILE.replace("{}", "other");
    let error = derive(path, &without, ["plain", "r1"], 3, &BTreeMap::new());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("e.toml") && error.contains("{}"), "{error}");
}

/// What is a template was listed as if it were a state.
#[test]
fn a_state_that_is_not_there_is_told_with_what_makes_it() {
    let of =
        |known: &str| BisectError::NoState { name: "r1".into(), known: known.into() }.to_string();
    assert!(of("plain, {}").contains("--list FILE"), "{}", of("plain, {}"));
    assert_eq!(of("a, b"), "'r1' is none of the states: a, b");
}

/// A change smaller than the experiment's margin is none for a bisection either.
#[test]
fn the_margin_is_that_of_the_experiment() {
    let of = |text: &str| margin(Path::new("e.toml"), text).unwrap();
    assert!((of(FILE) - 0.01).abs() < 1e-12);
    assert!((of(&format!("margin = \"20%\"\n{FILE}")) - 0.2).abs() < 1e-12);
    assert!(margin(Path::new("e.toml"), "= 5").unwrap_err().to_string().contains("e.toml"));
}

#[test]
fn what_a_command_wrote_is_added_to_its_state() {
    let path = Path::new("e.toml");
    let settings = |text: &str| BTreeMap::from([("r1", text.to_owned())]);
    let wrote = "modules = \"m\"\nset = { \"net.x\" = 1 }\n";
    let text = derive(path, FILE, ["plain", "r1"], 3, &settings(wrote)).unwrap();
    let file: toml::Table = text.parse().unwrap();
    let [plain, own] = file["variant"].as_array().unwrap().as_slice() else { panic!("{text}") };
    assert_eq!(own["modules"].as_str(), Some("m"));
    assert_eq!(own["set"]["net.x"].as_integer(), Some(1));
    assert_eq!(own["set"]["kernel"].as_str(), Some("/images/r1/kernel"));
    assert_eq!(plain.as_table().unwrap().len(), 1);
    let error = derive(path, FILE, ["plain", "r1"], 3, &settings("= 5")).unwrap_err().to_string();
    assert!(error.contains("--command") && error.contains("r1"), "{error}");
}

#[test]
fn a_bisection_that_was_killed_goes_on_and_measures_nothing_twice() {
    let dir = tempfile::tempdir().unwrap();
    let level = |state: usize| if state < 11 { 1.0 } else { 0.95 };
    let mut first = Journal::open(dir.path(), header(16)).unwrap();
    let mut left = 5;
    let killed = bisect(
        &mut first,
        Terms::default(),
        |state| {
            left -= 1;
            if left == 0 {
                let dir = dir.path().to_owned();
                return Err(BisectError::NoBlock { dir, probe: "killed".into() });
            }
            Ok(Compared::Ratio(level(state)))
        },
        |_| {},
    );
    assert!(killed.is_err());
    drop(first);
    let path = dir.path().join("bisect.jsonl");
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"state\":");
    std::fs::write(&path, text).unwrap();
    let mut again = Journal::open(dir.path(), header(16)).unwrap();
    assert_eq!(again.measured().len(), 4);
    let mut count = 0;
    let found: Result<Found, BisectError> = bisect(
        &mut again,
        Terms::default(),
        |state| {
            count += 1;
            Ok(Compared::Ratio(level(state)))
        },
        |_| {},
    );
    assert!(matches!(found.unwrap().answer, Answer::Culprit { step, .. } if step.at == 11));
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1 + 4 + count);
}

#[test]
fn what_nothing_came_of_is_asked_again_and_given_up_after_some() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(dir.path(), header(16)).unwrap();
    let mut asked = 0;
    let found: Result<Found, BisectError> = bisect(
        &mut journal,
        Terms::default(),
        |state| {
            asked += 1;
            let ratio = Compared::Ratio(if state < 11 { 1.0 } else { 0.95 });
            Ok(if asked % 3 == 0 { ratio } else { Compared::Nothing })
        },
        |_| {},
    );
    assert!(matches!(found.unwrap().answer, Answer::Culprit { step, .. } if step.at == 11));
    assert!(asked >= 3 * journal.measured().len());
    let other = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(other.path(), header(16)).unwrap();
    let none: Result<Found, BisectError> =
        bisect(&mut journal, Terms::default(), |_| Ok(Compared::Nothing), |_| {});
    let error = none.unwrap_err().to_string();
    assert!(error.contains("r15") && error.contains("goes on"), "{error}");
}

/// Those around the change cannot be measured: one of them ended the bisection.
#[test]
fn states_that_cannot_be_measured_are_left_out_for_good() {
    let dir = tempfile::tempdir().unwrap();
    let broken = 10..=12;
    let mut asked = Vec::new();
    let mut run = || -> Result<Found, BisectError> {
        let mut journal = Journal::open(dir.path(), header(16))?;
        bisect(
            &mut journal,
            Terms::default(),
            |state| {
                asked.push(state);
                Ok(match broken.contains(&state) {
                    true => Compared::Untestable("it does not build".into()),
                    false => Compared::Ratio(if state < 11 { 1.0 } else { 0.95 }),
                })
            },
            |_| {},
        )
    };
    let found = run().unwrap();
    let Answer::Culprit { step, .. } = found.answer else { panic!("{found:?}") };
    assert_eq!((found.states[step.at - 1], found.states[step.at]), (9, 13));
    // the journal knows them: nothing is tried again
    assert_eq!(run().unwrap(), found);
    for state in broken.clone() {
        assert!(asked.iter().filter(|own| **own == state).count() <= 1, "{asked:?}");
    }
    let mut journal = Journal::open(dir.path(), header(16)).unwrap();
    let error = journal.leave_out(15, "it does not build").unwrap_err().to_string();
    assert!(error.contains("r15") && error.contains("--bad"), "{error}");
}

#[test]
fn a_journal_of_another_chain_is_not_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    // One of no comparisons is begun anew: the mistake that ended it may have been mended since.
    Journal::open(dir.path(), header(4)).unwrap();
    let mut journal = Journal::open(dir.path(), header(5)).unwrap();
    assert_eq!(journal.header(), &header(5));
    journal.add(&BisectStep { state: 0, name: header(5).chain[0].clone(), ratio: 1.0 }).unwrap();
    drop(journal);
    let error = Journal::open(dir.path(), header(4)).unwrap_err().to_string();
    assert!(error.contains("other states"), "{error}");
    // another traffic was gone on with as if its figures were the same
    let asked = vec!["traffic inet6".to_owned()];
    let error = Journal::open(dir.path(), Header { asked, ..header(5) }).unwrap_err().to_string();
    assert!(error.contains("another traffic"), "{error}");
}

/// A journal of an earlier version says nothing of what else was asked.
#[test]
fn a_journal_without_what_was_asked_is_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let line = format!(
        "{{\"chain\":[\"r0\",\"r1\"],\"blocks\":3,\"experiment\":{}}}\n",
        serde_json::to_string(FILE).unwrap()
    );
    let step = "{\"state\":1,\"name\":\"r1\",\"ratio\":0.5}\n";
    std::fs::write(dir.path().join("bisect.jsonl"), format!("{line}{step}")).unwrap();
    assert_eq!(Journal::open(dir.path(), header(2)).unwrap().measured().len(), 1);
}

/// Two at work in one directory wrote their comparisons into each other's places.
#[test]
fn a_journal_that_is_being_written_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let first = Journal::open(dir.path(), header(4)).unwrap();
    let second = Journal::open(dir.path(), header(4)).unwrap_err().to_string();
    assert!(second.contains("another bisection") && second.contains("--output"), "{second}");
    drop(first);
    assert!(Journal::open(dir.path(), header(4)).is_ok());
}

/// A state that is none of the chain was passed over, and measured for ever.
/// A fifo was waited for without end, and a link that led nowhere made a file there.
#[test]
fn a_journal_that_is_no_file_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bisect.jsonl");
    let fifo = || {
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
    };
    let link = || std::os::unix::fs::symlink(dir.path().join("elsewhere"), &path).unwrap();
    for (make, why) in [(&fifo as &dyn Fn(), "no regular file"), (&link, "a symbolic link")] {
        make();
        let said = Journal::open(dir.path(), header(3)).unwrap_err().to_string();
        assert!(said.contains(why) && said.contains("choose another --output"), "{said}");
        std::fs::remove_file(&path).unwrap();
    }
    assert!(!dir.path().join("elsewhere").exists());
}

#[test]
fn a_line_of_a_state_that_the_chain_has_not_is_named() {
    let dir = tempfile::tempdir().unwrap();
    drop(Journal::open(dir.path(), header(4)).unwrap());
    let path = dir.path().join("bisect.jsonl");
    let head = std::fs::read_to_string(&path).unwrap();
    for (state, name) in [(9, "r9"), (3, "r2")] {
        let line = format!("{{\"state\":{state},\"name\":\"{name}\",\"ratio\":1.0}}\n");
        std::fs::write(&path, format!("{head}{line}")).unwrap();
        let error = Journal::open(dir.path(), header(4)).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains(name), "{error}");
    }
}
