//! Changes of one cause are one alert.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use fwdlab_netbenches::revision::Revision;
use fwdlab_stats::change::Change;

use super::found::{Alert, Cause, History, Moved, Options, Outgrown};
use crate::point::Point;
use crate::series::Series;
use crate::store::Acknowledged;

/// What changes of one alert have in common, beside their place.
#[derive(PartialEq)]
struct Part<'a> {
    cause: Cause,
    is_regression: bool,
    /// What was said of them last, if that holds for their size.
    acknowledged: Option<&'a Acknowledged>,
    /// What somebody said of them when they were clearly smaller.
    outgrown: Option<&'a Acknowledged>,
    /// Whether a second measurement showed them.
    is_confirmed: bool,
}

impl History {
    /// The alerts of some changes, the oldest first.
    pub(super) fn alerts_of(
        &self,
        mut open: Vec<Moved>,
        acknowledged: &[Acknowledged],
        options: &Options,
    ) -> Vec<Alert> {
        // the clearest change names the place; what may have moved there belongs to it
        open.sort_by(|a, b| a.change.p.total_cmp(&b.change.p).then(a.series.cmp(&b.series)));
        let mut alerts = Vec::new();
        while !open.is_empty() {
            let first = open.remove(0);
            let (mut moved, rest): (Vec<Moved>, Vec<Moved>) =
                open.into_iter().partition(|other| self.is_together(&first, other));
            open = rest;
            moved.insert(0, first);
            let own = moved.iter().map(|moved| moved.series).collect();
            for (part, moved) in self.parts(moved, acknowledged, options) {
                alerts.push(self.alert(&part, moved, &own, acknowledged));
            }
        }
        self.sorted(alerts)
    }

    /// Changes at one place, apart where they say different things. A machine may move on the day of a change of the
    /// software; what one series gains is no answer to what another loses; and what is known of one series is
    /// not known of another.
    fn parts<'a>(
        &self,
        moved: Vec<Moved>,
        acknowledged: &'a [Acknowledged],
        options: &Options,
    ) -> Vec<(Part<'a>, Vec<Moved>)> {
        let mut parts: Vec<(Part<'_>, Vec<Moved>)> = Vec::new();
        let margin = options.settings.margin;
        for own in moved {
            let (confirmed, known): (Vec<&Acknowledged>, Vec<&Acknowledged>) = acknowledged
                .iter()
                .filter(|ack| self.is_of(ack, &own))
                .partition(|ack| ack.is_confirmed == Some(true));
            let is_small = |ack: &&&Acknowledged| self.outgrown(ack, &own, margin).is_none();
            // what was said last
            let acknowledged = known.iter().rfind(is_small).copied();
            let part = Part {
                cause: self.cause_of(&own, options),
                is_regression: own.change.ratio * self.series[own.series].gain() < 0.0,
                outgrown: known.last().copied().filter(|_| acknowledged.is_none()),
                acknowledged,
                is_confirmed: !confirmed.is_empty(),
            };
            match parts.iter_mut().find(|(other, _)| *other == part) {
                Some((_, all)) => all.push(own),
                None => parts.push((part, vec![own])),
            }
        }
        parts
    }

    /// Whether two changes can be one: the place of one lies where the other may have been. What goes on over many
    /// revisions is none that happened at one of them.
    fn is_together(&self, one: &Moved, other: &Moved) -> bool {
        one.series != other.series
            && one.change.is_drift() == other.change.is_drift()
            && self.is_near(one, other)
    }

    /// Whether a series changed where another did, as one or not.
    fn moves_beside(&self, series: usize, other: &Moved) -> bool {
        let own = |&change: &Change| Moved { series, change, undone_at: None, evidence: None };
        self.changes[series].iter().map(own).any(|own| self.is_near(other, &own))
    }

    /// Whether the place of one lies where the other may have been.
    fn is_near(&self, one: &Moved, other: &Moved) -> bool {
        let (before, after) = self.ends(one);
        let (left, right) = self.stretch(other);
        let is_less = |a, b| self.order(a, b) == Some(Ordering::Less);
        // the stretches (before, after] and (left, right] share a revision
        is_less((other.series, left), (one.series, after))
            && is_less((one.series, before), (other.series, right))
    }

    /// The alerts from the oldest on: by their revisions where all have an order, else by their days. Pair by pair
    /// there is none: the days of two revisions may go backwards, and a third may have its day alone.
    fn sorted(&self, alerts: Vec<Alert>) -> Vec<Alert> {
        let read = |alert: Alert| {
            let after = self.ends(&alert.moved[0]).1;
            let is_fixed = self.series[alert.moved[0].series].is_one_revision();
            let revision = after.read_revision().filter(|_| !is_fixed);
            (revision, after.date.clone(), alert)
        };
        let mut read: Vec<(Option<Revision>, Option<String>, Alert)> =
            alerts.into_iter().map(read).collect();
        let order = |one: &Option<Revision>, other: &Option<Revision>| {
            one.as_ref().zip(other.as_ref()).and_then(|(one, other)| one.order(other))
        };
        let by_revision = read.windows(2).all(|two| order(&two[0].0, &two[1].0).is_some());
        read.sort_by(|(own, day, alert), (other, its_day, its)| {
            let number = order(own, other).filter(|_| by_revision).unwrap_or(Ordering::Equal);
            number.then_with(|| day.cmp(its_day)).then_with(|| alert.id.cmp(&its.id))
        });
        read.into_iter().map(|(_, _, alert)| alert).collect()
    }

    /// The alert of a part of what moved at one place: `together` is all series that did.
    fn alert(
        &self,
        part: &Part<'_>,
        moved: Vec<Moved>,
        together: &BTreeSet<usize>,
        acknowledged: &[Acknowledged],
    ) -> Alert {
        let first = &moved[0];
        let (before, after) = self.ends(first);
        let spans = |(index, series): (usize, &Series)| {
            let at = |p: &Point, other: &Point, wanted: Ordering| {
                self.order((index, p), (first.series, other)) == Some(wanted)
            };
            series.points.iter().any(|p| at(p, after, Ordering::Less))
                && series.points.iter().any(|p| at(p, before, Ordering::Greater))
        };
        let all = self.series.iter().enumerate();
        let has_moved = |i: &usize| together.contains(i) || self.moves_beside(*i, first);
        let unmoved = all.filter(|(i, series)| !has_moved(i) && spans((*i, series)));
        let name = |own: &Moved| self.series[own.series].key.name();
        // which of them is the clearest is another from night to night
        let named = moved.iter().min_by_key(|own| name(own)).unwrap_or(first);
        let is_confirmed = |ack: &&Acknowledged| {
            ack.is_confirmed == Some(true) && moved.iter().any(|own| self.is_of(ack, own))
        };
        Alert {
            id: self.id(named.series, self.ends(named).1),
            cause: part.cause,
            is_regression: part.is_regression,
            acknowledged: part.acknowledged.map(|ack| ack.reason.clone()),
            is_set_aside: part.acknowledged.is_some_and(|ack| ack.is_confirmed.is_some()),
            outgrown: part.outgrown.and_then(|ack| outgrown(ack, &name(first))),
            confirmed: acknowledged.iter().find(is_confirmed).map(|ack| ack.reason.clone()),
            unmoved: unmoved.map(|(index, _)| index).collect(),
            moved,
        }
    }

    /// The alert or suspicion of this id. It answers to those as well that it had, or has alone, by each of its series
    /// and each place where that may have moved.
    pub fn called(&self, asked: &str) -> Option<&Alert> {
        let all = || self.alerts.iter().chain(&self.suspects);
        let has_had =
            |alert: &&Alert| alert.moved.iter().any(|own| self.ids(own).any(|id| id == asked));
        all().find(|alert| alert.id == asked).or_else(|| all().find(has_had))
    }

    fn ids(&self, moved: &Moved) -> impl Iterator<Item = String> {
        let Change { at, range: (first, last), .. } = moved.change;
        let points = &self.series[moved.series].points;
        let places = points.iter().take(last.max(at) + 1).skip(first.min(at));
        places.map(|point| self.id(moved.series, point))
    }

    /// Eight hexadecimal digits of a series and a point.
    fn id(&self, series: usize, point: &Point) -> String {
        let own = &self.series[series];
        let day = own.day_of(point).map_or_else(String::new, |day| format!("\n{day}"));
        let text = format!("{}\n{}{day}", own.key.name(), point.revision);
        let mut digits = fwdlab_guard::digest::of(text.as_bytes());
        digits.truncate(8);
        digits
    }
}

/// Of which size a series was when something was said of it.
fn outgrown(ack: &Acknowledged, series: &str) -> Option<Outgrown> {
    let size = ack.sizes.iter().find(|own| own.series == series)?.clone();
    let is_set_aside = ack.is_confirmed.is_some();
    Some(Outgrown { size, reason: ack.reason.clone(), is_set_aside })
}
