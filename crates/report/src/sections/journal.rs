//! The last line: the hash that stands for the whole journal.

use crate::block::{Block, Item};
use crate::source::Source;

/// The hash of the journal's last line, where the journal is a chain: whoever wrote it down once can
/// tell whether any line was changed since.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let Some(hash) = &source.claims.setting.journal_sha256 else { return Vec::new() };
    vec![Block::List(vec![Item::from(format!("trials.jsonl, last line: SHA-256 {hash}"))])]
}
