//! A history as JSON, in base units.

use fwdlab_guard::words;
use serde_json::{Value, json};

use crate::find::{Alert, Cause, History, Moved, Newest};
use crate::point::Point;
use crate::series::Series;
use crate::{Error, Result};

/// `{"series": […], "alerts": […], "suspects": […], "newest": […], "warnings": […]}`; docs/history.md has the fields.
///
/// # Errors
/// When it cannot be encoded.
pub fn json(history: &History) -> Result<String> {
    let encoded = serde_json::to_string_pretty(&value(history));
    let encoded = encoded.map_err(|source| Error::Encode { what: "the history", source })?;
    Ok(words::in_json(&encoded).into_owned() + "\n")
}

/// The same as a value.
pub(super) fn value(history: &History) -> Value {
    let series: Vec<Value> = (0..history.series.len()).map(|i| one(history, i)).collect();
    let alerts: Vec<Value> = history.alerts.iter().map(|own| alert(history, own)).collect();
    let suspects: Vec<Value> =
        history.suspects.iter().flat_map(|alert| suspected(history, alert)).collect();
    json!({
        "series": series,
        "alerts": alerts,
        "suspects": suspects,
        "newest": history.newest.iter().map(|own| newest(history, own)).collect::<Vec<Value>>(),
        "warnings": history.warnings,
    })
}

fn suspected(history: &History, alert: &Alert) -> Vec<Value> {
    let one = |moved: &Moved| {
        json!({
            "id": alert.id,
            "series": history.series[moved.series].key.name(),
            "first_changed": history.ends(moved).1.revision,
            "direction": if moved.change.ratio > 0.0 { "up" } else { "down" },
            "evidence": moved.evidence,
            "reason": alert.acknowledged,
        })
    };
    alert.moved.iter().map(one).collect()
}

fn newest(history: &History, own: &Newest) -> Value {
    let series = &history.series[own.series];
    json!({
        "series": series.key.name(),
        "points": own.count,
        "percent": own.ratio * 100.0,
        "revision": series.points.last().map(|point| &point.revision),
    })
}

fn one(history: &History, index: usize) -> Value {
    let Series { key, points } = &history.series[index];
    let changes: Vec<Value> = history.changes[index]
        .iter()
        .map(|&change| {
            let moved = Moved { series: index, change, undone_at: None, evidence: None };
            let (before, after) = history.ends(&moved);
            json!({
                "first_changed": after.revision,
                "last_before": before.revision,
                "percent": change.ratio * 100.0,
                "low": change.low * 100.0,
                "high": change.high * 100.0,
                "p": change.p,
            })
        })
        .collect();
    json!({
        "name": key.name(),
        "machine": key.machine,
        "configuration": key.configuration,
        "family": key.family,
        "measure": key.measure,
        "unit": key.unit,
        "lower_is_better": key.is_lower_better(),
        "points": points.iter().map(point).collect::<Vec<Value>>(),
        "changes": changes,
    })
}

fn point(own: &Point) -> Value {
    let (low, high) = own.interval();
    json!({
        "revision": own.revision,
        "date": own.date,
        "median": own.median(),
        "low": low,
        "high": high,
        "runs": own.values.len(),
    })
}

fn alert(history: &History, own: &Alert) -> Value {
    let (before, after) = history.ends(&own.moved[0]);
    let name = |index: usize| history.series[index].key.name();
    let moved: Vec<Value> = own
        .moved
        .iter()
        .map(|moved| {
            let points = &history.series[moved.series].points;
            let (first, last) = moved.change.range;
            json!({
                "series": name(moved.series),
                "percent": moved.change.ratio * 100.0,
                "low": moved.change.low * 100.0,
                "high": moved.change.high * 100.0,
                "p": moved.change.p,
                "first_changed": history.ends(moved).1.revision,
                "earliest": points.get(first).map(|p| &p.revision),
                "latest": points.get(last).map(|p| &p.revision),
                "undone_at": moved.undone_at.and_then(|at| points.get(at)).map(|p| &p.revision),
            })
        })
        .collect();
    json!({
        "id": own.id,
        "first_changed": after.revision,
        "last_before": before.revision,
        "cause": match own.cause {
            Cause::Software => "software",
            Cause::Machine => "machine or lab",
            Cause::Both => "machine or lab in part",
        },
        "regression": own.is_regression,
        "state": state(own),
        "reason": own.acknowledged,
        "outgrown": own.outgrown.as_ref().map(|then| json!({
            "percent": then.size.percent,
            "low": then.size.low,
            "high": then.size.high,
            "reason": then.reason,
        })),
        "confirmed": own.confirmed,
        "again": super::again(history, own),
        "moved": moved,
        "beside": history.beside(own),
        "unmoved": own.unmoved.iter().map(|&i| name(i)).collect::<Vec<String>>(),
    })
}

fn state(own: &Alert) -> &'static str {
    match (own.is_closed(), own.acknowledged.is_some()) {
        (true, _) => "closed",
        (false, true) if own.is_set_aside => "not confirmed",
        (false, true) => "acknowledged",
        (false, false) => "open",
    }
}
