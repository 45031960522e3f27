//! What is raised when a series is looked at each night.

use fwdlab_stats::change::{self, Settings, today};

use super::noise::Simulated;

/// How far from the truth a change may be and count as found, in points.
pub(super) const NEAR: usize = 3;

/// Size of the steps.
pub(super) const STEP: f64 = 0.03;

/// What spoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// The last points alone.
    LastPoints,
    /// A look back, by a level of so few points that it is asked more of.
    NewLevel,
    /// A look back otherwise.
    LookBack,
}

impl By {
    pub(super) const ALL: [Self; 3] = [Self::LastPoints, Self::NewLevel, Self::LookBack];
}

/// Something that was first reported on a night.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raised {
    pub night: usize,
    pub by: By,
}

/// What was first reported on each night, by a look back or by the last points alone; what is near an earlier one
/// is the same. The last `window` points are looked at.
pub(super) fn nightly(own: &Simulated, has_look_back: bool, window: usize) -> Vec<Raised> {
    let settings = Settings::default();
    let mut known: Vec<usize> = Vec::new();
    let mut raised = Vec::new();
    for night in 1..own.values.len() {
        let oldest = (night + 1).saturating_sub(window);
        let so_far = &own.values[oldest..=night];
        let mut places: Vec<(usize, By)> = Vec::new();
        let mut start = known.last().map_or(0, |last| last.saturating_sub(oldest));
        if has_look_back {
            let found = change::changes(so_far, own.noise, &settings);
            start = found.last().map_or(0, |last| last.at);
            places.extend(found.iter().map(|change| {
                let is_new = so_far.len() - change.at <= today::MOST_NEW;
                (change.at, if is_new { By::NewLevel } else { By::LookBack })
            }));
        }
        let alarm = today::alarm(&so_far[start..], own.noise, &settings, today::BOUND);
        places.extend(alarm.map(|alarm| (start + alarm.began, By::LastPoints)));
        for (place, by) in places.into_iter().map(|(place, by)| (oldest + place, by)) {
            if !known.iter().any(|k| k.abs_diff(place) <= NEAR) {
                raised.push(Raised { night, by });
                known.push(place);
            }
        }
    }
    raised
}
