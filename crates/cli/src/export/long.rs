//! Results in long form: a row for each interval, the columns of its trial repeated in it. docs/export.md
//! describes the columns.

use std::borrow::Cow;

use fwdlab_guard::words::one_line;
use fwdlab_results::{Interval, LimitedBy, Measure, Results, Status, Tick, Trial};
use serde::Serialize;

/// One row. What nobody counted is empty, not 0.
#[derive(Serialize)]
pub struct Row<'a> {
    trial: &'a str,
    block: u32,
    order: u32,
    variant: &'a str,
    is_baseline: bool,
    traffic: &'a str,
    family: String,
    /// `ok`, `failed`, or `repeated`: ran again, and does not count.
    status: &'static str,
    reason: Option<Cow<'a, str>>,
    started: &'a str,
    frame_bytes: u16,
    load: &'a str,
    limited_by: &'static str,
    trial_rate_pps: Option<f64>,
    trial_cost_ns: Option<f64>,
    /// The measure of the trial, and its figure where it has one beside rate and cost.
    measure: &'static str,
    figure: Option<f64>,
    figure_unit: Option<&'static str>,
    latency_median_ns: Option<u64>,
    latency_p99_ns: Option<u64>,
    stamp_probes: Option<u64>,
    stamped: Option<u64>,
    /// From 0; empty for a trial without intervals.
    interval: Option<usize>,
    is_steady: Option<bool>,
    ms: Option<f64>,
    tx: Option<u64>,
    rx: Option<u64>,
    busy_ns: Option<u64>,
    busy_frames: Option<u64>,
    rx_pps: Option<f64>,
    cost_ns: Option<f64>,
    /// What the device's clock counts, and so what the costs are in: `ns`, or `instructions`.
    clock: &'static str,
    /// What is to be known of the trial, such as that its figure is the least that it can be.
    warnings: Option<String>,
}

impl Row<'_> {
    /// For a table of lines: what a program or a tool said in several of them stands in one.
    pub fn on_one_line(mut self) -> Self {
        self.reason = self.reason.map(|words| Cow::Owned(one_line(&words).into_owned()));
        self.warnings = self.warnings.map(|words| one_line(&words).into_owned());
        self
    }
}

/// Every row, in the order in which the trials ran, repeated ones last.
pub fn rows(results: &Results) -> impl Iterator<Item = Row<'_>> {
    let counted = results.trials.iter().map(|trial| (trial, status(trial)));
    let repeated = results.repeated.iter().map(|trial| (trial, "repeated"));
    let baseline = results.campaign.baseline.as_str();
    let tick = results.campaign.tick();
    let (clock, usual) = (tick.name(), results.campaign.measure);
    counted.chain(repeated).flat_map(move |(trial, status)| {
        let count = trial.measured.intervals.len();
        let whole = (count == 0).then_some(None);
        whole.into_iter().chain((0..count).map(Some)).map(move |index| {
            let is_baseline = trial.variant == baseline;
            let own = if trial.measure == Measure::Rate { usual } else { trial.measure };
            let measured = figure(trial, tick);
            let shared = Row {
                status,
                is_baseline,
                clock,
                measure: measured.map_or(own, |(measure, ..)| measure).name(),
                figure: measured.and_then(|(_, figure, _)| figure),
                figure_unit: measured.map(|(.., unit)| unit),
                ..of_trial(trial)
            };
            row(trial, index, shared)
        })
    })
}

/// The measure of a trial that has a figure of its own, with the figure and its unit.
fn figure(trial: &Trial, tick: Tick) -> Option<(Measure, Option<f64>, &'static str)> {
    let benchmark = trial.measured.benchmark.as_ref()?;
    let measure = benchmark.measure();
    Some((measure, benchmark.figure(), measure.unit_in(tick)))
}

const fn status(trial: &Trial) -> &'static str {
    match trial.status {
        Status::Ok => "ok",
        Status::Failed => "failed",
    }
}

/// The columns that all rows of a trial share.
fn of_trial(trial: &Trial) -> Row<'_> {
    Row {
        trial: &trial.id,
        block: trial.block,
        order: trial.order,
        variant: &trial.variant,
        is_baseline: false,
        traffic: &trial.traffic,
        family: trial.family.to_string(),
        status: "",
        reason: trial.reason.as_deref().map(Cow::Borrowed),
        started: trial.started.as_deref().unwrap_or_default(),
        frame_bytes: trial.frame_bytes,
        load: &trial.load,
        limited_by: match trial.limited_by {
            LimitedBy::Device => "device",
            LimitedBy::Generator => "generator",
            LimitedBy::Load => "load",
            LimitedBy::Core => "core",
        },
        trial_rate_pps: trial.rate_pps,
        trial_cost_ns: trial.cost_ns(),
        measure: "",
        figure: None,
        figure_unit: None,
        latency_median_ns: trial.measured.latency.map(|latency| latency.median_ns),
        latency_p99_ns: trial.measured.latency.map(|latency| latency.p99_ns),
        stamp_probes: trial.measured.stamps.as_ref().map(|stamps| stamps.probes),
        stamped: trial.measured.stamps.as_ref().map(|stamps| stamps.stamped),
        interval: None,
        is_steady: None,
        ms: None,
        tx: None,
        rx: None,
        busy_ns: None,
        busy_frames: None,
        rx_pps: None,
        cost_ns: None,
        clock: "",
        warnings: (!trial.measured.warnings.is_empty()).then(|| trial.measured.warnings.join("; ")),
    }
}

fn row<'a>(trial: &Trial, index: Option<usize>, shared: Row<'a>) -> Row<'a> {
    let Some(index) = index else { return shared };
    let interval: &Interval = &trial.measured.intervals[index];
    let is_steady = trial.steady.as_ref().is_some_and(|steady| {
        (steady.first..steady.first + steady.count).contains(&index)
            && !steady.skipped.contains(&index)
    });
    Row {
        interval: Some(index),
        is_steady: Some(is_steady),
        ms: Some(interval.ms),
        tx: interval.tx,
        rx: Some(interval.rx),
        busy_ns: interval.busy.map(|busy| busy.ns),
        busy_frames: interval.busy.map(|busy| busy.frames),
        rx_pps: Some(interval.rx_pps()),
        cost_ns: interval.cost_ns(),
        ..shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_results::{Benchmark, Reset, examples};

    /// Verdicts on resets rest on a time that no column had.
    #[test]
    fn a_figure_of_its_own_stands_beside_its_unit() {
        let mut results = examples::results();
        let own = Reset { gap_ns: 5_000_000, ..Reset::default() };
        results.trials[0].measured.benchmark = Some(Benchmark::Reset(own));
        results.trials[0].measured.warnings = ["at least that", "others"].map(str::to_owned).into();
        let values: Vec<serde_json::Value> =
            rows(&results).map(|row| serde_json::to_value(row).expect("JSON")).collect();
        let of = |id: &str| {
            let row = values.iter().find(|row| row["trial"] == id).expect("a row");
            [row["measure"].clone(), row["figure"].clone(), row["figure_unit"].clone()]
        };
        let wanted = serde_json::json!(["reset", 0.005, "s"]);
        assert_eq!(serde_json::json!(of(&results.trials[0].id)), wanted);
        // 5 s, at which nobody looked any longer, stood there as any other figure.
        let mut said = values.iter().filter(|row| row["trial"] == results.trials[0].id.as_str());
        assert!(said.all(|row| row["warnings"] == "at least that; others"), "{values:?}");
        let wanted = serde_json::json!(["rate", null, null]);
        assert_eq!(serde_json::json!(of(&results.trials[1].id)), wanted);
    }
}
