//! The built-in device: the router of `fwdlab-router` and the tester of `fwdlab-traffic`, joined
//! by rings in memory, each on a core of its own.
//!
//! The frames live in one pool for the whole campaign, given out in the same order in every trial,
//! so that where they lie in memory is no difference between variants. The router and its tables
//! are made anew for each trial. Counters of both sides are read at the same instants, at the end
//! of each interval, by the tester's thread: a third thread would take time from the two.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fwdlab_device::energy::{Meter, Powercap};
use fwdlab_device::pulse::{Diary, Pulse};
use fwdlab_device::{Device, DeviceError, Facts, Place as Where, Proof, Request, Watch};
use fwdlab_experiment::{Endpoint, Experiment, Traffic, Variant};
use fwdlab_port::affinity::{self, CoreShare};
use fwdlab_port::pingpong::{self, Rally};
use fwdlab_port::ring::{self, RingPort};
use fwdlab_port::{Clock, Pool, PoolConfig};
#[cfg(all(target_os = "linux", feature = "sampler"))]
use fwdlab_results::profile::Profiled;
use fwdlab_results::{Benchmark, Churned, Measure, Measured, TrialEnvironment};
use fwdlab_router::{Overflow, Router, Worker};
use fwdlab_traffic::{
    DEVICE_MACS, FlowSet, Load, Outcome, Stream, TESTER_MACS, TrafficPlan, WayBack,
};

use crate::churn::{Churning, SwitchOf};
use crate::figures::figures;
use crate::intervals::{Cores, Intervals};
use crate::lanes::Lanes;
use crate::layout::Layout;
use crate::poll::{Metronome, Over, poll_until};
use crate::probe::Probe;
use crate::{BuiltinError, control, machine, setup};

/// Frames that circulate between tester and device: the lines of them that are touched fit the
/// second-level cache of current processors.
pub(super) const FRAMES_IN_FLIGHT: usize = 2048;

/// Frames of the longest burst: more than the device can hold back.
const BURST_FRAMES: usize = 2 * control::USUAL_BUFFER;

/// Frames that the tester publishes at once. The device takes as many at a time, whatever its
/// speed, so that its cost per frame does not depend on how long it waited.
pub(super) const BATCH: usize = 256;

/// How long the tester waits for a frame that is still missing after the last one: on a machine
/// with other work, the device's thread may have to wait this long for its core. Without loss,
/// nothing is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The built-in device with its tester.
pub(super) struct Rings {
    experiment: Arc<Experiment>,
    pub(super) pool: Pool,
    clock: Clock,
    cores: Option<(usize, usize)>,
    /// For what changes routes: a third core, or else the tester's.
    spare_core: Option<usize>,
    /// As the variant that was applied last has set it up.
    router: Option<Router>,
    churning: Option<Churning>,
    /// Frames that wait in front of the device.
    buffer: usize,
    /// Where memory lies.
    pub(super) layout: Layout,
    /// How fast the device's processor was so far.
    pulse: Pulse,
    powercap: Powercap,
}

impl Rings {
    /// Takes memory for the frames of `experiment` and two cores.
    ///
    /// # Errors
    /// When there is no memory for the frames.
    pub(super) fn new(experiment: Arc<Experiment>, place: &Where) -> Result<Self, BuiltinError> {
        let layout = Layout::of(place.layout);
        let has_bursts = experiment.traffics.iter().any(|own| own.measure == Measure::BackToBack);
        let frames = if has_bursts { BURST_FRAMES } else { FRAMES_IN_FLIGHT } + layout.frames();
        let usual = PoolConfig { frames, ..PoolConfig::default() };
        let capacity = usual.capacity.max(setup::longest_frame(&experiment));
        let pool = Pool::new(PoolConfig { capacity, ..usual })?;
        let allowed = affinity::allowed_cores();
        let cores = match allowed[..] {
            [tester, device, ..] => Some((tester, device)),
            _ => None,
        };
        let spare_core = allowed.get(2).or(allowed.first()).copied().filter(|_| cores.is_some());
        let churning = Churning::of(&experiment)?;
        Ok(Self {
            experiment,
            pool,
            clock: Clock::new(),
            cores,
            spare_core,
            router: None,
            churning,
            buffer: control::USUAL_BUFFER,
            layout,
            pulse: Pulse::knowing(place.fastest_beat_ns),
            powercap: place.powercap.clone(),
        })
    }
}

impl Device for Rings {
    fn facts(&self) -> Facts {
        let cores = match self.cores {
            Some((tester, device)) => format!("tester on core {tester}, device on core {device}"),
            None => "tester and device share one core".to_owned(),
        };
        Facts::of_device([
            ("cores", cores),
            ("clock", self.clock.name().to_owned()),
            ("frames in flight", FRAMES_IN_FLIGHT.to_string()),
            ("frames published at once", BATCH.to_string()),
        ])
    }

    fn apply(&mut self, variant: &Variant, _: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        // The old tables go first: both at once may be too much memory.
        self.router = None;
        let router = setup::router(&self.experiment, variant).map_err(BuiltinError::from)?;
        let proof = setup::proof(&router, variant);
        self.buffer = setup::buffer(variant);
        self.router = Some(router);
        Ok(proof)
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
}

impl Rings {
    /// Runs one trial, with `probe` in the device's thread.
    fn trial(
        &mut self,
        request: &Request<'_>,
        probe: &Probe,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, BuiltinError> {
        let router = match self.router.take() {
            Some(router) => router,
            None => setup::router(request.experiment, request.variant)?,
        };
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
                let goal = (measure, loss_ratio, seconds);
                let found = self.search(router, &plan, goal, watch)?;
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
        let (tester, device) = self.rings();
        let buffer = tester.0.capacity();
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
        if search.as_ref().is_some_and(|found| found.lower_pps >= found.upper_pps) {
            let what = "the device bore the largest load tried: the state of the machine changed";
            measured.warnings.push(what.to_owned());
        }
        if request.variant.set.contains_key(control::BUFFER_FRAMES) {
            measured.proof.insert(control::BUFFER_FRAMES.to_owned(), buffer.to_string());
        }
        measured.search = search;
        measured.benchmark = benchmark;
        measured.latency = outcome.latency.map(figures);
        measured.latency_at = latency_at;
        if !place.is_pinned {
            measured.warnings.push("tester and device were not pinned to two cores".to_owned());
        }
        Ok(measured)
    }

    /// Two pairs of ports: the tester's, and the device's. What waits in front of the device has as
    /// much room as the variant says, on either side; what comes back always has enough.
    pub(super) fn rings(&self) -> ((RingPort, RingPort), [(u16, RingPort); 2]) {
        let (tester_a, device_0) = ring::pair_of(self.buffer, BURST_FRAMES);
        let (tester_b, device_1) = ring::pair_of(self.buffer, BURST_FRAMES);
        ((tester_a, tester_b), [(0, device_0), (1, device_1)])
    }

    /// Puts the pool's frames in order once all are home, but for so many that are kept from use.
    pub(super) fn gather(&self, kept: usize) -> Result<(), BuiltinError> {
        let are_all = self.pool.restore();
        match are_all || self.pool.available() + kept == self.pool.config().frames {
            true => Ok(()),
            false => Err(lost("it kept frames of the pool")),
        }
    }

    /// The cores of tester and device.
    pub(super) fn cores(&self) -> [Option<usize>; 2] {
        [self.cores.map(|(tester, _)| tester), self.cores.map(|(_, device)| device)]
    }

    /// Runs the device on a thread of its own and the tester on this one, until the plan's end.
    pub(super) fn forward(
        &self,
        Bench { worker, plan, rally, diary, probe, churn }: Bench<'_>,
        (out, back): (RingPort, RingPort),
        intervals: &mut Intervals<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<(Outcome, Place, Option<Churned>), BuiltinError> {
        let mut tester = Lanes::new(plan, &self.pool, (out, back))?;
        let is_over = AtomicBool::new(false);
        let [tester_core, device_core] = self.cores();
        let layout = &self.layout;
        std::thread::scope(|scope| {
            let device = std::thread::Builder::new()
                .name("device".to_owned())
                .spawn_scoped(scope, || {
                    let is_pinned = pin(device_core);
                    let share = CoreShare::begin();
                    let mut worker = Some(worker);
                    let mut poll = || {
                        if let Some(worker) = worker.take() {
                            poll_until(worker, &is_over, rally, Metronome::of(diary));
                        }
                    };
                    probe.around(|| layout.deeper(&mut poll));
                    Place { is_pinned, core_share: share.so_far() }
                })
                .map_err(no_thread)?;
            let changes = churn
                .map(|beside| {
                    let name = std::thread::Builder::new().name("changes".to_owned());
                    let (is_over, core) = (&is_over, self.spare_core);
                    name.spawn_scoped(scope, move || {
                        pin(core);
                        let Beside { churning, router, switches, rate } = beside;
                        churning.run(router, (switches, rate), is_over)
                    })
                })
                .transpose()
                .map_err(no_thread)?;
            // Also when the tester panics: the device's thread would forward for ever.
            let over = Over(&is_over);
            let is_pinned = pin(tester_core);
            let share = CoreShare::begin();
            // Of a load that is only tried nobody asks it.
            let mut meter = diary.and_then(|_| self.powercap.meter());
            let outcome = tester.run(watch.stop, &mut |interval| {
                (watch.on_interval)(&intervals.read(interval));
                meter.iter_mut().for_each(Meter::follow);
            });
            intervals.joules = meter.and_then(Meter::joules);
            let own = Place { is_pinned, core_share: share.so_far() };
            drop(tester);
            drop(over);
            let place = own.and(device.join().map_err(|_| lost("it panicked"))?);
            let churned = changes.map(|changes| changes.join().map_err(|_| lost("it panicked")));
            let churned = churned.transpose()?.transpose().map_err(no_thread)?;
            Ok((outcome, if self.cores.is_some() { place } else { Place::default() }, churned))
        })
    }
}

/// A trial without one of its threads.
fn lost(what: &str) -> BuiltinError {
    BuiltinError::Thread { what: what.to_owned() }
}

fn no_thread(source: io::Error) -> BuiltinError {
    BuiltinError::Port(fwdlab_port::PortError::Thread { source })
}

/// What forwards between the device's ports.
pub(super) fn worker(
    router: &mut Router,
    ports: impl IntoIterator<Item = (u16, RingPort)>,
    pool: &Pool,
) -> Result<Worker<RingPort>, BuiltinError> {
    let worker = router.worker(ports)?;
    Ok(worker.with_pool(pool.clone()).with_overflow(Overflow::Wait))
}

/// Pins the calling thread, where there is a core for it.
pub(super) fn pin(core: Option<usize>) -> bool {
    core.is_some_and(|core| affinity::pin_current_thread(core).is_ok())
}

/// How a thread, or both, got on with its core.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    is_pinned: bool,
    core_share: Option<f64>,
}

impl Place {
    fn and(self, other: Self) -> Self {
        Self {
            is_pinned: self.is_pinned && other.is_pinned,
            core_share: self.core_share.zip(other.core_share).map(|(a, b)| a.min(b)),
        }
    }
}

/// What runs in one trial.
pub(super) struct Bench<'a> {
    pub(super) worker: Worker<RingPort>,
    pub(super) plan: &'a TrafficPlan,
    pub(super) rally: &'a Rally,
    /// Where the device's thread notes how fast its processor is.
    pub(super) diary: Option<&'a Diary>,
    pub(super) probe: &'a Probe,
    pub(super) churn: Option<Beside<'a>>,
}

/// Changes of routes beside the trial.
pub(super) struct Beside<'a> {
    churning: &'a Churning,
    router: Router,
    switches: Vec<SwitchOf>,
    rate: Option<u32>,
}

fn streams(traffic: &Traffic) -> Result<Vec<Stream>, BuiltinError> {
    let stream = |(source, destination): (Endpoint, Endpoint)| {
        let flows = FlowSet::parse(&source.to_string(), &destination.to_string())?;
        let (order, sizes) = (traffic.order, traffic.sizes.clone());
        Ok(Stream { order, sizes, ..Stream::new(flows) })
    };
    traffic.ends().map(stream).collect()
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
    plan.arrival_mac = TESTER_MACS[1];
    if traffic.direction.is_both() {
        plan.way_back = Some(WayBack { device_mac: DEVICE_MACS[1], arrival_mac: TESTER_MACS[0] });
        // What a file asks for is the load of each way.
        plan.load = traffic.offered_pps().map_or(Load::Max, Load::Pps);
    }
    plan.duration_ns = (experiment.warmup + experiment.duration).as_nanos() as u64;
    plan.interval_ns = experiment.interval.as_nanos() as u64;
    plan.drain_ns = PATIENCE.as_nanos() as u64;
    plan.latency = experiment.latency && !traffic.measure.is_benchmark();
    plan.frames_in_flight = FRAMES_IN_FLIGHT;
    plan.batch = BATCH;
    Ok(plan)
}
