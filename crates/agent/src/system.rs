//! What an init process owes its kernel: file systems, modules, the end.

use std::ffi::CString;
use std::fs::File;
use std::path::Path;

use fwdlab_port::machine;
use nix::errno::Errno;
use nix::kmod::{ModuleInitFlags, finit_module};
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};

use super::Result;
use crate::task::MODULE_DIRECTORY;

/// File systems of the kernel, and one for files of this boot.
const MOUNTS: [(&str, &str); 4] =
    [("devtmpfs", "/dev"), ("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/run")];

pub(super) fn mount_all() -> Result<()> {
    let mut first_fault = Ok(());
    for (kind, place) in MOUNTS {
        let none = None::<&str>;
        if let Err(errno) = mount(Some(kind), place, Some(kind), MsFlags::empty(), none)
            && first_fault.is_ok()
        {
            first_fault = Err(format!("cannot mount {kind} on {place}: {errno}"));
        }
    }
    first_fault
}

/// Loads the modules in this order.
pub(super) fn load_modules(names: &[String]) -> Result<()> {
    for name in names {
        let path = Path::new("/").join(MODULE_DIRECTORY).join(format!("{name}.ko"));
        let file = File::open(&path)
            .map_err(|error| format!("cannot open {}: {error}", path.display()))?;
        let parameters = CString::default();
        match finit_module(&file, &parameters, ModuleInitFlags::empty()) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(errno) => return Err(refused(name, errno)),
        }
    }
    Ok(())
}

/// Why the kernel did not take a module.
fn refused(name: &str, errno: Errno) -> String {
    let remedy = match errno {
        // A symbol that nobody has.
        Errno::ENOENT => {
            "what it builds on is not there: take all modules of the kernel, or one with the options \
             that it needs"
        }
        _ => "kernel and modules must be of one build",
    };
    format!("the kernel refused its module {name}: {errno}; {remedy}")
}

/// Stops the machine here, until whoever keeps its state lets it, or a copy of it, go on; returns the number
/// that it is given then.
pub(super) fn stop_machine() -> Result<usize> {
    let failed = |error| {
        format!(
            "cannot stop the machine to keep its state: {error}; it needs CONFIG_X86_IOPL_IOPERM"
        )
    };
    machine::stop().map_err(failed)?;
    machine::number().map(usize::from).map_err(failed)
}

/// Ends the machine: QEMU takes a restart for the end.
pub(super) fn end() {
    let Err(errno) = reboot(RebootMode::RB_AUTOBOOT);
    fwdlab_guard::say!("fwdlab: cannot restart: {errno}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_without_what_it_builds_on_is_not_said_to_be_of_another_build() {
        let missing = refused("nf_conntrack", Errno::ENOENT);
        assert!(missing.contains("what it builds on is not there"), "{missing}");
        let other = refused("nf_conntrack", Errno::ENOEXEC);
        assert!(other.ends_with("kernel and modules must be of one build"), "{other}");
    }
}
