//! Ratios of rates with their intervals, per cent.

use anyhow::Result;
use fwdlab_stats::Confidence;
use fwdlab_stats::distribution::t_critical;
use fwdlab_stats::machines::{Figure, Synthesis, synthesis};

use super::family::Family;
use super::numbers::{Numbers, Role};

/// A page's own figure with its interval: Welch's t.
pub(super) fn percent(figure: &Figure) -> [f64; 3] {
    let half = t_critical(0.95, figure.degrees) * figure.error;
    let ln = figure.effect.ln();
    [ln, ln - half, ln + half].map(|ln| 100.0 * (ln.exp() - 1.0))
}

/// With its 95 % interval, in words.
pub(super) fn interval([estimate, low, high]: &[f64; 3]) -> String {
    format!("{estimate:+.1} % [{low:+.1}, {high:+.1}]")
}

/// All machines: the estimate and its interval, per cent.
pub(super) fn summary(all: &Synthesis) -> [f64; 3] {
    [all.estimate, all.interval.low, all.interval.high].map(|e| e.percent())
}

/// The summary of all machines that have a figure of a family.
pub(super) fn of_all(numbers: &Numbers, family: Family) -> Result<[f64; 3]> {
    let own = numbers.of(family).filter(|(_, figure)| figure.role == Role::Figure);
    let figures: Result<Vec<Figure>> = own.map(|(_, figure)| figure.change()).collect();
    Ok(summary(&synthesis(&figures?, Confidence::USUAL)?))
}
