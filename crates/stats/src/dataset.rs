//! Numbers of one variant and the figures that describe it.

use crate::Error;

/// Values of one variant, kept in the order of measurement and sorted beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    values: Vec<f64>,
    sorted: Vec<f64>,
}

impl Dataset {
    /// Takes the values in the order in which they were measured.
    ///
    /// # Errors
    /// [`Error::TooFew`] without values, [`Error::NotFinite`] for NaN and infinities.
    pub fn new(values: Vec<f64>) -> Result<Self, Error> {
        if values.is_empty() {
            return Err(Error::TooFew { what: "a dataset", got: 0, need: 1 });
        }
        if let Some(index) = values.iter().position(|v| !v.is_finite()) {
            return Err(Error::NotFinite { index, value: values[index] });
        }
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        Ok(Self { values, sorted })
    }

    /// Number of values.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// The values in the order of measurement.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The values in ascending order.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// The smallest value.
    pub fn min(&self) -> f64 {
        self.sorted[0]
    }

    /// The largest value.
    pub fn max(&self) -> f64 {
        self.sorted[self.sorted.len() - 1]
    }

    /// The median: the mean of the two middle values when their number is even.
    pub fn median(&self) -> f64 {
        median_of_sorted(&self.sorted)
    }

    /// The arithmetic mean.
    pub fn mean(&self) -> f64 {
        mean(&self.values)
    }

    /// Standard deviation with n - 1 in the denominator; 0 for a single value.
    pub fn sd(&self) -> f64 {
        sd(&self.values)
    }

    /// Coefficient of variation, sd / |mean|.
    pub fn cv(&self) -> f64 {
        self.sd() / self.mean().abs()
    }
}

/// Median of values that are in ascending order already; NaN without values.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    match n {
        0 => f64::NAN,
        _ if n % 2 == 1 => sorted[n / 2],
        _ => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Median of values in any order; NaN without values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

/// Median absolute deviation from the median, times 1.4826 so that it estimates the sd of a normal
/// distribution.
pub(crate) fn robust_sd(values: &[f64]) -> f64 {
    let centre = median(values);
    let deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    1.4826 * median(&deviations)
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub(crate) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let centre = mean(values);
    values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

pub(crate) fn sd(values: &[f64]) -> f64 {
    variance(values).sqrt()
}

/// Pearson's correlation; 0 when one of the two does not vary.
pub(crate) fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let (mean_x, mean_y) = (mean(x), mean(y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(y) {
        let (dx, dy) = (a - mean_x, b - mean_y);
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    if xx <= 0.0 || yy <= 0.0 { 0.0 } else { xy / (xx * yy).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_mean_of_the_two_middle_values() {
        let dataset = Dataset::new(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!(dataset.median(), 2.5);
        assert_eq!(dataset.sorted(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(dataset.values()[0], 4.0);
    }

    #[test]
    fn refuses_nan_and_an_empty_dataset() {
        assert!(matches!(Dataset::new(vec![]), Err(Error::TooFew { .. })));
        assert!(matches!(
            Dataset::new(vec![1.0, f64::NAN]),
            Err(Error::NotFinite { index: 1, .. })
        ));
    }

    #[test]
    fn correlation_of_opposed_series_is_minus_one() {
        assert!((correlation(&[1.0, 2.0, 3.0], &[6.0, 4.0, 2.0]) + 1.0).abs() < 1e-12);
        assert_eq!(correlation(&[1.0, 1.0], &[1.0, 2.0]), 0.0);
    }
}
