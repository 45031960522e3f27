//! The output of BIRD's `show route`, versions 1 and 2.
//!
//! ```text
//! BIRD 2.0.12 ready.
//! Table master4:
//! 198.51.100.0/24      unicast [bgp1 2026-01-01] * (100) [AS64500i]
//!         via 192.0.2.1 on eth0
//!                      unicast [bgp2 2026-01-01] (100) [AS64501i]
//!         via 192.0.2.2 on eth0
//! 203.0.113.0/24     via 192.0.2.1 on eth0 [bgp1 2016-01-01] * (100) [AS64500i]
//! ```

use super::{Fault, prefix, required_gateway};
use crate::Refusal;
use crate::gathering::{Gathering, Hop};

/// True for a line that only BIRD writes.
pub(super) fn is_typical(line: &str) -> bool {
    if line.starts_with("BIRD ") || (line.starts_with("Table ") && line.ends_with(':')) {
        return true;
    }
    let mut words = line.split_whitespace();
    let is_kind = |word| {
        matches!(
            word,
            "unicast" | "via" | "dev" | "multipath" | "blackhole" | "unreachable" | "prohibited"
        )
    };
    line.contains('[')
        && words.next().is_some_and(|first| prefix(first).is_ok())
        && words.next().is_some_and(is_kind)
}

pub(super) fn line(line: &str, into: &mut Gathering) -> Result<(), Fault> {
    let is_indented = line.starts_with([' ', '\t']);
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return Ok(()) };
    let is_way = matches!(first, "via" | "dev");
    if is_indented && is_way && !line.contains('[') {
        return into.continue_with(&way(line.split_whitespace())?);
    }
    if is_indented {
        // Attributes (`BGP.as_path: ...`) and further paths to the same prefix, of which what follows
        // is the ways.
        if line.contains('[') {
            into.close();
        }
        return Ok(());
    }
    if line.starts_with("BIRD ") || line.starts_with("Table ") || first == "Access" {
        into.close();
        return Ok(());
    }
    let prefix = prefix(first)?;
    match words.clone().next() {
        Some("via" | "dev") => into.add(prefix, &[way(words)?]),
        Some("unreachable") => into.refuse(prefix, Refusal::Unreachable),
        Some("blackhole") => into.refuse(prefix, Refusal::Blackhole),
        Some("prohibited" | "prohibit") => into.refuse(prefix, Refusal::Prohibit),
        _ => into.add(prefix, &[]),
    }
}

/// `via GATEWAY on INTERFACE weight NUMBER`, or `dev INTERFACE`.
fn way<'w>(mut words: impl Iterator<Item = &'w str>) -> Result<Hop<'w>, Fault> {
    let mut hop = Hop::default();
    while let Some(word) = words.next() {
        match word {
            "via" => {
                let (address, zone) = required_gateway(words.next())?;
                (hop.gateway, hop.interface) = (Some(address), zone);
            }
            "on" | "dev" => hop.interface = words.next(),
            "weight" => hop.weight = words.next().and_then(|weight| weight.parse().ok()),
            _ if word.starts_with('[') => break,
            _ => {}
        }
    }
    Ok(hop)
}
