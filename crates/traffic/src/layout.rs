//! Where the fields of a test frame are, in bytes from the start of the frame.
//!
//! ```text
//! IPv4   0 Ethernet  14 IPv4  34 UDP  42 sequence (4)  46 time stamp (8)  54 pattern ...
//! IPv6   0 Ethernet  14 IPv6  54 UDP  62 time stamp (8)  70 pattern ...
//! ```
//!
//! The smallest IPv6 UDP frame (66 bytes with FCS) has no payload at all, so in IPv6 the
//! sequence number is the 20-bit flow label, in frames of every size. The time stamp is there
//! only when latency is measured; otherwise its place holds the pattern.

use fwdlab_wire::{ethernet, ipv4, ipv6, udp};

/// Bytes that are rewritten for each frame: one cache line holds all headers.
pub(crate) const LINE: usize = 64;

/// The first cache line of a frame, with all its headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Line(pub(crate) [u8; LINE]);

pub(crate) const IP: usize = ethernet::HEADER_LEN;

pub(crate) const INET_TTL: usize = IP + ipv4::TTL;
pub(crate) const INET_CHECKSUM: usize = IP + ipv4::CHECKSUM.start;
pub(crate) const INET_ADDRESSES: usize = IP + ipv4::SOURCE.start;
pub(crate) const INET_UDP: usize = IP + ipv4::HEADER_LEN;
pub(crate) const INET_UDP_CHECKSUM: usize = INET_UDP + udp::CHECKSUM.start;
pub(crate) const INET_PAYLOAD: usize = INET_UDP + udp::HEADER_LEN;
pub(crate) const INET_STAMP: usize = INET_PAYLOAD + 4;

pub(crate) const INET6_NEXT_HEADER: usize = IP + ipv6::NEXT_HEADER;
pub(crate) const INET6_SOURCE: usize = IP + ipv6::SOURCE.start;
pub(crate) const INET6_DESTINATION: usize = IP + ipv6::DESTINATION.start;
pub(crate) const INET6_UDP: usize = IP + ipv6::HEADER_LEN;
pub(crate) const INET6_UDP_CHECKSUM: usize = INET6_UDP + udp::CHECKSUM.start;
pub(crate) const INET6_PAYLOAD: usize = INET6_UDP + udp::HEADER_LEN;
pub(crate) const INET6_STAMP: usize = INET6_PAYLOAD;

pub(crate) const STAMP_LEN: usize = 8;

/// The sequence number that fits the IPv6 flow label.
pub(crate) const INET6_SEQUENCE_MASK: u32 = 0xf_ffff;

/// Version and flow label, which is the sequence number of IPv6.
#[inline(always)]
pub(crate) fn label(sequence: u32) -> u32 {
    0x6000_0000 | sequence & INET6_SEQUENCE_MASK
}

/// What payload bytes are where nothing else is: their distance from the start of the frame.
#[inline]
pub(crate) fn pattern(at: usize) -> u8 {
    at as u8
}

/// `N` bytes at a fixed place; the compiler sees that they are inside. Not `copy_from_slice`,
/// here and below: it is a call of its own without link-time optimisation.
#[inline(always)]
pub(crate) fn field<const N: usize>(line: &[u8; LINE], at: usize) -> [u8; N] {
    match line[at..].first_chunk() {
        Some(bytes) => *bytes,
        None => [0; N],
    }
}

/// Writes `N` bytes at a fixed place.
#[inline(always)]
pub(crate) fn put<const N: usize>(line: &mut [u8; LINE], at: usize, bytes: [u8; N]) {
    if let Some(place) = line[at..].first_chunk_mut() {
        *place = bytes;
    }
}

/// One's complement sum folded to 16 bits, as in `wire::checksum::fold`, but for inlining into
/// the loop over a batch: sums here stay below 2^48.
#[inline(always)]
pub(crate) fn fold(sum: u64) -> u16 {
    fold_two(sum as u32, (sum >> 32) as u32)
}

/// The same of two words, the second below 2^16 (or the first). The upper half of a word and itself
/// turned round is the sum of its halves, with the carry of it.
#[inline(always)]
pub(crate) fn fold_two(one: u32, other: u32) -> u16 {
    let (sum, carry) = one.overflowing_add(other);
    let sum = sum.wrapping_add(u32::from(carry));
    (sum.wrapping_add(sum.rotate_left(16)) >> 16) as u16
}

/// Both halves of a 64-bit word, for one's complement sums (2^32 = 1 modulo 65535).
#[inline(always)]
pub(crate) fn halves(word: u64) -> u64 {
    (word >> 32) + (word & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_wire::checksum;

    #[test]
    fn sums_are_folded_as_the_plain_way_folds_them() {
        let words = [0, 1, 0xfffe, 0xffff, 0x1_0000, 0xffff_0000, 0xffff_fffe, 0xffff_ffff];
        for low in words {
            for high in [0, 1, 0x7fff, 0xfffe, 0xffff] {
                let sum = high << 32 | low;
                assert_eq!(fold(sum), checksum::fold(sum), "{sum:x}");
            }
        }
    }
}
