//! Blocks in which both sides read the same, as boots do whose clock counts instructions.
//!
//! Such ratios take few values, often one. They scatter as no bell does: from three blocks that agree and
//! one that does not, normal theory promises a decision after thirty, and none comes after a thousand, as
//! ranks look at the centre, which is "the same". So the number of blocks is asked of the pairs themselves:
//! Noether, "Sample size determination for some common nonparametric tests", J. Am. Stat. Assoc. 82 (1987).

use serde::{Deserialize, Serialize};

use crate::distribution::normal_quantile;

/// Log ratios below it are written as 0.00 %.
const SAME: f64 = 5e-5;

/// How far blocks agree of which at least half read the same on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Blocks in which both sides read the same: their ratio is written as 0.00 %.
    pub same: u32,
    /// Blocks in which the variant was better.
    pub better: u32,
    /// Blocks in which it was worse.
    pub worse: u32,
    /// Share of the pairs of two blocks, each with itself too, whose mean ratio lies on the side to which
    /// most lean: signed ranks find a difference only if it is above one half.
    pub lean: f64,
}

impl Agreement {
    /// Of log ratios (larger is better); `None` where fewer than half of them are the same.
    pub(crate) fn of(gains: &[f64]) -> Option<Self> {
        let count = |is: fn(f64) -> bool| gains.iter().filter(|gain| is(**gain)).count();
        let (better, worse) = (count(|gain| gain >= SAME), count(|gain| gain <= -SAME));
        let same = gains.len() - better - worse;
        if gains.is_empty() || 2 * same < gains.len() {
            return None;
        }
        let mut off: Vec<f64> = gains.iter().copied().filter(|gain| gain.abs() >= SAME).collect();
        off.sort_unstable_by(f64::total_cmp);
        let all = (gains.len() * gains.len()) as f64;
        // Whoever differs decides beside one that is the same, and so does the larger of two that differ.
        let leans = |sign: f64| {
            let beside_same = 2 * same * off.iter().filter(|gain| sign * **gain > 0.0).count();
            let of = |a: &f64| off.iter().filter(|b| sign * (a + **b) > 0.0).count();
            (beside_same + off.iter().map(of).sum::<usize>()) as f64 / all
        };
        let lean = leans(1.0).max(leans(-1.0));
        let [same, better, worse] =
            [same, better, worse].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        Some(Self { same, better, worse, lean })
    }

    /// Blocks in all.
    pub fn blocks(&self) -> u32 {
        self.same.saturating_add(self.better).saturating_add(self.worse)
    }

    /// Whether both sides read the same in every block.
    pub fn is_complete(&self) -> bool {
        self.better == 0 && self.worse == 0
    }

    /// Blocks after which signed ranks find a difference with a chance of 80 %, if further ones are as
    /// these; infinite where they never do.
    pub(crate) fn blocks_for_difference(&self) -> f64 {
        let beyond = self.lean - 0.5;
        if beyond <= 0.0 {
            return f64::INFINITY;
        }
        let quantiles = normal_quantile(0.975) + normal_quantile(0.80);
        (quantiles / beyond).powi(2) / 3.0
    }

    /// In words: `both read the same in 5 of 6 blocks, and modular was worse in 1`.
    pub(crate) fn in_words(&self, variant: &str) -> String {
        let (same, blocks) = (self.same, self.blocks());
        if self.is_complete() {
            return format!("both read the same in all {blocks} blocks");
        }
        let parts = [("better", self.better), ("worse", self.worse)];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(word, count)| format!("{word} in {count}"))
            .collect();
        let parts = parts.join(" and ");
        format!("both read the same in {same} of {blocks} blocks, and {variant} was {parts}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Direction;
    use crate::paired::{self, Block};

    /// So many blocks that are the same, and so many in which the variant takes 1.74 % more.
    fn blocks(same: usize, worse: usize) -> Vec<Block> {
        let base = 2_508.327_123;
        let own =
            [vec![Block::new(base, base); same], vec![Block::new(base, base * 1.0174); worse]];
        own.concat()
    }

    fn agreement(same: usize, worse: usize) -> Option<Agreement> {
        Agreement::of(&paired::log_gains(&blocks(same, worse), Direction::LowerIsBetter).unwrap())
    }

    #[test]
    fn blocks_that_agree_are_counted_where_they_are_half_or_more() {
        let Agreement { same, better, worse, lean } = agreement(5, 1).unwrap();
        assert_eq!((same, better, worse), (5, 0, 1));
        // All pairs but those of two that are the same.
        assert!((lean - 11.0 / 36.0).abs() < 1e-12, "{lean}");
        assert!(
            agreement(4, 4).is_some() && agreement(3, 4).is_none() && agreement(0, 0).is_none()
        );
        assert!(agreement(4, 0).unwrap().is_complete());
        // Signs that differ: of the pairs with each other none leans.
        let mixed = Agreement::of(&[0.0, 0.0, 0.01, -0.01]).unwrap();
        assert_eq!((mixed.better, mixed.worse, mixed.lean), (1, 1, 5.0 / 16.0));
        assert_eq!(
            mixed.in_words("b"),
            "both read the same in 2 of 4 blocks, and b was better in 1 and worse in 1"
        );
    }

    /// The number that is named is the number it takes: half of the blocks are the same, in turns.
    #[test]
    fn signed_ranks_find_the_difference_after_about_as_many_blocks_as_are_named() {
        let named = agreement(4, 4).unwrap().blocks_for_difference().ceil() as usize;
        let is_found = |n: usize| {
            let compared = paired::compare(&blocks(n / 2, n - n / 2), Direction::LowerIsBetter);
            compared.unwrap().interval95.excludes_no_change()
        };
        let first = (8..200).step_by(2).find(|n| is_found(*n)).unwrap();
        // Of 80 % of campaigns, where `first` is that of about half of them.
        assert!(first <= named && named <= 2 * first, "{first} blocks, {named} named");
        // One in six that differs moves no centre, however many there are.
        assert!(agreement(5, 1).unwrap().blocks_for_difference().is_infinite());
        let many = paired::compare(&blocks(500, 100), Direction::LowerIsBetter).unwrap();
        assert!(!many.interval95.excludes_no_change(), "{many:?}");
    }
}
