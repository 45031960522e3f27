//! Frames in, frames out.
//!
//! A [`Pool`] owns the memory of all frames. A [`Frame`] is the owned 16-byte handle of one slot,
//! a [`Batch`] a row of up to 256 of them, and a [`Port`] moves batches: [`ring`] joins two ports
//! in memory, [`packet`] and [`xdp`] open network interfaces, [`datagram`] the cards of guests, [`pcap`]
//! capture files. [`clock`] reads time cheaply, [`affinity`] binds threads to cores, [`pingpong`]
//! measures how far two cores are from each other, [`stamps`] times frames, [`sampler`] profiles a thread.
//!
//! Nothing here allocates, locks or calls the system for a frame on its normal way: frames are
//! taken from the pool at the start of a trial and circulate. All `unsafe` code and all system
//! calls are in `sys`.
//!
//! A device that hands frames from port 0 to port 1, between two ports of a tester:
//! ```
//! use fwdlab_port::{Batch, Pool, Port, ring};
//!
//! let pool = Pool::with_frames(512)?;
//! let (mut tester_a, mut device_0) = ring::pair(1024);
//! let (mut device_1, mut tester_b) = ring::pair(1024);
//!
//! let mut batch = Batch::new();
//! pool.take_batch(&mut batch, 200);
//! for frame in batch.iter_mut() {
//!     frame.set_len(60);
//! }
//! tester_a.send(&mut batch);
//!
//! // The device, usually on a thread of its own.
//! let mut work = Batch::new();
//! while device_0.receive(&mut work) > 0 {
//!     device_1.send(&mut work);
//! }
//!
//! assert_eq!(tester_b.receive(&mut batch), 200);
//! assert_eq!(tester_a.counters().tx_frames, tester_b.counters().rx_frames);
//! # Ok::<(), fwdlab_port::PortError>(())
//! ```
#![deny(missing_docs)]

pub mod affinity;
pub mod beat;
#[cfg(target_os = "linux")]
mod begun;
#[cfg(target_os = "linux")]
pub mod bpf;
pub mod clock;
mod counters;
#[cfg(target_os = "linux")]
pub mod datagram;
#[cfg(target_os = "linux")]
mod end;
mod error;
#[cfg(target_os = "linux")]
pub mod hosts;
mod interface;
pub mod machine;
#[cfg(target_os = "linux")]
pub mod offloads;
#[cfg(target_os = "linux")]
pub mod packet;
pub mod pcap;
pub mod pingpong;
#[cfg(target_os = "linux")]
pub mod profile;
pub mod ring;
#[cfg(all(target_os = "linux", feature = "sampler"))]
pub mod sampler;
mod socket;
#[cfg(target_os = "linux")]
mod stamp;
pub mod stamps;
mod sys;
#[cfg(target_os = "linux")]
pub mod tcp;
#[cfg(unix)]
mod waiting;
#[cfg(target_os = "linux")]
pub mod xdp;

pub use clock::Clock;
pub use counters::Counters;
pub use error::PortError;
pub use interface::Port;
pub use socket::SocketKind;
pub use sys::batch::{Batch, Drain};
pub use sys::frame::Frame;
pub use sys::heads::{Heads, Tails};
pub use sys::lines::{Columns, LINES, Places, count_alike, prefetch_numbers, write_lines};
pub use sys::pool::{Pool, PoolConfig};
pub use sys::wide::wide;
#[cfg(unix)]
pub use waiting::wait;

/// The examples of the README, run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
