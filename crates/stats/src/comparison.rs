//! The result of comparing a variant with its baseline, whatever the test behind it.

use serde::{Deserialize, Serialize};

/// Whether more or less of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// A rate: frames per second.
    HigherIsBetter,
    /// A cost: nanoseconds per frame. Its effect is shown as the change in frames per busy second,
    /// baseline / variant - 1, so that a positive effect always means "faster".
    LowerIsBetter,
}

impl Direction {
    /// The natural logarithm of the speed ratio: positive when the variant is faster.
    pub fn log_gain(self, baseline: f64, variant: f64) -> f64 {
        match self {
            Self::HigherIsBetter => (variant / baseline).ln(),
            Self::LowerIsBetter => (baseline / variant).ln(),
        }
    }
}

/// A speed ratio, variant : baseline. 1.02 is "2 % faster", whatever the metric's direction.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Effect(f64);

impl Effect {
    /// From a ratio, which must be positive.
    pub fn from_ratio(ratio: f64) -> Self {
        Self(ratio)
    }

    /// From the natural logarithm of the ratio.
    pub fn from_ln(ln: f64) -> Self {
        Self(ln.exp())
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

/// A confidence interval of an [`Effect`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: Effect,
    /// Upper end.
    pub high: Effect,
}

impl Interval {
    /// From a centre and a half-width on the log scale.
    pub fn around_ln(centre: f64, half_width: f64) -> Self {
        Self {
            low: Effect::from_ln(centre - half_width),
            high: Effect::from_ln(centre + half_width),
        }
    }

    /// Whether the interval leaves out "no change".
    pub fn excludes_no_change(&self) -> bool {
        self.low.ratio() > 1.0 || self.high.ratio() < 1.0
    }

    /// Whether the whole interval lies strictly within +-`margin` (a fraction: 0.01 for 1 %).
    pub fn is_within(&self, margin: f64) -> bool {
        self.low.ratio() > 1.0 - margin && self.high.ratio() < 1.0 + margin
    }

    /// Whether the interval covers an effect.
    pub fn covers(&self, effect: Effect) -> bool {
        self.low <= effect && effect <= self.high
    }
}

/// How a comparison was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Paired t on log ratios within randomised blocks.
    Paired,
    /// Two-way model (variant + block) with Dunnett's correction for several variants.
    Dunnett,
    /// Paired t with Holm's correction for several variants whose variances differ.
    HolmPaired,
    /// Signed ranks of log ratios within randomised blocks, used when stray runs are among them.
    SignedRank,
    /// Signed ranks with Holm's correction for several variants.
    HolmSignedRank,
    /// Confidence sequence and e-process over blocks, valid at every look.
    Sequential,
    /// Welch's t on log values, without blocks.
    Welch,
}

impl Method {
    /// The method in a few words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Paired => "paired t on log ratios within blocks",
            Self::Dunnett => "variant + block model on log values, Dunnett",
            Self::HolmPaired => "paired t on log ratios within blocks, Holm",
            Self::SignedRank => "signed ranks of log ratios within blocks, for stray runs",
            Self::HolmSignedRank => "signed ranks of log ratios within blocks, Holm",
            Self::Sequential => "e-process and confidence sequence over blocks",
            Self::Welch => "Welch's t on log values, without blocks",
        }
    }

    /// Whether the comparison rests on blocks.
    pub fn is_blocked(self) -> bool {
        self != Self::Welch
    }
}

/// How many values entered a comparison. Equal numbers, the number of blocks, when it is paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Values of the baseline.
    pub baseline: usize,
    /// Values of the variant.
    pub variant: usize,
}

/// A variant against its baseline: estimates, intervals and p, all of the speed ratio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// How it was made.
    pub method: Method,
    /// How many values entered.
    pub n: Counts,
    /// The Hodges-Lehmann estimate: the figure to quote.
    pub estimate: Effect,
    /// The median of the ratios within blocks (without blocks: the ratio of the medians).
    pub median: Effect,
    /// The geometric mean ratio, the centre of the intervals.
    pub mean: Effect,
    /// 95 % confidence interval: it decides "faster" and "slower".
    pub interval95: Interval,
    /// 90 % confidence interval: it decides "equivalent" (two one-sided tests at 5 %).
    pub interval90: Interval,
    /// Two-sided p of "no change", corrected for several variants where the method says so.
    pub p: f64,
    /// Standard deviation of the log differences within blocks; without blocks, sqrt(s_b^2 + s_v^2).
    /// About 1.4 times the coefficient of variation of a single trial.
    pub sd_of_difference: f64,
}
