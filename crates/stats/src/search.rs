//! Rate search: the highest load that meets a goal, found by trials.
//!
//! The search asks for trials and never runs one: [`Search::next`] is a function of the trials
//! recorded so far, so that a search that was killed goes on from its journal. Its rules are
//! those of MLRsearch (draft-ietf-bmwg-mlrsearch): [`Goal`] classifies a load from all its
//! trials, long and short, and a goal is reached when the smallest upper bound and the largest
//! lower bound below it are no further apart than the goal's width. [`BinarySearch`] is RFC
//! 2544's throughput, section 26.1.
//!
//! ```
//! use fwdlab_stats::search::{Goal, Limits, Search, Step, Trial};
//!
//! let limits = Limits { min_load: 1e4, max_load: 10e6 };
//! let mut search = Search::new(limits, vec![Goal::pdr(), Goal::ndr()]);
//! while let Step::Measure { load, duration_s } = search.next() {
//!     // A device that forwards 3 M frames/s.
//!     let sent = (load * duration_s) as u64;
//!     let received = sent.min((3e6 * duration_s) as u64);
//!     search.record(Trial { load, duration_s, sent, lost: sent - received });
//! }
//! let ndr = search.outcome(1).bounds().expect("within the limits");
//! assert!(ndr.lower <= 3e6 && 3e6 < ndr.upper && ndr.upper - ndr.lower <= 0.005 * ndr.upper);
//! let mrr = search.mrr().expect("the first trial is at the largest load");
//! assert!((mrr - 3e6).abs() < 10.0);
//! ```

mod binary;
mod goal;
#[cfg(test)]
mod tests;
mod trial;

use std::collections::BTreeMap;
pub use trial::Trial;

pub use binary::BinarySearch;
pub use goal::{Goal, LoadClass};

/// The loads between which the search stays, in frames/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The smallest load worth knowing about.
    pub min_load: f64,
    /// The largest: line rate, or what the tester can do.
    pub max_load: f64,
}

/// What the search wants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Run this trial and [`record`](Search::record) it.
    Measure {
        /// Load in frames/s, a whole number.
        load: f64,
        /// Duration in s.
        duration_s: f64,
    },
    /// All goals are reached, or cannot be within the limits.
    Done,
}

/// Both sides of the load searched for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The largest load that meets the goal, below `upper`, in frames/s.
    pub lower: f64,
    /// The smallest load that does not.
    pub upper: f64,
    /// What was forwarded at `lower` (MLRsearch's conditional throughput), in frames/s.
    pub conditional_throughput: f64,
}

/// How far a goal is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// Found: the bounds are as close as the goal asks.
    Regular(Bounds),
    /// Even the largest load meets the goal; with the conditional throughput there.
    AtMaxLoad(f64),
    /// Even the smallest load does not meet the goal.
    BelowMinLoad,
    /// More trials are needed.
    Unfinished,
}

impl Standing {
    /// The bounds of a regular outcome.
    pub fn bounds(&self) -> Option<Bounds> {
        if let Self::Regular(bounds) = self { Some(*bounds) } else { None }
    }
}

/// Searches for several goals at once; later goals profit from the trials of earlier ones, so
/// the most tolerant goal comes first.
#[derive(Clone, Debug)]
pub struct Search {
    limits: Limits,
    goals: Vec<Goal>,
    /// Trials by load; loads are whole numbers, so they compare exactly.
    trials: BTreeMap<u64, Vec<Trial>>,
}

/// The relevant bounds in one phase.
struct Relevant {
    lower: Option<u64>,
    upper: Option<u64>,
    /// The lower bound next below `lower`, and the upper bound next above `upper`.
    lower_before: Option<u64>,
    upper_before: Option<u64>,
}

impl Search {
    /// A search without trials yet. Limits out of order count as the same load.
    pub fn new(limits: Limits, goals: Vec<Goal>) -> Self {
        let min_load = limits.min_load.max(1.0).round();
        let limits = Limits { min_load, max_load: limits.max_load.max(min_load).round() };
        Self { limits, goals, trials: BTreeMap::new() }
    }

    /// Takes the result of a trial, asked for or not.
    pub fn record(&mut self, trial: Trial) {
        self.trials.entry(trial.load.round() as u64).or_default().push(trial);
    }

    /// The next trial: a function of those recorded.
    pub fn next(&self) -> Step {
        let max = self.limits.max_load as u64;
        let Some(first) = self.goals.first() else { return Step::Done };
        if !self.trials.contains_key(&max) {
            return measure(max, first.initial_trial_s);
        }
        self.goals.iter().find_map(|goal| self.next_of(goal)).unwrap_or(Step::Done)
    }

    /// The maximum receive rate: the mean forwarding rate at the largest load, in frames/s.
    pub fn mrr(&self) -> Option<f64> {
        let trials = self.trials.get(&(self.limits.max_load as u64))?;
        let total: f64 = trials.iter().map(|trial| trial.duration_s).sum();
        let frames: f64 =
            trials.iter().map(|trial| trial.forwarding_rate() * trial.duration_s).sum();
        Some(frames / total)
    }

    /// What is known about goal number `goal`.
    pub fn outcome(&self, goal: usize) -> Standing {
        let Some(goal) = self.goals.get(goal) else { return Standing::Unfinished };
        let relevant = self.relevant(goal);
        let throughput = |load: u64| goal.conditional_throughput(&self.trials[&load]);
        match (relevant.lower, relevant.upper) {
            (Some(lower), Some(upper)) if is_narrow(lower, upper, goal.width) => {
                let conditional_throughput = throughput(lower);
                let (lower, upper) = (lower as f64, upper as f64);
                Standing::Regular(Bounds { lower, upper, conditional_throughput })
            }
            (Some(lower), None) if lower as f64 >= self.limits.max_load => {
                Standing::AtMaxLoad(throughput(lower))
            }
            (None, Some(upper)) if upper as f64 <= self.limits.min_load => Standing::BelowMinLoad,
            _ => Standing::Unfinished,
        }
    }

    /// The next trial of a goal: in its first phase that is not yet narrow enough.
    fn next_of(&self, goal: &Goal) -> Option<Step> {
        let mut hint = None;
        for phase in goal.phases() {
            let relevant = self.relevant(&phase);
            if let Some(load) = self.candidate(&phase, &relevant, hint) {
                return Some(measure(load, phase.final_trial_s));
            }
            hint = Some(relevant);
        }
        None
    }

    /// A load whose class this phase lacks; `None` when the phase is done.
    fn candidate(&self, phase: &Goal, now: &Relevant, hint: Option<Relevant>) -> Option<u64> {
        let (min, max) = (self.limits.min_load as u64, self.limits.max_load as u64);
        let hinted = |side: fn(&Relevant) -> Option<u64>| hint.as_ref().and_then(side);
        match (now.lower, now.upper) {
            (Some(lower), Some(upper)) if is_narrow(lower, upper, phase.width) => None,
            (Some(lower), Some(upper)) => {
                let middle = (lower as f64 * upper as f64).sqrt().round() as u64;
                Some(middle.clamp(lower + 1, upper - 1))
            }
            (Some(lower), None) if lower >= max => None,
            (Some(lower), None) => {
                let step = widened(phase.width, lower, now.lower_before);
                let further = (lower as f64 / (1.0 - step)).ceil() as u64;
                let hinted = hinted(|hint| hint.upper).filter(|&load| load > lower);
                Some(hinted.unwrap_or(further).clamp(lower + 1, max))
            }
            (None, Some(upper)) if upper <= min => None,
            (None, Some(upper)) => {
                let step = widened(phase.width, upper, now.upper_before);
                let further = (upper as f64 * (1.0 - step)).floor() as u64;
                // Before anything is known, what the device forwards when overloaded is a good
                // guess at what it forwards without loss.
                let mrr = self.mrr().filter(|_| upper == max).map(|rate| rate.floor() as u64);
                let hinted = hinted(|hint| hint.lower).or(mrr).filter(|&load| load < upper);
                Some(hinted.unwrap_or(further).clamp(min, upper - 1))
            }
            (None, None) => Some(hinted(|hint| hint.lower).unwrap_or(max)),
        }
    }

    /// The relevant bounds: the smallest upper bound, and the largest lower bound below it.
    fn relevant(&self, goal: &Goal) -> Relevant {
        let class = |trials: &[Trial]| goal.classify(trials);
        let of_class = |wanted: LoadClass| {
            let is_wanted = move |(_, trials): &(&u64, &Vec<Trial>)| class(trials) == wanted;
            self.trials.iter().filter(is_wanted).map(|(&load, _)| load)
        };
        let mut uppers = of_class(LoadClass::Upper);
        let (upper, upper_before) = (uppers.next(), uppers.next());
        let below = upper.unwrap_or(u64::MAX);
        let lowers: Vec<_> = of_class(LoadClass::Lower).filter(|&load| load < below).collect();
        let mut lowers = lowers.into_iter().rev();
        let (lower, lower_before) = (lowers.next(), lowers.next());
        Relevant { lower, upper, lower_before, upper_before }
    }
}

fn measure(load: u64, duration_s: f64) -> Step {
    Step::Measure { load: load as f64, duration_s }
}

/// Width relative to the upper bound, as MLRsearch measures it; neighbours are always narrow.
fn is_narrow(lower: u64, upper: u64, width: f64) -> bool {
    upper - lower <= 1 || (upper - lower) as f64 <= width * upper as f64
}

/// Away from a bound that has no counterpart yet: each step twice the one before, at most half.
fn widened(width: f64, bound: u64, before: Option<u64>) -> f64 {
    let last =
        before.map_or(0.0, |before| bound.abs_diff(before) as f64 / bound.max(before) as f64);
    width.max(2.0 * last).min(0.5)
}
