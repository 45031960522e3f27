//! What is exported is imported again as what it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::*;
use crate::import::import;
use fwdlab_results::{Family, RateSearch, Status, examples};

const SENDER_6: &str = "CMD on 10.0.0.1: pkt-gen -f tx -i igb2 -l 62 -6 -s \
    \"[2001:2:0:10::1]-[2001:2:0:10::14]\" -d \"[2001:2:0:8010::1]-[2001:2:0:8010::64]\"";
const SENDER_4: &str = "CMD: pkt-gen -f tx -i igb2 -l 124 -4 -s 198.18.10.1-198.18.10.20 -R 500K";

fn write(dir: &Path, name: &str, text: &str) {
    fs::write(dir.join(name), text).unwrap();
}

/// A log of pkt-gen: `head` lines, then a reading a second.
fn log(command: &str, head: usize, rates: &[u64]) -> String {
    let mut text = format!("{command}\n");
    for _ in 1..head {
        text.push_str("748.490610 main [2512] interface is igb2\n");
    }
    for (second, rate) in (1..).zip(rates) {
        let at = 600 + second;
        text.push_str(&format!(
            "{at}.{:06} main_thread [2277] {rate} pps ({} pkts 9 bps in 1000500 usec) 2.30 avg_batch 0 min_space\n",
            second * 500,
            (*rate as f64 * 1.0005).round()
        ));
    }
    text + "Received 9999999 packets 9 bytes 9 events 60 bytes each in 9.99 seconds.\nTerminated\n"
}

/// A published directory: IPv6, two senders, a run without sender, failed runs, a call graph.
fn published(root: &Path) {
    let raw = root.join("RAW");
    fs::create_dir_all(&raw).unwrap();
    let rates = |run: u64| -> Vec<u64> { (0..30).map(|i| 700_000 + 7 * i + 1000 * run).collect() };
    let sent = |run: u64| -> Vec<u64> { rates(run).iter().map(|rate| 2 * rate).collect() };
    let receiver = "CMD on 10.0.0.1: pkt-gen -f rx -i igb3";
    for run in 1..=2 {
        write(&raw, &format!("bench.r1.inet6.{run}.sender"), &log(SENDER_6, 9, &sent(run)));
        write(&raw, &format!("bench.r1.inet6.{run}.receiver"), &log(receiver, 9, &rates(run)));
        let second = SENDER_4.to_owned() + " -d 198.19.10.1-198.19.10.7";
        let first = SENDER_4.to_owned() + " -d 198.19.10.1-198.19.10.100";
        write(&raw, &format!("bench.r2.inet4.{run}.sender"), &log(&first, 9, &sent(run)));
        write(&raw, &format!("bench.r2.inet4.{run}.sender_2"), &log(&second, 9, &sent(run)));
        let alone = log("CMD: pkt-gen -f rx -i igb3", 11, &rates(run + 4));
        write(&raw, &format!("bench.r2.inet4.{run}.receiver"), &alone);
    }
    // the receiver of r1 copied to r2, as archives hold such
    write(&raw, "bench.r2.inet6.1.receiver", &log(receiver, 9, &rates(1)));
    write(&raw, "bench.r2.inet6.1.sender", &log(SENDER_6, 9, &sent(1)));
    write(&raw, "bench.r2.inet6.2.receiver", "ouch, thread 0 exited with error\n");
    write(&raw, "bench.r2.inet6.2.sender", &log(SENDER_6, 9, &sent(1)));
    write(&raw, "bench.r3.inet6.1.receiver", &log(receiver, 9, &rates(9)));
    write(
        &raw,
        "bench.r1.inet6.info",
        "IMAGE=\"r1\"\nCFG=\"\"\nPKTGEN=\"inet6\"\nUNAME=\"x $(y)\"",
    );
    let graph =
        "@ CPU_CLK_UNHALTED_CORE [9 samples]\n\n100.0%  [9]        f @ /boot/kernel/kernel\n";
    write(&raw, "bench.r1.inet6.1.pmc.graph", graph);
    write(root, "bench.r2.inet4.pmc.stack", "a;b 5\n");
}

fn trials(dir: &Path) -> Vec<Trial> {
    Results::read(dir).unwrap().trials
}

#[test]
fn what_was_imported_is_exported_as_it_was() {
    let [from, one, out, two] = [(); 4].map(|()| tempfile::tempdir().unwrap());
    published(from.path());
    let first = import(from.path(), one.path()).unwrap();
    let exported = export(&Results::read(one.path()).unwrap(), out.path()).unwrap();
    assert_eq!((exported.graphs, exported.profiles_left_out), (2, 0));
    for name in ["RAW/bench.r1.inet6.1.pmc.graph", "bench.r2.inet4.pmc.stack"] {
        let bytes = |root: &Path| fs::read(root.join(name)).unwrap();
        assert_eq!(bytes(out.path()), bytes(from.path()), "{name}");
    }
    let second = import(out.path(), two.path()).unwrap();
    assert_eq!((first.trials, first.failed, first.profiles), (7, 2, 2), "{first:?}");
    assert_eq!(
        (second.trials, second.failed, second.profiles, &second.reasons),
        (first.trials, first.failed, first.profiles, &first.reasons)
    );
    for (was, is) in trials(one.path()).into_iter().zip(trials(two.path())) {
        let plain = |trial: &Trial| {
            let mut trial = trial.clone();
            trial.measured.warnings.clear(); // of closing lines that the logs had or had not
            if !trial.is_ok() && trial.steady.is_none() {
                trial.measured = Default::default();
            }
            trial
        };
        assert_eq!(plain(&is), plain(&was), "{}", was.id);
    }
    let flows: BTreeMap<String, Option<u64>> =
        trials(two.path()).into_iter().map(|trial| (trial.id, trial.flows_planned)).collect();
    assert_eq!(flows["b01-inet6-r1"], Some(2000));
    assert_eq!(flows["b01-inet4-r2"], Some(2000 + 140));
    assert_eq!(flows["b01-inet6-r3"], None);
}

#[test]
fn own_trials_are_imported_as_what_they_were() {
    let mut results = examples::results();
    let of = |name: &str, family: Family, flows: Option<u64>| Trial {
        id: format!("b01-{name}-radix"),
        variant: "radix".to_owned(),
        traffic: name.to_owned(),
        block: 1,
        family,
        flows_planned: flows,
        ..examples::trial(0)
    };
    let failed = Trial {
        status: Status::Failed,
        reason: Some("the device said: \"no route\"".to_owned()),
        rate_pps: None,
        ..of("inet6", Family::Inet6, Some(70))
    };
    let asked = Trial {
        load: "10kpps".to_owned(),
        offered_pps_asked: Some(10_000.5),
        frame_bytes: 1518,
        ..of("large frames", Family::Inet, Some(1))
    };
    let mut searched = of("searched", Family::Inet6, Some(3));
    searched.measured.search =
        Some(RateSearch { mrr_pps: 5e6, lower_pps: 4e6, upper_pps: 4.5e6, trials: Vec::new() });
    searched.rate_pps = Some(4e6);
    let v6 = of("v6", Family::Inet6, Some(2000));
    results.trials = vec![v6, of("both", Family::Dual, None), failed, asked, searched];
    let [out, two] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    assert_eq!(export(&results, out.path()).unwrap().failed, 1);
    import(out.path(), two.path()).unwrap();
    let found: BTreeMap<String, Trial> =
        trials(two.path()).into_iter().map(|trial| (trial.traffic.clone(), trial)).collect();
    assert_eq!(found.len(), results.trials.len(), "{:?}", found.keys());
    for was in &results.trials {
        let is = &found[&was.traffic.replace(' ', "_")];
        assert_eq!((&is.variant, is.family, is.status), (&was.variant, was.family, was.status));
        assert_eq!((&is.reason, is.flows_planned), (&was.reason, was.flows_planned), "{}", was.id);
        assert_eq!(
            (is.frame_bytes, is.offered_pps_asked),
            (was.frame_bytes, was.offered_pps_asked)
        );
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-4 * b;
        match (is.rate_pps, was.rate_pps) {
            (Some(a), Some(b)) => assert!(near(a, b), "{}: {a} was {b}", was.id),
            (a, b) => assert_eq!(a, b, "{}", was.id),
        }
    }
}
