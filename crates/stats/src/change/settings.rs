//! What is asked of a change.

use super::filter;

/// Points that the last level needs in a longer series.
pub(super) const LAST: usize = 3;
/// Fewest points of a longer series.
pub(super) const YOUNG: usize = filter::FEWEST + 2 * LAST;
/// Points of a level that is not short.
const LONG: f64 = 24.0;
/// What is asked of a series whose levels are all short, as a share.
const OF_YOUNG: f64 = 0.15;

/// What is asked of a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The largest p of a change, corrected for the search over places.
    pub alpha: f64,
    /// Whether the series is looked at again after each of its points, so that p is of as many looks as it has points.
    pub is_watched: bool,
    /// The smallest change that matters, as a ratio: 0.01 is 1 %.
    pub margin: f64,
    /// Noise between points that is expected before any is seen, as a ratio.
    pub prior_noise: f64,
}

impl Settings {
    /// The largest p of a change of a series of so many points, where the shorter of the levels beside it has `fewest`.
    ///
    /// Days that resemble each other make short levels: who looks after each point sees each of them come and go.
    pub(super) fn bound(&self, points: usize, fewest: usize) -> f64 {
        if !self.is_watched {
            return self.alpha;
        }
        let share = if points < YOUNG { OF_YOUNG } else { (fewest as f64 / LONG).min(1.0).powi(3) };
        self.alpha * share / points as f64
    }
}

impl Default for Settings {
    /// Of a history that grows. Chosen by `cargo xtask history`.
    fn default() -> Self {
        Self { alpha: 2e-3, is_watched: true, margin: 0.01, prior_noise: 0.01 }
    }
}
