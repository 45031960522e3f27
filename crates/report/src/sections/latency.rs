//! The latencies of an experiment that measures them.

use std::fmt::Write as _;

use fwdlab_results::{LatencyAt, LatencyFigures, Results, Trial};
use fwdlab_stats::median;

use crate::block::Block;
use crate::kept::{Kept, cells, table};
use crate::source::Source;

/// Names of the columns.
const HEAD: [&str; 8] =
    ["traffic", "load", "variant", "median", "99 %", "99.9 %", "99.99 %", "maximum"];

/// The table and what it shows; nothing when no trial has latencies.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let note = "Time from the tester through the device and back, in ns: the median over the \
                trials of each trial's percentile; of the maxima, the largest. Loads in per cent are \
                shares of the rate that the same trial found.";
    let [traffic, load, variant, a, b, c, d, e] = HEAD;
    let head = format!("{traffic:<16} {load:>10} {variant:<16} {a:>9} {b:>9} {c:>9} {d:>9} {e:>9}");
    table(note, &head, &rows(source.results))
}

fn rows(results: &Results) -> String {
    let mut out = String::new();
    for Kept { traffic, variant, trials } in cells(results) {
        for share in shares(&trials) {
            let at_share = |one: &&LatencyAt| one.share == share;
            let of =
                |trial: &&Trial| Some(trial.measured.latency_at.iter().find(at_share)?.figures);
            let load = format!("{:.0} %", 100.0 * share);
            let found: Vec<LatencyFigures> = trials.iter().filter_map(of).collect();
            row(&mut out, (traffic, &load, variant), &found);
        }
        let found: Vec<LatencyFigures> = trials.iter().filter_map(|t| t.measured.latency).collect();
        if !found.is_empty() {
            let is_searched = trials.iter().any(|trial| trial.measured.search.is_some());
            let load = if is_searched { "100 %" } else { &trials[0].load };
            row(&mut out, (traffic, load, variant), &found);
        }
    }
    out
}

/// The shares of the rate at which latency was measured, in the order of measuring.
fn shares(trials: &[&Trial]) -> Vec<f64> {
    let first = trials.iter().find(|trial| !trial.measured.latency_at.is_empty());
    first
        .map(|trial| trial.measured.latency_at.iter().map(|at| at.share).collect())
        .unwrap_or_default()
}

fn row(out: &mut String, (traffic, load, variant): (&str, &str, &str), found: &[LatencyFigures]) {
    let middle = |figure: fn(&LatencyFigures) -> u64| {
        let values: Vec<f64> = found.iter().map(|one| figure(one) as f64).collect();
        median(&values)
    };
    let _ = writeln!(
        out,
        "{traffic:<16} {load:>10} {variant:<16} {:>9.0} {:>9.0} {:>9.0} {:>9.0} {:>9}",
        middle(|one| one.median_ns),
        middle(|one| one.p99_ns),
        middle(|one| one.p99_9_ns),
        middle(|one| one.p99_99_ns),
        found.iter().map(|one| one.maximum_ns).max().unwrap_or(0),
    );
}
