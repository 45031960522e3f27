//! From raw counts to a trial's record: do the counters of both sides agree, what bounded the
//! rate, which intervals are steady.

use fwdlab_stats::steady;

use crate::device::Measured;
use crate::experiment::{Traffic, Variant};
use crate::results::{Interval, LimitedBy, Status, Steady, Trial};

/// A device that had nothing to do for more than this share of a trial was waiting for frames.
/// Below it, the rate that was lost by waiting is smaller than the usual margin of 1 %.
const IDLE_SHARE: f64 = 0.01;

/// A load counts as forwarded in full from this share on (METHOD: saturation).
const FORWARDED_SHARE: f64 = 0.995;

/// Fills the figures of `trial` from what was counted.
pub(super) fn settle(trial: &mut Trial, measured: Measured, variant: &Variant, traffic: &Traffic) {
    let rates: Vec<f64> = measured.intervals.iter().map(Interval::rx_pps).collect();
    let window = steady::window(&rates);
    trial.rate_pps = window.figure(&rates);
    trial.limited_by = limited_by(&measured, trial.rate_pps, traffic);
    trial.reason = fault(&measured, variant);
    trial.status = if trial.reason.is_some() { Status::Failed } else { Status::Ok };
    trial.steady = (window.count > 0).then(|| Steady {
        first: window.first,
        count: window.count,
        trimmed_head: window.trimmed_head,
        trimmed_tail: window.trimmed_tail,
        why: window.why.clone(),
    });
    trial.intervals = measured.intervals;
    trial.sent = measured.sent;
    trial.received = measured.received;
    trial.flows_seen = measured.flows_seen;
    trial.device_received = measured.device_received;
    trial.device_sent = measured.device_sent;
    trial.drops = measured.drops;
    trial.checks = measured.checks;
    trial.busy_ns = measured.busy_ns;
    trial.busy_frames = measured.busy_frames;
    trial.idle_share = measured.idle_share;
    trial.proof = measured.proof;
    trial.environment = measured.environment;
    trial.search = measured.search;
    trial.latency = measured.latency;
    trial.latency_at = measured.latency_at;
    trial.warnings = measured.warnings;
}

/// Why the trial's figures may not be used, or nothing.
fn fault(measured: &Measured, variant: &Variant) -> Option<String> {
    let dropped: u64 = measured.drops.values().sum();
    let Measured { sent, received, device_received, device_sent, .. } = *measured;
    if received == 0 {
        return Some(format!(
            "no frame came back of {sent} sent: check the routes; the device dropped {dropped}"
        ));
    }
    let sides = [
        ("the device received", device_received, "the tester sent", sent),
        ("the device sent or dropped", device_sent + dropped, "it received", device_received),
        ("the tester received", received, "the device sent", device_sent),
    ];
    if let Some((a, count_a, b, count_b)) = sides.into_iter().find(|side| side.1 != side.3) {
        return Some(format!("counters disagree: {a} {count_a} frames, but {b} {count_b}"));
    }
    let unproven = variant.set.iter().find(|(word, wanted)| {
        measured.proof.get(*word).is_none_or(|found| !is_proof(wanted, found))
    });
    unproven.map(|(word, wanted)| {
        let found = measured.proof.get(word).map_or("nothing", String::as_str);
        format!("{word} was set to {wanted}, but the device answers {found}")
    })
}

/// Whether the device's answer shows that a setting took. Asked to choose for itself (`auto`), it
/// answers with its choice.
fn is_proof(wanted: &str, found: &str) -> bool {
    let numbers = || Some(wanted.parse::<f64>().ok()? == found.parse::<f64>().ok()?);
    match wanted {
        "auto" => !found.is_empty(),
        _ => wanted.eq_ignore_ascii_case(found) || numbers().unwrap_or(false),
    }
}

fn limited_by(measured: &Measured, rate_pps: Option<f64>, traffic: &Traffic) -> LimitedBy {
    if measured.search.is_some() {
        return LimitedBy::Device; // the load is the one that the device bears
    }
    let asked = traffic.load.pps(traffic.frame_bytes);
    if let (Some(asked), Some(rate)) = (asked, rate_pps)
        && rate >= asked * FORWARDED_SHARE
    {
        return LimitedBy::Load;
    }
    if measured.idle_share > IDLE_SHARE { LimitedBy::Generator } else { LimitedBy::Device }
}
