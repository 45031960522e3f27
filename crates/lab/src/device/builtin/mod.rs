//! The built-in device: the router of `fwdlab-router` and the tester of `fwdlab-traffic`, joined
//! by rings in memory, each on a core of its own.
//!
//! The frames live in one pool for the whole campaign, given out in the same order in every trial,
//! so that where they lie in memory is no difference between variants. The router and its tables
//! are made anew for each trial. Counters of both sides are read at the same instants, at the end
//! of each interval, by the tester's thread: a third thread would take time from the two.

mod machine;
mod probe;
mod search;
mod setup;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fwdlab_port::affinity::{self, CoreShare};
use fwdlab_port::pingpong::{self, Rally};
use fwdlab_port::ring::{self, RingPort};
use fwdlab_port::{Clock, Pool, PoolConfig};
use fwdlab_router::{Counters, Overflow, Snapshot, Worker};
use fwdlab_traffic::{FlowSet, LatencySummary, Outcome, Plan, Stream, Tester};

use self::probe::Probe;
pub(super) use self::setup::router;
use super::{Device, DeviceError, Measured, Request, Watch};
use crate::experiment::{Experiment, Load};
use crate::profile::Profiled;
use crate::results::{Checks, Interval, LatencyFigures, TrialEnvironment};

/// Frames that circulate between tester and device: the lines of them that are touched fit the
/// second-level cache of current processors.
const FRAMES_IN_FLIGHT: usize = 2048;

/// Frames that the tester publishes at once. The device takes as many at a time, whatever its
/// speed, so that its cost per frame does not depend on how long it waited.
const BATCH: usize = 256;

/// How long the tester waits for a frame that is still missing after the last one: on a machine
/// with other work, the device's thread may have to wait this long for its core. Without loss,
/// nothing is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The built-in device with its tester.
pub struct Builtin {
    pool: Pool,
    clock: Clock,
    cores: Option<(usize, usize)>,
}

impl Builtin {
    /// Takes memory for the frames of `experiment` and two cores.
    ///
    /// # Errors
    /// When there is no memory for the frames.
    pub fn new(experiment: &Experiment) -> Result<Self, DeviceError> {
        let usual = PoolConfig { frames: FRAMES_IN_FLIGHT, ..PoolConfig::default() };
        let capacity = usual.capacity.max(setup::longest_frame(experiment));
        let pool = Pool::new(PoolConfig { capacity, ..usual })?;
        let cores = match affinity::allowed_cores()[..] {
            [tester, device, ..] => Some((tester, device)),
            _ => None,
        };
        Ok(Self { pool, clock: Clock::new(), cores })
    }
}

impl Device for Builtin {
    fn settings(&self) -> BTreeMap<String, String> {
        let cores = match self.cores {
            Some((tester, device)) => format!("tester on core {tester}, device on core {device}"),
            None => "tester and device share one core".to_owned(),
        };
        [
            ("cores", cores),
            ("clock", self.clock.name().to_owned()),
            ("frames in flight", FRAMES_IN_FLIGHT.to_string()),
            ("frames published at once", BATCH.to_string()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }

    fn run(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        self.trial(request, &Probe::none(), watch)
    }

    /// Samples the device's thread from within: needs no root and no perf, and leaves the tester
    /// alone.
    #[cfg(target_os = "linux")]
    fn profile(
        &mut self,
        request: &Request<'_>,
        frequency_hz: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        let probe = Probe::sampling(frequency_hz);
        let measured = self.trial(request, &probe, watch)?;
        let profiler = format!("a timer in the device's thread, {frequency_hz} a second");
        Ok(Profiled { measured, stacks: probe.stacks()?, profiler })
    }
}

impl Builtin {
    /// Runs one trial, with `probe` in the device's thread.
    fn trial(
        &mut self,
        request: &Request<'_>,
        probe: &Probe,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        let mut router = setup::router(request.experiment, request.variant)?;
        let proof = setup::proof(&router, request.variant);
        let mut plan = plan(request)?;
        let experiment = request.experiment;
        let (search, latency_at) = match experiment.measure.loss_ratio() {
            None => (None, Vec::new()),
            Some(loss_ratio) => {
                let seconds = experiment.duration.as_secs_f64();
                let goal = (experiment.measure, loss_ratio, seconds);
                let found = self.search(&mut router, &plan, goal, watch)?;
                let latency_at = match experiment.latency {
                    true => {
                        let rate = (found.lower_pps, seconds);
                        self.latency_at_shares(&mut router, &plan, rate, watch)?
                    }
                    false => Vec::new(),
                };
                plan.load = fwdlab_traffic::Load::Pps(found.lower_pps);
                (Some(found), latency_at)
            }
        };
        let (tester_a, device_0) = ring::pair(2 * FRAMES_IN_FLIGHT);
        let (device_1, tester_b) = ring::pair(2 * FRAMES_IN_FLIGHT);
        let worker = router
            .worker([(0, device_0), (1, device_1)])?
            .with_pool(self.pool.clone())
            .with_overflow(Overflow::Wait);
        let roundtrip = self.cores.and_then(|(a, b)| pingpong::measure(a, b).ok());
        let rally = Rally::new();
        let mut sampler =
            Sampler::new(worker.counters(), self.cores.map(|_| (&rally, &self.clock)));
        let processor_time = machine::ProcessorTime::now();
        let (outcome, place) = self.forward(
            Bench { worker, plan: &plan, rally: &rally, probe },
            (tester_a, tester_b),
            &mut sampler,
            watch,
        )?;
        if !self.pool.restore() {
            return Err(DeviceError::Thread { what: "it kept frames of the pool".to_owned() });
        }
        if watch.is_stopped() {
            return Err(DeviceError::Stopped);
        }
        let environment = TrialEnvironment {
            roundtrips_ns: std::mem::take(&mut sampler.roundtrips_ns),
            roundtrip_ns: roundtrip.map(|found| found.median_ns).filter(|ns| ns.is_finite()),
            steal_share: processor_time.and_then(|before| before.stolen_since()),
            core_share: place.core_share,
            pinned: place.is_pinned,
            ..TrialEnvironment::default()
        };
        let mut measured = sampler.measured(&outcome);
        measured.proof = proof;
        measured.environment = environment;
        if search.as_ref().is_some_and(|found| found.lower_pps >= found.upper_pps) {
            let what = "the device bore the largest load tried: the state of the machine changed";
            measured.warnings.push(what.to_owned());
        }
        measured.search = search;
        measured.latency = outcome.latency.map(figures);
        measured.latency_at = latency_at;
        if !place.is_pinned {
            measured.warnings.push("tester and device were not pinned to two cores".to_owned());
        }
        Ok(measured)
    }

    /// Runs the device on a thread of its own and the tester on this one, until the plan's end.
    fn forward(
        &self,
        Bench { worker, plan, rally, probe }: Bench<'_>,
        (out, back): (RingPort, RingPort),
        sampler: &mut Sampler<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<(Outcome, Place), DeviceError> {
        let mut tester = Tester::new(plan, &self.pool, out, back)?;
        let is_over = AtomicBool::new(false);
        let pin =
            |core: Option<usize>| core.is_some_and(|c| affinity::pin_current_thread(c).is_ok());
        let device_core = self.cores.map(|(_, device)| device);
        std::thread::scope(|scope| {
            let device = std::thread::Builder::new()
                .name("device".to_owned())
                .spawn_scoped(scope, || {
                    let is_pinned = pin(device_core);
                    let share = CoreShare::begin();
                    probe.around(|| poll_until(worker, &is_over, rally));
                    Place { is_pinned, core_share: share.so_far() }
                })
                .map_err(|source| DeviceError::Port(fwdlab_port::PortError::Thread { source }))?;
            let is_pinned = pin(self.cores.map(|(tester, _)| tester));
            let share = CoreShare::begin();
            let outcome = tester.run(watch.stop, &mut |interval| {
                (watch.on_interval)(&sampler.sample(interval));
            });
            let own = Place { is_pinned, core_share: share.so_far() };
            drop(tester);
            is_over.store(true, Ordering::Relaxed);
            let what = || DeviceError::Thread { what: "it panicked".to_owned() };
            let place = own.and(device.join().map_err(|_| what())?);
            Ok((outcome, if self.cores.is_some() { place } else { Place::default() }))
        })
    }
}

fn figures(latency: LatencySummary) -> LatencyFigures {
    let LatencySummary { frames, minimum_ns, median_ns, p99_ns, .. } = latency;
    let LatencySummary { p99_9_ns, p99_99_ns, maximum_ns, .. } = latency;
    LatencyFigures { frames, minimum_ns, median_ns, p99_ns, p99_9_ns, p99_99_ns, maximum_ns }
}

/// How a thread, or both, got on with its core.
#[derive(Clone, Copy, Default)]
struct Place {
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
struct Bench<'a> {
    worker: Worker<RingPort>,
    plan: &'a Plan,
    rally: &'a Rally,
    probe: &'a Probe,
}

/// The device's main loop. It looks at the flag only between polls without a frame, so that
/// everything that was sent is forwarded before it ends.
fn poll_until(mut worker: Worker<RingPort>, is_over: &AtomicBool, rally: &Rally) {
    loop {
        rally.answer();
        if worker.poll() == 0 {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            std::hint::spin_loop();
        }
    }
}

/// What the tester is to send for this trial.
pub(super) fn plan(request: &Request<'_>) -> Result<Plan, DeviceError> {
    let Request { experiment, traffic, .. } = request;
    let mut streams = Vec::new();
    for (source, destination) in traffic.ends() {
        let flows = FlowSet::parse(&source.to_string(), &destination.to_string())?;
        let (order, sizes) = (traffic.order, traffic.sizes.clone());
        streams.push(Stream { order, sizes, ..Stream::new(flows) });
    }
    let mut plan = Plan::new(streams);
    plan.load = match traffic.load {
        Load::Max => fwdlab_traffic::Load::Max,
        Load::Pps(pps) => fwdlab_traffic::Load::Pps(pps),
        Load::LineRate(bits) => fwdlab_traffic::Load::LineRate(bits),
    };
    plan.source_mac = setup::TESTER_MACS[0];
    plan.device_mac = setup::DEVICE_MACS[0];
    plan.arrival_mac = setup::TESTER_MACS[1];
    plan.duration_ns = (experiment.warmup + experiment.duration).as_nanos() as u64;
    plan.interval_ns = experiment.interval.as_nanos() as u64;
    plan.drain_ns = PATIENCE.as_nanos() as u64;
    plan.latency = experiment.latency;
    plan.frames_in_flight = FRAMES_IN_FLIGHT;
    plan.batch = BATCH;
    Ok(plan)
}

/// What the tester found in the frames that it received, all of which it looked into.
pub(super) fn checks(outcome: &Outcome) -> Checks {
    let checks = &outcome.checks;
    Checks {
        checked: outcome.received(),
        lost: outcome.lost(),
        duplicated: checks.duplicated,
        reordered: checks.reordered,
        misrouted: checks.misrouted + checks.unknown_flow,
        bad_ttl: checks.wrong_ttl,
        bad_checksum: checks.bad_checksum + checks.bad_payload + checks.wrong_header,
        bad_mac: checks.wrong_mac,
    }
}

/// Reads the device's counters at the end of each of the tester's intervals, and how far the two
/// cores are from each other.
struct Sampler<'a> {
    counters: Arc<Counters>,
    first: Option<Snapshot>,
    last: Snapshot,
    intervals: Vec<Interval>,
    rally: Option<(&'a Rally, &'a Clock)>,
    roundtrips_ns: Vec<Option<f64>>,
}

impl<'a> Sampler<'a> {
    fn new(counters: Arc<Counters>, rally: Option<(&'a Rally, &'a Clock)>) -> Self {
        let last = counters.snapshot();
        Self {
            counters,
            first: None,
            last,
            intervals: Vec::new(),
            rally,
            roundtrips_ns: Vec::new(),
        }
    }

    fn sample(&mut self, interval: &fwdlab_traffic::Interval) -> Interval {
        let now = self.counters.snapshot();
        let since = now.since(&self.last);
        self.last = now;
        // What came before the first reading is start-up: threads, caches, an empty ring.
        self.first.get_or_insert(now);
        let sampled = Interval {
            ms: interval.length_ns as f64 / 1e6,
            tx: interval.sent,
            rx: interval.received,
            busy_ns: since.busy_ns,
            busy_frames: since.busy_frames,
            ..Interval::default()
        };
        self.intervals.push(sampled);
        if let Some((rally, clock)) = self.rally {
            self.roundtrips_ns.push(rally.measure(clock));
        }
        sampled
    }

    /// The trial's counts, once both sides rest.
    fn measured(self, outcome: &Outcome) -> Measured {
        let end = self.counters.snapshot();
        let running = self.last.since(&self.first.unwrap_or_default());
        let polled_ns = running.busy_ns + running.idle_ns;
        Measured {
            intervals: self.intervals,
            sent: outcome.sent(),
            received: outcome.received(),
            flows_seen: outcome.flows_seen(),
            device_received: end.received,
            device_sent: end.sent,
            drops: end.drop_counts().map(|(reason, n)| (reason.name().to_owned(), n)).collect(),
            checks: checks(outcome),
            busy_ns: end.busy_ns,
            busy_frames: end.busy_frames,
            idle_share: if polled_ns == 0 {
                0.0
            } else {
                running.idle_ns as f64 / polled_ns as f64
            },
            ..Measured::default()
        }
    }
}
