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
mod cpio;
mod error;
mod guest;
mod initramfs;
mod kernel;
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
    Experiment, LinuxSettings, NFTABLES, Text, Variant, VmClock, VmVariant, hexadecimal,
};
use crate::profile::Profiled;
use crate::results::{Interval, TrialEnvironment};
use channel::{Counted, Message, Pass, Sample};
use initramfs::Base;
use kernel::Kernel;
use qemu::{Heard, Machine, Progress, Running};
use task::{Task, TaskRoute, TaskTraffic};

pub use error::VmError;
pub use guest::run_guest;
pub use launch::launch;

/// Share of a trial's length for which the tester runs over a cable first.
const CABLE_SHARE: u32 = 2;

/// QEMU's processor time that a boot may take in silence, and a second of the guest's time. Both
/// are generous: on a busy host, a boot and 0.8 s of instructions took 13 s together.
const BOOT_LIMIT: Duration = Duration::from_secs(120);
const LIMIT_PER_SECOND: Duration = Duration::from_secs(60);

/// What takes profiles.
const PROFILER: &str = "the guest's kernel (tester and device share its processor)";

/// A device that boots a kernel for each trial.
#[derive(Debug)]
pub struct Vm {
    program: PathBuf,
    results: Option<PathBuf>,
    boots: BTreeMap<String, Boot>,
    clock: VmClock,
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
            let boot = Boot {
                base: Base::new(program, modules, &vm.load, has_rules)?,
                command_line: vm.cmdline.clone(),
                rules: LinuxSettings::of(variant)
                    .rules
                    .map(|text| rules(text, base))
                    .transpose()?,
                kernel,
            };
            boots.insert(variant.name.clone(), boot);
        }
        Ok(Self {
            program: program.to_owned(),
            results: None,
            boots,
            clock: experiment.vm.clock,
            memory_mb: experiment.vm.memory_mb,
            patience: experiment.vm.patience,
        })
    }

    fn boot(&self, variant: &Variant) -> Result<&Boot, VmError> {
        let missing = || VmError::NoKernel { kernel: PathBuf::from(&variant.name) };
        self.boots.get(&variant.name).ok_or_else(missing)
    }

    /// Boots, and waits for the guest's last message.
    fn counted(
        &self,
        request: &Request<'_>,
        profile_ns: Option<u64>,
        watch: &mut Watch<'_>,
    ) -> Result<Counted, DeviceError> {
        let boot = self.boot(request.variant)?;
        let task = Task { profile_ns, ..task(request, boot, self.clock) };
        let json = serde_json::to_vec(&task)
            .map_err(|error| VmError::file("encode", Path::new("task"))(error.into()))?;
        let machine = Machine {
            launcher: &self.program,
            image: &boot.kernel.image,
            initramfs: &boot.base.archive(&json),
            command_line: &boot.command_line,
            memory_mb: self.memory_mb,
            clock: self.clock,
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
            ("emulator".to_owned(), qemu::version()),
        ]);
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
        let measured = measured(counted, request.variant, self.clock);
        measured.intervals.iter().for_each(|interval| (watch.on_interval)(interval));
        Ok(measured)
    }

    /// The guest's kernel samples itself, by its own clock.
    fn profile(
        &mut self,
        request: &Request<'_>,
        frequency_hz: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        let period_ns = 1_000_000_000 / u64::from(frequency_hz.max(1));
        let mut counted = self.counted(request, Some(period_ns), watch)?;
        let stacks = std::mem::take(&mut counted.stacks);
        let measured = measured(counted, request.variant, self.clock);
        Ok(Profiled { measured, stacks, profiler: PROFILER.to_owned() })
    }
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
            Self::Stuck { stage, limit } => VmError::Stuck { stage, limit, console },
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

fn task(request: &Request<'_>, boot: &Boot, clock: VmClock) -> Task {
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
        clock,
    }
}

/// The trial's counts. The device's busy time is what is left of each interval when the tester's
/// own time for as many frames is taken off.
fn measured(counted: Counted, variant: &Variant, clock: VmClock) -> Measured {
    let tester_ns = ns_per_frame(&counted.cable);
    let interval = |sample: &Sample| {
        let tester = (tester_ns.unwrap_or(0.0) * sample.received as f64).round() as u64;
        Interval {
            ms: sample.ns as f64 / 1e6,
            tx: sample.sent,
            rx: sample.received,
            busy_ns: sample.ns.saturating_sub(tester),
            busy_frames: sample.received,
        }
    };
    let intervals: Vec<Interval> = counted.device.intervals.iter().map(interval).collect();
    let total_ns: u64 = counted.device.intervals.iter().map(|sample| sample.ns).sum();
    let busy_ns: u64 = intervals.iter().map(|interval| interval.busy_ns).sum();
    let busy_frames: u64 = intervals.iter().map(|interval| interval.busy_frames).sum();
    let Pass { sent, received, flows_seen, checks, .. } = counted.device;
    let mut proof = counted.proof;
    prove_rules(&mut proof, variant);
    let mut warnings = counted.warnings;
    match tester_ns {
        Some(ns) => {
            proof.insert("tester's own ns/frame".to_owned(), format!("{ns:.1}"));
        }
        None => warnings.push(
            "the tester's own cost is not known: nothing came back over the cable".to_owned(),
        ),
    }
    if clock == VmClock::Wall && !qemu::has_kvm() {
        warnings.push(
            "wall time of an emulated processor: without hardware virtualisation the figures are \
             the emulator's, not the kernel's"
                .to_owned(),
        );
    }
    Measured {
        intervals,
        sent,
        received,
        flows_seen,
        device_received: counted.device_received,
        device_sent: counted.device_sent,
        drops: counted.drops,
        checks,
        busy_ns,
        busy_frames,
        idle_share: 1.0 - busy_ns as f64 / total_ns.max(1) as f64,
        proof,
        environment: TrialEnvironment {
            // Where the host runs the guest makes no difference to the number of instructions.
            pinned: clock == VmClock::Instructions,
            ..TrialEnvironment::default()
        },
        warnings,
        ..Measured::default()
    }
}

/// Rules read back are never letter by letter what was written: their list is kept, and stands as
/// proof when there is something in it exactly when something was asked for.
fn prove_rules(proof: &mut BTreeMap<String, String>, variant: &Variant) {
    let Some(wanted) = variant.set.get(NFTABLES) else { return };
    let listed = proof.remove(NFTABLES).unwrap_or_default();
    let is_there = listed.is_empty() == wanted.trim().is_empty();
    let shown = if is_there { wanted.clone() } else { listed.clone() };
    proof.insert(NFTABLES.to_owned(), shown);
    proof.insert("nftables ruleset".to_owned(), listed);
}

/// Mean time of a pass for each frame, without its first interval, in which everything is done for
/// the first time.
fn ns_per_frame(pass: &Pass) -> Option<f64> {
    let rest = pass.intervals.get(1..).unwrap_or_default();
    let ns: u64 = rest.iter().map(|sample| sample.ns).sum();
    let frames: u64 = rest.iter().map(|sample| sample.received).sum();
    (frames > 0).then(|| ns as f64 / frames as f64)
}
