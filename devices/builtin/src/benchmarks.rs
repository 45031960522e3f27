//! The measures that have a figure of their own: RFC 2544, sections 26.3 to 26.6, RFC 9004, and
//! soaks.
//!
//! A frame is lost as in a rate search: it did not come back, or it fell due and found no room for so
//! long that it was given up. Only bursts are sent at once, and what finds no room then is lost.

use std::sync::Barrier;
use std::sync::atomic::AtomicBool;

use fwdlab_device::{Request, Watch};
use fwdlab_port::pingpong::Rally;
use fwdlab_procedures::{BURST_SEARCHES, Offers, curve, mrr, recovery, soak};
use fwdlab_results::{BackToBack, Benchmark, Burst, Measure};
use fwdlab_router::Router;
use fwdlab_traffic::{Burster, TrafficPlan};

use crate::BuiltinError;
use crate::offering::Offering;
use crate::poll::{Metronome, Over, poll_until};
use crate::rings::{Rings, pin, worker};

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
        let experiment = request.experiment;
        let seconds = experiment.duration.as_secs_f64();
        let mut bench = Offering { rings: self, router, plan, watch };
        Ok(Some(match request.traffic.measure {
            Measure::LossCurve => {
                Benchmark::LossCurve(curve(&mut bench, &experiment.benchmarks.loads, seconds)?)
            }
            Measure::BackToBack => {
                let mrr_pps = mrr(&mut bench, seconds)?;
                Benchmark::BackToBack(self.bursts(router, plan, mrr_pps, watch)?)
            }
            Measure::Recovery => Benchmark::Recovery(recovery(&mut bench, experiment, found_pps)?),
            Measure::Reset => {
                let shortest_s = bench.shortest_s();
                let mrr_pps = mrr(&mut bench, (seconds / 5.0).max(shortest_s))?;
                Benchmark::Reset(self.reset(router, plan, (request, mrr_pps), watch)?)
            }
            Measure::Soak => Benchmark::Soak(soak(&mut bench, experiment, found_pps)?),
            Measure::Convergence => {
                Benchmark::Convergence(self.convergence(router, plan, request, watch)?)
            }
            _ => return Ok(None),
        }))
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
        let (is_over, both) = (AtomicBool::new(false), Barrier::new(2));
        let rally = Rally::new();
        let mut found = Vec::with_capacity(BURST_SEARCHES);
        std::thread::scope(|scope| {
            let device = std::thread::Builder::new()
                .name("device".to_owned())
                .spawn_scoped(scope, || {
                    pin(device_core);
                    both.wait();
                    poll_until(worker, &is_over, &rally, Metronome::of(None));
                })
                .map_err(|source| BuiltinError::Port(fwdlab_port::PortError::Thread { source }))?;
            both.wait();
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
        // Its rings are empty when all frames are back.
        Ok(BackToBack { found, most, mrr_pps, rest_ms: None, is_rested: true })
    }
}
