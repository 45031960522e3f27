//! Everything of this crate that is `unsafe` or calls the operating system.
//!
//! Each file is short, exports a safe interface, and gives the reason for
//! every unsafe block where it stands. The rest of the crate is safe code.
#![allow(unsafe_code)]

#[cfg(target_os = "linux")]
pub(crate) mod addresses;
pub(crate) mod batch;
#[cfg(target_os = "linux")]
pub(crate) mod bpf;
pub(crate) mod frame;
pub(crate) mod heads;
#[cfg(target_os = "linux")]
pub(crate) mod interface;
pub(crate) mod lines;
pub(crate) mod link;
pub(crate) mod memory;
#[cfg(target_os = "linux")]
pub(crate) mod offloads;
#[cfg(target_os = "linux")]
pub(crate) mod options;
#[cfg(target_os = "linux")]
pub(crate) mod packet;
pub(crate) mod panic_port;
#[cfg(target_os = "linux")]
pub(crate) mod perf;
pub(crate) mod pool;
#[cfg(all(target_os = "linux", feature = "sampler"))]
pub(crate) mod sampler;
pub(crate) mod sched;
mod slots;
pub(crate) mod spsc;
#[cfg(target_os = "linux")]
pub(crate) mod stamps;
#[cfg(target_os = "linux")]
pub(crate) mod tcp;
pub(crate) mod tsc;
#[cfg(unix)]
pub(crate) mod wait;
pub(crate) mod wide;
#[cfg(target_os = "linux")]
pub(crate) mod xdp;

/// The synchronisation types of [`spsc`]. The model-checking test compiles
/// `spsc.rs` a second time against loom's types of the same names.
mod sync {
    pub(super) use std::sync::Arc;
    pub(super) use std::sync::atomic::{AtomicUsize, Ordering};

    /// Where loom is told which places a side uses; costs nothing here.
    pub(super) struct Watch;

    impl Watch {
        pub(super) fn new(_places: usize) -> Self {
            Self
        }

        #[inline(always)]
        pub(super) fn access(&self, _index: usize, _count: usize) {}
    }
}
