//! The raw ministat listings, as other people's tools print them.

use crate::block::{Block, Details, Scope};
use crate::listing::{Listing, listings};
use crate::source::Source;
use fwdlab_results::Metric;

/// The listings of every traffic.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let Source { claims, results, .. } = *source;
    let mut blocks = Vec::new();
    for traffic in &results.campaign.traffics {
        let mut others =
            claims.verdicts.iter().filter(|v| v.traffic == *traffic && v.metric != "rate");
        let decides = others.find_map(|v| Metric::named(v.metric));
        for listing in listings(traffic, claims, results, decides) {
            let text = match &listing {
                Listing::Text(text) | Listing::Missing(text) => text,
            };
            let own = decides.map(Metric::title).filter(|title| text.contains(title));
            let what = own.unwrap_or("forwarding rate");
            blocks.push(Block::Details(Details {
                summary: format!("{traffic}: {what}"),
                scope: Scope::traffic(traffic),
                is_open: blocks.is_empty(),
                blocks: vec![match listing {
                    Listing::Text(text) => Block::Preformatted(text),
                    Listing::Missing(reason) => Block::Line(format!("No ministat block: {reason}")),
                }],
            }));
        }
    }
    blocks
}
