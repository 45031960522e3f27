//! What is asked of a change.

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
    /// The largest p of a change of a series of so many points.
    pub(super) fn bound(&self, points: usize) -> f64 {
        let looks = if self.is_watched { points as f64 } else { 1.0 };
        self.alpha / looks
    }
}

impl Default for Settings {
    /// Of a history that grows. Chosen by `cargo xtask history`.
    fn default() -> Self {
        Self { alpha: 3e-4, is_watched: true, margin: 0.01, prior_noise: 0.01 }
    }
}
