//! Whether the machine moved, or the software: what a control did at the place of a change.

use std::cmp::Ordering;

use fwdlab_stats::change;

use super::found::{History, Moved, Options};
use crate::series::Series;

/// The p at which a control is taken to have moved. The place is given, so nothing was searched for.
const ALPHA: f64 = 0.005;
/// The share of a change that its control has to show for the machine to be what moved.
const SHARE: f64 = 0.5;
/// Points of a control on either side that are looked at: those near say most of that day.
const NEAR: usize = 15;

impl History {
    /// Whether a change is the machine's: of a control itself, of one revision that was measured twice, or shown
    /// by a control of the same machine, the same way and at least by half.
    pub(super) fn is_of_machine(&self, moved: &Moved, options: &Options) -> bool {
        let (before, after) = self.ends(moved);
        if let (Some(a), Some(b)) = (before.read_revision(), after.read_revision())
            && a.is_same(&b)
        {
            return true;
        }
        let Some(control) = options.control.as_deref() else { return false };
        let is_control = |series: &Series| series.key.name().contains(control);
        let own = &self.series[moved.series];
        if is_control(own) {
            return true;
        }
        let controls: Vec<usize> = (0..self.series.len())
            .filter(|&i| {
                is_control(&self.series[i]) && self.series[i].key.machine == own.key.machine
            })
            .collect();
        let size = moved.change.ratio.ln_1p() * own.gain();
        let alpha = ALPHA / controls.len().max(1) as f64;
        controls.into_iter().any(|control| {
            self.step_of(control, moved, options).is_some_and(|step| {
                let its = step.ratio.ln_1p() * self.series[control].gain();
                step.p <= alpha && its * size.signum() >= SHARE * size.abs()
            })
        })
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
            match order(at) {
                _ if is_outside => {}
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
