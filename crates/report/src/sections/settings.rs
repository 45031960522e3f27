//! The settings of the variants side by side: what differs, and folded away what does not.

use crate::block::{Block, Details, Scope};
use crate::source::Source;
use crate::table;

/// The tables.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let (differs, same) = table::settings(source.claims).parted(|row| {
        // The first cell is the setting's name.
        row.get(1..).is_some_and(|cells| cells.windows(2).any(|two| two[0] != two[1]))
    });
    let mut blocks = Vec::new();
    if !differs.is_empty() {
        let label = "In what the variants differ, as asked and as read back";
        blocks.push(Block::Label(label.to_owned()));
        blocks.push(Block::table(differs));
    }
    if !same.is_empty() {
        let summary = format!("{} settings that all variants share", same.len());
        let (scope, blocks_inside) = (Scope::default(), vec![Block::table(same)]);
        blocks.push(Block::Details(Details {
            summary,
            scope,
            is_open: false,
            blocks: blocks_inside,
        }));
    }
    blocks
}
