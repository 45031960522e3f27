//! Counts of one interval of a trial.

use serde::{Deserialize, Serialize};

/// Counts of one interval of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Measured length, in milliseconds.
    pub ms: f64,
    /// Frames sent by the tester in it.
    pub tx: u64,
    /// Frames received by the tester in it.
    pub rx: u64,
    /// What the device spent on them; absent when it cannot say.
    #[serde(flatten)]
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

    /// Whether the device's processor was slow for too long.
    pub fn is_slow(&self) -> bool {
        self.slow_share.is_some_and(|share| share > Self::MOST_SLOW)
    }

    /// Frames sent per second.
    pub fn tx_pps(&self) -> f64 {
        self.tx as f64 * 1_000.0 / self.ms
    }

    /// Frames received per second: the forwarding rate of this interval.
    pub fn rx_pps(&self) -> f64 {
        self.rx as f64 * 1_000.0 / self.ms
    }

    /// Device cost in busy nanoseconds per frame; `None` when the device
    /// worked on no frame, or cannot say.
    pub fn cost_ns(&self) -> Option<f64> {
        self.busy?.cost_ns()
    }
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

impl Busy {
    /// Busy nanoseconds per frame; `None` without a frame.
    pub fn cost_ns(self) -> Option<f64> {
        (self.frames > 0).then(|| self.ns as f64 / self.frames as f64)
    }
}
