//! What became of changes of routes that were made while frames flowed.

use serde::{Deserialize, Serialize};

/// Changes of routes during one trial, and when packets met them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Churned {
    /// Changes a second that were asked for; absent where a list says when each is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_per_s: Option<f64>,
    /// Changes made.
    pub changes: u64,
    /// Time from the first to the end, ns.
    pub ns: u64,
    /// Changes that the table refused.
    pub refused: u64,
    /// Changes that packets met before the end.
    pub visible: u64,
    /// From the moment at which the table was given a change until packets met it, ns: the median.
    pub visible_p50_ns: u64,
    /// The same, 99 %.
    pub visible_p99_ns: u64,
    /// The same, the longest.
    pub visible_max_ns: u64,
    /// How often the route of the measured frames got another next hop; such changes are among the
    /// others.
    pub switches: u64,
    /// Measured frames that went to the old next hop after such a change was given to the table.
    pub stale_frames: u64,
    /// How often a lookup structure was built from all routes.
    pub builds: u64,
}

impl Churned {
    /// Changes made a second.
    pub fn per_s(&self) -> f64 {
        self.changes as f64 * 1e9 / self.ns.max(1) as f64
    }
}
