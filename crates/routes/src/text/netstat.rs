//! The output of `netstat -rn`: FreeBSD's, with prefixes, and Linux's, with
//! netmasks.
//!
//! ```text
//! Internet:                               Kernel IP routing table
//! Destination        Gateway    Flags     Destination  Gateway    Genmask        Flags
//! default            192.0.2.1  UGS       0.0.0.0      192.0.2.1  0.0.0.0        UG
//! 10.0.0.0/8         192.0.2.7  UG1       10.0.0.0     192.0.2.7  255.0.0.0      UG
//! ```

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Fault, gateway, prefix, shown};
use crate::gathering::{Gathering, Hop};
use crate::{Prefix, Refusal};

/// True for a line that heads a table of `netstat`.
pub(super) fn is_heading(line: &str) -> bool {
    const HEADINGS: [&str; 5] =
        ["Routing tables", "Internet:", "Internet6:", "Kernel IP", "Kernel IPv6"];
    HEADINGS.iter().any(|heading| line.starts_with(heading)) || columns(line).is_some()
}

/// The columns that are read, if a line is the head of a table.
fn columns(line: &str) -> Option<Head> {
    let mut words = line.split_whitespace();
    let is_head =
        words.next() == Some("Destination") && matches!(words.next(), Some("Gateway" | "Next"));
    // `Next Hop` are two words, but one column.
    let heads = || line.split_whitespace().filter(|word| *word != "Hop");
    is_head.then(|| Head {
        genmask: heads().position(|word| word == "Genmask"),
        interface: heads().position(|word| matches!(word, "Netif" | "Iface" | "If")),
    })
}

/// Where the columns of a table stand.
#[derive(Debug, Default)]
struct Head {
    genmask: Option<usize>,
    interface: Option<usize>,
}

/// What the headings so far said.
#[derive(Debug)]
pub(super) struct Columns {
    is_ipv4: bool,
    head: Head,
}

impl Default for Columns {
    fn default() -> Self {
        Self { is_ipv4: true, head: Head::default() }
    }
}

impl Columns {
    pub(super) fn line(&mut self, line: &str, into: &mut Gathering) -> Result<(), Fault> {
        if line.trim().is_empty() || self.heading(line) {
            return Ok(());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let (Some(&destination), Some(&next)) = (words.first(), words.get(1)) else {
            return Err(Fault {
                what: format!("{} has no second column", shown(line)),
                wanted: "destination and gateway",
                remedy: "remove the line, or write the file anew with `netstat -rn`",
            });
        };
        let flags = words.iter().skip(2).find(|word| word.starts_with('U')).copied();
        let refusal = match words.iter().skip(2).any(|word| word.contains('!')) {
            true => Some(Refusal::Unreachable),
            false => flags.and_then(refusal),
        };
        let is_flags = |word: &str| word.starts_with(|c: char| c.is_ascii_uppercase() || c == '!');
        if !words.iter().skip(2).any(|word| is_flags(word)) {
            return Err(Fault {
                what: format!("{} has no flags", shown(line)),
                wanted: "destination, gateway and flags such as UGS",
                remedy: "remove the line, or write the file anew with `netstat -rn`",
            });
        }
        if refusal.is_none() && flags.is_none_or(is_not_forwarded) {
            into.leave_out();
            return Ok(());
        }
        let prefix = match self.head.genmask {
            Some(column) => with_netmask(destination, words.get(column).copied())?,
            None => self.destination(destination)?,
        };
        if let Some(refusal) = refusal {
            return into.refuse(prefix, refusal);
        }
        // `link#1` and `*` mean a connected network; so does 0.0.0.0.
        let found = gateway(next).filter(|(gateway, _)| !gateway.is_unspecified());
        let column = self.head.interface.and_then(|column| words.get(column).copied());
        let hop = Hop {
            gateway: found.map(|(gateway, _)| gateway),
            interface: column.or(found.and_then(|(_, zone)| zone)),
            ..Hop::default()
        };
        into.add(prefix, &[hop])
    }

    /// Takes in a heading; true when the line was one.
    fn heading(&mut self, line: &str) -> bool {
        if let Some(head) = columns(line) {
            self.head = head;
            return true;
        }
        if line.starts_with("Internet6") || line.starts_with("Kernel IPv6") {
            self.is_ipv4 = false;
        } else if line.starts_with("Internet:") || line.starts_with("Kernel IP") {
            self.is_ipv4 = true;
        }
        is_heading(line) || line.starts_with("FIB:")
    }

    /// FreeBSD's first column: `default`, a prefix, or a host. Old releases
    /// leave zero octets out (`10/8`), and IPv6 has zones (`fe80::%em0/64`).
    fn destination(&self, text: &str) -> Result<Prefix, Fault> {
        if text == "default" {
            let any: IpAddr = match self.is_ipv4 {
                true => Ipv4Addr::UNSPECIFIED.into(),
                false => Ipv6Addr::UNSPECIFIED.into(),
            };
            return Ok(Prefix::everything(any));
        }
        let (address, length) = text.split_once('/').unwrap_or((text, ""));
        let address = address.split('%').next().unwrap_or_default();
        let mut whole = address.to_owned();
        if !address.contains(':') {
            for _ in address.split('.').count()..4 {
                whole.push_str(".0");
            }
        }
        let whole = if length.is_empty() { whole } else { format!("{whole}/{length}") };
        prefix(&whole).map_err(|fault| Fault {
            remedy: "remove the line, or write the file anew with `netstat -rnW`",
            ..fault
        })
    }
}

/// Flags of routes by which nothing is forwarded: b broadcast, m multicast.
fn is_not_forwarded(flags: &str) -> bool {
    flags.contains(['b', 'm'])
}

/// Flags of routes that refuse packets: B black hole, R reject; on Linux, `!` in place of all.
fn refusal(flags: &str) -> Option<Refusal> {
    if flags.contains('B') {
        Some(Refusal::Blackhole)
    } else {
        flags.contains('R').then_some(Refusal::Unreachable)
    }
}

fn with_netmask(destination: &str, mask: Option<&str>) -> Result<Prefix, Fault> {
    let fault = |what| Fault {
        what,
        wanted: "a netmask such as 255.255.255.0 in the column Genmask",
        remedy: "remove the line, or write the file anew with `netstat -rn`",
    };
    let mask = mask.unwrap_or_default();
    let bits = mask
        .parse::<Ipv4Addr>()
        .map(Ipv4Addr::to_bits)
        .map_err(|_| fault(format!("{} is no netmask", shown(mask))))?;
    if bits.leading_ones() + bits.trailing_zeros() < 32 {
        return Err(fault(format!("{} has a hole", shown(mask))));
    }
    let address = if destination == "default" { "0.0.0.0" } else { destination };
    prefix(&format!("{address}/{}", bits.leading_ones()))
}
