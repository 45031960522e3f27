//! Flame graphs.

use crate::block::{Block, Item};
use crate::source::Source;

/// The graphs, and those that were refused.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let flames = &source.extras.flames;
    let mut blocks = Vec::new();
    if !flames.graphs.is_empty() {
        blocks.push(Block::Flames(&flames.graphs));
    }
    if !flames.refusals.is_empty() {
        blocks.push(Block::List(flames.refusals.iter().cloned().map(Item::from).collect()));
    }
    blocks
}
