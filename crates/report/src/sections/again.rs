//! How to run it again.

use crate::block::Block;
use crate::source::Source;

/// The commands.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    vec![
        Block::Command("run it again", source.claims.setting.command.clone()),
        Block::Command("make this report again from the journal", "fwdlab report DIR".to_owned()),
    ]
}
