//! Checks of how a series of runs behaves: stray runs, two clusters, drift, ramps.

use std::borrow::Cow;

use super::Finding;
use crate::dataset::{mean, median, robust_sd, variance};
use crate::distribution::normal_cdf;
use crate::steady::Steady;

/// Runs farther than 5 robust standard deviations, and more than 1 %, from the median of at least
/// 5 runs. Of few runs the robust deviation is itself a rough guess and mostly too small, so that
/// the reach is wider for them: doubled at 5 runs.
pub fn stray_runs(of: &str, values: &[f64]) -> Option<Finding> {
    if values.len() < 5 {
        return None;
    }
    let centre = median(values);
    let few = 1.0 + 5.0 / values.len() as f64;
    let reach = (5.0 * few * robust_sd(values)).max(0.01 * centre.abs());
    let positions: Vec<usize> = values
        .iter()
        .enumerate()
        .filter(|(_, v)| (*v - centre).abs() > reach)
        .map(|(i, _)| i + 1)
        .collect();
    (!positions.is_empty()).then(|| Finding::StrayRuns { of: of.to_owned(), positions })
}

/// Two groups of at least 2 runs each, more than 1 % apart, with a gap that is wider than 4 times
/// the spread inside the groups.
pub fn two_clusters(of: &str, values: &[f64]) -> Option<Finding> {
    let n = values.len();
    if n < 5 {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let split = (2..=n - 2)
        .max_by(|a, b| (sorted[*a] - sorted[a - 1]).total_cmp(&(sorted[*b] - sorted[b - 1])))?;
    let (low, high) = sorted.split_at(split);
    let within = ((variance(low) * (low.len() - 1) as f64
        + variance(high) * (high.len() - 1) as f64)
        / (n - 2) as f64)
        .sqrt();
    let gap = high[0] - low[low.len() - 1];
    let is_split = gap > 4.0 * within && gap > 0.01 * mean(values).abs();
    is_split.then(|| Finding::TwoClusters {
        of: of.to_owned(),
        low: median(low),
        low_count: low.len(),
        high: median(high),
        high_count: high.len(),
    })
}

/// A trend over at least 6 runs in the order of measurement: Mann-Kendall at 1 % and a Theil-Sen
/// slope of more than 0.5 % over the whole campaign.
pub fn drift(values: &[f64]) -> Option<Finding> {
    let centre = median(values);
    // a change in per cent of nothing is none
    if values.len() < 6 || centre == 0.0 {
        return None;
    }
    let steps = in_steps(values);
    // per step, over all values
    let span = steps.len() as f64 * (values.len() - 1) as f64 / values.len() as f64;
    let percent = theil_sen(&steps) * span / centre * 100.0;
    let p = mann_kendall_p(&steps);
    (p < 0.01 && percent.abs() > 0.5).then_some(Finding::Drift { percent, p })
}

/// Trials whose rate climbs or falls by more than 1 % within their steady window; reported when
/// more than a quarter of the trials do so. Takes the steady intervals of every trial.
pub fn ramp(windows: &[&[f64]]) -> Option<Finding> {
    let changes: Vec<f64> = windows
        .iter()
        .filter_map(|window| match drift(window) {
            Some(Finding::Drift { percent, .. }) if percent.abs() > 1.0 => Some(percent),
            _ => None,
        })
        .collect();
    (4 * changes.len() > windows.len()).then(|| Finding::Ramp {
        percent: median(&changes),
        trials: changes.len(),
        of: windows.len(),
    })
}

/// Intervals without a frame inside the steady windows.
pub fn gaps<'a>(windows: impl IntoIterator<Item = &'a Steady>) -> Option<Finding> {
    let intervals = windows.into_iter().map(|steady| steady.zero_gaps).sum();
    (intervals > 0).then_some(Finding::ZeroGaps { intervals })
}

/// More values than these are taken together: every pair of steps is looked at.
const MOST_STEPS: usize = 500;

/// The values, or the medians of as many equal parts as are looked at. Where there is no trend, these
/// follow each other in random order as the values do.
fn in_steps(values: &[f64]) -> Cow<'_, [f64]> {
    if values.len() <= MOST_STEPS {
        return Cow::Borrowed(values);
    }
    let end = |step: usize| step * values.len() / MOST_STEPS;
    let medians = (0..MOST_STEPS).map(|step| median(&values[end(step)..end(step + 1)]));
    Cow::Owned(medians.collect())
}

/// Median of all pairwise slopes, per step (Sen 1968).
fn theil_sen(values: &[f64]) -> f64 {
    let mut slopes = Vec::with_capacity(values.len() * (values.len() - 1) / 2);
    for (i, a) in values.iter().enumerate() {
        slopes.extend(values[i + 1..].iter().enumerate().map(|(k, b)| (b - a) / (k + 1) as f64));
    }
    median(&slopes)
}

/// Two-sided p of the Mann-Kendall trend test (Mann 1945), normal approximation with continuity
/// correction.
fn mann_kendall_p(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mut score: f64 = 0.0;
    for (i, a) in values.iter().enumerate() {
        for b in &values[i + 1..] {
            score += if b > a {
                1.0
            } else if b < a {
                -1.0
            } else {
                0.0
            };
        }
    }
    let variance: f64 = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    let z = (score.abs() - 1.0).max(0.0) / variance.sqrt();
    (2.0 * normal_cdf(-z)).min(1.0)
}
