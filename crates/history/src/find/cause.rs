//! Whether the machine moved, or the software: what a control did at the place of a change.

use std::cmp::Ordering;

use fwdlab_stats::change;

use super::found::{Cause, History, Moved, Options};
use crate::series::Series;

/// The p at which a control is taken to have moved. The place is given, so nothing was searched for.
const ALPHA: f64 = 0.005;
/// The share of a change that its control has to show for the machine to be what moved.
const SHARE: f64 = 0.5;
/// The most that a series moves where its control moves by 1: a machine moves each by 0.8 to 1.2 times as much.
const MOST: f64 = 1.2 / 0.8;
/// Points of a control on either side that are looked at: those near say most of that day.
const NEAR: usize = 15;

impl History {
    /// Whose a change is. It is the machine's when it is of a control itself, of one revision that was measured twice,
    /// or shown by a control of the same machine, the same way and at least by half; in part when it is clearly
    /// larger than that control and a machine explain.
    pub(super) fn cause_of(&self, moved: &Moved, options: &Options) -> Cause {
        let (before, after) = self.ends(moved);
        if let (Some(a), Some(b)) = (before.read_revision(), after.read_revision())
            && a.is_same(&b)
        {
            return Cause::Machine;
        }
        let Some(control) = options.control.as_deref() else { return Cause::Software };
        let is_control = |series: &Series| series.key.name().contains(control);
        let own = &self.series[moved.series];
        if is_control(own) {
            return Cause::Machine;
        }
        let controls: Vec<usize> = (0..self.series.len())
            .filter(|&i| {
                is_control(&self.series[i]) && self.series[i].key.machine == own.key.machine
            })
            .collect();
        // sizes are logarithms, positive the way that the series moved
        let way = (moved.change.ratio * own.gain()).signum();
        let size = |series: &Series, ratio: f64| ratio.ln_1p() * series.gain() * way;
        let ends = [moved.change.low, moved.change.high].map(|ratio| size(own, ratio));
        let least = ends[0].min(ends[1]);
        let alpha = ALPHA / controls.len().max(1) as f64;
        let explained = controls.into_iter().filter_map(|control| {
            let step = self.step_of(control, moved, options)?;
            let series = &self.series[control];
            let is_shown = size(series, step.ratio) >= SHARE * size(own, moved.change.ratio);
            let most = size(series, step.low).max(size(series, step.high)) * MOST;
            let cause = if least > most { Cause::Both } else { Cause::Machine };
            (step.p <= alpha && is_shown).then_some(cause)
        });
        let explained: Vec<Cause> = explained.collect();
        match explained.first() {
            None => Cause::Software,
            Some(_) if explained.contains(&Cause::Machine) => Cause::Machine,
            Some(_) => Cause::Both,
        }
    }

    /// How a control moved where `moved` did: its points between the changes before and after that one.
    fn step_of(&self, control: usize, moved: &Moved, options: &Options) -> Option<change::Change> {
        let points = &self.series[moved.series].points;
        let all = &self.changes[moved.series];
        let at = moved.change.at;
        let start = all.iter().map(|own| own.at).filter(|own| *own < at).max().unwrap_or(0);
        let end = all.iter().map(|own| own.at).find(|own| *own > at).unwrap_or(points.len());
        let series = &self.series[control];
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for point in &series.points {
            let order = |at: usize| self.order((control, point), (moved.series, &points[at]));
            let is_outside =
                order(start) == Some(Ordering::Less) || order(end - 1) == Some(Ordering::Greater);
            // a drift has points that are of neither level
            let is_between = moved.change.is_drift()
                && order(at - moved.change.over) == Some(Ordering::Greater)
                && order(at) == Some(Ordering::Less);
            match order(at) {
                _ if is_outside || is_between => {}
                Some(Ordering::Less) => before.push(point.median()),
                Some(_) => after.push(point.median()),
                None => return None,
            }
        }
        let before = &before[before.len().saturating_sub(NEAR)..];
        after.truncate(NEAR);
        let values = [before, &after].concat();
        change::at(&values, before.len(), series.noise(), &options.settings)
    }
}
