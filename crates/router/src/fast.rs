//! The fast path: frames of one family, a chunk at a time, as a structure of arrays.
//!
//! It is a filter that never guesses: a frame that is not plainly right and plainly forwarded
//! (untagged, to our MAC address, IPv4 without options, a resolved next hop, ...) is left as it
//! was and goes to [`crate::general`], which knows every rule and every reason. A test forwards
//! random frames both ways and compares the bytes.
//!
//! - *gather* loads each header as a few words into arrays, one element a frame;
//! - *check* computes all conditions on the arrays, without branches, so that the compiler uses
//!   vector instructions: a condition that fails sets a bit of `bad`;
//! - *rewrite* branches once per frame and stores three words.

use fwdlab_port::Frame;
use fwdlab_wire::{ethernet, ipv4, ipv6};

use crate::adjacency::Adjacency;
use crate::plane::{GENERAL, MAX_PORTS, PortFacts};
use crate::rows::CHUNK;

/// Bytes that the fast path reads: Ethernet and IPv6 header (54), rounded up to a word.
pub(crate) const HEAD: usize = 56;

const L3: usize = ethernet::HEADER_LEN;
/// Elements are checked in groups of this, as many 64-bit words as the widest vector has.
const LANES: usize = 8;

/// Headers of a chunk, and what was found out about them. Fields of a header keep the byte order
/// of the wire inside their words (loaded little-endian) unless said otherwise. Aligned so that
/// no vector lies across two cache lines.
#[repr(align(64))]
pub(crate) struct Headers {
    /// Destination MAC address (upper 48 bits) and frame length (lower 16).
    mac_len: [u64; CHUNK],
    /// IPv4: EtherType to traffic class (lower 32 bits), checksum (next 16).
    /// IPv6: EtherType, version to flow label, payload length.
    front: [u64; CHUNK],
    /// IPv4: total length to protocol. IPv6: hop limit.
    middle: [u64; CHUNK],
    /// IPv4: both addresses. IPv6: upper half of the source, host order.
    source: [u64; CHUNK],
    /// IPv6: upper half of the destination, host order.
    destination: [u64; CHUNK],
    /// Not 0 where the fast path may not forward.
    bad: [u64; CHUNK],
    /// Length of the packet, bytes.
    total: [u32; CHUNK],
    /// IPv4: TTL, protocol and checksum as they are to be.
    edit: [u32; CHUNK],
}

impl Headers {
    pub(crate) fn new() -> Self {
        Self {
            mac_len: [0; CHUNK],
            front: [0; CHUNK],
            middle: [0; CHUNK],
            source: [0; CHUNK],
            destination: [0; CHUNK],
            bad: [0; CHUNK],
            total: [0; CHUNK],
            edit: [0; CHUNK],
        }
    }

    /// Loads an IPv4 header as element `at`; returns the destination.
    #[inline(always)]
    pub(crate) fn gather_inet(&mut self, at: usize, frame: &Frame) -> u32 {
        let head = frame.head::<HEAD>();
        let at = at % CHUNK;
        self.mac_len[at] = word(head, 0) << 16 | frame.len() as u64;
        let checksum = u16::from_le_bytes([head[L3 + 10], head[L3 + 11]]);
        self.front[at] = u64::from(half(head, 12)) | u64::from(checksum) << 32;
        self.middle[at] = word(head, L3 + 2);
        let addresses = word(head, L3 + 12);
        self.source[at] = addresses;
        ((addresses >> 32) as u32).swap_bytes()
    }

    /// Loads an IPv6 header as element `at`; returns the destination.
    #[inline(always)]
    pub(crate) fn gather_inet6(&mut self, at: usize, frame: &Frame) -> u128 {
        let head = frame.head::<HEAD>();
        let at = at % CHUNK;
        self.mac_len[at] = word(head, 0) << 16 | frame.len() as u64;
        self.front[at] = word(head, 12);
        self.middle[at] = u64::from(head[L3 + ipv6::HOP_LIMIT]);
        self.source[at] = word(head, L3 + 8).swap_bytes();
        let upper = word(head, L3 + 24).swap_bytes();
        self.destination[at] = upper;
        u128::from(upper) << 64 | u128::from(word(head, L3 + 32).swap_bytes())
    }

    /// Checks the first `count` IPv4 headers (and some behind them, for whole vectors) and
    /// computes their edits. `mac` is the port's own address, packed.
    #[inline(always)]
    pub(crate) fn check_inet(&mut self, count: usize, mac: u64) {
        let count = count.next_multiple_of(LANES).min(CHUNK);
        let inputs = self.mac_len[..count].iter().zip(&self.front[..count]);
        let inputs = inputs.zip(&self.middle[..count]).zip(&self.source[..count]);
        let outputs = self.bad[..count].iter_mut().zip(&mut self.total[..count]);
        let outputs = outputs.zip(&mut self.edit[..count]);
        for ((((&mac_len, &front), &middle), &addresses), ((bad, total_out), edit)) in
            inputs.zip(outputs)
        {
            let total = middle >> 8 & 0xff | (middle & 0xff) << 8;
            let ttl = middle >> 48 & 0xff;
            let checksum = front >> 32;
            // RFC 1071, section 2(B): a one's complement sum may be taken in any byte order.
            let sum = (front >> 16 & 0xffff)
                + low32(middle)
                + (middle >> 32)
                + checksum
                + low32(addresses)
                + (addresses >> 32);
            *bad = (mac_len >> 16 ^ mac)
                // EtherType 0x0800, version 4, header length 5, as the bytes lie: 08 00 45.
                | (front ^ 0x45_0008) & 0xff_ffff
                | is_less(total, ipv4::HEADER_LEN as u64)
                | is_less(mac_len & 0xffff, total + L3 as u64)
                | is_less(ttl, 2)
                | (fold(sum) ^ 0xffff)
                | is_special(addresses & 0xff, addresses >> 8 & 0xff)
                | is_special(addresses >> 32 & 0xff, addresses >> 40 & 0xff);
            *total_out = total as u32;
            // RFC 1624 with m' = m - 0x0100 (the TTL is the high byte of its word): HC' = HC +
            // 0x0100 with end-around carry; in our byte order the 0x0100 is a 1. A sum of 0xffff
            // wraps to 0, as equation 3 would have it.
            let raised = checksum + 1;
            let raised = raised + ((raised + 1) >> 16);
            let lowered = (middle >> 48) - (1 & !is_less(ttl, 1));
            *edit = (lowered | (raised << 16)) as u32;
        }
    }

    /// Checks the first `count` IPv6 headers likewise.
    #[inline(always)]
    pub(crate) fn check_inet6(&mut self, count: usize, mac: u64) {
        let count = count.next_multiple_of(LANES).min(CHUNK);
        let inputs =
            self.mac_len[..count].iter().zip(&self.front[..count]).zip(&self.middle[..count]);
        let inputs = inputs.zip(&self.source[..count]).zip(&self.destination[..count]);
        let outputs = self.bad[..count].iter_mut().zip(&mut self.total[..count]);
        for (((((&mac_len, &front), &hops), &source), &destination), (bad, total_out)) in
            inputs.zip(outputs)
        {
            let payload = front >> 56 | front >> 40 & 0xff00;
            let total = payload + ipv6::HEADER_LEN as u64;
            *bad = (mac_len >> 16 ^ mac)
                // EtherType 0x86dd and version 6, as the bytes lie: 86 dd 6x.
                | (front ^ 0x60_dd86) & 0xf0_ffff
                | is_less(mac_len & 0xffff, total + L3 as u64)
                | is_less(hops, 2)
                | u64::from(!is_ordinary6(source))
                | u64::from(!is_ordinary6(destination));
            *total_out = total as u32;
        }
    }

    /// Rewrites the IPv4 frame of element `at` if all is well; returns its output port, or
    /// [`GENERAL`] and leaves it alone.
    #[inline(always)]
    pub(crate) fn rewrite_inet(
        &self,
        at: usize,
        frame: &mut Frame,
        adjacency: Adjacency,
        ports: &[PortFacts; MAX_PORTS],
    ) -> u8 {
        let at = at % CHUNK;
        let port = adjacency.port();
        let output = &ports[usize::from(port)];
        if (self.bad[at] != 0) | !adjacency.is_forward() | (self.total[at] > output.fast_mtu()) {
            return GENERAL;
        }
        let head = frame.head_mut::<HEAD>();
        head[L3 + 8..L3 + 12].copy_from_slice(&self.edit[at].to_le_bytes());
        put_macs(head, adjacency, output);
        port
    }

    /// Rewrites the IPv6 frame of element `at` likewise.
    #[inline(always)]
    pub(crate) fn rewrite_inet6(
        &self,
        at: usize,
        frame: &mut Frame,
        adjacency: Adjacency,
        ports: &[PortFacts; MAX_PORTS],
    ) -> u8 {
        let at = at % CHUNK;
        let port = adjacency.port();
        let output = &ports[usize::from(port)];
        if (self.bad[at] != 0) | !adjacency.is_forward() | (self.total[at] > output.fast_mtu()) {
            return GENERAL;
        }
        let head = frame.head_mut::<HEAD>();
        head[L3 + ipv6::HOP_LIMIT] = (self.middle[at] as u8).wrapping_sub(1);
        put_macs(head, adjacency, output);
        port
    }
}

#[inline(always)]
fn put_macs(head: &mut [u8; HEAD], adjacency: Adjacency, output: &PortFacts) {
    let macs = adjacency.packed_mac() | output.packed_mac() << 48;
    head[..8].copy_from_slice(&macs.to_le_bytes());
    head[8..12].copy_from_slice(&((output.packed_mac() >> 16) as u32).to_le_bytes());
}

#[inline(always)]
fn word(head: &[u8; HEAD], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&head[at..at + 8]);
    u64::from_le_bytes(bytes)
}

#[inline(always)]
fn half(head: &[u8; HEAD], at: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&head[at..at + 4]);
    u32::from_le_bytes(bytes)
}

#[inline(always)]
fn low32(word: u64) -> u64 {
    word & 0xffff_ffff
}

/// 1 where `a < b`, else 0, for numbers below 2^63: the sign of the difference. Vector units
/// subtract and shift 64-bit words at any level, but compare them only at some.
#[inline(always)]
fn is_less(a: u64, b: u64) -> u64 {
    a.wrapping_sub(b) >> 63
}

/// 1 where `a == b`, else 0, for numbers below 2^63.
#[inline(always)]
fn is_equal(a: u64, b: u64) -> u64 {
    is_less(a ^ b, 1)
}

/// Folds a sum of fewer than 2^16 32-bit words to 16 bits with end-around carry.
#[inline(always)]
fn fold(sum: u64) -> u64 {
    let sum = low32(sum) + (sum >> 32); // below 2^33
    let sum = (sum & 0xffff) + (sum >> 16); // below 2^18
    let sum = (sum & 0xffff) + (sum >> 16); // at most 0x1_0002
    (sum & 0xffff) + (sum >> 16)
}

/// 1 for an IPv4 address that begins with bytes `first` and `second` and is not plainly unicast:
/// martian (0/8, 127/8), multicast or above (224/3), link-local (169.254/16).
#[inline(always)]
fn is_special(first: u64, second: u64) -> u64 {
    is_less(first, 1)
        | is_less(223, first)
        | is_equal(first, 127)
        | is_equal(first << 8 | second, 0xa9fe)
}

/// The upper half of an IPv6 address that is neither multicast nor link-local (both from fe00::
/// on) nor `::`, `::1` or IPv4-mapped (all with an upper half of 0). Stricter than needed is
/// right here: the rest is for the general path.
#[inline(always)]
fn is_ordinary6(upper: u64) -> bool {
    upper.wrapping_sub(1) < (0xfe00 << 48) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_wire::checksum;

    #[test]
    fn special_ipv4_addresses_are_those_that_some_rule_forbids() {
        for first in 0..=255u32 {
            for second in [0, 1, 253, 254, 255] {
                let address = first << 24 | second << 16 | 1;
                let is_forbidden = ipv4::is_martian_source(address)
                    || ipv4::is_martian_destination(address)
                    || ipv4::is_multicast(address)
                    || ipv4::is_link_local(address);
                let is_special = is_special(first.into(), second.into());
                assert_eq!(is_special, u64::from(is_forbidden), "{address:08x}");
            }
        }
    }

    #[test]
    fn ordinary_ipv6_addresses_break_no_rule() {
        for upper in [0x2001_0002_u64 << 32, 1, 0xfd00 << 48, 0xfdff << 48 | 0xffff_ffff_ffff] {
            let address = u128::from(upper) << 64 | 1;
            assert!(is_ordinary6(upper));
            assert!(!ipv6::is_martian_source(address) && !ipv6::is_multicast(address));
            assert!(!ipv6::is_link_local(address));
        }
        for upper in [0, 0xfe80 << 48, 0xff02 << 48, u64::MAX, 0xfe00 << 48] {
            assert!(!is_ordinary6(upper));
        }
    }

    #[test]
    fn fold_equals_the_plain_one() {
        let sums =
            [0, 1, 0xffff, 0x1_0000, 0xffff_ffff, 0x1_0000_0000, 0x5_ffff_fffe, 0x3_1234_cdef];
        for sum in sums.into_iter().chain([0x5_ffff_ffff, 0xffff_ffff_ffff]) {
            assert_eq!(fold(sum), u64::from(checksum::fold(sum)), "{sum:x}");
        }
    }

    #[test]
    fn comparisons_by_sign_are_comparisons() {
        for a in [0, 1, 2, 255, 0xffff, 1 << 62] {
            for b in [0, 1, 2, 255, 0xffff, 1 << 62] {
                assert_eq!((is_less(a, b), is_equal(a, b)), (u64::from(a < b), u64::from(a == b)));
            }
        }
    }
}
