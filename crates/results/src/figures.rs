//! Figures that a tester takes itself: rates that are searched for, and latency.

use serde::{Deserialize, Serialize};

/// A search for the highest load that meets a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateSearch {
    /// What the device forwarded of all that the tester could send, in frames/s.
    pub mrr_pps: f64,
    /// The largest load that met the goal, in frames/s.
    pub lower_pps: f64,
    /// The smallest load that did not, in frames/s.
    pub upper_pps: f64,
    /// Every load that was tried, in order.
    pub trials: Vec<SearchTrial>,
}

/// One load that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchTrial {
    /// The load, in frames/s.
    pub load_pps: f64,
    /// For how long, in milliseconds.
    pub ms: f64,
    /// Frames sent.
    pub sent: u64,
    /// Frames that were due and did not come back, those included that could not be sent.
    pub lost: u64,
    /// Frames that were still to be sent, or to come back, when the load ended: what buffers held.
    #[serde(default, skip_serializing_if = "crate::checks::is_none")]
    pub waited: u64,
}

impl RateSearch {
    /// From this share of the frames on, what buffers held is said.
    const MUCH: f64 = 0.02;

    /// A load that lasts too short a time tells a device that bears it from one whose buffers do not fill only so far.
    pub fn doubt(&self) -> Option<String> {
        let is_found = |own: &&SearchTrial| (own.load_pps / self.lower_pps - 1.0).abs() < 1e-9;
        let of = |own: &SearchTrial| own.waited as f64 / own.sent.max(1) as f64;
        let last = self.trials.iter().rfind(is_found)?;
        let share = self.trials.iter().filter(is_found).map(of).fold(0.0, f64::max);
        (share >= Self::MUCH).then(|| {
            format!(
                "the rate that was searched for may be up to {:.0} % too high: each load lasted {:.0} ms, and when it \
                 ended so many of its frames still waited in buffers, which a longer load would have filled; make \
                 duration longer",
                share * 100.0,
                last.ms
            )
        })
    }
}

/// Latency at a share of the rate that was searched for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyAt {
    /// The share of the rate that was offered, 0 to 1.
    pub share: f64,
    /// What was measured there.
    #[serde(flatten)]
    pub figures: LatencyFigures,
}

/// How long frames took from the tester through the device and back, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyFigures {
    /// Frames with a time stamp.
    pub frames: u64,
    /// The shortest.
    pub minimum_ns: u64,
    /// Half the frames took no longer.
    pub median_ns: u64,
    /// 99 of 100.
    pub p99_ns: u64,
    /// 999 of 1,000.
    pub p99_9_ns: u64,
    /// 9,999 of 10,000.
    pub p99_99_ns: u64,
    /// The longest.
    pub maximum_ns: u64,
}

/// Which time stamps a latency was taken by, where not every frame had one. A stamp that did not come says
/// nothing about its frame: it is never a loss.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StampFigures {
    /// Whose stamps: `kernel` or `card`.
    pub by: String,
    /// Why these.
    pub why: String,
    /// Frames of the sample that were sent to be stamped.
    pub probes: u64,
    /// Those with a stamp on both sides.
    pub stamped: u64,
    /// Those that would have arrived before they left: a clock was set.
    pub backwards: u64,
    /// What the same stamps say over a cable, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<LatencyFigures>,
}
