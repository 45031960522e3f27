//! What ran, and how far it came.

use fwdlab_results::units;

use crate::block::Block;
use crate::source::Source;

/// What ran, when, and to which end.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    vec![Block::Lead(source.claims.progress.line(&source.claims.setting))]
}

/// The same without times, for whoever has just waited for it.
pub fn in_brief<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let claims = source.claims;
    let p = &claims.progress;
    vec![Block::Lead(claims.published_order().unwrap_or_else(|| {
        format!(
            "device {}, {}, {} of {} kept, seed {}",
            claims.setting.device,
            units::plural(p.blocks, "block"),
            p.kept,
            units::plural(p.planned, "trial"),
            claims.setting.seed
        )
    }))]
}
