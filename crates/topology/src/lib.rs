//! Networks of this machine as data: network namespaces, veth pairs between them, addresses,
//! permanent neighbours, static routes, sysctls and nftables rule sets.
//!
//! A [`Topology`] says what is wanted. [`diff::actions`] compares it with what is there and says
//! what to do, without touching anything; a [`Testbed`] does it, action after action, takes back
//! what it did when one fails, and removes everything when it is dropped. Nothing is ever made in
//! the namespace in which fwdlab was started.
//!
//! The other way round, a [`RouteWatch`] tells which routes the kernel of a namespace has.
//!
//! Everything but nftables goes through netlink (rtnetlink(7)) and /proc/sys, so that it works
//! without iproute2, for example in the init process of a virtual machine. Needs CAP_SYS_ADMIN and
//! CAP_NET_ADMIN.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod diff;
mod error;
mod host;
mod links;
mod model;
mod namespace;
mod netlink;
mod nftables;
mod restart;
mod routes;
mod sysctl;
mod testbed;
pub mod tracking;
mod watch;

#[cfg(test)]
mod tests;

pub use diff::{Action, actions};
pub use error::TopologyError;
pub use host::Host;
pub use links::LinkCounters;
pub use model::{
    Cable, CableEnd, InterfaceAddress, Namespace, Neighbour, StaticRoute, Topology, end_name,
    port_name,
};
pub use namespace::{NetNamespace, remove_leftovers, remove_own};
pub use nftables::{
    NFTABLES, RuleSet, in_file as rules_in_file, is_available as has_nftables, translation,
};
pub use restart::Restart;
pub use testbed::Testbed;
pub use watch::{KernelRoute, KernelTarget, KernelWay, RouteNotice, RouteWatch};
