//! Throughput by plain binary search (RFC 2544, section 26.1).

use super::{Bounds, Limits, Standing, Step, Trial};

/// The highest load without loss: each load is tried once, a loss makes the search go down, no
/// loss up, until the bounds are as close as asked. Believes every single trial.
#[derive(Clone, Debug)]
pub struct BinarySearch {
    limits: Limits,
    width: f64,
    trial_s: f64,
    /// The largest load without loss.
    passed: Option<f64>,
    /// The smallest load with loss.
    failed: Option<f64>,
}

impl BinarySearch {
    /// A search to this width (relative to the upper bound) by trials of this length in s; RFC
    /// 2544, section 24, asks for at least 60 s at the end.
    pub fn new(limits: Limits, width: f64, trial_s: f64) -> Self {
        Self { limits, width, trial_s, passed: None, failed: None }
    }

    /// The next trial.
    pub fn next(&self) -> Step {
        let load = match (self.passed, self.failed) {
            (None, None) => self.limits.max_load,
            (Some(_), None) => return Step::Done,
            (None, Some(failed)) if failed <= self.limits.min_load => return Step::Done,
            (None, Some(failed)) => {
                let middle = ((self.limits.min_load + failed) / 2.0).round();
                if failed - self.limits.min_load <= 1.0 || middle >= failed {
                    self.limits.min_load
                } else {
                    middle
                }
            }
            (Some(passed), Some(failed)) => {
                let is_narrow = failed - passed <= (self.width * failed).max(1.0);
                if is_narrow {
                    return Step::Done;
                }
                ((passed + failed) / 2.0).round()
            }
        };
        Step::Measure { load, duration_s: self.trial_s }
    }

    /// Takes the result of a trial.
    pub fn record(&mut self, trial: Trial) {
        if trial.lost == 0 && trial.sent > 0 {
            self.passed = Some(self.passed.map_or(trial.load, |load| load.max(trial.load)));
        } else {
            self.failed = Some(self.failed.map_or(trial.load, |load| load.min(trial.load)));
        }
    }

    /// What is known so far.
    pub fn outcome(&self) -> Standing {
        match (self.next(), self.passed, self.failed) {
            (Step::Measure { .. }, ..) | (_, None, None) => Standing::Unfinished,
            (Step::Done, Some(passed), None) => Standing::AtMaxLoad(passed),
            (Step::Done, None, Some(_)) => Standing::BelowMinLoad,
            (Step::Done, Some(lower), Some(upper)) => {
                Standing::Regular(Bounds { lower, upper, conditional_throughput: lower })
            }
        }
    }
}
