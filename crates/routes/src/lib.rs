//! Routing tables from files: prefix lists, `ip route`, `netstat -rn`, BIRD's
//! `show route`, and MRT dumps (RFC 6396), plain or gzipped.
//!
//! The form of a file is found from its content. Text is read line by line and
//! never held whole; lines, files and tables have limits, so that a damaged or
//! hostile file ends in an error that names its line, not in a full memory.
//!
//! What matters to a lookup algorithm is kept: which prefixes there are, and
//! which of them share a nexthop. The addresses of nexthops are not: they lie
//! in networks that the lab does not have.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod error;
mod fault;
mod file;
pub mod generate;
mod mrt;
mod prefix;
mod text;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::net::IpAddr;

pub use error::RoutesError;
pub use file::{read, read_bytes, read_found};
pub use prefix::{NotAPrefix, Prefix, number};

/// The result of a fallible operation on files of routes.
pub type Result<T, E = RoutesError> = std::result::Result<T, E>;

/// Most routes of one file.
pub const MOST_ROUTES: usize = 8_000_000;

/// One route of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LearnedRoute {
    /// Destinations.
    pub prefix: Prefix,
    /// The next router, if the file names one.
    pub gateway: Option<IpAddr>,
}

/// A routing table as a file holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteTable {
    /// The routes in the order of the file, one for each prefix.
    pub routes: Vec<LearnedRoute>,
    /// Further routes to a prefix that was there before: other paths. The
    /// first one counts.
    pub repeated: usize,
    /// Routes that a router does not forward by: multicast, loopback,
    /// link-local, local and broadcast ones.
    pub left_out: usize,
}

impl RouteTable {
    /// Numbers of IPv4 and of IPv6 routes.
    pub fn counts(&self) -> (usize, usize) {
        let inet = self.routes.iter().filter(|route| route.prefix.is_ipv4()).count();
        (inet, self.routes.len() - inet)
    }
}

/// Gathers the routes of a file.
#[derive(Debug, Default)]
struct Gathering {
    table: RouteTable,
    seen: HashSet<Prefix>,
    /// The last added route may get its gateway from the next line.
    is_open: bool,
}

impl Gathering {
    /// Adds one route.
    fn add(&mut self, prefix: Prefix, gateway: Option<IpAddr>) -> Result<(), fault::Fault> {
        self.is_open = false;
        if !is_forwarded(&prefix) {
            self.table.left_out += 1;
            return Ok(());
        }
        if !self.seen.insert(prefix) {
            self.table.repeated += 1;
            return Ok(());
        }
        if self.table.routes.len() == MOST_ROUTES {
            return Err(fault::Fault {
                what: format!("more than {MOST_ROUTES} routes"),
                wanted: "a routing table of this planet",
                remedy: "cut the file",
            });
        }
        self.table.routes.push(LearnedRoute { prefix, gateway });
        self.is_open = gateway.is_none();
        Ok(())
    }

    /// Gives the last route its gateway, if it still lacks one.
    fn continue_with(&mut self, gateway: IpAddr) {
        if self.is_open
            && let Some(last) = self.table.routes.last_mut()
            && gateway.is_ipv4() == last.prefix.is_ipv4()
        {
            last.gateway = Some(gateway);
            self.is_open = false;
        }
    }

    /// Notes a route that is none for forwarding.
    fn leave_out(&mut self) {
        self.table.left_out += 1;
        self.is_open = false;
    }
}

/// False for prefixes by which a router must not forward: multicast, loopback,
/// link-local and reserved space, as far as the whole prefix lies in it.
fn is_forwarded(prefix: &Prefix) -> bool {
    let (low, high) = prefix.bounds();
    let lies_in = |first: u128, last: u128| first <= low && high <= last;
    match prefix.is_ipv4() {
        true => {
            let v4 = |octet: u128| octet << 24;
            !(lies_in(v4(127), v4(128) - 1)
                || lies_in(v4(224), v4(256) - 1)
                || lies_in(0xa9fe_0000, 0xa9fe_ffff) // 169.254.0.0/16
                || lies_in(0, v4(1) - 1))
        }
        false => {
            let top = |group: u128| group << 112;
            !(lies_in(top(0xff00), u128::MAX)
                || lies_in(top(0xfe80), top(0xfec0) - 1)
                || lies_in(0, 0xffff_ffff_ffff)) // ::/128, ::1, ::/96, ::ffff:0:0/96
        }
    }
}
