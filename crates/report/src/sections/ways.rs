//! Each way by itself, of traffics whose frames went both ways at once.

use std::fmt::Write as _;

use fwdlab_results::{Results, Trial, Way, units};

use crate::block::Block;
use crate::kept::{cells, middle, none, shown, table};
use crate::source::Source;

/// The table and what it shows; nothing when all frames went one way.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let note = "Frames that went both ways at once. Verdicts are on the sum of both ways; here is each \
                by itself: frames a second, the share lost, and how long 99 % of the frames took at most, \
                where that was measured, as medians over the trials; and its share of all frames that were \
                received in them, both ways together.";
    let head = format!(
        "{:<16} {:<16} {:<19} {:>3} {:>11} {:>7} {:>8} {:>9}",
        "traffic", "variant", "way", "n", "rate", "share", "lost", "99 % us"
    );
    table(note, &head, &rows(source.results))
}

fn rows(results: &Results) -> String {
    let mut out = String::new();
    for kept in cells(results) {
        let shares = Way::shares(kept.trials.iter().map(|trial| &trial.measured.ways[..]));
        for ((at, name), share) in Way::NAMES.into_iter().enumerate().zip(shares) {
            let begin = format!("{:<16} {:<16} {name:<19}", kept.traffic, kept.variant);
            row(&mut out, &begin, (at, &kept.trials), share);
        }
    }
    out
}

fn row(out: &mut String, begin: &str, (at, trials): (usize, &[&Trial]), share: Option<f64>) {
    let own = |trial: &Trial, figure: &dyn Fn(&Way) -> Option<f64>| {
        trial.measured.ways.get(at).and_then(figure)
    };
    let middle = |figure: &dyn Fn(&Trial) -> Option<f64>| {
        middle(trials.iter().filter_map(|trial| figure(trial)))
    };
    let count = trials.iter().filter(|trial| trial.measured.ways.get(at).is_some()).count();
    if count == 0 {
        return;
    }
    let rate = |trial: &Trial| own(trial, &|way| trial.way_pps(way));
    let _ = writeln!(
        out,
        "{begin} {count:>3} {:>11} {:>7} {:>8} {:>9}",
        middle(&rate).map_or_else(none, units::rate),
        shown(share, 1, "%"),
        shown(middle(&|trial| own(trial, &|way| Some(way.loss_ratio() * 100.0))), 3, "%"),
        shown(middle(&|trial| own(trial, &|way| Some(way.latency?.p99_ns as f64 / 1e3))), 1, ""),
    );
}
