//! Where the level of a series changed: a year of nightly results, one value a point.
//!
//! [`changes`] looks back over a whole series. Its steps:
//!
//! 1. stray points are replaced ([`filter`]): one or two bad days in a row are no change;
//! 2. the best partition into levels is a list of candidates ([`partition`]; optimal partitioning as
//!    in Jackson et al. 2005, which PELT of Killick et al. 2012 prunes);
//! 3. candidates are withdrawn, the weakest first, until every one that is left is significant
//!    beside its neighbours, with a test whose noise is moderated by a prior ([`confirm`]), so that
//!    two points may be compared as well as two hundred;
//! 4. steps along which the points are clearly less likely than along a ramp are a drift ([`drift`]), as is what goes
//!    on from one end of a series to the other without a step.
//!
//! [`today`] looks forward: it says after each new point whether the last ones are another level.
//! [`watch`] does so by ranks, and [`divisive`] looks back: the rivals that both were measured against (`cargo xtask history`; docs/history.md has the table).
//!
//! Values are positive; all arithmetic is on their logarithms, so that sizes are ratios.

mod confirm;
pub mod divisive;
mod drift;
mod filter;
mod model;
mod partition;
mod settings;
#[cfg(test)]
mod tests;
pub mod today;
pub mod watch;

use crate::distribution::t_quantile;
pub use settings::Settings;
use settings::{LAST, YOUNG};

/// How much clearer a change among the last points has to be, which [`today`] looks at as well.
const LATE: f64 = 0.000_3;
/// The logarithm of what a bad day, or two in a row, is not off by: 45 %.
const BAD_DAY: f64 = 0.371_6;

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Index of the first point after the change, from 1.
    pub at: usize,
    /// How many points before that the last point before the change is: 1 for a step, more for a drift.
    pub over: usize,
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

impl Change {
    /// Whether it went on over many points, so that none of them is where it happened.
    pub fn is_drift(&self) -> bool {
        self.over > 1
    }
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
    Some(told_of(&found, |_| place))
}

/// A change in places of the series, of which `place` knows those of what was tested.
fn told_of(found: &confirm::Tested, place: impl Fn(usize) -> usize) -> Change {
    let at = place(found.at);
    let over = if found.over > 1 { at - place(found.at - found.over) } else { 1 };
    let range = (place(found.range.0), place(found.range.1));
    let half = t_quantile(0.975, found.df) * found.error;
    Change {
        at,
        over,
        range,
        ratio: found.size.exp_m1(),
        low: (found.size - half).exp_m1(),
        high: (found.size + half).exp_m1(),
        p: found.p,
    }
}

/// [`changes`], and what may be one.
pub fn told(values: &[f64], noise: f64, settings: &Settings) -> Told {
    let Some(found) = Found::of(values, noise, settings) else { return Told::default() };
    if found.sure.is_empty() && !found.doubtful.is_empty() {
        return found.told(&[]);
    }
    let sure = drift::merged(&found.clean, &found.sure, noise.max(0.0), settings);
    found.told(&sure)
}

/// The same where no drift is to be told from the steps that it looks like.
pub fn steps(values: &[f64], noise: f64, settings: &Settings) -> Told {
    let found = Found::of(values, noise, settings);
    found.map_or_else(Told::default, |found| found.told(&found.sure))
}

/// What was found among the values that are there.
struct Found {
    /// Their places.
    kept: Vec<usize>,
    /// Their logarithms without stray points.
    clean: Vec<f64>,
    sure: Vec<confirm::Tested>,
    doubtful: Vec<confirm::Tested>,
}

impl Found {
    fn of(values: &[f64], noise: f64, settings: &Settings) -> Option<Self> {
        let is_kept = |&i: &usize| values[i].is_finite() && values[i] > 0.0;
        let kept: Vec<usize> = (0..values.len()).filter(is_kept).collect();
        if kept.len() < 2 {
            return None;
        }
        let logs: Vec<f64> = kept.iter().map(|&i| values[i].ln()).collect();
        let floor = noise.max(0.0);
        let is_young = logs.len() < YOUNG;
        let clean = match is_young {
            true => filter::without_strays_between(&logs, floor),
            false => filter::without_strays(&logs, floor),
        };
        let candidates = partition::levels(&clean, floor);
        let confirmed = confirm::confirm(&clean, candidates, floor, settings);
        let (mut sure, mut doubtful) = (Vec::new(), Vec::new());
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
                sure.push(*found);
            } else if is_young {
                doubtful.push(*found);
            }
        }
        Some(Self { kept, clean, sure, doubtful })
    }

    /// In places of the series.
    fn told(&self, sure: &[confirm::Tested]) -> Told {
        let end = self.kept.last().map_or(0, |last| last + 1);
        let place = |index: usize| self.kept.get(index).copied().unwrap_or(end);
        let all = |own: &[confirm::Tested]| own.iter().map(|one| told_of(one, place)).collect();
        Told { changes: all(sure), doubtful: all(&self.doubtful) }
    }
}
