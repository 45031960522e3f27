//! What each run says of the next one, held against all the others.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::summary::{list, machine, text};

/// One run's verdict on one variant with one traffic.
struct Said {
    /// The figure, and where the next run's will lie, as ratios.
    estimate: f64,
    interval: Option<[f64; 2]>,
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
    for ((traffic, variant), runs) in &by_comparison {
        let held = held(runs);
        all = [all[0] + held[0], all[1] + held[1]];
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
    let _ = writeln!(out, "\n{held} of {pairs} pairs held.");
    (out, pairs > 0 && held == pairs)
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
                    "interval": { "low": estimate - reach, "high": estimate + reach },
                    "roundtrips_ns": [60.0, 440.0],
                },
            }],
        })
    }

    #[test]
    fn every_pair_counts_in_both_directions() {
        let (text, is_good) = each_in_the_others(&[report(2.0, 0.3), report(2.2, 0.1)]);
        assert!(!is_good && text.contains("1 of 2 pairs held"), "{text}");
        assert!(
            text.contains("+100.0 %<br>+120.0 %") && text.contains("60 ns to 440 ns"),
            "{text}"
        );
        let (text, is_good) = each_in_the_others(&[report(2.0, 0.3), report(2.2, 0.3)]);
        assert!(is_good && text.contains("2 of 2 pairs held"), "{text}");
    }

    #[test]
    fn a_run_that_says_nothing_of_the_next_holds_nothing() {
        let mut silent = report(2.0, 0.3);
        silent["verdicts"][0]["next"] = Value::Null;
        let (text, is_good) = each_in_the_others(&[silent.clone(), silent]);
        assert!(!is_good && text.contains("0 of 0 pairs held"), "{text}");
    }
}
