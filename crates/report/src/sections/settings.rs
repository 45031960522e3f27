//! The settings of the variants side by side.

use crate::block::Block;
use crate::source::Source;
use crate::table;

/// The table.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    vec![
        Block::Label("Settings of the variants, as asked and as read back".to_owned()),
        Block::table(table::settings(source.claims)),
    ]
}
