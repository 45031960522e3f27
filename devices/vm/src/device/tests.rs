//! Tests of what the host makes of a guest's words.

use super::*;
use crate::counts::{measured, prove_rules};
use crate::task::task;
use fwdlab_agent::channel::{Pass, Reading};
use fwdlab_results::Interval;
use fwdlab_topology::{NFTABLES, RuleSet};
use std::fs;

fn pass(ns: u64, received: u64) -> Pass {
    // The first interval is slow, as the first one is.
    let first = Reading { ns, sent: received / 2, received: received / 2 };
    let rest = [Reading { ns, sent: received, received }; 4];
    let intervals: Vec<Reading> = std::iter::once(first).chain(rest).collect();
    let received = intervals.iter().map(|reading| reading.received).sum();
    Pass { intervals, sent: received, received, flows_seen: 2000, ..Pass::default() }
}

#[test]
fn the_testers_own_cost_is_taken_off_every_interval() {
    let counted = Counted {
        cable: pass(10_000_000, 2_000),  // 5000 ns a frame
        device: pass(10_000_000, 1_000), // 10000 ns a frame
        ..Counted::default()
    };
    let measured = measured(counted, &variant(&[]), GuestClock::Instructions);
    let costs: Vec<f64> = measured.intervals.iter().filter_map(Interval::cost_ns).collect();
    assert_eq!(costs, [15_000.0, 5_000.0, 5_000.0, 5_000.0, 5_000.0]);
    let busy = measured.busy.expect("counted");
    assert_eq!((busy.ns, busy.frames), (7_500_000 + 4 * 5_000_000, 4_500));
    assert_eq!(measured.idle_share, Some(1.0 - 27.5 / 50.0));
    assert!(measured.warnings.is_empty(), "{:?}", measured.warnings);
}

/// A frame in a hundred that a rule dropped made all others dearer by a third.
#[test]
fn a_device_that_loses_frames_has_no_cost_where_the_tester_waits_for_them() {
    let lossy = |lost: u64, waits: bool| {
        let mut device = Pass { waits, ..pass(10_000_000, 1_000) };
        device.checks.lost = lost;
        let counted = Counted { cable: pass(10_000_000, 2_000), device, ..Counted::default() };
        measured(counted, &variant(&[]), GuestClock::Instructions)
    };
    let many = lossy(45, true);
    assert_eq!(many.busy, None);
    assert!(many.warnings[0].contains("45 frames were lost"), "{:?}", many.warnings);
    // one in more than a thousand, and one that nobody waits for
    for few in [lossy(4, true), lossy(45, false)] {
        assert!(few.busy.is_some() && few.warnings.is_empty(), "{:?}", few.warnings);
    }
}

/// In FreeBSD guests each trial behind a rule that drops FAILED: "counters disagree".
#[test]
fn what_a_filter_drops_without_a_counter_is_its_own() {
    let drops = |set: &[(&str, &str)]| {
        let device = pass(10_000_000, 750);
        let counted = Counted {
            device_received: 1000,
            device_sent: 750,
            drops: BTreeMap::from([("output packets dropped".to_owned(), 50)]),
            cable: pass(10_000_000, 2_000),
            device,
            ..Counted::default()
        };
        measured(counted, &variant(set), GuestClock::Instructions).drops.expect("counted")
    };
    let rule = "add 100 deny udp from 198.18.10.3 to any";
    for set in [("ipfw", rule), ("pf", "block all"), (NFTABLES, "table ip f {}")] {
        assert_eq!(drops(&[set]).get("rules or program"), Some(&200), "{set:?}");
    }
    assert_eq!(drops(&[]).get("rules or program"), None);
    assert_eq!(drops(&[("ipfw", " ")]).get("rules or program"), None);
}

#[test]
fn a_cable_without_frames_is_a_doubt_about_the_trial() {
    let counted = Counted { device: pass(10_000_000, 1_000), ..Counted::default() };
    let measured = measured(counted, &variant(&[]), GuestClock::Instructions);
    assert!(measured.warnings[0].contains("cable"), "{:?}", measured.warnings);
    // What the tester took is not the device's cost.
    assert_eq!((measured.busy, measured.idle_share), (None, None));
    assert!(measured.intervals.iter().all(|interval| interval.busy.is_none()));
    assert_eq!(measured.intervals.len(), 5, "the rate stays");
}

#[test]
fn the_warm_up_of_a_guest_is_apart_from_what_it_counts() {
    let text = "title = \"t\"\ndevice = \"anything\"\nbaseline = \"a\"\nduration = \"200ms\"\n\
                warmup = \"70ms\"\ninterval = \"20ms\"\n[[variant]]\nname = \"a\"\n\
                [[variant]]\nname = \"b\"\n[[traffic]]\nname = \"inet\"\n\
                source = \"198.18.0.1:7\"\ndestination = \"198.19.1.1:7\"\n\
                [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n";
    let anything = fwdlab_experiment::Anything;
    let experiment = Experiment::of_text(Path::new("t.toml"), text, &[&anything]);
    let experiment = experiment.expect("a valid experiment");
    let (variant, traffic) = (&experiment.variants[0], &experiment.traffics[0]);
    let machine = VmMachine::default();
    let task = task(&Request { experiment: &experiment, variant, traffic }, &machine);
    assert_eq!((task.warmup_ns, task.duration_ns), (70_000_000, 200_000_000));
    let warm = task.of_warm_up();
    assert_eq!(
        (warm.duration_ns, warm.cable_ns, warm.interval_ns),
        (70_000_000, 70_000_000, 20_000_000)
    );
}

#[test]
fn rules_are_text_or_a_file_beside_the_experiment() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("rules.nft"), "table inet t {}").expect("a file");
    let rules = |value: &str| RuleSet::named(value).text(|file| dir.path().join(file));
    assert_eq!(rules("table inet x {}").expect("text"), "table inet x {}");
    assert_eq!(rules("rules.nft").expect("a file"), "table inet t {}");
    let error = rules("absent.nft").expect_err("no file").to_string();
    assert!(error.contains("absent.nft"), "{error}");
}

#[test]
fn rules_that_did_not_take_are_no_proof() {
    let asked = variant(&[(NFTABLES, "table inet t {}")]);
    let proof_of = |listed: &str| {
        let mut proof = BTreeMap::from([(NFTABLES.to_owned(), listed.to_owned())]);
        prove_rules(&mut proof, &asked);
        proof[NFTABLES].clone()
    };
    assert_eq!(proof_of("table inet t {\n}"), "table inet t {}");
    assert_eq!(proof_of(""), "");
}

fn variant(pairs: &[(&str, &str)]) -> Variant {
    let set = pairs.iter().map(|(word, value)| ((*word).to_owned(), (*value).to_owned()));
    Variant { name: "v".to_owned(), set: set.collect(), own: Default::default() }
}
