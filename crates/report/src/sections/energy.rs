//! Energy by frame, of experiments on machines that tell it.

use std::fmt::Write as _;

use fwdlab_claims::claim::Spread;
use fwdlab_results::{Metric, Results, units};

use crate::block::Block;
use crate::kept::{cells, middle, none, table};
use crate::source::Source;

/// The table and what it shows; nothing when no trial has an energy.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let note = "Energy of all processor packages of the machine (RAPL) while frames were counted, tester \
                and everything else included, by million frames received: median of the trials, with \
                its 95 % interval from six trials on.";
    let head = format!(
        "{:<16} {:<16} {:>3} {:>16} {:>20} {:>9}",
        "traffic", "variant", "n", "J/million frames", "95% interval", "ns/frame"
    );
    table(note, &head, &rows(source.results))
}

fn rows(results: &Results) -> String {
    let mut out = String::new();
    for kept in cells(results) {
        let trials = || kept.trials.iter();
        let joules: Vec<f64> = trials().filter_map(|t| t.measured.joules_per_million()).collect();
        let Some(spread) = Spread::of(&joules) else { continue };
        let cost = middle(trials().filter_map(|t| Metric::Cost.of(t)));
        let cost = cost.map_or_else(none, units::ns);
        let interval =
            spread.interval.map_or_else(none, |[low, high]| format!("[{low:.3}, {high:.3}]"));
        let _ = writeln!(
            out,
            "{:<16} {:<16} {:>3} {:>16.3} {interval:>20} {cost:>9}",
            kept.traffic, kept.variant, spread.n, spread.median
        );
    }
    out
}
