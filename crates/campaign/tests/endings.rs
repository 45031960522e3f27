//! How a campaign ended, and on what it ran: who changes that, or chooses the end, is named.

// a test may end with a panic wherever it stands
#![allow(clippy::unwrap_used)]

#[path = "lab/forger.rs"]
mod forger;
mod lab;

use std::fs;
use std::path::Path;

use forger::{Lines, complaints, copy, made_anew};
use fwdlab_campaign::runner::End;
use fwdlab_device::DeviceError;
use fwdlab_results::{Journal, Results, Trial};
use lab::counted;
use serde_json::json;

/// A campaign that ends when it is decided.
fn experiment(cap: u32) -> String {
    format!(
        "title = \"t\"\nbaseline = \"radix\"\nblocks = \"until-decided\"\ncap = {cap}\nseed = 3\n\
         [[variant]]\nname = \"radix\"\n[[variant]]\nname = \"modular\"\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1:7\"\ndestination = \"198.19.0.1:7\"\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n"
    )
}

/// Runs it: the modular one is a little faster, each trial by chance a little more or less.
fn campaign(dir: &Path, cap: u32) -> Results {
    let mut answer = |number: usize, request: &fwdlab_device::Request<'_>| {
        let noise = (number as u64 * 7_919) % 4_001;
        let level = if request.variant.name == "modular" { 412_000 } else { 410_000 };
        Ok(counted(level + noise))
    };
    let (end, results) = lab::run(dir, &experiment(cap), None, &mut answer);
    assert_eq!(end, End::Finished);
    fwdlab_report::write(dir, &results).unwrap();
    results
}

/// The campaign of `results` as somebody writes it, with the same program, who keeps some trials only.
fn written_anew(results: &Results, dir: &Path, stopped: &str, keep: impl Fn(u32) -> bool) {
    let experiment = fs::read_to_string(results.dir.join("experiment.toml")).unwrap();
    let environment = fs::read(results.dir.join("environment.json")).unwrap();
    let mut journal =
        Journal::create(dir, &results.campaign, &experiment, Some(&environment)).unwrap();
    for trial in results.every().filter(|trial| keep(trial.block)) {
        journal.append(trial).unwrap();
    }
    journal.finish(stopped).unwrap();
    made_anew(dir);
}

#[test]
fn the_end_is_where_the_rule_has_it() {
    let (genuine, bent) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let results = campaign(genuine.path(), 40);
    assert_eq!(complaints(genuine.path()), [""; 0]);
    assert_eq!(fwdlab_report::unchecked(&results).unwrap(), []);
    let stopped = &results.finished.as_ref().unwrap().stopped;
    let ended = results.trials.last().unwrap().block;
    assert!(ended > 6 && stopped.contains(&format!("after {ended} blocks")), "{ended}: {stopped}");

    // Sooner, with every hash in order.
    let soon = bent.path().join("soon");
    let claim = stopped.replace(&format!("after {ended}"), "after 6");
    written_anew(&results, &soon, &claim, |block| block <= 6);
    let found = complaints(&soon);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("ended after block 6") && found[0].contains("ask for more"));

    // "All blocks run" of fewer than were planned.
    let all = bent.path().join("all");
    written_anew(&results, &all, "all blocks run", |block| block <= 6);
    assert!(complaints(&all).iter().any(|what| what.contains("ask for more")));

    // Later: four blocks more than it needed.
    let late = bent.path().join("late");
    let more = four_blocks_more(&results);
    written_anew(&more, &late, &stopped.replace(&format!("after {ended}"), "after 44"), |_| true);
    let found = complaints(&late);
    let wanted = format!(
        "ended after block {}, its rule and its trials end it after block {ended}",
        ended + 4
    );
    assert!(found.iter().any(|what| what.contains(&wanted)), "{found:?}");
}

/// The same campaign, which somebody let run on.
fn four_blocks_more(results: &Results) -> Results {
    let ended = results.trials.last().unwrap().block;
    let mut more = results.clone();
    for id in results.missing().into_iter().take(8) {
        let block: u32 = id[1..3].parse().unwrap();
        let variant = id.rsplit('-').next().unwrap();
        let model = results.trials.iter().find(|trial| trial.variant == variant).unwrap();
        let order = more.trials.len() as u32 + 1;
        let trial = Trial { id: id.to_owned(), block, order, ..model.clone() };
        more.trials.push(trial);
    }
    assert_eq!(more.trials.last().unwrap().block, ended + 4);
    more
}

/// Before, the end was decided anew without the trials that were to run again, and these never ran.
#[test]
fn failed_trials_run_again_before_the_end_is_decided_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut answer = |number: usize, request: &fwdlab_device::Request<'_>| {
        if number == 2 || number == 7 {
            return Err(DeviceError::trial("it broke"));
        }
        let noise = (number as u64 * 7_919) % 4_001;
        let level = if request.variant.name == "modular" { 412_000 } else { 410_000 };
        Ok(counted(level + noise))
    };
    let (_, results) = lab::run(dir.path(), &experiment(40), None, &mut answer);
    assert_eq!(results.failed().len(), 2);
    let opened = lab::again(dir.path(), &experiment(40));
    let mut answer = |_: usize, request: &fwdlab_device::Request<'_>| {
        Ok(counted(if request.variant.name == "modular" { 412_000 } else { 410_000 }))
    };
    assert_eq!(lab::run_on(opened, &experiment(40), None, &mut answer), End::Finished);
    let again = Results::read(dir.path()).unwrap();
    assert_eq!(again.failed().len(), 0);
    assert_eq!(again.repeated.len(), 2);
    assert!(again.trials.len() >= results.trials.len(), "{}", again.trials.len());
    fwdlab_report::write(dir.path(), &again).unwrap();
    assert_eq!(complaints(dir.path()), [""; 0]);
}

#[test]
fn a_campaign_without_an_end_passes_no_check() {
    let dir = tempfile::tempdir().unwrap();
    campaign(dir.path(), 40);
    let text = fs::read_to_string(dir.path().join("trials.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for gone in [1, 3] {
        let kept = lines[..lines.len() - gone].join("\n") + "\n";
        fs::write(dir.path().join("trials.jsonl"), kept).unwrap();
        assert!(complaints(dir.path()).iter().any(|what| what.starts_with("README.md")));
        made_anew(dir.path());
        let found = complaints(dir.path());
        assert!(found.iter().any(|what| what.contains("no end of the campaign")), "{found:?}");
    }
    // A line without its end was cut short.
    fs::write(dir.path().join("trials.jsonl"), text.trim_end()).unwrap();
    made_anew(dir.path());
    assert!(complaints(dir.path()).iter().any(|what| what.contains("no end of the campaign")));
}

/// What is done to the last line, which no other line follows, and to the marks of it.
#[test]
fn nothing_can_be_changed_in_the_last_line() {
    type Edit = fn(&mut Lines);
    let edits: [(&str, Edit); 8] = [
        ("its seal", |lines| lines.end()["earlier_truths"] = json!("1111")),
        ("its seal", |lines| lines.end()["stopped"] = json!("all blocks run")),
        ("its seal", |lines| lines.end()["at"] = json!("2099-01-01T00:00:00Z")),
        ("its seal", |lines| lines.end()["seal"] = json!("00")),
        ("its seal", |lines| lines.end()["note"] = json!("checked by hand")),
        ("its seal", |lines| {
            lines.end().as_object_mut().unwrap().remove("seal");
        }),
        ("its seal", |lines| lines.without("after")),
        ("its hash", |lines| lines.without("environment_sha256")),
    ];
    let genuine = tempfile::tempdir().unwrap();
    campaign(genuine.path(), 40);
    for (place, (words, edit)) in edits.into_iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        copy(genuine.path(), dir.path());
        let mut lines = Lines::read(dir.path());
        edit(&mut lines);
        lines.write(dir.path());
        made_anew(dir.path());
        let found = complaints(dir.path());
        assert!(found.iter().any(|what| what.contains(words)), "{place}: {found:?}");
    }
}

#[test]
fn what_a_campaign_ran_on_stays_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    campaign(dir.path(), 40);
    let path = dir.path().join("environment.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"processor\": \"\"", "\"processor\": \"Another\"")).unwrap();
    made_anew(dir.path());
    let found = complaints(dir.path());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("environment.json: its SHA-256"), "{found:?}");
    fs::remove_file(&path).unwrap();
    made_anew(dir.path());
    assert!(complaints(dir.path())[0].starts_with("environment.json: missing"));
}

#[test]
fn a_run_does_not_go_on_beside_another_environment() {
    let dir = tempfile::tempdir().unwrap();
    let mut answer = |_: usize, _: &fwdlab_device::Request<'_>| Ok(counted(410_000));
    let (end, _) = lab::run(dir.path(), &experiment(40), Some(5), &mut answer);
    assert_eq!(end, End::Stopped);
    let path = dir.path().join("environment.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.clone() + " ").unwrap();
    let error = lab::open(dir.path(), &experiment(40)).unwrap_err().to_string();
    assert!(error.contains("environment.json") && error.contains("put it back"), "{error}");
    fs::write(&path, text).unwrap();
    assert!(lab::open(dir.path(), &experiment(40)).is_ok());
}
