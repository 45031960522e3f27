//! Prefixes and gateways as words of a line.

use std::net::IpAddr;

use crate::fault::{Fault, shown};
use crate::{NotAPrefix, Prefix};

/// Reads a prefix, or an address as the prefix of itself alone.
pub(super) fn prefix(text: &str) -> Result<Prefix, Fault> {
    let result = match text.parse::<IpAddr>() {
        Ok(address) => Prefix::new(address, if address.is_ipv4() { 32 } else { 128 }),
        Err(_) => text.parse::<Prefix>(),
    };
    result.map_err(|why| Fault {
        what: match why {
            NotAPrefix::Form => format!("{} is no prefix", shown(text)),
            NotAPrefix::Length { most } => format!("{} is longer than /{most}", shown(text)),
            NotAPrefix::HostBits(meant) => {
                format!("{} has host bits set ({meant} has not)", shown(text))
            }
        },
        wanted: "a prefix such as 192.0.2.0/24 or 2001:db8::/32",
        remedy: "mend the line, or put # in front of it",
    })
}

/// Reads the address of a gateway, with the interface of a zone such as `%em0`.
pub(super) fn gateway(text: &str) -> Option<(IpAddr, Option<&str>)> {
    let (address, zone) = match text.split_once('%') {
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    Some((address.parse().ok()?, zone))
}

/// Reads the gateway that must stand at this place.
pub(super) fn required_gateway(text: Option<&str>) -> Result<(IpAddr, Option<&str>), Fault> {
    text.and_then(gateway).ok_or_else(|| Fault {
        what: match text {
            Some(text) => format!("{} is no gateway", shown(text)),
            None => "the gateway is missing".to_owned(),
        },
        wanted: "an address after the word via",
        remedy: "mend the line, or remove it",
    })
}
