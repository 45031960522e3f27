//! Histories for other people's tools.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::find::History;
use crate::point::Point;
use crate::series::{Series, sort};
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
        let measure = measure(series);
        let figure = json!({ "value": point.median(), "lower_value": low, "upper_value": high });
        all.insert(series.key.name(), json!({ measure: figure }));
    }
    encode(&Value::Object(all))
}

/// What Bencher calls a figure: its own `throughput` is of so many a second, its own `latency` in nanoseconds; any
/// other is named, with its unit.
fn measure(series: &Series) -> String {
    let unit = series.key.unit.as_str();
    match unit {
        _ if unit.ends_with("/s") && !series.key.is_lower_better() => "throughput".to_owned(),
        _ if unit.starts_with("ns") => "latency".to_owned(),
        _ => {
            let own = if series.key.measure.is_empty() { "cost" } else { &series.key.measure };
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            let slug: String = format!("{own}-{unit}").to_lowercase().chars().map(plain).collect();
            slug.chars().take(64).collect()
        }
    }
}

/// All points as the CSV that Otava (Hunter) reads: one row a revision, `time`, `commit`, and one
/// column a series, in the order that series have. Where a revision was measured more than once on a day the last
/// counts. Otava reads neither a row without a time nor a cell without a number: a row of no known day has that of the
/// row before it (of the one after it at the beginning), and a cell the figure before it, as Otava fills what its other
/// sources lack.
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
    let columns: Vec<Vec<f64>> = (0..history.series.len())
        .map(|column| {
            let cell = |own: &Point| -> Option<f64> {
                let row = rows.get(&(own.date.as_deref(), own.revision.as_str()))?;
                row.get(&column).copied()
            };
            filled(order.iter().map(cell), 0.0)
        })
        .collect();
    let times = filled(order.iter().map(|own| own.date.as_deref()), NO_DAY);
    for (at, (own, time)) in order.iter().zip(times).enumerate() {
        let cells: Vec<String> = columns.iter().map(|column| column[at].to_string()).collect();
        text.push_str(&format!("{time},{},{}\n", quoted(&own.revision), cells.join(",")));
    }
    text
}

/// The time of rows where no day of any is known.
const NO_DAY: &str = "1970-01-01T00:00:00Z";

/// What is missing as what stands before it, at the beginning as the first that is there, else as told.
fn filled<T: Copy>(all: impl Iterator<Item = Option<T>>, other: T) -> Vec<T> {
    let all: Vec<Option<T>> = all.collect();
    let mut last = all.iter().flatten().next().copied().unwrap_or(other);
    let kept = all.into_iter().map(|own| {
        last = own.unwrap_or(last);
        last
    });
    kept.collect()
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
