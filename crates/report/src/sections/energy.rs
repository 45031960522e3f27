//! Energy by frame, of experiments on machines that tell it.

use std::fmt::Write as _;

use fwdlab_claims::claim::Spread;
use fwdlab_results::{Metric, Results, Trial, units};

use crate::block::Block;
use crate::kept::{Kept, cells, middle, none, table};
use crate::source::Source;

/// The table and what it shows; nothing when no trial has an energy.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let note = "Energy of all processor packages of the machine (RAPL) while frames were counted, tester \
                and everything else included, by million frames received: median of the trials, with \
                its 95 % interval from six trials on; and by those of the baseline in the same block.";
    let head = format!(
        "{:<16} {:<16} {:>3} {:>16} {:>20} {:>9} {:>11} {:>16}",
        "traffic",
        "variant",
        "n",
        "J/million frames",
        "95% interval",
        "ns/frame",
        "by baseline",
        "95% interval"
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
        let shown = |spread: &Spread| {
            spread.interval.map_or_else(none, |[low, high]| format!("[{low:.3}, {high:.3}]"))
        };
        let interval = shown(&spread);
        let beside = beside_baseline(results, &kept);
        let ratio = beside.as_ref().map_or_else(none, |own| format!("{:.3}", own.median));
        let of_ratio = beside.as_ref().map_or_else(none, shown);
        let _ = writeln!(
            out,
            "{:<16} {:<16} {:>3} {:>16.3} {interval:>20} {cost:>9} {ratio:>11} {of_ratio:>16}",
            kept.traffic, kept.variant, spread.n, spread.median
        );
    }
    out
}

/// Joules for each frame by those of the baseline, block by block; nothing of the baseline itself.
fn beside_baseline(results: &Results, kept: &Kept<'_>) -> Option<Spread> {
    let baseline = &results.campaign.baseline;
    if kept.variant == baseline {
        return None;
    }
    let base = results.trials_of(baseline, kept.traffic);
    let of_block = |block: u32| {
        let same = base.iter().find(|trial| trial.block == block && trial.is_ok())?;
        same.measured.joules_per_million()
    };
    let ratio =
        |trial: &&Trial| Some(trial.measured.joules_per_million()? / of_block(trial.block)?);
    let ratios: Vec<f64> = kept.trials.iter().filter_map(ratio).collect();
    Spread::of(&ratios)
}
