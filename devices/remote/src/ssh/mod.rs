//! Plain `ssh` processes: one master a host, one shell over it, and single commands over it.
//!
//! No library speaks the protocol: people's ssh_config, agents, jump hosts and hardware keys work as
//! they do by hand.

mod lines;
mod master;
mod options;
mod shell;
mod verdict;

pub use lines::{Lines, Next};
pub use master::Master;
pub use options::Access;
pub use shell::{Said, Shell, quoted};
