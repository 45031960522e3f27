//! Blocks that lost a trial: one side FAILED where the other was measured, or had nothing to be beside.
//!
//! What is left out may not be left out by chance: where slow runs fail, those that are kept are faster
//! than the device is. So a FAILED trial counts as the worst that its side may show, whenever that
//! speaks against a verdict (Lachin, "Worst-rank score analysis with informatively missing observations
//! in clinical trials", Controlled Clinical Trials 20 (1999)):
//!
//! - a difference must also be proven with each lost block as the block that was worst for the side whose
//!   trial FAILED; interval and p are those of both analyses, whichever says less;
//! - nothing is equivalent while trials of one side alone FAILED: as a rare run of unknown size would, such a
//!   trial may have cost more than any margin.
//!
//! A block of which both sides FAILED says nothing about either.

use crate::comparison::{Comparison, Direction};
use crate::error::Error;
use crate::paired::{self, Block};

/// A block of which one trial FAILED.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// Whole blocks that ran before it.
    pub after: usize,
    /// Whose trial FAILED.
    pub side: Side,
}

/// The baseline or the variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The baseline.
    Baseline,
    /// The variant.
    Variant,
}

/// How many of these trials are the baseline's, and how many the variant's.
pub(crate) fn counts(lost: &[Lost]) -> [usize; 2] {
    let baseline = lost.iter().filter(|own| own.side == Side::Baseline).count();
    [baseline, lost.len() - baseline]
}

/// The blocks with each lost one as the worst for its side among those that are whole, in the order in which
/// they ran.
///
/// # Errors
/// [`Error::NotPositive`] for a figure without a logarithm.
pub(crate) fn filled(
    blocks: &[Block],
    lost: &[Lost],
    direction: Direction,
) -> Result<Vec<Block>, Error> {
    let gains = paired::log_gains(blocks, direction)?;
    let by_gain = |a: &usize, b: &usize| gains[*a].total_cmp(&gains[*b]);
    let worst_of = |side: Side| match side {
        Side::Variant => (0..gains.len()).min_by(by_gain),
        Side::Baseline => (0..gains.len()).max_by(by_gain),
    };
    let mut all = Vec::with_capacity(blocks.len() + lost.len());
    for at in 0..=blocks.len() {
        let here = lost.iter().filter(|own| own.after == at);
        all.extend(here.filter_map(|own| Some(blocks[worst_of(own.side)?])));
        all.extend(blocks.get(at));
    }
    Ok(all)
}

/// A comparison of whole blocks beside that of all, the lost ones filled: what both say.
pub(crate) fn of_both(own: Comparison, all: &Comparison, lost: &[Lost]) -> Comparison {
    let (whole, filled) = (own.interval95, all.interval95);
    let is_against = whole.excludes_no_change() && !whole.hull(filled).excludes_no_change();
    let p = own.p.max(all.p);
    // proven both ways is proven neither way
    let p = if is_against && p <= own.confidence.alpha() { 1.0 } else { p };
    let rare = own.rare.map(|rare| rare.with_failed(counts(lost)));
    paired::settled(Comparison {
        interval95: whole.hull(filled),
        interval90: own.interval90.hull(all.interval90),
        p,
        rare,
        ..own
    })
}

/// What is left of the comparison of whole blocks when the lost ones count against it.
///
/// # Errors
/// Those of [`paired::compare_at`].
pub fn beside(
    comparison: Comparison,
    blocks: &[Block],
    lost: &[Lost],
    direction: Direction,
) -> Result<Comparison, Error> {
    if lost.is_empty() {
        return Ok(comparison);
    }
    let all =
        paired::compare_at(&filled(blocks, lost, direction)?, direction, comparison.confidence)?;
    Ok(of_both(comparison, &all, lost))
}

#[cfg(test)]
mod tests;
