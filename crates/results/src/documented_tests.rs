//! The keys of the journal are those that docs/results.md lists, both ways. Each record here has every
//! field that there is, written out, so that a new one does not compile until it stands here.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::examples::trial;
use crate::*;

const PAGE: &str = include_str!("../../../docs/results.md");

fn every_key_of_a_campaign() -> Campaign {
    let truth = Truth { traffic: "inet".to_owned(), kind: TruthKind::Same };
    Campaign {
        schema: SCHEMA,
        experiment_sha256: String::new(),
        inputs: [("routes.txt".to_owned(), String::new())].into(),
        title: String::new(),
        device: String::new(),
        about: Some(About {
            line: String::new(),
            fact: None,
            link: Link::Memory,
            command: None,
            tick: Tick::default(),
        }),
        testbed: Some(TestbedMark { name: String::new(), fingerprint: String::new() }),
        order: TrialOrder::Published,
        grouping: Grouping::Variant,
        seed: 0,
        order_version: ORDER_VERSION,
        blocks: 0,
        until_decided: true,
        blocks_per_process: Some(1),
        calibration: Some(Calibration {
            share: 0.1,
            slow_word: None,
            slow_ns: 0.0,
            truths: vec![truth],
        }),
        unproven: Some(String::new()),
        measure: Measure::Soak,
        margin: 0.0,
        baseline: String::new(),
        variants: Vec::new(),
        traffics: Vec::new(),
        trials: Vec::new(),
        started: String::new(),
        environment_sha256: Some(String::new()),
    }
}

fn every_key_of_a_trial() -> Trial {
    let Trial { id, variant, traffic, steady, load, .. } = trial(0);
    let steady = steady.map(|steady| Steady { skipped: vec![0], ..steady });
    let failure = Failure {
        kind: FailureKind::DutHung,
        at: String::new(),
        remedies: Vec::new(),
        console: Vec::new(),
        logs: Vec::new(),
    };
    Trial {
        id,
        block: 1,
        order: 1,
        variant,
        traffic,
        family: Family::Inet,
        measure: Measure::Soak,
        status: Status::Failed,
        reason: None,
        started: Some(String::new()),
        frame_bytes: 64,
        flows_planned: Some(1),
        load,
        offered_pps_asked: None,
        interval_ms: 0.0,
        limited_by: LimitedBy::Device,
        steady,
        rate_pps: None,
        failure: Some(failure),
        measured: every_key_of_what_was_counted(),
    }
}

fn every_key_of_what_was_counted() -> Measured {
    let latency = LatencyFigures::default();
    let busy = Some(Busy::default());
    Measured {
        intervals: vec![Interval {
            ms: 0.0,
            tx: Some(0),
            rx: 0,
            busy,
            slow_share: Some(0.0),
            beat_ns: Some(0.0),
        }],
        sent: Some(0),
        received: 0,
        flows_seen: Some(0),
        drops: Some(Default::default()),
        device_received: Some(0),
        device_sent: Some(0),
        ledger: Ledger::Unknown,
        checks: Some(Checks { bad_payload: 1, astray: 1, returned: 1, ..Checks::default() }),
        busy,
        busy_by: Some(BusyBy::Ticks),
        joules: Some(0.0),
        idle_share: Some(0.0),
        generator_pps: Some(0.0),
        search: Some(RateSearch {
            mrr_pps: 0.0,
            lower_pps: 0.0,
            upper_pps: 0.0,
            trials: Vec::new(),
        }),
        latency: Some(latency),
        stamps: Some(StampFigures { floor: Some(latency), ..StampFigures::default() }),
        latency_at: vec![LatencyAt { share: 0.1, figures: latency }],
        benchmark: Some(Benchmark::LossCurve(LossCurve::default())),
        ways: vec![Way::default()],
        queues: vec![Queue { name: String::new(), frames: 0 }],
        churn: Some(Churned::default()),
        proof: Default::default(),
        environment: TrialEnvironment {
            process: Some(1),
            roundtrip_ns: None,
            roundtrips_ns: vec![None],
            core_share: Some(1.0),
            device_share: Some(1.0),
            takes_turns: true,
            steal_share: None,
            pinned: true,
        },
        warnings: Vec::new(),
    }
}

/// What stands in backticks.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The part of the page about a kind of record.
fn part(kind: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("\n### `{kind}`\n")).expect("its heading");
    rest.split_once("\n### ").map_or(rest, |(part, _)| part)
}

/// Rows of its table: the first column and the others.
fn rows(kind: &str) -> Vec<(&'static str, &'static str)> {
    let rows = part(kind).lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    rows.filter(|(keys, _)| keys.starts_with('`')).collect()
}

/// Keys of a record but for those that every line has.
fn keys(record: &Record) -> (Value, BTreeSet<String>) {
    let value = serde_json::to_value(record).expect("plain values");
    let keys = value.as_object().expect("an object").keys().cloned();
    let keys = keys.filter(|key| key != "record").collect();
    (value, keys)
}

fn assert_same(kind: &str, written: &BTreeSet<String>, documented: &BTreeSet<&str>) {
    let written: BTreeSet<&str> = written.iter().map(String::as_str).collect();
    let missing: Vec<_> = written.difference(documented).collect();
    assert!(missing.is_empty(), "docs/results.md does not list keys of `{kind}`: {missing:?}");
    let gone: Vec<_> = documented.difference(&written).collect();
    assert!(gone.is_empty(), "docs/results.md lists keys that no `{kind}` has: {gone:?}");
}

#[test]
fn the_documented_keys_are_those_that_journals_have() {
    let resumed =
        Resumed { at: String::new(), differences: vec![String::new()], again: vec![String::new()] };
    let records = [
        ("campaign", Record::Campaign(Box::new(every_key_of_a_campaign()))),
        ("trial", Record::Trial(Box::new(every_key_of_a_trial()))),
        ("resumed", Record::Resumed(resumed)),
    ];
    for (kind, record) in records {
        let documented = rows(kind).iter().flat_map(|(keys, _)| quoted(keys)).collect();
        assert_same(kind, &keys(&record).1, &documented);
    }
    let finished =
        Finished { at: String::new(), stopped: String::new(), earlier_truths: "1".to_owned() };
    // `seal` is the writer's: the hash of the record itself.
    let mut written = keys(&Record::Finished(finished)).1;
    written.insert("seal".to_owned());
    let documented = quoted(part("finished"));
    let documented = documented.into_iter().filter(|word| !word.contains(' ')).collect();
    assert_same("finished", &written, &documented);
}

#[test]
fn the_keys_within_a_trial_are_documented_in_its_row() {
    let (value, _) = keys(&Record::Trial(Box::new(every_key_of_a_trial())));
    let rows = rows("trial");
    for key in ["intervals", "checks", "steady", "latency", "stamps", "environment"] {
        let (_, text) = rows.iter().find(|(keys, _)| quoted(keys).contains(key)).expect("its row");
        let inner = value[key].get(0).unwrap_or(&value[key]);
        for own in inner.as_object().expect("an object").keys() {
            assert!(quoted(text).contains(own.as_str()), "{key}: `{own}` is not in {text}");
        }
    }
}
