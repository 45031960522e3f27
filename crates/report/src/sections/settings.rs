//! The settings of the variants side by side: what differs, and folded away what does not.

use fwdlab_results::units;

use crate::block::{Block, Details, Scope, Table};
use crate::source::Source;
use crate::table;

/// Columns of settings that a page has room for.
const MOST_COLUMNS: usize = 5;

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
        // Of many variants each is a row: columns go beyond the page.
        let is_wide = differs.columns() > MOST_COLUMNS && differs.columns() > differs.len();
        blocks.push(match is_wide {
            true => {
                Block::Table(Table { text: differs.turned("variant"), variant_column: Some(0) })
            }
            false => Block::table(differs),
        });
    }
    if !same.is_empty() {
        let summary = format!("{} that all variants share", units::plural(same.len(), "setting"));
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
