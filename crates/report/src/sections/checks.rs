//! What had to hold for the verdicts.

use fwdlab_claims::claim::State;

use crate::block::Block;
use crate::source::Source;

/// Every criterion.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    vec![Block::Badges(source.claims.badges.iter().collect())]
}

/// Those that are not met, where there is room for no more.
pub fn not_met<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let badges = source.claims.badges.iter().filter(|badge| badge.state != State::Good);
    let badges: Vec<_> = badges.collect();
    if badges.is_empty() { Vec::new() } else { vec![Block::Badges(badges)] }
}
