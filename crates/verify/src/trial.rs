//! One trial, settled again from its raw counts.

use std::collections::BTreeMap;

use crate::fault::Fault;
use fwdlab_claims::judge::steady_rates;
use fwdlab_claims::known;
use fwdlab_claims::settle::settle;
use fwdlab_experiment::{Experiment, Traffic};
use fwdlab_results::{Campaign, Interval, Measured, Steady, Trial, TruthKind};

/// How far a recorded figure may lie from the computed one, as a ratio: rounding in the journal, no
/// more.
const TOLERANCE: f64 = 1e-6;

/// What a trial records otherwise than its plan and its counts give.
pub(crate) fn figures(
    trial: &Trial,
    (experiment, campaign): (Option<&Experiment>, &Campaign),
) -> Vec<Fault> {
    let mut faults = totals(trial);
    let kind = TruthKind::of_variant(&trial.variant);
    let name = if kind.is_some() { &campaign.baseline } else { &trial.variant };
    let variant = experiment.and_then(|e| e.variants.iter().find(|own| own.name == *name));
    let extra = campaign.calibration.as_ref().zip(kind).map(|(own, kind)| known::extra(own, kind));
    let set: BTreeMap<String, String> =
        variant.iter().flat_map(|own| own.set.clone()).chain(extra.into_iter().flatten()).collect();
    let traffic =
        experiment.and_then(|e| e.traffics.iter().find(|traffic| traffic.name == trial.traffic));
    if let Some((experiment, traffic)) = experiment.zip(traffic) {
        let ms = experiment.interval.as_secs_f64() * 1e3;
        faults.extend(planned(trial, traffic, ms));
    }
    let mut again = trial.clone();
    settle(&mut again, trial.measured.clone(), &set);
    faults.extend(settled(trial, &again));
    faults
}

/// Published runs: the rate is the median of the window that was recorded.
pub(crate) fn published(trial: &Trial) -> Vec<Fault> {
    if !trial.is_ok() {
        return Vec::new();
    }
    let mut faults = totals(trial);
    let rates = steady_rates(trial);
    if let Some(recorded) = trial.rate_pps
        && !rates.is_empty()
    {
        let computed = Some(fwdlab_stats::median(&rates));
        faults.extend(rate(trial, Some(recorded), computed));
    }
    faults
}

fn fault(trial: &Trial, field: &'static str, recorded: String, computed: String) -> Fault {
    Fault::Trial { trial: trial.id.clone(), field, recorded, computed }
}

/// A total that is less than its intervals.
fn totals(trial: &Trial) -> Vec<Fault> {
    let Measured { sent, received, busy, ref intervals, .. } = trial.measured;
    let sum = |count: fn(&Interval) -> Option<u64>| {
        intervals.iter().filter_map(count).fold(0, u64::saturating_add)
    };
    let totals = [
        ("sent", sent, sum(|own| own.tx)),
        ("received", Some(received), sum(|own| Some(own.rx))),
        ("busy_ns", busy.map(|all| all.ns), sum(|own| Some(own.busy?.ns))),
        ("busy_frames", busy.map(|all| all.frames), sum(|own| Some(own.busy?.frames))),
    ];
    let less = totals
        .into_iter()
        .filter_map(|(field, total, sum)| Some((field, total.filter(|total| *total < sum)?, sum)));
    less.map(|(field, total, sum)| fault(trial, field, total.to_string(), format!("{sum} or more")))
        .collect()
}

/// What the experiment says of a trial's traffic.
fn planned(trial: &Trial, traffic: &Traffic, interval_ms: f64) -> Vec<Fault> {
    let asked = traffic.offered_pps();
    let is_asked = match (trial.offered_pps_asked, asked) {
        (Some(recorded), Some(asked)) => is_near(recorded, asked),
        (recorded, asked) => recorded.is_none() && asked.is_none(),
    };
    let number = |value: Option<f64>| value.map_or("none".to_owned(), |value| value.to_string());
    let count = |value: Option<u64>| value.map_or("none".to_owned(), |value| value.to_string());
    let mut faults = Vec::new();
    if !is_asked && traffic.is_known() {
        faults.push(fault(
            trial,
            "offered_pps_asked",
            number(trial.offered_pps_asked),
            number(asked),
        ));
    }
    if !is_near(trial.interval_ms, interval_ms) {
        let [recorded, wanted] = [trial.interval_ms, interval_ms].map(|ms| ms.to_string());
        faults.push(fault(trial, "interval_ms", recorded, wanted));
    }
    let pairs = [
        ("family", trial.family.name().to_owned(), traffic.family.name().to_owned()),
        ("frame_bytes", trial.frame_bytes.to_string(), traffic.frame_bytes.to_string()),
        ("flows_planned", count(trial.flows_planned), traffic.flows().to_string()),
        ("load", trial.load.clone(), traffic.load.to_string()),
    ];
    // What only the capture says is not known without it.
    let of_capture = |field: &str| matches!(field, "frame_bytes" | "flows_planned");
    let differ = pairs.into_iter().filter(|(field, recorded, wanted)| {
        recorded != wanted && (traffic.is_known() || !of_capture(field))
    });
    faults.extend(differ.map(|(field, recorded, wanted)| fault(trial, field, recorded, wanted)));
    faults
}

/// Status, window, rate and limit as settled again.
fn settled(trial: &Trial, again: &Trial) -> Vec<Fault> {
    let mut faults = Vec::new();
    let status = |trial: &Trial| match (&trial.reason, trial.is_ok()) {
        (_, true) => "ok".to_owned(),
        (reason, false) => {
            format!("failed ({})", reason.as_deref().unwrap_or("without a reason"))
        }
    };
    // A trial whose device broke counted nothing: settled again it fails too, for want of frames.
    if trial.is_ok() != again.is_ok() || trial.is_ok() != trial.reason.is_none() {
        faults.push(fault(trial, "status", status(trial), status(again)));
    }
    let [recorded, computed] = [trial, again].map(|trial| window(trial.steady.as_ref()));
    if recorded != computed {
        faults.push(fault(trial, "steady", recorded, computed));
    }
    faults.extend(rate(trial, trial.rate_pps, again.rate_pps));
    if trial.limited_by != again.limited_by {
        let [recorded, computed] = [trial, again].map(|trial| format!("{:?}", trial.limited_by));
        faults.push(fault(trial, "limited_by", recorded.to_lowercase(), computed.to_lowercase()));
    }
    faults
}

fn rate(trial: &Trial, recorded: Option<f64>, computed: Option<f64>) -> Option<Fault> {
    let is_same = match (recorded, computed) {
        (Some(recorded), Some(computed)) => is_near(recorded, computed),
        (recorded, computed) => recorded.is_none() && computed.is_none(),
    };
    let text =
        |rate: Option<f64>| rate.map_or("none".to_owned(), |rate| format!("{rate} frames/s"));
    (!is_same).then(|| fault(trial, "rate_pps", text(recorded), text(computed)))
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE * b.abs()
}

/// A window in words; why it begins and ends there may be said differently by another version.
fn window(steady: Option<&Steady>) -> String {
    let Some(Steady { first, count, trimmed_head, trimmed_tail, skipped, .. }) = steady else {
        return "none".to_owned();
    };
    format!(
        "{count} intervals from {first} ({trimmed_head} and {trimmed_tail} trimmed, without \
         {skipped:?})"
    )
}
