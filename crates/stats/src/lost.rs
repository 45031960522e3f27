//! Trials that FAILED: in blocks that lost one side's, and among runs that share no blocks.
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
//! A block of which both sides FAILED says nothing about either. Without blocks each FAILED trial counts, as
//! the worst run of its side.

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
pub fn counts(lost: &[Lost]) -> [usize; 2] {
    let baseline = lost.iter().filter(|own| own.side == Side::Baseline).count();
    [baseline, lost.len() - baseline]
}

/// A block among all that ran: one that is whole, or the worst for its side in the place of a lost one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filled {
    /// Whole block whose figures it has.
    pub figures_of: usize,
    /// Whole block that ran last before it, or is itself.
    pub beside: usize,
}

/// All blocks in the order in which they ran, by the log gains of those that are whole; none where no block
/// is whole.
pub fn filled(gains: &[f64], lost: &[Lost]) -> Vec<Filled> {
    let by_gain = |a: &usize, b: &usize| gains[*a].total_cmp(&gains[*b]);
    let worst_of = |side: Side| match side {
        Side::Variant => (0..gains.len()).min_by(by_gain),
        Side::Baseline => (0..gains.len()).max_by(by_gain),
    };
    let mut all = Vec::with_capacity(gains.len() + lost.len());
    for at in 0..=gains.len() {
        let here = lost.iter().filter(|own| own.after == at);
        let beside = at.saturating_sub(1);
        all.extend(here.filter_map(|own| Some(Filled { figures_of: worst_of(own.side)?, beside })));
        if at < gains.len() {
            all.push(Filled { figures_of: at, beside: at });
        }
    }
    all
}

/// The blocks with each lost one as the worst for its side among those that are whole, in the order in which
/// they ran.
///
/// # Errors
/// [`Error::NotPositive`] for a figure without a logarithm.
pub(crate) fn filled_blocks(
    blocks: &[Block],
    lost: &[Lost],
    direction: Direction,
) -> Result<Vec<Block>, Error> {
    let gains = paired::log_gains(blocks, direction)?;
    Ok(filled(&gains, lost).into_iter().map(|own| blocks[own.figures_of]).collect())
}

/// The figures of one side of a campaign without blocks, log speeds (larger is faster), and so many times its
/// slowest for those that FAILED; as they are where there is none.
pub fn filled_side(mut speeds: Vec<f64>, failed: usize) -> Vec<f64> {
    if let Some(slowest) = speeds.iter().copied().reduce(f64::min) {
        speeds.resize(speeds.len() + failed, slowest);
    }
    speeds
}

/// A comparison of what was measured beside that of all, the FAILED trials filled: what both say.
/// So many trials of the baseline and of the variant FAILED, and not both sides' of one block.
pub fn of_both(own: Comparison, all: &Comparison, failed: [usize; 2]) -> Comparison {
    let (whole, filled) = (own.interval95, all.interval95);
    let is_against = whole.excludes_no_change() && !whole.hull(filled).excludes_no_change();
    let p = own.p.max(all.p);
    // proven both ways is proven neither way
    let p = if is_against && p <= own.confidence.alpha() { 1.0 } else { p };
    let rare = own.rare.map(|rare| rare.with_failed(failed));
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
    let all = paired::compare_at(
        &filled_blocks(blocks, lost, direction)?,
        direction,
        comparison.confidence,
    )?;
    Ok(of_both(comparison, &all, counts(lost)))
}

#[cfg(test)]
mod tests;
