//! Where in a recorded packet its ports, its checksum and its payload are.

use fwdlab_wire::{checksum, ipv4, ipv6, udp};

use crate::flows::Family;

const ICMP: u8 = 1;
const TCP: u8 = 6;
const ICMPV6: u8 = 58;
const HOP_BY_HOP: u8 = 0;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// The part of a packet above IP. Offsets start at the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) protocol: u8,
    pub(crate) start: usize,
    /// Of TCP and UDP.
    pub(crate) ports: [u16; 2],
    /// A checksum is there and stands here.
    pub(crate) checksum_at: Option<usize>,
    /// The payload, of what is known and not a fragment.
    pub(crate) payload_at: Option<usize>,
    /// A fragment, whose checksum is that of the whole.
    is_fragment: bool,
}

impl Segment {
    /// Finds it in a packet whose header and length make sense.
    pub(crate) fn of(family: Family, packet: &[u8]) -> Self {
        let (protocol, start, fragment) = match family {
            Family::Inet => {
                let fragment = u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff;
                (packet[ipv4::PROTOCOL], usize::from(packet[0] & 15) * 4, fragment)
            }
            Family::Inet6 => behind_extensions(packet),
        };
        // The lower 13 bits say where in the datagram a fragment stands.
        let (is_fragment, is_first) = (fragment != 0, fragment & 0x1fff == 0);
        let mut found = Self {
            protocol,
            start,
            ports: [0; 2],
            checksum_at: None,
            payload_at: None,
            is_fragment,
        };
        let Some((header, checksum)) =
            is_first.then(|| header(protocol, &packet[start..])).flatten()
        else {
            return found;
        };
        if matches!(protocol, TCP | udp::PROTOCOL) {
            let port = |at| u16::from_be_bytes([packet[start + at], packet[start + at + 1]]);
            found.ports = [port(0), port(2)];
        }
        let is_summed = protocol != udp::PROTOCOL
            || family == Family::Inet6
            || packet[start + checksum..][..2] != [0; 2];
        found.checksum_at = is_summed.then_some(start + checksum);
        found.payload_at = (!is_fragment).then_some(start + header);
        found
    }

    /// Writes the right checksum, of a packet whose addresses were others before: a first fragment
    /// keeps the sum of what follows in others.
    pub(crate) fn sum_anew(&self, family: Family, before: &[u8], packet: &mut [u8]) {
        let Some(at) = self.checksum_at else { return };
        let addresses = match family {
            Family::Inet => ipv4::SOURCE.start..ipv4::DESTINATION.end,
            Family::Inet6 => ipv6::SOURCE.start..ipv6::DESTINATION.end,
        };
        let pseudo = match self.protocol {
            ICMP => 0,
            protocol => {
                let len = (packet.len() - self.start) as u64;
                checksum::sum(&packet[addresses.clone()]) + u64::from(protocol) + len
            }
        };
        let sum = if !self.is_fragment {
            packet[at..at + 2].fill(0);
            checksum::finish(checksum::sum(&packet[self.start..]) + pseudo)
        } else if self.protocol == ICMP {
            return;
        } else {
            // RFC 1624: HC' = ~(~HC + ~m + m').
            let old = !u16::from_be_bytes([packet[at], packet[at + 1]]);
            let gone = checksum::finish(checksum::sum(&before[addresses.clone()]));
            let new = checksum::sum(&packet[addresses]);
            checksum::finish(u64::from(old) + u64::from(gone) + new)
        };
        let sum = if sum == 0 && self.protocol == udp::PROTOCOL { 0xffff } else { sum };
        packet[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

/// The last next header, where what it names starts, and the fragment field.
fn behind_extensions(packet: &[u8]) -> (u8, usize, u16) {
    let (mut next, mut at) = (packet[ipv6::NEXT_HEADER], ipv6::HEADER_LEN);
    let mut fragment = 0;
    while let (HOP_BY_HOP | DESTINATION_OPTIONS | FRAGMENT, Some(header)) =
        (next, packet.get(at..at + 8))
    {
        let len = match next {
            FRAGMENT => {
                let field = u16::from_be_bytes([header[2], header[3]]);
                // Offset and "more" as IPv4 has them; a fragment that is the whole is none.
                fragment = field >> 3 | (field & 1) << 13;
                8
            }
            _ => 8 + 8 * usize::from(header[1]),
        };
        if at + len > packet.len() {
            break;
        }
        (next, at) = (header[0], at + len);
    }
    (next, at, fragment)
}

/// Lengths of a known header, and where its checksum stands in it.
fn header(protocol: u8, segment: &[u8]) -> Option<(usize, usize)> {
    let (len, checksum) = match protocol {
        TCP => (usize::from(segment.get(12)? >> 4) * 4, 16),
        udp::PROTOCOL => (udp::HEADER_LEN, 6),
        ICMP | ICMPV6 => (8, 2),
        _ => return None,
    };
    (len > checksum + 1 && segment.len() >= len).then_some((len, checksum))
}
