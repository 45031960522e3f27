//! A results directory that was bent: `fwdlab report --check` passes none, even where the forger had
//! the report made anew.

// a test may end with a panic wherever it stands
#![allow(clippy::unwrap_used)]

#[path = "lab/forger.rs"]
mod forger;
mod lab;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use forger::{Lines, complaints, copy, made_anew};
use fwdlab_results::{Busy, Checks, Interval, Measured, Results};
use serde_json::{Value, json};

const EXPERIMENT: &str = r#"
title = "Two lookups"
baseline = "radix"
blocks = 4
seed = 11
[[variant]]
name = "radix"
set = { "net.route.algo.inet.algo" = "radix4" }
[[variant]]
name = "modular"
set = { "net.route.algo.inet.algo" = "bsearch4" }
[[traffic]]
name = "inet"
source = "198.18.0.1:7"
destination = "198.19.0.1-198.19.0.4:7"
[[traffic]]
name = "other"
source = "198.18.1.1:7"
destination = "198.19.1.1-198.19.1.4:7"
[routes]
static = ["198.19.0.0/16 via 198.19.0.2"]
"#;

/// What trial `number` counts: start-up, then nine intervals that differ a little; the modular one
/// forwards more. One trial loses frames, one runs on disturbed cores, one has a doubtful machine.
fn counted(number: usize, variant: &str) -> Measured {
    let level = if variant == "modular" { 480_000 } else { 410_000 };
    let interval = |k: u64| {
        let noise = (number as u64 * 7_919 + k * 104_729) % 4_001;
        let rx = if k == 0 { level / 2 } else { level + noise };
        // Short enough for trials that take no time, and no two alike.
        let busy = Some(Busy { ns: 97_000 + number as u64, frames: rx });
        Interval { ms: 0.1, tx: Some(rx), rx, busy, ..Interval::default() }
    };
    let intervals: Vec<Interval> = (0..10).map(interval).collect();
    let frames: u64 = intervals.iter().map(|interval| interval.rx).sum();
    let mut measured = Measured {
        sent: Some(frames),
        received: frames,
        flows_seen: Some(4),
        device_received: Some(frames),
        device_sent: Some(frames),
        checks: Some(Checks { checked: frames / 64, ..Checks::default() }),
        busy: Some(Busy { ns: 970_000 + 10 * number as u64, frames }),
        idle_share: Some(0.0),
        intervals,
        ..Measured::default()
    };
    measured.environment.pinned = true;
    match number {
        4 => measured.device_sent = Some(frames - 10),
        // It runs again, and again; in the end it stays, with a warning.
        8.. if variant == "radix" && number < 12 => measured.environment.core_share = Some(0.6),
        2 => measured.warnings.push("the hypervisor took 12 % of the processor time".to_owned()),
        _ => {}
    }
    measured
}

fn campaign(dir: &Path, shift: usize) {
    let mut answer = |number: usize, request: &fwdlab_device::Request<'_>| {
        let mut measured = counted(number, &request.variant.name);
        for interval in &mut measured.intervals {
            interval.ms += shift as f64;
        }
        Ok(measured)
    };
    let (_, results) = lab::run(dir, EXPERIMENT, None, &mut answer);
    fwdlab_report::write(dir, &results).unwrap();
}

fn add(value: &mut Value, by: i64) {
    *value = json!(value.as_i64().unwrap() + by);
}

/// Swaps two names everywhere in a journal.
fn swapped(text: &str, a: &str, b: &str) -> String {
    text.replace(a, "\u{1}").replace(b, a).replace('\u{1}', b)
}

/// The steady interval with the fewest frames: the median does not feel it.
fn slowest(trial: &Value) -> usize {
    (1..10).min_by_key(|at| trial["intervals"][*at]["rx"].as_u64()).unwrap()
}

type Edit = fn(&mut Lines, &Path);

/// Everything that is done to the journal; `&Path` is another campaign of the same experiment.
const EDITS: [(&str, Edit); 38] = [
    ("another reason for the end", |lines, _| {
        lines.end()["stopped"] = json!("every comparison decided after 4 blocks");
    }),
    ("raw sample raised", |lines, _| {
        let trial = lines.sound();
        add(&mut trial["intervals"][5]["rx"], 50_000);
    }),
    ("raw sample lowered", |lines, _| {
        let trial = lines.sound();
        let at = slowest(trial);
        add(&mut trial["intervals"][at]["rx"], -5);
    }),
    ("one interval dropped", |lines, _| {
        lines.sound()["intervals"].as_array_mut().unwrap().remove(4);
    }),
    ("a cherry-picked interval for every window", |lines, _| {
        for at in lines.places() {
            let trial = &mut lines.0[at];
            let rates = (1..10).map(|k| trial["intervals"][k]["rx"].as_u64().unwrap());
            let rates: Vec<u64> = rates.collect();
            let is_modular = trial["variant"] == "modular";
            let picked = if is_modular { rates.iter().max() } else { rates.iter().min() };
            let picked = *picked.unwrap();
            let first = 1 + rates.iter().position(|rate| *rate == picked).unwrap();
            trial["steady"]["first"] = json!(first);
            trial["steady"]["count"] = json!(1);
            trial["rate_pps"] = json!(picked as f64 * 10_000.0);
        }
    }),
    ("steady window moved", |lines, _| add(&mut lines.sound()["steady"]["first"], 1)),
    ("rate edited", |lines, _| {
        let trial = lines.sound();
        trial["rate_pps"] = json!(trial["rate_pps"].as_f64().unwrap() * 1.001);
    }),
    ("two ids swapped", |lines, _| {
        let places = lines.places();
        let (a, b) = (places[0], places[1]);
        let id = lines.0[a]["id"].clone();
        lines.0[a]["id"] = lines.0[b]["id"].clone();
        lines.0[b]["id"] = id;
    }),
    ("the labels of the variants swapped, everywhere", |lines, _| {
        let baseline = lines.campaign()["baseline"].clone();
        let variants = lines.campaign()["variants"].clone();
        lines.as_text(|text| swapped(&text, "radix", "modular").replace("modular4", "radix4"));
        lines.campaign()["baseline"] = baseline;
        lines.campaign()["variants"] = variants;
    }),
    ("the labels of one block's variants swapped", |lines, _| {
        for at in lines.places().into_iter().filter(|at| *at < 3) {
            let text = lines.0[at].to_string();
            let proof = lines.0[at]["proof"].clone();
            lines.0[at] = serde_json::from_str(&swapped(&text, "radix", "modular")).unwrap();
            lines.0[at]["proof"] = proof;
        }
    }),
    ("order numbers changed", |lines, _| add(&mut lines.sound()["order"], 1)),
    ("block number changed", |lines, _| add(&mut lines.sound()["block"], 1)),
    ("a trial removed", |lines, _| {
        let at = lines.places()[6];
        lines.0.remove(at);
    }),
    ("a trial removed, from the plan too", |lines, _| {
        let at = lines.places()[6];
        let id = lines.0.remove(at)["id"].clone();
        let trials = lines.campaign()["trials"].as_array_mut().unwrap();
        trials.retain(|trial| *trial != id);
    }),
    ("the last block incomplete", |lines, _| {
        let at = *lines.places().last().unwrap();
        lines.0.remove(at);
    }),
    ("a trial duplicated", |lines, _| {
        let at = lines.places()[3];
        let copy = lines.0[at].clone();
        lines.0.insert(at + 1, copy);
    }),
    ("a trial duplicated as one of another block", |lines, _| {
        let places = lines.places();
        let mut copy = lines.0[places[0]].clone();
        let there = &lines.0[places[12]];
        let label = ["id", "block", "order", "variant", "traffic", "started"];
        label.iter().for_each(|key| copy[*key] = there[*key].clone());
        copy["proof"] = json!({ "net.route.algo.inet.algo": "mine" });
        lines.0[places[12]] = copy;
    }),
    ("proof edited", |lines, _| {
        lines.sound()["proof"]["net.route.algo.inet.algo"] = json!("dxr");
    }),
    ("proof removed", |lines, _| lines.sound()["proof"] = json!({})),
    ("seed edited", |lines, _| add(&mut lines.campaign()["seed"], 1)),
    ("margin edited", |lines, _| lines.campaign()["margin"] = json!(0.5)),
    ("baseline edited", |lines, _| lines.campaign()["baseline"] = json!("modular")),
    ("failed trial turned ok", |lines, _| {
        let trial = lines.trial(|trial| trial["status"] == "failed");
        trial["status"] = json!("ok");
        trial["reason"] = Value::Null;
    }),
    ("unwanted trial turned failed", |lines, _| {
        let trial = lines.sound();
        trial["status"] = json!("failed");
        trial["reason"] = json!("the cable fell out");
    }),
    ("a doubt of the lab removed", |lines, _| {
        let away = |trial: &Value| trial["environment"]["core_share"].is_number();
        lines.trial(away)["warnings"] = json!([]);
    }),
    ("a doubt of the device removed", |lines, _| {
        let steal = |trial: &Value| trial["warnings"].to_string().contains("hypervisor");
        lines.trial(steal)["warnings"] = json!([]);
    }),
    ("a line reordered", |lines, _| {
        let places = lines.places();
        lines.0.swap(places[8], places[9]);
    }),
    ("finished record moved", |lines, _| {
        let end = lines.0.pop().unwrap();
        lines.0.insert(5, end);
    }),
    ("another campaign's trial inserted", |lines, other| {
        let mut other = Lines::read(other);
        let trial = lines.sound();
        let foreign = other.trial(|foreign| foreign["id"] == trial["id"]).clone();
        let (started, after) = (trial["started"].clone(), trial["after"].clone());
        *trial = foreign;
        trial["started"] = started;
        if !after.is_null() {
            trial["after"] = after;
        } else {
            trial.as_object_mut().unwrap().remove("after");
        }
    }),
    ("a trial of another day inserted", |lines, _| {
        lines.sound()["started"] = json!("2019-01-01T00:00:00Z");
    }),
    ("flows seen edited", |lines, _| lines.sound()["flows_seen"] = json!(3)),
    ("limit edited", |lines, _| lines.sound()["limited_by"] = json!("generator")),
    ("device time edited", |lines, _| {
        let trial = lines.sound();
        (0..10).for_each(|at| add(&mut trial["intervals"][at]["busy_ns"], -9_000));
    }),
    ("said to be published", |lines, _| lines.campaign()["order"] = json!("published")),
    ("the end cut off", |lines, _| {
        lines.0.pop();
    }),
    ("a block and the end cut off", |lines, _| {
        let places = lines.places();
        lines.0.truncate(places[places.len() - 4]);
    }),
    ("a repeated trial removed", |lines, _| {
        let at = lines.0.iter().position(|line| line["record"] == "repeated").unwrap();
        lines.0.remove(at);
    }),
    ("one trial's intervals in place of another's", |lines, _| {
        let foreign = lines.0[lines.places()[0]]["intervals"].clone();
        lines.sound()["intervals"] = foreign;
    }),
];

/// What nobody can tell without a chain of hashes: counts and doubts that only the machine knew.
const UNSEEN_WITHOUT_CHAIN: [&str; 6] = [
    "raw sample lowered",
    "a doubt of the device removed",
    "another campaign's trial inserted",
    "flows seen edited",
    "device time edited",
    "a repeated trial removed",
];

/// The edits of a journal that pass the check once the report is made anew.
fn passed(genuine: &Path, other: &Path) -> BTreeSet<&'static str> {
    assert_eq!(complaints(genuine), [""; 0]);
    let mut passed = BTreeSet::new();
    for (name, edit) in EDITS {
        let dir = tempfile::tempdir().unwrap();
        copy(genuine, dir.path());
        let mut lines = Lines::read(dir.path());
        let before = lines.0.clone();
        edit(&mut lines, other);
        assert!(lines.0 != before, "{name} changes nothing");
        lines.write(dir.path());
        made_anew(dir.path());
        if complaints(dir.path()).is_empty() {
            passed.insert(name);
        }
    }
    passed
}

#[test]
fn no_edit_of_a_journal_passes() {
    let (genuine, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    campaign(genuine.path(), 0);
    campaign(other.path(), 1);
    assert_eq!(passed(genuine.path(), other.path()), BTreeSet::new());
}

#[test]
fn without_a_chain_only_what_the_machine_alone_knew_can_be_bent() {
    let (genuine, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    campaign(genuine.path(), 0);
    campaign(other.path(), 1);
    for dir in [genuine.path(), other.path()] {
        let mut lines = Lines::read(dir);
        // An earlier version wrote neither seal nor the hash of the environment.
        for key in ["after", "seal", "environment_sha256"] {
            lines.without(key);
        }
        lines.in_the_first_order();
        lines.write(dir);
    }
    made_anew(genuine.path());
    let results = Results::read(genuine.path()).unwrap();
    assert!(fwdlab_report::unchecked(&results).unwrap()[0].to_string().contains("no chain"));
    let readme = fs::read_to_string(genuine.path().join("README.md")).unwrap();
    assert!(!readme.contains("trials.jsonl, last line: SHA-256"));
    assert_eq!(passed(genuine.path(), other.path()), BTreeSet::from(UNSEEN_WITHOUT_CHAIN));
}

/// Who writes every hash anew must still draw the running order anew when anything in the experiment
/// changes, and cannot have trials alike or at once.
#[test]
fn what_is_written_anew_must_agree_with_the_order_and_the_clock() {
    let genuine = tempfile::tempdir().unwrap();
    campaign(genuine.path(), 0);
    let found = |edit: &dyn Fn(&mut Lines, &mut String)| -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        copy(genuine.path(), dir.path());
        let path = dir.path().join("experiment.toml");
        let mut experiment = fs::read_to_string(&path).unwrap();
        let mut lines = Lines::read(dir.path());
        edit(&mut lines, &mut experiment);
        fs::write(&path, &experiment).unwrap();
        lines.write_rechained(dir.path(), &experiment);
        made_anew(dir.path());
        complaints(dir.path())
    };
    assert_eq!(found(&|_, _| ()), [""; 0]);
    let margin = found(&|lines, experiment| {
        experiment.push_str("# margin\n");
        lines.campaign()["experiment_sha256"] =
            json!(fwdlab_guard::digest::of(experiment.as_bytes()));
    });
    assert!(margin.iter().any(|what| what.contains("its seed gives")), "{margin:?}");
    let device = found(&|_, experiment| experiment.insert_str(0, "device = \"another\"\n"));
    let other = "the file beside it says another";
    assert!(device.iter().any(|what| what.contains(other)), "{device:?}");
    let without = found(&|lines, _| lines.without("environment_sha256"));
    assert!(without.iter().any(|what| what.contains("it was taken out")), "{without:?}");
    let of_itself = found(&|lines, _| lines.campaign()["unproven"] = json!("x"));
    assert!(of_itself.iter().any(|what| what.contains("records unproven x")), "{of_itself:?}");
    let all = |key: &'static str, value: Value| {
        found(&move |lines, _| {
            for at in lines.places() {
                lines.0[at][key] = value.clone();
            }
        })
    };
    let less = all("busy_ns", json!(900_000));
    assert!(less.iter().any(|what| what.contains("records busy_ns 900000")), "{less:?}");
    let beyond = all("busy_ns", json!(1e30));
    assert!(beyond.iter().any(|what| what.contains("trials.jsonl:2: invalid type")), "{beyond:?}");
    let half = all("busy_frames", Value::Null);
    assert!(half.iter().any(|what| what.contains("missing field `busy_frames`")), "{half:?}");
    let tester = all("generator_pps", json!(1e12));
    assert!(tester.iter().any(|what| what.contains("no tester sends")), "{tester:?}");
    let ledger = found(&|lines, _| {
        let trial = lines.sound();
        add(&mut trial["sent"], 5_000_000);
        trial["ledger"] = json!("unknown");
    });
    assert!(ledger.iter().any(|what| what.contains("its ledger is unknown")), "{ledger:?}");
    let copied = found(&|lines, _| {
        let foreign = lines.sound()["intervals"].clone();
        let at = *lines.places().last().unwrap();
        lines.0[at]["intervals"] = foreign;
    });
    assert!(copied.iter().any(|what| what.contains("digit for digit")), "{copied:?}");
    let at_once = found(&|lines, _| {
        for at in lines.places() {
            for interval in lines.0[at]["intervals"].as_array_mut().unwrap() {
                interval["ms"] = json!(1_000.0);
            }
        }
    });
    assert!(at_once.iter().any(|what| what.contains("cannot have been measured")), "{at_once:?}");
}

#[test]
fn no_edit_of_the_files_beside_the_journal_passes() {
    let genuine = tempfile::tempdir().unwrap();
    campaign(genuine.path(), 0);
    let edits: [(&str, &str, &str, bool); 7] = [
        ("experiment.toml", "blocks = 4", "blocks = 4 # four", true),
        ("experiment.toml", "bsearch4", "dxr", true),
        ("README.md", "faster", "much faster", false),
        ("claims.json", "\"kept\": 15", "\"kept\": 16", false),
        ("graph.svg", "data-trial=\"b01-", "data-trial=\"b02-", false),
        ("netbenches/radix.inet.pps", "4", "5", false),
        ("index.html", "faster", "slower", false),
    ];
    for (file, from, to, is_made_anew) in edits {
        let dir = tempfile::tempdir().unwrap();
        copy(genuine.path(), dir.path());
        let path = dir.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        if is_made_anew {
            made_anew(dir.path());
        }
        assert!(complaints(dir.path()).iter().any(|what| what.contains(file)), "{file}: {to}");
    }
    let dir = tempfile::tempdir().unwrap();
    copy(genuine.path(), dir.path());
    fs::write(dir.path().join("better.svg"), "").unwrap();
    assert!(complaints(dir.path())[0].starts_with("better.svg: neither data"));
    fs::remove_file(dir.path().join("better.svg")).unwrap();
    fs::remove_file(dir.path().join("experiment.toml")).unwrap();
    made_anew(dir.path());
    assert!(complaints(dir.path()).iter().any(|what| what.starts_with("experiment.toml: missing")));
}
