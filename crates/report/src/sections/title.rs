//! The title.

use crate::block::Block;
use crate::source::Source;

/// The experiment's title.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    vec![Block::Title(source.claims.title.clone())]
}
