//! Kernels in virtual machines: each trial boots the variant's kernel under QEMU, with fwdlab as
//! its init process, and takes the counts from a serial port.
//!
//! The guest has one processor, which works for the tester and for the device in turn. What the
//! tester costs is measured in the same boot, with a cable in the device's place, and taken off:
//! the rest is the device's. With the clock of instructions, the figure is guest instructions per
//! frame; it is repeatable on a noisy machine, and blind to caches and memory.
//!
//! Trials do not know each other: every one boots anew, so that nothing is left of the one before.

mod channel;
mod counts;
mod cpio;
mod error;
mod guest;
mod initramfs;
mod kernel;
mod kvm;
mod launch;
mod modules;
mod program;
mod qemu;
mod task;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::{Device, DeviceError, Measured, Request, Watch};
use crate::experiment::{
    Experiment, LinuxSettings, NFTABLES, Text, Variant, VmClock, VmTester, VmVariant, hexadecimal,
};
use crate::profile::Profiled;
use channel::{Counted, Message, ProfileCounts};
use counts::measured;
use initramfs::Base;
use kernel::Kernel;
use qemu::{Accelerator, Heard, Machine, Progress, Running};
use task::{Task, TaskRoute, TaskTraffic};

pub use error::VmError;
pub use guest::run_guest;
pub use kernel::{KernelAtHand, kernels_at_hand};
pub use kvm::try_kvm;
pub use launch::launch;

/// The module of the kernel's generator.
const PKTGEN: &str = "pktgen";

/// What pktgen does to the device (`refcount_add(..., &pkt_dev->skb->users)` in pktgen_xmit()).
const SHARED_FRAMES: &str = "pktgen keeps a hand on each frame, so that the device copies it before \
                             it changes it: the cost is higher than with another tester";

/// Share of a trial's length for which the tester runs over a cable first.
const CABLE_SHARE: u32 = 2;

/// QEMU's processor time that a boot may take in silence, and a second of the guest's time. Both
/// are generous: on a busy host, a boot and 0.8 s of instructions took 13 s together.
const BOOT_LIMIT: Duration = Duration::from_secs(120);
const LIMIT_PER_SECOND: Duration = Duration::from_secs(60);

/// The device has about one of so many parts of the processor's time; the tester has the others.
const DEVICES_PART: u64 = 4;

/// A device that boots a kernel for each trial.
#[derive(Debug)]
pub struct Vm {
    program: PathBuf,
    results: Option<PathBuf>,
    boots: BTreeMap<String, Boot>,
    clock: VmClock,
    tester: VmTester,
    /// Why there is no hardware virtualisation, where the clock could use it.
    without_kvm: Option<String>,
    memory_mb: u32,
    patience: Option<Duration>,
}

/// What a variant boots.
#[derive(Debug)]
struct Boot {
    kernel: Kernel,
    base: Base,
    command_line: String,
    rules: Option<String>,
}

impl Vm {
    /// Finds the kernels of `experiment` and what their guests need. `program` is the fwdlab
    /// program, which becomes the guests' init.
    ///
    /// # Errors
    /// A kernel, a module or a file of rules that is not there.
    pub fn new(experiment: &Experiment, program: &Path) -> Result<Self, DeviceError> {
        let base = experiment.path.parent().unwrap_or(Path::new(""));
        let settings: Vec<(&Variant, &VmVariant)> =
            experiment.variants.iter().filter_map(|v| Some((v, v.vm.as_ref()?))).collect();
        // All guests hold the same files, so that they differ only in what is compared.
        let has_rules = settings.iter().any(|(variant, _)| variant.set.contains_key(NFTABLES));
        let mut boots = BTreeMap::new();
        for (variant, vm) in settings {
            let kernel = Kernel::find(&vm.kernel, vm.modules.as_deref(), base)?;
            let modules = kernel.modules.as_deref();
            let mut load = vm.load.clone();
            if experiment.vm.tester == VmTester::Pktgen {
                load.push(PKTGEN.to_owned());
            }
            let boot = Boot {
                base: Base::new(program, modules, &load, has_rules)?,
                command_line: vm.cmdline.clone(),
                rules: LinuxSettings::of(variant)
                    .rules
                    .map(|text| rules(text, base))
                    .transpose()?,
                kernel,
            };
            boots.insert(variant.name.clone(), boot);
        }
        let clock = experiment.vm.clock;
        let without_kvm = match (clock, boots.values().next()) {
            (VmClock::Wall, Some(boot)) => kvm::try_boot(program, &boot.kernel.image).err(),
            _ => None,
        };
        Ok(Self {
            program: program.to_owned(),
            results: None,
            boots,
            clock,
            tester: experiment.vm.tester,
            without_kvm,
            memory_mb: experiment.vm.memory_mb,
            patience: experiment.vm.patience,
        })
    }

    fn accelerator(&self) -> Accelerator {
        match self.clock {
            VmClock::Wall if self.without_kvm.is_none() => Accelerator::Kvm,
            _ => Accelerator::Tcg,
        }
    }

    fn boot(&self, variant: &Variant) -> Result<&Boot, VmError> {
        let missing = || VmError::NoKernel { kernel: PathBuf::from(&variant.name) };
        self.boots.get(&variant.name).ok_or_else(missing)
    }

    /// The trial's counts, with a doubt about the clock where there is one.
    fn judged(&self, counted: Counted, variant: &Variant) -> Measured {
        let mut measured = measured(counted, variant, self.clock);
        measured.warnings.extend(self.without_kvm.as_ref().map(|why| {
            format!(
                "wall time of an emulated processor ({why}): the figures are the emulator's, not \
                 the kernel's; use clock = \"instructions\""
            )
        }));
        measured
            .warnings
            .extend((self.tester == VmTester::Pktgen).then(|| SHARED_FRAMES.to_owned()));
        measured
    }

    /// Boots, and waits for the guest's last message.
    fn counted(
        &self,
        request: &Request<'_>,
        profile_ns: Option<u64>,
        watch: &mut Watch<'_>,
    ) -> Result<Counted, DeviceError> {
        let boot = self.boot(request.variant)?;
        let task = Task { profile_ns, ..task(request, boot) };
        let json = serde_json::to_vec(&task)
            .map_err(|error| VmError::file("encode", Path::new("task"))(error.into()))?;
        let machine = Machine {
            launcher: &self.program,
            image: &boot.kernel.image,
            initramfs: &boot.base.archive(&json),
            command_line: &boot.command_line,
            memory_mb: self.memory_mb,
            clock: self.clock,
            accelerator: self.accelerator(),
        };
        let mut running = machine.start()?;
        let seconds = (task.duration_ns / 1_000_000_000 + 1) as u32;
        let limit = self.patience.unwrap_or(BOOT_LIMIT + LIMIT_PER_SECOND * seconds);
        let name = format!("{}.{}", request.variant.name, request.traffic.name);
        follow(&mut running, Progress::new(limit), watch).map_err(|end| match end {
            End::Stopped => DeviceError::Stopped,
            End::Broken(broken) => {
                let stamp = crate::journal::utc_stamp(SystemTime::now()).replace(':', "");
                let text = running.console();
                let dir = self.results.clone().unwrap_or_else(std::env::temp_dir).join("console");
                let place = qemu::keep_console(&text, &dir, &format!("{name}.{stamp}"));
                broken.error(&text, place).into()
            }
        })
    }
}

impl Device for Vm {
    fn settings(&self) -> BTreeMap<String, String> {
        let mut settings = BTreeMap::from([
            ("clock".to_owned(), format!("{}: {}", self.clock, self.clock.meaning())),
            ("guest".to_owned(), format!("1 processor, {} MiB of memory", self.memory_mb)),
            ("tester".to_owned(), self.tester.to_string()),
            ("emulator".to_owned(), qemu::version()),
        ]);
        if self.clock == VmClock::Wall {
            let text = match &self.without_kvm {
                None => "KVM".to_owned(),
                Some(why) => format!("TCG, an emulator, because of KVM: {why}"),
            };
            settings.insert("accelerator".to_owned(), text);
        }
        for (name, boot) in &self.boots {
            let image = boot.kernel.image.file_name().unwrap_or_default().display().to_string();
            let hash = fs::read(&boot.kernel.image)
                .map(|bytes| hexadecimal(&Sha256::digest(bytes)))
                .unwrap_or_default();
            settings.insert(format!("kernel of {name}"), format!("{image} (SHA-256 {hash})"));
        }
        settings
    }

    fn keep_logs_in(&mut self, dir: &Path) {
        self.results = Some(dir.to_owned());
    }

    fn run(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        let counted = self.counted(request, None, watch)?;
        let measured = self.judged(counted, request.variant);
        measured.intervals.iter().for_each(|interval| (watch.on_interval)(interval));
        Ok(measured)
    }

    /// The guest's kernel samples itself, by its own clock: `frequency_hz` times a second of the
    /// device's own time.
    fn profile(
        &mut self,
        request: &Request<'_>,
        frequency_hz: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        let period_ns = 1_000_000_000 / u64::from(frequency_hz.max(1)) / DEVICES_PART;
        let mut counted = self.counted(request, Some(period_ns), watch)?;
        let profile = counted.profile.take().unwrap_or_default();
        let mut measured = self.judged(counted, request.variant);
        // The samples are those of the device alone, which never waits in them.
        measured.idle_share = 0.0;
        Ok(profiled(profile, measured))
    }
}

/// Says which samples these are.
fn profiled(profile: ProfileCounts, mut measured: Measured) -> Profiled {
    let ProfileCounts { samples, lost, stacks } = profile;
    measured.warnings.extend((lost > 0).then(|| format!("{lost} samples did not fit")));
    let profiler = format!(
        "the guest's kernel, from the reception of a packet to its handing over ({samples} with \
         those of the tester and the cables)"
    );
    Profiled { measured, stacks, profiler }
}

/// Why a guest is not followed any further.
enum End {
    Stopped,
    Broken(Broken),
}

/// What went wrong with a guest, before its console was looked at.
enum Broken {
    GaveUp(String),
    Damaged(String),
    Ended { stage: String },
    Stuck { stage: String, limit: String },
}

impl Broken {
    fn error(self, text: &str, console: PathBuf) -> VmError {
        match self {
            Self::GaveUp(why) => VmError::Guest { why, console },
            Self::Damaged(what) => VmError::Damaged { what, console },
            Self::Ended { stage } => {
                VmError::Ended { stage, last: qemu::telling_line(text), console }
            }
            Self::Stuck { stage, limit } => {
                VmError::Stuck { stage, limit, last: qemu::telling_line(text), console }
            }
        }
    }
}

/// Listens to the guest until it has counted, failed, ended, or said nothing for too long.
fn follow(
    running: &mut Running,
    mut progress: Progress,
    watch: &Watch<'_>,
) -> Result<Counted, End> {
    const LISTEN: Duration = Duration::from_millis(100);
    let mut stage = "booted".to_owned();
    loop {
        if watch.is_stopped() {
            return Err(End::Stopped);
        }
        let line = match running.listen(LISTEN) {
            Heard::Line(line) => line,
            Heard::End => return Err(End::Broken(Broken::Ended { stage })),
            Heard::Silence => match progress.exceeded(running) {
                Some(limit) => return Err(End::Broken(Broken::Stuck { stage, limit })),
                None => continue,
            },
        };
        match Message::parse(&line) {
            None => continue,
            Some(Ok(Message::Stage(next))) => stage = next,
            Some(Ok(Message::Counted(counted))) => return Ok(*counted),
            Some(Ok(Message::Failed(why))) => return Err(End::Broken(Broken::GaveUp(why))),
            Some(Err(damaged)) => return Err(End::Broken(Broken::Damaged(damaged.to_string()))),
        }
        progress.heard(running);
    }
}

/// Rules written in the experiment file, or those in a file beside it.
fn rules(text: Text, base: &Path) -> Result<String, VmError> {
    match text {
        Text::Inline(rules) => Ok(rules),
        Text::File(file) => {
            let path = base.join(file);
            fs::read_to_string(&path).map_err(VmError::file("read the rules in", &path))
        }
    }
}

fn task(request: &Request<'_>, boot: &Boot) -> Task {
    let Request { experiment, variant, traffic } = request;
    let ns = |duration: Duration| duration.as_nanos() as u64;
    let routes = experiment.routes.fixed.iter().map(|route| TaskRoute {
        destination: route.prefix.address(),
        length: route.prefix.length(),
        gateway: route.gateway,
        port: route.port,
    });
    Task {
        modules: boot.base.module_names(),
        absent: boot.base.absent.clone(),
        sysctl: LinuxSettings::of(variant).sysctls,
        rules: boot.rules.clone(),
        routes: routes.collect(),
        traffic: TaskTraffic {
            source: traffic.source.to_string(),
            destination: traffic.destination.to_string(),
            frame_bytes: traffic.frame_bytes,
            order: traffic.order.to_string(),
            pps: traffic.load.pps(traffic.frame_bytes),
        },
        duration_ns: ns(experiment.warmup + experiment.duration),
        cable_ns: ns(experiment.warmup + experiment.duration / CABLE_SHARE),
        interval_ns: ns(experiment.interval),
        profile_ns: None,
        tester: experiment.vm.tester,
        clock: experiment.vm.clock,
    }
}
