//! The running Linux kernel as device: sender, device and receiver in network namespaces of their
//! own, joined by veth pairs.
//!
//! Sender, device and receiver run on one processor: the sender's system call does the device's
//! work for each batch of frames before it makes the next. That is the set-up whose rate differs
//! least from trial to trial; the rate is that of tester and device together. What the device
//! alone needs is measured by time stamps at its input and at the receiver, and reported as its
//! cost. Frames can be moved to other processors (`rps`, `threaded`); then the cost is the time
//! that all processors spent in soft interrupts.

mod core;
mod counters;
mod cpu;
mod embedded;
mod headers;
mod object;
mod probe;
pub mod programs;
mod setup;
mod tester;
pub mod topology;
mod tuning;

#[cfg(test)]
mod differential;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use self::probe::{try_af_xdp, try_live_frames, try_namespaces};
use fwdlab_port::bpf::{Program, XdpLink};
use fwdlab_port::{SocketKind, affinity};

use self::counters::{Change, DeviceCounters};
use self::cpu::CpuTime;
use self::embedded::{Embedded, Ended};
use self::object::Object;
use self::programs::device::{self, Input};
use self::programs::{Shared, word};
use self::setup::{DEVICE, RouteTables};
use self::tester::{Sent, Tester};
use self::topology::{Testbed, Topology, TopologyError, port_name};
use self::tuning::Tuning;
use super::pulse::Pulse;
use super::{Device, DeviceError, Measured, Request, Watch};
use crate::experiment::{DeviceKind, Experiment, LinuxSettings, TesterKind, Variant, Xdp};
use crate::results::TrialEnvironment;

/// The Linux kernel with its tester.
#[derive(Debug)]
pub struct Linux {
    testbed: Testbed,
    tables: RouteTables,
    tuning: Tuning,
    core: Option<usize>,
    /// The tester of variants that name none.
    usual: TesterKind,
    /// Beats that the tester's program takes, and those of its thread.
    pulses: [Pulse; 2],
}

/// What stands on the device's input; taken off when dropped.
#[derive(Debug)]
struct Guard {
    _link: XdpLink,
    _program: Program,
    object: Option<Object>,
}

impl Linux {
    /// Removes what earlier runs left and looks whether this machine can make namespaces.
    ///
    /// # Errors
    /// Without the privileges; the message names `fwdlab doctor`.
    pub fn new(experiment: &Experiment) -> Result<Self, DeviceError> {
        let concerns_input = is_input_measured(experiment)?;
        let mut testbed = Testbed::new()?;
        let mut probe = Topology::default();
        probe.namespace(DEVICE);
        testbed.change_to(&probe)?;
        // Kernels before 5.18 have no live frames, and those before 4.18 no AF_XDP.
        let usual = if try_live_frames().is_ok() {
            if concerns_input { TesterKind::Live } else { TesterKind::Inject }
        } else if try_af_xdp().is_ok() {
            TesterKind::AfXdp
        } else {
            TesterKind::AfPacket
        };
        let (tables, tuning) = (RouteTables::default(), Tuning::default());
        let (core, pulses) = (core::quietest(), Default::default());
        Ok(Self { testbed, tables, tuning, core, usual, pulses })
    }
}

impl Device for Linux {
    fn settings(&self) -> BTreeMap<String, String> {
        let cores = match self.core {
            Some(core) => format!("tester and device share core {core}"),
            None => "tester and device are not pinned".to_owned(),
        };
        let topology = match self.usual {
            TesterKind::Inject => "sender - device's stack - veth - receiver, one queue each way",
            _ => "sender - veth - device - veth - receiver, one queue each way",
        };
        [("cores", cores.as_str()), ("tester", tester::title(self.usual)), ("topology", topology)]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    fn run(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        let mut settings = LinuxSettings::of(request.variant);
        settings.is_embedded |= request.experiment.device == DeviceKind::BuiltinVeth;
        let kind = settings.tester.unwrap_or(self.usual);
        let wanted =
            setup::topology(request.experiment, request.variant, &settings, &mut self.tables)?;
        self.testbed.change_to(&wanted)?;
        self.tuning.change_to(&mut self.testbed, &settings)?;
        let shared =
            Shared::new().map_err(TopologyError::kernel("make a map that programs share"))?;
        let tester = Tester::new(kind, &mut self.testbed, &shared, request)?;
        let embedded = match settings.is_embedded {
            true => Some(self.start_router(request.experiment, &settings)?),
            false => None,
        };
        let has_ports = embedded.as_ref().is_some_and(|router| router.sockets == SocketKind::Xdp);
        let input = match !has_ports && needs_program(kind, &settings) {
            true => Some(self.attach_input(request.experiment, &settings, &shared)?),
            false => None,
        };
        self.tuning.place(&self.testbed, &settings)?;
        let mut proof = self.proof(request.variant, &settings, &wanted)?;
        proof.insert("tester used".to_owned(), tester::title(kind).to_owned());
        if let Some(object) = input.as_ref().and_then(|guard| guard.object.as_ref()) {
            proof.insert("xdp program".to_owned(), object.name.clone());
        }
        let cpu = CpuTime::now().ok();
        let before = DeviceCounters::read(&mut self.testbed)?;
        let sent = tester.run(&self.testbed, request, self.core, &mut self.pulses, watch)?;
        let ended = embedded.map(Embedded::finish).transpose()?;
        let change = DeviceCounters::read(&mut self.testbed)?.since(&before);
        let cpu = cpu.and_then(|before| Some((CpuTime::now().ok()?, before)));
        drop(input);
        let cost = match &ended {
            Some(ended) => Cost::Told { ns: ended.busy_ns, frames: ended.busy_frames },
            None if is_stamped(kind, &settings) => Cost::Stamped(shared.get(word::BUSY_NS)),
            None => Cost::Softirq(cpu.map_or(0, |(now, before)| now.softirq_ns_since(&before))),
        };
        let steal = cpu.and_then(|(now, before)| now.steal_since(&before));
        let mut change = forwarded(change, ended);
        if settings.rps != 0 {
            // A frame for which the other processor's backlog has no room counts twice: the port has
            // received it, and dropped it.
            let full = change.drops.get("port0.rx_dropped").copied().unwrap_or(0);
            change.received -= change.backlog_drops.min(full).min(change.received);
        }
        if kind == TesterKind::Inject {
            // The port has not seen them.
            change.received = change.packets;
        }
        let mut measured = measured(sent, change, &settings, cost);
        measured.proof.extend(proof);
        measured.environment.steal_share = steal;
        Ok(measured)
    }
}

impl Linux {
    /// Starts fwdlab's router in the device's namespace, on another core than the tester's.
    fn start_router(
        &self,
        experiment: &Experiment,
        settings: &LinuxSettings,
    ) -> Result<Embedded, DeviceError> {
        let core = affinity::allowed_cores().into_iter().find(|core| Some(*core) != self.core);
        Embedded::start(&self.testbed, experiment, settings, core)
    }

    /// Puts a program on the device's input; it stays as long as the result lives.
    fn attach_input(
        &mut self,
        experiment: &Experiment,
        settings: &LinuxSettings,
        shared: &Shared,
    ) -> Result<Guard, DeviceError> {
        let interface = self.testbed.interface_index(DEVICE, &port_name(0))?;
        let object = match &settings.xdp {
            Xdp::File(file) => {
                let path = setup::beside(&experiment.path, file);
                Some(Object::load(&mut self.testbed, &path)?)
            }
            Xdp::None | Xdp::Forward => None,
        };
        let input = match (&object, &settings.xdp) {
            (Some(object), _) => Input::Program(&object.table),
            (None, Xdp::Forward) => Input::Forward,
            (None, _) => Input::Stack,
        };
        let program = device::load(shared, input)
            .map_err(TopologyError::kernel("load the XDP program of the device's input"))?;
        let link = tester::attach(&self.testbed, DEVICE, interface, &program)?;
        Ok(Guard { _link: link, _program: program, object })
    }

    /// What the kernel answers when asked for each setting of the variant.
    fn proof(
        &mut self,
        variant: &Variant,
        settings: &LinuxSettings,
        wanted: &Topology,
    ) -> Result<BTreeMap<String, String>, DeviceError> {
        let mut proof = BTreeMap::new();
        for name in settings.sysctls.keys() {
            proof.insert(name.clone(), self.testbed.sysctl(DEVICE, name)?);
        }
        let asked = |word: &str| variant.set.get(word).cloned();
        let device = &wanted.namespaces[DEVICE];
        if let Some(value) = asked("nftables") {
            let listed = self.testbed.rules(DEVICE)?;
            let is_there = listed.is_empty() == device.rules.is_none();
            proof.insert("nftables".to_owned(), if is_there { value } else { listed.clone() });
            proof.insert("nftables ruleset".to_owned(), listed);
        }
        if let Some(value) = asked("routes") {
            let (inet, inet6) = self.testbed.count_routes(DEVICE)?;
            let is_there = inet + inet6 == device.routes.len();
            let counted = format!("{inet} IPv4 and {inet6} IPv6 routes");
            proof.insert("routes".to_owned(), if is_there { value } else { counted.clone() });
            proof.insert("routes in the kernel".to_owned(), counted);
        }
        if let Some(value) = asked("xdp") {
            let id = self.testbed.xdp_program(DEVICE, &port_name(0))?;
            proof.insert(
                "xdp".to_owned(),
                match id.is_some() || settings.xdp == Xdp::None {
                    true => value,
                    false => "no program".to_owned(),
                },
            );
        }
        proof.extend(self.tuning.proof(&self.testbed, variant)?);
        // What cannot be read back: tester and router were started with these, or the trial has
        // failed.
        for word in ["router", "tester", "ports"] {
            proof.extend(asked(word).map(|value| (word.to_owned(), value)));
        }
        proof.extend(settings.router_words.clone());
        Ok(proof)
    }
}

/// Whether a variant changes how frames come in by the device's port.
fn is_input_measured(experiment: &Experiment) -> Result<bool, DeviceError> {
    let is_veth = experiment.device == DeviceKind::BuiltinVeth;
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
            return Err(DeviceError::Setup { what });
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
    /// Nanoseconds in soft interrupts of all processors.
    Softirq(u64),
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

/// Whether the device's work lies between two time stamps of one processor.
fn is_stamped(kind: TesterKind, settings: &LinuxSettings) -> bool {
    let is_live = matches!(kind, TesterKind::Inject | TesterKind::Live);
    is_live && !settings.is_embedded && !settings.threaded && settings.rps == 0
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
        change.received -= twice.min(change.received);
        change.drops.retain(|_, count| *count > 0);
    }
    change.drops.extend(ended.drops);
    change
}

/// Frames that the device sent of its own accord, not forwarded (multicast listener reports of
/// interfaces that have just come up). Those that the tester saw explain what the device sent beyond
/// the test traffic (some of them came before it was counted); so do those that it sent when the
/// tester had gone, beyond all that it had received.
fn own_frames((device_received, device_sent): (u64, u64), received: u64, strays: u64) -> u64 {
    let unseen = device_sent.saturating_sub(device_received);
    strays.max(unseen).min(device_sent.saturating_sub(received))
}

/// The counts of a trial.
fn measured(sent: Sent, change: Change, settings: &LinuxSettings, cost: Cost) -> Measured {
    let device_sent = change.sent.saturating_sub(sent.unread);
    let own = own_frames((change.received, device_sent), sent.received, sent.strays);
    let device_sent = device_sent - own;
    let mut drops = change.drops;
    if sent.unread > 0 {
        drops.insert("tester had no room".to_owned(), sent.unread);
    }
    // Rules and programs drop without a counter of the kernel's: what is missing is theirs. With
    // neither of them everything must be accounted for, or the trial fails.
    let counted: u64 = drops.values().sum();
    let missing = change.received.saturating_sub(device_sent + counted);
    if missing > 0 && (settings.rules.is_some() || settings.xdp != Xdp::None) {
        drops.insert("rules or program".to_owned(), missing);
    }
    let proof = sent.pacing.map(|pacing| ("tester pacing".to_owned(), pacing));
    let mut measured = Measured {
        intervals: sent.intervals,
        sent: sent.sent,
        received: sent.received,
        flows_seen: sent.flows_seen,
        device_received: change.received,
        device_sent,
        drops,
        checks: sent.checks,
        busy_frames: sent.sent,
        // Frames that are lost while the tester waits are the device's fault.
        idle_share: if sent.received < sent.sent { 0.0 } else { sent.waiting_share },
        proof: proof.into_iter().collect(),
        environment: TrialEnvironment { pinned: sent.pinned, ..TrialEnvironment::default() },
        ..Measured::default()
    };
    let whole = |measured: &mut Measured| {
        measured.intervals.iter_mut().for_each(|i| (i.busy_ns, i.busy_frames) = (0, 0));
    };
    let whole_ns: f64 = measured.intervals.iter().map(|interval| interval.ms * 1e6).sum();
    if let Cost::Stamped(ns) | Cost::Softirq(ns) = cost {
        measured.environment.device_share = (whole_ns > 0.0).then_some(ns as f64 / whole_ns);
    }
    match cost {
        Cost::Stamped(ns) => measured.busy_ns = ns,
        Cost::Told { ns, frames } => {
            (measured.busy_ns, measured.busy_frames) = (ns, frames);
            whole(&mut measured);
        }
        Cost::Softirq(ns) => {
            measured.busy_ns = ns;
            whole(&mut measured);
            measured.warnings.push(
                "device cost: time in soft interrupts of all processors, in steps of 10 ms"
                    .to_owned(),
            );
        }
    }
    if !sent.pinned {
        measured.warnings.push("the tester was not pinned to a core".to_owned());
    }
    measured
}
