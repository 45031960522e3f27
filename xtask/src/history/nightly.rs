//! What is raised when a series is looked at each night.

use fwdlab_stats::change::{self, Settings, today};

use super::noise::Simulated;

/// How far from the truth a change may be and count as found, in points.
pub(super) const NEAR: usize = 3;

/// Size of the steps.
pub(super) const STEP: f64 = 0.03;

/// The nights on which something was first reported, by a look back or by the last points alone; what
/// is near an earlier one is the same. The last `window` points are looked at.
pub(super) fn nightly(own: &Simulated, has_look_back: bool, window: usize) -> Vec<usize> {
    let settings = Settings::default();
    let mut known: Vec<usize> = Vec::new();
    let mut raised = Vec::new();
    for tonight in 1..own.values.len() {
        let oldest = (tonight + 1).saturating_sub(window);
        let so_far = &own.values[oldest..=tonight];
        let mut places: Vec<usize> = Vec::new();
        let mut start = known.last().map_or(0, |last| last.saturating_sub(oldest));
        if has_look_back {
            let found = change::changes(so_far, own.noise, &settings);
            start = found.last().map_or(0, |last| last.at);
            places.extend(found.iter().map(|change| change.at));
        }
        let alarm = today::alarm(&so_far[start..], own.noise, &settings, today::BOUND);
        places.extend(alarm.map(|alarm| start + alarm.began));
        for place in places.into_iter().map(|place| oldest + place) {
            if !known.iter().any(|k| k.abs_diff(place) <= NEAR) {
                raised.push(tonight);
                known.push(place);
            }
        }
    }
    raised
}
