//! The running Linux kernel as device: sender, device and receiver in network namespaces of their
//! own, joined by veth pairs.
//!
//! Sender, device and receiver run on one processor: the sender's system call does the device's
//! work for each batch of frames before it makes the next. That is the set-up whose rate differs
//! least from trial to trial; the rate is that of tester and device together. What the device
//! alone needs is measured by time stamps at its input and at the receiver, and reported as its
//! cost. Frames can be moved to other processors (`rps`, `threaded`); then the cost is the time
//! that all processors spent in soft interrupts.

mod counters;
mod cpu;
mod embedded;
mod headers;
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

pub use self::probe::{try_live_frames, try_namespaces};
use fwdlab_port::affinity;
use fwdlab_port::bpf::{Program, XdpLink};

use self::counters::{Change, DeviceCounters};
use self::cpu::CpuTime;
use self::embedded::Embedded;
use self::programs::device::{self, Input};
use self::programs::word;
use self::setup::{DEVICE, RouteTables};
use self::tester::LiveTester;
use self::topology::{Testbed, Topology, TopologyError, port_name};
use self::tuning::Tuning;
use super::{Device, DeviceError, Measured, Request, Watch};
use crate::experiment::{Experiment, LinuxSettings, Variant, Xdp};
use crate::results::TrialEnvironment;

/// The Linux kernel with its tester.
#[derive(Debug)]
pub struct Linux {
    testbed: Testbed,
    tables: RouteTables,
    tuning: Tuning,
    core: Option<usize>,
}

impl Linux {
    /// Removes what earlier runs left and looks whether this machine can make namespaces.
    ///
    /// # Errors
    /// Without the privileges; the message names `fwdlab doctor`.
    pub fn new(_: &Experiment) -> Result<Self, DeviceError> {
        let mut testbed = Testbed::new()?;
        let mut probe = Topology::default();
        probe.namespace(DEVICE);
        testbed.change_to(&probe)?;
        // The last core: interrupts of the machine's own devices mostly go to the first.
        let core = affinity::allowed_cores().last().copied();
        Ok(Self { testbed, tables: RouteTables::default(), tuning: Tuning::default(), core })
    }
}

impl Device for Linux {
    fn settings(&self) -> BTreeMap<String, String> {
        let cores = match self.core {
            Some(core) => format!("tester and device share core {core}"),
            None => "tester and device are not pinned".to_owned(),
        };
        let topology = "sender - veth - device - veth - receiver, one queue each way";
        [("cores", cores.as_str()), ("tester", tester::NAME), ("topology", topology)]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    fn run(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        let settings = LinuxSettings::of(request.variant);
        let wanted =
            setup::topology(request.experiment, request.variant, &settings, &mut self.tables)?;
        self.testbed.change_to(&wanted)?;
        self.tuning.change_to(&self.testbed, &settings)?;
        let tester = LiveTester::new(&mut self.testbed, request.traffic)?;
        let input = self.attach_input(request.experiment, &settings, &tester)?;
        let proof = self.proof(request.variant, &settings, &wanted)?;
        let embedded = settings
            .is_embedded
            .then(|| self.start_router(request.experiment, &settings))
            .transpose()?;
        let cpu = CpuTime::now().ok();
        let before = DeviceCounters::read(&mut self.testbed)?;
        let strays = tester.shared().get(word::STRAYS);
        let sent = tester.run(&self.testbed, request.experiment, self.core, watch)?;
        let ended = embedded.map(Embedded::finish).transpose()?;
        let after = DeviceCounters::read(&mut self.testbed)?;
        let cpu = cpu.and_then(|before| Some((CpuTime::now().ok()?, before)));
        drop(input);
        let mut measured = measured(&tester, strays, after.since(&before), &settings);
        measured.intervals = sent.intervals;
        measured.proof.extend(proof);
        measured.environment = TrialEnvironment {
            steal_share: cpu.and_then(|(now, before)| now.steal_since(&before)),
            pinned: sent.pinned,
            ..TrialEnvironment::default()
        };
        if let Some(ended) = ended {
            measured.drops.retain(|reason, _| reason.starts_with("port"));
            measured.drops.extend(ended.drops);
            (measured.busy_ns, measured.busy_frames) = (ended.busy_ns, ended.busy_frames);
            measured.intervals.iter_mut().for_each(|i| (i.busy_ns, i.busy_frames) = (0, 0));
        } else if let (false, Some((now, before))) = (is_stamped(&settings), cpu) {
            // Time stamps say nothing where several processors work at once.
            measured.busy_ns = now.softirq_ns_since(&before);
            for interval in &mut measured.intervals {
                (interval.busy_ns, interval.busy_frames) = (0, 0);
            }
            measured.warnings.push(
                "device cost: time in soft interrupts of all processors, in steps of 10 ms"
                    .to_owned(),
            );
        }
        if !sent.pinned {
            measured.warnings.push("the tester was not pinned to a core".to_owned());
        }
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
        tester: &LiveTester,
    ) -> Result<(Option<Program>, XdpLink), DeviceError> {
        let interface = self.testbed.interface_index(DEVICE, &port_name(0))?;
        let input = match &settings.xdp {
            Xdp::None => Input::Stack,
            Xdp::Forward => Input::Forward,
            Xdp::File(file) => {
                let path = setup::beside(&experiment.path, file);
                let what = format!("{}: object files cannot be loaded yet", path.display());
                return Err(DeviceError::Setup { what });
            }
        };
        let program = device::load(tester.shared(), input)
            .map_err(TopologyError::kernel("load the XDP program of the device's input"))?;
        let link = tester::attach(&self.testbed, DEVICE, interface, &program)?;
        Ok((Some(program), link))
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
                if id.is_some() { value } else { "no program".to_owned() },
            );
        }
        proof.extend(self.tuning.proof(&self.testbed, variant)?);
        // What cannot be read back: the router was started with these, or the trial has failed.
        proof.extend(asked("router").map(|value| ("router".to_owned(), value)));
        proof.extend(settings.router_words.clone());
        Ok(proof)
    }
}

/// Whether the device's work lies between two time stamps of one processor.
fn is_stamped(settings: &LinuxSettings) -> bool {
    !settings.is_embedded
        && !settings.threaded
        && settings.rps == 0
        && !matches!(settings.xdp, Xdp::File(_))
}

/// The counts of a trial; `strays` is how many frames that are none of the tester's had arrived
/// before it (multicast listener reports of interfaces that have just come up).
fn measured(
    tester: &LiveTester,
    strays: u64,
    change: Change,
    settings: &LinuxSettings,
) -> Measured {
    let strays = tester.shared().get(word::STRAYS).saturating_sub(strays);
    let (sent, received) = (tester.sent(), tester.received());
    let device_sent = change.sent.saturating_sub(strays);
    let mut drops = change.drops;
    // Rules and programs drop without a counter of the kernel's: what is missing is theirs. With
    // neither of them everything must be accounted for, or the trial fails.
    let counted: u64 = drops.values().sum();
    let missing = change.received.saturating_sub(device_sent + counted);
    if missing > 0 && (settings.rules.is_some() || settings.xdp != Xdp::None) {
        drops.insert("rules or program".to_owned(), missing);
    }
    let mut proof = BTreeMap::from([("tester".to_owned(), tester::NAME.to_owned())]);
    proof.extend(tester.pacing().map(|pacing| ("tester pacing".to_owned(), pacing)));
    Measured {
        sent,
        received,
        flows_seen: tester.shared().get(word::FLOWS_SEEN),
        device_received: change.received,
        device_sent,
        drops,
        checks: tester.checks(),
        busy_ns: tester.shared().get(word::BUSY_NS),
        busy_frames: sent,
        // Frames that are lost while the tester waits are the device's fault.
        idle_share: if received < sent { 0.0 } else { tester.waiting_share() },
        proof,
        ..Measured::default()
    }
}
