//! The output of iproute2's `ip route` and `ip -6 route`.
//!
//! ```text
//! default via 192.0.2.1 dev eth0 proto dhcp metric 100
//! 198.51.100.0/24 proto bird metric 32
//!         nexthop via 192.0.2.2 dev eth0 weight 1
//! 203.0.113.0/24 via inet6 fe80::1 dev eth0
//! unreachable 10.0.0.0/8 dev lo metric 1024
//! ```

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Fault, prefix, required_gateway};
use crate::Gathering;
use crate::Prefix;

/// Route types by which nothing is forwarded (ip-route(8)).
const NOT_FORWARDED: [&str; 9] = [
    "unreachable",
    "blackhole",
    "prohibit",
    "throw",
    "local",
    "broadcast",
    "multicast",
    "anycast",
    "nat",
];

/// True for a line that only `ip route` writes.
pub(super) fn is_typical(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (Some(first), Some(second)) = (words.next(), words.next()) else { return false };
    let is_start = first == "default" || NOT_FORWARDED.contains(&first) || prefix(first).is_ok();
    let has_device = line.contains(" dev ") || line.contains(" nhid ");
    is_start && has_device && !line.contains('[') && second != "unicast"
}

pub(super) fn line(line: &str, into: &mut Gathering) -> Result<(), Fault> {
    let mut words = line.split_whitespace().peekable();
    let Some(first) = words.next() else { return Ok(()) };
    if first == "nexthop" {
        if words.next() == Some("via") {
            into.continue_with(gateway_after_via(&mut words)?);
        }
        return Ok(());
    }
    if NOT_FORWARDED.contains(&first) {
        into.leave_out();
        return Ok(());
    }
    let destination = if first == "unicast" { words.next().unwrap_or_default() } else { first };
    let mut gateway = None;
    while let Some(word) = words.next() {
        if word == "via" {
            gateway = Some(gateway_after_via(&mut words)?);
            break;
        }
    }
    let prefix = match destination {
        "default" => default_route(line, gateway),
        other => prefix(other)?,
    };
    into.add(prefix, gateway)
}

/// The address after `via`; `via inet6 ADDRESS` says its family first.
fn gateway_after_via<'w>(words: &mut impl Iterator<Item = &'w str>) -> Result<IpAddr, Fault> {
    let mut word = words.next();
    if matches!(word, Some("inet" | "inet6")) {
        word = words.next();
    }
    required_gateway(word)
}

/// `default` does not say its family: the gateway does, or else `pref`, which
/// only IPv6 routes have.
fn default_route(line: &str, gateway: Option<IpAddr>) -> Prefix {
    let is_v6 = match gateway {
        Some(gateway) => gateway.is_ipv6(),
        None => line.contains(" pref "),
    };
    let any: IpAddr =
        if is_v6 { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
    Prefix::everything(any)
}
