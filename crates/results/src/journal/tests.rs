use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use fwdlab_guard::digest;

use super::*;
use crate::Error;
use crate::examples::{campaign, trial};
use crate::{JOURNAL_FILE, Results, Resumed, Status, TORN_FILE, Trial};

const EXPERIMENT: &str = "title = \"sample\"\n";

#[test]
fn time_stamps_follow_the_gregorian_calendar() {
    let stamp = |seconds| utc_stamp(UNIX_EPOCH + Duration::from_secs(seconds));
    assert_eq!(stamp(0), "1970-01-01T00:00:00Z");
    assert_eq!(stamp(951_782_400), "2000-02-29T00:00:00Z");
    assert_eq!(stamp(1_709_251_199), "2024-02-29T23:59:59Z");
    assert_eq!(stamp(1_795_266_000), "2026-11-21T13:00:00Z");
    assert_eq!(stamp(4_107_542_400), "2100-03-01T00:00:00Z");
}

#[test]
fn time_stamps_come_back_as_seconds() {
    for seconds in (0..5_000_000_000u64).step_by(12_345_678) {
        let stamp = utc_stamp(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(seconds_of_stamp(&stamp), Some(seconds), "{stamp}");
    }
    for text in [
        "",
        "2026-11-21",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-11-21T1:2Z",
        "2026-11-21T25:00:00Z",
        "2026-11-21T13:00:00+01:00",
        "2026-11-21T13:00:00.5Z",
        "x-1-1T0:0:0Z",
    ] {
        assert_eq!(seconds_of_stamp(text), None, "{text}");
    }
}

#[test]
fn a_campaign_is_written_trial_by_trial() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(dir.path(), &campaign(), EXPERIMENT, None).unwrap();
    for place in 0..4 {
        journal.append(&trial(place)).unwrap();
        assert_eq!(Results::read(dir.path()).unwrap().trials.len(), place + 1);
    }
    journal.finish("all blocks run").unwrap();
    let read = Results::read(dir.path()).unwrap();
    assert_eq!(read.finished.unwrap().stopped, "all blocks run");
    assert_eq!(fs::read_to_string(dir.path().join("experiment.toml")).unwrap(), EXPERIMENT);
}

#[test]
fn a_second_run_in_the_same_directory_is_kept_out() {
    let dir = tempfile::tempdir().unwrap();
    let first = Journal::create(dir.path(), &campaign(), EXPERIMENT, None).unwrap();
    assert!(matches!(
        Journal::create(dir.path(), &campaign(), EXPERIMENT, None),
        Err(Error::Busy { .. })
    ));
    assert!(matches!(Journal::resume(dir.path()), Err(Error::Busy { .. })));
    drop(first);
    assert!(Journal::resume(dir.path()).is_ok());
}

#[test]
fn results_are_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::create(dir.path(), &campaign(), EXPERIMENT, None).unwrap();
    journal.finish("all blocks run").unwrap();
    let before = fs::read(dir.path().join("trials.jsonl")).unwrap();
    let error = Journal::create(dir.path(), &campaign(), "other", None).unwrap_err();
    assert!(matches!(error, Error::Occupied { state: "finished", .. }));
    assert!(error.to_string().contains("-o DIR"));
    assert!(matches!(Journal::resume(dir.path()), Err(Error::Occupied { .. })));
    assert_eq!(fs::read(dir.path().join("trials.jsonl")).unwrap(), before);
    assert_eq!(fs::read_to_string(dir.path().join("experiment.toml")).unwrap(), EXPERIMENT);
}

#[test]
fn a_trial_is_recorded_once_and_only_when_planned() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(dir.path(), &campaign(), EXPERIMENT, None).unwrap();
    journal.append(&trial(0)).unwrap();
    let error = journal.append(&trial(0)).unwrap_err().to_string();
    assert!(error.contains("trial b01-inet-radix is already recorded"), "{error}");
    let mut stranger = trial(1);
    stranger.id = "b09-inet-radix".to_owned();
    assert!(matches!(journal.append(&stranger), Err(Error::TrialRefused { .. })));
    drop(journal);
    let (mut journal, _) = Journal::resume(dir.path()).unwrap();
    assert!(matches!(journal.append(&trial(0)), Err(Error::TrialRefused { .. })));
}

#[test]
fn a_torn_line_is_kept_aside_and_its_trial_runs_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trials.jsonl");
    let mut journal = Journal::create(dir.path(), &campaign(), EXPERIMENT, None).unwrap();
    journal.append(&trial(0)).unwrap();
    let whole = fs::read(&path).unwrap();
    journal.append(&trial(1)).unwrap();
    drop(journal);
    let torn = fs::read(&path).unwrap();
    fs::write(&path, &torn[..torn.len() - 40]).unwrap();

    let (mut journal, results) = Journal::resume(dir.path()).unwrap();
    assert!(results.is_torn);
    assert_eq!(results.missing()[0], "b01-inet-modular");
    assert_eq!(fs::read(&path).unwrap(), whole);
    let aside = fs::read(dir.path().join(TORN_FILE)).unwrap();
    assert_eq!(aside, [&torn[whole.len()..torn.len() - 40], b"\n"].concat());

    journal.append(&trial(1)).unwrap();
    let read = Results::read(dir.path()).unwrap();
    assert_eq!(read.trials, [trial(0), trial(1)]);
    assert!(!read.is_torn);
}

#[test]
fn a_kill_before_the_first_record_leaves_a_directory_that_can_be_started() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("trials.jsonl"), "{\"record\":\"camp").unwrap();
    assert!(matches!(Journal::resume(dir.path()), Err(Error::NoResults { .. })));
    let journal = Journal::create(dir.path(), &campaign(), EXPERIMENT, None).unwrap();
    drop(journal);
    assert!(Results::read(dir.path()).unwrap().trials.is_empty());
    assert!(dir.path().join(TORN_FILE).exists());
}

#[test]
fn a_file_in_the_way_is_named_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, "").unwrap();
    let error = Journal::create(&path, &campaign(), EXPERIMENT, None).unwrap_err().to_string();
    assert!(error.contains("cannot create"), "{error}");
    assert!(error.contains("-o DIR"), "{error}");
}

#[test]
fn a_whole_file_replaces_the_old_one_and_leaves_nothing_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("README.md");
    write_whole(&path, b"one").unwrap();
    write_whole(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    fs::create_dir(dir.path().join("d")).unwrap();
    assert!(write_whole(&dir.path().join("d"), b"x").is_err());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}

/// A directory with a whole campaign, and its lines.
fn chained() -> (tempfile::TempDir, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(dir.path(), &campaign(), EXPERIMENT, None).unwrap();
    (0..3).for_each(|place| journal.append(&trial(place)).unwrap());
    drop(journal);
    let text = fs::read_to_string(dir.path().join("trials.jsonl")).unwrap();
    (dir, text.lines().map(str::to_owned).collect())
}

fn put(dir: &std::path::Path, lines: &[String]) {
    fs::write(dir.join("trials.jsonl"), lines.join("\n") + "\n").unwrap();
}

#[test]
fn each_record_carries_the_hash_of_the_line_before() {
    let (dir, lines) = chained();
    let mut before = digest::of(EXPERIMENT.as_bytes());
    for line in &lines {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["after"], before.as_str());
        before = digest::of(line.as_bytes());
    }
    assert_eq!(Chain::read(dir.path()).unwrap().last(), Some(before.as_str()));
    // It goes on after a stop.
    let (mut journal, _) = Journal::resume(dir.path()).unwrap();
    journal.append(&trial(3)).unwrap();
    journal.finish("all blocks run").unwrap();
    assert!(matches!(Chain::read(dir.path()).unwrap(), Chain::Whole { last } if last != before));
}

#[test]
fn a_journal_of_more_than_16_mib_has_its_chain_read() {
    let (dir, mut lines) = chained();
    let last = digest::of(lines[3].as_bytes());
    // What a later version may write; thousands of trials make a journal as long.
    let words = "x".repeat(17 << 20);
    lines.push(format!("{{\"record\":\"later\",\"words\":\"{words}\",\"after\":\"{last}\"}}"));
    put(dir.path(), &lines);
    let whole = digest::of(lines[4].as_bytes());
    assert_eq!(Chain::read(dir.path()).unwrap().last(), Some(whole.as_str()));
    assert_eq!(Noted::read(dir.path(), &last).unwrap(), Noted::Earlier { line: 4, lines: 5 });
}

#[test]
fn a_broken_chain_is_named_with_its_line_and_not_gone_on_with() {
    type Edit = fn(&mut Vec<String>);
    let edits: [(usize, Edit); 5] = [
        (3, |lines| lines[1] = lines[1].replace("399000", "399001")),
        (2, |lines| lines[0] = lines[0].replace("sample", "simple")),
        (2, |lines| drop(lines.remove(1))),
        (2, |lines| lines.swap(1, 2)),
        (1, |lines| {
            let end = lines[0].find(",\"after\"").unwrap();
            lines[0].replace_range(end.., "}");
        }),
    ];
    for (broken, edit) in edits {
        let (dir, mut lines) = chained();
        edit(&mut lines);
        put(dir.path(), &lines);
        let found = Chain::read(dir.path()).unwrap();
        assert!(matches!(found, Chain::Broken { line, .. } if line == broken), "{found:?}");
        let error = Journal::resume(dir.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("trials.jsonl:{broken}: ")), "{error}");
    }
    let (dir, _) = chained();
    fs::write(dir.path().join("experiment.toml"), "title = \"other\"\n").unwrap();
    let error = Journal::resume(dir.path()).unwrap_err().to_string();
    assert!(error.contains("trials.jsonl:1: ") && error.contains("experiment.toml"), "{error}");
}

#[test]
fn a_journal_that_was_begun_without_a_chain_goes_on_without_one() {
    let (dir, mut lines) = chained();
    for line in &mut lines {
        let end = line.find(",\"after\"").unwrap();
        line.replace_range(end.., "}");
    }
    put(dir.path(), &lines);
    assert_eq!(Chain::read(dir.path()).unwrap(), Chain::Absent);
    let (mut journal, _) = Journal::resume(dir.path()).unwrap();
    journal.append(&trial(3)).unwrap();
    journal.finish("all blocks run").unwrap();
    assert_eq!(Chain::read(dir.path()).unwrap(), Chain::Absent);
    assert_eq!(Results::read(dir.path()).unwrap().trials.len(), 4);
}

/// Nothing in a journal that was cut back to its first end says that trials ran again: the hash of its
/// second end does, where it was noted.
#[test]
fn a_hash_that_was_noted_tells_a_journal_cut_back_or_gone_on_with() {
    let (dir, _) = chained();
    let last = || Chain::read(dir.path()).unwrap().last().unwrap().to_owned();
    let (mut journal, _) = Journal::resume(dir.path()).unwrap();
    journal.append(&Trial { status: Status::Failed, ..trial(3) }).unwrap();
    journal.finish("all blocks run").unwrap();
    let (first, journal) = (last(), dir.path().join("trials.jsonl"));
    let bytes = fs::read(&journal).unwrap();
    let (mut again, _) = Journal::reopen(dir.path()).unwrap();
    let resumed = Resumed { again: vec![trial(3).id], ..Resumed::default() };
    again.append_resumed(&resumed).unwrap();
    again.append(&trial(3)).unwrap();
    again.finish("all blocks run").unwrap();
    let second = last();
    let noted = |hash: &str| Noted::read(dir.path(), hash).unwrap();
    assert_eq!(noted(&second.to_uppercase()), Noted::Last);
    assert_eq!(noted(&first), Noted::Earlier { line: 6, lines: 9 });
    fs::write(&journal, bytes).unwrap();
    assert!(matches!(Chain::read(dir.path()).unwrap(), Chain::Whole { .. }));
    assert_eq!((noted(&first), noted(&second)), (Noted::Last, Noted::Nowhere));
}

/// "Name a file instead of a directory" was said to somebody who had named a directory.
#[test]
fn what_lies_in_the_place_of_a_journal_is_to_be_moved() {
    let fifo = |path: &Path| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let makers: [&dyn Fn(&Path); 2] = [&|path| std::fs::create_dir(path).unwrap(), &fifo];
    for make in makers {
        let dir = tempfile::tempdir().unwrap();
        make(&dir.path().join(JOURNAL_FILE));
        for error in
            [Results::read(dir.path()).unwrap_err(), Journal::reopen(dir.path()).unwrap_err()]
        {
            let said = error.to_string();
            assert!(said.ends_with("it is no journal: move it away, or choose another directory"));
        }
    }
}
