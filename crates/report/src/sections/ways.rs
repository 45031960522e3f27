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
        for ((at, name), share) in Way::NAMES.into_iter().enumerate().zip(shares(&kept.trials)) {
            let begin = format!("{:<16} {:<16} {name:<19}", kept.traffic, kept.variant);
            row(&mut out, &begin, (at, &kept.trials), share);
        }
    }
    out
}

/// What came of each way in per cent of all, as it is shown: together 100.
fn shares(trials: &[&Trial]) -> [Option<f64>; 2] {
    let of = |at: usize| {
        let own = trials.iter().filter_map(|trial| trial.measured.ways.get(at));
        own.map(|way| way.received).fold(0, u64::saturating_add)
    };
    let (ahead, back) = (of(0), of(1));
    let all = ahead as f64 + back as f64;
    let shown = (all > 0.0).then(|| (ahead as f64 / all * 1e3).round() / 10.0);
    [shown, shown.map(|own| 100.0 - own)]
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Medians of 60.0 and 39.3 % stood there, of one trial each.
    #[test]
    fn the_shares_of_both_ways_are_all_that_was_received() {
        let trial = |ahead: u64, back: u64| {
            let mut trial = fwdlab_results::examples::trial(0);
            trial.measured.ways =
                [ahead, back].map(|received| Way { received, ..Way::default() }).into();
            trial
        };
        let of = |trials: &[Trial]| shares(&trials.iter().collect::<Vec<_>>());
        let mixed = [trial(600, 400), trial(100, 900), trial(607, 393)];
        let [ahead, back] = of(&mixed).map(|own| own.expect("frames came"));
        assert!((ahead - 43.6).abs() < 1e-9 && (back - 56.4).abs() < 1e-9, "{ahead} {back}");
        // Neither is rounded up beside the other.
        let [ahead, back] = of(&[trial(3, 13)]).map(|own| own.expect("frames came"));
        assert_eq!(format!("{ahead:.1} {back:.1}"), "18.8 81.2");
        assert_eq!(of(&[trial(0, 0)]), [None, None]);
    }
}
