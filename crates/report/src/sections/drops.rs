//! What the device dropped.

use crate::block::{Block, Table};
use crate::source::Source;
use crate::table;

/// The drops by reason, or that there were none, or that nobody counted them.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    if source.claims.progress.kept == 0 {
        return Vec::new();
    }
    match table::drops(source.claims) {
        Some(text) => vec![
            Block::Label("Frames dropped by the device, by reason".to_owned()),
            Block::Table(Table { text, variant_column: Some(1) }),
        ],
        None => {
            let counted = source.claims.cells.iter().filter(|cell| cell.drops.is_some()).count();
            let text = if counted == source.claims.cells.len() {
                "The device dropped no frame in the kept trials."
            } else if counted == 0 {
                "What the device dropped is not known: nobody counted it."
            } else {
                "Where it was counted, the device dropped no frame in the kept trials."
            };
            vec![Block::Paragraph(text.to_owned())]
        }
    }
}
