//! One received frame: is it what the device should have made of a frame of ours?
//!
//! The receiver's quick way compares with the line that must arrive. Whatever is not equal, and
//! every whole frame in 256, is read here field by field, which may take its time.

use fwdlab_port::Frame;
use fwdlab_wire::{MacAddr, checksum, ethernet, ipv4, ipv6, udp};

use crate::checks::Checks;
use crate::flows::Family;
use crate::layout::*;
use crate::numbering::Ends;
use crate::template::stamp_at;

/// What must arrive, as the words that are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// Destination MAC address as a number.
    mac: u64,
    ttl: u8,
    /// TTL and protocol, side by side in IPv4.
    ttl_protocol: u16,
    /// Next header and hop limit, side by side in IPv6.
    next_hop_limit: u16,
}

/// A frame that looks like test traffic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) family: Family,
    pub(crate) ends: Ends,
    pub(crate) sequence: u32,
    /// Everything but the flow is right.
    pub(crate) is_right: bool,
}

const INET_KIND: u32 = (ethernet::TYPE_IPV4 as u32) << 16 | 0x4500;
const INET6_KIND: u32 = (ethernet::TYPE_IPV6 as u32) << 16 | 0x6000;

impl Expected {
    pub(crate) fn new(mac: MacAddr, sent_ttl: u8, hops: u8) -> Self {
        let ttl = sent_ttl.saturating_sub(hops);
        Self {
            mac: mac.to_u64(),
            ttl,
            ttl_protocol: u16::from_be_bytes([ttl, udp::PROTOCOL]),
            next_hop_limit: u16::from_be_bytes([udp::PROTOCOL, ttl]),
        }
    }

    /// Reads a frame; `None` when it is neither IPv4 without options nor IPv6, or too short.
    pub(crate) fn inspect(&self, frame: &Frame) -> Option<Seen> {
        let line = frame.head::<LINE>();
        let kind = u32::from_be_bytes(field(line, 12));
        if frame.len() < INET_PAYLOAD + 4 {
            return None;
        }
        let mac_is_right = u64::from_be_bytes(field(line, 0)) >> 16 == self.mac;
        if kind == INET_KIND {
            let mut seen = self.inspect_inet(line, frame.len());
            seen.is_right &= mac_is_right;
            Some(seen)
        } else if kind & 0xffff_fff0 == INET6_KIND && frame.len() >= INET6_PAYLOAD {
            let mut seen = self.inspect_inet6(line, frame.len());
            seen.is_right &= mac_is_right;
            Some(seen)
        } else {
            None
        }
    }

    #[inline]
    fn inspect_inet(&self, line: &[u8; LINE], len: usize) -> Seen {
        let word = |at| u64::from(u32::from_be_bytes(field(line, at)));
        let addresses = (word(INET_ADDRESSES), word(INET_ADDRESSES + 4));
        // RFC 1071: the sum over a right header is all ones (which is zero, too).
        let sum = word(IP) + word(IP + 4) + word(IP + 8) + addresses.0 + addresses.1;
        let lengths_fit = usize::from(u16::from_be_bytes(field(line, 16))) == len - IP;
        let is_whole = u16::from_be_bytes(field(line, 20)) == ipv4::DONT_FRAGMENT;
        let ttl_is_right = u16::from_be_bytes(field(line, INET_TTL)) == self.ttl_protocol;
        let ports = u32::from_be_bytes(field(line, INET_UDP));
        Seen {
            family: Family::Inet,
            ends: ends(addresses, ports),
            sequence: u32::from_be_bytes(field(line, INET_PAYLOAD)),
            is_right: lengths_fit & is_whole & ttl_is_right & (fold(sum) == 0xffff),
        }
    }

    #[inline]
    fn inspect_inet6(&self, line: &[u8; LINE], len: usize) -> Seen {
        let word = |at| u64::from_be_bytes(field(line, at));
        let lengths_fit = usize::from(u16::from_be_bytes(field(line, 18))) == len - INET6_UDP;
        let limit_is_right =
            u16::from_be_bytes(field(line, INET6_NEXT_HEADER)) == self.next_hop_limit;
        Seen {
            family: Family::Inet6,
            ends: ends(
                (word(INET6_SOURCE + 8), word(INET6_DESTINATION + 8)),
                u32::from_be_bytes(field(line, INET6_UDP)),
            ),
            sequence: u32::from_be_bytes(field(line, IP)) & INET6_SEQUENCE_MASK,
            is_right: lengths_fit & limit_is_right,
        }
    }

    /// Counts what is wrong with a frame that `inspect` did not find right.
    #[cold]
    pub(crate) fn diagnose(&self, frame: &Frame, checks: &mut Checks) {
        let line = frame.head::<LINE>();
        let before = checks.faults();
        if u64::from_be_bytes(field(line, 0)) >> 16 != self.mac {
            checks.wrong_mac += 1;
        }
        let ttl = match u16::from_be_bytes(field(line, 12)) {
            ethernet::TYPE_IPV4 => {
                if fold(checksum::sum(&line[IP..INET_UDP])) != 0xffff {
                    checks.bad_checksum += 1;
                }
                line[INET_TTL]
            }
            _ => line[IP + ipv6::HOP_LIMIT],
        };
        if ttl != self.ttl {
            checks.wrong_ttl += 1;
        }
        if checks.faults() == before {
            checks.wrong_header += 1;
        }
    }
}

/// A frame's addresses, ports and sequence number, taken for a frame of this family.
#[inline(always)]
pub(crate) fn ends_of(head: &[u8; LINE], family: Family) -> (Ends, u32) {
    match family {
        Family::Inet => {
            let addresses = u64::from_be_bytes(field(head, INET_ADDRESSES));
            let ports = u32::from_be_bytes(field(head, INET_UDP));
            (ends((addresses >> 32, addresses & 0xffff_ffff), ports), sequence_of(head, family))
        }
        Family::Inet6 => {
            let word = |at| u64::from_be_bytes(field(head, at));
            let addresses = (word(INET6_SOURCE + 8), word(INET6_DESTINATION + 8));
            let ports = u32::from_be_bytes(field(head, INET6_UDP));
            (ends(addresses, ports), sequence_of(head, family))
        }
    }
}

/// A frame's sequence number, taken for a frame of this family.
#[inline(always)]
pub(crate) fn sequence_of(head: &[u8; LINE], family: Family) -> u32 {
    match family {
        Family::Inet => u32::from_be_bytes(field(head, INET_PAYLOAD)),
        Family::Inet6 => u32::from_be_bytes(field(head, IP)) & INET6_SEQUENCE_MASK,
    }
}

#[inline(always)]
fn ends((source, destination): (u64, u64), ports: u32) -> Ends {
    Ends { source, destination, source_port: (ports >> 16) as u16, destination_port: ports as u16 }
}

/// Whether the UDP checksum over the whole packet is right.
#[cold]
pub(crate) fn has_valid_payload(frame: &Frame, family: Family) -> bool {
    let (start, addresses) = match family {
        Family::Inet => (INET_UDP, &frame[INET_ADDRESSES..INET_UDP]),
        Family::Inet6 => (INET6_UDP, &frame[INET6_SOURCE..INET6_UDP]),
    };
    let len = frame.len() - start;
    let pseudo = checksum::sum(addresses) + u64::from(udp::PROTOCOL) + len as u64;
    checksum::finish(checksum::sum(&frame[start..]) + pseudo) == 0
}

/// The time stamp of a frame of this family, if it is long enough to have one.
#[inline]
pub(crate) fn stamp(frame: &Frame, family: Family) -> Option<u64> {
    let at = stamp_at(family);
    let bytes = frame.get(at..at + STAMP_LEN)?;
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}
