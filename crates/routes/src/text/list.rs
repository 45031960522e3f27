//! Lists of routes: plain ones, and the output of iproute2's `ip route` and `ip -6 route`, which
//! are written alike.
//!
//! ```text
//! 198.51.100.0/24                             # experiments take prefixes alone
//! 198.51.100.0/24 192.0.2.2
//! 198.51.100.0/24 via 192.0.2.2 dev eth0
//! 2001:db8::/32 via fe80::1%eth0
//! default via 192.0.2.1 dev eth0 proto dhcp metric 100
//! 198.51.100.0/24 proto bird metric 32
//!         nexthop via 192.0.2.2 dev eth0 weight 1
//!         nexthop via 192.0.2.3 dev eth1 weight 2
//! 203.0.113.0/24 via inet6 fe80::1 dev eth0
//! unreachable 10.0.0.0/8 dev lo metric 1024
//! ```
//!
//! Empty lines and what follows a `#` do not count.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Fault, gateway, prefix, required_gateway, shown};
use crate::gathering::{Gathering, Hop};
use crate::{Prefix, Refusal};

/// Route types that are nothing to forward by (ip-route(8)).
const NOT_FORWARDED: [&str; 6] = ["throw", "local", "broadcast", "multicast", "anycast", "nat"];

/// Words that `ip route` writes of a route, each with its value, besides those of a way.
const WITH_VALUE: [&str; 33] = [
    "proto",
    "metric",
    "scope",
    "src",
    "nhid",
    "table",
    "pref",
    "mtu",
    "advmss",
    "tos",
    "dsfield",
    "realm",
    "realms",
    "expires",
    "error",
    "rtt",
    "rttvar",
    "ssthresh",
    "cwnd",
    "window",
    "reordering",
    "hoplimit",
    "initcwnd",
    "initrwnd",
    "rto_min",
    "quickack",
    "congctl",
    "features",
    "users",
    "age",
    "iif",
    "ttl-propagate",
    "from",
];

/// Such words without a value.
const ALONE: [&str; 14] = [
    "onlink",
    "linkdown",
    "dead",
    "cache",
    "pervasive",
    "notify",
    "unresolved",
    "offload",
    "rt_offload",
    "offload_failed",
    "rt_offload_failed",
    "trap",
    "rt_trap",
    "fastopen_no_cookie",
];

/// What is around a packet on this way, in words up to those of the way.
const ENCAPSULATION: &str = "encap";

/// Words of a way.
const OF_A_WAY: [&str; 4] = ["via", "dev", "nexthop", "weight"];

/// True for a line that only `ip route` writes.
pub(super) fn is_typical(line: &str) -> bool {
    if line.contains('[') {
        return false;
    }
    let mut words = line.split_whitespace();
    let (Some(first), Some(second)) = (words.next(), words.next()) else { return false };
    // What neither netstat nor BIRD writes behind a prefix, or in front of one.
    let has_device = line.contains(" dev ")
        || line.contains(" nhid ")
        || matches!(second, "via" | "nexthop")
        || refusal(first).is_some();
    let is_start = || {
        first == "default"
            || NOT_FORWARDED.contains(&first)
            || refusal(first).is_some()
            || prefix(first).is_ok()
    };
    has_device && second != "unicast" && is_start()
}

fn refusal(word: &str) -> Option<Refusal> {
    match word {
        "blackhole" => Some(Refusal::Blackhole),
        "unreachable" => Some(Refusal::Unreachable),
        "prohibit" => Some(Refusal::Prohibit),
        _ => None,
    }
}

pub(super) fn line(line: &str, into: &mut Gathering) -> Result<(), Fault> {
    let content = line.split('#').next().unwrap_or_default();
    let mut words = content.split_whitespace();
    let Some(first) = words.next() else { return Ok(()) };
    if first == "nexthop" {
        let hops = ways(content.split_whitespace())?;
        return hops.iter().try_for_each(|hop| into.continue_with(hop));
    }
    if NOT_FORWARDED.contains(&first) {
        into.leave_out();
        return Ok(());
    }
    let refusal = refusal(first);
    let destination = match refusal {
        None if first != "unicast" => Some(first),
        _ => words.next(),
    };
    let destination = destination.ok_or_else(|| Fault {
        what: format!("no prefix after {first}"),
        wanted: "a prefix such as 192.0.2.0/24 or 2001:db8::/32",
        remedy: "mend the line, or put # in front of it",
    })?;
    check_first(words.clone().next())?;
    let hops = ways(words)?;
    let says_pref = content.contains(" pref ");
    if destination == "default" {
        let any = default_route(hops.first(), says_pref);
        return match refusal {
            Some(refusal) => into.refuse(any, refusal),
            None if hops.is_empty() && !says_pref => into.add_default(any),
            None => into.add(any, &hops),
        };
    }
    let prefix = prefix(destination)?;
    match refusal {
        Some(refusal) => into.refuse(prefix, refusal),
        None => into.add(prefix, &hops),
    }
}

/// Refuses what follows a prefix and is neither a gateway nor a word of `ip route`.
fn check_first(word: Option<&str>) -> Result<(), Fault> {
    let Some(word) = word else { return Ok(()) };
    if OF_A_WAY.contains(&word) || is_attribute(word) {
        return Ok(());
    }
    gateway(word).map(drop).ok_or_else(|| Fault {
        what: format!("{} is no gateway", shown(word)),
        wanted: "PREFIX, PREFIX GATEWAY, or PREFIX via GATEWAY dev INTERFACE",
        remedy: "remove what follows the prefix, or put # in front of it",
    })
}

/// Whether `ip route` writes this word of a route.
fn is_attribute(word: &str) -> bool {
    WITH_VALUE.contains(&word)
        || ALONE.contains(&word)
        || word == ENCAPSULATION
        || word.starts_with(['<', '['])
}

/// The ways that the words after a prefix name.
fn ways<'w>(words: impl Iterator<Item = &'w str>) -> Result<Vec<Hop<'w>>, Fault> {
    let (mut hops, mut hop) = (Vec::new(), Hop::default());
    let mut words = words.enumerate().peekable();
    while let Some((place, word)) = words.next() {
        let mut next = || words.next().map(|(_, word)| word);
        match word {
            "via" if hop.gateway.is_some() => {
                return Err(Fault {
                    what: "two gateways of one way".to_owned(),
                    wanted: "one, or the word nexthop before each of several ways",
                    remedy: "mend the line, or remove it",
                });
            }
            "nexthop" => push(&mut hops, std::mem::take(&mut hop)),
            "via" => {
                let mut address = next();
                if matches!(address, Some("inet" | "inet6")) {
                    hop.is_other_family = true;
                    address = next();
                }
                set_gateway(&mut hop, required_gateway(address)?);
            }
            "dev" => hop.interface = Some(next().ok_or_else(|| missing("the interface", "dev"))?),
            "weight" => {
                let weight = next().and_then(|word| word.parse().ok()).filter(|&weight| weight > 0);
                hop.weight = Some(weight.ok_or_else(|| missing("a number above 0", "weight"))?);
            }
            ENCAPSULATION => while words.next_if(|(_, word)| !OF_A_WAY.contains(word)).is_some() {},
            _ if WITH_VALUE.contains(&word) => {
                // A value that is not to change stands behind this word.
                if next() == Some("lock") {
                    next();
                }
            }
            _ if is_attribute(word) => {}
            _ => match gateway(word).filter(|_| place == 0) {
                Some(found) => set_gateway(&mut hop, found),
                None => {
                    return Err(Fault {
                        what: format!("{} is no word of a route", shown(word)),
                        wanted: "via GATEWAY dev INTERFACE weight NUMBER, or what `ip route` writes",
                        remedy: "remove the word, or put # in front of it",
                    });
                }
            },
        }
    }
    push(&mut hops, hop);
    Ok(hops)
}

fn push<'w>(hops: &mut Vec<Hop<'w>>, hop: Hop<'w>) {
    if !hop.is_empty() {
        hops.push(hop);
    }
}

fn set_gateway<'w>(hop: &mut Hop<'w>, (address, zone): (IpAddr, Option<&'w str>)) {
    hop.gateway = Some(address);
    hop.interface = hop.interface.or(zone);
}

fn missing(what: &str, after: &str) -> Fault {
    Fault {
        what: format!("{what} is missing after the word {after}"),
        wanted: "via GATEWAY dev INTERFACE weight NUMBER",
        remedy: "mend the line, or remove it",
    }
}

/// `default` does not say its family: the gateway does, or else `pref`, which only IPv6 routes have.
fn default_route(first: Option<&Hop<'_>>, says_pref: bool) -> Prefix {
    let is_v6 = match first.and_then(|hop| Some((hop.gateway?, hop.is_other_family))) {
        Some((gateway, is_other_family)) => gateway.is_ipv6() != is_other_family,
        None => says_pref,
    };
    let any: IpAddr =
        if is_v6 { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
    Prefix::everything(any)
}
