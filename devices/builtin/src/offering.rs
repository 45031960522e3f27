//! Loads on the built-in device, as the procedures of RFC 2544 ask for them.
//!
//! A frame that could not be sent because the device had not made room is lost, too: the tester's queue
//! holds what a receive ring would, and what does not fit there would have been dropped.

use fwdlab_device::Watch;
use fwdlab_port::pingpong::Rally;
use fwdlab_procedures::{LATENCY_SHARES, Offered, Offers, Order};
use fwdlab_results::{Interval, LatencyAt, Loss};
use fwdlab_router::{Counters, Router};
use fwdlab_traffic::{Lapse, Load, Outcome, TrafficPlan};

use super::BuiltinError;
use super::figures::figures;
use super::intervals::Intervals;
use super::probe::Probe;
use super::rings::{BATCH, Bench, Rings, worker};

/// Frames that may still be due when a trial ends without being lost, each way: two batches, the one
/// that is being written and the one that waits for its frames.
const STILL_DUE: u64 = 2 * BATCH as u64;
/// The device and its tester, with the frames of one plan.
pub(super) struct Offering<'a, 'w> {
    pub(super) rings: &'a Rings,
    pub(super) router: &'a mut Router,
    pub(super) plan: &'a TrafficPlan,
    pub(super) watch: &'a Watch<'w>,
}

impl Offers for Offering<'_, '_> {
    type Error = BuiltinError;

    fn offer(&mut self, order: &Order) -> Result<Offered, BuiltinError> {
        let interval_ns = order.dated_ns.filter(|_| order.change.is_none());
        let plan = TrafficPlan {
            load: order.load,
            change: order.change,
            duration_ns: order.duration_ns,
            interval_ns: interval_ns.unwrap_or(order.duration_ns).max(1),
            ..self.plan.clone()
        };
        let (mut dropped, mut ms) = (0, 0.0);
        let mut losses = Vec::new();
        let outcome =
            self.rings.offer_plan(self.router, &plan, self.watch, &mut |own, interval| {
                let now = own.snapshot().dropped();
                if interval_ns.is_some() && now > dropped {
                    let (at_ns, ns) = ((ms * 1e6) as u64, (interval.ms * 1e6) as u64);
                    losses.push(Loss { at_ns, ns, frames: now - dropped });
                }
                dropped = now;
                ms += interval.ms;
            })?;
        let lapse = |own: &Lapse| Loss { at_ns: own.at_ns, ns: own.ns, frames: own.frames };
        losses.extend(outcome.lapses.iter().map(lapse));
        losses.sort_by_key(|loss| loss.at_ns);
        Ok(offered(&outcome, losses))
    }
}

fn offered(outcome: &Outcome, losses: Vec<Loss>) -> Offered {
    let ways = outcome.ways.len().max(1) as u64;
    Offered {
        duration_ns: outcome.duration_ns,
        sent: outcome.sent(),
        received: outcome.received(),
        received_in_time: outcome.intervals.iter().map(|interval| interval.received).sum(),
        all_back_ns: (outcome.received() >= outcome.sent())
            .then_some(outcome.duration_ns + outcome.drain_ns),
        lost: outcome.lost(),
        given_up: outcome.lapses.iter().map(|lapse| lapse.frames).sum(),
        still_due: STILL_DUE * ways,
        ways,
        losses,
    }
}

impl Rings {
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
    fn offer_plan(
        &self,
        router: &mut Router,
        plan: &TrafficPlan,
        watch: &Watch<'_>,
        on_interval: &mut dyn FnMut(&Counters, &Interval),
    ) -> Result<Outcome, BuiltinError> {
        let (tester, device) = self.wires();
        let worker = worker(router, device, &self.pool)?;
        let counters = worker.counters();
        let mut intervals = Intervals::new(worker.counters(), None, None);
        let mut noted = |interval: &Interval| on_interval(&counters, interval);
        let mut silent = Watch { on_interval: &mut noted, stop: watch.stop };
        let (rally, probe) = (Rally::new(), Probe::none());
        let bench = Bench { worker, plan, rally: &rally, diary: None, probe: &probe, churn: None };
        let (outcome, _, _) = self.forward(bench, tester, &mut intervals, &mut silent)?;
        self.gather(self.layout.frames())?;
        if watch.is_stopped() { Err(BuiltinError::Stopped) } else { Ok(outcome) }
    }
}
