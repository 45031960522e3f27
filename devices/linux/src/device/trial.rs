//! A trial: what the measure finds, then the frames that count.

use std::collections::BTreeMap;

use fwdlab_counters::CpuTime;
use fwdlab_device::energy::{Meter, NoJoules, noted};
use fwdlab_device::turns::{Again, Workers, least};
use fwdlab_device::{Request, Watch};
use fwdlab_experiment::{Direction, Load, Traffic};
use fwdlab_results::{Benchmark, Interval, LatencyAt, Measure, Measured, Queue, RateSearch};
use fwdlab_topology::Topology;

use super::figures::{Cost, forwarded, is_stamped, measured, queues, received_once, worked_on};
use super::namespaces::Namespaces;
use super::running::Standing;
use super::stand::shared_map;
use crate::LinuxError;
use crate::convergence;
use crate::counters::{Change, DeviceCounters};
use crate::embedded::Embedded;
use crate::loads;
use crate::probe::try_af_xdp;
use crate::settings::{LinuxSettings, TesterKind};
use crate::streams;
use crate::tester::{self, Offering, Sent, Tracking};

/// What the measure of a traffic found before the frames that count.
struct Found {
    search: Option<RateSearch>,
    benchmark: Option<Benchmark>,
    load: Load,
    latency_at: Vec<LatencyAt>,
    /// The least share of a processor that the tester had.
    core_share: Option<f64>,
}

/// What was counted while frames were sent.
struct Counted {
    sent: Sent,
    tracking: Option<Tracking>,
    change: Change,
    kind: TesterKind,
    cost: Cost,
    steal: Option<f64>,
    joules: Option<Result<f64, NoJoules>>,
    proof: BTreeMap<String, String>,
}

impl Counted {
    /// The figures of it.
    fn measured(self, settings: &LinuxSettings) -> Measured {
        let Self { sent, tracking, mut change, kind, cost, steal, joules, proof } = self;
        // Of frames put into the stack or sent by sockets, the receiver's count twice.
        let is_counted = settings.rps != 0 && kind == TesterKind::Live && !settings.is_embedded;
        let queues = match is_counted {
            true => queues(&change, settings.rps),
            false => Ok(Queue::of_ports(&sent.by_pair)),
        };
        let pairs = Queue::of_pairs(&sent.by_pair);
        if let Some(Tracking { refused, .. }) = tracking
            && refused > 0
        {
            change.drops.insert(Measured::UNTRACKED.to_owned(), refused);
        }
        let mut measured = measured(sent, change, settings, cost);
        if let Some(Tracking { busy, benchmark, proof, warning, .. }) = tracking {
            // Frames that are not counted cost time that nobody took.
            measured.busy = Some(busy);
            measured.benchmark = benchmark;
            measured.proof.extend(proof);
            measured.warnings.extend(warning);
        }
        match queues {
            Ok(queues) => measured.queues = queues,
            Err(unknown) => measured.warnings.push(unknown),
        }
        measured.proof.extend(proof.into_iter().chain(pairs));
        measured.environment.steal_share = steal;
        let (joules, no_joules) = noted(joules);
        measured.joules = joules;
        measured.warnings.extend(no_joules);
        measured
    }
}

impl Namespaces {
    /// One trial with a variant that was applied.
    pub(super) fn trial(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, LinuxError> {
        if self.applied.is_none() {
            self.set_up(request.variant)?;
        }
        if request.traffic.streams.is_some() {
            return self.stream_trial(request, watch);
        }
        let (mut settings, wanted) = self.applied.clone().unwrap_or_default();
        let needs_overload = loads::needs_overload(request.traffic);
        if needs_overload {
            loads::place(&mut settings, self.core)?;
        }
        let found = self.find(request, &settings, watch)?;
        let traffic = Traffic { load: found.load, ..request.traffic.clone() };
        let request = &Request { traffic: &traffic, ..*request };
        let counted = self.count(request, (&settings, &wanted), watch)?;
        let mut measured = counted.measured(&settings);
        measured.benchmark = measured.benchmark.or(found.benchmark);
        measured.warnings.extend(found.search.as_ref().and_then(RateSearch::doubt));
        measured.search = found.search;
        measured.latency_at = found.latency_at;
        measured.environment.core_share = least(measured.environment.core_share, found.core_share);
        if needs_overload {
            measured.proof.insert("device's processors".to_owned(), format!("{:x}", settings.rps));
        }
        Ok(measured)
    }

    /// Takes the measure of a traffic, and finds the load at which frames are counted then.
    fn find(
        &mut self,
        request: &Request<'_>,
        settings: &LinuxSettings,
        watch: &mut Watch<'_>,
    ) -> Result<Found, LinuxError> {
        let load = request.traffic.load;
        let (latency_at, core_share) = (Vec::new(), None);
        let mut found = Found { search: None, benchmark: None, load, latency_at, core_share };
        if loads::needs_overload(request.traffic) {
            let shared = shared_map()?;
            let _input = self.attach_input(request.experiment, settings, &shared)?;
            self.tuning.place(&self.testbed, settings)?;
            let mut bench = Offering {
                testbed: &mut self.testbed,
                request,
                core: self.core,
                watch,
                workers: Workers::of(settings.rps),
                again: Again::default(),
            };
            (found.search, found.benchmark, found.load) = loads::measure(&mut bench, request)?;
            if let Some(search) = found.search.as_ref().filter(|_| tester::is_timed(request)) {
                found.latency_at = bench.latency_at_shares(search.lower_pps)?;
            }
            found.core_share = bench.again.least();
        } else if request.traffic.measure == Measure::Convergence {
            let socket = socket_of(self.kind(request.traffic, settings));
            let place = (socket, self.core);
            let own = convergence::measure(&mut self.testbed, request, place, watch)?;
            found.core_share = own.as_ref().and_then(|own| own.device_share);
            found.benchmark = own.map(Benchmark::Convergence);
        }
        Ok(found)
    }

    /// Sends the frames that count, between two readings of every counter.
    fn count(
        &mut self,
        request: &Request<'_>,
        (settings, wanted): (&LinuxSettings, &Topology),
        watch: &mut Watch<'_>,
    ) -> Result<Counted, LinuxError> {
        let shared = shared_map()?;
        let kind = self.kind(request.traffic, settings);
        let standing = self.stand(request, kind, &shared, (settings, wanted))?;
        let Standing { tester, embedded, input, mut proof } = standing;
        proof.insert("tester used".to_owned(), tester::title(tester.kind()).to_owned());
        if let Some(object) = input.as_ref().and_then(|guard| guard.object.as_ref()) {
            proof.insert("xdp program".to_owned(), object.name.clone());
        }
        let cpu = CpuTime::now().ok();
        let before = DeviceCounters::read(&mut self.testbed, self.experiment.ports())?;
        let mut meter = self.powercap.meter();
        let mut on_interval = |interval: &Interval| {
            (watch.on_interval)(interval);
            meter.iter_mut().for_each(|meter| meter.mark(interval.length()));
        };
        let mut metered = Watch { on_interval: &mut on_interval, stop: watch.stop };
        let mut sent =
            tester.run(&self.testbed, request, self.core, &mut self.pulses, &mut metered)?;
        let joules = meter.map(Meter::joules);
        let ended = embedded.map(Embedded::finish).transpose()?;
        let is_both = request.traffic.direction.is_both();
        let now = DeviceCounters::read(&mut self.testbed, self.experiment.ports())?;
        let mut change = now.since(&before, is_both)?;
        match request.traffic.direction {
            Direction::Mesh => change.ways.clear(),
            Direction::Both => {}
            // What came back to its senders left by their side.
            Direction::One => change.sent += sent.checks.returned,
        }
        let cpu = cpu.and_then(|before| Some((CpuTime::now().ok()?, before)));
        drop(input);
        let tracking = sent.tracking.take();
        let cost = match &ended {
            Some(ended) => Cost::Told { ns: ended.busy_ns, frames: ended.busy_frames },
            None if is_stamped(kind, settings) => {
                let own = tracking.as_ref().map(|tracking| tracking.busy);
                Cost::Stamped(own.unwrap_or_else(|| tester::worked(&shared, kind)))
            }
            // Its threads are in no soft interrupt.
            None if settings.threaded => Cost::Untold,
            None => cpu.map_or(Cost::Untold, |(now, before)| Cost::Softirq {
                ns: now.softirq_ns_since(&before),
                frames: worked_on(&sent, &change, settings),
            }),
        };
        let steal = cpu.and_then(|(now, before)| now.steal_since(&before));
        let change = received_once(forwarded(change, ended), kind, settings);
        Ok(Counted { sent, tracking, change, kind, cost, steal, joules, proof })
    }

    /// A trial of streams, which are carried by the kernel's own stacks at both ends.
    fn stream_trial(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, LinuxError> {
        let (settings, wanted) = self.applied.clone().unwrap_or_default();
        if request.traffic.measure == Measure::ByteCost {
            self.tuning.set_like_the_ends(&self.testbed, streams::PAST)?;
        }
        let mut proof = self.proof(request, &settings, &wanted, None)?;
        if request.variant.set.contains_key("tester") {
            proof.insert("tester".to_owned(), "the kernel's own stacks".to_owned());
        }
        let cpu = CpuTime::now().ok();
        let [_, pulse] = &mut self.pulses;
        let carried = streams::carry(&mut self.testbed, request, self.core, pulse, watch)?;
        let steal = cpu.and_then(|before| CpuTime::now().ok()?.steal_since(&before));
        if let Benchmark::Goodput(own) | Benchmark::ByteCost(own) = &carried.benchmark {
            proof.insert("congestion control".to_owned(), own.congestion.clone());
            proof.insert("segment bytes".to_owned(), own.segment_bytes.to_string());
        }
        let mut measured = measured(carried.sent, carried.change, &settings, Cost::Untold);
        if !settings.offloads.is_none() || !settings.ends.is_none() {
            // The device's frames hold several segments each, and the ends count segments.
            (measured.device_received, measured.device_sent) = (None, None);
            measured.drops = None;
        }
        if carried.left > 0 {
            measured.warnings.push(format!(
                "{} bytes had not arrived 3 s after the last was sent",
                carried.left
            ));
        }
        measured.checks = None;
        measured.benchmark = Some(carried.benchmark);
        measured.proof.extend(proof);
        measured.environment.steal_share = steal;
        Ok(measured)
    }
}

/// The sockets of a tester, or the best that there are.
fn socket_of(kind: TesterKind) -> TesterKind {
    match kind {
        TesterKind::Inject | TesterKind::Live if try_af_xdp().is_ok() => TesterKind::AfXdp,
        TesterKind::Inject | TesterKind::Live => TesterKind::AfPacket,
        socket => socket,
    }
}
