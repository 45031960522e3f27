//! Files in memory, which QEMU opens by the descriptors of this process.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;

use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::VmError;

pub(super) fn in_memory(name: &str) -> Result<File, VmError> {
    let made = memfd_create(name, MFdFlags::MFD_CLOEXEC);
    made.map(File::from).map_err(|errno| VmError::file("make", Path::new(name))(errno.into()))
}

/// A file in memory with this content.
pub(super) fn filled(name: &str, bytes: &[u8]) -> Result<File, VmError> {
    let mut file = in_memory(name)?;
    file.write_all(bytes).map_err(VmError::file("write the guest to", Path::new("memory")))?;
    Ok(file)
}

/// How another process opens a file of this one.
pub(super) fn path_of(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}
