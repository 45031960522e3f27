//! The fast path for one frame: check everything, then rewrite, on the first 56 bytes as words.
//!
//! It is a filter that never guesses: a frame that is not plainly right and plainly forwarded
//! (untagged, to our MAC address, IPv4 without options, a resolved next hop, ...) is left as it
//! was and goes to [`crate::general`], which knows every rule and every reason. A test forwards
//! random frames both ways and compares the bytes.
//!
//! All conditions are computed and joined with `&`: one branch per frame, well predicted,
//! instead of a dozen.

use fwdlab_wire::{ethernet, ipv4, ipv6};

use crate::adjacency::Adjacency;
use crate::plane::{GENERAL, MAX_PORTS, PortFacts};

/// Bytes that the fast path reads: Ethernet and IPv6 header (54), rounded up to a word.
pub(crate) const HEAD: usize = 56;

const MAC_MASK: u64 = 0xffff_ffff_ffff;
const L3: usize = ethernet::HEADER_LEN;

/// What the fast path must know of the input port, and of all ports as outputs.
pub(crate) struct Context<'a> {
    /// The input port's MAC address, packed.
    pub(crate) mac: u64,
    /// All ports.
    pub(crate) ports: &'a [PortFacts; MAX_PORTS],
}

#[inline(always)]
fn word(head: &[u8; HEAD], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&head[at..at + 8]);
    u64::from_le_bytes(bytes)
}

#[inline(always)]
fn put_word(head: &mut [u8; HEAD], at: usize, word: u64) {
    head[at..at + 8].copy_from_slice(&word.to_le_bytes());
}

/// Forwards an IPv4 frame of `len` bytes; returns the output port, or [`GENERAL`] and leaves
/// the frame alone.
#[inline(always)]
pub(crate) fn inet(
    head: &mut [u8; HEAD],
    len: usize,
    adjacency: Adjacency,
    context: &Context<'_>,
) -> u8 {
    // Little-endian words: byte n of the frame is byte n % 8 of word n / 8.
    let macs = word(head, 0); // destination MAC, two bytes of the source's
    let start = word(head, 8); // source MAC, EtherType, version and IHL, traffic class
    let middle = word(head, 16); // total length, identification, fragment, TTL, protocol
    let addresses = word(head, 24); // checksum, source, two bytes of the destination
    let tail = u16::from_le_bytes([head[L3 + 18], head[L3 + 19]]); // the other two

    // RFC 1071, section 2(B): a one's complement sum may be taken in any byte order.
    let sum = (start >> 48)
        + low32(middle)
        + (middle >> 32)
        + low32(addresses)
        + (addresses >> 32)
        + u64::from(tail);
    let has_checksum = fold(sum) == 0xffff;

    let total = usize::from((middle as u16).swap_bytes());
    let ttl = (middle >> 48) as u8;
    let source = ((addresses >> 16) as u32).swap_bytes();
    let destination = ((addresses >> 48) as u32 | u32::from(tail) << 16).swap_bytes();
    let port = adjacency.port();
    let output = &context.ports[usize::from(port)];

    let is_plain = (macs & MAC_MASK == context.mac)
        // EtherType 0x0800, version 4, header length 5, as the bytes lie: 08 00 45.
        & ((start >> 32) & 0xff_ffff == 0x45_0008)
        & (total >= ipv4::HEADER_LEN)
        & (L3 + total <= len)
        & (total <= output.mtu())
        & (ttl > 1)
        & has_checksum
        & is_ordinary(source)
        & is_ordinary(destination)
        & adjacency.is_forward();
    if !is_plain {
        return GENERAL;
    }

    // RFC 1624 with m' = m - 0x0100 (the TTL is the high byte of its word): HC' = HC + 0x0100
    // with end-around carry; in our byte order the 0x0100 is a 1. A sum of 0xffff wraps to 0,
    // as equation 3 would have it.
    let checksum = (addresses & 0xffff) + 1;
    let checksum = checksum + u64::from(checksum >= 0xffff);
    put_word(head, 16, middle - (1 << 48));
    head[L3 + 10..L3 + 12].copy_from_slice(&(checksum as u16).to_le_bytes());
    put_macs(head, start, adjacency, output);
    port
}

/// Forwards an IPv6 frame of `len` bytes; returns the output port, or [`GENERAL`] and leaves
/// the frame alone.
#[inline(always)]
pub(crate) fn inet6(
    head: &mut [u8; HEAD],
    len: usize,
    adjacency: Adjacency,
    context: &Context<'_>,
) -> u8 {
    let macs = word(head, 0);
    let start = word(head, 8); // source MAC, EtherType, version, class
    let lengths = word(head, 16); // flow label, payload length, next header, hop limit, 2 bytes of source
    let source = word(head, L3 + 8).swap_bytes();
    let destination = word(head, L3 + 24).swap_bytes();
    let payload = usize::from(((lengths >> 16) as u16).swap_bytes());
    let hops = (lengths >> 40) as u8;
    let port = adjacency.port();
    let output = &context.ports[usize::from(port)];

    let is_plain = (macs & MAC_MASK == context.mac)
        // EtherType 0x86dd and version 6, as the bytes lie: 86 dd 6x.
        & ((start >> 32) & 0xf0_ffff == 0x60_dd86)
        & (L3 + ipv6::HEADER_LEN + payload <= len)
        & (ipv6::HEADER_LEN + payload <= output.mtu())
        & (hops > 1)
        & is_ordinary6(source)
        & is_ordinary6(destination)
        & adjacency.is_forward();
    if !is_plain {
        return GENERAL;
    }
    head[L3 + ipv6::HOP_LIMIT] = hops - 1;
    put_macs(head, start, adjacency, output);
    port
}

#[inline(always)]
fn put_macs(head: &mut [u8; HEAD], start: u64, adjacency: Adjacency, output: &PortFacts) {
    put_word(head, 0, adjacency.packed_mac() | output.packed_mac() << 48);
    put_word(head, 8, (start & !0xffff_ffff) | output.packed_mac() >> 16);
}

#[inline(always)]
fn low32(word: u64) -> u64 {
    word & 0xffff_ffff
}

/// Folds a sum of fewer than 2^32 32-bit words to 16 bits with end-around carry.
#[inline(always)]
fn fold(sum: u64) -> u32 {
    let sum = low32(sum) + (sum >> 32);
    let sum = low32(sum) + (sum >> 32);
    // With x = a * 2^16 + b the upper half of x + rotate(x) is a + b, carries included.
    let sum = sum as u32;
    sum.wrapping_add(sum.rotate_left(16)) >> 16
}

/// Unicast and neither martian nor link-local: 1/8 to 126/8 and 128/8 to 223/8 without
/// 169.254/16. Stricter than needed is right here: the rest is for the general path.
#[inline(always)]
fn is_ordinary(address: u32) -> bool {
    let top = address >> 24;
    (top.wrapping_sub(1) < 223) & (top != 127) & (address >> 16 != 0xa9fe)
}

/// The upper half of an address that is neither multicast nor link-local (both from fe00:: on)
/// nor `::`, `::1` or IPv4-mapped (all with an upper half of 0).
#[inline(always)]
fn is_ordinary6(upper: u64) -> bool {
    upper.wrapping_sub(1) < (0xfe00 << 48) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_wire::checksum;

    #[test]
    fn ordinary_ipv4_addresses_are_those_that_no_rule_forbids() {
        for top in 0..=255u32 {
            for next in [0, 1, 253, 254, 255] {
                let address = top << 24 | next << 16 | 1;
                let is_forbidden = ipv4::is_martian_source(address)
                    || ipv4::is_martian_destination(address)
                    || ipv4::is_multicast(address)
                    || ipv4::is_link_local(address);
                assert_eq!(is_ordinary(address), !is_forbidden, "{address:08x}");
            }
        }
    }

    #[test]
    fn ordinary_ipv6_addresses_break_no_rule() {
        for upper in [0x2001_0002_u64 << 32, 1, 0xfd00 << 48, 0xfdff << 48 | 0xffff_ffff_ffff] {
            let address = u128::from(upper) << 64 | 1;
            assert!(is_ordinary6(upper));
            assert!(
                !ipv6::is_martian_source(address)
                    && !ipv6::is_multicast(address)
                    && !ipv6::is_link_local(address)
            );
        }
        for upper in [0, 0xfe80 << 48, 0xff02 << 48, u64::MAX, 0xfe00 << 48] {
            assert!(!is_ordinary6(upper));
        }
    }

    #[test]
    fn fold_equals_the_plain_one() {
        for sum in [
            0,
            1,
            0xffff,
            0x1_0000,
            0xffff_ffff,
            0x1_0000_0000,
            0x5_ffff_fffe,
            0x3_1234_cdef,
            0x5_ffff_ffff,
        ] {
            assert_eq!(fold(sum) % 0xffff, u32::from(checksum::fold(sum)) % 0xffff, "{sum:x}");
            assert_eq!(fold(sum) == 0xffff, checksum::fold(sum) == 0xffff, "{sum:x}");
        }
    }
}
