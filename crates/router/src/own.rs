//! Who speaks from one of our own addresses: nobody else may (RFC 1812, section 5.3.7), so that the
//! fast path leaves such frames to the general one, which drops them.
//!
//! What all of them have in common is compared with each source among the other checks: nearly every
//! chunk of frames from others is done with by that. In the rest a few addresses are compared one by
//! one; many are looked for in a bit map by a hash of the source, which takes a few strangers for ours,
//! and the general path knows better.

use fwdlab_port::Heads;

use crate::fast::CHUNK;
use crate::interface::PortConfig;
use crate::likeness::Likeness;

/// Most addresses of a family that are compared one by one.
const FEW: usize = 8;
/// Bits of a hash.
const HASH_BITS: u32 = 16;

/// The addresses of all ports.
pub(crate) struct Own {
    pub(crate) inet_likeness: Likeness<1>,
    pub(crate) inet6_likeness: Likeness<2>,
    inet: Vec<u64>,
    inet6: Vec<(u64, u64)>,
    /// By hash, for a family with many addresses.
    inet_filter: Filter,
    inet6_filter: Filter,
}

impl Own {
    pub(crate) fn new(configs: &[PortConfig]) -> Self {
        let inet = configs.iter().flat_map(|config| &config.inet);
        let inet: Vec<u64> = inet.map(|at| at.address.swap_bytes().into()).collect();
        let inet6 = configs.iter().flat_map(|config| &config.inet6);
        let inet6: Vec<(u64, u64)> = inet6.map(|at| raw(at.address)).collect();
        let inet_filter = Filter::of(inet.iter().map(|&address| hash(address)));
        let inet6_filter = Filter::of(inet6.iter().map(|&(high, low)| hash6(high, low)));
        // Where the headers have them: see `Findings::check_inet` and `check_inet6`. The first 16 bits
        // of IPv6 addresses, in a word of their own, would say little.
        let inet_likeness = Likeness::<1>::of(inet.iter().map(|own| [own << 16]));
        let in_words = |&(high, low): &(u64, u64)| [high >> 16 | low << 48, low >> 16];
        let inet6_likeness = Likeness::<2>::of(inet6.iter().map(in_words));
        Self { inet_likeness, inet6_likeness, inet, inet6, inet_filter, inet6_filter }
    }

    /// Marks the first `count` frames, which are IPv4, whose source may be ours.
    #[cold]
    #[inline(never)]
    pub(crate) fn mark_inet(&self, bad: &mut [u64; CHUNK], heads: &Heads, count: usize) {
        let w3 = heads.word::<3>();
        if self.inet.len() <= FEW {
            for &own in &self.inet {
                for at in 0..count.next_multiple_of(8).min(CHUNK) {
                    bad[at] |= is_zero((w3[at] >> 16 & 0xffff_ffff) ^ own);
                }
            }
        } else {
            for at in 0..count.min(CHUNK) {
                bad[at] |= self.inet_filter.has(hash(w3[at] >> 16 & 0xffff_ffff));
            }
        }
    }

    /// As [`Own::mark_inet`], for frames that are IPv6.
    #[cold]
    #[inline(never)]
    pub(crate) fn mark_inet6(&self, bad: &mut [u64; CHUNK], heads: &Heads, count: usize) {
        let (w2, w3, w4) = (heads.word::<2>(), heads.word::<3>(), heads.word::<4>());
        if self.inet6.len() <= FEW {
            for &(own_high, own_low) in &self.inet6 {
                for at in 0..count.next_multiple_of(8).min(CHUNK) {
                    let (high, low) = (w2[at] >> 48 | w3[at] << 16, w3[at] >> 48 | w4[at] << 16);
                    bad[at] |= is_zero((high ^ own_high) | (low ^ own_low));
                }
            }
        } else {
            for at in 0..count.min(CHUNK) {
                let (high, low) = (w2[at] >> 48 | w3[at] << 16, w3[at] >> 48 | w4[at] << 16);
                bad[at] |= self.inet6_filter.has(hash6(high, low));
            }
        }
    }
}

/// A set of hashes.
struct Filter(Vec<u64>);

impl Filter {
    /// Nothing for a few, which nobody looks for here.
    fn of(hashes: impl ExactSizeIterator<Item = usize>) -> Self {
        if hashes.len() <= FEW {
            return Self(Vec::new());
        }
        let mut words = vec![0; (1 << HASH_BITS) / 64];
        hashes.for_each(|hash| words[hash / 64] |= 1 << (hash % 64));
        Self(words)
    }

    #[inline(always)]
    fn has(&self, hash: usize) -> u64 {
        self.0.get(hash / 64).map_or(0, |word| word >> (hash % 64) & 1)
    }
}

/// Both halves of an address as little-endian loads of its bytes give them.
fn raw(address: u128) -> (u64, u64) {
    (((address >> 64) as u64).swap_bytes(), (address as u64).swap_bytes())
}

#[inline(always)]
fn hash(address: u64) -> usize {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - HASH_BITS)) as usize
}

#[inline(always)]
fn hash6(high: u64, low: u64) -> usize {
    hash(high.rotate_left(29) ^ low)
}

/// 1 for 0, else 0.
#[inline(always)]
fn is_zero(word: u64) -> u64 {
    (!word & word.wrapping_sub(1)) >> 63
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_zero_is_zero() {
        assert_eq!(is_zero(0), 1);
        for word in [1, 2, 1 << 62, 1 << 63, u64::MAX, (1 << 63) + 1, 0xffff_ffff] {
            assert_eq!(is_zero(word), 0, "{word:x}");
        }
    }
}
