//! The Mann-Whitney test, exact also with ties.
//!
//! Mann and Whitney, "On a test of whether one of two random variables is stochastically larger
//! than the other", Ann. Math. Stat. 18 (1947). Without ties the distribution of U follows their
//! recurrence; with ties the permutation distribution of the midrank sum is counted, so that p is
//! exact at every number of values up to [`EXACT_LIMIT`]; above it the normal approximation with tie
//! correction is used.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::distribution::{normal_cdf, normal_quantile};
use crate::pairs::Pairs;

/// Largest number of values (both datasets together) for which p is counted exactly.
pub const EXACT_LIMIT: usize = 60;

/// The statistic and its p.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test {
    /// Number of pairs (x, y) with y > x, ties counting one half.
    pub u: f64,
    /// Two-sided p: probability of a U at least as far from its mean.
    pub p: f64,
    /// Whether p was counted, not approximated.
    pub is_exact: bool,
}

/// Tests whether `y` tends to lie above or below `x`.
pub fn test(x: &[f64], y: &[f64]) -> Test {
    let (n, m) = (x.len(), y.len());
    let doubled = doubled_midranks(x, y);
    let rank_sum: usize = doubled[n..].iter().sum();
    let floor = m * (m + 1);
    let u2 = rank_sum - floor;
    let u = u2 as f64 / 2.0;
    if n == 0 || m == 0 {
        return Test { u, p: 1.0, is_exact: true };
    }
    // Without ties the distribution is the same for all values, and known; both its tails are alike.
    let mut seen = vec![false; 2 * doubled.len() + 1];
    let is_tied = doubled.iter().any(|rank| std::mem::replace(&mut seen[*rank], true));
    if n + m <= EXACT_LIMIT && !is_tied {
        let smaller = (u2 / 2).min(n * m - u2 / 2);
        Test { u, p: (2.0 * below(n, m, smaller as u64)).min(1.0), is_exact: true }
    } else if n + m <= EXACT_LIMIT {
        Test { u, p: exact_p(&doubled, m, rank_sum), is_exact: true }
    } else {
        Test { u, p: normal_p(&doubled, n, m, u), is_exact: false }
    }
}

/// Two-sided p of "the differences y - x are shifted by nothing".
///
/// As [`test`], but pairs of equal values count against a difference on either side, so that p is
/// exact without ties, safe with them, and one thing with the interval of
/// [`crate::hodges_lehmann::shift_interval`]. 1.0 without values.
pub fn of_shift(x: &[f64], y: &[f64]) -> f64 {
    of_pairs((x.len(), y.len()), &Pairs::differences(x, y))
}

/// As [`of_shift`], of the differences of `n` and `m` values.
pub(crate) fn of_pairs((n, m): (usize, usize), differences: &Pairs) -> f64 {
    let not_positive = differences.at_most(0.0);
    let not_negative = differences.count() - differences.below(0.0);
    (2.0 * below(n, m, not_positive.min(not_negative))).min(1.0)
}

/// The largest c with P(U <= c) <= `tail`, U without ties; `None` when even P(U = 0) exceeds it.
///
/// The interval that leaves out the c smallest and c largest differences then misses the shift
/// with probability at most 2 `tail`.
pub(crate) fn critical(n: usize, m: usize, tail: f64) -> Option<u64> {
    // 1 - 0.95 is a little more than 0.05: what misses the level by a rounding error reaches it
    let tail = tail * (1.0 + 1e-9);
    if let Some(tails) = counted(n, m) {
        return tails.partition_point(|share| *share <= tail).checked_sub(1).map(|c| c as u64);
    }
    let (mean, sd) = moments(n, m);
    let mut c = (mean + normal_quantile(tail) * sd).max(0.0) as u64 + 1;
    while c > 0 && below(n, m, c) > tail {
        c -= 1;
    }
    (below(n, m, c) <= tail).then_some(c)
}

/// P(U <= u) without ties.
fn below(n: usize, m: usize, u: u64) -> f64 {
    if let Some(tails) = counted(n, m) {
        return tails.get(u as usize).copied().unwrap_or(1.0);
    }
    let (mean, sd) = moments(n, m);
    normal_cdf((u as f64 + 0.5 - mean) / sd)
}

fn moments(n: usize, m: usize) -> (f64, f64) {
    let (n, m) = (n as f64, m as f64);
    (n * m / 2.0, (n * m * (n + m + 1.0) / 12.0).sqrt())
}

/// Additions up to which the distribution of U is counted out (some milliseconds).
const MOST_ADDITIONS: usize = 8_000_000;

/// The lower tails of U = 0 ..= n m by counting, kept for the next call; `None` when that would
/// take too long.
fn counted(n: usize, m: usize) -> Option<Arc<Vec<f64>>> {
    type Tails = Arc<Vec<f64>>;
    static KEPT: Mutex<BTreeMap<(usize, usize), Tails>> = Mutex::new(BTreeMap::new());
    let (few, many) = (n.min(m), n.max(m));
    let values = few.checked_mul(many)?.checked_add(1)?;
    let additions = values.checked_mul(few)?.checked_mul(few.checked_add(many)?)?;
    if additions > MOST_ADDITIONS {
        return None;
    }
    // a poisoned lock still guards a whole map: entries are put in finished
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let tails = kept.entry((few, many)).or_insert_with(|| Arc::new(tails(few, many)));
    Some(Arc::clone(tails))
}

/// P(U <= u) for each u: of the subsets of `few` ranks, the j-th smallest rank r adds r - j pairs.
/// Only positive numbers are added, so that no digit is lost however large they grow, and within
/// [`MOST_ADDITIONS`] they do not overflow.
fn tails(few: usize, many: usize) -> Vec<f64> {
    let most = few * many;
    let mut ways = vec![vec![0.0f64; most + 1]; few + 1];
    ways[0][0] = 1.0;
    for rank in 1..=few + many {
        for chosen in (1..=few.min(rank)).rev() {
            let pairs = rank - chosen;
            if pairs > many {
                continue;
            }
            let (smaller, larger) = ways.split_at_mut(chosen);
            for u in pairs..=most {
                larger[0][u] += smaller[chosen - 1][u - pairs];
            }
        }
    }
    let mut tails = std::mem::take(&mut ways[few]);
    let all: f64 = tails.iter().sum();
    let mut total = 0.0;
    for share in &mut tails {
        total += *share / all;
        *share = total;
    }
    tails
}

/// Twice the midrank of every value of x, then of y: whole numbers even with ties.
fn doubled_midranks(x: &[f64], y: &[f64]) -> Vec<usize> {
    let all: Vec<f64> = x.iter().chain(y).copied().collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_unstable_by(|a, b| all[*a].total_cmp(&all[*b]));
    let mut ranks = vec![0; all.len()];
    let mut start = 0;
    while start < order.len() {
        let ties = order[start..].iter().take_while(|i| all[**i] == all[order[start]]).count();
        for i in &order[start..start + ties] {
            ranks[*i] = 2 * start + ties + 1;
        }
        start += ties;
    }
    ranks
}

/// Counts the subsets of m ranks by their sum and adds up those at least as extreme.
fn exact_p(doubled: &[usize], m: usize, rank_sum: usize) -> f64 {
    let total: usize = doubled.iter().sum();
    let mut ways = vec![vec![0.0f64; total + 1]; m + 1];
    ways[0][0] = 1.0;
    let mut reached = 0;
    for (before, rank) in doubled.iter().enumerate() {
        reached += rank;
        for size in (1..=m.min(before + 1)).rev() {
            let (smaller, larger) = ways.split_at_mut(size);
            for sum in *rank..=reached {
                larger[0][sum] += smaller[size - 1][sum - rank];
            }
        }
    }
    // the mean of the rank sum is m (N + 1) in doubled ranks; compare distances in whole numbers
    let centre = m * (doubled.len() + 1);
    let distance = rank_sum.abs_diff(centre);
    let all: f64 = ways[m].iter().sum();
    let extreme: f64 = ways[m]
        .iter()
        .enumerate()
        .filter(|(sum, _)| sum.abs_diff(centre) >= distance)
        .map(|(_, w)| w)
        .sum();
    (extreme / all).min(1.0)
}

fn normal_p(doubled: &[usize], n: usize, m: usize, u: f64) -> f64 {
    let count = (n + m) as f64;
    let mut sorted = doubled.to_vec();
    sorted.sort_unstable();
    let ties: f64 = sorted
        .chunk_by(|a, b| a == b)
        .map(|group| {
            let t = group.len() as f64;
            t * t * t - t
        })
        .sum();
    let (n, m) = (n as f64, m as f64);
    let variance = n * m / 12.0 * (count + 1.0 - ties / (count * (count - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = ((u - n * m / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    (2.0 * normal_cdf(-z)).min(1.0)
}

#[cfg(test)]
mod tests;
