//! Blocks whose ratios take few values: both sides read the same, as boots do whose clock counts
//! instructions, or differ by one step or two.
//!
//! They scatter as no bell does: from three blocks that agree and one that does not, normal theory promises a
//! decision after thirty, and none comes after a thousand, as ranks look at the centre, which is "the same". So
//! the number of blocks is asked of the pairs of blocks themselves, whose signed ranks are counted with ties
//! against a difference: their mean and variance among blocks drawn from those at hand (Lehmann,
//! "Nonparametrics", 1975, section 4.2, written for ties).

use serde::{Deserialize, Serialize};

use crate::distribution::normal_quantile;
use crate::signed_rank;

/// Fewest blocks, and fewest runs of either side without blocks, that name a winner.
pub const LEAST_NAMED: usize = 4;

/// Log ratios below it are written as 0.00 %.
const SAME: f64 = 5e-5;

/// Share of the ratios that equal another one, whatever its sign, from which they take few values.
const TIED_SHARE: f64 = 0.25;

/// Most blocks that are counted.
const MOST_BLOCKS: usize = 10_000;

/// Up to so many blocks each number is tried: so few ranks have steps.
const EACH: usize = 100;

/// Chance of finding what is there.
const POWER: f64 = 0.80;

/// Blocks of which ratios take few values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// Blocks in which both sides read the same: their ratio is written as 0.00 %.
    pub same: u32,
    /// Blocks in which the variant was better.
    pub better: u32,
    /// Blocks in which it was worse.
    pub worse: u32,
    /// Blocks after which signed ranks find a difference with a chance of 80 %, if further ones are as
    /// these; absent where no number of them would, up to 10,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_after: Option<u32>,
}

impl Agreement {
    /// Of log ratios (larger is better), where they take few values; a difference is called at `alpha`.
    pub(crate) fn of(gains: &[f64], alpha: f64) -> Option<Self> {
        let count = |is: fn(f64) -> bool| gains.iter().filter(|gain| is(**gain)).count();
        let (better, worse) = (count(|gain| gain >= SAME), count(|gain| gain <= -SAME));
        let same = gains.len() - better - worse;
        if gains.is_empty() || (2 * same < gains.len() && !are_few_values(gains)) {
            return None;
        }
        let found_after = Leaning::of(gains).blocks(alpha);
        let [same, better, worse] =
            [same, better, worse].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        Some(Self { same, better, worse, found_after })
    }

    /// Whether both sides read the same in half of the blocks at least: worth a word.
    pub fn is_said(&self) -> bool {
        self.same >= self.better.saturating_add(self.worse)
    }

    /// Blocks in all.
    pub fn blocks(&self) -> u32 {
        self.same.saturating_add(self.better).saturating_add(self.worse)
    }

    /// Whether both sides read the same in every block.
    pub fn is_complete(&self) -> bool {
        self.better == 0 && self.worse == 0
    }

    /// [`Self::found_after`], infinite where no number of blocks would do.
    pub(crate) fn blocks_for_difference(&self) -> f64 {
        self.found_after.map_or(f64::INFINITY, f64::from)
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

/// Whether many ratios equal another one, whatever its sign, as they are written.
fn are_few_values(gains: &[f64]) -> bool {
    let mut sizes: Vec<i64> =
        gains.iter().map(|gain| (gain.abs() / (2.0 * SAME)).round() as i64).collect();
    sizes.sort_unstable();
    sizes.dedup();
    (gains.len() - sizes.len()) as f64 >= TIED_SHARE * gains.len() as f64
}

/// Chances of blocks, and of pairs of two, to lie on the side to which most lean, among blocks that are
/// drawn from some.
#[derive(Debug, Clone, Copy)]
struct Leaning {
    /// That a ratio does.
    one: f64,
    /// That the mean of two does.
    two: f64,
    /// That a ratio does, and its mean with another one.
    one_and_two: f64,
    /// That the means of one with two others both do.
    both: f64,
}

impl Leaning {
    fn of(gains: &[f64]) -> Self {
        let [up, down] = [1.0, -1.0].map(|sign| {
            let mut turned: Vec<f64> =
                gains.iter().map(|g| if g.abs() < SAME { 0.0 } else { sign * g }).collect();
            turned.sort_unstable_by(f64::total_cmp);
            Self::above(&turned)
        });
        if up.two >= down.two { up } else { down }
    }

    /// Of ratios in ascending order, above 0.
    fn above(sorted: &[f64]) -> Self {
        let n = sorted.len() as f64;
        let mut sum = Self { one: 0.0, two: 0.0, one_and_two: 0.0, both: 0.0 };
        for gain in sorted {
            let beside = sorted.len() - sorted.partition_point(|other| gain + other <= 0.0);
            let share = beside as f64 / n;
            let is_above = f64::from(u8::from(*gain > 0.0));
            sum.one += is_above / n;
            sum.two += share / n;
            sum.one_and_two += is_above * share / n;
            sum.both += share * share / n;
        }
        sum
    }

    /// The fewest blocks of which ranks find the difference with a chance of [`POWER`].
    fn blocks(self, alpha: f64) -> Option<u32> {
        // Where every block leans, t finds it before there are enough for ranks.
        if self.one >= 1.0 {
            return Some(LEAST_NAMED as u32);
        }
        // Half of the pairs on either side is no difference, however many there are.
        if self.two <= 0.5 {
            return None;
        }
        let is_found = |n: &usize| self.is_found(*n, alpha);
        let few = (2..=EACH).find(is_found);
        let many = || {
            let (mut low, mut high) = (EACH, MOST_BLOCKS);
            if !is_found(&high) {
                return None;
            }
            while high - low > 1 {
                let middle = usize::midpoint(low, high);
                if is_found(&middle) { high = middle } else { low = middle }
            }
            Some(high)
        };
        few.or_else(many).and_then(|n| u32::try_from(n).ok())
    }

    /// Whether so many blocks have that chance: the number of pairs on the leaning side is taken for normal.
    fn is_found(self, blocks: usize, alpha: f64) -> bool {
        let Some(critical) = signed_rank::critical(blocks, alpha / 2.0) else { return false };
        let n = blocks as f64;
        let pairs = n * (n - 1.0) / 2.0;
        let Self { one, two, one_and_two, both } = self;
        let mean = pairs * two + n * one;
        let variance = pairs * two * (1.0 - two)
            + n * one * (1.0 - one)
            + 2.0 * pairs * (n - 2.0) * (both - two * two)
            + 4.0 * pairs * (one_and_two - one * two);
        let beyond = mean - (pairs + n - critical as f64) + 0.5;
        beyond >= normal_quantile(POWER) * variance.max(0.0).sqrt()
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
        let gains = paired::log_gains(&blocks(same, worse), Direction::LowerIsBetter).unwrap();
        Agreement::of(&gains, 0.05)
    }

    #[test]
    fn blocks_that_agree_are_counted() {
        let Agreement { same, better, worse, found_after } = agreement(5, 1).unwrap();
        assert_eq!((same, better, worse, found_after), (5, 0, 1, None));
        assert!(agreement(4, 4).unwrap().is_said() && !agreement(3, 4).unwrap().is_said());
        assert!(agreement(0, 0).is_none() && agreement(4, 0).unwrap().is_complete());
        let mixed = Agreement::of(&[0.0, 0.0, 0.01, -0.01], 0.05).unwrap();
        assert_eq!((mixed.better, mixed.worse, mixed.found_after), (1, 1, None));
        assert_eq!(
            mixed.in_words("b"),
            "both read the same in 2 of 4 blocks, and b was better in 1 and worse in 1"
        );
        // Ratios that scatter are left to normal theory.
        let all_differ: Vec<f64> = (0..9).map(|i| 0.01 + 0.001 * f64::from(i)).collect();
        assert_eq!(Agreement::of(&all_differ, 0.05), None);
    }

    /// Draws from some values, of which the next place is chosen by a fixed generator.
    struct Drawn(u64);

    impl Drawn {
        fn of(&mut self, values: &[f64], count: usize) -> Vec<f64> {
            let mut next = || {
                self.0 =
                    self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                (self.0 >> 33) as usize % values.len()
            };
            (0..count).map(|_| values[next()]).collect()
        }
    }

    /// In how many of 1000 campaigns of so many blocks like these ranks find the difference.
    fn found(gains: &[f64], blocks: usize) -> usize {
        let mut drawn = Drawn(0x5eed);
        let is_found = |_: &usize| signed_rank::two_sided(&drawn.of(gains, blocks)) <= 0.05;
        (0..1000).filter(is_found).count()
    }

    /// "About 2 more" stood beside 4 of 7 blocks that differed: normal theory, since less than half were the same.
    #[test]
    fn the_number_that_is_named_finds_four_differences_in_five_whatever_the_ties() {
        let d = -0.017_25;
        let of = |same: usize, worse: usize| [vec![0.0; same], vec![d; worse]].concat();
        let mixed = [vec![d; 6], vec![-d; 1], vec![0.0; 2]].concat();
        let steps = [vec![d; 4], vec![2.0 * d; 3], vec![-d; 2]].concat();
        for gains in [of(4, 4), of(3, 4), of(5, 4), of(3, 5), of(2, 6), of(1, 7), mixed, steps] {
            let own = Agreement::of(&gains, 0.05).unwrap();
            let named = own.found_after.unwrap() as usize;
            let share = found(&gains, named);
            assert!(share >= 740, "{gains:?}: {named} named, found in {share} of 1000");
            let fewer = found(&gains, named * 4 / 5);
            assert!(fewer < 830, "{gains:?}: {named} named, {} do: {fewer}", named * 4 / 5);
        }
    }

    #[test]
    fn blocks_that_all_lean_are_left_to_t_as_long_as_they_are_few() {
        assert_eq!(agreement(0, 2).unwrap().found_after, Some(4));
    }

    /// Three blocks of ten that differ are one in two pairs, and six of ten with two signs are no more.
    #[test]
    fn no_number_is_named_where_none_would_do() {
        let d = 0.017_25;
        for gains in
            [[vec![0.0; 5], vec![d; 2]].concat(), [vec![d; 6], vec![-d; 4]].concat(), vec![0.0; 4]]
        {
            let own = Agreement::of(&gains, 0.05).unwrap();
            assert_eq!(own.found_after, None, "{gains:?}");
            let many = found(&gains, 400);
            assert!(many < 200, "{gains:?}: found in {many} of 1000");
        }
    }
}
