//! All that the boots of an experiment share, and how one of them is followed to its last message.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fwdlab_agent::channel::Counted;
use fwdlab_agent::task::{GuestClock, GuestTester, Task, TaskSessions, TaskTraffic};
use fwdlab_device::{DeviceError, Request, Watch, moment};
use fwdlab_experiment::{Direction, Experiment, Traffic, Variant};
use fwdlab_kernel::KernelError;
use fwdlab_results::{CONSOLE_DIR, Family, Measured};
use fwdlab_topology::NFTABLES;

use crate::beginning::Beginning;
use crate::boot::Boot;
use crate::captures::Captures;
use crate::config::Needs;
use crate::counts::measured;
use crate::follow::{End, follow};
use crate::freebsd::Sampler;
use crate::qemu::{Accelerator, Machine, Progress, Running};
use crate::settings::{Booted, VmMachine};
use crate::state::{Place, State};
use crate::task::task;
use crate::{VmError, kvm, qemu, sessions, settings};

/// What pktgen does to the device (`refcount_add(..., &pkt_dev->skb->users)` in pktgen_xmit()).
const SHARED_FRAMES: &str = "pktgen keeps a hand on each frame, so that the device copies it before \
                             it changes it: the cost is higher than with another tester";

/// QEMU's processor time that a boot may take in silence, and a second of the guest's time. Both
/// are generous: on a busy host, a boot and 0.8 s of instructions took 13 s together.
pub(super) const BOOT_LIMIT: Duration = Duration::from_secs(120);
const LIMIT_PER_SECOND: Duration = Duration::from_secs(60);

/// Samples of a FreeBSD guest lie so far apart on average, in the host's time.
const SAMPLE_EVERY: Duration = Duration::from_millis(1);

/// As many routes are written when a variant is only tried.
pub(super) const ROUTES_REHEARSED: usize = 1_000;

/// The guests of an experiment.
#[derive(Debug)]
pub(super) struct Guests {
    pub(super) experiment: Arc<Experiment>,
    program: PathBuf,
    /// Where consoles of guests that failed are kept.
    pub(super) results: Option<PathBuf>,
    pub(super) boots: BTreeMap<String, Boot>,
    /// Some variant's rules translate addresses: the frames of sessions have marks in all of them.
    translates: bool,
    captures: Captures,
    pub(super) machine: VmMachine,
    /// Why there is no hardware virtualisation, where the clock could use it.
    pub(super) without_kvm: Option<String>,
}

impl Guests {
    pub(super) fn new(experiment: &Arc<Experiment>, program: &Path) -> Result<Self, DeviceError> {
        let (machine, variants) = settings::of(experiment);
        let base = experiment.path.parent().unwrap_or(Path::new(""));
        let names = experiment.variants.iter();
        // All guests hold the same files, so that they differ only in what is compared.
        let has_rules = names.clone().any(|variant| variant.set.contains_key(NFTABLES));
        let needs = Needs {
            ipv6: experiment.traffics.iter().any(|traffic| traffic.family != Family::Inet),
            nft: has_rules,
            rules: None,
            pktgen: machine.tester == GuestTester::Pktgen,
            state: machine.boots == Booted::Block,
            profile: experiment.profile,
            instructions: machine.clock == GuestClock::Instructions,
            sessions: experiment.traffics.iter().any(|traffic| traffic.sessions.is_some()),
        };
        let mut boots = BTreeMap::new();
        for (variant, vm) in names.zip(variants) {
            let boot = Boot::new(variant, &vm, &machine, (program, base), needs);
            let boot = boot.and_then(|boot| {
                let known = sessions::check(&experiment.traffics, variant, &boot);
                known.map(|()| boot)
            });
            let boot = boot.map_err(|error| {
                let key = error.key();
                let blame = experiment.blame(&variant.name, &format!("{key}: {error}"));
                DeviceError::setup(blame.replacen(&format!("{key}: "), "", 1))
            })?;
            boots.insert(variant.name.clone(), boot);
        }
        check_traffics(experiment, &boots)?;
        let without_kvm = match (machine.clock, boots.values().next()) {
            (GuestClock::Wall, Some(boot)) => kvm::try_boot(program, &boot.kernel.image).err(),
            _ => None,
        };
        let memory_mb = boots.values().map(|boot| boot.memory_mb(&machine)).min();
        let captures = Captures::read(experiment, memory_mb.unwrap_or_default())?;
        let experiment = Arc::clone(experiment);
        let translates = boots.values().any(|boot| boot.translation().is_some());
        Ok(Self {
            experiment,
            program: program.to_owned(),
            results: None,
            boots,
            translates,
            captures,
            machine,
            without_kvm,
        })
    }

    pub(super) fn task(&self, request: &Request<'_>) -> Task {
        let task = task(request, &self.machine);
        let has_mark = self.translates;
        Task { sessions: task.sessions.map(|own| TaskSessions { has_mark, ..own }), ..task }
    }

    fn accelerator(&self) -> Accelerator {
        match self.machine.clock {
            GuestClock::Wall if self.without_kvm.is_none() => Accelerator::Kvm,
            _ => Accelerator::Tcg,
        }
    }

    pub(super) fn boot(&self, variant: &Variant) -> Result<&Boot, VmError> {
        let missing = || KernelError::NoKernel { kernel: PathBuf::from(&variant.name) };
        Ok(self.boots.get(&variant.name).ok_or_else(missing)?)
    }

    /// The traffics of which a guest tries a few frames, each as a short task; none where not all routes
    /// are written. Sessions need a table of their own, and captures a file each.
    pub(super) fn to_try<'t>(
        &'t self,
        variant: &Variant,
        rehearsal: &Task,
    ) -> Vec<(&'t Traffic, Task)> {
        let is_whole = rehearsal.routes.len() <= ROUTES_REHEARSED;
        if !is_whole {
            return Vec::new();
        }
        let plain = |traffic: &&Traffic| traffic.sessions.is_none() && traffic.capture.is_none();
        let short = |traffic: &'t Traffic| {
            let task = self.task(&Request { experiment: &self.experiment, variant, traffic });
            let ns = moment::LENGTH.as_nanos() as u64;
            let unpaced = TaskTraffic { pps: None, ..task.traffic };
            let routes = Vec::new();
            (traffic, Task { traffic: unpaced, routes, duration_ns: ns, interval_ns: ns, ..task })
        };
        self.experiment.traffics.iter().filter(plain).map(short).collect()
    }

    /// The trial's counts, with a doubt about the clock where there is one.
    pub(super) fn judged(&self, mut counted: Counted, request: &Request<'_>) -> Measured {
        let rounds = sessions::take(&mut counted, request.traffic.measure);
        let mut measured = measured(counted, request.variant, self.machine.clock);
        if let Some(own) = request.traffic.sessions {
            sessions::add(&mut measured, rounds, request.traffic, own);
        }
        measured.warnings.extend(self.without_kvm.as_ref().map(|why| {
            format!(
                "wall time of an emulated processor ({why}): the figures are the emulator's, not \
                 the kernel's; use clock = \"instructions\""
            )
        }));
        measured
            .warnings
            .extend((self.machine.tester == GuestTester::Pktgen).then(|| SHARED_FRAMES.to_owned()));
        measured
    }

    /// Boots, and waits for the guest's last message.
    pub(super) fn counted(
        &self,
        request: &Request<'_>,
        profile_ns: Option<u64>,
        watch: &mut Watch<'_>,
    ) -> Result<Counted, DeviceError> {
        self.follow(request, Task { profile_ns, ..self.task(request) }, watch)
    }

    /// Boots for this task, and waits for the guest's last message.
    pub(super) fn follow(
        &self,
        request: &Request<'_>,
        task: Task,
        watch: &mut Watch<'_>,
    ) -> Result<Counted, DeviceError> {
        let boot = self.boot(request.variant)?;
        let task = boot.completed(task);
        let mut sampler = match task.profile_ns {
            Some(_) if boot.is_freebsd() => Some(Sampler::new(&boot.kernel.image, SAMPLE_EVERY)?),
            _ => None,
        };
        let monitor = sampler.as_ref().map(Sampler::argument);
        let payload = boot.payload(&task, self.captures.of(request.traffic))?;
        let mut running = self.start(boot, &payload, Beginning::Boot, monitor)?;
        let mut counted = self.listen(&mut running, (request, &task, ""), &mut sampler, watch)?;
        counted.profile = counted.profile.or(sampler.map(Sampler::counts));
        Ok(counted)
    }

    fn start(
        &self,
        boot: &Boot,
        payload: &[u8],
        beginning: Beginning<'_>,
        monitor: Option<[String; 2]>,
    ) -> Result<Running, VmError> {
        let loaded = boot.loaded()?;
        let machine = Machine {
            launcher: &self.program,
            image: &boot.kernel.image,
            payload,
            start: boot.start(loaded.as_deref()),
            beginning,
            command_line: &boot.command_line,
            memory_mb: boot.memory_mb(&self.machine),
            clock: self.machine.clock,
            accelerator: self.accelerator(),
            monitor,
        };
        machine.start()
    }

    /// Waits for a guest's last message; `before` is what its console said earlier.
    fn listen(
        &self,
        running: &mut Running,
        (request, task, before): (&Request<'_>, &Task, &str),
        sampler: &mut Option<Sampler>,
        watch: &mut Watch<'_>,
    ) -> Result<Counted, DeviceError> {
        let seconds = ((task.warmup_ns + task.duration_ns) / 1_000_000_000 + 1) as u32;
        let limit = self.machine.patience.unwrap_or(BOOT_LIMIT + LIMIT_PER_SECOND * seconds);
        let name = format!("{}.{}", request.variant.name, request.traffic.name);
        let followed = follow(running, Progress::new(limit), sampler, watch);
        followed.map_err(|end| match end {
            End::Stopped => DeviceError::Stopped,
            End::Broken(broken) => {
                let stamp = fwdlab_results::journal::utc_stamp(SystemTime::now()).replace(':', "");
                let text = format!("{before}{}", running.console());
                let name = format!("{name}.{stamp}");
                let keep = |dir: &PathBuf| {
                    if task.is_rehearsal {
                        // There are no results yet; a directory that cannot be made is said below.
                        let _ = std::fs::create_dir_all(dir);
                    }
                    qemu::keep_console(&text, &dir.join(CONSOLE_DIR), &name)
                };
                let place = self.results.as_ref().map_or_else(|| "no file".into(), keep);
                let root = self.boots.get(&request.variant.name).and_then(Boot::root);
                broken.error(&text, place, root).into()
            }
        })
    }

    /// Boots a variant for all traffics, and keeps its state.
    pub(super) fn kept(
        &self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<State, DeviceError> {
        let boot = self.boot(request.variant)?;
        let place = Place::new()?;
        let payload = self.payload_to_keep(boot, request)?;
        let payload = payload.as_slice();
        let monitor = Some(place.argument());
        let mut running = self.start(boot, payload, Beginning::BootToKeep, monitor)?;
        let task = self.task(request);
        self.listen(&mut running, (request, &task, ""), &mut None, watch)?;
        let kept = place.keep(&mut running, &request.variant.name, watch)?;
        kept.ok_or(DeviceError::Stopped)
    }

    /// What a guest starts from that is to be kept: the tasks of all traffics.
    fn payload_to_keep(&self, boot: &Boot, request: &Request<'_>) -> Result<Vec<u8>, VmError> {
        let of = |traffic: &Traffic| boot.completed(self.task(&Request { traffic, ..*request }));
        let from_state: Vec<Task> = self.experiment.traffics.iter().map(of).collect();
        if from_state.len() > Task::MOST_FROM_STATE {
            let why = format!("{} traffics are more than it can name", from_state.len());
            return Err(VmError::State { why });
        }
        let captures = self.captures.only(&self.experiment.traffics)?;
        // The network is the same for all of them.
        let task = Task { from_state, ..of(request.traffic) };
        boot.payload(&task, captures)
    }

    /// Goes on from a kept state, and waits for the guest's last message.
    pub(super) fn counted_from(
        &self,
        state: &State,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Counted, DeviceError> {
        let number =
            self.experiment.traffics.iter().position(|own| own.name == request.traffic.name);
        let number = number.and_then(|at| u8::try_from(at).ok()).unwrap_or_default();
        let boot = self.boot(request.variant)?;
        let (place, task) = (Place::new()?, self.task(request));
        let beginning = Beginning::State { file: &state.file, number };
        let payload = self.payload_to_keep(boot, request)?;
        let mut running = self.start(boot, &payload, beginning, Some(place.argument()))?;
        if !place.go_on(&mut running, watch)? {
            return Err(DeviceError::Stopped);
        }
        self.listen(&mut running, (request, &task, &state.console), &mut None, watch)
    }
}

/// Refuses what the tester in FreeBSD guests cannot send, where it stands in the file.
fn check_traffics(
    experiment: &Experiment,
    boots: &BTreeMap<String, Boot>,
) -> Result<(), DeviceError> {
    let Some((variant, _)) = boots.iter().find(|(_, boot)| boot.is_freebsd()) else {
        return Ok(());
    };
    let refused = |traffic: &Traffic| {
        let Traffic { load, direction, ports, .. } = traffic;
        let way = "sends one way from one port to another";
        let (key, does, asked) = match (traffic.offered_pps(), direction, ports) {
            (Some(_), ..) => ("load", "sends as fast as it can", load.to_string()),
            (None, Direction::One, 2) => return None,
            (None, Direction::One, ports) => ("ports", way, format!("by {ports}")),
            (None, direction, _) => ("direction", way, direction.name().to_owned()),
        };
        let reason = format!(
            "the tester in FreeBSD guests (variant {variant:?}) {does}, and not {asked}; remove {key}, or compare \
             Linux guests"
        );
        Some(experiment.blame_traffic(&traffic.name, key, &reason))
    };
    // Of sessions it is said that they are.
    let frames = experiment.traffics.iter().filter(|traffic| traffic.sessions.is_none());
    frames.filter_map(refused).next().map_or(Ok(()), |why| Err(DeviceError::setup(why)))
}
