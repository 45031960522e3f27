//! Energy by frame, of experiments on machines that tell it.

use std::fmt::Write as _;

use fwdlab_claims::claim::Spread;
use fwdlab_results::units;
use fwdlab_results::{Metric, Results, Trial};
use fwdlab_stats::median;

use crate::block::Block;
use crate::source::Source;

/// The table and what it shows; nothing when no trial has an energy.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let rows = rows(source.results);
    if rows.is_empty() {
        return Vec::new();
    }
    let note = "Energy of all processor packages of the machine (RAPL) while frames were counted, tester \
                and everything else included, by million frames received: median of the trials, with \
                its 95 % interval from six trials on.";
    let head = format!(
        "{:<16} {:<16} {:>3} {:>16} {:>20} {:>9}",
        "traffic", "variant", "n", "J/million frames", "95% interval", "ns/frame"
    );
    vec![Block::Paragraph(note.to_owned()), Block::Preformatted(format!("{head}\n{rows}"))]
}

fn rows(results: &Results) -> String {
    let mut out = String::new();
    for traffic in &results.campaign.traffics {
        for variant in &results.campaign.variants {
            let trials = results.trials_of(variant, traffic);
            let good: Vec<&Trial> = trials.into_iter().filter(|trial| trial.is_ok()).collect();
            let joules =
                good.iter().filter_map(|t| t.measured.joules_per_million()).collect::<Vec<_>>();
            let Some(spread) = Spread::of(&joules) else { continue };
            let costs: Vec<f64> = good.iter().filter_map(|t| Metric::Cost.of(t)).collect();
            let cost = if costs.is_empty() { "-".to_owned() } else { units::ns(median(&costs)) };
            let interval = spread
                .interval
                .map_or_else(|| "-".to_owned(), |[low, high]| format!("[{low:.3}, {high:.3}]"));
            let _ = writeln!(
                out,
                "{traffic:<16} {variant:<16} {:>3} {:>16.3} {interval:>20} {cost:>9}",
                spread.n, spread.median
            );
        }
    }
    out
}
