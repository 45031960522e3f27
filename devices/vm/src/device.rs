//! The device: a boot for each trial.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fwdlab_agent::channel::{Counted, ProfileCounts};
use fwdlab_agent::task::{
    CAPTURE_FILE, Captured, GuestClock, GuestTester, Task, TaskRoute, TaskSessions, TaskTraffic,
};
use fwdlab_device::{Device, DeviceError, Facts, Proof, Request, Watch};
use fwdlab_experiment::{Experiment, Load, Variant};
use fwdlab_results::profile::Profiled;
use fwdlab_results::{CONSOLE_DIR, Family, Measured};
use fwdlab_topology::NFTABLES;

use crate::boot::Boot;
use crate::captures::Captures;
use crate::config::Needs;
use crate::counts::measured;
use crate::follow::{End, follow};
use crate::freebsd::{Rules, Sampler};
use crate::qemu::{Accelerator, Machine, Progress};
use crate::settings::VmMachine;
use crate::{VmError, kvm, qemu, sessions, settings};

/// What pktgen does to the device (`refcount_add(..., &pkt_dev->skb->users)` in pktgen_xmit()).
const SHARED_FRAMES: &str = "pktgen keeps a hand on each frame, so that the device copies it before \
                             it changes it: the cost is higher than with another tester";

/// Share of a trial's length for which the tester runs over a cable first, and an interval more: the
/// first does not count there.
const CABLE_SHARE: u32 = 2;

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
    captures: Captures,
    machine: VmMachine,
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
        };
        let mut boots = BTreeMap::new();
        for (variant, vm) in names.zip(variants) {
            let boot = Boot::new(variant, &vm, &machine, (program, base), needs);
            let has_sessions = experiment.traffics.iter().any(|own| own.sessions.is_some());
            let boot = boot.and_then(|boot| match has_sessions && !boot.is_freebsd() {
                true => Err(VmError::OtherSystem {
                    what: "kind = \"sessions\" beside the kernel".to_owned(),
                    variant: variant.name.clone(),
                    kernel: boot.kernel.image.clone(),
                    remedy: "only guests of FreeBSD open sessions; write device = \"linux\"",
                }),
                false => Ok(boot),
            });
            let boot = boot.map_err(|error| {
                // Its key stands where the kernel does, where the message names no other.
                let blame = experiment.blame(&variant.name, &format!("kernel: {error}"));
                DeviceError::setup(blame.replacen("kernel: ", "", 1))
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
        Ok(Self {
            experiment,
            program: program.to_owned(),
            results: None,
            boots,
            captures,
            machine,
            without_kvm,
        })
    }

    fn accelerator(&self) -> Accelerator {
        match self.machine.clock {
            GuestClock::Wall if self.without_kvm.is_none() => Accelerator::Kvm,
            _ => Accelerator::Tcg,
        }
    }

    fn boot(&self, variant: &Variant) -> Result<&Boot, VmError> {
        let missing = || VmError::NoKernel { kernel: PathBuf::from(&variant.name) };
        self.boots.get(&variant.name).ok_or_else(missing)
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
        self.follow(request, Task { profile_ns, ..task(request, &self.machine) }, watch)
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
        if boot.is_freebsd() && task.traffic.pps.is_some() {
            let why = "its tester sends as fast as it can; write load = \"max\"".to_owned();
            return Err(VmError::Traffic { why }.into());
        }
        let mut sampler = match task.profile_ns {
            Some(_) if boot.is_freebsd() => Some(Sampler::new(&boot.kernel.image, SAMPLE_EVERY)?),
            _ => None,
        };
        let loaded = boot.loaded()?;
        let machine = Machine {
            launcher: &self.program,
            image: &boot.kernel.image,
            payload: &boot.payload(&task, self.captures.of(request.traffic))?,
            start: boot.start(loaded.as_deref()),
            command_line: &boot.command_line,
            memory_mb: boot.memory_mb(&self.machine),
            clock: self.machine.clock,
            accelerator: self.accelerator(),
            monitor: sampler.as_ref().map(Sampler::argument),
        };
        let mut running = machine.start()?;
        let seconds = ((task.warmup_ns + task.duration_ns) / 1_000_000_000 + 1) as u32;
        let limit = self.machine.patience.unwrap_or(BOOT_LIMIT + LIMIT_PER_SECOND * seconds);
        let name = format!("{}.{}", request.variant.name, request.traffic.name);
        let followed = follow(&mut running, Progress::new(limit), &mut sampler, watch);
        let mut counted = followed.map_err(|end| match end {
            End::Stopped => DeviceError::Stopped,
            End::Broken(broken) => {
                let stamp = fwdlab_results::journal::utc_stamp(SystemTime::now()).replace(':', "");
                let text = running.console();
                let name = format!("{name}.{stamp}");
                let keep = |dir: &PathBuf| {
                    if task.is_rehearsal {
                        // There are no results yet; a directory that cannot be made is said below.
                        let _ = std::fs::create_dir_all(dir);
                    }
                    qemu::keep_console(&text, &dir.join(CONSOLE_DIR), &name)
                };
                let place = self.results.as_ref().map_or_else(|| "no file".into(), keep);
                broken.error(&text, place).into()
            }
        })?;
        counted.profile = counted.profile.or(sampler.map(Sampler::counts));
        Ok(counted)
    }
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

    /// A boot that ends where frames would be sent, of the first variant of its kind. A table of
    /// many routes takes a guest minutes to write and is the same in every variant, so only its
    /// first routes are.
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
        let mut task = Task { is_rehearsal: true, ..task(&request, &self.machine) };
        task.routes.truncate(ROUTES_REHEARSED);
        let image = self.boot(variant)?.kernel.image.display().to_string();
        match self.follow(&request, task, watch) {
            Ok(_) => Ok(Proof::new()),
            Err(DeviceError::Setup(fault) | DeviceError::Trial(fault)) => {
                Err(DeviceError::setup(blamed(&fault.to_string(), &image, variant)))
            }
            Err(other) => Err(other),
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
        let counted = self.counted(request, None, watch)?;
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
    let named = variant.set.keys().filter(|word| fault.contains(word.as_str()));
    match named.max_by_key(|word| word.len()) {
        Some(word) => format!("{word}: {fault}; its kernel is {image}"),
        None => format!("kernel {image}: {fault}"),
    }
}

/// How long the tester runs over a cable.
pub(super) fn cable_duration(experiment: &Experiment) -> Duration {
    experiment.duration / CABLE_SHARE + experiment.interval
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

fn is_rules(word: &str) -> bool {
    word == NFTABLES || Rules::of(word).is_some()
}

fn owned((word, value): (&String, &String)) -> (String, String) {
    (word.clone(), value.clone())
}

/// The trial in words that every guest knows.
fn task(request: &Request<'_>, machine: &VmMachine) -> Task {
    let Request { experiment, variant, traffic } = request;
    let ns = |duration: Duration| duration.as_nanos() as u64;
    let routes = experiment.routes.fixed.iter().map(|route| TaskRoute {
        destination: route.prefix.address(),
        length: route.prefix.length(),
        gateway: route.gateway,
        port: route.port,
    });
    Task {
        modules: Vec::new(),
        absent: Vec::new(),
        sysctl: variant.set.iter().filter(|(word, _)| !is_rules(word)).map(owned).collect(),
        read: experiment.words_of_others(variant).into_iter().map(str::to_owned).collect(),
        rules: None,
        routes: routes.collect(),
        traffic: TaskTraffic {
            source: traffic.source.to_string(),
            destination: traffic.destination.to_string(),
            frame_bytes: traffic.frame_bytes,
            order: match traffic.capture {
                Some(_) => Captured::ORDER.to_owned(),
                None => traffic.order.to_string(),
            },
            pps: traffic.offered_pps(),
            capture: traffic.capture.as_ref().map(|capture| Captured {
                file: format!("/{CAPTURE_FILE}"),
                frames: capture.recording.as_ref().map_or(0, |recording| recording.frames()),
                as_recorded: traffic.load == Load::Recorded,
            }),
        },
        warmup_ns: ns(experiment.warmup),
        duration_ns: ns(experiment.duration),
        cable_ns: ns(cable_duration(experiment)),
        interval_ns: ns(experiment.interval),
        profile_ns: None,
        tester: machine.tester,
        clock: machine.clock,
        is_rehearsal: false,
        sessions: traffic
            .sessions
            .map(|own| TaskSessions { measure: traffic.measure, lifetime: own.lifetime }),
    }
}

#[cfg(test)]
mod tests;
