//! How the trials were ordered, and how many count.

use fwdlab_results::units;

use crate::block::{Block, Item};
use crate::source::Source;

/// One line.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let claims = source.claims;
    let p = &claims.progress;
    let order = claims.published_order().unwrap_or_else(|| {
        format!(
            "{} in random order, {} of {} trials kept, seed {}, experiment SHA-256 {:.12}",
            units::plural(p.blocks, "block"),
            p.kept,
            p.planned,
            claims.setting.seed,
            claims.setting.experiment_sha256
        )
    });
    vec![Block::List(vec![Item::from(order)])]
}
