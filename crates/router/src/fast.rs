//! The fast path: frames of one family, a chunk at a time, as a structure of arrays.
//!
//! It is a filter that never guesses: a frame that is not plainly right and plainly forwarded
//! (untagged, to our MAC address, IPv4 without options, a resolved next hop, ...) is left as it
//! was and goes to [`crate::general`], which knows every rule and every reason. A test forwards
//! random frames both ways and compares the bytes.
//!
//! - [`Heads`] turns the headers of all frames into columns of words;
//! - *check* computes all conditions on the columns, without branches, so that the compiler uses
//!   vector instructions: a condition that fails sets a bit of `bad`;
//! - *write* stores three words of a frame that goes on.

use fwdlab_port::{Frame, Heads};
use fwdlab_wire::{ethernet, ipv4, ipv6};

use crate::adjacency::Adjacency;
use crate::facts::PortFacts;
use crate::likeness::Likeness;

/// Frames per chunk.
pub(crate) const CHUNK: usize = Heads::FRAMES;

/// Bytes that the fast path reads: all headers.
pub(crate) const HEAD: usize = Heads::LINE;

const L3: usize = ethernet::HEADER_LEN;
/// Shortest frame without FCS, bytes.
const SHORTEST: u64 = (ethernet::MIN_FRAME_LEN_WITH_FCS - ethernet::FCS_LEN) as u64;
/// Elements are checked in groups of this, as many 64-bit words as the widest vector has.
const LANES: usize = 8;
/// The bits of a MAC address in a word.
const MAC_MASK: u64 = (1 << 48) - 1;

/// What was found out about the frames of a chunk. Aligned so that no vector lies across two cache
/// lines.
#[repr(align(64))]
pub(crate) struct Checked {
    /// Not 0 where the fast path may not forward.
    pub(crate) bad: [u64; CHUNK],
    /// Length of the packet, bytes.
    pub(crate) total: [u64; CHUNK],
    /// What follows the length of the packet, as it is to be. IPv4: TTL, protocol and checksum.
    /// IPv6: hop limit.
    edit: [u32; CHUNK],
}

impl Checked {
    pub(crate) fn new() -> Self {
        Self { bad: [0; CHUNK], total: [0; CHUNK], edit: [0; CHUNK] }
    }

    /// Checks the first `count` frames as IPv4 (and some behind them, for whole vectors), computes
    /// their edits, and finds their destinations. `mac` is the port's own address, packed. True if one
    /// of them may come from an address of ours.
    ///
    /// Words of a frame, a letter a byte: 1 `ssss` EtherType, version and IHL, traffic class;
    /// 2 total length, identification, fragment, TTL, protocol; 3 checksum, source, half of the
    /// destination; 4 the other half.
    #[inline(always)]
    pub(crate) fn check_inet(
        &mut self,
        heads: &Heads,
        destinations: &mut [u32; CHUNK],
        (count, mac, own): (usize, u64, Likeness<1>),
    ) -> bool {
        let mut suspect = 0;
        let (w0, w1, w2) = (heads.word::<0>(), heads.word::<1>(), heads.word::<2>());
        let (w3, w4, lengths) = (heads.word::<3>(), heads.word::<4>(), heads.lengths());
        for at in 0..count.next_multiple_of(LANES).min(CHUNK) {
            let (middle, last) = (w2[at], w4[at] & 0xffff);
            let total = middle >> 8 & 0xff | (middle & 0xff) << 8;
            let ttl = middle >> 48 & 0xff;
            let checksum = w3[at] & 0xffff;
            // RFC 1071, section 2(B): a one's complement sum may be taken in any byte order.
            let sum = (w1[at] >> 48)
                + (low32(middle) + (middle >> 32))
                + (low32(w3[at]) + (w3[at] >> 32))
                + last;
            self.bad[at] = (w0[at] ^ mac) & MAC_MASK
                // EtherType 0x0800, version 4, header length 5, as the bytes lie: 08 00 45.
                | (w1[at] >> 32 ^ 0x45_0008) & 0xff_ffff
                | is_less(total, ipv4::HEADER_LEN as u64)
                | is_less(lengths[at], total + L3 as u64)
                | has_trailer(lengths[at], total + L3 as u64)
                | is_less(ttl, 2)
                | (fold(sum) ^ 0xffff)
                | is_special(w3[at] >> 16 & 0xff, w3[at] >> 24 & 0xff)
                | is_special(w3[at] >> 48 & 0xff, w3[at] >> 56);
            self.total[at] = total;
            destinations[at] = ((w3[at] >> 48 | last << 16) as u32).swap_bytes();
            // RFC 1624 with m' = m - 0x0100 (the TTL is the high byte of its word): HC' = HC +
            // 0x0100 with end-around carry; in our byte order the 0x0100 is a 1. A sum of 0xffff
            // wraps to 0, as equation 3 would have it.
            let raised = checksum + 1;
            let raised = raised + ((raised + 1) >> 16);
            let lowered = (middle >> 48) - (1 & !is_less(ttl, 1));
            self.edit[at] = (lowered | (raised << 16)) as u32;
            own.add(&mut suspect, w3[at]);
        }
        suspect >> 63 != 0
    }

    /// Checks the first `count` frames as IPv6 likewise.
    ///
    /// Words: 1 `ssss` EtherType, version to flow label; 2 flow label, payload length, next header,
    /// hop limit, source; 3 source; 4 source, destination; 5 destination; 6 destination.
    #[inline(always)]
    pub(crate) fn check_inet6(
        &mut self,
        heads: &Heads,
        destinations: &mut [u128; CHUNK],
        (count, mac, own): (usize, u64, Likeness<2>),
    ) -> bool {
        let mut suspect = 0;
        let (w0, w1, w2, w3) =
            (heads.word::<0>(), heads.word::<1>(), heads.word::<2>(), heads.word::<3>());
        let (w4, w5, w6) = (heads.word::<4>(), heads.word::<5>(), heads.word::<6>());
        let lengths = heads.lengths();
        let (mut high, mut low) = ([0; CHUNK], [0; CHUNK]);
        for at in 0..count.next_multiple_of(LANES).min(CHUNK) {
            let payload = w2[at] >> 24 & 0xff | (w2[at] >> 16 & 0xff) << 8;
            let total = payload + ipv6::HEADER_LEN as u64;
            let hops = w2[at] >> 40 & 0xff;
            let source = (w2[at] >> 48 | w3[at] << 16).swap_bytes();
            high[at] = (w4[at] >> 48 | w5[at] << 16).swap_bytes();
            low[at] = (w5[at] >> 48 | w6[at] << 16).swap_bytes();
            self.bad[at] = (w0[at] ^ mac) & MAC_MASK
                // EtherType 0x86dd and version 6, as the bytes lie: 86 dd 6x.
                | (w1[at] >> 32 ^ 0x60_dd86) & 0xf0_ffff
                | is_less(lengths[at], total + L3 as u64)
                | has_trailer(lengths[at], total + L3 as u64)
                | is_less(hops, 2)
                | u64::from(!is_ordinary6(source))
                | u64::from(!is_ordinary6(high[at]));
            self.total[at] = total;
            self.edit[at] = (hops as u32).wrapping_sub(1);
            own.add(&mut suspect, w3[at], w4[at]);
        }
        // By itself: numbers of 128 bits would keep the compiler from wide vectors.
        for at in 0..count.min(CHUNK) {
            destinations[at] = u128::from(high[at]) << 64 | u128::from(low[at]);
        }
        suspect >> 63 != 0
    }

    /// Edits the IPv4 frame of element `at`, of which nothing is bad, for this next hop.
    #[inline(always)]
    pub(crate) fn write_inet(&self, at: usize, frame: &mut Frame, macs: (u64, u32)) {
        let head = frame.head_mut::<HEAD>();
        put(head, L3 + 8, self.edit[at % CHUNK].to_le_bytes());
        put_macs(head, macs);
    }

    /// Edits the IPv6 frame of element `at` likewise.
    #[inline(always)]
    pub(crate) fn write_inet6(&self, at: usize, frame: &mut Frame, macs: (u64, u32)) {
        let head = frame.head_mut::<HEAD>();
        head[L3 + ipv6::HOP_LIMIT] = self.edit[at % CHUNK] as u8;
        put_macs(head, macs);
    }
}

/// Both MAC addresses of a frame to this next hop, as words.
#[inline(always)]
pub(crate) fn macs(hop: Adjacency, output: &PortFacts) -> (u64, u32) {
    let own = output.packed_mac();
    (hop.packed_mac() | own << 48, (own >> 16) as u32)
}

#[inline(always)]
fn put_macs(head: &mut [u8; HEAD], macs: (u64, u32)) {
    put(head, 0, macs.0.to_le_bytes());
    put(head, 8, macs.1.to_le_bytes());
}

/// `head[at..at + N].copy_from_slice(&bytes)`, which the standard library does not let inline
/// without link-time optimisation.
#[inline(always)]
fn put<const N: usize>(head: &mut [u8; HEAD], at: usize, bytes: [u8; N]) {
    if let Some(place) = head[at..].first_chunk_mut() {
        *place = bytes;
    }
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

/// 1 where a frame has more than its packet, and is longer than the shortest: both differences are
/// negative.
#[inline(always)]
fn has_trailer(length: u64, end_of_packet: u64) -> u64 {
    (end_of_packet.wrapping_sub(length) & SHORTEST.wrapping_sub(length)) >> 63
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
