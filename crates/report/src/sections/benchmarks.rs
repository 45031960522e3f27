//! The measures that have a figure of their own (RFC 2544, sections 26.3 to 26.6, RFC 9004, soak).

use fwdlab_figures::observed::{Cell, figures, observed};
use fwdlab_results::{Benchmark, Measure, Results, Trial};

use crate::block::Block;
use crate::kept::{self, Kept};
use crate::source::Source;

/// A table of all figures, then what each measure observed; nothing when no trial has any.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let results = source.results;
    let tick = results.campaign.tick();
    let cells = cells(results);
    if cells.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Preformatted(figures(&cells, tick))];
    let mut said = "";
    for measure in Measure::ALL.into_iter().filter(|measure| measure.is_benchmark()) {
        let own: Vec<&Cell<'_>> = cells.iter().filter(|cell| cell.measure == measure).collect();
        if !own.is_empty() {
            let (note, table) = observed(measure, &own, tick);
            // What several have in common is said once.
            if note != said {
                blocks.push(Block::Paragraph(note.to_owned()));
            }
            blocks.push(Block::Preformatted(table));
            said = note;
        }
    }
    blocks
}

fn cells<'a>(results: &'a Results) -> Vec<Cell<'a>> {
    let own = |Kept { traffic, variant, trials }: Kept<'a>| {
        let own = |trial: &'a Trial| Some((trial, trial.measured.benchmark.as_ref()?));
        let trials: Vec<(&Trial, &Benchmark)> = trials.into_iter().filter_map(own).collect();
        let measure = trials.first()?.1.measure();
        Some(Cell { traffic, variant, measure, trials })
    };
    kept::cells(results).filter_map(own).collect()
}
