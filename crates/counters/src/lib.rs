//! What hosts count and how they are set, asked by scripts of POSIX sh and read from their answers. Who runs the
//! scripts there is another's business.

#![forbid(unsafe_code)]

mod align;
mod cpu;
pub mod iperf3;
pub mod netstat;
pub mod proc;
mod queues;
mod reading;
pub mod settings;
mod stack;
mod sums;
mod work;

pub use align::{HostCounts, aligned};
pub use cpu::CpuTime;
pub use queues::Queues;
pub use reading::{Broken, Change, PortReading, Reading, added, change};
pub use stack::{StackCounters, backlog_drops, processed};
pub use work::{Moment, Span, Work};

#[cfg(test)]
mod tests;
