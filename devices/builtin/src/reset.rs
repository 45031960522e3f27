//! A reset under load (RFC 2544, section 26.6; a software reset in the words of RFC 6201).
//!
//! The device's thread throws its router away, tables and all, and makes it anew from the experiment,
//! while the tester goes on sending. The rings are the cable: what waits in them is forwarded after.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fwdlab_device::{Request, Watch};
use fwdlab_port::Pool;
use fwdlab_port::pingpong::Rally;
use fwdlab_port::ring::RingPort;
use fwdlab_results::Reset;
use fwdlab_router::{Router, Worker};
use fwdlab_traffic::{Load, Outcome, Tester, TrafficPlan};

use crate::poll::{Metronome, Over, poll_until};
use crate::rings::{Rings, pin, worker};
use crate::{BuiltinError, setup};

/// The load, as a share of the maximum receive rate: loss is the reset's.
const LOAD: f64 = 0.5;
/// No table takes longer to be made.
const LONGEST: Duration = Duration::from_secs(120);
/// Length of the tester's intervals, at whose ends it looks about, in ns.
const LOOK_NS: u64 = 10_000_000;

/// What tester and device tell each other.
#[derive(Default)]
struct Signs {
    /// The device is to start anew.
    is_wanted: AtomicBool,
    /// It has.
    is_done: AtomicBool,
    is_over: AtomicBool,
}

impl Rings {
    /// Resets the device after the trial's duration at half the maximum receive rate, and sends on
    /// for as long once it is back.
    pub(super) fn reset(
        &self,
        router: &mut Router,
        plan: &TrafficPlan,
        (request, mrr_pps): (&Request<'_>, f64),
        watch: &Watch<'_>,
    ) -> Result<Reset, BuiltinError> {
        let (ports, device) = self.rings();
        let worker = worker(router, device, &self.pool)?;
        let ([tester_core, device_core], pool) = (self.cores(), self.pool.clone());
        let load_pps = mrr_pps * LOAD;
        let plan = TrafficPlan {
            load: Load::Pps(load_pps),
            duration_ns: LONGEST.as_nanos() as u64,
            interval_ns: LOOK_NS,
            ..plan.clone()
        };
        let mut tester = Tester::new(&plan, &self.pool, ports.0, ports.1)?;
        let (signs, stop) = (Signs::default(), AtomicBool::new(false));
        let (each, both) = (request.experiment.duration, Barrier::new(2));
        let (outcome, begun, anew) = std::thread::scope(|scope| {
            let start = Instant::now();
            let device = std::thread::Builder::new()
                .name("device".to_owned())
                .spawn_scoped(scope, || {
                    pin(device_core);
                    both.wait();
                    poll_and_restart(worker, (router, &pool), request, &signs)
                })
                .map_err(|source| BuiltinError::Port(fwdlab_port::PortError::Thread { source }))?;
            both.wait();
            pin(tester_core);
            let over = Over(&signs.is_over);
            let begun = Instant::now();
            let mut back = None;
            let outcome = tester.run(&stop, &mut |interval| {
                let elapsed = start.elapsed();
                if elapsed >= each {
                    signs.is_wanted.store(true, Ordering::Relaxed);
                }
                if back.is_none() && signs.is_done.load(Ordering::Relaxed) && interval.received > 0
                {
                    back = Some(elapsed);
                }
                let is_enough = back.is_some_and(|back| elapsed >= back + each);
                if is_enough || watch.is_stopped() || device.is_finished() {
                    stop.store(true, Ordering::Relaxed);
                }
            });
            drop(tester);
            drop(over);
            let what = || BuiltinError::Thread { what: "it panicked".to_owned() };
            let anew = device.join().map_err(|_| what())??;
            Ok::<_, BuiltinError>((outcome, begun, anew))
        })?;
        self.gather(self.layout.frames())?;
        if watch.is_stopped() {
            return Err(BuiltinError::Stopped);
        }
        let Some((at, took)) = anew else {
            return Err(BuiltinError::Thread { what: "it was never reset".to_owned() });
        };
        let start_ns = took.as_nanos() as u64;
        let middle = at.saturating_duration_since(begun).as_nanos() as u64 + start_ns / 2;
        let unsent: u64 = outcome.lapses.iter().map(|lapse| lapse.frames).sum();
        Ok(Reset {
            load_pps,
            gap_ns: gap_over(&outcome, middle).max(start_ns),
            start_ns,
            lost: outcome.lost() + unsent,
        })
    }
}

/// Forwards; once asked to, makes the router anew. Returns when that began and how long it took.
fn poll_and_restart(
    mut device: Worker<RingPort>,
    (router, pool): (&mut Router, &Pool),
    request: &Request<'_>,
    signs: &Signs,
) -> Result<Option<(Instant, Duration)>, BuiltinError> {
    let rally = Rally::new();
    while !signs.is_wanted.load(Ordering::Relaxed) {
        if signs.is_over.load(Ordering::Relaxed) {
            poll_until(device, &signs.is_over, &rally, Metronome::of(None));
            return Ok(None);
        }
        device.poll();
    }
    let begun = Instant::now();
    let ports = device.into_ports();
    // As after a crash, the old tables are gone before there are new ones.
    *router = Router::new()?;
    *router = setup::router(request.experiment, request.variant)?;
    let device = worker(router, ports, pool)?;
    let took = begun.elapsed();
    signs.is_done.store(true, Ordering::Relaxed);
    poll_until(device, &signs.is_over, &rally, Metronome::of(None));
    Ok(Some((begun, took)))
}

/// The longest time without an arrival around `at_ns`; 0 when there is none.
fn gap_over(outcome: &Outcome, at_ns: u64) -> u64 {
    let holds = |gap: &&fwdlab_traffic::Gap| (gap.at_ns..gap.at_ns + gap.ns).contains(&at_ns);
    outcome.gaps.iter().filter(holds).map(|gap| gap.ns).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_traffic::Gap;

    #[test]
    fn the_gap_of_a_reset_is_the_one_around_it() {
        let gap = |at_ns, ns| Gap { at_ns, ns };
        let gaps = vec![gap(10, 500), gap(1_000, 60), gap(2_000, 30)];
        let outcome = Outcome { gaps, ..Outcome::default() };
        assert_eq!(gap_over(&outcome, 1_030), 60);
        assert_eq!(gap_over(&outcome, 3_000), 0);
    }
}
