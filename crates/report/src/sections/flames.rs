//! Flame graphs, and what changed between them.

use crate::block::{Block, Item, Scope};
use crate::flame::Changes;
use crate::source::Source;

/// The graphs, those that were refused, and the functions whose share changed.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let flames = &source.extras.flames;
    let mut blocks = Vec::new();
    if !flames.graphs.is_empty() {
        blocks.push(Block::Flames(&flames.graphs));
    }
    if !flames.refusals.is_empty() {
        blocks.push(Block::List(flames.refusals.iter().cloned().map(Item::from).collect()));
    }
    blocks.extend(flames.changes.iter().map(changes));
    blocks
}

fn changes<'a>(changes: &Changes) -> Block<'a> {
    let scope =
        Scope { variant: Some(changes.variant.clone()), traffic: Some(changes.traffic.clone()) };
    let blocks = vec![
        Block::Label(changes.title()),
        Block::table(changes.table()),
        Block::Paragraph(changes.note.clone()),
    ];
    Block::Group(scope, blocks)
}
