//! Long pages in pieces: the sentences that stand by some blocks, with these and those next to them.

use std::ops::Range;

use fwdlab_evidence::surroundings::Surroundings;
use fwdlab_netbenches::page::Item;

/// Blocks up to which a page is read as a whole; published ones have up to some twenty.
pub(crate) const MOST_BLOCKS: usize = 24;
/// Blocks by which the sentences of one piece stand.
const STEP: usize = 8;
/// Blocks that are seen on either side of these.
const MARGIN: usize = 4;

/// The pieces of a page: which blocks are seen, and which items are held against them.
pub(crate) fn windows<'i>(
    around: &Surroundings<'_>,
    items: &'i [&'i Item],
) -> Vec<(Range<usize>, &'i [&'i Item])> {
    let count = around.page.blocks.len();
    // what stands above a block is of it, and what stands below the last one is of that
    let place = |item: &Item| around.page.block_after(item.last_line()).unwrap_or(count - 1) / STEP;
    let pieces = items.chunk_by(|one, other| place(one) == place(other));
    let seen = |piece: &'i [&'i Item]| {
        let first = place(piece[0]) * STEP;
        let shown = first.saturating_sub(MARGIN)..(first + STEP + MARGIN).min(count);
        (shown, piece)
    };
    pieces.map(seen).collect()
}
