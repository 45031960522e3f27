//! Go benchmark output: `BenchmarkName-8  1000  123 ns/op  45 MB/s`.
//!
//! The format of `go test -bench`, as in Go's proposal 14313: a line begins with `Benchmark`, then
//! the number of iterations, then pairs of value and unit. One series per benchmark and unit.

use std::path::Path;

use crate::{CompareError, Options};
use fwdlab_claims::runs::Series;

/// Whether any line is a benchmark result.
pub(crate) fn is_go_bench(text: &str) -> bool {
    text.lines().any(|line| result(line).is_some())
}

/// Reads all results of a file.
pub(crate) fn read(
    path: &Path,
    text: &str,
    options: &Options,
) -> Result<Vec<Series>, CompareError> {
    let results: Vec<(usize, &str, Vec<&str>)> = (1..)
        .zip(text.lines())
        .filter_map(|(number, line)| result(line).map(|(name, words)| (number, name, words)))
        .collect();
    let names: Vec<&str> = results.iter().map(|(_, name, _)| *name).collect();
    let processors = processors(&names).unwrap_or("");
    let mut all: Vec<Series> = Vec::new();
    for (line, name, words) in results {
        let name = name.strip_suffix(processors).unwrap_or(name);
        for pair in words.chunks(2) {
            let wrong = |got: &str, wanted: &'static str| CompareError::Line {
                path: path.to_owned(),
                line,
                got: got.chars().take(40).collect(),
                wanted,
                remedy: "write numbers with a decimal point, each with its unit behind it, as `go test -bench` does",
            };
            let [value, unit] = *pair else { return Err(wrong(pair[0], "a value and its unit")) };
            let value: Option<f64> = value.parse().ok().filter(|value: &f64| value.is_finite());
            let value = value.ok_or_else(|| wrong(pair[0], "a number"))?;
            match all.iter_mut().find(|own| own.group == name && own.unit == unit) {
                Some(own) => own.values.push(value),
                None => {
                    let series = Series::plain(path, vec![value], options.is_lower_better)
                        .of_metric(metric(unit), unit);
                    all.push(Series { group: name.to_owned(), is_benchmark: true, ..series });
                }
            }
        }
    }
    Ok(all)
}

/// Leaves out what is 0 in every source: allocations that never come have no ratio, and nothing
/// changed. Beside another figure they are kept.
pub(crate) fn without_nothing(mut all: Vec<Series>) -> Vec<Series> {
    let is_something = |own: &Series| own.values.iter().any(|value| *value != 0.0);
    let kept: Vec<bool> = all
        .iter()
        .map(|own| {
            let is_same = |other: &&Series| own.is_comparable(other);
            !own.is_benchmark || all.iter().filter(is_same).any(is_something)
        })
        .collect();
    let mut kept = kept.into_iter();
    all.retain(|_| kept.next().unwrap_or(true));
    all
}

/// Name without `Benchmark`, and the words of value and unit.
fn result(line: &str) -> Option<(&str, Vec<&str>)> {
    let mut words = line.split_whitespace();
    let name = words.next()?.strip_prefix("Benchmark")?;
    words.next()?.parse::<u64>().ok()?;
    let words: Vec<&str> = words.collect();
    (!words.is_empty()).then_some((name, words))
}

/// The number of processors behind every name, `-8`: only what all names end with can be it, since
/// a benchmark may have digits of its own (`Sort/size-100`), and with one processor Go writes none.
fn processors<'a>(names: &[&'a str]) -> Option<&'a str> {
    let first = *names.first()?;
    let suffix = &first[first.rfind('-')?..];
    let is_number = suffix.len() > 1 && suffix[1..].bytes().all(|b| b.is_ascii_digit());
    (is_number && names.iter().all(|name| name.ends_with(suffix))).then_some(suffix)
}

fn metric(unit: &str) -> &str {
    match unit {
        "ns/op" => "time",
        "MB/s" | "B/s" => "throughput",
        "B/op" => "memory",
        "allocs/op" => "allocations",
        other => other,
    }
}
