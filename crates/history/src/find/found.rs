//! A history and what was found in it.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use fwdlab_guard::words::one_line;
use fwdlab_stats::change::{Change, Settings, today};

use crate::point::Point;
use crate::series::Series;
use crate::store::Size;

/// How many points later than it seems a young change may have begun.
const YOUNG_OFF: usize = 2;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Of a change.
    pub settings: Settings,
    /// Part of the names of series that no software changes: a fixed image that is measured again
    /// and again. What moves as one of them does on the same machine is the machine's.
    pub control: Option<String>,
    /// Parts of the names of the series that are looked at; all where there is none.
    pub only: Vec<String>,
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
    /// Where it is only suspected: how many times likelier the points are after a step than without.
    pub evidence: Option<f64>,
}

/// Whose change it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Nothing speaks against the software.
    Software,
    /// The machine or the lab: the control moved as much, or one revision was measured twice.
    Machine,
    /// The machine at least in part: the control moved too, and clearly less than a machine would explain.
    Both,
}

/// An acknowledgement that does not hold any more.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgrown {
    /// The size then of the series that moved most clearly.
    pub size: Size,
    /// What was said of it.
    pub reason: String,
    /// Whether a second measurement had not shown it; else somebody knew of it.
    pub is_set_aside: bool,
}

/// Changes of one cause: series that moved at the same revision, all for the better or all for the worse.
#[derive(Clone, Debug, PartialEq)]
pub struct Alert {
    /// Stable name: of the first of its series by name, and its place.
    pub id: String,
    /// Whose change.
    pub cause: Cause,
    /// Its changes, the clearest first.
    pub moved: Vec<Moved>,
    /// Series that have points on both sides and did not move.
    pub unmoved: Vec<usize>,
    /// Whether its changes are for the worse.
    pub is_regression: bool,
    /// Why nobody wants to hear of it any more.
    pub acknowledged: Option<String>,
    /// Whether that is what a second measurement said, which did not show it; else somebody knows of it.
    pub is_set_aside: bool,
    /// Where it was acknowledged and is clearly larger now: of which size that was, and why.
    pub outgrown: Option<Outgrown>,
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

    /// Whether it is open, for the worse, and not the machine's alone.
    pub fn is_open_regression(&self) -> bool {
        self.is_open() && self.is_regression && self.cause != Cause::Machine
    }
}

/// The newest points of a series, far from the level before them: no change yet, and no reason to say nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Newest {
    /// Index of the series.
    pub series: usize,
    /// How many points: one or two.
    pub count: usize,
    /// How far from the level the nearest of them is, as a ratio: -0.5 is half of it.
    pub ratio: f64,
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
    /// What the last points may be, as the alerts that it would be. One that was measured again without showing
    /// is acknowledged; one that showed is an alert.
    pub suspects: Vec<Alert>,
    /// Newest points that are far from their level, of which nothing else is said.
    pub newest: Vec<Newest>,
    /// What makes the series doubtful: machines of one name.
    pub warnings: Vec<String>,
}

impl History {
    /// How many series nothing can be found in, as they have one point, in words; nothing where each has more.
    pub fn single(&self) -> Option<String> {
        let single = self.series.iter().filter(|own| own.points.len() < 2).count();
        let (who, them) = match (single, self.series.len()) {
            (0, _) => return None,
            (1, 1) => ("the only series has".to_owned(), "it"),
            (all, series) if all == series => (format!("all {all} series have"), "them"),
            (1, all) => (format!("1 of {all} series has"), "it"),
            (some, all) => (format!("{some} of {all} series have"), "them"),
        };
        Some(format!("{who} a single point: no change can be found in {them}"))
    }

    /// The last point before a change and the first after it; of a drift those between which it went on.
    pub fn ends(&self, moved: &Moved) -> (&Point, &Point) {
        let points = &self.series[moved.series].points;
        let Change { at, over, .. } = moved.change;
        (&points[at.saturating_sub(over)], &points[at])
    }

    /// What both are called, otherwise than all other points of their series.
    pub fn names_of_ends(&self, moved: &Moved) -> (String, String) {
        let labels = self.series[moved.series].labels();
        let Change { at, over, .. } = moved.change;
        (labels[at.saturating_sub(over)].clone(), labels[at].clone())
    }

    /// What changed at the place of an alert beside the revision, each with both values, as far as both points tell.
    pub fn beside(&self, alert: &Alert) -> Vec<String> {
        let Some(first) = alert.moved.first() else { return Vec::new() };
        let (before, after) = self.ends(first);
        if before.setting.is_empty() || after.setting.is_empty() {
            return Vec::new();
        }
        let names: BTreeSet<&String> = before.setting.keys().chain(after.setting.keys()).collect();
        let value = |point: &Point, name: &String| {
            point
                .setting
                .get(name)
                .map_or_else(|| "unset".to_owned(), |own| one_line(own).into_owned())
        };
        let both = names.into_iter().map(|name| (name, value(before, name), value(after, name)));
        let other = both.filter(|(_, before, after)| before != after);
        other
            .map(|(name, before, after)| format!("{}: {before} to {after}", one_line(name)))
            .collect()
    }

    /// The last point that is surely before a change, and the first that is surely after it.
    pub(super) fn stretch(&self, moved: &Moved) -> (&Point, &Point) {
        let points = &self.series[moved.series].points;
        let (first, last) = moved.change.range;
        (&points[first.saturating_sub(1)], &points[last.min(points.len() - 1)])
    }

    /// The points between which a change is measured again: the last that is surely before it, and one that is surely
    /// after it. Where a change is young its place is known badly: of those that were told on the first night 7 to 21 %
    /// had begun a point later, or two (docs/history.md), and two revisions without a change would be measured.
    pub fn sides(&self, moved: &Moved) -> (&Point, &Point) {
        let points = &self.series[moved.series].points;
        let Change { at, over, range: (first, last), .. } = moved.change;
        if over > 1 {
            return self.ends(moved);
        }
        let is_young = at + today::MOST_NEW >= points.len();
        let later = if is_young { last.max(at + YOUNG_OFF) } else { last };
        let all = &self.changes[moved.series];
        let next = all.iter().filter(|own| own.at > at).map(|own| own.at - own.over).min();
        let level = all.iter().filter(|own| own.at < at).map(|own| own.at).max();
        let before = first.min(at).saturating_sub(1).max(level.unwrap_or(0));
        let after = later.min(next.unwrap_or(points.len() - 1)).max(at);
        (&points[before], &points[after])
    }

    /// The order of two points of these series. One revision that was measured again and again is ordered by its days.
    pub(super) fn order(&self, one: (usize, &Point), other: (usize, &Point)) -> Option<Ordering> {
        let is_fixed =
            self.series[one.0].is_one_revision() || self.series[other.0].is_one_revision();
        if is_fixed && one.0 != other.0 {
            return Some(one.1.date.as_ref()?.cmp(other.1.date.as_ref()?));
        }
        order(one.1, other.1)
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
