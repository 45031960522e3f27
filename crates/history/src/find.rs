//! What changed, and what changed with it.

mod alerts;
mod cause;
mod found;
mod known;
#[cfg(test)]
mod machine_tests;
mod newest;
#[cfg(test)]
pub(crate) mod tests;

use fwdlab_stats::change::{self, Change, Settings, Told, today};

pub use self::found::{Alert, Cause, History, Moved, Newest, Options, Outgrown};
use crate::machines;
use crate::point::{BUILD, Point};
use crate::series::{Series, gather, sort};
use crate::store::Acknowledged;

/// The p at which a change that was confirmed is still seen: its place is known, and it was measured twice.
const STILL: f64 = 0.01;

/// Finds what changed in `points`.
pub fn find(
    points: impl IntoIterator<Item = Point>,
    acknowledged: &[Acknowledged],
    options: &Options,
) -> History {
    let mut points: Vec<Point> = points.into_iter().collect();
    let mut warnings = machines::tell_apart(&mut points);
    let is_asked =
        |point: &Point| options.only.iter().any(|part| point.series.name().contains(part.as_str()));
    points.retain(|point| options.only.is_empty() || is_asked(point));
    warnings.extend(debug_builds(&points));
    warnings.extend(without_figure(&points));
    let mut series = gather(points);
    warnings.extend(series.iter_mut().filter_map(leave_out_without_day));
    warnings.extend(series.iter().filter(|own| !own.is_ordered()).map(unordered));
    let told: Vec<Told> = series
        .iter()
        .map(|own| match own.is_ordered() {
            true => change::told(&own.medians(), own.noise(), &options.settings),
            false => Told::default(),
        })
        .collect();
    let mut suspected = suspects(&series, &told, &options.settings);
    let changes = told.into_iter().map(|told| told.changes).collect();
    let mut history = History { series, changes, warnings, ..History::default() };
    let mut moved = history.moved(options.settings.margin);
    let is_confirmed = |own: &mut Moved| {
        let is_it = |ack: &Acknowledged| ack.is_confirmed == Some(true) && history.is_of(ack, own);
        acknowledged.iter().any(is_it)
    };
    moved.extend(suspected.extract_if(.., is_confirmed));
    moved.extend(history.kept(&moved, acknowledged, &options.settings));
    history.alerts = history.alerts_of(moved, acknowledged, options);
    history.suspects = history.alerts_of(suspected, acknowledged, options);
    history.newest = history.newest();
    history
}

/// What is said of points that a debug build measured.
fn debug_builds(points: &[Point]) -> Option<String> {
    let is_debug =
        |point: &&Point| point.setting.get(BUILD).is_some_and(|build| build.ends_with("(debug)"));
    let own: Vec<&Point> = points.iter().filter(is_debug).collect();
    let first = own.first()?;
    Some(format!(
        "{} of {} points were measured with a debug build of fwdlab, whose figures mean little (the first: {}); build it \
         with --release and measure again",
        own.len(),
        points.len(),
        first.source
    ))
}

/// What is said of points that have no place in a series of ratios.
fn without_figure(points: &[Point]) -> Option<String> {
    let mut own = points.iter().filter(|point| !point.is_sound());
    let first = own.next()?;
    let (name, count) = (first.series.name(), 1 + own.count());
    Some(format!(
        "{} of {} points left out: their figures are none, or not above 0 (the first: '{name}' at {}, from {})",
        count,
        points.len(),
        first.revision,
        first.source
    ))
}

/// Leaves out the few points without a day of a series that has an order by its days alone; what is said of them.
fn leave_out_without_day(own: &mut Series) -> Option<String> {
    let (dated, others): (Vec<Point>, Vec<Point>) =
        own.points.iter().cloned().partition(|point| point.date.is_some());
    if own.is_ordered() || others.is_empty() || dated.len() <= 2 * others.len() {
        return None;
    }
    own.points = dated;
    sort(&mut own.points);
    Some(format!(
        "'{}': {} left out: nothing says where they belong, neither their revisions nor a day",
        own.key.name(),
        names(&others)
    ))
}

/// The first revisions of some points, and how many more there are.
fn names(points: &[Point]) -> String {
    let mut names: Vec<&str> = points.iter().map(|point| point.revision.as_str()).collect();
    names.dedup();
    let more = names.len().saturating_sub(3);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.truncate(3);
    format!("{}{more}", names.join(", "))
}

/// What is said of a series of which nobody knows what came first.
fn unordered(own: &Series) -> String {
    format!(
        "'{}': neither revisions nor days say which of its points came first ({}), so that no change is looked for; compare \
         their results two by two",
        own.key.name(),
        names(&own.points)
    )
}

/// What only the last points say, or a level too short to tell.
fn suspects(series: &[Series], told: &[Told], settings: &Settings) -> Vec<Moved> {
    let mut suspects = Vec::new();
    for (index, (own, told)) in series.iter().zip(told).enumerate() {
        if !own.is_ordered() {
            continue;
        }
        let start = told.changes.last().map_or(0, |last| last.at);
        let medians = own.medians();
        let alarm = today::alarm(&medians[start..], own.noise(), settings, today::BOUND);
        let found = alarm.and_then(|alarm| {
            let at = start + alarm.began;
            let change = change::at(&medians[start..], alarm.began, own.noise(), settings)?;
            let latest = medians.len() - today::FEWEST_NEW;
            let earliest = medians.len().saturating_sub(today::MOST_NEW).max(start + 1);
            // by Markov's inequality, of as many places as were asked
            let p = (today::PLACES as f64 / alarm.evidence).min(1.0);
            Some((
                Change { at, range: (earliest.min(at), latest.max(at)), p, ..change },
                alarm.evidence,
            ))
        });
        let doubtful = told.doubtful.iter().map(|change| (*change, evidence(change.p)));
        suspects.extend(found.into_iter().chain(doubtful).map(|(change, evidence)| Moved {
            series: index,
            change,
            undone_at: None,
            evidence: Some(evidence),
        }));
    }
    suspects
}

/// The most that a p says against chance, as a ratio of likelihoods (Sellke, Bayarri and Berger 2001).
fn evidence(p: f64) -> f64 {
    let p = p.clamp(1e-300, 0.3);
    -1.0 / (std::f64::consts::E * p * p.ln())
}

/// The change that took each back, if any: the level after it is that before the change, or that before an earlier one
/// of the same way that it takes back too. What fell twice and rose once to where it had been is all back.
fn undone(changes: &[Change], margin: f64) -> Vec<Option<usize>> {
    let mut undone: Vec<Option<usize>> =
        (0..changes.len()).map(|k| back(changes, k, margin)).collect();
    for (k, change) in changes.iter().enumerate() {
        let is_within = |(earlier, at): (&Change, &Option<usize>)| {
            at.filter(|at| *at > change.at && earlier.ratio * change.ratio > 0.0)
        };
        let outer = changes[..k].iter().zip(&undone).find_map(is_within);
        undone[k] = undone[k].or(outer);
    }
    undone
}

/// The change after which the level is that before `changes[k]`.
fn back(changes: &[Change], k: usize, margin: f64) -> Option<usize> {
    let mut level = 1.0 + changes[k].ratio;
    changes[k + 1..].iter().find_map(|later| {
        level *= 1.0 + later.ratio;
        let left = (level - 1.0).abs();
        (left < margin.max(0.2 * changes[k].ratio.abs())).then_some(later.at)
    })
}

impl History {
    /// The changes of all series.
    fn moved(&self, margin: f64) -> Vec<Moved> {
        let of_series = |(series, changes): (usize, &Vec<Change>)| -> Vec<Moved> {
            let one = |(&change, undone_at)| Moved { series, change, undone_at, evidence: None };
            changes.iter().zip(undone(changes, margin)).map(one).collect()
        };
        self.changes.iter().enumerate().flat_map(of_series).collect()
    }

    /// What a second measurement confirmed and the series alone does not say clearly enough any more, or not yet.
    fn kept(
        &self,
        moved: &[Moved],
        acknowledged: &[Acknowledged],
        settings: &Settings,
    ) -> Vec<Moved> {
        let mut kept: Vec<Moved> = Vec::new();
        for ack in acknowledged.iter().filter(|ack| ack.is_confirmed == Some(true)) {
            for (index, series) in self.series.iter().enumerate() {
                let name = series.key.name();
                let is_known = |own: &Moved| own.series == index && self.is_of(ack, own);
                if !ack.series.contains(&name) || moved.iter().chain(&kept).any(is_known) {
                    continue;
                }
                let at = series.place(&ack.first_changed, ack.days.first_changed.as_deref());
                kept.extend(at.and_then(|at| self.still(index, at, settings)));
            }
        }
        kept
    }

    /// The change at a place that was confirmed, as far as the points around it still show it.
    fn still(&self, series: usize, at: usize, settings: &Settings) -> Option<Moved> {
        let own = &self.series[series];
        let changes = &self.changes[series];
        let start = changes.iter().map(|other| other.at).filter(|other| *other < at).max();
        let start = start.unwrap_or(0);
        let end = changes.iter().map(|other| other.at).find(|other| *other > at);
        let medians = own.medians();
        let level = &medians[start..end.unwrap_or(medians.len())];
        let change = change::at(level, at.checked_sub(start)?, own.noise(), settings)?;
        let is_seen = change.p <= STILL && change.ratio.abs() >= settings.margin;
        let change = Change { at, range: (at, at), ..change };
        is_seen.then_some(Moved { series, change, undone_at: None, evidence: None })
    }
}
