//! Wilcoxon's signed-rank test: are values symmetric about zero?
//!
//! Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945). Under "no
//! change" a log ratio within a block is as likely positive as negative, whatever its distribution,
//! and a stray run counts only by its rank. The distribution is exact up to 100 values.

use std::sync::OnceLock;

use crate::distribution::{normal_cdf, normal_quantile};
use crate::pairs::Pairs;

/// Most values for which the distribution is counted out; beyond it the normal approximation is
/// good to three digits.
const MOST_EXACT: usize = 100;

/// Two-sided p of "symmetric about zero"; 1.0 without values.
///
/// The sum of negative ranks is the number of means of two, (x_i + x_j) / 2, that are negative
/// (Tukey 1949). Means of exactly zero, of ties and zeros, count against a difference on either
/// side, so that p is exact without them, safe with them, and one thing with the interval of
/// [`crate::hodges_lehmann::location_interval`].
pub fn two_sided(values: &[f64]) -> f64 {
    of_pairs(values.len(), &Pairs::means(values))
}

/// As [`two_sided`], of the means of two of `n` values.
pub(crate) fn of_pairs(n: usize, means: &Pairs) -> f64 {
    let not_positive = means.at_most(0.0);
    let not_negative = means.count() - means.below(0.0);
    (2.0 * below(n, not_positive.min(not_negative) as usize)).min(1.0)
}

/// The largest sum of ranks whose lower tail has at most the probability `tail`; `None` when even
/// the sum 0 is likelier.
pub(crate) fn critical(count: usize, tail: f64) -> Option<usize> {
    // 1 - 0.95 is a little more than 0.05: what reaches the level by a rounding error reaches it
    let tail = tail * (1.0 + 1e-9);
    if count > MOST_EXACT {
        let (mean, sd) = moments(count);
        let mut sum = (mean + normal_quantile(tail) * sd).max(0.0) as usize + 1;
        while sum > 0 && below(count, sum) > tail {
            sum -= 1;
        }
        return (below(count, sum) <= tail).then_some(sum);
    }
    exact(count).partition_point(|share| *share <= tail).checked_sub(1)
}

/// Probability of a sum of positive ranks of at most `sum`.
fn below(count: usize, sum: usize) -> f64 {
    if count > MOST_EXACT {
        let (mean, sd) = moments(count);
        return normal_cdf((sum as f64 + 0.5 - mean) / sd);
    }
    exact(count).get(sum).copied().unwrap_or(1.0)
}

fn moments(count: usize) -> (f64, f64) {
    let n = count as f64;
    (n * (n + 1.0) / 4.0, (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt())
}

/// [`tails`], counted once for each number of values.
fn exact(count: usize) -> &'static [f64] {
    static COUNTED: [OnceLock<Vec<f64>>; MOST_EXACT + 1] =
        [const { OnceLock::new() }; MOST_EXACT + 1];
    COUNTED[count].get_or_init(|| tails(count))
}

/// Lower tail of every sum: each rank is positive with probability one half.
fn tails(count: usize) -> Vec<f64> {
    let all = count * (count + 1) / 2;
    let mut shares = vec![0.0; all + 1];
    shares[0] = 1.0;
    for rank in 1..=count {
        for sum in (0..=all).rev() {
            let without = shares[sum];
            let with = if sum >= rank { shares[sum - rank] } else { 0.0 };
            shares[sum] = f64::midpoint(without, with);
        }
    }
    let mut total = 0.0;
    for share in &mut shares {
        total += *share;
        *share = total;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published critical values of T for a two-sided 5 % test (Wilcoxon & Wilcox, 1964).
    #[test]
    fn critical_values_equal_the_published_table() {
        let table =
            [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (12, 13), (15, 25), (20, 52), (25, 89)];
        for (count, value) in table {
            assert_eq!(critical(count, 0.025), Some(value), "n = {count}");
        }
        assert_eq!(critical(5, 0.025), None);
    }

    /// The negative ranks are 1 and 3; 7 of the 256 ways to sign eight ranks give a sum up to 4.
    #[test]
    fn p_is_exact() {
        let differences = [2.1, -0.4, 1.3, 0.9, 3.2, -1.0, 2.2, 1.7];
        assert!(
            (two_sided(&differences) - 0.054_687_5).abs() < 1e-12,
            "{}",
            two_sided(&differences)
        );
        assert_eq!(two_sided(&[1.0, -1.0]), 1.0);
        assert_eq!(two_sided(&[0.0; 6]), 1.0);
        assert_eq!(two_sided(&[]), 1.0);
    }

    #[test]
    fn the_approximation_goes_on_where_the_exact_distribution_ends() {
        let exact = tails(MOST_EXACT);
        let n = MOST_EXACT as f64;
        let sd = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        for (sum, exact) in exact.iter().enumerate().filter(|(_, p)| (0.001..0.999).contains(*p)) {
            let near = normal_cdf((sum as f64 + 0.5 - n * (n + 1.0) / 4.0) / sd);
            assert!((near - exact).abs() < 0.001, "{sum}: {near} {exact}");
        }
    }
}
