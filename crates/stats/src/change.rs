//! Where the level of a series changed: a year of nightly results, one value a point.
//!
//! [`changes`] looks back over a whole series. Its steps:
//!
//! 1. stray points are replaced ([`filter`]): one or two bad days in a row are no change;
//! 2. the best partition into levels is a list of candidates ([`partition`]; optimal partitioning as
//!    in Jackson et al. 2005, which PELT of Killick et al. 2012 prunes);
//! 3. candidates are withdrawn, the weakest first, until every one that is left is significant
//!    beside its neighbours, with a test whose noise is moderated by a prior ([`confirm`]), so that
//!    two points may be compared as well as two hundred.
//!
//! [`today`] looks forward: it says after each new point whether the last ones are another level.
//! [`watch`] does so by ranks, and [`divisive`] looks back: the rivals that both were measured against (`cargo xtask history`; docs/history.md has the table).
//!
//! Values are positive; all arithmetic is on their logarithms, so that sizes are ratios.

mod confirm;
pub mod divisive;
mod filter;
mod partition;
mod settings;
#[cfg(test)]
mod tests;
pub mod today;
pub mod watch;

use crate::distribution::t_quantile;
pub use settings::Settings;

/// Points that the last level needs in a longer series.
const LAST: usize = 3;
/// How much clearer a change among the last points has to be, which [`today`] looks at as well.
const LATE: f64 = 0.002;
/// The logarithm of what a bad day, or two in a row, is not off by: 45 %.
const BAD_DAY: f64 = 0.371_6;

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Index of the first point after the change, from 1.
    pub at: usize,
    /// The earliest and the latest index where it may have been: places that explain the series
    /// almost as well.
    pub range: (usize, usize),
    /// The new level over the old one, less 1.
    pub ratio: f64,
    /// Its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability of a change as clear as this at any place between its neighbours, if there was
    /// none.
    pub p: f64,
}

/// What a look back finds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// The changes of level, in order.
    pub changes: Vec<Change>,
    /// What may be a change, or a bad day: levels of one or two points in a series too short to tell.
    pub doubtful: Vec<Change>,
}

/// The changes of level in `values`, in order. Fewer than two values have none; values that are not
/// positive and finite count as missing and change nothing.
///
/// `noise` is what a point's own runs say of its error, as a ratio: levels that differ less than the
/// runs of one point are not told apart.
pub fn changes(values: &[f64], noise: f64, settings: &Settings) -> Vec<Change> {
    told(values, noise, settings).changes
}

/// The change of level at a place that was named before looking, whatever its size: its p is of this place alone.
/// `None` where one of its sides has no value.
pub fn at(values: &[f64], place: usize, noise: f64, settings: &Settings) -> Option<Change> {
    let is_kept = |value: &&f64| value.is_finite() && **value > 0.0;
    let (before, after) = values.split_at_checked(place)?;
    let split = before.iter().filter(is_kept).count();
    let logs: Vec<f64> =
        before.iter().chain(after).filter(is_kept).map(|value| value.ln()).collect();
    if split == 0 || split == logs.len() {
        return None;
    }
    let floor = noise.max(0.0);
    let clean = filter::without_strays(&logs, floor);
    let found = confirm::named(&clean, split, floor, settings);
    Some(told_of(&found, place, (place, place)))
}

fn told_of(found: &confirm::Tested, at: usize, range: (usize, usize)) -> Change {
    let half = t_quantile(0.975, found.df) * found.error;
    Change {
        at,
        range,
        ratio: found.size.exp_m1(),
        low: (found.size - half).exp_m1(),
        high: (found.size + half).exp_m1(),
        p: found.p,
    }
}

/// [`changes`], and what may be one.
pub fn told(values: &[f64], noise: f64, settings: &Settings) -> Told {
    let kept: Vec<usize> =
        (0..values.len()).filter(|&i| values[i].is_finite() && values[i] > 0.0).collect();
    if kept.len() < 2 {
        return Told::default();
    }
    let logs: Vec<f64> = kept.iter().map(|&i| values[i].ln()).collect();
    let floor = noise.max(0.0);
    let clean = filter::without_strays(&logs, floor);
    let candidates = partition::levels(&clean, floor);
    let confirmed = confirm::confirm(&clean, candidates, floor, settings);
    let place = |index: usize| kept.get(index).copied().unwrap_or(values.len());
    let change = |found: &confirm::Tested| {
        told_of(found, place(found.at), (place(found.range.0), place(found.range.1)))
    };
    let is_young = clean.len() < filter::FEWEST + 2 * LAST;
    let mut told = Told::default();
    let mut start = 0;
    for (k, found) in confirmed.iter().enumerate() {
        let end = confirmed.get(k + 1).map_or(clean.len(), |next| next.at);
        let fewest = (found.at - start).min(end - found.at);
        start = found.at;
        let last = clean.len() - found.at;
        // one or two bad days at the end are no change yet, and who asks after each point asks often
        let is_sure = if is_young {
            fewest >= LAST || found.size.abs() >= BAD_DAY
        } else {
            last >= LAST && (last > today::MOST_NEW || found.p <= settings.alpha * LATE)
        };
        if is_sure {
            told.changes.push(change(found));
        } else if is_young {
            told.doubtful.push(change(found));
        }
    }
    told
}
