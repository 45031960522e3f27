//! `fwdlab launch PARENT PROGRAM ARGUMENTS`: becomes another program that ends with fwdlab.
//!
//! The request to be ended with the parent (prctl(2), PR_SET_PDEATHSIG) outlives the change into
//! another program. It has to be made by the child itself, before that change.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getppid};

/// Becomes `program`; returns only when that fails.
pub fn launch(parent: i32, program: &OsStr, arguments: &[OsString]) -> io::Error {
    if let Err(errno) = set_pdeathsig(Signal::SIGKILL) {
        return errno.into();
    }
    // The parent may have ended before the request was made.
    if getppid() != Pid::from_raw(parent) {
        return io::Error::other("fwdlab ended before the program began");
    }
    Command::new(program).args(arguments).exec()
}
