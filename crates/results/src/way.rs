//! What was counted of the frames of one way, where they went both ways at once.

use serde::{Deserialize, Serialize};

use crate::LatencyFigures;
use crate::checks::Checks;

/// Frames of one way: the sums of both stand in [`Measured`](crate::Measured).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Way {
    /// Frames sent in each interval of the trial.
    pub tx: Vec<u64>,
    /// Frames received in each.
    pub rx: Vec<u64>,
    /// Frames sent over the whole trial.
    pub sent: u64,
    /// Frames received over the whole trial.
    pub received: u64,
    /// Frames that the device received of this way, by the counter of the port where they came in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_received: Option<u64>,
    /// Frames that the device sent this way, by the counter of the port where they left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_sent: Option<u64>,
    /// What the receiver found.
    pub checks: Checks,
    /// How long frames took, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyFigures>,
}

impl Way {
    /// What the ways of a trial are called, in their order.
    pub const NAMES: [&'static str; 2] = ["to the destinations", "to the sources"];

    /// Share of the frames sent that never came, 0 to 1.
    pub fn loss_ratio(&self) -> f64 {
        self.checks.lost as f64 / self.sent.max(1) as f64
    }
}
