//! The device under test: what is put on it, what it answers, what it counts.

mod counters;
mod files;
mod network;
mod sysctl;

pub use counters::{change, look, read};
pub use files::{Configuration, restore_and_place};
pub use fwdlab_counters::{Change, Reading, added};
pub use network::Routes;
pub use sysctl::{forget, put_back, set_all};
