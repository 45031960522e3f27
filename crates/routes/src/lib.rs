//! Routing tables from files: prefix lists, `ip route`, `netstat -rn`, BIRD's
//! `show route`, and MRT dumps (RFC 6396), plain or gzipped.
//!
//! The form of a file is found from its content. Text is read line by line and
//! never held whole; lines, files and tables have limits, so that a damaged or
//! hostile file ends in an error that names its line, not in a full memory.
//!
//! Kept is what a router needs: prefixes, gateways with their interfaces, nexthop groups
//! of them with weights, and routes that refuse packets, each with its line.
//! Experiments take less: which prefixes there are, and which share a gateway.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod error;
mod fault;
mod file;
mod gathering;
pub mod generate;
mod mrt;
mod prefix;
pub mod synth;
mod text;
mod updates;

#[cfg(test)]
mod tests;

use std::net::IpAddr;

pub use error::RoutesError;
pub use file::{MOST_BYTES, check_beginning, read, read_bytes, read_found, read_order};
pub use prefix::{NotAPrefix, Prefix, number};
pub use updates::{RouteUpdate, read_updates, read_updates_bytes};

/// The result of a fallible operation on files of routes.
pub type Result<T, E = RoutesError> = std::result::Result<T, E>;

/// Most routes of one file.
pub const MOST_ROUTES: usize = 8_000_000;

/// One route of a file by which packets are forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LearnedRoute {
    /// Destinations.
    pub prefix: Prefix,
    /// The next router, if the file names one; of several the first.
    pub gateway: Option<IpAddr>,
    /// Where it goes, if the file says so; of several the first.
    pub interface: Option<Interface>,
    /// Which of the table's nexthop groups it leads to, if it names several next routers.
    pub nexthop_group: Option<u32>,
    /// The line of the file, or the record, from 1; 0 for generated routes.
    pub line: u32,
}

/// The name of an interface, as its place in [`RouteTable::interfaces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface(u16);

/// One of the ways that a route names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteHop {
    /// The next router; without one, destinations are neighbours themselves.
    pub gateway: Option<IpAddr>,
    /// Where it goes, if the file says so.
    pub interface: Option<Interface>,
    /// Its share of the flows.
    pub weight: u32,
}

/// What a route that does not forward does with packets (ip-route(8)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Drops them silently.
    Blackhole,
    /// Drops them and says that the host cannot be reached.
    Unreachable,
    /// Drops them and says that it is forbidden.
    Prohibit,
}

/// A route by which nothing is forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusingRoute {
    /// Destinations.
    pub prefix: Prefix,
    /// What becomes of their packets.
    pub refusal: Refusal,
    /// The line of the file, from 1.
    pub line: u32,
}

/// A routing table as a file holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteTable {
    /// The routes in the order of the file, one for each prefix.
    pub routes: Vec<LearnedRoute>,
    /// Routes that refuse packets; their prefixes are not among `routes`.
    pub refusing: Vec<RefusingRoute>,
    /// Further routes to a prefix that was there before: other paths. The
    /// first one counts.
    pub repeated: usize,
    /// Routes that a router does not forward by: multicast, loopback,
    /// link-local, local and broadcast ones.
    pub left_out: usize,
    nexthop_groups: Vec<Vec<RouteHop>>,
    interfaces: Vec<String>,
}

impl RouteTable {
    /// Numbers of IPv4 and of IPv6 routes that forward.
    pub fn counts(&self) -> (usize, usize) {
        let inet = self.routes.iter().filter(|route| route.prefix.is_ipv4()).count();
        (inet, self.routes.len() - inet)
    }

    /// The ways of a route of this table: one, or those of its group.
    pub fn ways(&self, route: &LearnedRoute) -> Vec<RouteHop> {
        let group = route.nexthop_group.and_then(|group| self.nexthop_groups.get(group as usize));
        let LearnedRoute { gateway, interface, .. } = *route;
        group.cloned().unwrap_or_else(|| vec![RouteHop { gateway, interface, weight: 1 }])
    }

    /// The name of an interface of this table.
    pub fn interface(&self, interface: Interface) -> &str {
        self.interfaces.get(usize::from(interface.0)).map_or("", String::as_str)
    }
}
