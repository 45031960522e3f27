//! Who speaks from one of our own addresses: nobody else may (RFC 1812, section 5.3.7), so that the
//! fast path leaves such frames to the general one, which drops them.
//!
//! What all of them have in common is compared with each source among the other checks: nearly every
//! chunk of frames from others is done with by that. In the rest a few addresses are compared one by
//! one; many are looked for in a bit map by a hash of the source, which takes a few strangers for ours,
//! and the general path knows better.

use fwdlab_port::{Heads, Tails};

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
    pub(crate) inet6_likeness: Likeness<3>,
    inet: Vec<u32>,
    inet6: Vec<[u32; 4]>,
    /// By hash, for a family with many addresses.
    inet_filter: Filter,
    inet6_filter: Filter,
}

impl Own {
    pub(crate) fn new(configs: &[PortConfig]) -> Self {
        let inet = configs.iter().flat_map(|config| &config.inet);
        let inet: Vec<u32> = inet.map(|at| at.address.swap_bytes()).collect();
        let inet6 = configs.iter().flat_map(|config| &config.inet6);
        let inet6: Vec<[u32; 4]> = inet6.map(|at| raw(at.address)).collect();
        let inet_filter = Filter::of(inet.iter().map(|&address| hash(address.into())));
        let inet6_filter = Filter::of(inet6.iter().map(|&words| hash6(words)));
        let inet_likeness = Likeness::of(inet.iter().map(|&own| [own]));
        let inet6_likeness = Likeness::of(inet6.iter().map(|&[a, b, _, d]| [a, b, d]));
        Self { inet_likeness, inet6_likeness, inet, inet6, inet_filter, inet6_filter }
    }

    /// Marks the first `count` frames, which are IPv4, whose source may be ours.
    #[cold]
    #[inline(never)]
    pub(crate) fn mark_inet(&self, bad: &mut [u32; CHUNK], heads: &Heads, count: usize) {
        let sources = heads.word::<6>();
        for at in 0..count.min(CHUNK) {
            let source = sources[at];
            let is_own = if self.inet.len() <= FEW {
                self.inet.contains(&source)
            } else {
                self.inet_filter.has(hash(source.into()))
            };
            bad[at] |= u32::from(is_own);
        }
    }

    /// As [`Own::mark_inet`], for frames that are IPv6.
    #[cold]
    #[inline(never)]
    pub(crate) fn mark_inet6(
        &self,
        bad: &mut [u32; CHUNK],
        (heads, tails): (&Heads, &Tails),
        count: usize,
    ) {
        let (w5, w6, w7) = (heads.word::<5>(), heads.word::<6>(), heads.word::<7>());
        for at in 0..count.min(CHUNK) {
            let words = [w5[at], w6[at], w7[at], tails.sources()[at]];
            let is_own = if self.inet6.len() <= FEW {
                self.inet6.contains(&words)
            } else {
                self.inet6_filter.has(hash6(words))
            };
            bad[at] |= u32::from(is_own);
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
    fn has(&self, hash: usize) -> bool {
        self.0.get(hash / 64).is_some_and(|word| word >> (hash % 64) & 1 != 0)
    }
}

/// The words of an address as they lie in a frame.
fn raw(address: u128) -> [u32; 4] {
    let word = |shift: u32| ((address >> shift) as u32).swap_bytes();
    [word(96), word(64), word(32), word(0)]
}

#[inline(always)]
fn hash(address: u64) -> usize {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - HASH_BITS)) as usize
}

#[inline(always)]
fn hash6([a, b, c, d]: [u32; 4]) -> usize {
    let (high, low) = (u64::from(a) | u64::from(b) << 32, u64::from(c) | u64::from(d) << 32);
    hash(high.rotate_left(29) ^ low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_an_address_are_those_of_a_frame() {
        let address = 0x2001_0db8_0011_2233_4455_6677_8899_aabb_u128;
        assert_eq!(raw(address), [0xb80d_0120, 0x3322_1100, 0x7766_5544, 0xbbaa_9988]);
    }
}
