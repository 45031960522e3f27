//! The k-th smallest of all pairwise sums or differences, without writing them down.
//!
//! n values have n (n+1) / 2 means of two, two datasets n m differences: too many to sort from some
//! thousands on. In sorted datasets the number of pairs up to a given value is counted in O(n + m):
//! a bracket around the value wanted is narrowed by such counts until so few pairs are left inside
//! that they can be listed (the idea of Johnson and Mizoguchi, "Selecting the Kth element in X + Y
//! and X_1 + ... + X_m", SIAM J. Comput. 7 (1978), with guesses and bisection in place of their
//! weighted medians; 192 counts at worst, some ten for a million values).

use std::ops::Range;

/// Values in ascending order, of which pairs are made.
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Sorts finite values.
    pub fn new(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Self(sorted)
    }
}

/// All pairs of one kind.
pub enum Pairs {
    /// (x_i + x_j) / 2 with i <= j.
    Means(Sorted),
    /// y_j - x_i.
    Differences {
        /// x.
        from: Sorted,
        /// y.
        to: Sorted,
    },
}

impl Pairs {
    /// Means of two values, each with itself too.
    pub fn means(values: &[f64]) -> Self {
        Self::Means(Sorted::new(values))
    }

    /// Differences `y` - `x`.
    pub fn differences(x: &[f64], y: &[f64]) -> Self {
        Self::Differences { from: Sorted::new(x), to: Sorted::new(y) }
    }

    /// How many pairs there are.
    pub fn count(&self) -> u64 {
        match self {
            Self::Means(Sorted(values)) => values.len() as u64 * (values.len() as u64 + 1) / 2,
            Self::Differences { from, to } => from.0.len() as u64 * to.0.len() as u64,
        }
    }

    /// How many pairs are at most `limit`.
    pub fn at_most(&self, limit: f64) -> u64 {
        self.up_to(|value| value <= limit)
    }

    /// How many pairs are below `limit`.
    pub fn below(&self, limit: f64) -> u64 {
        self.up_to(|value| value < limit)
    }

    /// How many pairs hold a claim that is true up to some value and false from there on.
    fn up_to(&self, holds: impl Fn(f64) -> bool) -> u64 {
        let mut count = 0;
        self.each_row(holds, |_, row| count += row.len() as u64);
        count
    }

    /// Hands on, for each first value, the positions of the second ones whose pair holds the claim.
    fn each_row(&self, holds: impl Fn(f64) -> bool, mut row: impl FnMut(usize, Range<usize>)) {
        match self {
            Self::Means(Sorted(values)) => {
                // the larger the one, the smaller the other
                let mut end = values.len();
                for (i, a) in values.iter().enumerate() {
                    while end > i && !holds(f64::midpoint(*a, values[end - 1])) {
                        end -= 1;
                    }
                    row(i, i..end.max(i));
                }
            }
            Self::Differences { from, to } => {
                let mut end = 0;
                for (i, a) in from.0.iter().enumerate() {
                    while end < to.0.len() && holds(to.0[end] - a) {
                        end += 1;
                    }
                    row(i, 0..end);
                }
            }
        }
    }

    fn pair(&self, first: usize, second: usize) -> f64 {
        match self {
            Self::Means(Sorted(values)) => f64::midpoint(values[first], values[second]),
            Self::Differences { from, to } => to.0[second] - from.0[first],
        }
    }

    /// The pair at position `rank`, from 0, in ascending order; `None` beyond the last.
    pub fn select(&self, rank: u64) -> Option<f64> {
        let count = self.count();
        if rank >= count {
            return None;
        }
        let (least, most) = self.range();
        // all pairs up to `low` come before the one wanted, which is at most `high`
        // (-0.0 is as small as 0.0, and comes before it)
        let least = if least == 0.0 { -0.0 } else { least };
        let mut low = Bound { key: ordered(least) - 1, pairs: 0 };
        let mut high = Bound { key: ordered(most + 0.0), pairs: count };
        let few = self.values() as u64;
        let mut turn = 0;
        while high.key - low.key > 1 && high.pairs - low.pairs > few {
            turn += 1;
            let key = low.between(high, rank, turn);
            let bound = Bound { key, pairs: self.at_most(unordered(key)) };
            if bound.pairs > rank { high = bound } else { low = bound }
        }
        let value = if high.key - low.key > 1 {
            self.listed(low, high, (rank - low.pairs) as usize)
        } else {
            unordered(high.key)
        };
        // + 0.0 turns -0.0 round; differences of huge values end at the largest double
        Some(value.clamp(-f64::MAX, f64::MAX) + 0.0)
    }

    /// The pair at a position among those above `low` and up to `high`.
    fn listed(&self, low: Bound, high: Bound, position: usize) -> f64 {
        let (low_value, high_value) = (unordered(low.key), unordered(high.key));
        let mut starts = Vec::with_capacity(self.values());
        self.each_row(|value| value <= low_value, |_, row| starts.push(row.end));
        let mut inside = Vec::with_capacity((high.pairs - low.pairs) as usize);
        self.each_row(
            |value| value <= high_value,
            |first, row| {
                inside.extend((starts[first]..row.end).map(|second| self.pair(first, second)));
            },
        );
        let (_, value, _) = inside.select_nth_unstable_by(position, f64::total_cmp);
        *value
    }

    /// How many values pairs are made of.
    fn values(&self) -> usize {
        match self {
            Self::Means(values) => values.0.len(),
            Self::Differences { from, to } => from.0.len() + to.0.len(),
        }
    }

    /// The median of all pairs; NaN without values.
    pub fn median(&self) -> f64 {
        let count = self.count();
        let upper = self.select(count / 2);
        let lower = if count % 2 == 1 { upper } else { self.select((count / 2).wrapping_sub(1)) };
        lower.zip(upper).map_or(f64::NAN, |(a, b)| f64::midpoint(a, b))
    }

    /// The pairs at position `skip` from either end; `None` when they cross.
    pub fn trimmed(&self, skip: u64) -> Option<(f64, f64)> {
        let last = self.count().checked_sub(1)?.checked_sub(skip)?;
        if skip > last {
            return None;
        }
        self.select(skip).zip(self.select(last))
    }

    fn range(&self) -> (f64, f64) {
        let ends = |Sorted(values): &Sorted| {
            (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0))
        };
        match self {
            Self::Means(values) => ends(values),
            Self::Differences { from, to } => {
                let ((from_low, from_high), (to_low, to_high)) = (ends(from), ends(to));
                (to_low - from_high, to_high - from_low)
            }
        }
    }
}

/// A value, as a whole number of the same order, and how many pairs are at most that.
#[derive(Clone, Copy)]
struct Bound {
    key: u64,
    pairs: u64,
}

impl Bound {
    /// A key inside: where the rank would lie if pairs were spread evenly, the middle of the values,
    /// the middle of the doubles, in turn.
    fn between(self, high: Self, rank: u64, turn: u32) -> u64 {
        let middle = self.key + (high.key - self.key) / 2;
        let (a, b) = (unordered(self.key), unordered(high.key));
        let share = (rank - self.pairs) as f64 / (high.pairs - self.pairs) as f64;
        let guess = match turn % 3 {
            1 => a + (b - a) * share,
            2 => f64::midpoint(a, b),
            _ => return middle,
        };
        if guess.is_finite() { ordered(guess).clamp(self.key + 1, high.key - 1) } else { middle }
    }
}

/// A double as a whole number of the same order.
fn ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | (1 << 63) }
}

fn unordered(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted(mut values: Vec<f64>) -> Vec<f64> {
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    fn values() -> impl Strategy<Value = Vec<f64>> {
        // whole numbers make ties
        let one = prop_oneof![(-20i32..20).prop_map(f64::from), -1e9..1e9f64, Just(f64::MAX)];
        prop::collection::vec(one, 0..20)
    }

    proptest! {
        #[test]
        fn every_rank_is_that_of_the_sorted_list(x in values(), y in values()) {
            let means: Vec<f64> = x.iter().enumerate()
                .flat_map(|(i, a)| x[i..].iter().map(|b| f64::midpoint(*a, *b))).collect();
            let differences: Vec<f64> = x.iter()
                .flat_map(|a| y.iter().map(move |b| (b - a).clamp(-f64::MAX, f64::MAX))).collect();
            for (pairs, all) in [
                (Pairs::means(&x), sorted(means)),
                (Pairs::differences(&x, &y), sorted(differences)),
            ] {
                prop_assert_eq!(pairs.count(), all.len() as u64);
                for (rank, value) in all.iter().enumerate() {
                    prop_assert_eq!(pairs.select(rank as u64), Some(*value));
                }
                prop_assert_eq!(pairs.select(all.len() as u64), None);
                prop_assert_eq!(pairs.at_most(0.0), all.iter().filter(|v| **v <= 0.0).count() as u64);
                prop_assert_eq!(pairs.below(0.0), all.iter().filter(|v| **v < 0.0).count() as u64);
            }
        }
    }
}
