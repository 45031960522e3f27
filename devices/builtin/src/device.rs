//! The built-in device: the router of `fwdlab-router` and the tester of `fwdlab-traffic`, joined
//! by rings in memory, each on a core of its own.
//!
//! The frames live in one pool for the whole campaign, given out in the same order in every trial,
//! so that where they lie in memory is no difference between variants. The router and its tables
//! are made anew for each trial. Counters of both sides are read at the same instants, at the end
//! of each interval, by the tester's thread: a third thread would take time from the two.

use std::time::Duration;

use fwdlab_device::pulse::{Diary, Pulse};
use fwdlab_device::{Device, DeviceError, Facts, Proof, Request, Watch};
use fwdlab_experiment::{Direction, Endpoint, Traffic, Variant};
use fwdlab_port::pingpong::{self, Rally};
use fwdlab_procedures::{Asked, search};
use fwdlab_results::profile::Profiled;
use fwdlab_results::{Benchmark, Measure, Measured, Queue, RateSearch, TrialEnvironment};
use fwdlab_router::Router;
use fwdlab_traffic::{
    DEVICE_MACS, FlowSet, Load, Stream, TESTER_MACS, TrafficPlan, WayBack, mac_of,
};

use crate::figures::figures;
use crate::intervals::{Cores, Intervals};
use crate::offering::Offering;
use crate::probe::Probe;
use crate::rings::{BATCH, Bench, Beside, FRAMES_IN_FLIGHT, Rings, lost, worker};
use crate::{BuiltinError, control, machine, setup};

/// How long the tester waits for a frame that is still missing after the last one: on a machine
/// with other work, the device's thread may have to wait this long for its core. Without loss,
/// nothing is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The same after a warm-up: what is still on the way then goes home with the rings, uncounted.
const LET_GO: Duration = Duration::from_millis(10);

impl Device for Rings {
    fn facts(&self) -> Facts {
        let cores = match self.cores {
            Some((tester, device)) => format!("tester on core {tester}, device on core {device}"),
            None => "tester and device share one core".to_owned(),
        };
        let own = [
            ("cores", cores),
            ("clock", self.clock.name().to_owned()),
            ("frames in flight", FRAMES_IN_FLIGHT.to_string()),
            ("frames published at once", BATCH.to_string()),
        ];
        Facts::of_device(own.into_iter().chain(self.powercap.fact()))
    }

    fn apply(&mut self, variant: &Variant, _: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        // The old tables go first: both at once may be too much memory.
        self.router = None;
        let router = setup::router(&self.experiment, variant).map_err(BuiltinError::from)?;
        let proof = setup::proof(&router, &self.experiment, variant);
        self.buffer = setup::buffer(variant);
        self.router = Some(router);
        Ok(proof)
    }

    /// The router that is warmed is the one that is measured: no routes change, nothing is searched for.
    fn warm_up(&mut self, request: &Request<'_>, watch: &mut Watch<'_>) -> Result<(), DeviceError> {
        let mut router = self.applied(request)?;
        let plan = TrafficPlan { drain_ns: LET_GO.as_nanos() as u64, ..plan(request)? };
        let first = self.layout.take(&self.pool);
        let seconds = request.experiment.warmup.as_secs_f64();
        let warmed = self.offer(&mut router, &plan, (plan.load, seconds), watch);
        drop(first);
        self.router = Some(router);
        warmed?;
        Ok(self.gather(0)?)
    }

    fn measure(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        Ok(self.trial(request, &Probe::none(), watch)?)
    }

    /// Samples the device's thread from within: needs no root and no perf, and leaves the tester
    /// alone.
    #[cfg(all(target_os = "linux", feature = "sampler"))]
    fn profile(
        &mut self,
        request: &Request<'_>,
        frequency_hz: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        let probe = Probe::sampling(frequency_hz);
        let measured = self.trial(request, &probe, watch)?;
        let profiler = format!("a timer in the device's thread, {frequency_hz} a second");
        let stacks = probe.stacks().map_err(BuiltinError::from)?;
        Ok(Profiled { measured, stacks, profiler })
    }

    #[cfg(not(all(target_os = "linux", feature = "sampler")))]
    fn without_profiles(&self) -> Option<&'static str> {
        fwdlab_device::without_whole_machine()
    }

    /// Without the sampler, perf samples both threads and all else.
    #[cfg(not(all(target_os = "linux", feature = "sampler")))]
    fn profile(
        &mut self,
        request: &Request<'_>,
        frequency_hz: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        fwdlab_device::whole_machine(frequency_hz, || self.measure(request, watch))
    }
}

impl Rings {
    /// The router as it was set up last, or a new one where the last trial has left none.
    fn applied(&mut self, request: &Request<'_>) -> Result<Router, BuiltinError> {
        match self.router.take() {
            Some(router) => Ok(router),
            None => Ok(setup::router(request.experiment, request.variant)?),
        }
    }

    /// Runs one trial, with `probe` in the device's thread.
    fn trial(
        &mut self,
        request: &Request<'_>,
        probe: &Probe,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, BuiltinError> {
        let router = self.applied(request)?;
        let mut pulse = std::mem::take(&mut self.pulse);
        let mut kept = Some(router);
        let measured = self.through((&mut kept, &mut pulse), request, probe, watch);
        self.pulse = pulse;
        self.router = kept;
        measured
    }

    /// Leaves no router where routes have changed, which are not those of the next trial.
    fn through(
        &self,
        (kept, pulse): (&mut Option<Router>, &mut Pulse),
        request: &Request<'_>,
        probe: &Probe,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, BuiltinError> {
        let Some(router) = kept else { return Err(lost("it has no router")) };
        // They go home before the pool is counted.
        let first = self.layout.take(&self.pool);
        let mut plan = plan(request)?;
        let experiment = request.experiment;
        let measure = request.traffic.measure;
        let (search, latency_at) = match measure.loss_ratio() {
            None => (None, Vec::new()),
            Some(loss_ratio) => {
                let seconds = experiment.duration.as_secs_f64();
                let mut bench = Offering { rings: self, router, plan: &plan, watch };
                let found = search(&mut bench, Asked { measure, loss_ratio, seconds })?;
                let latency_at = match plan.latency {
                    true => {
                        let rate = (found.lower_pps, seconds);
                        self.latency_at_shares(router, &plan, rate, watch)?
                    }
                    false => Vec::new(),
                };
                plan.load = Load::Pps(found.lower_pps);
                (Some(found), latency_at)
            }
        };
        let found = search.as_ref().map_or(0.0, |found| found.lower_pps);
        let benchmark = self.benchmark(router, &plan, (request, found), watch)?;
        if let Some(Benchmark::Soak(soak)) = &benchmark {
            plan.load = Load::Pps(soak.load_pps);
        }
        let switches = match &self.churning {
            Some(churning) => churning.prepare(router, (experiment, request.traffic))?,
            None => Vec::new(),
        };
        let (tester, device) = self.wires();
        let buffer = tester.room();
        let worker = worker(router, device, &self.pool)?;
        let roundtrip = self.cores.and_then(|(a, b)| pingpong::measure(a, b).ok());
        let (rally, diary) = (Rally::new(), Diary::default());
        let cores = self.cores.map(|_| Cores { rally: &rally, clock: &self.clock });
        let mut intervals = Intervals::new(worker.counters(), cores, Some((&diary, pulse)));
        let processor_time = machine::ProcessorTime::now();
        let rate = request.traffic.changes_per_s;
        let churn = self
            .churning
            .as_ref()
            .and_then(|churning| Some(Beside { churning, router: kept.take()?, switches, rate }));
        let (outcome, place, churned) = self.forward(
            Bench { worker, plan: &plan, rally: &rally, diary: Some(&diary), probe, churn },
            tester,
            &mut intervals,
            watch,
        )?;
        drop(first);
        self.gather(0)?;
        if watch.is_stopped() {
            return Err(BuiltinError::Stopped);
        }
        let environment = TrialEnvironment {
            roundtrips_ns: std::mem::take(&mut intervals.roundtrips_ns),
            roundtrip_ns: roundtrip.map(|found| found.median_ns).filter(|ns| ns.is_finite()),
            steal_share: processor_time.and_then(|before| before.stolen_since()),
            core_share: place.core_share,
            pinned: place.is_pinned,
            ..TrialEnvironment::default()
        };
        let mut measured = intervals.measured(&outcome);
        measured.environment = environment;
        measured.churn = churned;
        let is_varied = |other: &Variant| other.set.contains_key(control::BUFFER_FRAMES);
        if is_varied(request.variant) || experiment.variants.iter().any(is_varied) {
            measured.proof.insert(control::BUFFER_FRAMES.to_owned(), buffer.to_string());
        }
        measured.warnings.extend(search.as_ref().and_then(RateSearch::doubt));
        measured.search = search;
        if let Some(Benchmark::Convergence(own)) = &benchmark {
            // What the changes were measured with counts, too, not the frames after them alone.
            let share = &mut measured.environment.core_share;
            *share = share.zip(own.device_share).map(|(one, other)| one.min(other)).or(*share);
        }
        measured.queues = Queue::of_ports(&outcome.by_pair);
        measured.proof.extend(Queue::of_pairs(&outcome.by_pair));
        measured.benchmark = benchmark;
        measured.latency = outcome.latency.map(figures);
        measured.latency_at = latency_at;
        if !place.is_pinned {
            measured.warnings.push("tester and device were not pinned to two cores".to_owned());
        }
        Ok(measured)
    }
}

fn streams(traffic: &Traffic) -> Result<Vec<Stream>, BuiltinError> {
    let stream = |(source, destination): (Endpoint, Endpoint)| {
        let flows = FlowSet::parse(&source.to_string(), &destination.to_string())?;
        let (order, sizes) = (traffic.order, traffic.sizes.clone());
        Ok(Stream { order, sizes, ..Stream::new(flows) })
    };
    match traffic.direction {
        Direction::Mesh => traffic.meshed().into_iter().map(stream).collect(),
        _ => traffic.ends().map(stream).collect(),
    }
}

/// What the tester is to send for this trial.
pub fn plan(request: &Request<'_>) -> Result<TrafficPlan, BuiltinError> {
    let Request { experiment, traffic, .. } = request;
    let recording = traffic.capture.as_ref().and_then(|capture| capture.recording.clone());
    let mut plan = match recording {
        Some(recording) => TrafficPlan::replaying(recording),
        None => TrafficPlan::new(streams(traffic)?),
    };
    plan.load = traffic.load;
    plan.source_mac = TESTER_MACS[0];
    plan.device_mac = DEVICE_MACS[0];
    let far = mac_of(experiment.ports(), 1);
    plan.arrival_mac = TESTER_MACS[far];
    plan.is_mesh = traffic.direction == Direction::Mesh;
    if traffic.direction.is_both() || traffic.measure == Measure::Convergence {
        // What a file asks for is the load of each way, or of each port; and a line rate is a rate, too.
        plan.load = traffic.offered_pps().map_or(Load::Max, Load::Pps);
    }
    if traffic.direction == Direction::Both {
        let (device_mac, arrival_mac) = (DEVICE_MACS[far], TESTER_MACS[0]);
        plan.way_back = Some(WayBack { device_mac, arrival_mac });
    }
    plan.duration_ns = experiment.duration.as_nanos() as u64;
    plan.interval_ns = experiment.interval.as_nanos() as u64;
    plan.drain_ns = PATIENCE.as_nanos() as u64;
    plan.latency = experiment.latency && !traffic.measure.is_benchmark();
    plan.frames_in_flight = FRAMES_IN_FLIGHT;
    plan.batch = BATCH;
    Ok(plan)
}
