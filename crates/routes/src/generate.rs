//! Generates a routing table in the shape of a measured full one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::synth::Synth;
use fwdlab_fib::{Inet, Inet6, NexthopId};

use super::{LearnedRoute, RouteTable};
use crate::Prefix;

/// The seed of every generated table. It is not that of the running order:
/// campaigns of one experiment must route by the same table.
const SEED: u64 = 1;

/// What to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Routes of each family.
    pub routes: u32,
    /// Gateways over which they are spread.
    pub nexthops: u32,
    /// IPv4 routes.
    pub ipv4: bool,
    /// IPv6 routes.
    pub ipv6: bool,
}

/// So many routes for each family, over so many gateways. The same numbers
/// give the same table.
pub fn table(wanted: Wanted) -> RouteTable {
    let synth = Synth::new(wanted.routes as usize, wanted.nexthops, SEED);
    let mut table = RouteTable::default();
    let mut add = |address: IpAddr, length: u8, nexthop: NexthopId| {
        let prefix = Prefix::covering(address, length);
        if prefix.is_forwarded() {
            table.routes.push(LearnedRoute {
                prefix,
                gateway: Some(label(address, nexthop)),
                interface: None,
                nexthop_group: None,
                line: 0,
            });
        } else {
            table.left_out += 1;
        }
    };
    if wanted.ipv4 {
        for (prefix, nexthop) in synth.table::<Inet>() {
            add(Ipv4Addr::from_bits(prefix.addr()).into(), prefix.len(), nexthop);
        }
    }
    if wanted.ipv6 {
        for (prefix, nexthop) in synth.table::<Inet6>() {
            add(Ipv6Addr::from_bits(prefix.addr()).into(), prefix.len(), nexthop);
        }
    }
    table
}

/// An address that stands for a nexthop number; attaching the table replaces
/// it by one beside the destinations.
fn label(of: IpAddr, nexthop: NexthopId) -> IpAddr {
    match of {
        IpAddr::V4(_) => Ipv4Addr::from_bits(nexthop.0).into(),
        IpAddr::V6(_) => Ipv6Addr::from_bits(u128::from(nexthop.0)).into(),
    }
}
