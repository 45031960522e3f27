//! What the device read back.

use crate::block::{Block, Item};
use crate::source::Source;

/// The settings of every cell.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let claims = source.claims;
    let is_read_back = claims.cells.iter().any(|cell| !cell.proof.is_empty());
    let text = match (is_read_back, claims.setting.is_blocked) {
        (true, true) => "settings read back from the device:",
        (true, false) => "as logged:",
        (false, _) => "nothing was read back from the device",
    };
    let cells = claims.cells.iter().filter(|_| is_read_back).map(|cell| {
        let proof: Vec<String> = cell.proof.iter().map(|(k, v)| format!("`{k}={v}`")).collect();
        let proof = if proof.is_empty() { "nothing".to_owned() } else { proof.join(", ") };
        format!("{} / {}: {proof}", cell.traffic, cell.variant)
    });
    vec![Block::List(vec![Item { text: text.to_owned(), below: cells.collect() }])]
}
