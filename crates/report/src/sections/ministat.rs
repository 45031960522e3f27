//! The raw ministat listings, as other people's tools print them.

use crate::block::{Block, Details, Scope};
use crate::listing::{Listing, listings};
use crate::source::Source;

/// Cells up to which every listing is open from the start.
const FEW: usize = 4;

/// The listings of every traffic.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let Source { claims, results, .. } = *source;
    let mut blocks = Vec::new();
    for traffic in &results.campaign.traffics {
        let with_cost = claims.verdicts.iter().any(|v| v.traffic == *traffic && v.metric == "cost");
        for listing in listings(traffic, claims, results, with_cost) {
            let text = match &listing {
                Listing::Text(text) | Listing::Missing(text) => text,
            };
            let what = if text.contains("device cost") { "device cost" } else { "forwarding rate" };
            blocks.push(Block::Details(Details {
                summary: format!("{traffic}: {what}"),
                scope: Scope::traffic(traffic),
                is_open: claims.cells.len() <= FEW,
                blocks: vec![match listing {
                    Listing::Text(text) => Block::Preformatted(text),
                    Listing::Missing(reason) => Block::Line(format!("No ministat block: {reason}")),
                }],
            }));
        }
    }
    blocks
}
