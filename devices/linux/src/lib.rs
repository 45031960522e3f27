//! The running Linux kernel as device: sender, device and receiver in network namespaces of their
//! own, joined by veth pairs.
//!
//! Sender, device and receiver run on one processor: the sender's system call does the device's
//! work for each batch of frames before it makes the next. That is the set-up whose rate differs
//! least from trial to trial; the rate is that of tester and device together. What the device
//! alone needs is measured by time stamps at its input and at the receiver, and reported as its
//! cost. Frames can be moved to other processors (`rps`, `threaded`); then the cost is the time
//! that all processors spent in soft interrupts.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod convergence;
mod counters;
mod device;
mod doctor;
mod embedded;
mod error;
mod kind;
mod loads;
#[cfg_attr(not(feature = "xdp-object"), path = "object/left_out.rs")]
mod object;
mod probe;
pub mod settings;
mod setup;
mod streams;
mod tester;
mod tuning;

#[cfg(test)]
mod differential;

pub use error::LinuxError;
pub use kind::{BUILTIN_VETH, LINUX, OnVeth};
pub use probe::{try_af_xdp, try_live_frames, try_namespaces};
