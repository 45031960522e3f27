//! Where the change is: functions that cost more or less than the baseline's.

use crate::block::{Block, Item, Scope};
use crate::source::Source;
use fwdlab_profiles::{Changes, note};

/// A sentence and a table for each pair of profiles.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let all = &source.extras.changes;
    let mut blocks: Vec<_> = all.iter().map(of_one).collect();
    blocks.extend(note(all).map(Block::Paragraph));
    blocks
}

/// The sentences alone.
pub fn in_brief<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    source.extras.changes.iter().map(|changes| Block::Paragraph(changes.sentence())).collect()
}

fn of_one<'a>(changes: &Changes) -> Block<'a> {
    let scope =
        Scope { variant: Some(changes.variant.clone()), traffic: Some(changes.traffic.clone()) };
    let mut blocks = vec![Block::Paragraph(changes.sentence()), Block::table(changes.table())];
    let folded = changes.folded();
    if !folded.is_empty() {
        blocks.push(Block::List(folded.into_iter().map(Item::from).collect()));
    }
    Block::Scoped(scope, blocks)
}
