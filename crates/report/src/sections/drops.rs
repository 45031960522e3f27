//! What the device dropped.

use crate::block::{Block, Table};
use crate::source::Source;
use crate::table;

/// The drops by reason, or that there were none.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    match table::drops(source.claims) {
        Some(text) => vec![
            Block::Label("Frames dropped by the device, by reason".to_owned()),
            Block::Table(Table { text, variant_column: Some(1) }),
        ],
        None if source.claims.setting.is_blocked => {
            vec![Block::Paragraph("The device dropped no frame in the kept trials.".to_owned())]
        }
        None => vec![Block::Paragraph("What the device dropped is not in the logs.".to_owned())],
    }
}
