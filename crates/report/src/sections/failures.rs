//! Trials that failed.

use fwdlab_claims::claim::Cell;

use crate::block::Block;
use crate::source::Source;

/// All of them.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    of(&source.claims.cells.iter().collect::<Vec<_>>())
}

/// Those of some cells.
pub fn of<'a>(cells: &[&Cell]) -> Vec<Block<'a>> {
    let failures = cells.iter().flat_map(|cell| &cell.failed);
    let texts: Vec<String> =
        failures.map(|failure| format!("FAILED: {}: {}", failure.trial, failure.reason)).collect();
    if texts.is_empty() { Vec::new() } else { vec![Block::Failures(texts)] }
}
