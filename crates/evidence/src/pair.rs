//! Two sets of a block compared anew from their printed figures.

use crate::surroundings::SourcedSet;
use fwdlab_stats::distribution::t_critical;

/// The comparison of a set with another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Change of the means in per cent.
    pub mean_percent: f64,
    /// Change of the medians in per cent.
    pub median_percent: f64,
    /// Half-width of the interval of the mean change at the confidence asked,
    /// in per cent of the base.
    pub half_width: f64,
    /// Change the other way round, base against variant, in per cent.
    pub inverse_percent: f64,
    /// Whether the difference is proven at 95 %.
    pub is_proven: bool,
}

impl Pair {
    /// Compares `variant` with `base`; `None` when the base is 0 or a set has
    /// fewer than two values.
    pub fn of(base: &SourcedSet<'_>, variant: &SourcedSet<'_>) -> Option<Self> {
        let half_95 = half_width(base, variant, 0.95)?;
        let change = |a: f64, b: f64| (b - a) * 100.0 / a;
        let mean_percent = change(base.row.mean(), variant.row.mean());
        let pair = Self {
            mean_percent,
            median_percent: change(base.row.median(), variant.row.median()),
            half_width: half_95,
            inverse_percent: change(variant.row.mean(), base.row.mean()),
            is_proven: mean_percent.abs() > half_95,
        };
        pair.inverse_percent.is_finite().then_some(pair)
    }

    /// The 95 % interval of the change, for sentences.
    pub fn confidence_interval(&self) -> String {
        format!(
            "{:+.2} … {:+.2} %",
            self.mean_percent - self.half_width,
            self.mean_percent + self.half_width
        )
    }

    /// Whether the change lies within `margin` per cent with 90 % confidence.
    pub fn is_within(&self, base: &SourcedSet<'_>, variant: &SourcedSet<'_>, margin: f64) -> bool {
        half_width(base, variant, 0.90).is_some_and(|half| self.mean_percent.abs() + half <= margin)
    }
}

/// Half-width of the pooled-t interval of the mean difference, in per cent.
fn half_width(base: &SourcedSet<'_>, variant: &SourcedSet<'_>, confidence: f64) -> Option<f64> {
    let (n1, n2) = (f64::from(base.row.n), f64::from(variant.row.n));
    let df = n1 + n2 - 2.0;
    if n1 < 2.0 || n2 < 2.0 || base.row.mean() <= 0.0 {
        return None;
    }
    let squares = (n1 - 1.0) * base.row.sd().powi(2) + (n2 - 1.0) * variant.row.sd().powi(2);
    let error = (squares / df).sqrt() * (1.0 / n1 + 1.0 / n2).sqrt();
    Some(t_critical(confidence, df) * error * 100.0 / base.row.mean())
}
