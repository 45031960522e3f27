//! Changes of one cause are one alert.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::found::{Alert, Cause, History, Moved, Options};
use crate::point::Point;
use crate::series::Series;
use crate::store::Acknowledged;

/// What changes of one alert have in common, beside their place.
#[derive(PartialEq)]
struct Part<'a> {
    cause: Cause,
    is_regression: bool,
    /// Why somebody does not want to hear of them.
    acknowledged: Option<&'a str>,
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
                alerts.push(self.alert(part, moved, &own, acknowledged));
            }
        }
        alerts.sort_by(|a, b| self.age(&a.moved[0], &b.moved[0]));
        alerts
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
        for own in moved {
            let is_known =
                |ack: &&Acknowledged| ack.is_confirmed != Some(true) && self.is_of(ack, &own);
            let part = Part {
                cause: self.cause_of(&own, options),
                is_regression: own.change.ratio * self.series[own.series].gain() < 0.0,
                acknowledged: acknowledged.iter().find(is_known).map(|ack| ack.reason.as_str()),
            };
            match parts.iter_mut().find(|(other, _)| *other == part) {
                Some((_, all)) => all.push(own),
                None => parts.push((part, vec![own])),
            }
        }
        parts
    }

    /// Whether two changes can be one: the place of one lies where the other may have been.
    fn is_together(&self, one: &Moved, other: &Moved) -> bool {
        if one.series == other.series {
            return false;
        }
        let (before, after) = self.ends(one);
        let (left, right) = self.stretch(other);
        let is_less = |a, b| self.order(a, b) == Some(Ordering::Less);
        // the stretches (before, after] and (left, right] share a revision
        is_less((other.series, left), (one.series, after))
            && is_less((one.series, before), (other.series, right))
    }

    fn age(&self, one: &Moved, other: &Moved) -> Ordering {
        let (a, b) = (self.ends(one).1, self.ends(other).1);
        let by_order = self.order((one.series, a), (other.series, b));
        by_order.unwrap_or_else(|| a.date.cmp(&b.date))
    }

    /// The alert of a part of what moved at one place: `together` is all series that did.
    fn alert(
        &self,
        part: Part<'_>,
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
        let unmoved = all.filter(|(i, series)| !together.contains(i) && spans((*i, series)));
        let key = &self.series[first.series].key;
        let is_confirmed = |ack: &&Acknowledged| {
            ack.is_confirmed == Some(true) && moved.iter().any(|own| self.is_of(ack, own))
        };
        Alert {
            id: id(&key.name(), &after.revision),
            cause: part.cause,
            is_regression: part.is_regression,
            acknowledged: part.acknowledged.map(str::to_owned),
            confirmed: acknowledged.iter().find(is_confirmed).map(|ack| ack.reason.clone()),
            unmoved: unmoved.map(|(index, _)| index).collect(),
            moved,
        }
    }

    /// Whether something that was said is about a change: of its series, and where it may have been. The place may
    /// have shifted by the points that came since.
    pub(super) fn is_of(&self, ack: &Acknowledged, moved: &Moved) -> bool {
        let series = &self.series[moved.series];
        if !ack.series.contains(&series.key.name()) {
            return false;
        }
        let (before, after) = self.ends(moved);
        if ack.first_changed == after.revision || ack.last_before == before.revision {
            return true;
        }
        let place = |revision: &str| series.points.iter().position(|p| p.revision == revision);
        let (first, last) = moved.change.range;
        match (place(&ack.last_before), place(&ack.first_changed)) {
            // the stretches (last_before, first_changed] and (first - 1, last] share a point
            (Some(last_before), Some(first_changed)) => {
                last_before < last && first <= first_changed
            }
            _ => {
                let (left, right) = self.stretch(moved);
                ack.overlaps(&left.revision, &right.revision)
            }
        }
    }
}

/// Eight hexadecimal digits of what an alert is about.
fn id(series: &str, revision: &str) -> String {
    let mut digits = fwdlab_guard::digest::of(format!("{series}\n{revision}").as_bytes());
    digits.truncate(8);
    digits
}
