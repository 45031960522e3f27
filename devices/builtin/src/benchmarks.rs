//! The measures that have a figure of their own: RFC 2544, sections 26.3 to 26.6, RFC 9004, and
//! soaks.
//!
//! A frame is lost as in a rate search: it did not come back, or it fell due and found no room for so
//! long that it was given up. Only bursts are sent at once, and what finds no room then is lost.

use std::sync::atomic::AtomicBool;

use fwdlab_device::{Request, Watch};
use fwdlab_port::pingpong::Rally;
use fwdlab_results::{
    BackToBack, Benchmark, Burst, Loss, LossCurve, Measure, Recovery, SearchTrial, Soak,
};
use fwdlab_router::Router;
use fwdlab_traffic::{Burster, Lapse, Load, LoadChange, Outcome, TrafficPlan};

use crate::BuiltinError;
use crate::poll::{Metronome, Over, poll_until};
use crate::rings::{Rings, pin, worker};
use crate::search::SHORTEST_S;

/// Searches for the longest burst in one trial: RFC 2544 asks for 50 at the least.
const BURST_SEARCHES: usize = 50;
/// Loss has ended when none follows for so long, in ns: what comes later is another loss.
const QUIET_NS: u64 = 20_000_000;
/// Length of the intervals in which the frames that the device itself drops in a soak are dated.
const SOAK_INTERVAL_NS: u64 = 100_000_000;
/// Most losses of a soak that are recorded one by one; later ones count to the last.
const MOST_LOSSES: usize = 10_000;

impl Rings {
    /// What the measure of `request` observes beside the rate; `found_pps` is the load that its
    /// search has found.
    pub(super) fn benchmark(
        &self,
        router: &mut Router,
        plan: &TrafficPlan,
        (request, found_pps): (&Request<'_>, f64),
        watch: &Watch<'_>,
    ) -> Result<Option<Benchmark>, BuiltinError> {
        let seconds = request.experiment.duration.as_secs_f64();
        Ok(Some(match request.traffic.measure {
            Measure::LossCurve => {
                let shares = &request.experiment.benchmarks.loads;
                Benchmark::LossCurve(self.curve(router, plan, (shares, seconds), watch)?)
            }
            Measure::BackToBack => {
                let mrr_pps = self.mrr(router, plan, seconds, watch)?;
                Benchmark::BackToBack(self.bursts(router, plan, mrr_pps, watch)?)
            }
            Measure::Recovery => {
                Benchmark::Recovery(self.recovery(router, plan, (request, found_pps), watch)?)
            }
            Measure::Reset => {
                let mrr_pps = self.mrr(router, plan, (seconds / 5.0).max(SHORTEST_S), watch)?;
                Benchmark::Reset(self.reset(router, plan, (request, mrr_pps), watch)?)
            }
            Measure::Soak => {
                Benchmark::Soak(self.soak(router, plan, (request, found_pps), watch)?)
            }
            Measure::Convergence => {
                Benchmark::Convergence(self.convergence(router, plan, request, watch)?)
            }
            _ => return Ok(None),
        }))
    }

    /// Loads from the highest to the lowest, and up again, each way in `seconds`.
    fn curve(
        &self,
        router: &mut Router,
        plan: &TrafficPlan,
        (shares, seconds): (&[f64], f64),
        watch: &Watch<'_>,
    ) -> Result<LossCurve, BuiltinError> {
        let mrr_pps = self.mrr(router, plan, (seconds / 5.0).max(SHORTEST_S), watch)?;
        let each_s = (seconds / shares.len().max(1) as f64).max(SHORTEST_S);
        let mut way = |shares: &mut dyn Iterator<Item = &f64>| {
            let tried: Result<Vec<SearchTrial>, BuiltinError> = shares
                .map(|share| self.try_load(router, plan, (share * mrr_pps, each_s), watch))
                .collect();
            tried
        };
        let down = way(&mut shares.iter().rev())?;
        let up = way(&mut shares.iter())?;
        Ok(LossCurve { mrr_pps, down, up })
    }

    /// Bursts of growing length, many times.
    fn bursts(
        &self,
        router: &mut Router,
        plan: &TrafficPlan,
        mrr_pps: f64,
        watch: &Watch<'_>,
    ) -> Result<BackToBack, BuiltinError> {
        let (ports, device) = self.rings();
        let worker = worker(router, device, &self.pool)?;
        let [tester_core, device_core] = self.cores();
        let mut burster = Burster::new(plan, &self.pool, ports)?;
        let is_over = AtomicBool::new(false);
        let rally = Rally::new();
        let mut found = Vec::with_capacity(BURST_SEARCHES);
        std::thread::scope(|scope| {
            let device = std::thread::Builder::new()
                .name("device".to_owned())
                .spawn_scoped(scope, || {
                    pin(device_core);
                    poll_until(worker, &is_over, &rally, Metronome::of(None));
                })
                .map_err(|source| BuiltinError::Port(fwdlab_port::PortError::Thread { source }))?;
            pin(tester_core);
            let over = Over(&is_over);
            while found.len() < BURST_SEARCHES && !watch.is_stopped() {
                let longest = burster.longest();
                found.push(Burst { frames: longest.frames, ns: longest.ns });
            }
            drop(over);
            device.join().map_err(|_| BuiltinError::Thread { what: "it panicked".to_owned() })
        })?;
        let most = burster.most() as u64;
        drop(burster);
        self.gather(self.layout.frames())?;
        if watch.is_stopped() {
            return Err(BuiltinError::Stopped);
        }
        Ok(BackToBack { found, most, mrr_pps })
    }

    /// An overload, then a load that the device bears, each for the trial's duration.
    fn recovery(
        &self,
        router: &mut Router,
        plan: &TrafficPlan,
        (request, throughput_pps): (&Request<'_>, f64),
        watch: &Watch<'_>,
    ) -> Result<Recovery, BuiltinError> {
        let how = &request.experiment.benchmarks;
        let (overload_pps, relief_pps) =
            (throughput_pps * how.overload, throughput_pps * how.relief);
        let overload_ns = request.experiment.duration.as_nanos() as u64;
        let plan = TrafficPlan {
            load: Load::Pps(overload_pps),
            change: Some(LoadChange { after_ns: overload_ns, pps: relief_pps }),
            duration_ns: 2 * overload_ns,
            interval_ns: 2 * overload_ns,
            ..plan.clone()
        };
        let outcome = self.offer_plan(router, &plan, watch, &mut |_, _| {})?;
        let (inside, after) = around(&outcome, overload_ns);
        Ok(Recovery {
            throughput_pps,
            overload_pps,
            relief_pps,
            overload_ms: overload_ns as f64 / 1e6,
            lost_in_overload: inside,
            lost_afterwards: after.iter().map(|lapse| lapse.frames).sum(),
            ended_ns: ended(&after, overload_ns),
        })
    }

    /// A share of the non-drop rate for long.
    fn soak(
        &self,
        router: &mut Router,
        plan: &TrafficPlan,
        (request, ndr_pps): (&Request<'_>, f64),
        watch: &Watch<'_>,
    ) -> Result<Soak, BuiltinError> {
        let how = &request.experiment.benchmarks;
        let load_pps = ndr_pps * how.soak_load;
        let plan = TrafficPlan {
            load: Load::Pps(load_pps),
            duration_ns: how.soak.as_nanos() as u64,
            interval_ns: SOAK_INTERVAL_NS,
            ..plan.clone()
        };
        let (mut dropped, mut ms) = (0, 0.0);
        let mut losses = Vec::new();
        let outcome = self.offer_plan(router, &plan, watch, &mut |counters, interval| {
            let now = counters.snapshot().dropped();
            if now > dropped {
                let (at_ns, ns) = ((ms * 1e6) as u64, (interval.ms * 1e6) as u64);
                losses.push(Loss { at_ns, ns, frames: now - dropped });
            }
            dropped = now;
            ms += interval.ms;
        })?;
        let unsent: u64 = outcome.lapses.iter().map(|lapse| lapse.frames).sum();
        let lapse = |own: &Lapse| Loss { at_ns: own.at_ns, ns: own.ns, frames: own.frames };
        losses.extend(outcome.lapses.iter().map(lapse));
        Ok(Soak {
            ndr_pps,
            load_pps,
            seconds: outcome.duration_ns as f64 / 1e9,
            sent: outcome.sent() + unsent,
            lost: outcome.lost() + unsent,
            losses: bounded(losses),
        })
    }
}

/// Frames given up before `at_ns`, and the lapses after it.
fn around(outcome: &Outcome, at_ns: u64) -> (u64, Vec<Lapse>) {
    let inside = |lapse: &&Lapse| lapse.at_ns < at_ns;
    let count = outcome.lapses.iter().filter(inside).map(|lapse| lapse.frames).sum();
    let mut after: Vec<Lapse> =
        outcome.lapses.iter().filter(|lapse| !inside(lapse)).copied().collect();
    // One that began in the overload may last longer than it.
    let over = outcome.lapses.iter().rfind(inside).filter(|last| last.at_ns + last.ns > at_ns);
    after.splice(
        0..0,
        over.map(|last| Lapse { at_ns, ns: last.at_ns + last.ns - at_ns, frames: 0 }),
    );
    (count, after)
}

/// From `since_ns` to the last loss before the first quiet time, in ns.
fn ended(lapses: &[Lapse], since_ns: u64) -> u64 {
    let mut end = since_ns;
    for lapse in lapses {
        if lapse.at_ns > end + QUIET_NS {
            break;
        }
        end = end.max(lapse.at_ns + lapse.ns);
    }
    end - since_ns
}

/// In order of time, and not too many.
fn bounded(mut losses: Vec<Loss>) -> Vec<Loss> {
    losses.sort_by_key(|loss| loss.at_ns);
    let rest = losses.split_off(losses.len().min(MOST_LOSSES));
    if let Some(last) = losses.last_mut() {
        for loss in rest {
            last.frames += loss.frames;
            last.ns = loss.at_ns + loss.ns - last.at_ns;
        }
    }
    losses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lapse(at_ms: u64, ms: u64, frames: u64) -> Lapse {
        Lapse { at_ns: at_ms * 1_000_000, ns: ms * 1_000_000, frames }
    }

    #[test]
    fn loss_ends_before_the_first_quiet_time() {
        let outcome = Outcome {
            lapses: vec![lapse(10, 5, 7), lapse(95, 10, 50), lapse(110, 1, 3), lapse(190, 1, 4)],
            ..Outcome::default()
        };
        let (inside, after) = around(&outcome, 100_000_000);
        assert_eq!((inside, after.len()), (57, 3));
        // The lapse of the overload lasts 5 ms into what follows, the next one is near, and the last
        // one is another.
        assert_eq!(ended(&after, 100_000_000), 11_000_000);
        assert_eq!(ended(&[], 100_000_000), 0);
        assert_eq!(ended(&[lapse(150, 1, 1)], 100_000_000), 0);
    }

    #[test]
    fn losses_stand_in_order_and_none_is_left_out() {
        let one = |at_ns| Loss { at_ns, ns: 1, frames: 2 };
        let losses: Vec<Loss> = (0..MOST_LOSSES as u64 + 5).rev().map(one).collect();
        let kept = bounded(losses);
        assert_eq!(kept.len(), MOST_LOSSES);
        assert!(kept.is_sorted_by_key(|loss| loss.at_ns));
        assert_eq!(kept.last().map(|last| last.frames), Some(12));
    }
}
