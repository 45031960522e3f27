//! What a load must achieve, and how its trials are judged.

use super::Trial;

/// A search goal of MLRsearch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// A trial with at most this loss ratio is a low-loss trial.
    pub loss_ratio: f64,
    /// The share of the time at a load that high-loss trials may take, 0 to below 1. With 0.5 the
    /// better half decides, so that a rare disturbance does not.
    pub exceed_ratio: f64,
    /// The largest distance of the bounds, relative to the upper one.
    pub width: f64,
    /// Length of the first, coarse trials in s.
    pub initial_trial_s: f64,
    /// Length of the trials that count fully, in s.
    pub final_trial_s: f64,
    /// How long a load must be measured until it is decided, in s.
    pub duration_sum_s: f64,
}

/// What the trials at a load say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadClass {
    /// It meets the goal.
    Lower,
    /// It does not.
    Upper,
    /// More trials could turn it either way.
    Undecided,
}

impl Goal {
    /// Non-drop rate: no loss, width 0.5 %, trials of 0.1 to 1 s, 5 s a load, the better half
    /// decides.
    pub fn ndr() -> Self {
        Self {
            loss_ratio: 0.0,
            exceed_ratio: 0.5,
            width: 0.005,
            initial_trial_s: 0.1,
            final_trial_s: 1.0,
            duration_sum_s: 5.0,
        }
    }

    /// Partial drop rate: as [`ndr`](Self::ndr), but 0.5 % of the frames may be lost.
    pub fn pdr() -> Self {
        Self { loss_ratio: 0.005, ..Self::ndr() }
    }

    /// Throughput as RFC 2544 defines it, in MLRsearch's terms: no loss in one trial of 60 s.
    pub fn rfc2544() -> Self {
        Self { exceed_ratio: 0.0, final_trial_s: 60.0, duration_sum_s: 60.0, ..Self::ndr() }
    }

    /// Classifies a load from its trials, by the rules of MLRsearch's appendix on load
    /// classification: short trials with much loss count against the load as far as short ones
    /// with little loss do not balance them, but never for it.
    pub fn classify(&self, trials: &[Trial]) -> LoadClass {
        let sum = |is_full: bool, is_low: bool| -> f64 {
            let is_one = |trial: &&Trial| {
                self.is_full_length(trial) == is_full && self.is_low_loss(trial) == is_low
            };
            trials.iter().filter(is_one).map(|trial| trial.duration_s).sum()
        };
        let balancing = sum(false, true) * self.exceed_ratio / (1.0 - self.exceed_ratio);
        let excess = (sum(false, false) - balancing).max(0.0);
        let high_loss = sum(true, false) + excess;
        let low_loss = sum(true, true);
        let whole = (high_loss + low_loss).max(self.duration_sum_s);
        // What is still to be measured may turn out well or badly.
        let quantile = whole * self.exceed_ratio;
        let tolerance = 1e-9 * whole;
        if whole - low_loss <= quantile + tolerance {
            LoadClass::Lower
        } else if high_loss > quantile + tolerance {
            LoadClass::Upper
        } else {
            LoadClass::Undecided
        }
    }

    /// The forwarding rate at a load which the goal's share of the time reaches, in frames/s:
    /// the load less the loss ratio at quantile `1 - exceed_ratio` of the full-length trials.
    pub fn conditional_throughput(&self, trials: &[Trial]) -> f64 {
        let mut full: Vec<_> = trials.iter().filter(|trial| self.is_full_length(trial)).collect();
        full.sort_by(|a, b| a.loss_ratio().total_cmp(&b.loss_ratio()));
        let measured: f64 = full.iter().map(|trial| trial.duration_s).sum();
        let mut remaining = measured.max(self.duration_sum_s) * (1.0 - self.exceed_ratio);
        let mut at_quantile = full.first();
        for trial in &full {
            if remaining <= 0.0 {
                break;
            }
            at_quantile = Some(trial);
            remaining -= trial.duration_s;
        }
        at_quantile.map_or(0.0, |trial| trial.forwarding_rate())
    }

    fn is_full_length(&self, trial: &Trial) -> bool {
        // A tester's clock may end a trial a little early.
        trial.duration_s >= self.final_trial_s * 0.999
    }

    fn is_low_loss(&self, trial: &Trial) -> bool {
        trial.loss_ratio() <= self.loss_ratio
    }

    /// The goal in steps, from coarse bounds by short trials to itself. Before the last, one
    /// trial decides a load.
    pub(super) fn phases(&self) -> Vec<Goal> {
        let lengthening = (self.final_trial_s / self.initial_trial_s).max(1.0);
        // Each phase narrows the width fourfold, that is halves it twice.
        let before = if lengthening > 1.0 { 2 } else { 1 };
        let coarse = |step: i32| {
            let share = f64::from(before - step) / f64::from(before);
            let trial_s = self.final_trial_s / lengthening.powf(share);
            Goal {
                width: (self.width * 4.0_f64.powi(before - step)).min(0.5),
                final_trial_s: trial_s,
                duration_sum_s: trial_s,
                ..*self
            }
        };
        (0..before).map(coarse).chain([*self]).collect()
    }
}
