//! Histories for other people's tools.

use std::collections::HashMap;

use fwdlab_guard::words;
use serde_json::{Map, Value, json};

use crate::find::History;
use crate::point::{Key, Point};
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
        let own = history.series.iter().zip(names(history));
        let own = own.filter(|(s, _)| s.key.is_lower_better() == is_lower_better);
        own.filter_map(|(series, name)| {
            let point = series.points.last()?;
            let (low, high) = point.interval();
            Some(json!({
                "name": name,
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
    for (series, name) in history.series.iter().zip(names(history)) {
        let Some(point) = series.points.last() else { continue };
        let (low, high) = point.interval();
        let measure = measure(series);
        let figure = json!({ "value": point.median(), "lower_value": low, "upper_value": high });
        all.insert(name, json!({ measure: figure }));
    }
    encode(&Value::Object(all))
}

/// A name for each series by which all three tell it from the others: they know a series by its name alone, Bencher
/// refuses all of a list that has an empty name or one of more than 1,024 bytes, and a line end breaks their tables.
/// Series of one name (parts that read alike when they stand together) have their parts behind it.
fn names(history: &History) -> Vec<String> {
    let named = |series: &Series| match series.key.name() {
        name if name.trim().is_empty() => "series".to_owned(),
        name => words::one_line(&name).into_owned(),
    };
    let own: Vec<String> = history.series.iter().map(named).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    own.iter().for_each(|name| *counts.entry(name).or_default() += 1);
    let told_apart =
        history.series.iter().zip(&own).map(|(series, name)| match counts.get(name.as_str()) {
            Some(2..) => cut(&format!("{name} [{}]", parts(&series.key))),
            _ => cut(name),
        });
    told_apart.collect()
}

/// The parts of a series, each with what it is: `machine "A B", configuration "C"`.
fn parts(key: &Key) -> String {
    let parts = serde_json::to_value(key).unwrap_or_default();
    let known = parts.as_object().into_iter().flatten().filter(|(_, own)| **own != "");
    let named: Vec<String> = known.map(|(part, own)| format!("{part} {own}")).collect();
    words::one_line(&named.join(", ")).into_owned()
}

/// A name that is short enough for Bencher: of a longer one the beginning, and a checksum (FNV-1a) of all of it.
fn cut(name: &str) -> String {
    const MOST: usize = 1_000;
    if name.len() <= MOST {
        return name.to_owned();
    }
    let sum = name.bytes().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let end = (0..=MOST - 32).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
    format!("{}… {sum:016x}", &name[..end])
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
    let heads: Vec<String> = names(history).iter().map(|name| quoted(name)).collect();
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
    let encoded = encoded.map_err(|source| Error::Encode { what: "the export", source })?;
    Ok(words::in_json(&encoded).into_owned() + "\n")
}
