//! From what a guest counted to what a trial records: the tester's own cost is taken off.

use std::collections::BTreeMap;

use fwdlab_agent::channel::{Counted, Pass, Reading};
use fwdlab_agent::task::GuestClock;
use fwdlab_experiment::Variant;
use fwdlab_results::Measured;
use fwdlab_results::{Busy, Interval, Queue, TrialEnvironment, Way};
use fwdlab_topology::NFTABLES;

use crate::freebsd;

/// Of so many frames one may be lost before nobody can say what the device took: the tester waits for a lost one as
/// long as the device takes for hundreds of others.
const FEW: u64 = 1000;

/// The trial's counts. The device's busy time is what is left of each interval when the tester's
/// own time for as many frames is taken off.
pub(super) fn measured(counted: Counted, variant: &Variant, clock: GuestClock) -> Measured {
    let checks = &counted.device.checks;
    let lost = checks.lost + checks.astray;
    let has_waited = counted.device.waits && lost * FEW > counted.device.received;
    let tester_ns = ns_per_frame(&counted.cable).filter(|_| !has_waited);
    let interval = |reading: &Reading| Interval {
        ms: reading.ns as f64 / 1e6,
        tx: Some(reading.sent),
        rx: reading.received,
        busy: tester_ns.map(|own| {
            let tester = (own * reading.received as f64).round() as u64;
            Busy { ns: reading.ns.saturating_sub(tester), frames: reading.received }
        }),
        ..Interval::default()
    };
    let intervals: Vec<Interval> = counted.device.intervals.iter().map(interval).collect();
    let total_ns: u64 = counted.device.intervals.iter().map(|reading| reading.ns).sum();
    let busy = intervals.iter().filter_map(|interval| interval.busy);
    // Of a tester whose own time is not known, nobody can say what is the device's.
    let busy = tester_ns.map(|_| {
        busy.fold(Busy::default(), |sum, busy| Busy {
            ns: sum.ns + busy.ns,
            frames: sum.frames + busy.frames,
        })
    });
    let ways = ways(&counted.device.ways, &counted.device_ways);
    let mut drops = counted.drops;
    let told: u64 = drops.values().sum();
    // Filters drop without a counter of the system's. Without one everything must be accounted for, or the trial fails.
    let missing = counted.device_received.saturating_sub(counted.device_sent + told);
    if missing > 0 && has_rules(variant) {
        drops.insert(Measured::BY_RULES.to_owned(), missing);
    }
    let Pass { sent, received, flows_seen, checks, by_pair, .. } = counted.device;
    let mut proof = counted.proof;
    proof.extend(Queue::of_pairs(&by_pair));
    prove_rules(&mut proof, variant);
    let mut warnings = counted.warnings;
    match tester_ns {
        Some(ns) => {
            let unit = match clock {
                GuestClock::Instructions => "instructions/frame",
                GuestClock::Wall => "ns/frame",
            };
            proof.insert(format!("tester's own {unit}"), format!("{ns:.1}"));
        }
        None if has_waited => warnings.push(format!(
            "{lost} frames were lost or went astray, and what the tester waited for them would count as the device's: its cost is \
             not known; let the variants lose none"
        )),
        None => warnings.push(
            "the tester's own cost is not known (nothing came back over the cable), and so the \
             device's is not"
                .to_owned(),
        ),
    }
    let mut measured = Measured {
        intervals,
        sent: Some(sent),
        received,
        flows_seen: Some(flows_seen),
        device_received: Some(counted.device_received),
        device_sent: Some(counted.device_sent),
        drops: Some(drops),
        checks: Some(checks),
        ways,
        busy,
        idle_share: busy.map(|busy| 1.0 - busy.ns as f64 / total_ns.max(1) as f64),
        proof,
        environment: TrialEnvironment {
            // Where the host runs the guest makes no difference to the number of instructions.
            pinned: clock == GuestClock::Instructions,
            takes_turns: true,
            ..TrialEnvironment::default()
        },
        warnings,
        ..Measured::default()
    };
    measured.queues = Queue::of_ports(&by_pair);
    measured
}

/// Each way by itself, with what the device's ports counted of it.
fn ways(passes: &[Pass], ports: &[[u64; 2]]) -> Vec<Way> {
    let way = |(pass, &[received, sent]): (&Pass, &[u64; 2])| Way {
        tx: pass.intervals.iter().map(|reading| reading.sent).collect(),
        rx: pass.intervals.iter().map(|reading| reading.received).collect(),
        sent: pass.sent,
        received: pass.received,
        device_received: Some(received),
        device_sent: Some(sent),
        checks: pass.checks,
        latency: None,
    };
    passes.iter().zip(ports).map(way).collect()
}

/// Whether a filter of the variant's may drop frames.
fn has_rules(variant: &Variant) -> bool {
    let mut words = std::iter::once(NFTABLES).chain(freebsd::WORDS);
    words.any(|word| variant.set.get(word).is_some_and(|rules| !rules.trim().is_empty()))
}

/// Rules read back are never letter by letter what was written: their list is kept, and stands as
/// proof when there is something in it exactly when something was asked for. A variant that says nothing of
/// rules has none.
pub(super) fn prove_rules(proof: &mut BTreeMap<String, String>, variant: &Variant) {
    for word in std::iter::once(NFTABLES).chain(freebsd::WORDS) {
        let Some(wanted) = variant.set.get(word) else {
            let listed = proof.get_mut(word).filter(|listed| listed.trim().is_empty());
            listed.into_iter().for_each(|listed| "none".clone_into(listed));
            continue;
        };
        let listed = proof.remove(word).unwrap_or_default();
        let is_there = listed.is_empty() == wanted.trim().is_empty();
        let shown = if is_there { wanted.clone() } else { listed.clone() };
        proof.insert(word.to_owned(), shown);
        proof.insert(format!("{word} ruleset"), listed);
    }
}

/// Mean time of a pass for each frame, without its first interval, in which everything is done for
/// the first time.
pub(super) fn ns_per_frame(pass: &Pass) -> Option<f64> {
    let rest = pass.intervals.get(1..).unwrap_or_default();
    let ns: u64 = rest.iter().map(|reading| reading.ns).sum();
    let frames: u64 = rest.iter().map(|reading| reading.received).sum();
    (frames > 0).then(|| ns as f64 / frames as f64)
}
