//! The Internet checksum: RFC 1071 (computing it), RFC 1624 (updating it).
//!
//! The checksum is the complement of the one's complement sum of all 16-bit words. One's
//! complement addition is addition modulo 65535 (with 0xffff as a second name of zero), and
//! 2^16 = 1 modulo 65535. So carries may wait, words may be added in wider units, and the
//! result is folded once at the end:
//!
//! ```text
//! 2^32 = (2^16)^2 = 1 (mod 65535), so a 32-bit word a*2^16 + b counts as a + b,
//! and a 64-bit accumulator takes 2^32 of them before it can overflow.
//! ```

/// Adds up `bytes` as big-endian 16-bit words without folding; an odd last byte is padded with
/// zero (RFC 1071, section 1). Sums of pieces may be added with `+`, if each piece but the last
/// has even length.
///
/// The naive form: `bytes.chunks(2).map(|w| u64::from(w[0]) << 8 | u64::from(*w.get(1).unwrap_or(&0))).sum()`.
pub fn sum(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(4);
    let mut total: u64 = 0;
    for word in &mut words {
        total += u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
    }
    let mut last = [0u8; 4];
    let rest = words.remainder();
    last[..rest.len()].copy_from_slice(rest);
    total + u64::from(u32::from_be_bytes(last))
}

/// Folds a sum to 16 bits with end-around carry.
pub const fn fold(mut sum: u64) -> u16 {
    // 64 bits -> at most 33 bits -> at most 18 bits -> at most 17 bits -> 16 bits.
    sum = (sum & 0xffff_ffff) + (sum >> 32);
    sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum as u16
}

/// The checksum to store: the complement of the folded sum. Over data that already holds a
/// right checksum the result is 0.
#[inline]
pub const fn finish(sum: u64) -> u16 {
    !fold(sum)
}

/// The checksum after one 16-bit word under it changed from `old` to `new`.
///
/// RFC 1624, equation 3: `HC' = ~(~HC + ~m + m')`. (Equation 2 of RFC 1141, `HC + m - m'`,
/// yields 0xffff where a fresh computation yields 0x0000 and is not used.)
///
/// Why: `~HC` is the sum of all words; `~m` is `-m` in one's complement; so the sum loses the
/// old word and gains the new one.
#[inline]
pub const fn update_u16(checksum: u16, old: u16, new: u16) -> u16 {
    let sum = !checksum as u32 + !old as u32 + new as u32;
    // Three words are at most 3 * 65535 < 2^18: the first fold leaves at most 0xffff + 2.
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    !(sum as u16)
}

/// The checksum after an aligned 32-bit field under it changed.
#[inline]
pub const fn update_u32(checksum: u16, old: u32, new: u32) -> u16 {
    let high = update_u16(checksum, (old >> 16) as u16, (new >> 16) as u16);
    update_u16(high, old as u16, new as u16)
}

/// Sum of the IPv4 pseudo header of UDP and TCP (RFC 768): `length` is that of the transport
/// header and its data in bytes.
#[inline]
pub const fn pseudo_v4(source: u32, destination: u32, protocol: u8, length: u16) -> u64 {
    source as u64 + destination as u64 + protocol as u64 + length as u64
}

/// Sum of the IPv6 pseudo header (RFC 8200, section 8.1): `length` is that of the upper-layer
/// header and its data in bytes.
#[inline]
pub const fn pseudo_v6(source: u128, destination: u128, next_header: u8, length: u32) -> u64 {
    add_u128(source) + add_u128(destination) + next_header as u64 + length as u64
}

const fn add_u128(value: u128) -> u64 {
    let low = value as u64;
    let high = (value >> 64) as u64;
    (low & 0xffff_ffff) + (low >> 32) + (high & 0xffff_ffff) + (high >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Correct by inspection: 16-bit words, carry brought round after each addition.
    fn naive(bytes: &[u8]) -> u16 {
        let mut sum = 0u32;
        for word in bytes.chunks(2) {
            sum += u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0));
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    #[test]
    fn rfc1071_section_3_example() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(fold(sum(&bytes)), 0xddf2);
        assert_eq!(finish(sum(&bytes)), 0x220d);
    }

    #[test]
    fn rfc1624_section_4_example_gives_zero_not_ffff() {
        // HC = 0xDD2F, m = 0x5555, m' = 0x3285: equation 3 gives 0x0000, equation 2 0xFFFF.
        assert_eq!(update_u16(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    #[test]
    fn folds_the_largest_sums() {
        assert_eq!(fold(u64::MAX), 0xffff);
        assert_eq!(fold(0), 0);
        assert_eq!(fold(0x1_0000_0000), 1);
        assert_eq!(fold(0xffff_ffff_0001), 1);
    }

    #[test]
    fn pseudo_headers_equal_their_bytes() {
        let (source, destination) = (0xc612_0a01_u32, 0xc613_0a02_u32);
        let bytes = [0xc6, 0x12, 0x0a, 0x01, 0xc6, 0x13, 0x0a, 0x02, 0, 17, 0x01, 0xf4];
        assert_eq!(finish(pseudo_v4(source, destination, 17, 500)), naive(&bytes));
        let mut bytes = [0u8; 40];
        bytes[..16].copy_from_slice(&(u128::MAX - 5).to_be_bytes());
        bytes[16..32].copy_from_slice(&(0x2001_u128 << 112 | 7).to_be_bytes());
        bytes[32..36].copy_from_slice(&70_000_u32.to_be_bytes());
        bytes[39] = 58;
        assert_eq!(finish(pseudo_v6(u128::MAX - 5, 0x2001 << 112 | 7, 58, 70_000)), naive(&bytes));
    }

    proptest! {
        #[test]
        fn sum_equals_naive_for_all_lengths_and_alignments(bytes in proptest::collection::vec(any::<u8>(), 0..200), skip in 0usize..8) {
            let slice = bytes.get(skip..).unwrap_or(&[]);
            prop_assert_eq!(finish(sum(slice)), naive(slice));
        }

        #[test]
        fn update_equals_recomputing(mut header in proptest::array::uniform20(any::<u8>()), at in 0usize..9, new in any::<u16>()) {
            let at = if at >= 5 { at * 2 + 2 } else { at * 2 };
            header[10..12].fill(0);
            header[0] = 0x45; // a header is never all zero, where ~0 and 0 would differ
            let before = finish(sum(&header));
            let old = u16::from_be_bytes([header[at], header[at + 1]]);
            let new = if at == 0 { new | 0x4000 } else { new };
            header[at..at + 2].copy_from_slice(&new.to_be_bytes());
            prop_assert_eq!(update_u16(before, old, new), finish(sum(&header)));
        }

        #[test]
        fn update_of_32_bits_equals_two_of_16(checksum in any::<u16>(), old in any::<u32>(), new in any::<u32>()) {
            let once = update_u16(update_u16(checksum, old as u16, new as u16), (old >> 16) as u16, (new >> 16) as u16);
            // Both name the same residue; zero may appear as 0x0000 or 0xffff.
            prop_assert_eq!(u32::from(update_u32(checksum, old, new)) % 65535, u32::from(once) % 65535);
        }
    }
}
