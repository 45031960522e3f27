//! What was counted of the frames of one way, where they went both ways at once.

use serde::{Deserialize, Serialize};

use crate::{Checks, Interval, LatencyFigures, Trial};

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

    /// Frames received a second in the steady intervals of its trial; `None` without any.
    pub fn rate_pps(&self, trial: &Trial) -> Option<f64> {
        let intervals = &trial.measured.intervals;
        let own = |at: usize| -> Option<Interval> {
            Some(Interval { rx: *self.rx.get(at)?, ..*intervals.get(at)? })
        };
        let steady = trial.steady.as_ref()?;
        let window = steady.first..steady.first.saturating_add(steady.count);
        let kept = window.filter(|at| !steady.skipped.contains(at));
        let own: Vec<Interval> = kept.map_while(own).collect();
        Interval::rate(&own, |interval| interval.rx)
    }

    /// Share of the frames sent that never came, 0 to 1.
    pub fn loss_ratio(&self) -> f64 {
        self.checks.lost as f64 / self.sent.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Steady;

    #[test]
    fn the_rate_of_a_way_is_that_of_the_steady_intervals_of_its_trial() {
        let mut trial = crate::samples::trial(0);
        let interval = |rx| Interval { ms: 1.0, rx, ..Interval::default() };
        trial.measured.intervals = [5, 2000, 2000, 9000, 2000, 3].map(interval).to_vec();
        trial.steady = Some(Steady {
            first: 1,
            count: 4,
            trimmed_head: 1,
            trimmed_tail: 1,
            skipped: vec![3],
            why: String::new(),
        });
        let way = |rx: &[u64]| Way { rx: rx.to_vec(), sent: 1000, ..Way::default() };
        assert_eq!(way(&[5, 700, 701, 9, 702, 3]).rate_pps(&trial), Some(701_000.0));
        // A journal of a stranger may hold fewer, or a window beyond the end.
        assert_eq!(way(&[5, 700]).rate_pps(&trial), Some(700_000.0));
        assert_eq!(way(&[]).rate_pps(&trial), None);
        trial.steady.as_mut().unwrap().first = usize::MAX;
        assert_eq!(way(&[5, 700]).rate_pps(&trial), None);
        trial.steady = None;
        assert_eq!(way(&[5, 700]).rate_pps(&trial), None);
        let lossy = Way { checks: Checks { lost: 10, ..Checks::default() }, ..way(&[]) };
        assert_eq!(lossy.loss_ratio(), 0.01);
        assert_eq!(Way::default().loss_ratio(), 0.0);
    }
}
