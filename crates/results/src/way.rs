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

    /// What came of each way in some trials, in per cent of all, to a tenth: together 100. `None` where nothing came.
    pub fn shares<'a>(trials: impl Iterator<Item = &'a [Self]> + Clone) -> [Option<f64>; 2] {
        let of = |at: usize| {
            let own = trials.clone().filter_map(|ways| ways.get(at));
            own.map(|way| way.received).fold(0, u64::saturating_add)
        };
        let (ahead, back) = (of(0), of(1));
        let all = ahead as f64 + back as f64;
        let shown = (all > 0.0).then(|| (ahead as f64 / all * 1e3).round() / 10.0);
        [shown, shown.map(|own| 100.0 - own)]
    }

    /// Share of the frames sent that never came, 0 to 1.
    pub fn loss_ratio(&self) -> f64 {
        self.checks.lost as f64 / self.sent.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Medians of 60.0 and 39.3 % stood there, of one trial each.
    #[test]
    fn the_shares_of_both_ways_are_all_that_was_received() {
        let trial = |ahead, back| [ahead, back].map(|received| Way { received, ..Way::default() });
        let of = |trials: &[[Way; 2]]| Way::shares(trials.iter().map(|ways| &ways[..]));
        let mixed = [trial(600, 400), trial(100, 900), trial(607, 393)];
        let [ahead, back] = of(&mixed).map(|own| own.expect("frames came"));
        assert!((ahead - 43.6).abs() < 1e-9 && (back - 56.4).abs() < 1e-9, "{ahead} {back}");
        // Neither is rounded up beside the other.
        let [ahead, back] = of(&[trial(3, 13)]).map(|own| own.expect("frames came"));
        assert_eq!(format!("{ahead:.1} {back:.1}"), "18.8 81.2");
        assert_eq!(of(&[trial(0, 0)]), [None, None]);
    }
}
