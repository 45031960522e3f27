//! Each way by itself, of traffics whose frames went both ways at once.

use std::fmt::Write as _;

use fwdlab_results::{Metric, Results, Trial, Way};
use fwdlab_stats::median;

use crate::block::Block;
use crate::source::Source;

/// The table and what it shows; nothing when all frames went one way.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let rows = rows(source.results);
    if rows.is_empty() {
        return Vec::new();
    }
    let note = "Frames that went both ways at once. Verdicts are on the sum of both ways; here is each \
                by itself: frames a second, the share of them in the sum, the share lost, and how long \
                99 % of the frames took at most, where that was measured. Medians over the trials.";
    let head = format!(
        "{:<16} {:<16} {:<19} {:>3} {:>9} {:>7} {:>8} {:>9}",
        "traffic", "variant", "way", "n", "Mf/s", "share", "lost", "99 % us"
    );
    vec![Block::Paragraph(note.to_owned()), Block::Preformatted(format!("{head}\n{rows}"))]
}

fn rows(results: &Results) -> String {
    let mut out = String::new();
    for traffic in &results.campaign.traffics {
        for variant in &results.campaign.variants {
            let trials = results.trials_of(variant, traffic);
            let good: Vec<&Trial> = trials.into_iter().filter(|trial| trial.is_ok()).collect();
            for (at, name) in Way::NAMES.into_iter().enumerate() {
                row(&mut out, &format!("{traffic:<16} {variant:<16} {name:<19}"), (at, &good));
            }
        }
    }
    out
}

fn row(out: &mut String, begin: &str, (at, trials): (usize, &[&Trial])) {
    let own = |trial: &Trial, figure: &dyn Fn(&Way) -> Option<f64>| {
        trial.measured.ways.get(at).and_then(figure)
    };
    let middle = |figure: &dyn Fn(&Trial) -> Option<f64>| {
        let found: Vec<f64> = trials.iter().filter_map(|trial| figure(trial)).collect();
        (!found.is_empty()).then(|| median(&found))
    };
    let text = |value: Option<f64>, digits: usize, unit: &str| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}{unit}"))
    };
    let count = trials.iter().filter(|trial| trial.measured.ways.get(at).is_some()).count();
    if count == 0 {
        return;
    }
    let rate = |trial: &Trial| own(trial, &|way| trial.way_pps(way));
    let share = |trial: &Trial| Some(rate(trial)? / Metric::Rate.of(trial)? * 100.0);
    let _ = writeln!(
        out,
        "{begin} {count:>3} {:>9} {:>7} {:>8} {:>9}",
        text(middle(&|trial| rate(trial).map(|pps| pps / 1e6)), 3, ""),
        text(middle(&share), 1, "%"),
        text(middle(&|trial| own(trial, &|way| Some(way.loss_ratio() * 100.0))), 3, "%"),
        text(middle(&|trial| own(trial, &|way| Some(way.latency?.p99_ns as f64 / 1e3))), 1, ""),
    );
}
