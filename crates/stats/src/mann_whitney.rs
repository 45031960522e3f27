//! The Mann-Whitney test, exact also with ties.
//!
//! Mann and Whitney, "On a test of whether one of two random variables is stochastically larger
//! than the other", Ann. Math. Stat. 18 (1947). Without ties the distribution of U follows their
//! recurrence; with ties the permutation distribution of the midrank sum is counted, so that p is
//! exact at every sample size up to [`EXACT_LIMIT`]; above it the normal approximation with tie
//! correction is used.

use crate::distribution::normal_cdf;

/// Largest number of values (both samples together) for which p is counted exactly.
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
    if n + m <= EXACT_LIMIT {
        Test { u, p: exact_p(&doubled, m, rank_sum), is_exact: true }
    } else {
        Test { u, p: normal_p(&doubled, n, m, u), is_exact: false }
    }
}

/// The largest c with P(U <= c) <= `tail`, U without ties; `None` when even P(U = 0) exceeds it.
///
/// The interval that leaves out the c smallest and c largest differences then misses the shift
/// with probability at most 2 `tail`.
pub(crate) fn critical(n: usize, m: usize, tail: f64) -> Option<usize> {
    let counts = u_counts(n, m);
    let total: f64 = counts.iter().sum();
    let mut below = 0.0;
    let mut critical = None;
    for (u, count) in counts.iter().enumerate() {
        below += count / total;
        if below > tail {
            break;
        }
        critical = Some(u);
    }
    critical
}

/// Number of arrangements for each U = 0 ..= n m: the coefficients of the Gaussian binomial
/// [n+m choose m]_q, built as a product of (1 - q^(n+i)) / (1 - q^i).
fn u_counts(n: usize, m: usize) -> Vec<f64> {
    let mut counts = vec![0.0; n * m + 1];
    counts[0] = 1.0;
    for i in 1..=m {
        for u in (n + i..counts.len()).rev() {
            counts[u] -= counts[u - n - i];
        }
        for u in i..counts.len() {
            counts[u] += counts[u - i];
        }
    }
    counts
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
    for rank in doubled {
        for size in (1..=m).rev() {
            let (smaller, larger) = ways.split_at_mut(size);
            for sum in *rank..=total {
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
