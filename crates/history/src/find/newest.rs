//! The newest points far from their level. One or two bad days are no change, and no alert is made of them; but whoever
//! looks at a series whose newest result is half of what it was has to be told.

use fwdlab_stats::median;

use super::found::{History, Newest};
use crate::series::Series;

/// Fewest points of a level before them.
const FEWEST: usize = 5;
/// Most points that are no change yet.
const MOST: usize = 2;
/// How many standard deviations are far.
const FAR: f64 = 5.0;
/// The least standard deviation of days, as the look back takes it.
const LEAST_SD: f64 = 0.01;
/// From the median of absolute deviations to a standard deviation of a normal distribution.
const NORMAL: f64 = 1.4826;

impl History {
    /// The newest one or two points of each series that lie far from the level before them, where nothing else is said
    /// of them.
    pub(super) fn newest(&self) -> Vec<Newest> {
        let is_suspected = |index: usize| {
            self.suspects.iter().flat_map(|own| &own.moved).any(|own| own.series == index)
        };
        let one = |(index, series): (usize, &Series)| {
            let start = self.changes[index].last().map_or(0, |last| last.at);
            let logs: Vec<f64> = series.medians()[start..].iter().map(|own| own.ln()).collect();
            let (count, deviation) = far(&logs, series.noise())?;
            Some(Newest { series: index, count, ratio: deviation.exp_m1() })
        };
        let is_asked = |(index, own): &(usize, &Series)| own.is_ordered() && !is_suspected(*index);
        let all = self.series.iter().enumerate().filter(is_asked);
        all.filter_map(one).collect()
    }
}

/// How many of the last logarithms are far from those before them, all on one side, and how far the nearest of them is.
fn far(logs: &[f64], noise: f64) -> Option<(usize, f64)> {
    let of = |count: usize| -> Option<(usize, f64)> {
        let (before, newest) = logs.split_at_checked(logs.len().checked_sub(count)?)?;
        if before.len() < FEWEST {
            return None;
        }
        let level = median(before);
        let apart: Vec<f64> = before.iter().map(|own| (own - level).abs()).collect();
        let sd = (NORMAL * median(&apart)).max(noise).max(LEAST_SD);
        let off = |own: &f64| own - level;
        let nearest = newest.iter().map(off).min_by(|a, b| a.abs().total_cmp(&b.abs()))?;
        let is_far = |own: &f64| off(own).abs() > FAR * sd && off(own) * nearest > 0.0;
        newest.iter().all(is_far).then_some((count, nearest))
    };
    (1..=MOST).rev().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::far;

    #[test]
    fn one_or_two_points_far_from_five_are_told_and_usual_days_are_not() {
        let level = [0.0, 0.004, -0.003, 0.002, -0.001];
        let with = |last: &[f64]| far(&[&level[..], last].concat(), 0.0);
        assert_eq!(with(&[-0.7]), Some((1, -0.7 - 0.0)));
        assert_eq!(with(&[-0.7, -0.6]), Some((2, -0.6)));
        assert_eq!(with(&[0.004, 0.5]).map(|own| own.0), Some(1));
        // two on either side are no level
        assert_eq!(with(&[-0.7, 0.7]).map(|own| own.0), Some(1));
        for usual in [&[0.03][..], &[-0.02, -0.03], &[]] {
            assert_eq!(with(usual), None, "{usual:?}");
        }
        // four points are no level, and days that differ by a tenth make no tenth a wonder
        assert_eq!(far(&[0.0, 0.0, 0.0, 0.0, -0.7], 0.0), None);
        assert_eq!(far(&[0.1, -0.1, 0.05, -0.08, 0.09, -0.3], 0.0), None);
        assert_eq!(far(&[0.0, 0.0, 0.0, 0.0, 0.0, -0.3], 0.1), None);
    }
}
