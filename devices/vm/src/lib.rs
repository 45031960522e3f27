//! Kernels in virtual machines: each trial boots the variant's kernel under QEMU, with a program of
//! fwdlab's as its first process, and takes the counts from a serial port. Linux and FreeBSD are
//! guests; which of them a kernel is, is found from the kernel itself.
//!
//! The guest has one processor, which works for the tester and for the device in turn. What the
//! tester costs is measured in the same boot, with a cable in the device's place, and taken off:
//! the rest is the device's. With the clock of instructions, the figure is guest instructions per
//! frame; it is repeatable on a noisy machine, and blind to caches and memory.
//!
//! Trials do not know each other: every one boots anew, or goes on from a copy of the state in which a boot was
//! all set up, so that nothing is left of the one before.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod ahead;
mod beginning;
mod boot;
mod captures;
mod config;
mod console;
mod counts;
mod cpio;
mod device;
mod doctor;
mod error;
mod follow;
mod freebsd;
mod guests;
mod initramfs;
mod kind;
mod kvm;
mod memory;
mod monitor;
mod pktgen;
mod program;
mod qemu;
mod sessions;
mod settings;
mod state;
mod task;

pub use error::VmError;
pub use fwdlab_kernel::{KernelAtHand, kernels_at_hand};
pub use kind::Vm;
pub use kvm::try_kvm;

/// Reads everything that is ever read of an ELF file, and forgets it: for the fuzzer.
#[doc(hidden)]
pub fn read_elf(bytes: &[u8]) {
    fwdlab_kernel::read_elf(bytes);
    let _ = program::read(bytes, std::path::Path::new("x"));
}
