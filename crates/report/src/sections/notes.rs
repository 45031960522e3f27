//! The user's own words.

use crate::block::Block;
use crate::source::Source;

/// The notes, and what does not agree in them.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let notes = &source.extras.notes;
    let Some(text) = notes.text() else { return Vec::new() };
    let doubts: Vec<String> =
        notes.doubts().iter().map(|doubt| format!("warning: {doubt}")).collect();
    let remarks = (!doubts.is_empty()).then_some(Block::Remarks(doubts));
    remarks.into_iter().chain([Block::Verbatim(text)]).collect()
}
