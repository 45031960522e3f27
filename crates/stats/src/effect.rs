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

/// A percentage for people with a sign, where its digits show one.
pub(crate) fn signed(value: f64) -> String {
    let text = percent(value);
    if value > 0.0 && !text.starts_with("0.00") { format!("+{text}") } else { text }
}

/// A percentage for people: two decimals below 10, one below 100, none above.
pub(crate) fn percent(value: f64) -> String {
    let text = match value.abs() {
        size if size < 9.995 => format!("{value:.2} %"),
        size if size < 99.95 => format!("{value:.1} %"),
        _ => format!("{value:.0} %"),
    };
    // "-0.00 %" says nothing that "0.00 %" does not
    if text == "-0.00 %" { "0.00 %".to_owned() } else { text }
}
