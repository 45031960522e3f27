//! The latencies of an experiment that measures them, as a table of the README.

use std::fmt::Write as _;

use fwdlab_stats::median;

use super::text_table::wrap;
use crate::results::{LatencyFigures, Results};

/// The table, or nothing when no trial has latencies.
pub fn table(results: &Results) -> String {
    let mut out = String::new();
    for traffic in &results.campaign.traffics {
        for variant in &results.campaign.variants {
            let trials = results.trials_of(variant, traffic);
            let found: Vec<LatencyFigures> =
                trials.iter().filter(|trial| trial.is_ok()).filter_map(|t| t.latency).collect();
            if let Some(load) = trials.first().map(|trial| &trial.load)
                && !found.is_empty()
            {
                row(&mut out, (traffic, load, variant), &found);
            }
        }
    }
    if out.is_empty() {
        return out;
    }
    let note = "Time from the tester through the device and back, in ns: the median over the \
                trials of each trial's percentile; of the maxima, the largest.";
    format!(
        "## Latency\n\n{}\n```\n{:<16} {:>10} {:<16} {:>9} {:>9} {:>9} {:>9} {:>9}\n{out}```\n\n",
        wrap(note, 100, "", ""),
        "traffic",
        "load",
        "variant",
        "median",
        "99 %",
        "99.9 %",
        "99.99 %",
        "maximum",
    )
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
