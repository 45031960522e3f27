//! Histories of whole directories: published ones, and the same after an import.

use std::fs;
use std::path::{Path, PathBuf};

use fwdlab_history::{History, Options, find, read, render};
use fwdlab_results::journal::Journal;
use fwdlab_results::{Campaign, Trial, examples};
use serde_json::Value;

/// A year of `.pps` files: two configurations, 40 revisions of five runs, pf 5 % slower from r301000
/// on.
fn year(root: &Path) -> PathBuf {
    let dir = root.join("Atom_C2558_4Cores/Intel_i350/firewalls/results/fbsd.2017");
    fs::create_dir_all(&dir).expect("a history");
    for at in 0..40u32 {
        for (configuration, base) in [("forwarding", 826_000.0), ("pf-statefull", 512_000.0)] {
            let is_slower = configuration == "pf-statefull" && at >= 20;
            let level = base * if is_slower { 0.95 } else { 1.0 };
            let run = |n: u32| level * (1.0 + f64::from((at * 7 + n * 3) % 9) * 0.001);
            let lines: String = (0..5).map(|n| format!("{}\n", run(n))).collect();
            fs::write(dir.join(format!("{}.{configuration}.pps", 300_000 + at * 50)), lines)
                .expect("a history");
        }
    }
    dir
}

fn history(dir: &Path) -> History {
    let found = read::read(&[dir.to_owned()]).expect("a history");
    find(found.points, &[], &Options::default())
}

fn json(history: &History) -> Value {
    serde_json::from_str(&render::json(history).expect("a history")).expect("a history")
}

#[test]
fn a_published_year_is_read_directly_and_its_change_is_found() {
    let root = tempfile::tempdir().unwrap();
    year(root.path());
    let value = json(&history(root.path()));
    let series = value["series"].as_array().unwrap();
    assert_eq!(series.len(), 2);
    let pf = series.iter().find(|s| s["configuration"] == "pf-statefull").unwrap();
    assert_eq!(pf["machine"], "Atom_C2558_4Cores/Intel_i350");
    assert_eq!(pf["points"].as_array().unwrap().len(), 40);
    assert_eq!(pf["points"][0]["revision"], "300000");
    assert_eq!(pf["points"][0]["runs"], 5);
    let changes = pf["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!(
        (&changes[0]["first_changed"], &changes[0]["last_before"]),
        (&Value::from("301000"), &Value::from("300950"))
    );
    let (low, high) = (changes[0]["low"].as_f64().unwrap(), changes[0]["high"].as_f64().unwrap());
    assert!(low < -5.0 && -5.0 < high, "{low} to {high}");
    let forwarding = series.iter().find(|s| s["configuration"] == "forwarding").unwrap();
    assert_eq!(forwarding["changes"].as_array().unwrap().len(), 0);
    assert_eq!(value["alerts"][0]["unmoved"].as_array().unwrap().len(), 1);
}

#[test]
fn the_data_of_a_graph_serves_where_nothing_else_is_left() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("lab_4Cores/nic/firewalls/results/fbsd.2016");
    fs::create_dir_all(&dir).unwrap();
    let rows: String = (0..30u32)
        .map(|i| {
            let level = if i < 12 { 550_000 } else { 520_000 } + (i * 1_373) % 2_000;
            format!("{} {level} {} {}\n", 293_069 + i * 400, level - 2_000, level + 2_000)
        })
        .collect();
    fs::write(dir.join("forwarding.data"), format!("#index median minimum maximum\n{rows}"))
        .unwrap();
    let value = json(&history(root.path()));
    assert_eq!(value["series"][0]["configuration"], "forwarding");
    assert_eq!(value["series"][0]["changes"][0]["first_changed"], "297869");
}

#[test]
fn the_data_of_a_graph_over_anything_else_is_named_and_left_out() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("bench")).unwrap();
    let rows = "#index median minimum maximum\nforwarding 700000 690000 710000\n";
    fs::write(root.path().join("bench/gnuplot.data"), rows).unwrap();
    let found = read::read(&[root.path().to_owned()]).expect("it is named");
    let [why] = found.skipped.as_slice() else { panic!("{:?}", found.skipped) };
    assert!(why.starts_with("bench/gnuplot.data: no row has a revision"), "{why}");
    assert!(found.points.is_empty());
}

#[test]
fn what_a_report_wrote_beside_its_journal_is_not_counted_again() {
    let root = tempfile::tempdir().unwrap();
    let beside = root.path().join("netbenches");
    fs::create_dir(&beside).unwrap();
    fs::write(root.path().join("trials.jsonl"), "").unwrap();
    fs::write(root.path().join("gnuplot.data"), "#index median minimum maximum\n").unwrap();
    fs::write(beside.join("300000.forwarding.pps"), "1\n2\n3\n").unwrap();
    let found = read::read(&[root.path().to_owned()]).expect("the journal is named");
    assert!(found.points.is_empty(), "{:?}", found.points);
    let [why] = found.skipped.as_slice() else { panic!("{:?}", found.skipped) };
    assert!(why.contains("lacks the campaign record"), "{why}");
    // Without a journal they are what is left.
    fs::remove_file(root.path().join("trials.jsonl")).unwrap();
    assert_eq!(read::read(&[root.path().to_owned()]).unwrap().points.len(), 1);
}

#[test]
fn a_journal_that_is_no_file_is_named_and_left_out() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("300000.forwarding.pps"), "1\n2\n3\n").unwrap();
    let run = root.path().join("run");
    fs::create_dir(&run).unwrap();
    std::os::unix::fs::symlink("/dev/zero", run.join("trials.jsonl")).unwrap();
    let found = read::read(&[root.path().to_owned()]).expect("points beside it");
    assert_eq!(found.points.len(), 1);
    assert!(
        found.skipped.iter().any(|why| why.contains("run/trials.jsonl")),
        "{:?}",
        found.skipped
    );
}

#[test]
fn a_tree_without_results_is_an_error_that_says_what_was_wanted() {
    let root = tempfile::tempdir().unwrap();
    let error = read::read(&[root.path().to_owned()]).unwrap_err().to_string();
    assert!(error.contains("trials.jsonl") && error.contains(".pps"), "{error}");
}

#[test]
fn the_seeds_are_one_history_published_or_imported() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/netbenches");
    if !root.is_dir() {
        println!("SKIPPED: the_seeds_are_one_history_published_or_imported: no {}", root.display());
        return;
    }
    let published = history(&root);
    // "I never saw 14.8 Mpps before, compare with previous benches": they sent other flows
    let xeon = |flows| {
        let is_it = |s: &&fwdlab_history::Series| {
            let key = &s.key;
            key.machine.starts_with("Xeon")
                && key.family == "inet"
                && key.flows == Some(flows)
                && key.configuration.is_empty()
        };
        published.series.iter().find(is_it).map(|s| s.points[0].revision.clone())
    };
    assert_eq!(xeon(2_000).as_deref(), Some("r368287"));
    assert_eq!(xeon(4_970).as_deref(), Some("r368606"));
    // a patched image is no point of the line that it was patched on
    assert!(published.series.iter().any(|s| s.key.configuration == "+D11476"));
    let out = tempfile::tempdir().unwrap();
    fwdlab_netbenches::import::import(&root, out.path()).unwrap();
    let imported = history(out.path());
    let figures = |own: &History| -> Vec<(String, Vec<(String, String)>)> {
        let point = |p: &fwdlab_history::Point| (p.revision.clone(), format!("{:.3}", p.median()));
        own.series.iter().map(|s| (s.key.name(), s.points.iter().map(point).collect())).collect()
    };
    assert_eq!(figures(&published), figures(&imported));
}

/// A backup, a directory that was moved and is found again, and a tree that is given twice were points of their own.
#[test]
fn a_copy_of_a_campaign_is_no_point() {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, seed: u64, is_ended: bool| {
        let dir = root.path().join(name);
        let day = format!("2026-11-0{seed}T13:00:00Z");
        let campaign = Campaign { seed, started: day.clone(), ..examples::campaign() };
        let mut journal = Journal::create(&dir, &campaign, "title = \"t\"", None).unwrap();
        for at in 0..campaign.trials.len() {
            let started = Some(day.clone());
            journal.append(&Trial { started, ..examples::trial(at) }).unwrap();
        }
        if is_ended {
            journal.finish("all blocks run").unwrap();
        }
    };
    write("a-before-its-end", 7, false);
    write("k", 7, true);
    write("k-copied", 7, true);
    write("other", 8, true);
    let read = read::read(&[root.path().to_owned(), root.path().to_owned()]).unwrap();
    let own = find(read.points, &[], &Options::default());
    let points: Vec<usize> = own.series.iter().map(|series| series.points.len()).collect();
    assert_eq!(points, [2, 2]);
    let [unfinished, copy] = &read.skipped[..] else { panic!("{:?}", read.skipped) };
    assert!(unfinished.contains("unfinished"), "{unfinished}");
    assert!(copy.contains("k-copied: it holds the campaign of"), "{copy}");
}

/// "0 changes" was said of series of one point as of others.
#[test]
fn series_of_one_point_are_counted_and_nothing_can_be_found_in_them() {
    let root = tempfile::tempdir().unwrap();
    let dir = year(root.path());
    let whole = history(root.path());
    assert_eq!(whole.single(), None);
    for entry in fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let is_first = path.file_name().unwrap().to_str().unwrap().starts_with("300000.");
        let is_pf = path.to_string_lossy().contains("pf-statefull");
        if !is_first && !is_pf {
            fs::remove_file(path).unwrap();
        }
    }
    let own = history(root.path());
    let said = "1 of 2 series has a single point: no change can be found in it";
    assert_eq!(own.single().as_deref(), Some(said));
    assert!(render::text(&own).ends_with(&format!("{said}\n")), "{}", render::text(&own));
    assert!(render::markdown(&own).contains(said), "{}", render::markdown(&own));
    for entry in fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        if !path.file_name().unwrap().to_str().unwrap().starts_with("300000.") {
            fs::remove_file(path).unwrap();
        }
    }
    let own = history(root.path());
    let said = "all 2 series have a single point: no change can be found in them";
    let page = render::html(&own, root.path()).unwrap();
    for text in [render::text(&own), render::markdown(&own), page] {
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn every_format_says_something() {
    let root = tempfile::tempdir().unwrap();
    year(root.path());
    let own = history(root.path());
    assert!(render::text(&own).contains("regression after 300950, at or before 301000"));
    assert!(render::markdown(&own).contains("| regression |"));
    let benchmark: Value =
        serde_json::from_str(&render::github_action_benchmark(&own).unwrap()).unwrap();
    assert_eq!(benchmark["customBiggerIsBetter"].as_array().unwrap().len(), 2);
    let bencher: Value = serde_json::from_str(&render::bencher(&own).unwrap()).unwrap();
    assert_eq!(bencher.as_object().unwrap().len(), 2);
    let otava = render::otava(&own);
    assert_eq!(otava.lines().count(), 41);
    assert!(otava.starts_with("time,commit,"));
}
