//! The latencies of an experiment that measures them.

use std::fmt::Write as _;

use fwdlab_results::{LatencyAt, LatencyFigures, Results, StampFigures, Trial};
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
    let mut blocks = table(note, &head, &rows(source.results));
    let note = "These times are of a sample of the frames, by stamps where they leave and where they \
                arrive: frames that were sent to be stamped and those with both stamps, of all trials; \
                what the same stamps say over a cable is the median over the trials of each trial's \
                median. It is not subtracted, and a stamp that did not come is never a loss.";
    let head = format!(
        "{traffic:<16} {variant:<16} {:<8} {:>9} {:>9} {:>9}",
        "stamps", "sent", "both", "cable"
    );
    blocks.extend(table(note, &head, &stamps(source.results)));
    blocks
}

fn stamps(results: &Results) -> String {
    let mut out = String::new();
    for Kept { traffic, variant, trials } in cells(results) {
        let found: Vec<&StampFigures> =
            trials.iter().filter_map(|trial| trial.measured.stamps.as_ref()).collect();
        let Some(first) = found.first() else { continue };
        let is_one = found.iter().all(|stamps| stamps.by == first.by);
        let by = if is_one { first.by.as_str() } else { "both" };
        let sum = |count: fn(&StampFigures) -> u64| found.iter().map(|one| count(one)).sum::<u64>();
        let floors: Vec<f64> =
            found.iter().filter_map(|one| Some(one.floor?.median_ns as f64)).collect();
        let floor =
            if floors.is_empty() { "-".to_owned() } else { format!("{:.0}", median(&floors)) };
        let _ = writeln!(
            out,
            "{traffic:<16} {variant:<16} {by:<8} {:>9} {:>9} {floor:>9}",
            sum(|one| one.probes),
            sum(|one| one.stamped),
        );
    }
    out
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
