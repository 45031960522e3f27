//! Changes of one cause are one alert.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::found::{Alert, Cause, History, Moved, Options};
use crate::point::Point;
use crate::series::Series;
use crate::store::Acknowledged;

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
            // a machine may move on the day of a change of the software: they are two causes
            let (machine, software): (Vec<Moved>, Vec<Moved>) =
                moved.into_iter().partition(|own| self.is_of_machine(own, options));
            for (cause, moved) in [(Cause::Machine, machine), (Cause::Software, software)] {
                if !moved.is_empty() {
                    alerts.push(self.alert(cause, moved, acknowledged));
                }
            }
        }
        alerts.sort_by(|a, b| self.age(&a.moved[0], &b.moved[0]));
        alerts
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

    fn alert(&self, cause: Cause, moved: Vec<Moved>, acknowledged: &[Acknowledged]) -> Alert {
        let first = &moved[0];
        let (before, after) = self.ends(first);
        let own: BTreeSet<usize> = moved.iter().map(|m| m.series).collect();
        let spans = |(index, series): (usize, &Series)| {
            let at = |p: &Point, other: &Point, wanted: Ordering| {
                self.order((index, p), (first.series, other)) == Some(wanted)
            };
            series.points.iter().any(|p| at(p, after, Ordering::Less))
                && series.points.iter().any(|p| at(p, before, Ordering::Greater))
        };
        let all = self.series.iter().enumerate();
        let unmoved = all.filter(|(i, series)| !own.contains(i) && spans((*i, series)));
        let key = &self.series[first.series].key;
        let said = |is_confirmed: bool| {
            let is_it = |ack: &&Acknowledged| {
                (ack.is_confirmed == Some(true)) == is_confirmed
                    && moved.iter().any(|own| self.is_of(ack, own))
            };
            acknowledged.iter().find(is_it).map(|ack| ack.reason.clone())
        };
        Alert {
            id: id(&key.name(), &after.revision),
            cause,
            is_regression: (first.change.ratio > 0.0) == key.is_lower_better(),
            acknowledged: said(false),
            confirmed: said(true),
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
