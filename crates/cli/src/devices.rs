//! The list of devices: the only place that names them all.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use fwdlab_builtin::Builtin;
use fwdlab_device::energy::Powercap;
use fwdlab_device::{Device, Kind, Place};
use fwdlab_experiment::{Experiment, Schema};
use fwdlab_guard::Scratch;
#[cfg(target_os = "linux")]
use fwdlab_linux::{BUILTIN_VETH, LINUX};
#[cfg(target_os = "linux")]
use fwdlab_remote::Remote;
use fwdlab_results::About;
#[cfg(all(target_os = "linux", feature = "vm"))]
use fwdlab_vm::Vm;

use crate::feature::Feature;

/// The machines that an experiment runs on.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Testbed {
    /// The file that names the machines, for device = "remote"
    #[arg(long = "testbed", value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Every device of this build; the first is the one of experiments that name none.
const KINDS: &[&dyn Kind] = &[
    &Builtin,
    #[cfg(target_os = "linux")]
    &LINUX,
    #[cfg(target_os = "linux")]
    &BUILTIN_VETH,
    #[cfg(target_os = "linux")]
    &Remote,
    #[cfg(all(target_os = "linux", feature = "vm"))]
    &Vm,
];

/// How an experiment on a device begins, for who has none yet.
#[derive(Debug)]
pub struct Start {
    /// The device; a build may have left it out.
    pub device: &'static str,
    /// What forwards, in words.
    pub about: &'static str,
    /// What people compare on it.
    pub compares: Compares,
    /// One such comparison, as it is asked for.
    pub usual: &'static str,
}

/// What the variants of an experiment differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compares {
    /// A control word or sysctl: `WORD=BEFORE,AFTER`.
    Words,
    /// Kernels: `BEFORE,AFTER`.
    Kernels,
}

/// The devices to begin with; the first is the usual one.
pub static STARTS: [Start; 3] = [
    Start {
        device: "builtin",
        about: "fwdlab's own router, in memory",
        compares: Compares::Words,
        usual: "net.route.algo.inet.algo=radix4,auto",
    },
    Start {
        device: "linux",
        about: "The running Linux kernel, in network namespaces (needs root)",
        compares: Compares::Words,
        usual: "net.ipv4.conf.all.rp_filter=0,1",
    },
    Start {
        device: OF_KERNELS,
        about: "Kernels booted under QEMU",
        compares: Compares::Kernels,
        usual: "kernels/6.1,kernels/6.12",
    },
];

/// The device that boots kernels, which `fwdlab run --kernel` compares.
pub const OF_KERNELS: &str = "vm";

/// What a build may leave out of devices, or a whole one.
pub const PARTS: [Feature; 3] = [
    Feature::part("sampler", "profiles of the built-in device", cfg!(feature = "sampler")),
    Feature {
        device: Some(OF_KERNELS),
        ..Feature::part("vm", "kernels in virtual machines (device = \"vm\")", cfg!(feature = "vm"))
    },
    Feature::part(
        "xdp-object",
        "XDP programs of your own (xdp = \"FILE.o\")",
        cfg!(feature = "xdp-object"),
    ),
];

/// Every device.
pub fn all() -> &'static [&'static dyn Kind] {
    KINDS
}

/// Every device as experiment files know it.
pub fn schemas() -> Vec<&'static dyn Schema> {
    KINDS.iter().map(|kind| *kind as &dyn Schema).collect()
}

/// The device of this name.
pub fn named(name: &str) -> Option<&'static dyn Kind> {
    KINDS.iter().copied().find(|kind| kind.name() == name)
}

/// What is known of devices that journals of earlier versions only name.
pub fn known() -> Vec<(&'static str, About)> {
    let imported = (fwdlab_netbenches::import::DEVICE, fwdlab_netbenches::import::about());
    KINDS.iter().map(|kind| (kind.name(), kind.about())).chain([imported]).collect()
}

/// Removes what killed runs left on this machine: every command does so first.
pub fn tidy() {
    Scratch::tidy(&std::env::temp_dir());
    KINDS.iter().for_each(|kind| kind.tidy());
}

/// Removes what this process made, because it ends at once.
pub fn abandon() {
    Scratch::abandon(&std::env::temp_dir());
    KINDS.iter().for_each(|kind| kind.abandon());
}

/// The directory of the energy counters, where it is not the system's: containers hide that one.
const POWERCAP: &str = "FWDLAB_POWERCAP";

/// Where this program stands.
///
/// # Errors
/// When the system does not say.
pub fn place() -> anyhow::Result<Place> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let powercap = std::env::var_os(POWERCAP).filter(|dir| !dir.is_empty());
    let powercap = powercap.map_or_else(Powercap::default, |dir| Powercap::at(Path::new(&dir)));
    Ok(Place { program, powercap, ..Place::default() })
}

/// The device that an experiment names, ready for its trials.
///
/// # Errors
/// When it cannot be set up here.
pub fn open(experiment: &Arc<Experiment>, testbed: &Testbed) -> anyhow::Result<Box<dyn Device>> {
    let kind = named(&experiment.device)
        .with_context(|| format!("the device {:?} is not part of this build", experiment.device))?;
    match &testbed.file {
        Some(file) if !kind.takes_testbed() => bail!(
            "--testbed {}: device = {:?} needs no other machines; remove the option",
            file.display(),
            kind.name()
        ),
        None if kind.takes_testbed() => bail!(
            "device = {:?} runs on machines that a file of its own names; add --testbed FILE \
             (docs/remote.md)",
            kind.name()
        ),
        _ => {}
    }
    open_at(experiment, &Place { testbed: testbed.file.clone(), ..place()? })
}

/// As [`open`], at a place.
///
/// # Errors
/// Those of [`open`].
pub fn open_at(experiment: &Arc<Experiment>, place: &Place) -> anyhow::Result<Box<dyn Device>> {
    let kind = named(&experiment.device)
        .with_context(|| format!("the device {:?} is not part of this build", experiment.device))?;
    Ok(kind.open(experiment, place)?)
}

/// What the machines of a testbed file answer, and whether all is well.
///
/// # Errors
/// When the file is wrong.
#[cfg(target_os = "linux")]
pub fn examine_testbed(file: &Path) -> anyhow::Result<(String, bool)> {
    Ok(fwdlab_remote::examine(file, &place()?.program)?)
}

/// The machines of a testbed file are reached from Linux only.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn examine_testbed(_: &Path) -> anyhow::Result<(String, bool)> {
    bail!("testbeds are reached from Linux only")
}

/// Frees the testbed of a file; says who had it.
///
/// # Errors
/// When its tester cannot be reached, or somebody works on it.
#[cfg(target_os = "linux")]
pub fn unlock(file: &Path, is_forced: bool) -> anyhow::Result<Option<String>> {
    Ok(fwdlab_remote::unlock(file, &place()?.program, is_forced)?)
}

/// Reads a testbed file without connecting to anything.
///
/// # Errors
/// When it is wrong.
#[cfg(target_os = "linux")]
pub fn check_testbed(file: &Path) -> anyhow::Result<()> {
    Ok(fwdlab_remote::check(file)?)
}

/// Testbeds are reached from Linux only.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn check_testbed(_: &Path) -> anyhow::Result<()> {
    bail!("testbeds are reached from Linux only")
}

#[cfg(test)]
mod tests;
