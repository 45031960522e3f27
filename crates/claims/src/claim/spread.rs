//! Median, range and interval of the trials of one variant.

use fwdlab_results::{BusyBy, Metric, Trial};
use serde::Serialize;

/// The figures of a dataset, in the metric's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Number of values.
    pub n: usize,
    /// Median; the mean of the two middle values when n is even.
    pub median: f64,
    /// Smallest value.
    pub minimum: f64,
    /// Largest value.
    pub maximum: f64,
    /// 95 % interval of the median from order statistics; `None` below six values.
    pub interval: Option<[f64; 2]>,
    /// Coefficient of variation, sd / mean; 0 when all values are 0.
    pub cv: f64,
}

impl Spread {
    /// Of the figures of trials. Where ticks were too few for a cost in some of them, those of the others are the
    /// largest, and their median is that of nothing.
    pub fn of_trials(trials: &[&Trial], metric: Metric) -> Option<Self> {
        let has_too_few = |trial: &&Trial| {
            trial.measured.busy_by == Some(BusyBy::Ticks) && trial.cost_ns().is_none()
        };
        if metric == Metric::Cost && trials.iter().any(has_too_few) {
            return None;
        }
        Self::of(&trials.iter().filter_map(|trial| metric.of(trial)).collect::<Vec<_>>())
    }

    /// The figures of those of the `values` that are numbers; `None` when there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let values = values.iter().copied().filter(|value| value.is_finite()).collect();
        let dataset = fwdlab_stats::Dataset::new(values).ok()?;
        let sorted = dataset.sorted();
        let n = sorted.len();
        let interval = interval_rank(n).map(|rank| [sorted[rank], sorted[n - 1 - rank]]);
        Some(Self {
            n,
            median: dataset.median(),
            minimum: dataset.min(),
            maximum: dataset.max(),
            interval,
            cv: if dataset.mean() == 0.0 { 0.0 } else { dataset.cv() },
        })
    }

    /// The coefficient of variation as people are told it; one value alone has none.
    pub fn variation(&self) -> Option<f64> {
        (self.n > 1).then_some(self.cv)
    }
}

/// The largest rank r (from 0) so that the median lies between the r-th
/// smallest and the r-th largest of n values in at least 95 % of datasets:
/// 2 P(Binomial(n, 1/2) <= r) <= 0.05. It assumes no shape of distribution.
fn interval_rank(n: usize) -> Option<usize> {
    let mut term = 0.5f64.powi(i32::try_from(n).ok()?); // P(Binomial = 0)
    let mut below = 0.0;
    let mut rank = None;
    for k in 0..n / 2 {
        below += term;
        if 2.0 * below > 0.05 {
            break;
        }
        rank = Some(k);
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_ranks_equal_published_tables() {
        // Conover, Practical Nonparametric Statistics: 95 % intervals of the median.
        let expected =
            [(5, None), (6, Some(0)), (8, Some(0)), (9, Some(1)), (12, Some(2)), (20, Some(5))];
        for (n, rank) in expected {
            assert_eq!(interval_rank(n), rank, "n = {n}");
        }
    }

    #[test]
    fn no_values_have_no_spread() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[f64::NAN]), None);
    }

    /// A table said "0.00 %" of a campaign of one block.
    #[test]
    fn one_value_varies_by_nothing_that_is_known() {
        let of = |values: &[f64]| Spread::of(values).expect("values").variation();
        assert_eq!(of(&[7.0]), None);
        assert_eq!(of(&[7.0, 7.0]), Some(0.0));
    }

    /// NaN is not equal to itself: a report that states it contradicts itself for good.
    #[test]
    fn trials_without_a_frame_have_no_nan() {
        let idle = Spread::of(&[0.0, 0.0]).expect("two values");
        assert_eq!(idle.cv, 0.0);
        assert_eq!(Some(idle), Spread::of(&[0.0, 0.0, f64::INFINITY]));
    }
}
