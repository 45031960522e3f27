//! The device: namespaces, programs and counters around each trial.

use std::collections::BTreeMap;
use std::iter::repeat;
use std::sync::Arc;

use fwdlab_counters::CpuTime;
use fwdlab_device::energy::{Meter, Powercap};
use fwdlab_device::pulse::Pulse;
use fwdlab_device::turns::{Again, Workers, least, names_absent, possible_cores};
use fwdlab_device::{
    Device, DeviceError, Facts, Proof, Request, Watch, whole_machine, without_whole_machine,
};
use fwdlab_experiment::{Direction, Experiment, Traffic, Variant};
use fwdlab_port::bpf::{Program, XdpLink};
use fwdlab_port::{SocketKind, affinity};
use fwdlab_results::profile::Profiled;
use fwdlab_results::{Benchmark, Busy, Interval, Measure, Measured, Queue, TrialEnvironment, Way};
use fwdlab_topology::{Testbed, Topology, TopologyError, port_name};

use crate::LinuxError;
use crate::attempt;
use crate::convergence;
use crate::core;
use crate::counters::{Change, DeviceCounters, leave_out_own};
use crate::embedded::{Embedded, Ended};
use crate::host;
use crate::loads;
use crate::object::Object;
use crate::probe::{try_af_xdp, try_live_frames};
use crate::settings::{LinuxSettings, RPS, TesterKind, Xdp, is_sysctl};
use crate::setup::{self, DEVICE, RouteTables};
use crate::streams;
use crate::tester::{self, Offering, Sent, Tester, Tracking};
use crate::tuning::Tuning;
use fwdlab_xdp::device::{self, Input};
use fwdlab_xdp::{Shared, word};

/// The Linux kernel with its tester.
#[derive(Debug)]
pub(super) struct Namespaces {
    experiment: Arc<Experiment>,
    /// fwdlab's own router forwards in every variant.
    is_veth: bool,
    testbed: Testbed,
    tables: RouteTables,
    tuning: Tuning,
    core: Option<usize>,
    /// The tester of variants that name none.
    usual: TesterKind,
    /// Beats that the tester's program takes, and those of its thread.
    pulses: [Pulse; 2],
    /// What the variant that was applied last set, and the topology that it wanted.
    applied: Option<(LinuxSettings, Topology)>,
    powercap: Powercap,
}

/// What runs while frames are sent, and what it answered; gone when dropped.
struct Standing<'a> {
    tester: Tester<'a>,
    embedded: Option<Embedded>,
    input: Option<Guard>,
    proof: BTreeMap<String, String>,
}

/// What stands on the device's input; taken off when dropped.
#[derive(Debug)]
struct Guard {
    _link: XdpLink,
    _program: Program,
    object: Option<Object>,
    /// What it does with the frames, in the words of the control word `xdp`.
    work: String,
}

/// What runs in a trial, from which it is read back what a variant set.
struct Running<'a> {
    tester: &'a Tester<'a>,
    embedded: Option<&'a Embedded>,
    input: Option<&'a Guard>,
}

impl Namespaces {
    /// Removes what earlier runs left and looks whether this machine can make namespaces.
    ///
    /// # Errors
    /// Without the privileges; the message names `fwdlab doctor`.
    pub(super) fn new(experiment: Arc<Experiment>, is_veth: bool) -> Result<Self, LinuxError> {
        let concerns_input = is_input_measured(&experiment, is_veth)?;
        tester::check_sessions(&experiment)?;
        streams::check(&experiment)?;
        let mut testbed = Testbed::new()?;
        let mut probe = Topology::default();
        probe.namespace(DEVICE);
        testbed.change_to(&probe)?;
        // Kernels before 5.18 have no live frames, and those before 4.18 no AF_XDP.
        let needs_sockets = |traffic: &Traffic| {
            let is_both = traffic.direction.is_both() && traffic.sessions.is_none();
            traffic.capture.is_some() || is_both || traffic.ports > 2
        };
        let are_sockets = experiment.traffics.iter().any(needs_sockets);
        let usual = if !are_sockets && try_live_frames().is_ok() {
            if concerns_input { TesterKind::Live } else { TesterKind::Inject }
        } else if try_af_xdp().is_ok() {
            TesterKind::AfXdp
        } else {
            TesterKind::AfPacket
        };
        let (tables, tuning) = (RouteTables::default(), Tuning::default());
        let (core, pulses) = (core::quietest(), Default::default());
        let applied = None;
        let powercap = Powercap::default();
        Ok(Self {
            experiment,
            is_veth,
            testbed,
            tables,
            tuning,
            core,
            usual,
            pulses,
            applied,
            powercap,
        })
    }
}

impl Device for Namespaces {
    fn facts(&self) -> Facts {
        let cores = match self.core {
            Some(core) => format!("tester and device share core {core}"),
            None => "tester and device are not pinned".to_owned(),
        };
        let topology = match self.usual {
            TesterKind::Inject => "sender - device's stack - veth - receiver, one queue each way",
            _ => "sender - veth - device - veth - receiver, one queue each way",
        };
        let own = [
            ("cores", cores),
            ("tester", tester::title(self.usual).to_owned()),
            ("topology", topology.to_owned()),
        ];
        Facts::of_device(own.into_iter().chain(host::settings()))
    }

    /// What the variant wants of the topology; what can be read back is read while a trial runs,
    /// when its programs are attached.
    fn apply(&mut self, variant: &Variant, _: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        self.set_up(variant)?;
        Ok(Proof::new())
    }

    /// Makes what runs in a trial, too: programs and sockets are refused only then. And sends a few
    /// frames: where none comes back, none would in any block.
    fn preflight(
        &mut self,
        variant: &Variant,
        watch: &mut Watch<'_>,
    ) -> Result<Proof, DeviceError> {
        self.set_up(variant)?;
        let mut answers = Proof::new();
        let experiment = Arc::clone(&self.experiment);
        for traffic in &experiment.traffics {
            let (settings, wanted) = self.applied.clone().unwrap_or_default();
            let request = Request { experiment: &experiment, variant, traffic };
            if traffic.streams.is_some() {
                answers.extend(self.proof(&request, &settings, &wanted, None)?);
                continue;
            }
            let kind = self.kind(traffic, &settings);
            let shared = shared_map()?;
            answers.extend(self.stand(&request, kind, &shared, (&settings, &wanted))?.proof);
            if traffic.sessions.is_none() {
                let stop = watch.stop;
                attempt::a_few(&request, |short| {
                    self.trial(short, &mut Watch { on_interval: &mut |_| {}, stop })
                })?;
            }
        }
        Ok(answers)
    }

    fn measure(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        Ok(self.trial(request, watch)?)
    }

    /// As of any device, but for sessions and streams: they are warmed up by what is measured of them. A round of sessions
    /// that come and go takes longer, and does other work.
    fn warm_up(&mut self, trial: &Request<'_>, watch: &mut Watch<'_>) -> Result<(), DeviceError> {
        let experiment = trial.experiment.of_warm_up();
        let has_own = trial.traffic.sessions.is_some() || trial.traffic.streams.is_some();
        let measure = if has_own { trial.traffic.measure } else { Measure::Rate };
        let traffic = Traffic { measure, ..trial.traffic.clone() };
        let alone = Request { experiment: &experiment, variant: trial.variant, traffic: &traffic };
        let mut silent = Watch { on_interval: &mut |_| {}, stop: watch.stop };
        self.measure(&alone, &mut silent).map(drop)
    }

    fn without_profiles(&self) -> Option<&'static str> {
        without_whole_machine()
    }

    /// Device and tester are this machine.
    fn profile(
        &mut self,
        request: &Request<'_>,
        frequency_hz: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        whole_machine(frequency_hz, || self.measure(request, watch))
    }
}

impl Namespaces {
    fn set_up(&mut self, variant: &Variant) -> Result<(), LinuxError> {
        self.applied = None;
        let mut settings = LinuxSettings::of(variant);
        settings.is_embedded |= self.is_veth;
        let mut wanted = setup::topology(&self.experiment, variant, &settings, &mut self.tables)?;
        let has_streams = streams::has_streams(&self.experiment);
        streams::furnish(&mut wanted, &self.experiment);
        self.testbed.change_to(&wanted)?;
        self.tuning.change_to(&mut self.testbed, &settings, has_streams)?;
        self.applied = Some((settings, wanted));
        Ok(())
    }

    fn trial(
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
        let kind = self.kind(request.traffic, &settings);
        let (mut search, mut benchmark, mut found) = (None, None, request.traffic.load);
        // What the measure was taken with counts, too, not the frames after it alone.
        let mut core_share = None;
        if needs_overload {
            let shared = shared_map()?;
            let _input = self.attach_input(request.experiment, &settings, &shared)?;
            self.tuning.place(&self.testbed, &settings)?;
            let mut bench = Offering {
                testbed: &mut self.testbed,
                request,
                core: self.core,
                watch,
                workers: Workers::of(settings.rps),
                again: Again::default(),
            };
            (search, benchmark, found) = loads::measure(&mut bench, request)?;
            core_share = bench.again.least();
        } else if request.traffic.measure == Measure::Convergence {
            let socket = socket_of(kind);
            let place = (socket, self.core);
            let own = convergence::measure(&mut self.testbed, request, place, watch)?;
            core_share = own.as_ref().and_then(|own| own.device_share);
            benchmark = own.map(Benchmark::Convergence);
        }
        let traffic = Traffic { load: found, ..request.traffic.clone() };
        let request = &Request { traffic: &traffic, ..*request };
        let shared = shared_map()?;
        let standing = self.stand(request, kind, &shared, (&settings, &wanted))?;
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
            meter.iter_mut().for_each(Meter::follow);
        };
        let mut metered = Watch { on_interval: &mut on_interval, stop: watch.stop };
        let mut sent =
            tester.run(&self.testbed, request, self.core, &mut self.pulses, &mut metered)?;
        let joules = meter.and_then(Meter::joules);
        let ended = embedded.map(Embedded::finish).transpose()?;
        let is_both = request.traffic.direction.is_both();
        let now = DeviceCounters::read(&mut self.testbed, self.experiment.ports())?;
        let mut change = now.since(&before, is_both)?;
        if request.traffic.direction == Direction::Mesh {
            change.ways.clear();
        }
        let cpu = cpu.and_then(|before| Some((CpuTime::now().ok()?, before)));
        drop(input);
        let tracking = sent.tracking.take();
        let cost = match &ended {
            Some(ended) => Cost::Told { ns: ended.busy_ns, frames: ended.busy_frames },
            None if is_stamped(kind, &settings) => {
                let own = tracking.as_ref().map(|tracking| tracking.busy.ns);
                Cost::Stamped(own.unwrap_or_else(|| shared.get(word::BUSY_NS)))
            }
            // Its threads are in no soft interrupt.
            None if settings.threaded => Cost::Untold,
            None => cpu.map_or(Cost::Untold, |(now, before)| Cost::Softirq {
                ns: now.softirq_ns_since(&before),
                frames: worked_on(&sent, &change, &settings),
            }),
        };
        let steal = cpu.and_then(|(now, before)| now.steal_since(&before));
        let mut change = forwarded(change, ended);
        if settings.rps != 0 {
            // A frame for which the other processor's backlog has no room counts twice: the port has
            // received it, and dropped it.
            let full: u64 = ["port0.rx_dropped", "port1.rx_dropped"]
                .iter()
                .filter_map(|port| change.drops.get(*port))
                .sum();
            change.ways.clear();
            change.received = change
                .received
                .zip(change.backlog_drops)
                .map(|(received, twice)| received.saturating_sub(twice.min(full)));
        }
        if kind == TesterKind::Inject {
            // The port has not seen them.
            change.received = change.packets;
        }
        // Of frames put into the stack or sent by sockets, the receiver's count twice.
        let is_counted = settings.rps != 0 && kind == TesterKind::Live && !settings.is_embedded;
        let queues = match is_counted {
            true => queues(&change, settings.rps),
            false => Ok(std::mem::take(&mut sent.by_port)),
        };
        if let Some(Tracking { refused, .. }) = tracking
            && refused > 0
        {
            change.drops.insert("no room to track the session".to_owned(), refused);
        }
        let mut measured = measured(sent, change, &settings, cost);
        if let Some(Tracking { busy, benchmark, proof, warning, .. }) = tracking {
            // Frames that are not counted cost time that nobody took.
            measured.busy = Some(busy);
            measured.benchmark = benchmark;
            measured.proof.extend(proof);
            measured.warnings.extend(warning);
        }
        measured.benchmark = measured.benchmark.or(benchmark);
        measured.search = search;
        measured.environment.core_share = least(measured.environment.core_share, core_share);
        if needs_overload {
            measured.proof.insert("device's processors".to_owned(), format!("{:x}", settings.rps));
        }
        match queues {
            Ok(queues) => {
                measured.warnings.extend(Queue::warning(&queues));
                measured.queues = queues;
            }
            Err(unknown) => measured.warnings.push(unknown),
        }
        measured.proof.extend(proof);
        measured.environment.steal_share = steal;
        measured.joules = joules;
        Ok(measured)
    }

    /// Makes all that runs while frames are sent, in the topology of a variant that was applied, and
    /// asks it what is set.
    fn stand<'a>(
        &mut self,
        request: &Request<'_>,
        kind: TesterKind,
        shared: &'a Shared,
        (settings, wanted): (&LinuxSettings, &Topology),
    ) -> Result<Standing<'a>, LinuxError> {
        let tester = Tester::new(kind, &mut self.testbed, shared, request)?;
        let embedded = match settings.is_embedded {
            true => Some(self.start_router(request, settings)?),
            false => None,
        };
        let has_ports = embedded.as_ref().is_some_and(|router| router.sockets == SocketKind::Xdp);
        let input = match !has_ports && needs_program(kind, settings) {
            true => Some(self.attach_input(request.experiment, settings, shared)?),
            false => None,
        };
        self.tuning.place(&self.testbed, settings)?;
        let running =
            Running { tester: &tester, embedded: embedded.as_ref(), input: input.as_ref() };
        let proof = self.proof(request, settings, wanted, Some(&running))?;
        Ok(Standing { tester, embedded, input, proof })
    }

    /// The tester of a traffic.
    fn kind(&self, traffic: &Traffic, settings: &LinuxSettings) -> TesterKind {
        match traffic.sessions {
            Some(_) => TesterKind::Inject,
            None if loads::needs_overload(traffic) => TesterKind::Live,
            None => settings.tester.unwrap_or(self.usual),
        }
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

    /// Starts fwdlab's router in the device's namespace, on another core than the tester's.
    fn start_router(
        &self,
        request: &Request<'_>,
        settings: &LinuxSettings,
    ) -> Result<Embedded, LinuxError> {
        let core = affinity::allowed_cores().into_iter().find(|core| Some(*core) != self.core);
        Embedded::start(&self.testbed, request, settings, core)
    }

    /// Puts a program on the device's input; it stays as long as the result lives.
    fn attach_input(
        &mut self,
        experiment: &Experiment,
        settings: &LinuxSettings,
        shared: &Shared,
    ) -> Result<Guard, LinuxError> {
        let interface = self.testbed.interface_index(DEVICE, &port_name(0))?;
        let object = match &settings.xdp {
            Xdp::File(file) => {
                let path = setup::beside(&experiment.path, file);
                Some(Object::load(&mut self.testbed, &path)?)
            }
            Xdp::None | Xdp::Forward => None,
        };
        let (input, work) = match (&object, &settings.xdp) {
            (Some(object), Xdp::File(file)) => {
                (Input::Program(&object.table), file.display().to_string())
            }
            (_, Xdp::Forward) => (Input::Forward, "forward".to_owned()),
            _ => (Input::Stack, "none".to_owned()),
        };
        let program = device::load(shared, input)
            .map_err(TopologyError::kernel("load the XDP program of the device's input"))?;
        let link = tester::attach(&self.testbed, DEVICE, interface, &program)?;
        Ok(Guard { _link: link, _program: program, object, work })
    }

    /// What the kernel, and what runs in it, answer when asked for each setting of the variant, and for
    /// what only other variants set. Nothing is taken from the request: what cannot be asked has no
    /// proof.
    fn proof(
        &mut self,
        request: &Request<'_>,
        settings: &LinuxSettings,
        wanted: &Topology,
        running: Option<&Running<'_>>,
    ) -> Result<BTreeMap<String, String>, LinuxError> {
        let variant = request.variant;
        let others = request.experiment.words_of_others(variant);
        let mut proof = BTreeMap::new();
        for name in settings.sysctls.keys() {
            proof.insert(name.clone(), self.testbed.sysctl(DEVICE, name)?);
        }
        for name in others.iter().filter(|word| is_sysctl(word)) {
            // One that can only be written says nothing.
            let read = self.testbed.sysctl(DEVICE, name).ok();
            proof.extend(read.map(|value| ((*name).to_owned(), value)));
        }
        let is_asked = |word: &str| variant.set.contains_key(word) || others.contains(word);
        let embedded = running.and_then(|running| running.embedded);
        let device = &wanted.namespaces[DEVICE];
        if is_asked("nftables") {
            let listed = self.testbed.rules(DEVICE)?;
            let is_there = listed.is_empty() == device.rules.is_none();
            let value = variant.set.get("nftables").filter(|_| is_there).cloned();
            let none = listed.is_empty().then(|| "none".to_owned());
            let found = value.or(none).unwrap_or_else(|| listed.clone());
            proof.insert("nftables".to_owned(), found);
            proof.insert("nftables ruleset".to_owned(), listed);
        }
        if is_asked("routes") {
            let (inet, inet6) = self.testbed.count_routes(DEVICE)?;
            let is_there = inet + inet6 == device.routes.len();
            let counted = format!("{inet} IPv4 and {inet6} IPv6 routes");
            let value = variant.set.get("routes").filter(|_| is_there).cloned();
            proof.insert("routes".to_owned(), value.unwrap_or_else(|| counted.clone()));
            proof.insert("routes in the kernel".to_owned(), counted);
        }
        if is_asked("xdp") {
            let id = self.testbed.xdp_program(DEVICE, &port_name(0))?;
            let work = match (id, running.and_then(|running| running.input)) {
                (Some(_), Some(guard)) => guard.work.as_str(),
                // the sockets of fwdlab's router have one of their own there
                (Some(_), None) if embedded.is_none() => "an unknown program",
                _ => "none",
            };
            proof.insert("xdp".to_owned(), work.to_owned());
        }
        proof.extend(self.tuning.proof(&self.testbed, variant, &others)?);
        if is_asked("router") {
            proof.insert("router".to_owned(), self.forwarder(embedded)?.to_owned());
        }
        if let (true, Some(running)) = (is_asked("tester"), running) {
            proof.insert("tester".to_owned(), running.tester.kind().name().to_owned());
        }
        if let Some(embedded) = embedded {
            if is_asked("ports") {
                proof.insert("ports".to_owned(), embedded.sockets.name().to_owned());
            }
            proof.extend(embedded.words.clone());
        }
        Ok(proof)
    }

    /// Who forwards, in the words of the control word `router`.
    fn forwarder(&mut self, embedded: Option<&Embedded>) -> Result<&'static str, LinuxError> {
        let mut kernel = false;
        for switch in ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"] {
            kernel |= self.testbed.sysctl(DEVICE, switch)? == "1";
        }
        Ok(match (embedded.is_some_and(Embedded::is_running), kernel) {
            (true, false) => "fwdlab",
            (false, true) => "kernel",
            (true, true) => "fwdlab and kernel",
            (false, false) => "nothing",
        })
    }
}

/// The map by which the programs of a trial tell each other what they saw.
fn shared_map() -> Result<Shared, LinuxError> {
    Ok(Shared::new().map_err(TopologyError::kernel("make a map that programs share"))?)
}

/// Whether a variant changes how frames come in by the device's port.
fn is_input_measured(experiment: &Experiment, is_veth: bool) -> Result<bool, LinuxError> {
    let mut is_measured = is_veth;
    for variant in &experiment.variants {
        let settings = LinuxSettings::of(variant);
        let concerns_input = is_veth || settings.concerns_input();
        if concerns_input && settings.tester == Some(TesterKind::Inject) {
            let what = format!(
                "{}: variant {}: tester = \"inject\" puts frames past the device's port, whose input \
                 this variant changes; write tester = \"live\"",
                experiment.path.display(),
                variant.name
            );
            return Err(LinuxError::Setup { what });
        }
        if let Some(text) = variant.set.get(RPS)
            && names_absent(settings.rps, &possible_cores())
        {
            let place = setup::place_of(experiment, RPS, text);
            let what = format!(
                "{place}: variant {}: rps = {text:?} names processors that are not there; this machine has {}",
                variant.name,
                possible_cores()
            );
            return Err(LinuxError::Setup { what });
        }
        is_measured |= concerns_input;
    }
    Ok(is_measured)
}

/// What is known about the device's cost.
enum Cost {
    /// Nanoseconds between time stamps, in which all frames were forwarded.
    Stamped(u64),
    /// What fwdlab's router says about itself.
    Told { ns: u64, frames: u64 },
    /// Nanoseconds in soft interrupts of all processors, in which so many frames were worked on.
    Softirq { ns: u64, frames: u64 },
    /// Nobody counted it.
    Untold,
}

/// The frames that the device worked on: those for which nothing had room cost it next to nothing.
fn worked_on(sent: &Sent, change: &Change, settings: &LinuxSettings) -> u64 {
    let reached = change.packets.filter(|_| settings.xdp == Xdp::None);
    reached.filter(|packets| *packets > 0).map_or(sent.sent, |packets| packets.min(sent.sent))
}

/// Whether a program stands on the device's input. Frames of sockets have too little room in front
/// for one, so that the kernel copies each of them before it runs: only where it is asked for.
fn needs_program(kind: TesterKind, settings: &LinuxSettings) -> bool {
    match kind {
        TesterKind::Inject | TesterKind::Live => true,
        TesterKind::AfXdp | TesterKind::AfPacket => settings.xdp != Xdp::None || settings.threaded,
        TesterKind::Naive => false,
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

/// Whether the device's work lies between two time stamps of one processor.
fn is_stamped(kind: TesterKind, settings: &LinuxSettings) -> bool {
    let is_live = matches!(kind, TesterKind::Inject | TesterKind::Live);
    is_live && !settings.is_embedded && !settings.threaded && settings.rps == 0
}

/// What frames beside the trial's may add to the counts of processors.
const BESIDE: f64 = 0.02;

/// Frames by the processors that received them, of those to which they are spread. The counters are
/// those of the whole machine: where they do not agree with the device's, nobody knows whose they are, and
/// what there is to say about it is the error.
fn queues(change: &Change, mask: u64) -> Result<Vec<Queue>, String> {
    let is_in = |cpu: u32| cpu < u64::BITS && mask & 1 << cpu != 0;
    let own: Vec<Queue> = change
        .processed
        .iter()
        .filter(|(cpu, _)| is_in(*cpu))
        .map(|(cpu, frames)| Queue { name: format!("cpu{cpu}"), frames: *frames })
        .collect();
    let sum = own.iter().fold(0_u64, |sum, queue| sum.saturating_add(queue.frames));
    let received = change.received.unwrap_or_default();
    if sum.abs_diff(received) as f64 <= BESIDE * received as f64 {
        return Ok(own);
    }
    Err(format!(
        "frames by processor are not known: the processors took {sum}, the device received {received}; \
         what else is received on this machine counts there, too"
    ))
}

/// What the device forwarded and dropped, its own router's drops included.
fn forwarded(mut change: Change, ended: Option<Ended>) -> Change {
    let Some(ended) = ended else { return change };
    change.drops.retain(|reason, _| reason.starts_with("port"));
    if ended.sockets == SocketKind::Xdp {
        // A frame for which an AF_XDP socket has no room counts twice: the interface has received
        // it, and dropped it.
        let full = change.drops.entry("port0.rx_dropped".to_owned()).or_default();
        let twice = ended.unread.min(*full);
        *full -= twice;
        change.received = change.received.map(|received| received.saturating_sub(twice));
        change.drops.retain(|_, count| *count > 0);
    }
    change.drops.extend(ended.drops);
    // The router says them all.
    change.has_reasons = true;
    change
}

/// Frames that the device sent of its own accord, not forwarded (multicast listener reports of
/// interfaces that have just come up). Those that the tester saw explain what the device sent beyond
/// the test traffic (some of them came before it was counted); so do those that it sent when the
/// tester had gone, beyond all that it had received.
fn own_frames(
    (device_received, device_sent): (Option<u64>, u64),
    received: u64,
    strays: u64,
) -> u64 {
    let unseen = device_received.map_or(0, |received| device_sent.saturating_sub(received));
    strays.max(unseen).min(device_sent.saturating_sub(received))
}

/// The device's share of the time that tester and device had the core for. What others took of it,
/// or a hypervisor stole, is not the tester's.
fn device_share(busy_ns: u64, whole_ns: f64, core_share: Option<f64>) -> Option<f64> {
    let had_ns = whole_ns * core_share.unwrap_or(1.0);
    (had_ns > 0.0).then(|| (busy_ns as f64 / had_ns).min(1.0))
}

/// The counts of a trial.
fn measured(sent: Sent, change: Change, settings: &LinuxSettings, cost: Cost) -> Measured {
    let device_sent = change.sent.saturating_sub(sent.unread);
    let own = own_frames((change.received, device_sent), sent.received, sent.strays);
    let device_sent = device_sent - own;
    // Frames of its own, and those that the tester had no room for, belong to no way.
    let is_told = own == 0 && sent.unread == 0;
    let ports = change.ways.iter().copied().map(Some).filter(|_| is_told).chain(repeat(None));
    let with_ports = |(way, ports): (Way, Option<[u64; 2]>)| Way {
        device_received: ports.map(|[received, _]| received),
        device_sent: ports.map(|[_, sent]| sent),
        ..way
    };
    let ways = sent.ways.into_iter().zip(ports).map(with_ports).collect();
    let mut drops = change.drops;
    if sent.unread > 0 {
        drops.insert("tester had no room".to_owned(), sent.unread);
    }
    leave_out_own(&mut drops, change.received, device_sent);
    // Rules and programs drop without a counter of the kernel's: what is missing is theirs. With
    // neither of them everything must be accounted for, or the trial fails.
    let counted: u64 = drops.values().sum();
    let has_reasons = change.has_reasons;
    let missing = change.received.map_or(0, |n| n.saturating_sub(device_sent + counted));
    if missing > 0 && has_reasons && (settings.rules.is_some() || settings.xdp != Xdp::None) {
        drops.insert("rules or program".to_owned(), missing);
    }
    let proof = sent.pacing.map(|pacing| ("tester pacing".to_owned(), pacing));
    let mut measured = Measured {
        intervals: sent.intervals,
        sent: Some(sent.sent),
        received: sent.received,
        flows_seen: Some(sent.flows_seen),
        device_received: change.received,
        device_sent: Some(device_sent),
        drops: has_reasons.then_some(drops),
        checks: Some(sent.checks),
        ways,
        // Frames that are lost while the tester waits are the device's fault.
        idle_share: Some(if sent.received < sent.sent { 0.0 } else { sent.waiting_share }),
        proof: proof.into_iter().collect(),
        environment: TrialEnvironment {
            pinned: sent.pinned,
            core_share: sent.core_share,
            ..TrialEnvironment::default()
        },
        ..Measured::default()
    };
    let whole = |measured: &mut Measured| {
        measured.intervals.iter_mut().for_each(|interval| interval.busy = None);
    };
    let whole_ns: f64 = measured.intervals.iter().map(|interval| interval.ms * 1e6).sum();
    if let Cost::Stamped(ns) | Cost::Softirq { ns, .. } = cost {
        measured.environment.device_share = device_share(ns, whole_ns, sent.core_share);
    }
    match cost {
        Cost::Stamped(ns) => measured.busy = Some(Busy { ns, frames: sent.sent }),
        Cost::Untold => whole(&mut measured),
        Cost::Told { ns, frames } => {
            measured.busy = Some(Busy { ns, frames });
            whole(&mut measured);
        }
        Cost::Softirq { ns, frames } => {
            measured.busy = Some(Busy { ns, frames });
            whole(&mut measured);
            measured.warnings.push(
                "device cost: time in soft interrupts of all processors, in steps of 10 ms"
                    .to_owned(),
            );
        }
    }
    if settings.threaded && measured.busy.is_none() {
        measured.warnings.push(
            "device cost: not counted: kernel threads receive (threaded = \"on\"), and their time is not \
             told apart; compare rates, or rps, whose soft interrupts are counted"
                .to_owned(),
        );
    }
    if !has_reasons {
        measured.warnings.push(
            "why packets were dropped is not known: /proc/net/snmp or netstat cannot be read"
                .to_owned(),
        );
    }
    if !sent.pinned {
        measured.warnings.push("the tester was not pinned to a core".to_owned());
    }
    measured
}

#[cfg(test)]
mod convergence_tests;
#[cfg(test)]
mod load_tests;
#[cfg(test)]
mod mesh_tests;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod stop_tests;
#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;
