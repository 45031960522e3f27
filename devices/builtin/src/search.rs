//! The rate search of a trial: the highest load that the device forwards well enough.
//!
//! `fwdlab-stats` says which load to try for how long; here it is tried. A frame is lost when it
//! does not come back, and also when it could not be sent because the device had not made room:
//! the tester's queue holds what a receive ring would, and what does not fit there would have
//! been dropped.

use fwdlab_router::{Counters, Router};
use fwdlab_stats::search::{self, BinarySearch, Goal, Limits, Search, Step};
use fwdlab_traffic::{Load, Outcome, TrafficPlan};

use super::BuiltinError;
use super::figures::figures;
use super::intervals::Intervals;
use super::probe::Probe;
use super::rings::{BATCH, Bench, Rings, worker};
use fwdlab_device::Watch;
use fwdlab_port::pingpong::Rally;
use fwdlab_results::{Interval, LatencyAt, Measure, RateSearch, SearchTrial};

/// Frames that may still be due when a trial ends without being lost, each way: two batches, the one
/// that is being written and the one that waits for its frames.
const STILL_DUE: u64 = 2 * BATCH as u64;
/// Trials at a load; so many make up the time that decides it.
const TRIALS_PER_LOAD: f64 = 5.0;
/// The shortest trial in s: shorter ones say more about a single interrupt than about the device.
pub(super) const SHORTEST_S: f64 = 0.02;
/// The loads that are tried lie between these shares of the maximum receive rate.
const RANGE: (f64, f64) = (0.01, 1.2);
/// Bounds of a binary search are this close at its end, relative to the upper one.
const BINARY_WIDTH: f64 = 0.005;
/// The shares of the rate found at which latency is measured, too.
const LATENCY_SHARES: [f64; 3] = [0.1, 0.5, 0.9];
/// More trials than any search takes.
const MOST_TRIALS: usize = 400;

/// What decides which load is tried next.
enum Finder {
    /// By MLRsearch's rules.
    Multiple(Search),
    /// RFC 2544, section 26.1.
    Binary(BinarySearch),
}

impl Finder {
    fn next(&self) -> Step {
        match self {
            Self::Multiple(search) => search.next(),
            Self::Binary(search) => search.next(),
        }
    }

    fn record(&mut self, trial: search::Trial) {
        match self {
            Self::Multiple(search) => search.record(trial),
            Self::Binary(search) => search.record(trial),
        }
    }

    fn outcome(&self) -> search::Standing {
        match self {
            Self::Multiple(search) => search.outcome(0),
            Self::Binary(search) => search.outcome(),
        }
    }
}

impl Rings {
    /// Searches the highest load of `plan`'s traffic with at most this loss; each load is decided
    /// by `seconds` of trials, or, in a binary search, by one trial of that length.
    pub(super) fn search(
        &self,
        router: &mut Router,
        plan: &TrafficPlan,
        (measure, loss_ratio, seconds): (Measure, f64, f64),
        watch: &Watch<'_>,
    ) -> Result<RateSearch, BuiltinError> {
        let final_trial_s = (seconds / TRIALS_PER_LOAD).max(SHORTEST_S);
        let mrr_pps = self.mrr(router, plan, final_trial_s, watch)?;
        let limits = Limits { min_load: mrr_pps * RANGE.0, max_load: mrr_pps * RANGE.1 };
        let mut finder = match measure {
            Measure::Throughput | Measure::Recovery => {
                Finder::Binary(BinarySearch::new(limits, BINARY_WIDTH, seconds))
            }
            _ => Finder::Multiple(Search::new(
                limits,
                vec![Goal {
                    loss_ratio,
                    initial_trial_s: (final_trial_s / TRIALS_PER_LOAD).max(SHORTEST_S),
                    final_trial_s,
                    duration_sum_s: TRIALS_PER_LOAD * final_trial_s,
                    ..Goal::ndr()
                }],
            )),
        };
        let mut trials = Vec::new();
        while let Step::Measure { load, duration_s } = finder.next() {
            if trials.len() == MOST_TRIALS {
                return Err(unfound(format!("no end after {MOST_TRIALS} trials")));
            }
            let outcome = self.offer(router, plan, (Load::Pps(load), duration_s), watch)?;
            let trial = judged(load, duration_s, &outcome);
            finder.record(trial);
            trials.push(SearchTrial {
                load_pps: load,
                ms: duration_s * 1e3,
                sent: outcome.sent(),
                lost: trial.lost,
            });
        }
        let (lower_pps, upper_pps) = match finder.outcome() {
            search::Standing::Regular(bounds) => (bounds.lower, bounds.upper),
            search::Standing::AtMaxLoad(_) => (limits.max_load, limits.max_load),
            _ => {
                return Err(unfound(format!(
                    "frames are lost even at {:.0} frames/s",
                    limits.min_load
                )));
            }
        };
        Ok(RateSearch { mrr_pps, lower_pps, upper_pps, trials })
    }

    /// What the device forwards of all that the tester can send, in frames/s.
    pub(super) fn mrr(
        &self,
        router: &mut Router,
        plan: &TrafficPlan,
        seconds: f64,
        watch: &Watch<'_>,
    ) -> Result<f64, BuiltinError> {
        let most = self.offer(router, plan, (Load::Max, seconds), watch)?;
        // What waited in the rings came after the end.
        let received: u64 = most.intervals.iter().map(|interval| interval.received).sum();
        match received {
            0 if most.received() > 0 => Err(unfound(
                "no frame came back before the load ended, and some came afterwards: the device had no \
                 processor meanwhile; leave the machine alone, or make the trial longer"
                    .to_owned(),
            )),
            0 => Err(unfound("no frame came back: check the routes".to_owned())),
            frames => Ok(frames as f64 * 1e9 / most.duration_ns.max(1) as f64),
        }
    }

    /// Offers a load for so many seconds and says what came of it.
    pub(super) fn try_load(
        &self,
        router: &mut Router,
        plan: &TrafficPlan,
        (load_pps, seconds): (f64, f64),
        watch: &Watch<'_>,
    ) -> Result<SearchTrial, BuiltinError> {
        let outcome = self.offer(router, plan, (Load::Pps(load_pps), seconds), watch)?;
        let search::Trial { sent, lost, .. } = judged(load_pps, seconds, &outcome);
        Ok(SearchTrial { load_pps, ms: seconds * 1e3, sent, lost })
    }

    /// Latency at shares of a rate, each for `seconds`. The rate was found with time stamps in the
    /// frames, too: they cost the tester time, and a load that it only bears without them would fill
    /// its queue.
    pub(super) fn latency_at_shares(
        &self,
        router: &mut Router,
        plan: &TrafficPlan,
        (rate_pps, seconds): (f64, f64),
        watch: &Watch<'_>,
    ) -> Result<Vec<LatencyAt>, BuiltinError> {
        let mut found = Vec::new();
        for share in LATENCY_SHARES {
            let load = Load::Pps(rate_pps * share);
            let outcome = self.offer(router, plan, (load, seconds), watch)?;
            found.extend(outcome.latency.map(|it| LatencyAt { share, figures: figures(it) }));
        }
        Ok(found)
    }

    /// Offers a load for some time.
    pub(super) fn offer(
        &self,
        router: &mut Router,
        plan: &TrafficPlan,
        (load, seconds): (Load, f64),
        watch: &Watch<'_>,
    ) -> Result<Outcome, BuiltinError> {
        let mut plan = TrafficPlan { load, duration_ns: (seconds * 1e9) as u64, ..plan.clone() };
        plan.interval_ns = plan.duration_ns.max(1);
        self.offer_plan(router, &plan, watch, &mut |_, _| {})
    }

    /// Runs a plan; `on_interval` gets the device's counters, and the interval.
    pub(super) fn offer_plan(
        &self,
        router: &mut Router,
        plan: &TrafficPlan,
        watch: &Watch<'_>,
        on_interval: &mut dyn FnMut(&Counters, &Interval),
    ) -> Result<Outcome, BuiltinError> {
        let ((tester_a, tester_b), device) = self.rings();
        let worker = worker(router, device, &self.pool)?;
        let counters = worker.counters();
        let mut intervals = Intervals::new(worker.counters(), None, None);
        let mut noted = |interval: &Interval| on_interval(&counters, interval);
        let mut silent = Watch { on_interval: &mut noted, stop: watch.stop };
        let (rally, probe) = (Rally::new(), Probe::none());
        let bench = Bench { worker, plan, rally: &rally, diary: None, probe: &probe, churn: None };
        let (outcome, _, _) =
            self.forward(bench, (tester_a, tester_b), &mut intervals, &mut silent)?;
        self.gather(self.layout.frames())?;
        if watch.is_stopped() { Err(BuiltinError::Stopped) } else { Ok(outcome) }
    }
}

/// A trial as the search counts it: of the frames that were due, all that did not come back.
fn judged(load: f64, duration_s: f64, outcome: &Outcome) -> search::Trial {
    let due = (load * outcome.duration_ns as f64 / 1e9) as u64;
    let missing = due.saturating_sub(outcome.sent());
    let ways = outcome.ways.len().max(1) as u64;
    let unsent = if missing <= STILL_DUE * ways { 0 } else { missing };
    let sent = outcome.sent() + unsent;
    search::Trial { load, duration_s, sent, lost: outcome.lost() + unsent }
}

fn unfound(what: String) -> BuiltinError {
    BuiltinError::Search { what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_traffic::StreamOutcome;

    fn outcome(sent: u64, received: u64) -> Outcome {
        let stream = StreamOutcome { sent, received, ..StreamOutcome::default() };
        Outcome { streams: vec![stream], duration_ns: 100_000_000, ..Outcome::default() }
    }

    #[test]
    fn frames_that_could_not_be_sent_are_lost_and_a_batch_that_is_due_is_not() {
        let lost = |sent, received| judged(1e6, 0.1, &outcome(sent, received)).lost;
        assert_eq!(lost(100_000, 100_000), 0);
        assert_eq!(lost(99_600, 99_600), 0);
        assert_eq!(lost(99_000, 99_000), 1_000);
        assert_eq!(lost(99_000, 98_990), 1_010);
        assert_eq!(lost(100_000, 99_999), 1);
    }
}
