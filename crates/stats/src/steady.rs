//! Finds the steady part of a trial: where start-up ends, where the tail begins, where gaps are.
//!
//! Published pipelines cut a fixed number of text lines and trimmed 0 to 6 samples by accident.
//! Here the level comes from the data: the middle half of the non-zero intervals gives a median and
//! a robust spread, and intervals at either end that lie outside are trimmed until the series has
//! settled. Nothing inside is ever removed; gaps are counted.

use serde::{Deserialize, Serialize};

use crate::sample::{median, robust_sd};

/// How far an interval may lie from the level, in robust standard deviations.
const REACH: f64 = 4.0;
/// ... and at least this share of the level: smaller steps are no start-up.
const LEAST_REACH: f64 = 0.02;
/// Largest share of the intervals trimmed at either end.
const MOST_TRIMMED: f64 = 0.4;

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
    let most = (rates.len() as f64 * MOST_TRIMMED) as usize;
    let head = trim(rates.iter().copied(), &level, most);
    let tail = trim(rates.iter().rev().copied(), &level, most);
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
    /// From the middle half of the intervals that carried frames.
    fn of(rates: &[f64]) -> Option<Self> {
        let busy: Vec<f64> = rates.iter().copied().filter(|rate| *rate > 0.0).collect();
        if busy.is_empty() {
            return None;
        }
        let quarter = busy.len() / 4;
        let middle = &busy[quarter..busy.len() - quarter];
        let centre = median(middle);
        Some(Self { centre, reach: (REACH * robust_sd(middle)).max(LEAST_REACH * centre) })
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
fn trim(rates: impl Iterator<Item = f64>, level: &Level, most: usize) -> Trim {
    let rates: Vec<f64> = rates.collect();
    let is_settled = |at: usize| {
        level.admits(rates[at]) && rates.get(at + 1).is_none_or(|next| level.admits(*next))
    };
    let zeros = rates.iter().take_while(|rate| **rate == 0.0).count();
    // leading zeros are never part of the trial, however many there are
    let limit = most.max(zeros);
    let count = (zeros..=limit.min(rates.len() - 1)).find(|at| is_settled(*at)).unwrap_or(zeros);
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

    #[test]
    fn never_trims_more_than_the_level_allows() {
        let noisy: Vec<f64> = (0..10).map(|i| if i % 2 == 0 { 100.0 } else { 1000.0 }).collect();
        let steady = window(&noisy);
        assert!(steady.count >= 2, "{steady:?}");
    }
}
