//! The device: a boot for each trial.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fwdlab_agent::channel::{Counted, ProfileCounts};
use fwdlab_agent::task::{GuestClock, GuestTester, Task, TaskSessions, TaskTraffic};
use fwdlab_device::{Device, DeviceError, Facts, Proof, Request, Watch, moment};
use fwdlab_experiment::{Experiment, Traffic, Variant};
use fwdlab_kernel::KernelError;
use fwdlab_results::profile::Profiled;
use fwdlab_results::{CONSOLE_DIR, Family, Measured};
use fwdlab_topology::NFTABLES;

use crate::beginning::Beginning;
use crate::boot::Boot;
use crate::captures::Captures;
use crate::config::Needs;
use crate::counts::{measured, prove_rules};
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
const BOOT_LIMIT: Duration = Duration::from_secs(120);
const LIMIT_PER_SECOND: Duration = Duration::from_secs(60);

/// Samples of a FreeBSD guest lie so far apart on average, in the host's time.
const SAMPLE_EVERY: Duration = Duration::from_millis(1);

/// As many routes are written when a variant is only tried.
const ROUTES_REHEARSED: usize = 1_000;

/// The device has about one of so many parts of the processor's time; the tester has the others.
const DEVICES_PART: u64 = 4;

/// A device that boots a kernel for each trial.
#[derive(Debug)]
pub(super) struct Boots {
    experiment: Arc<Experiment>,
    program: PathBuf,
    results: Option<PathBuf>,
    boots: BTreeMap<String, Boot>,
    /// Some variant's rules translate addresses: the frames of sessions have marks in all of them.
    translates: bool,
    captures: Captures,
    machine: VmMachine,
    /// Where trials go on from the state of a boot: the last one's.
    state: Option<State>,
    /// Why there is no hardware virtualisation, where the clock could use it.
    without_kvm: Option<String>,
}

impl Boots {
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
            state: None,
            without_kvm,
        })
    }

    fn task(&self, request: &Request<'_>) -> Task {
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

    fn boot(&self, variant: &Variant) -> Result<&Boot, VmError> {
        let missing = || KernelError::NoKernel { kernel: PathBuf::from(&variant.name) };
        Ok(self.boots.get(&variant.name).ok_or_else(missing)?)
    }

    /// The traffics of which a guest tries a few frames, each as a short task; none where not all routes
    /// are written. Sessions need a table of their own, and captures a file each.
    fn to_try<'t>(&'t self, variant: &Variant, rehearsal: &Task) -> Vec<(&'t Traffic, Task)> {
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
    fn judged(&self, mut counted: Counted, request: &Request<'_>) -> Measured {
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
    fn counted(
        &self,
        request: &Request<'_>,
        profile_ns: Option<u64>,
        watch: &mut Watch<'_>,
    ) -> Result<Counted, DeviceError> {
        self.follow(request, Task { profile_ns, ..self.task(request) }, watch)
    }

    /// Boots for this task, and waits for the guest's last message.
    fn follow(
        &self,
        request: &Request<'_>,
        task: Task,
        watch: &mut Watch<'_>,
    ) -> Result<Counted, DeviceError> {
        let boot = self.boot(request.variant)?;
        let task = boot.completed(task);
        can_send(boot, &task)?;
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

    /// Goes on from the state of this variant's boot, which is made where there is none, and waits for the
    /// guest's last message.
    fn counted_from_state(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Counted, DeviceError> {
        let names = (&*request.variant.name, &*request.traffic.name);
        if !self.state.as_mut().is_some_and(|state| state.serves(names.0, names.1)) {
            // Its memory is free before that of the next is taken.
            self.state = None;
            let mut state = self.kept(request, watch)?;
            state.serves(names.0, names.1);
            self.state = Some(state);
        }
        let state = self.state.as_ref().ok_or(DeviceError::Stopped)?;
        let number = self.experiment.traffics.iter().position(|own| own.name == names.1);
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

    /// Boots a variant for all traffics, and keeps its state.
    fn kept(&self, request: &Request<'_>, watch: &mut Watch<'_>) -> Result<State, DeviceError> {
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
        from_state.iter().try_for_each(|task| can_send(boot, task))?;
        if from_state.len() > Task::MOST_FROM_STATE {
            let why = format!("{} traffics are more than it can name", from_state.len());
            return Err(VmError::State { why });
        }
        let captures = self.captures.only(&self.experiment.traffics)?;
        // The network is the same for all of them.
        let task = Task { from_state, ..of(request.traffic) };
        boot.payload(&task, captures)
    }
}

/// Refuses what a guest's tester cannot send.
fn can_send(boot: &Boot, task: &Task) -> Result<(), VmError> {
    let is_as_fast_as_it_can = boot.is_freebsd() || task.sessions.is_some();
    if is_as_fast_as_it_can && task.traffic.pps.is_some() {
        let why = "its tester sends as fast as it can; write load = \"max\"".to_owned();
        return Err(VmError::Traffic { why });
    }
    Ok(())
}

impl Device for Boots {
    fn facts(&self) -> Facts {
        let VmMachine { clock, tester, .. } = &self.machine;
        let memory = self.boots.values().map(|boot| boot.memory_mb(&self.machine)).max();
        let mut facts = BTreeMap::from([
            ("clock".to_owned(), format!("{clock}: {}", clock.meaning())),
            ("guest".to_owned(), format!("1 processor, {} MiB of memory", memory.unwrap_or(0))),
            ("tester".to_owned(), tester.to_string()),
            ("emulator".to_owned(), qemu::version()),
        ]);
        if self.machine.boots == Booted::Block {
            let text = "each variant once in a block; its trials go on from the state of that boot";
            facts.insert("boots".to_owned(), text.to_owned());
        }
        if *clock == GuestClock::Wall {
            let text = match &self.without_kvm {
                None => "KVM".to_owned(),
                Some(why) => format!("TCG, an emulator, because of KVM: {why}"),
            };
            facts.insert("accelerator".to_owned(), text);
        }
        for (name, boot) in &self.boots {
            facts.insert(format!("kernel of {name}"), named(&boot.kernel.image));
            facts.insert(fwdlab_results::environment::commit_of(name), boot.kernel.commit());
            facts.extend(boot.root().map(|root| (format!("root of {name}"), named(root))));
            let start = boot.entry().map(|entry| entry.name().to_owned());
            facts.extend(start.map(|start| (format!("start of {name}"), start)));
        }
        Facts { device: facts, tester: BTreeMap::new() }
    }

    fn keep_logs_in(&mut self, dir: &Path) {
        self.results = Some(dir.to_owned());
    }

    /// Every trial boots with its variant; what the guest answers comes with what it counts.
    fn apply(&mut self, variant: &Variant, _: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        self.boot(variant)?;
        Ok(Proof::new())
    }

    /// A boot of the first variant of its kind, which sets everything up, sends a few frames of each traffic and
    /// reads the settings back. A table of many routes takes a guest minutes to write and is the
    /// same in every variant, so only its first routes are, and no frame is sent.
    fn preflight(
        &mut self,
        variant: &Variant,
        watch: &mut Watch<'_>,
    ) -> Result<Proof, DeviceError> {
        let experiment = Arc::clone(&self.experiment);
        let Some(traffic) = experiment.traffics.first() else { return Ok(Proof::new()) };
        if tried_by(&experiment, variant) != variant.name {
            return Ok(Proof::new());
        }
        let request = Request { experiment: &experiment, variant, traffic };
        let mut task = Task { is_rehearsal: true, ..self.task(&request) };
        let tried = self.to_try(variant, &task);
        task.from_state = tried.iter().map(|(_, task)| task.clone()).collect();
        task.routes.truncate(ROUTES_REHEARSED);
        let image = self.boot(variant)?.kernel.image.display().to_string();
        match self.follow(&request, task, watch) {
            Ok(counted) => {
                let traffics = tried.iter().map(|(traffic, _)| *traffic);
                let silent = traffics.zip(&counted.tried).find(|(_, [_, back])| *back == 0);
                match silent {
                    Some((traffic, [sent, _])) if *sent > 0 => {
                        Err(DeviceError::setup(moment::without_frames(*sent, traffic, variant)))
                    }
                    _ => {
                        let mut proof = counted.proof;
                        // One that only says that all was set up has not been asked.
                        if !proof.is_empty() {
                            prove_rules(&mut proof, variant);
                        }
                        Ok(proof)
                    }
                }
            }
            Err(DeviceError::Setup(fault) | DeviceError::Trial(fault)) => {
                Err(DeviceError::setup(blamed(&fault.to_string(), &image, variant)))
            }
            Err(other) => Err(other),
        }
    }

    /// A block that boots each variant once sends all of its traffics before the next.
    fn switch_cost(&self) -> Duration {
        match self.machine.boots {
            Booted::Trial => Duration::ZERO,
            Booted::Block => BOOT_LIMIT,
        }
    }

    /// Nothing that a boot warms outlives it: the guest warms itself up.
    fn warm_up(&mut self, _: &Request<'_>, _: &mut Watch<'_>) -> Result<(), DeviceError> {
        Ok(())
    }

    fn measure(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        let counted = match self.machine.boots {
            Booted::Trial => self.counted(request, None, watch)?,
            Booted::Block => self.counted_from_state(request, watch)?,
        };
        let measured = self.judged(counted, request);
        measured.intervals.iter().for_each(|interval| (watch.on_interval)(interval));
        Ok(measured)
    }

    /// A Linux kernel samples itself, by its own clock: `frequency_hz` times a second of the device's
    /// own time. A FreeBSD guest is sampled from outside.
    fn profile(
        &mut self,
        request: &Request<'_>,
        frequency_hz: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        let period_ns = 1_000_000_000 / u64::from(frequency_hz.max(1)) / DEVICES_PART;
        let mut counted = self.counted(request, Some(period_ns), watch)?;
        let profile = counted.profile.take().unwrap_or_default();
        let mut measured = self.judged(counted, request);
        // The samples are those of the device alone, which never waits in them.
        measured.idle_share = Some(0.0);
        Ok(profiled(profile, measured, self.boot(request.variant)?.is_freebsd()))
    }
}

/// The name of the first variant that is set up as this one is: one boot tries them all.
pub(super) fn tried_by<'a>(experiment: &'a Experiment, variant: &'a Variant) -> &'a str {
    let is_alike = |other: &&Variant| (&other.set, &other.own) == (&variant.set, &variant.own);
    experiment.variants.iter().find(is_alike).map_or(&variant.name, |first| &first.name)
}

/// Puts the key that is to blame first: the word of the variant's own that the fault names, else the kernel.
fn blamed(fault: &str, image: &str, variant: &Variant) -> String {
    /// What is said of another key than one of `set`.
    const OF_KEYS: [(&str, &str); 3] =
        [("its root is ", "root"), ("cmdline says ", "cmdline"), ("the module ", "load")];
    let named = variant.set.keys().filter(|word| fault.contains(word.as_str()));
    let named = named.max_by_key(|word| word.len()).map(String::as_str);
    let of_key = || OF_KEYS.iter().find(|(words, _)| fault.contains(words)).map(|(_, key)| *key);
    match named.or_else(of_key) {
        Some(word) => format!("{word}: {fault}; its kernel is {image}"),
        None => format!("kernel {image}: {fault}"),
    }
}

/// A file by its name and content.
fn named(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().display().to_string();
    match fwdlab_guard::digest::of_file(path) {
        Ok(sum) => format!("{name} (SHA-256 {sum})"),
        Err(error) => format!("{name} (unreadable: {error})"),
    }
}

/// Says which samples these are.
fn profiled(profile: ProfileCounts, mut measured: Measured, is_from_outside: bool) -> Profiled {
    let ProfileCounts { samples, lost, stacks } = profile;
    measured.warnings.extend((lost > 0).then(|| format!("{lost} samples did not fit")));
    let profiler = format!(
        "{}, from the reception of a packet to its handing over ({samples} with those of the tester \
         and the cables)",
        if is_from_outside { "QEMU, which stopped the guest" } else { "the guest's kernel" }
    );
    Profiled { measured, stacks, profiler }
}

#[cfg(test)]
mod tests;
