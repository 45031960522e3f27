//! A small generator of pseudo-random numbers for tests, conformance cases and synthetic tables:
//! SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
//! The same seed gives the same numbers on every machine and in every version.

use crate::family::{Address, Family};
use crate::prefix::Prefix;

/// A deterministic stream of pseudo-random numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, nearly uniform (the bias is below `bound` / 2^64); 0 for bound 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A uniform number in 0..1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A uniformly random address.
    #[inline]
    pub fn addr<F: Family>(&mut self) -> F::Addr {
        F::Addr::truncate((u128::from(self.next_u64()) << 64) | u128::from(self.next_u64()))
    }

    /// A uniformly random address inside a prefix.
    #[inline]
    pub fn addr_in<F: Family>(&mut self, prefix: &Prefix<F>) -> F::Addr {
        prefix.addr() | (self.addr::<F>() & !F::Addr::mask(prefix.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_published_numbers_of_seed_1234567() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(random.next_u64(), 3_203_168_211_198_807_973);
    }
}
