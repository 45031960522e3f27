//! What is known of a change: what was said of its series and place, as long as it has the size of which that was said.

use super::found::{Alert, History, Moved};
use crate::point::Point;
use crate::store::{Acknowledged, Days, Size};

impl History {
    /// What somebody or a second measurement says of an alert as it is now, to be put into the store.
    pub fn acknowledgement(
        &self,
        alert: &Alert,
        reason: String,
        is_confirmed: Option<bool>,
    ) -> Acknowledged {
        let (before, after) = self.ends(&alert.moved[0]);
        let first = &self.series[alert.moved[0].series];
        let day = |point| first.day_of(point).map(str::to_owned);
        let days = Days { last_before: day(before), first_changed: day(after) };
        let name = |moved: &Moved| self.series[moved.series].key.name();
        let size = |moved: &Moved| Size {
            series: name(moved),
            percent: moved.change.ratio * 100.0,
            low: moved.change.low * 100.0,
            high: moved.change.high * 100.0,
        };
        Acknowledged {
            id: alert.id.clone(),
            reason,
            series: alert.moved.iter().map(name).collect(),
            sizes: alert.moved.iter().map(size).collect(),
            last_before: before.revision.clone(),
            first_changed: after.revision.clone(),
            days,
            is_confirmed,
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
        let Days { last_before, first_changed } = &ack.days;
        // of one revision on many days the days tell
        let is_day = |day: &Option<String>, point: &Point| {
            day.is_none() || series.day_of(point).is_none() || *day == point.date
        };
        if ack.first_changed == after.revision && is_day(first_changed, after)
            || ack.last_before == before.revision && is_day(last_before, before)
        {
            return true;
        }
        let (first, last) = moved.change.range;
        let last_before = series.place(&ack.last_before, last_before.as_deref());
        match (last_before, series.place(&ack.first_changed, first_changed.as_deref())) {
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

    /// The size of which something was said, where the change is clearly larger now, or goes the other way: its
    /// interval lies beyond that of then, and what lies between the two sizes matters.
    pub(super) fn outgrown<'a>(
        &self,
        ack: &'a Acknowledged,
        moved: &Moved,
        margin: f64,
    ) -> Option<&'a Size> {
        let name = self.series[moved.series].key.name();
        let then = ack.sizes.iter().find(|own| own.series == name)?;
        let now = &moved.change;
        // positive the way that the change goes now
        let way = now.ratio.signum();
        let size = |percent: f64| way * (percent / 100.0).ln_1p();
        let least = size(now.low * 100.0).min(size(now.high * 100.0));
        let most = size(then.low).max(size(then.high));
        let more = way * (now.ratio - then.percent / 100.0);
        (least > most && more >= margin).then_some(then)
    }
}

#[cfg(test)]
mod tests;
