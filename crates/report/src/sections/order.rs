//! How the trials were ordered, how many count, and how to run them again.

use fwdlab_results::units;

use crate::block::{Block, Item};
use crate::source::Source;

/// A line each.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let claims = source.claims;
    let p = &claims.progress;
    if let Some(order) = claims.published_order() {
        return vec![Block::List(vec![Item::from(order)])];
    }
    let order = format!(
        "{} in random order, {} of {} kept, seed {}, experiment SHA-256 {:.12}",
        units::plural(p.blocks, "block"),
        p.kept,
        units::plural(p.planned, "trial"),
        claims.setting.seed,
        claims.setting.experiment_sha256
    );
    let again = format!("run it again: {}", claims.setting.command);
    vec![Block::List(vec![Item::from(order), Item::from(again)])]
}
