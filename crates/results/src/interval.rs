//! Counts of one interval of a trial.

use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// Counts of one interval of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Measured length, in milliseconds.
    pub ms: f64,
    /// Frames sent by the tester in it; absent when nobody counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx: Option<u64>,
    /// Frames received by the tester in it.
    pub rx: u64,
    /// What the device spent on them; absent when it cannot say.
    #[serde(flatten, deserialize_with = "both_or_none")]
    pub busy: Option<Busy>,
    /// Share of it in which the device's processor computed slower than it can, 0 to 1, where that
    /// was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_share: Option<f64>,
    /// Median time of the arithmetic by which that was measured, in ns: it falls as the processor's
    /// clock rises.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beat_ns: Option<f64>,
}

impl Interval {
    /// From this share of slow time on an interval is left out of a trial's figures, if enough
    /// others remain. The rates of slow and fast time differ by up to a third, so that what stays in
    /// is off by 1 % at most.
    pub const MOST_SLOW: f64 = 0.04;

    /// Measured length.
    pub fn length(&self) -> Duration {
        Duration::try_from_secs_f64(self.ms / 1e3).unwrap_or_default()
    }

    /// Whether the device's processor was slow for too long.
    pub fn is_slow(&self) -> bool {
        self.slow_share.is_some_and(|share| share > Self::MOST_SLOW)
    }

    /// Intervals that hold fewer frames than this have no rate of their own that means anything: one
    /// frame more or less is 1 %, the usual margin.
    pub const FEW_FRAMES: f64 = 100.0;

    /// Frames received per second: the forwarding rate of this interval; 0 for one that did not last.
    pub fn rx_pps(&self) -> f64 {
        per_second(self.rx, self.ms)
    }

    /// Whether those of the intervals that hold `frames` at all hold only a few of them.
    pub fn are_sparse(intervals: &[Self], frames: fn(&Self) -> u64) -> bool {
        let busy = intervals.iter().map(|interval| frames(interval) as f64);
        median(&busy.filter(|frames| *frames > 0.0).collect::<Vec<_>>())
            .is_some_and(|frames| frames < Self::FEW_FRAMES)
    }

    /// The rate of `frames` in these intervals, in frames/s: the median of theirs, or where they are
    /// sparse, or most of them empty, that of all together. `None` without a frame.
    pub fn rate(intervals: &[Self], frames: fn(&Self) -> u64) -> Option<f64> {
        let rates: Vec<f64> = intervals.iter().map(|i| per_second(frames(i), i.ms)).collect();
        let middle = median(&rates)?;
        if middle > 0.0 && !Self::are_sparse(intervals, frames) {
            return Some(middle);
        }
        let sum = intervals.iter().map(frames).fold(0, u64::saturating_add);
        let rate = per_second(sum, intervals.iter().map(|interval| interval.ms).sum());
        (rate > 0.0).then_some(rate)
    }

    /// Device cost in busy nanoseconds per frame; `None` when the device
    /// worked on no frame, or cannot say.
    pub fn cost_ns(&self) -> Option<f64> {
        self.busy?.cost_ns()
    }
}

fn per_second(frames: u64, ms: f64) -> f64 {
    let rate = frames as f64 * 1_000.0 / ms;
    if rate.is_finite() && ms > 0.0 { rate } else { 0.0 }
}

/// The median; `None` without values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| fwdlab_stats::median(values))
}

/// Time that a device spent on work, and how much work it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Busy {
    /// Nanoseconds on polls that brought frames.
    #[serde(rename = "busy_ns")]
    pub ns: u64,
    /// Frames in those polls.
    #[serde(rename = "busy_frames")]
    pub frames: u64,
}

/// Both keys, or neither: left to itself, a flattened `Option` takes a number that it cannot read for one that is
/// not there.
pub(crate) fn both_or_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Busy>, D::Error> {
    #[derive(Deserialize)]
    struct Keys {
        busy_ns: Option<u64>,
        busy_frames: Option<u64>,
    }
    match Keys::deserialize(from)? {
        Keys { busy_ns: Some(ns), busy_frames: Some(frames) } => Ok(Some(Busy { ns, frames })),
        Keys { busy_ns: None, busy_frames: None } => Ok(None),
        Keys { busy_ns: None, .. } => Err(D::Error::missing_field("busy_ns")),
        Keys { busy_frames: None, .. } => Err(D::Error::missing_field("busy_frames")),
    }
}

impl Busy {
    /// Busy nanoseconds per frame; `None` without a frame.
    pub fn cost_ns(self) -> Option<f64> {
        (self.frames > 0).then(|| self.ns as f64 / self.frames as f64)
    }
}
