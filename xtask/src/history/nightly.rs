//! What is raised when a series is looked at each night.

use fwdlab_stats::change::{self, Settings, today};

use super::noise::{self, Kind, POINTS, Simulated};

/// How far from the truth a change may be and count as found, in points.
pub(super) const NEAR: usize = 3;

/// False changes in 1,000 points without one, at most.
pub(super) const MOST_FALSE: f64 = 1.0;

/// Size of the steps.
pub(super) const STEP: f64 = 0.03;

/// A series with a step, and where that is.
pub(super) fn stepped(kind: Kind, seed: u64) -> (usize, Simulated) {
    let at = 28 + (seed as usize * 7) % 20;
    let step = if seed.is_multiple_of(2) { 1.0 - STEP } else { 1.0 / (1.0 - STEP) };
    (at, noise::series(kind, Some((at, step)), seed + 1_000_000, POINTS))
}

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

/// What is seen on a night, whatever the evidence has to be.
pub(super) struct Night {
    /// The changes of a look back.
    found: Vec<(usize, By)>,
    /// What the last points say, where they say anything.
    alarm: Option<(usize, f64)>,
}

/// What a look back and the last points say on each night from the second on. The last `window` points are looked at.
pub(super) fn nights(own: &Simulated, window: usize) -> Vec<Night> {
    let settings = Settings::default();
    let seen = |night: usize| {
        let oldest = (night + 1).saturating_sub(window);
        let so_far = &own.values[oldest..=night];
        let changes = change::changes(so_far, own.noise, &settings);
        let found = changes.iter().map(|change| {
            let is_new = so_far.len() - change.at <= today::MOST_NEW;
            (oldest + change.at, if is_new { By::NewLevel } else { By::LookBack })
        });
        let start = changes.last().map_or(0, |last| last.at);
        let alarm = today::alarm(&so_far[start..], own.noise, &settings, 0.0);
        let alarm = alarm.map(|alarm| (oldest + start + alarm.began, alarm.evidence));
        Night { found: found.collect(), alarm }
    };
    (1..own.values.len()).map(seen).collect()
}

/// What is first reported on each night when the evidence of the last points has to reach `bound`; what is near an
/// earlier one is the same.
pub(super) fn raised(nights: &[Night], bound: f64) -> Vec<Raised> {
    let mut known: Vec<usize> = Vec::new();
    let mut raised = Vec::new();
    for (night, own) in (1..).zip(nights) {
        let alarm = own.alarm.filter(|(_, evidence)| *evidence >= bound);
        let alarm = alarm.map(|(began, _)| (began, By::LastPoints));
        for (place, by) in own.found.iter().copied().chain(alarm) {
            if !known.iter().any(|k| k.abs_diff(place) <= NEAR) {
                raised.push(Raised { night, by });
                known.push(place);
            }
        }
    }
    raised
}

/// What `fwdlab history` reports on each night.
pub(super) fn nightly(own: &Simulated, window: usize) -> Vec<Raised> {
    raised(&nights(own, window), today::BOUND)
}

/// Nights on which the last points alone raise something; after each the history begins anew where that began.
pub(super) fn last_points(own: &Simulated) -> Vec<usize> {
    let settings = Settings::default();
    let mut known: Vec<usize> = Vec::new();
    let mut raised = Vec::new();
    for night in 1..own.values.len() {
        let start = known.last().copied().unwrap_or(0);
        let alarm = today::alarm(&own.values[start..=night], own.noise, &settings, today::BOUND);
        let place = alarm.map(|alarm| start + alarm.began);
        if let Some(place) = place.filter(|own| !known.iter().any(|k| k.abs_diff(*own) <= NEAR)) {
            raised.push(night);
            known.push(place);
        }
    }
    raised
}
