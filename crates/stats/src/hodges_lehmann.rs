//! Hodges-Lehmann estimates of location and shift with their exact intervals.
//!
//! Hodges and Lehmann, "Estimates of location based on rank tests", Ann. Math. Stat. 34 (1963).
//! A single stray value moves them by no more than it would move a median, at 95 % of the
//! efficiency of the mean when there is none.

use crate::pairs::Pairs;
use crate::{mann_whitney, signed_rank};

/// Estimate of one dataset: the median of all means of two, (x_i + x_j) / 2 with i <= j. O(n log n); NaN without
/// values.
pub fn location(values: &[f64]) -> f64 {
    Pairs::means(values).median()
}

/// Interval of the location with at least `confidence` coverage, from the distribution of the
/// signed-rank statistic, which is exact up to 100 values; `None` when there are too few values for
/// that confidence. It leaves out 0 exactly when [`signed_rank::two_sided`] is at most
/// 1 - `confidence`.
pub fn location_interval(values: &[f64], confidence: f64) -> Option<(f64, f64)> {
    location_of(values.len(), &Pairs::means(values), confidence)
}

/// As [`location_interval`], of the means of two of `n` values.
pub(crate) fn location_of(n: usize, means: &Pairs, confidence: f64) -> Option<(f64, f64)> {
    means.trimmed(signed_rank::critical(n, (1.0 - confidence) / 2.0)? as u64)
}

/// Estimate of two datasets of the shift: the median of all differences y_j - x_i. O((n + m) log(n + m))
/// and as little memory; NaN without values.
pub fn shift(x: &[f64], y: &[f64]) -> f64 {
    Pairs::differences(x, y).median()
}

/// Interval of the shift with at least `confidence` coverage, from the distribution of the
/// Mann-Whitney statistic, which is exact as long as it can be counted; `None` when the datasets are
/// too small for that confidence. It leaves out 0 exactly when [`mann_whitney::of_shift`] is at
/// most 1 - `confidence`.
pub fn shift_interval(x: &[f64], y: &[f64], confidence: f64) -> Option<(f64, f64)> {
    interval_of((x.len(), y.len()), &Pairs::differences(x, y), confidence)
}

/// As [`shift_interval`], of the differences of `n` and `m` values.
pub(crate) fn interval_of(
    (n, m): (usize, usize),
    differences: &Pairs,
    confidence: f64,
) -> Option<(f64, f64)> {
    differences.trimmed(mann_whitney::critical(n, m, (1.0 - confidence) / 2.0)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn location_is_the_median_of_walsh_averages() {
        // walsh averages of 1, 2, 10: 1, 1.5, 2, 5.5, 6, 10
        assert_eq!(location(&[1.0, 2.0, 10.0]), 3.75);
    }

    /// R: wilcox.test(x, conf.int = TRUE) gives the 3rd smallest and largest Walsh average at n = 7.
    #[test]
    fn location_interval_leaves_out_as_many_averages_as_the_table_says() {
        let values = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        assert_eq!(location_interval(&values, 0.95), Some((2.0, 40.0)));
        assert_eq!(location_interval(&values[..5], 0.95), None);
    }

    #[test]
    fn shift_ignores_one_stray_value() {
        assert_eq!(shift(&[1.0, 2.0, 3.0], &[11.0, 12.0, 1000.0]), 10.0);
    }

    /// The datasets that used to give an interval upside down, and a panic.
    #[test]
    fn intervals_of_many_values_hold_their_estimate() {
        for (n, m) in [(35, 35), (50, 200), (470, 470), (3, 5000), (1, 40), (40, 1)] {
            let x: Vec<f64> = (0..n).map(|i| f64::from(i * 7919 % 10_007)).collect();
            let y: Vec<f64> = (0..m).map(|i| f64::from(i * 6101 % 10_009) + 50.0).collect();
            let estimate = shift(&x, &y);
            if let Some((low, high)) = shift_interval(&x, &y, 0.95) {
                assert!(low <= estimate && estimate <= high, "{n} + {m}: {low} {estimate} {high}");
            }
        }
        assert_eq!(shift_interval(&[1.0], &[2.0; 30], 0.95), None);
    }

    #[test]
    fn interval_needs_enough_values() {
        assert_eq!(shift_interval(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.95), None);
        let (low, high) =
            shift_interval(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], 0.95).unwrap();
        assert_eq!((low, high), (1.0, 7.0));
    }
}
