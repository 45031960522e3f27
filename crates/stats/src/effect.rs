//! How much faster or slower: a ratio of speeds.

use serde::{Deserialize, Serialize};

/// Ratios of any two doubles stay within, so that neither they nor their percentages overflow.
const LEAST_RATIO: f64 = 1e-300;
const MOST_RATIO: f64 = 1e300;

/// A speed ratio, variant : baseline. 1.02 is "2 % faster", whatever the metric's direction.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Effect(pub(crate) f64);

impl Effect {
    /// From a ratio, which must be positive.
    pub fn from_ratio(ratio: f64) -> Self {
        Self(ratio)
    }

    /// From the natural logarithm of the ratio; ratios beyond 10^-300 and 10^300 end there.
    pub fn from_ln(ln: f64) -> Self {
        Self(ln.exp().clamp(LEAST_RATIO, MOST_RATIO))
    }

    /// The ratio itself, 1.0 for "no change".
    pub fn ratio(self) -> f64 {
        self.0
    }

    /// The natural logarithm of the ratio.
    pub fn ln(self) -> f64 {
        self.0.ln()
    }

    /// The change in per cent: 2.0 for a ratio of 1.02.
    pub fn percent(self) -> f64 {
        (self.0 - 1.0) * 100.0
    }
}
