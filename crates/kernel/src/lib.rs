//! The files of kernels, of Linux and FreeBSD: where they come from, whether they are whole, their modules,
//! what they say of themselves. Nothing is run.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod error;
mod find;
pub mod freebsd;
mod inside;
mod intact;
mod modules;
mod packed;
mod tree;

pub use error::KernelError;
pub use find::{Kernel, KernelAtHand, kernels_at_hand};
pub use intact::check;
pub use modules::{KernelModule, KernelModules};

/// Reads everything that is ever read of an ELF file, and forgets it: for the fuzzer.
#[doc(hidden)]
pub fn read_elf(bytes: &[u8]) {
    let path = std::path::Path::new("x");
    let _ = modules::depends(bytes, path);
    let _ = freebsd::read_kernel(bytes, path);
}
