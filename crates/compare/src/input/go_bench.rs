//! Go benchmark output: `BenchmarkName-8  1000  123 ns/op  45 MB/s`.
//!
//! The format of `go test -bench`, as in Go's proposal 14313: a line begins with `Benchmark`, then
//! the number of iterations, then pairs of value and unit. One series per benchmark and unit.

use std::path::Path;

use crate::{CompareError, Options};
use fwdlab_claims::runs::Series;

/// Whether any line is a benchmark result.
pub(crate) fn is_go_bench(text: &str) -> bool {
    text.lines().any(|line| pairs(line).is_some())
}

/// Reads all results of a file.
pub(crate) fn read(
    path: &Path,
    text: &str,
    options: &Options,
) -> Result<Vec<Series>, CompareError> {
    let mut all: Vec<Series> = Vec::new();
    for line in text.lines() {
        let Some((name, pairs)) = pairs(line) else { continue };
        for (value, unit) in pairs {
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
    // allocations that are always 0 have no ratio
    all.retain(|own| own.values.iter().any(|value| *value != 0.0));
    Ok(all)
}

/// Name without `Benchmark` and the number of processors, and pairs of value and unit.
fn pairs(line: &str) -> Option<(&str, Vec<(f64, &str)>)> {
    let mut words = line.split_whitespace();
    let name = words.next()?.strip_prefix("Benchmark")?;
    words.next()?.parse::<u64>().ok()?;
    let words: Vec<&str> = words.collect();
    let pairs: Option<Vec<(f64, &str)>> =
        words.chunks_exact(2).map(|pair| Some((pair[0].parse().ok()?, pair[1]))).collect();
    let name = match name.rsplit_once('-') {
        Some((name, processors)) if processors.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => name,
    };
    pairs.filter(|pairs| !pairs.is_empty()).map(|pairs| (name, pairs))
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
