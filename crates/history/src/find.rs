//! What changed, and what changed with it.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use fwdlab_stats::change::{self, Change, Settings, Told, today};

use crate::point::Point;
use crate::series::{Series, gather};
use crate::store::Acknowledged;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Of a change.
    pub settings: Settings,
    /// Part of the names of series that no software changes: a fixed image that is measured again
    /// and again. When one moves, the machine moved.
    pub control: Option<String>,
}

/// A change of a series, in words of its points.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// Index of the series.
    pub series: usize,
    /// The change.
    pub change: Change,
    /// Index of a later change that took it back.
    pub undone_at: Option<usize>,
}

/// Whose change it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Nothing speaks against the software.
    Software,
    /// The machine or the lab: the control moved, or one revision was measured twice.
    Machine,
}

/// Changes of one cause: series that moved at the same revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Alert {
    /// Stable name: of the place and the series that moved most clearly.
    pub id: String,
    /// Whose change.
    pub cause: Cause,
    /// Its changes, the clearest first.
    pub moved: Vec<Moved>,
    /// Series that have points on both sides and did not move.
    pub unmoved: Vec<usize>,
    /// Whether the clearest change is for the worse.
    pub is_regression: bool,
    /// Why somebody does not want to hear of it any more.
    pub acknowledged: Option<String>,
    /// What a second measurement said that showed the same.
    pub confirmed: Option<String>,
}

impl Alert {
    /// Whether every series went back to where it was.
    pub fn is_closed(&self) -> bool {
        self.moved.iter().all(|moved| moved.undone_at.is_some())
    }

    /// Whether somebody should look: neither closed nor acknowledged.
    pub fn is_open(&self) -> bool {
        self.acknowledged.is_none() && !self.is_closed()
    }
}

/// The last points of a series that may be a change, too few to tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// Index of the series.
    pub series: usize,
    /// Index of the first point that is off.
    pub at: usize,
    /// True when it went up.
    pub is_up: bool,
    /// How many times likelier the last points are after a step than without.
    pub evidence: f64,
}

/// A history: series, their changes, and the causes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The series by key.
    pub series: Vec<Series>,
    /// The changes of each series.
    pub changes: Vec<Vec<Change>>,
    /// Changes by cause, the newest last.
    pub alerts: Vec<Alert>,
    /// Series whose last points may have changed.
    pub suspects: Vec<Suspect>,
}

/// Finds what changed in `points`.
pub fn find(
    points: impl IntoIterator<Item = Point>,
    acknowledged: &[Acknowledged],
    options: &Options,
) -> History {
    let series = gather(points);
    let told: Vec<Told> = series
        .iter()
        .map(|own| change::told(&own.medians(), own.noise(), &options.settings))
        .collect();
    let suspects = suspects(&series, &told, &options.settings);
    let changes = told.into_iter().map(|told| told.changes).collect();
    let mut history = History { series, changes, alerts: Vec::new(), suspects };
    history.alerts = alerts(&history, acknowledged, options);
    history
}

fn suspects(series: &[Series], told: &[Told], settings: &Settings) -> Vec<Suspect> {
    let mut suspects = Vec::new();
    for (index, (own, told)) in series.iter().zip(told).enumerate() {
        let start = told.changes.last().map_or(0, |last| last.at);
        let alarm = today::alarm(&own.medians()[start..], own.noise(), settings, today::BOUND);
        suspects.extend(alarm.map(|alarm| Suspect {
            series: index,
            at: start + alarm.began,
            is_up: alarm.is_up,
            evidence: alarm.evidence,
        }));
        suspects.extend(told.doubtful.iter().map(|change| Suspect {
            series: index,
            at: change.at,
            is_up: change.ratio > 0.0,
            evidence: evidence(change.p),
        }));
    }
    suspects
}

/// The most that a p says against chance, as a ratio of likelihoods (Sellke, Bayarri and Berger 2001).
fn evidence(p: f64) -> f64 {
    let p = p.clamp(1e-300, 0.3);
    -1.0 / (std::f64::consts::E * p * p.ln())
}

/// The change that took `changes[k]` back, if any: the level after it is that before `changes[k]`.
fn undone(changes: &[Change], k: usize, margin: f64) -> Option<usize> {
    let mut level = 1.0 + changes[k].ratio;
    changes[k + 1..].iter().find_map(|later| {
        level *= 1.0 + later.ratio;
        let left = (level - 1.0).abs();
        (left < margin.max(0.2 * changes[k].ratio.abs())).then_some(later.at)
    })
}

fn alerts(history: &History, acknowledged: &[Acknowledged], options: &Options) -> Vec<Alert> {
    let mut open: Vec<Moved> = Vec::new();
    for (series, changes) in history.changes.iter().enumerate() {
        for (k, &change) in changes.iter().enumerate() {
            let undone_at = undone(changes, k, options.settings.margin);
            open.push(Moved { series, change, undone_at });
        }
    }
    // the clearest change names the place; what may have moved there belongs to it
    open.sort_by(|a, b| a.change.p.total_cmp(&b.change.p).then(a.series.cmp(&b.series)));
    let mut alerts = Vec::new();
    while !open.is_empty() {
        let first = open.remove(0);
        let (mut moved, rest): (Vec<Moved>, Vec<Moved>) =
            open.into_iter().partition(|other| history.is_together(&first, other));
        open = rest;
        moved.insert(0, first);
        alerts.push(history.alert(moved, acknowledged, options));
    }
    alerts.sort_by(|a, b| history.age(&a.moved[0], &b.moved[0]));
    alerts
}

impl History {
    /// The point before a change and the first after it.
    pub fn ends(&self, moved: &Moved) -> (&Point, &Point) {
        let points = &self.series[moved.series].points;
        (&points[moved.change.at - 1], &points[moved.change.at])
    }

    /// Whether two changes can be one: the place of one lies where the other may have been.
    fn is_together(&self, one: &Moved, other: &Moved) -> bool {
        if one.series == other.series {
            return false;
        }
        let (before, after) = self.ends(one);
        let points = &self.series[other.series].points;
        let (first, last) = other.change.range;
        let left = &points[first.saturating_sub(1)];
        let right = &points[last.min(points.len() - 1)];
        // the stretches (before, after] and (left, right] share a revision
        order(left, after) == Some(Ordering::Less) && order(before, right) == Some(Ordering::Less)
    }

    fn age(&self, one: &Moved, other: &Moved) -> Ordering {
        let (a, b) = (self.ends(one).1, self.ends(other).1);
        order(a, b).unwrap_or_else(|| a.date.cmp(&b.date))
    }

    fn alert(&self, moved: Vec<Moved>, acknowledged: &[Acknowledged], options: &Options) -> Alert {
        let (before, after) = self.ends(&moved[0]);
        let own: BTreeSet<usize> = moved.iter().map(|m| m.series).collect();
        let spans = |series: &Series| {
            let is_before = |p: &Point| order(p, after) == Some(Ordering::Less);
            let is_after = |p: &Point| order(before, p) == Some(Ordering::Less);
            series.points.iter().any(is_before) && series.points.iter().any(is_after)
        };
        let unmoved = (0..self.series.len())
            .filter(|i| !own.contains(i) && spans(&self.series[*i]))
            .collect();
        let is_control = |index: &usize| {
            let name = self.series[*index].key.name();
            options.control.as_ref().is_some_and(|control| name.contains(control.as_str()))
        };
        let is_same = match (before.read_revision(), after.read_revision()) {
            (Some(a), Some(b)) => a.is_same(&b),
            _ => false,
        };
        let is_machine = is_same || own.iter().any(is_control);
        let key = &self.series[moved[0].series].key;
        let is_up = moved[0].change.ratio > 0.0;
        let names: Vec<String> = own.iter().map(|i| self.series[*i].key.name()).collect();
        let said = |is_confirmed: bool| {
            let is_it = |ack: &&Acknowledged| {
                (ack.is_confirmed == Some(true)) == is_confirmed
                    && ack.is_of(&names, &before.revision, &after.revision)
            };
            acknowledged.iter().find(is_it).map(|ack| ack.reason.clone())
        };
        Alert {
            id: id(&key.name(), &after.revision),
            cause: if is_machine { Cause::Machine } else { Cause::Software },
            is_regression: is_up == key.is_lower_better(),
            acknowledged: said(false),
            confirmed: said(true),
            unmoved,
            moved,
        }
    }
}

/// The order of two points, maybe of different series; `None` when nothing tells.
fn order(one: &Point, other: &Point) -> Option<Ordering> {
    let by_revision = match (one.read_revision(), other.read_revision()) {
        (Some(a), Some(b)) if a.is_same(&b) => return one.date.partial_cmp(&other.date),
        (Some(a), Some(b)) => a.order(&b),
        _ => None,
    };
    by_revision.or_else(|| Some(one.date.as_ref()?.cmp(other.date.as_ref()?)))
}

/// Eight hexadecimal digits of what an alert is about.
fn id(series: &str, revision: &str) -> String {
    let mut digits = fwdlab_guard::digest::of(format!("{series}\n{revision}").as_bytes());
    digits.truncate(8);
    digits
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
