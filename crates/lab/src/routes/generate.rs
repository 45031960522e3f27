//! Generates a routing table in the shape of a measured full one.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fwdlab_fib::synth::Synth;
use fwdlab_fib::{Inet, Inet6, NexthopId};

use super::{LearnedRoute, RouteTable, is_forwarded};
use crate::experiment::{Family, Prefix};

/// The seed of every generated table. It is not that of the running order:
/// campaigns of one experiment must route by the same table.
const SEED: u64 = 1;

/// So many routes for each family, over `nexthops` gateways. The same numbers
/// give the same table.
pub(super) fn table(routes: u32, nexthops: u32, families: &HashSet<Family>) -> RouteTable {
    let synth = Synth::new(routes as usize, nexthops, SEED);
    let mut table = RouteTable::default();
    let mut add = |address: IpAddr, length: u8, nexthop: NexthopId| {
        let prefix = Prefix::covering(address, length);
        if is_forwarded(&prefix) {
            table.routes.push(LearnedRoute { prefix, gateway: Some(label(address, nexthop)) });
        } else {
            table.left_out += 1;
        }
    };
    if families.contains(&Family::Inet) {
        for (prefix, nexthop) in synth.table::<Inet>() {
            add(Ipv4Addr::from_bits(prefix.addr()).into(), prefix.len(), nexthop);
        }
    }
    if families.contains(&Family::Inet6) {
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
