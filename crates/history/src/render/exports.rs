//! Histories for other people's tools.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::find::History;
use crate::point::Point;
use crate::series::sort;
use crate::{Error, Result};

/// The last point of each series as the custom data of github-action-benchmark: one list for each
/// way that is better, `{"customBiggerIsBetter": […], "customSmallerIsBetter": […]}`; the action
/// takes one of them at a time.
///
/// # Errors
/// When it cannot be encoded.
pub fn github_action_benchmark(history: &History) -> Result<String> {
    let list = |is_lower_better: bool| -> Vec<Value> {
        let own = history.series.iter().filter(|s| s.key.is_lower_better() == is_lower_better);
        own.filter_map(|series| {
            let point = series.points.last()?;
            let (low, high) = point.interval();
            Some(json!({
                "name": series.key.name(),
                "unit": series.key.unit,
                "value": point.median(),
                "range": format!("{low}..{high}"),
                "extra": format!("revision: {}\nruns: {}", point.revision, point.values.len()),
            }))
        })
        .collect()
    };
    encode(&json!({ "customBiggerIsBetter": list(false), "customSmallerIsBetter": list(true) }))
}

/// The last point of each series in Bencher's metric format.
///
/// # Errors
/// When it cannot be encoded.
pub fn bencher(history: &History) -> Result<String> {
    let mut all = Map::new();
    for series in &history.series {
        let Some(point) = series.points.last() else { continue };
        let (low, high) = point.interval();
        let measure = if series.key.is_lower_better() { "latency" } else { "throughput" };
        let figure = json!({ "value": point.median(), "lower_value": low, "upper_value": high });
        all.insert(series.key.name(), json!({ measure: figure }));
    }
    encode(&Value::Object(all))
}

/// All points as the CSV that Otava (Hunter) reads: one row a revision, `time`, `commit`, and one
/// column a series, in the order that series have. Where a revision was measured more than once on a day the last
/// counts.
pub fn otava(history: &History) -> String {
    let mut rows: HashMap<(Option<&str>, &str), HashMap<usize, f64>> = HashMap::new();
    let mut order: Vec<Point> = Vec::new();
    for (column, series) in history.series.iter().enumerate() {
        for point in &series.points {
            let row = rows.entry((point.date.as_deref(), &point.revision)).or_insert_with(|| {
                let (revision, date) = (point.revision.clone(), point.date.clone());
                order.push(Point { revision, date, ..Point::default() });
                HashMap::new()
            });
            row.insert(column, point.median());
        }
    }
    sort(&mut order);
    let heads: Vec<String> = history.series.iter().map(|s| quoted(&s.key.name())).collect();
    let mut text = format!("time,commit,{}\n", heads.join(","));
    for Point { date, revision, .. } in &order {
        let cells = rows.get(&(date.as_deref(), revision.as_str()));
        let cell = |column| {
            cells.and_then(|own| own.get(&column)).map_or(String::new(), ToString::to_string)
        };
        let cells: Vec<String> = (0..history.series.len()).map(cell).collect();
        let time = date.as_deref().unwrap_or_default();
        text.push_str(&format!("{time},{},{}\n", quoted(revision), cells.join(",")));
    }
    text
}

/// A field by RFC 4180.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

fn encode(value: &Value) -> Result<String> {
    let encoded = serde_json::to_string_pretty(value);
    encoded.map(|text| text + "\n").map_err(|source| Error::Encode { what: "the export", source })
}
