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

use fwdlab_port::{Frame, Heads, Tails};
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
const SHORTEST: u32 = (ethernet::MIN_FRAME_LEN_WITH_FCS - ethernet::FCS_LEN) as u32;
/// Elements are checked in groups of this, as many 32-bit words as the widest vector has.
const LANES: usize = 16;
/// A header length in the arithmetic of columns.
const L3_LEN: u32 = L3 as u32;
/// What was found out about the frames of a chunk. Aligned so that no vector lies across two cache
/// lines.
#[repr(align(64))]
pub(crate) struct Checked {
    /// Not 0 where the fast path may not forward.
    pub(crate) bad: [u32; CHUNK],
    /// Length of the packet, bytes.
    pub(crate) total: [u32; CHUNK],
    /// What follows the length of the packet, as it is to be. IPv4: TTL, protocol and checksum.
    /// IPv6: hop limit.
    edit: [u32; CHUNK],
}

impl Checked {
    pub(crate) fn new() -> Self {
        let zeros = [0; CHUNK];
        Self { bad: zeros, total: zeros, edit: zeros }
    }

    /// Checks the first `count` frames as IPv4 (and some behind them, for whole vectors), computes
    /// their edits, and finds their destinations. `mac` is the port's own address, packed. True if one
    /// of them may come from an address of ours.
    ///
    /// Words of a frame: 0 the last four bytes of its MAC address; 2 half EtherType; 3 version and IHL,
    /// traffic class, total length; 4 identification, fragment; 5 TTL, protocol, checksum; 6 source;
    /// 7 destination.
    #[inline(always)]
    pub(crate) fn check_inet(
        &mut self,
        heads: &Heads,
        destinations: &mut [u32; CHUNK],
        (count, mac, own): (usize, u64, Likeness<1>),
    ) -> bool {
        let mut suspect = 0;
        let (starts, w0, w2) = (heads.starts(), heads.word::<0>(), heads.word::<2>());
        let (w3, w4, w5) = (heads.word::<3>(), heads.word::<4>(), heads.word::<5>());
        let (w6, w7, lengths) = (heads.word::<6>(), heads.word::<7>(), heads.lengths());
        let macs = (mac as u32 & 0xffff, (mac >> 16) as u32);
        for at in 0..count.next_multiple_of(LANES).min(CHUNK) {
            let total = w3[at].swap_bytes() & 0xffff;
            let (ttl, checksum) = (w5[at] & 0xff, w5[at] >> 16);
            // RFC 1071, section 2(B): a one's complement sum may be taken in any byte order.
            let sum =
                both16(w3[at]) + both16(w4[at]) + both16(w5[at]) + both16(w6[at]) + both16(w7[at]);
            self.bad[at] = (starts[at] ^ macs.0)
                | (w0[at] ^ macs.1)
                // EtherType 0x0800, as the bytes lie; version 4, header length 5.
                | (w2[at] >> 16 ^ 0x0008)
                | (w3[at] ^ 0x45) & 0xff
                | is_less(total, ipv4::HEADER_LEN as u32)
                | is_less(lengths[at], total + L3_LEN)
                | has_trailer(lengths[at], total + L3_LEN)
                | is_less(ttl, 2)
                | (fold(sum) ^ 0xffff)
                | is_special(w6[at])
                | is_special(w7[at]);
            self.total[at] = total;
            destinations[at] = w7[at].swap_bytes();
            // RFC 1624 with m' = m - 0x0100 (the TTL is the high byte of its word): HC' = HC +
            // 0x0100 with end-around carry; in our byte order the 0x0100 is a 1. A sum of 0xffff
            // wraps to 0, as equation 3 would have it.
            let raised = checksum + 1;
            let raised = raised + ((raised + 1) >> 16);
            // Of a TTL of 0, which is bad, the protocol is borrowed from.
            self.edit[at] = w5[at].wrapping_sub(1) & 0xffff | raised << 16;
            own.add(&mut suspect, [w6[at]]);
        }
        suspect != 0
    }

    /// Checks the first `count` frames as IPv6 likewise.
    ///
    /// Words: 3 version to flow label; 4 payload length, next header, hop limit; 5, 6, 7 source.
    #[inline(always)]
    pub(crate) fn check_inet6(
        &mut self,
        (heads, tails): (&Heads, &Tails),
        (count, mac, own): (usize, u64, Likeness<3>),
    ) -> bool {
        let mut suspect = 0;
        let (starts, w0, w2) = (heads.starts(), heads.word::<0>(), heads.word::<2>());
        let (w3, w4, w5) = (heads.word::<3>(), heads.word::<4>(), heads.word::<5>());
        let (w6, lengths) = (heads.word::<6>(), heads.lengths());
        let macs = (mac as u32 & 0xffff, (mac >> 16) as u32);
        for at in 0..count.next_multiple_of(LANES).min(CHUNK) {
            let total = (w4[at].swap_bytes() >> 16) + ipv6::HEADER_LEN as u32;
            let hops = w4[at] >> 24;
            self.bad[at] = (starts[at] ^ macs.0)
                | (w0[at] ^ macs.1)
                // EtherType 0x86dd, as the bytes lie; version 6.
                | (w2[at] >> 16 ^ 0xdd86)
                | (w3[at] ^ 0x60) & 0xf0
                | is_less(lengths[at], total + L3_LEN)
                | has_trailer(lengths[at], total + L3_LEN)
                | is_less(hops, 2)
                | is_special6(w5[at])
                | is_special6(tails.destinations()[at]);
            self.total[at] = total;
            self.edit[at] = hops.wrapping_sub(1);
            own.add(&mut suspect, [w5[at], w6[at], tails.sources()[at]]);
        }
        suspect != 0
    }

    /// Whether one of the first `count` frames is bad or longer than a port takes.
    #[inline(always)]
    pub(crate) fn unfit(&self, count: usize, longest: u32) -> bool {
        let mut bad = 0;
        for at in 0..count.min(CHUNK) {
            bad |= self.bad[at] | is_less(longest, self.total[at]);
        }
        bad != 0
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

/// Both halves of a word, summed.
#[inline(always)]
fn both16(word: u32) -> u32 {
    (word & 0xffff) + (word >> 16)
}

/// 1 where `a < b`, else 0, for numbers below 2^31: the sign of the difference. All vector units
/// subtract and shift, but compare without a sign only at some levels.
#[inline(always)]
fn is_less(a: u32, b: u32) -> u32 {
    a.wrapping_sub(b) >> 31
}

/// 1 where a frame has more than its packet, and is longer than the shortest: both differences are
/// negative.
#[inline(always)]
fn has_trailer(length: u32, end_of_packet: u32) -> u32 {
    (end_of_packet.wrapping_sub(length) & SHORTEST.wrapping_sub(length)) >> 31
}

/// All bits where a condition holds, as vector units answer it.
#[inline(always)]
fn mask(holds: bool) -> u32 {
    if holds { u32::MAX } else { 0 }
}

/// Folds a sum of a few dozen 16-bit words to 16 bits with end-around carry.
#[inline(always)]
fn fold(sum: u32) -> u32 {
    both16(both16(sum)) // of less than 2^22: below 2^17, then at most 0xffff
}

/// Not 0 for an IPv4 address, as it lies in the frame, that is not plainly unicast: martian (0/8,
/// 127/8), multicast or above (224/3), link-local (169.254/16).
#[inline(always)]
fn is_special(address: u32) -> u32 {
    let first = address & 0xff;
    mask(first == 0)
        | mask(first as i32 > 223)
        | mask(first == 127)
        | mask(address & 0xffff == 0xfea9)
}

/// Not 0 for an IPv6 address with this first word, as it lies in the frame, that is not plainly unicast:
/// multicast or link-local (both from fe00:: on), or all that has nothing in its first 16 bits (`::`,
/// `::1`, IPv4-mapped). Stricter than needed is right here: the rest is for the general path.
#[inline(always)]
fn is_special6(first: u32) -> u32 {
    mask(first & 0xffff == 0) | mask((first & 0xff) as i32 > 0xfd)
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
                let is_special = is_special(address.swap_bytes()) != 0;
                assert_eq!(is_special, is_forbidden, "{address:08x}");
            }
        }
    }

    #[test]
    fn ordinary_ipv6_addresses_break_no_rule() {
        let is_special = |upper: u64| is_special6(((upper >> 32) as u32).swap_bytes()) != 0;
        for upper in [0x2001_0002_u64 << 32, 1 << 48, 0xfd00 << 48, 0xfdff << 48 | 0xffff_ffff_ffff]
        {
            let address = u128::from(upper) << 64 | 1;
            assert!(!is_special(upper));
            assert!(!ipv6::is_martian_source(address) && !ipv6::is_multicast(address));
            assert!(!ipv6::is_link_local(address));
        }
        for upper in [0, 1, 0xfe80 << 48, 0xff02 << 48, u64::MAX, 0xfe00 << 48] {
            assert!(is_special(upper));
        }
    }

    #[test]
    fn fold_equals_the_plain_one() {
        for sum in [0, 1, 0xffff, 0x1_0000, 0x1_ffff, 0x9_fff6, 0xf_fff0, 0x3f_ffff, 0x3f_0000] {
            assert_eq!(fold(sum), u32::from(checksum::fold(sum.into())), "{sum:x}");
        }
    }

    #[test]
    fn comparisons_by_sign_are_comparisons() {
        for a in [0, 1, 2, 255, 0xffff, 1 << 30] {
            for b in [0, 1, 2, 255, 0xffff, 1 << 30] {
                assert_eq!(is_less(a, b), u32::from(a < b));
            }
        }
    }
}
