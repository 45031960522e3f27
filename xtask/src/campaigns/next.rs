//! What each run says of the next one, held against all the others.

use std::collections::BTreeMap;
use std::fmt::Write;

use fwdlab_stats::processes::NextRun;
use fwdlab_stats::{Confidence, ConfidenceInterval, Effect};
use serde_json::Value;

use super::summary::{list, machine, text};
use crate::calibrate::{Random, SEED, in_parallel};

/// One run's verdict on one variant with one traffic.
struct Said {
    /// The figure, and where the next run's will lie, as ratios.
    estimate: f64,
    interval: Option<[f64; 2]>,
    /// Processes that the interval rests on.
    processes: usize,
    /// Distances of the cores, ns.
    apart: Option<[f64; 2]>,
    word: String,
}

/// How many of the pairs of runs hold: the figure of one lies in the interval that the other gave for
/// its next run. Each interval promises 95 %.
pub fn each_in_the_others(reports: &[Value]) -> (String, bool) {
    let mut by_comparison: BTreeMap<(String, String), Vec<Said>> = BTreeMap::new();
    for report in reports {
        for verdict in list(&report["verdicts"]) {
            let name = (text(&verdict["traffic"]), text(&verdict["variant"]));
            let own = &verdict[text(&verdict["metric"])];
            let pair = |low: &Value, high: &Value| Some([low.as_f64()?, high.as_f64()?]);
            let next = &verdict["next"];
            let apart = &next["roundtrips_ns"];
            let said = Said {
                estimate: own["estimate"].as_f64().unwrap_or(f64::NAN),
                interval: pair(&next["interval"]["low"], &next["interval"]["high"]),
                processes: next["processes"].as_u64().map_or(0, |count| count as usize),
                apart: pair(&apart[0], &apart[1]),
                word: text(&verdict["verdict"]["verdict"]),
            };
            by_comparison.entry(name).or_default().push(said);
        }
    }
    let mut out = format!(
        "## What each run says of the next\n\n`cargo xtask campaigns next --count {}` on {}. \"held\" \
         counts the pairs of runs in which the figure of one lies in the interval that the other gave \
         for its next run; at the same distance of the cores 95 % of them are promised.\n\n\
         | traffic | variant | figures | next run | cores apart | verdicts | held |\n\
         |---|---|---|---|---|---|---:|\n",
        reports.len(),
        machine(reports)
    );
    let mut all = [0, 0];
    let mut overlaps = [0, 0];
    for ((traffic, variant), runs) in &by_comparison {
        let held = held(runs);
        all = [all[0] + held[0], all[1] + held[1]];
        let own = overlapping(runs);
        overlaps = [overlaps[0] + own[0], overlaps[1] + own[1]];
        let cells =
            |cell: &dyn Fn(&Said) -> String| runs.iter().map(cell).collect::<Vec<_>>().join("<br>");
        let between = |ends: Option<[f64; 2]>, show: &dyn Fn(f64) -> String| {
            ends.map_or("-".to_owned(), |[low, high]| format!("{} to {}", show(low), show(high)))
        };
        let percent = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
        let _ = writeln!(
            out,
            "| {traffic} | {variant} | {} | {} | {} | {} | {} of {} |",
            cells(&|run| percent(run.estimate)),
            cells(&|run| between(run.interval, &percent)),
            cells(&|run| between(run.apart, &|ns| format!("{ns:.0} ns"))),
            cells(&|run| run.word.clone()),
            held[0],
            held[1]
        );
    }
    let [held, pairs] = all;
    let by_chance = chance(&by_comparison, pairs - held);
    let _ = writeln!(
        out,
        "\n{held} of {pairs} pairs held, and {} of {} pairs of intervals overlap. Where every interval keeps \
         its promise of 95 %, so many pairs or more are missed in {:.0} of 100 such tables (one run that lies \
         aside is missed by all others), and none in {:.0}.",
        overlaps[0],
        overlaps[1],
        100.0 * by_chance,
        100.0 * (1.0 - chance(&by_comparison, 1))
    );
    (out, pairs > 0 && by_chance >= LEAST_CHANCE)
}

/// A table of misses that is rarer than this has another cause than chance.
const LEAST_CHANCE: f64 = 0.001;

/// Tables that are simulated to know how many misses are chance.
const TABLES: u64 = 4_000;

/// The chance of so many misses or more among runs of the same sizes, all of whose processes differ by
/// chance alone.
fn chance(by_comparison: &BTreeMap<(String, String), Vec<Said>>, missed: usize) -> f64 {
    let [beyond] = in_parallel(TABLES, |table| {
        let random = &mut Random::of(SEED, table);
        let missed_of = |runs: &Vec<Said>, random: &mut Random| {
            let drawn: Vec<Said> = runs.iter().map(|run| run.redrawn(random)).collect();
            let [held, pairs] = held(&drawn);
            pairs - held
        };
        let total: usize = by_comparison.values().map(|runs| missed_of(runs, random)).sum();
        [f64::from(total >= missed)]
    });
    beyond / TABLES as f64
}

impl Said {
    /// What a run of as many processes says where nothing but chance tells it from others.
    fn redrawn(&self, random: &mut Random) -> Self {
        let processes: Vec<Vec<f64>> =
            (0..self.processes).map(|_| vec![random.normal() * 0.01]).collect();
        let mean = processes.iter().flatten().sum::<f64>() / processes.len().max(1) as f64;
        let estimate = Effect::from_ln(mean);
        // Nothing is said of this run but its figure.
        let own = ConfidenceInterval { low: estimate, high: estimate };
        let next = NextRun::of(&processes, own, Confidence::USUAL);
        let interval = next.map(|next| [next.interval.low.ratio(), next.interval.high.ratio()]);
        Self {
            estimate: estimate.ratio(),
            interval: interval.filter(|_| self.interval.is_some()),
            processes: self.processes,
            apart: None,
            word: String::new(),
        }
    }
}

/// Pairs of runs whose intervals have a figure in common, and all.
fn overlapping(runs: &[Said]) -> [usize; 2] {
    let intervals: Vec<[f64; 2]> = runs.iter().filter_map(|run| run.interval).collect();
    let mut count = [0, 0];
    for (at, one) in intervals.iter().enumerate() {
        for other in &intervals[..at] {
            count[0] += usize::from(one[0] <= other[1] && other[0] <= one[1]);
            count[1] += 1;
        }
    }
    count
}

/// Pairs that held, and all: those of runs that said nothing of the next are none.
fn held(runs: &[Said]) -> [usize; 2] {
    let mut count = [0, 0];
    for (at, one) in runs.iter().enumerate() {
        let Some([low, high]) = one.interval else { continue };
        for (_, other) in runs.iter().enumerate().filter(|(place, _)| *place != at) {
            count[0] += usize::from((low..=high).contains(&other.estimate));
            count[1] += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(estimate: f64, reach: f64) -> Value {
        json!({
            "setting": { "environment": { "machine": { "processor": "P", "cores": 2 } } },
            "verdicts": [{
                "traffic": "inet",
                "variant": "modular",
                "metric": "cost",
                "verdict": { "verdict": "faster" },
                "cost": { "estimate": estimate },
                "next": {
                    "processes": 8,
                    "interval": { "low": estimate - reach, "high": estimate + reach },
                    "roundtrips_ns": [60.0, 440.0],
                },
            }],
        })
    }

    #[test]
    fn every_pair_counts_in_both_directions() {
        let (text, is_good) = each_in_the_others(&[report(2.0, 0.3), report(2.2, 0.1)]);
        assert!(is_good && text.contains("1 of 2 pairs held, and 1 of 1 pairs"), "{text}");
        assert!(
            text.contains("+100.0 %<br>+120.0 %") && text.contains("60 ns to 440 ns"),
            "{text}"
        );
        let (text, is_good) = each_in_the_others(&[report(2.0, 0.3), report(2.2, 0.3)]);
        assert!(is_good && text.contains("2 of 2 pairs held"), "{text}");
    }

    #[test]
    fn what_chance_does_not_explain_is_no_good() {
        let reports: Vec<Value> = (0..4).map(|k| report(2.0 + f64::from(k), 0.1)).collect();
        let (text, is_good) = each_in_the_others(&reports);
        assert!(!is_good && text.contains("0 of 12 pairs held, and 0 of 6 pairs"), "{text}");
        assert!(text.contains("missed in 0 of 100"), "{text}");
    }

    #[test]
    fn a_run_that_says_nothing_of_the_next_holds_nothing() {
        let mut silent = report(2.0, 0.3);
        silent["verdicts"][0]["next"] = Value::Null;
        let (text, is_good) = each_in_the_others(&[silent.clone(), silent]);
        assert!(!is_good && text.contains("0 of 0 pairs held"), "{text}");
    }
}
