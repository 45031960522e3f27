//! Finds the steady part of a trial: where start-up ends, where the tail begins, where gaps are.
//!
//! Published pipelines cut a fixed number of text lines and trimmed 0 to 6 values by accident.
//! Here the level comes from the data: median and robust spread of all intervals that carried
//! frames. Start-up and tail lose rate, so that intervals below the level are trimmed at either end
//! until the series has settled, at most a quarter of it; a head or tail above the level is trimmed
//! only when all the rest is flat, because otherwise nobody can say which of the two is the
//! disturbance. Nothing inside is ever removed; gaps are counted.
//!
//! Note: we tried the middle half of the trial as the level; a stranger who disturbs the middle then
//! becomes "the steady state".

use serde::{Deserialize, Serialize};

use crate::dataset::{median, robust_sd};

/// How far an interval may lie from the level, in robust standard deviations.
const REACH: f64 = 4.0;
/// ... and at least this share of the level: the median of the rest does not feel smaller steps.
const LEAST_REACH: f64 = 0.10;
/// Largest share of the intervals trimmed at either end, those without frames not counted.
const MOST_TRIMMED: f64 = 0.25;

/// The steady window of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// First interval of the window, from 0.
    pub first: usize,
    /// Number of intervals in it; 0 when the trial never carried a frame.
    pub count: usize,
    /// Intervals trimmed before it.
    pub trimmed_head: usize,
    /// Intervals trimmed behind it.
    pub trimmed_tail: usize,
    /// Intervals inside it with a rate of zero. They stay.
    #[serde(default)]
    pub zero_gaps: usize,
    /// Why these were trimmed, in words.
    pub why: String,
}

impl Steady {
    /// The intervals of the window. `rates` must be those that the window was found on.
    pub fn slice<'a>(&self, rates: &'a [f64]) -> &'a [f64] {
        let end = (self.first + self.count).min(rates.len());
        &rates[self.first.min(end)..end]
    }

    /// Median rate of the window: the trial's figure. `None` when the window is empty.
    pub fn figure(&self, rates: &[f64]) -> Option<f64> {
        let slice = self.slice(rates);
        (!slice.is_empty()).then(|| median(slice))
    }
}

/// Finds the steady window of the rates of a trial's intervals, in order. O(n log n).
pub fn window(rates: &[f64]) -> Steady {
    let Some(level) = Level::of(rates) else {
        return Steady {
            first: 0,
            count: 0,
            trimmed_head: rates.len(),
            trimmed_tail: 0,
            zero_gaps: 0,
            why: "no interval carried a frame".to_owned(),
        };
    };
    let head = trim(rates.iter().copied(), &level);
    let tail = trim(rates.iter().rev().copied(), &level);
    let inside = &rates[head.count..rates.len() - tail.count];
    Steady {
        first: head.count,
        count: inside.len(),
        trimmed_head: head.count,
        trimmed_tail: tail.count,
        zero_gaps: inside.iter().filter(|rate| **rate == 0.0).count(),
        why: why(&head, &tail),
    }
}

/// The level of the settled series and how far from it is still normal.
struct Level {
    centre: f64,
    reach: f64,
}

impl Level {
    /// From all intervals that carried frames.
    fn of(rates: &[f64]) -> Option<Self> {
        let busy: Vec<f64> = rates.iter().copied().filter(|rate| *rate > 0.0).collect();
        if busy.is_empty() {
            return None;
        }
        let centre = median(&busy);
        Some(Self { centre, reach: (REACH * robust_sd(&busy)).max(LEAST_REACH * centre) })
    }

    fn admits(&self, rate: f64) -> bool {
        (rate - self.centre).abs() <= self.reach
    }
}

/// What was cut off one end.
struct Trim {
    count: usize,
    zeros: usize,
}

/// Counts the intervals from one end up to the first two in a row that are at the level.
fn trim(rates: impl Iterator<Item = f64>, level: &Level) -> Trim {
    let rates: Vec<f64> = rates.collect();
    // leading zeros are never part of the trial, however many there are
    let zeros = rates.iter().take_while(|rate| **rate == 0.0).count();
    let rest = &rates[zeros..];
    let is_settled = |at: usize| {
        level.admits(rest[at]) && rest.get(at + 1).is_none_or(|next| level.admits(*next))
    };
    let most = (rest.len() as f64 * MOST_TRIMMED) as usize;
    let off = (0..=most.min(rest.len() - 1)).find(|at| is_settled(*at)).unwrap_or(0);
    let (cut, kept) = rest.split_at(off);
    let loses_rate = cut.iter().all(|rate| *rate < level.centre + level.reach);
    let is_flat = || kept.iter().all(|rate| level.admits(*rate));
    let count = if loses_rate || is_flat() { zeros + off } else { zeros };
    Trim { count, zeros }
}

fn why(head: &Trim, tail: &Trim) -> String {
    let describe = |trim: &Trim, ramp: &str| match (trim.zeros, trim.count - trim.zeros) {
        (0, 0) => None,
        (zeros, 0) => Some(format!("{zeros} without frames")),
        (0, off) => Some(format!("{off} {ramp}")),
        (zeros, off) => Some(format!("{zeros} without frames and {off} {ramp}")),
    };
    let head =
        describe(head, "of start-up away from the level").map(|text| format!("head: {text}"));
    let tail = describe(tail, "of tail away from the level").map(|text| format!("tail: {text}"));
    match (head, tail) {
        (None, None) => "steady throughout".to_owned(),
        (Some(one), None) | (None, Some(one)) => one,
        (Some(head), Some(tail)) => format!("{head}; {tail}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(n: usize) -> Vec<f64> {
        (0..n).map(|i| 1000.0 + (i % 3) as f64).collect()
    }

    #[test]
    fn keeps_a_steady_series_whole() {
        let steady = window(&level(20));
        assert_eq!((steady.first, steady.count), (0, 20));
        assert_eq!(steady.why, "steady throughout");
    }

    #[test]
    fn trims_start_up_and_tail() {
        let mut rates = vec![0.0, 0.0, 300.0, 700.0];
        rates.extend(level(20));
        rates.extend([400.0, 0.0]);
        let steady = window(&rates);
        assert_eq!((steady.trimmed_head, steady.count, steady.trimmed_tail), (4, 20, 2));
        assert!(steady.why.contains("head: 2 without frames and 2 of start-up"), "{}", steady.why);
        assert_eq!(steady.figure(&rates), Some(1001.0));
    }

    #[test]
    fn counts_gaps_and_keeps_them() {
        let mut rates = level(20);
        rates[9] = 0.0;
        rates[10] = 0.0;
        let steady = window(&rates);
        assert_eq!((steady.count, steady.zero_gaps), (20, 2));
    }

    #[test]
    fn a_dip_next_to_the_end_is_not_mistaken_for_the_end() {
        let mut rates = level(20);
        rates[1] = 500.0;
        assert_eq!(window(&rates).trimmed_head, 2);
    }

    #[test]
    fn a_trial_without_frames_has_no_window() {
        let steady = window(&[0.0; 5]);
        assert_eq!(steady.count, 0);
        assert_eq!(steady.figure(&[0.0; 5]), None);
        assert_eq!(window(&[]).count, 0);
    }

    /// Device cost of a trial whose middle was disturbed, turned into rates: neither the disturbed
    /// nor the undisturbed part may be taken for the whole.
    #[test]
    fn a_disturbance_in_the_middle_never_becomes_the_steady_state() {
        let costs = [24.9, 26.2, 33.4, 40.7, 41.0, 41.5, 41.1, 29.8, 25.5, 26.2, 26.7];
        let rates = costs.map(|ns| 1e9 / ns);
        assert_eq!(window(&rates).count, 11);
        assert_eq!(window(&costs).count, 11);
        let mut rates = level(16);
        rates[5..10].fill(300.0);
        assert_eq!(window(&rates).count, 16);
    }

    #[test]
    fn noise_with_a_tail_is_not_trimmed() {
        let costs = [24.8, 24.3, 25.1, 24.4, 26.0, 24.2, 24.6, 24.4, 25.9, 24.5, 24.3, 24.7];
        assert_eq!(window(&costs.map(|ns| 1e9 / ns)).count, 12);
        for seed in 0..200u32 {
            let noisy: Vec<f64> = (0..11u32)
                .map(|i| {
                    let bits = (seed * 11 + i).wrapping_mul(2_654_435_761);
                    let unit = f64::from(bits.rotate_left(13).wrapping_mul(2_246_822_519))
                        / 4_294_967_296.0;
                    1000.0 * (1.0 - 0.05 * (2.0 * unit - 1.0))
                })
                .collect();
            assert_eq!(window(&noisy).count, 11, "{noisy:?}");
        }
    }

    #[test]
    fn a_head_above_the_level_is_trimmed_only_when_the_rest_is_flat() {
        let mut rates = level(20);
        rates[0] = 1500.0;
        assert_eq!(window(&rates).trimmed_head, 1);
        rates[12] = 1500.0;
        assert_eq!(window(&rates).trimmed_head, 0);
    }

    #[test]
    fn never_trims_more_than_the_level_allows() {
        let noisy: Vec<f64> = (0..10).map(|i| if i % 2 == 0 { 100.0 } else { 1000.0 }).collect();
        let steady = window(&noisy);
        assert!(steady.count >= 2, "{steady:?}");
    }
}
