//! The part of an experiment that is about virtual machines: the table `[vm]`, and what a variant
//! says about the kernel that it boots.

use std::time::Duration;

use fwdlab_agent::task::{GuestClock, GuestTester};
use fwdlab_experiment::Experiment;
use fwdlab_experiment::fields::{Found, Section, nearest, reread};
use fwdlab_experiment::problem::{Complaint, Complaints};
use fwdlab_experiment::quantity;
use fwdlab_topology::NFTABLES;

use crate::freebsd::entry::Entry;
use crate::freebsd::rules::WORDS;

/// The virtual machines of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmMachine {
    /// What time is.
    pub clock: GuestClock,
    /// What sends.
    pub tester: GuestTester,
    /// Memory in MiB; `None` is what the guest's system needs.
    pub memory_mb: Option<u32>,
    /// When a variant boots.
    pub boots: Booted,
    /// At most so many guests run at once where they do not disturb each other; `None` is as many as the
    /// host has processors.
    pub at_once: Option<u32>,
    /// How much of the host's processor time a guest may take without saying anything; `None`
    /// is a limit that fits the length of the trials.
    pub patience: Option<Duration>,
}

impl Default for VmMachine {
    fn default() -> Self {
        let (clock, tester) = (GuestClock::default(), GuestTester::default());
        let boots = Booted::default();
        Self { clock, tester, memory_mb: None, boots, at_once: None, patience: None }
    }
}

/// When a variant boots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Booted {
    /// For every trial.
    #[default]
    Trial,
    /// Once in a block: its trials there go on from the state in which the guest was all set up.
    Block,
}

impl Booted {
    const ALL: [Self; 2] = [Self::Trial, Self::Block];

    const fn name(self) -> &'static str {
        match self {
            Self::Trial => "trial",
            Self::Block => "block",
        }
    }
}

/// The systems that can be guests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestSystem {
    /// Linux.
    Linux,
    /// FreeBSD.
    FreeBsd,
}

impl GuestSystem {
    const ALL: [Self; 2] = [Self::FreeBsd, Self::Linux];

    /// As `guest` of an experiment says it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::FreeBsd => "freebsd",
        }
    }
}

/// What a variant boots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VmVariant {
    /// The kernel: an image, the directory of an unpacked package, a .deb file, or the release of
    /// an installed kernel; or a FreeBSD kernel.
    pub kernel: String,
    /// The kernel's modules, when they do not lie beside it.
    pub modules: Option<String>,
    /// What is added to the kernel command line.
    pub cmdline: String,
    /// Modules to load besides those that are needed anyway.
    pub load: Vec<String>,
    /// A FreeBSD kernel's root file system: a disk image.
    pub root: Option<String>,
    /// Whose kernel it has to be; `None` is what it is.
    pub guest: Option<GuestSystem>,
    /// How a FreeBSD kernel is started; `None` is directly where it can be.
    pub start: Option<Entry>,
}

/// The table `[vm]` while its variants are read.
#[derive(Default)]
pub(super) struct VmTable {
    pub(super) machine: VmMachine,
    /// What a variant has that does not say otherwise.
    default: VmVariant,
}

/// Families of sysctls that a guest's kernel may be told.
const SYSCTLS: [&str; 10] =
    ["net.", "net/", "kernel.", "kern.", "vm.", "fs.", "hw.", "dev.", "security.", "debug."];

/// Checks the name of a control word. Whether there is a sysctl of that name only the kernel knows.
pub(super) fn check_word(word: &str) -> Result<(), Complaint> {
    if word == NFTABLES
        || WORDS.contains(&word)
        || SYSCTLS.iter().any(|family| word.starts_with(family))
    {
        return Ok(());
    }
    Err(Complaint::new(
        "the vm device has no such control word",
        format!("{NFTABLES}, {}, or a sysctl: {} ...", WORDS.join(", "), SYSCTLS.join(" ")),
        "look for it with `sysctl -a`; what is booted stands beside `set`, not in it",
    ))
}

/// Reads the table `[vm]`.
pub(super) fn read_table(section: &mut Section<'_>, complaints: &mut Complaints<'_>) -> VmTable {
    let mut table = VmTable::default();
    let clock = read_choice("clock", &GuestClock::ALL, GuestClock::name, (section, complaints));
    table.machine.clock = clock.unwrap_or_default();
    let tester = read_choice("tester", &GuestTester::ALL, GuestTester::name, (section, complaints));
    table.machine.tester = tester.unwrap_or_default();
    if let Some(found) = section.integer("memory_mb", 128..=1 << 20, complaints) {
        table.machine.memory_mb = Some(found.value as u32);
    }
    let boots = read_choice("boots", &Booted::ALL, Booted::name, (section, complaints));
    table.machine.boots = boots.unwrap_or_default();
    if let Some(found) = section.integer("at_once", 1..=1024, complaints) {
        table.machine.at_once = Some(found.value as u32);
    }
    if let Some(found) = section.text("patience", "\"120s\"", complaints) {
        let result = quantity::duration(found.value, Duration::from_secs(1));
        table.machine.patience = complaints.keep(&found.at, &found.field, result);
    }
    table.default = read_kernel(section, &VmVariant::default(), complaints);
    table
}

/// What a validated experiment says: the machine, and what each variant boots.
pub(super) fn of(experiment: &Experiment) -> (VmMachine, Vec<VmVariant>) {
    let table = reread(&experiment.own, read_table);
    let variants = experiment.variants.iter();
    let variants = variants.map(|variant| {
        reread(&variant.own, |section, complaints| read_kernel(section, &table.default, complaints))
    });
    (table.machine, variants.collect())
}

/// Reads a key that names one of `all`, the first of which is an example.
fn read_choice<T: Copy>(
    key: &'static str,
    all: &[T],
    name: fn(T) -> &'static str,
    (section, complaints): (&mut Section<'_>, &mut Complaints<'_>),
) -> Option<T> {
    let example = format!("\"{}\"", name(*all.first()?));
    let Found { field, at, value } = section.text(key, &example, complaints)?;
    let names = || all.iter().map(|&one| name(one));
    let known = all.iter().copied().find(|&one| name(one) == value);
    let result = known.ok_or_else(|| {
        Complaint::new(
            format!("there is no {key} {value:?}"),
            format!("one of {}", names().collect::<Vec<_>>().join(", ")),
            match nearest(value, names()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("write {key} = {example}"),
            },
        )
    });
    complaints.keep(&at, &field, result)
}

/// Reads what a variant boots.
pub(super) fn read_variant(
    table: &VmTable,
    section: &mut Section<'_>,
    complaints: &mut Complaints<'_>,
) {
    let variant = read_kernel(section, &table.default, complaints);
    // Of one that is no text it has been said.
    let is_text = section.value("kernel").is_none_or(|found| found.value.as_str().is_some());
    if variant.kernel.is_empty() && is_text {
        let complaint = Complaint::new(
            "there is no kernel to boot",
            "an image, the directory of an unpacked package, a .deb file, or the release of an \
             installed kernel",
            "add kernel = \"kernels/6.1\" here, or to [vm] for all variants",
        );
        complaints.add(&section.at, &section.field("kernel"), complaint);
    }
}

fn read_kernel(
    section: &mut Section<'_>,
    default: &VmVariant,
    complaints: &mut Complaints<'_>,
) -> VmVariant {
    let mut text =
        |key, example| section.text(key, example, complaints).map(|f| f.value.to_owned());
    let kernel = text("kernel", "\"kernels/6.1\"");
    let modules = text("modules", "\"kernels/6.1/lib/modules/6.1.0\"");
    let cmdline = text("cmdline", "\"mitigations=off\"");
    let root = text("root", "\"root.qcow2\"");
    let guest = read_choice("guest", &GuestSystem::ALL, GuestSystem::name, (section, complaints));
    let start = read_choice("start", &Entry::ALL, Entry::name, (section, complaints));
    // An empty list loads nothing, also where the table says otherwise.
    let written = section.value("load").map(|found| found.value.as_str().map(str::to_owned));
    let says_load = written.is_some();
    let example = format!("[{:?}]", written.flatten().unwrap_or_else(|| "nft_ct".to_owned()));
    let load: Vec<String> = section
        .list("load", &example, complaints)
        .into_iter()
        .filter_map(|found| found.into_text("\"nft_ct\"", complaints))
        .map(|found| found.value.replace('-', "_"))
        .collect();
    // Modules belong to a kernel: with another kernel, those of the table do not fit.
    let own_kernel = kernel.is_some();
    VmVariant {
        kernel: kernel.unwrap_or_else(|| default.kernel.clone()),
        modules: modules.or_else(|| default.modules.clone().filter(|_| !own_kernel)),
        cmdline: cmdline.unwrap_or_else(|| default.cmdline.clone()),
        load: if says_load { load } else { default.load.clone() },
        root: root.or_else(|| default.root.clone()),
        guest: guest.or(default.guest.filter(|_| !own_kernel)),
        start: start.or(default.start),
    }
}
