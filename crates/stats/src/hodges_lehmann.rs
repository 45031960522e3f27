//! Hodges-Lehmann estimates of location and shift with their exact intervals.
//!
//! Hodges and Lehmann, "Estimates of location based on rank tests", Ann. Math. Stat. 34 (1963).
//! A single stray value moves them by no more than it would move a median, at 95 % of the
//! efficiency of the mean when there is none.

use crate::sample::median_of_sorted;
use crate::{mann_whitney, signed_rank};

/// One-sample estimate: the median of all Walsh averages (x_i + x_j) / 2, i <= j. O(n^2 log n).
pub fn location(values: &[f64]) -> f64 {
    median_of_sorted(&sorted_walsh_averages(values))
}

/// Interval of the location with at least `confidence` coverage, from the exact distribution of the
/// signed-rank statistic; `None` when there are too few values for that confidence.
pub fn location_interval(values: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let skip = signed_rank::critical(values.len(), (1.0 - confidence) / 2.0)?;
    let walsh = sorted_walsh_averages(values);
    Some((walsh[skip], walsh[walsh.len() - 1 - skip]))
}

fn sorted_walsh_averages(values: &[f64]) -> Vec<f64> {
    let mut walsh = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (i, a) in values.iter().enumerate() {
        walsh.extend(values[i..].iter().map(|b| f64::midpoint(*a, *b)));
    }
    walsh.sort_unstable_by(f64::total_cmp);
    walsh
}

/// Two-sample estimate of the shift: the median of all differences y_j - x_i. O(nm log nm).
pub fn shift(x: &[f64], y: &[f64]) -> f64 {
    median_of_sorted(&sorted_differences(x, y))
}

/// Interval of the shift with at least `confidence` coverage, from the exact distribution of the
/// Mann-Whitney statistic; `None` when the samples are too small for that confidence.
pub fn shift_interval(x: &[f64], y: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let differences = sorted_differences(x, y);
    let skip = mann_whitney::critical(x.len(), y.len(), (1.0 - confidence) / 2.0)?;
    Some((differences[skip], differences[differences.len() - 1 - skip]))
}

fn sorted_differences(x: &[f64], y: &[f64]) -> Vec<f64> {
    let mut differences: Vec<f64> = x.iter().flat_map(|a| y.iter().map(move |b| b - a)).collect();
    differences.sort_unstable_by(f64::total_cmp);
    differences
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

    #[test]
    fn interval_needs_enough_values() {
        assert_eq!(shift_interval(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.95), None);
        let (low, high) =
            shift_interval(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], 0.95).unwrap();
        assert_eq!((low, high), (1.0, 7.0));
    }
}
