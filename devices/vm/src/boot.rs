//! What a variant boots: a kernel, and what makes a guest of it.

use std::path::Path;

use fwdlab_agent::task::{GuestTester, Task};
use fwdlab_experiment::Variant;
use fwdlab_experiment::inputs;
use fwdlab_kernel::{Kernel, KernelModules};
use fwdlab_topology::{NFTABLES, RuleSet, translation};

use crate::VmError;
use crate::captures::Replayed;
use crate::config::{self, Needs};
use crate::freebsd::{self, Entry, Guest, WORDS};
use crate::initramfs::Base;
use crate::qemu::Start;
use crate::settings::{Booted, GuestSystem, VmMachine, VmVariant};

/// The module of Linux's own generator.
const PKTGEN: &str = "pktgen";

/// The module by which connections are forgotten; it brings the one that tracks them. All guests of an
/// experiment have it, also those whose rules track nothing.
const TRACKING: &str = "nf_conntrack_netlink";

/// Memory of a Linux guest, in MiB, if nothing is said.
const LINUX_MEMORY_MB: u32 = 512;

/// What a variant boots.
#[derive(Debug)]
pub(super) struct Boot {
    pub(super) kernel: Kernel,
    pub(super) command_line: String,
    system: System,
}

#[derive(Debug)]
enum System {
    Linux { base: Base, rules: Option<String> },
    FreeBsd(Guest),
}

impl Boot {
    /// `program` is fwdlab's own; `base` is the experiment file's directory. All Linux guests of an
    /// experiment hold the same files, so that they differ only in what is compared: where one
    /// needs rules, nft is among them.
    pub(super) fn new(
        variant: &Variant,
        vm: &VmVariant,
        machine: &VmMachine,
        (program, base): (&Path, &Path),
        needs: Needs<'_>,
    ) -> Result<Self, VmError> {
        let kernel = Kernel::find(&vm.kernel, vm.modules.as_deref(), base)?;
        let is_freebsd = fwdlab_kernel::freebsd::is_kernel(&kernel.image);
        check_words(variant, vm, machine, &kernel, is_freebsd)?;
        let system = if is_freebsd {
            let files = (kernel.image.as_path(), kernel.modules.as_deref());
            System::FreeBsd(Guest::new(files, vm, variant, base)?)
        } else {
            let rules = variant
                .set
                .get(NFTABLES)
                .map(|value| RuleSet::named(value).text(|file| inputs::place_in(base, file)))
                .transpose()?;
            let needs = Needs { rules: rules.as_deref(), ..needs };
            let modules = kernel.modules.as_deref().map(KernelModules::read).transpose()?;
            config::check(&kernel, modules.as_ref(), needs)?;
            let mut load = vm.load.clone();
            load.extend((machine.tester == GuestTester::Pktgen).then(|| PKTGEN.to_owned()));
            load.extend(needs.sessions.then(|| TRACKING.to_owned()));
            let base = Base::new(program, modules.as_ref(), &load, needs.nft)?;
            System::Linux { base, rules }
        };
        Ok(Self { kernel, command_line: vm.cmdline.clone(), system })
    }

    /// The task with what only this boot knows.
    pub(super) fn completed(&self, task: Task) -> Task {
        match &self.system {
            System::Linux { base, rules } => {
                Task { modules: base.module_names(), rules: rules.clone(), ..task }
            }
            System::FreeBsd(_) => task,
        }
    }

    /// What the guest starts from.
    pub(super) fn payload(
        &self,
        task: &Task,
        replayed: Option<Replayed<'_>>,
    ) -> Result<Vec<u8>, VmError> {
        match &self.system {
            System::Linux { base, .. } => {
                let json = serde_json::to_vec(task);
                let failed = |error: serde_json::Error| {
                    VmError::file("encode", Path::new("task"))(error.into())
                };
                Ok(base.archive(&json.map_err(failed)?, replayed.map(|replayed| replayed.file)))
            }
            System::FreeBsd(guest) => guest.disk(task, replayed.map(|replayed| replayed.recording)),
        }
    }

    /// What QEMU starts in place of the kernel's image, where there is something.
    pub(super) fn loaded(&self) -> Result<Option<Vec<u8>>, VmError> {
        match &self.system {
            System::Linux { .. } => Ok(None),
            System::FreeBsd(guest) => guest.loaded(&self.kernel.image, &self.command_line),
        }
    }

    /// How the guest is started; `loaded` is what is started in place of the image.
    pub(super) fn start<'a>(&'a self, loaded: Option<&'a [u8]>) -> Start<'a> {
        match &self.system {
            System::Linux { .. } => Start::Linux,
            System::FreeBsd(guest) => {
                Start::FreeBsd { board: guest.board(), root: guest.root(), loaded }
            }
        }
    }

    /// How a FreeBSD kernel is started.
    pub(super) fn entry(&self) -> Option<Entry> {
        match &self.system {
            System::Linux { .. } => None,
            System::FreeBsd(guest) => Some(guest.entry()),
        }
    }

    /// The word by which its rules translate addresses, if they do.
    pub(super) fn translation(&self) -> Option<&'static str> {
        match &self.system {
            System::Linux { rules, .. } => rules.as_deref().and_then(translation),
            System::FreeBsd(_) => None,
        }
    }

    /// The filter of a FreeBSD guest and the word by which its rules translate addresses, if they do.
    pub(super) fn translating_filter(&self) -> Option<(&'static str, &'static str)> {
        match &self.system {
            System::Linux { .. } => None,
            System::FreeBsd(guest) => guest.translation(),
        }
    }

    pub(super) fn is_freebsd(&self) -> bool {
        matches!(self.system, System::FreeBsd(_))
    }

    /// The image of the root file system, if the guest has one.
    pub(super) fn root(&self) -> Option<&Path> {
        match &self.system {
            System::Linux { .. } => None,
            System::FreeBsd(guest) => guest.root(),
        }
    }

    pub(super) fn memory_mb(&self, machine: &VmMachine) -> u32 {
        let default = if self.is_freebsd() { freebsd::DEFAULT_MEMORY_MB } else { LINUX_MEMORY_MB };
        machine.memory_mb.unwrap_or(default)
    }
}

/// Refuses what is the other system's.
fn check_words(
    variant: &Variant,
    vm: &VmVariant,
    machine: &VmMachine,
    kernel: &Kernel,
    is_freebsd: bool,
) -> Result<(), VmError> {
    let refused = |what: &str, remedy| {
        let (what, variant) = (what.to_owned(), variant.name.clone());
        Err(VmError::OtherSystem { what, variant, kernel: kernel.image.clone(), remedy })
    };
    let is = if is_freebsd { GuestSystem::FreeBsd } else { GuestSystem::Linux };
    if let Some(guest) = vm.guest.filter(|guest| *guest != is) {
        return Err(VmError::OtherGuest { wanted: guest.name(), kernel: kernel.image.clone() });
    }
    let has = |word: &str| variant.set.contains_key(word);
    if is_freebsd {
        if has(NFTABLES) {
            return refused(NFTABLES, "FreeBSD's filters are pf and ipfw");
        }
        if machine.boots == Booted::Block {
            return refused(
                "boots = \"block\"",
                "a FreeBSD guest boots for every trial; remove it",
            );
        }
        if machine.tester == GuestTester::Pktgen {
            return refused("tester = \"pktgen\"", "pktgen is Linux's; write tester = \"fwdlab\"");
        }
        return Ok(());
    }
    if let Some(word) = WORDS.into_iter().find(|word| has(word)) {
        return refused(word, "Linux's filter is nftables");
    }
    match (&vm.root, vm.start) {
        (Some(_), _) => refused("root", "a Linux guest has its root in memory; leave root out"),
        (_, Some(_)) => refused("start", "Linux has one way to start; leave start out"),
        _ => Ok(()),
    }
}
