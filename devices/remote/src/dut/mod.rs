//! The device under test: what is put on it, what it answers, what it counts.

mod counters;
mod files;
mod network;
mod queues;
mod sysctl;
mod work;

pub use counters::{Change, Reading, added, change, read};
pub use files::{Configuration, restore_and_place};
pub use network::Routes;
pub use sysctl::{forget, set_all};
