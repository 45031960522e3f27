//! Counting the keys of a sorted cache line that are not above a wanted one.
#![allow(unsafe_code)]

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU16, AtomicU64};

/// How many of the keys are at most `wanted`. The vector implementations are right on their
/// processors alone: their types are visible to [`super::level`] only, which chooses them there.
///
/// Keys that others may write are read as relaxed atomics would read them, by vector, too: whoever
/// reads a line while it is written gets a wrong count, not undefined behaviour.
pub(crate) trait Count {
    /// Whether AVX-512 (F, BW, DQ and VL) may be used.
    const HAS_AVX512: bool = false;

    /// Of 16 keys.
    fn up_to_16(keys: &[AtomicU16; 16], wanted: u16) -> u32;

    /// The number of the first of 16 keys that is not below `wanted`, from number `from` (below 16) on; 16 or
    /// 32 if there is none. Keys before it need not be sorted.
    #[inline(always)]
    fn first_from(keys: &[AtomicU16; 16], from: u32, wanted: u16) -> u32 {
        let is_below = |key: &&AtomicU16| key.load(Relaxed) < wanted;
        from + keys.iter().skip(from as usize).take_while(is_below).count() as u32
    }

    /// The number of the first of 30 keys that is not below `wanted`, 30 or more if there is none; two more are
    /// there.
    #[inline(always)]
    fn first_of_30(keys: &[AtomicU16; 32], wanted: u16) -> u32 {
        keys.iter().take(30).take_while(|key| key.load(Relaxed) < wanted).count() as u32
    }

    /// Of 8 keys of 64 bits.
    #[inline(always)]
    fn wide_up_to_8(keys: &[AtomicU64; 8], wanted: u64) -> u32 {
        keys.iter().map(|key| u32::from(key.load(Relaxed) <= wanted)).sum()
    }

    /// Of 8 keys of 64 bits that nobody writes.
    #[inline(always)]
    fn wide_up_to_8_plain(keys: &[u64; 8], wanted: u64) -> u32 {
        keys.iter().map(|key| u32::from(*key <= wanted)).sum()
    }

    /// Of 16 keys of 64 bits that nobody writes.
    #[inline(always)]
    fn wide_up_to_16(keys: &[u64; 16], wanted: u64) -> u32 {
        keys.iter().map(|key| u32::from(*key <= wanted)).sum()
    }

    /// The highest bit of each of 32 numbers, the first number's lowest.
    #[inline(always)]
    fn high_bits(numbers: &[u32; 32]) -> u32 {
        numbers.iter().rev().fold(0, |bits, number| bits << 1 | number >> 31)
    }
}

/// Any processor.
pub(crate) struct Portable;

impl Count for Portable {
    #[inline(always)]
    fn up_to_16(keys: &[AtomicU16; 16], wanted: u16) -> u32 {
        keys.iter().map(|key| u32::from(key.load(Relaxed) <= wanted)).sum()
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) use x86::{Avx2, Avx512};

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use super::{AtomicU16, AtomicU64, Count};
    use std::arch::asm;
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_castsi256_ps, _mm256_cmpeq_epi16, _mm256_cmpge_epu16_mask,
        _mm256_cmpgt_epi64, _mm256_cmple_epu16_mask, _mm256_loadu_si256, _mm256_max_epu16,
        _mm256_min_epu16, _mm256_movemask_epi8, _mm256_movemask_ps, _mm256_packs_epi16,
        _mm256_packs_epi32, _mm256_set1_epi16, _mm256_set1_epi64x, _mm256_xor_si256,
        _mm512_cmpge_epu16_mask, _mm512_cmple_epu64_mask, _mm512_loadu_si512, _mm512_movepi32_mask,
        _mm512_set1_epi16, _mm512_set1_epi64,
    };

    /// 32 bytes of atomics. Plain loads that race with a store are undefined behaviour; the load of
    /// an instruction that the compiler does not see into is what relaxed loads of the parts are.
    ///
    /// # Safety
    /// The processor must have AVX.
    #[inline]
    #[target_feature(enable = "avx")]
    unsafe fn load_32(keys: &[AtomicU16; 16]) -> __m256i {
        let line;
        // SAFETY: 32 readable bytes; nothing is written. It may move like any relaxed load: what
        // it reads is found through a number that was loaded before.
        unsafe {
            asm!(
                "vmovdqu {line}, [{keys}]",
                line = lateout(ymm_reg) line,
                keys = in(reg) keys.as_ptr(),
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        line
    }

    /// 64 bytes of atomics, as [`load_32`].
    ///
    /// # Safety
    /// The processor must have AVX-512F, and `keys` lead to 64 readable bytes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn load_64<T>(keys: *const T) -> __m512i {
        let line;
        // SAFETY: the caller's promise; the rest as for 32 bytes.
        unsafe {
            asm!(
                "vmovdqu64 {line}, [{keys}]",
                line = lateout(zmm_reg) line,
                keys = in(reg) keys,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        line
    }

    /// AVX-512BW and VL: compare into a mask, count its bits.
    pub(crate) struct Avx512;
    /// AVX2, which has no unsigned comparison: x <= w where min(x, w) = x.
    pub(crate) struct Avx2;

    impl Count for Avx512 {
        const HAS_AVX512: bool = true;

        #[inline(always)]
        fn up_to_16(keys: &[AtomicU16; 16], wanted: u16) -> u32 {
            // SAFETY: the type is only chosen on processors with AVX-512BW and VL.
            unsafe {
                let line = load_32(keys);
                let mask = _mm256_cmple_epu16_mask(line, _mm256_set1_epi16(wanted as i16));
                u32::from(mask).count_ones()
            }
        }

        #[inline(always)]
        fn first_from(keys: &[AtomicU16; 16], from: u32, wanted: u16) -> u32 {
            // SAFETY: as for 16 keys.
            let mask =
                unsafe { _mm256_cmpge_epu16_mask(load_32(keys), _mm256_set1_epi16(wanted as i16)) };
            (u32::from(mask) & (u32::MAX << (from & 31))).trailing_zeros()
        }

        #[inline(always)]
        fn first_of_30(keys: &[AtomicU16; 32], wanted: u16) -> u32 {
            // SAFETY: 64 readable bytes; the rest as for 16 keys.
            let mask = unsafe {
                let line = load_64(keys.as_ptr());
                _mm512_cmpge_epu16_mask(line, _mm512_set1_epi16(wanted as i16))
            };
            mask.trailing_zeros()
        }

        #[inline(always)]
        fn wide_up_to_8(keys: &[AtomicU64; 8], wanted: u64) -> u32 {
            // SAFETY: 64 readable bytes; the rest as for 16 keys.
            unsafe {
                let line = load_64(keys.as_ptr());
                let mask = _mm512_cmple_epu64_mask(line, _mm512_set1_epi64(wanted as i64));
                u32::from(mask).count_ones()
            }
        }

        #[inline(always)]
        fn wide_up_to_8_plain(keys: &[u64; 8], wanted: u64) -> u32 {
            // SAFETY: 64 readable bytes; the type is only chosen on processors with AVX-512F.
            unsafe {
                let line = _mm512_loadu_si512(keys.as_ptr().cast());
                let mask = _mm512_cmple_epu64_mask(line, _mm512_set1_epi64(wanted as i64));
                u32::from(mask).count_ones()
            }
        }

        #[inline(always)]
        fn wide_up_to_16(keys: &[u64; 16], wanted: u64) -> u32 {
            // SAFETY: 64 readable bytes from either half on; the type is only chosen on processors
            // with AVX-512F.
            let (low, high) = unsafe {
                let wanted = _mm512_set1_epi64(wanted as i64);
                let low = _mm512_loadu_si512(keys.as_ptr().cast());
                let high = _mm512_loadu_si512(keys[8..].as_ptr().cast());
                (_mm512_cmple_epu64_mask(low, wanted), _mm512_cmple_epu64_mask(high, wanted))
            };
            (u32::from(low) | u32::from(high) << 8).count_ones()
        }

        #[inline(always)]
        fn high_bits(numbers: &[u32; 32]) -> u32 {
            // SAFETY: 64 readable bytes from either half on; the type is only chosen on processors
            // with AVX-512DQ.
            let (low, high) = unsafe {
                let low = _mm512_loadu_si512(numbers.as_ptr().cast());
                let high = _mm512_loadu_si512(numbers[16..].as_ptr().cast());
                (_mm512_movepi32_mask(low), _mm512_movepi32_mask(high))
            };
            u32::from(high) << 16 | u32::from(low)
        }
    }

    /// All ones for each key that is above `wanted`, which is moved by `half` already.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn above(keys: __m256i, half: __m256i, wanted: __m256i) -> __m256i {
        _mm256_cmpgt_epi64(_mm256_xor_si256(keys, half), wanted)
    }

    /// Two equal bits for each key that is not below `wanted`: x >= w where max(x, w) = x.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn not_below(keys: __m256i, wanted: u16) -> u32 {
        let higher = _mm256_max_epu16(keys, _mm256_set1_epi16(wanted as i16));
        _mm256_movemask_epi8(_mm256_cmpeq_epi16(higher, keys)) as u32
    }

    impl Count for Avx2 {
        #[inline(always)]
        fn up_to_16(keys: &[AtomicU16; 16], wanted: u16) -> u32 {
            // SAFETY: the type is only chosen on processors with AVX2.
            unsafe {
                let line = load_32(keys);
                let lower = _mm256_min_epu16(line, _mm256_set1_epi16(wanted as i16));
                // Two equal bytes for each key.
                _mm256_movemask_epi8(_mm256_cmpeq_epi16(lower, line)).count_ones() / 2
            }
        }

        #[inline(always)]
        fn first_from(keys: &[AtomicU16; 16], from: u32, wanted: u16) -> u32 {
            // SAFETY: the type is only chosen on processors with AVX2.
            let mask = unsafe { not_below(load_32(keys), wanted) };
            (mask & (u32::MAX << ((2 * from) & 31))).trailing_zeros() / 2
        }

        #[inline(always)]
        fn first_of_30(keys: &[AtomicU16; 32], wanted: u16) -> u32 {
            let (Some(low), Some(high)) = (keys.first_chunk(), keys.last_chunk()) else {
                return 30;
            };
            // SAFETY: the type is only chosen on processors with AVX2.
            let (low, high) =
                unsafe { (not_below(load_32(low), wanted), not_below(load_32(high), wanted)) };
            (u64::from(high) << 32 | u64::from(low)).trailing_zeros() / 2
        }

        #[inline(always)]
        fn wide_up_to_16(keys: &[u64; 16], wanted: u64) -> u32 {
            // AVX2 compares signed numbers: both sides are moved by half the range.
            const HALF: i64 = i64::MIN;
            // SAFETY: four times 32 readable bytes; the type is only chosen on processors with AVX2.
            unsafe {
                let half = _mm256_set1_epi64x(HALF);
                let wanted = _mm256_set1_epi64x(wanted as i64 ^ HALF);
                let first = keys.as_ptr().cast::<__m256i>();
                let above_0 = above(_mm256_loadu_si256(first), half, wanted);
                let above_1 = above(_mm256_loadu_si256(first.add(1)), half, wanted);
                let above_2 = above(_mm256_loadu_si256(first.add(2)), half, wanted);
                let above_3 = above(_mm256_loadu_si256(first.add(3)), half, wanted);
                let low = _mm256_packs_epi32(above_0, above_1);
                let high = _mm256_packs_epi32(above_2, above_3);
                // Two equal bytes for each key, in another order.
                16 - _mm256_movemask_epi8(_mm256_packs_epi16(low, high)).count_ones() / 2
            }
        }

        #[inline(always)]
        fn high_bits(numbers: &[u32; 32]) -> u32 {
            let mut bits = 0;
            for eight in numbers.as_chunks::<8>().0.iter().rev() {
                // SAFETY: 32 readable bytes; the type is only chosen on processors with AVX2.
                let mask = unsafe {
                    let eight = _mm256_loadu_si256(eight.as_ptr().cast());
                    _mm256_movemask_ps(_mm256_castsi256_ps(eight))
                };
                bits = bits << 8 | mask as u32;
            }
            bits
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::simd::level::{Kernel, run};

    struct Compare<'a>(&'a [AtomicU16; 32], u32, u16);
    struct CompareWide<'a>(&'a [AtomicU64; 8], u64);
    struct HighBits<'a>(&'a [u32; 32]);

    impl Kernel for CompareWide<'_> {
        type Output = u32;
        #[inline(always)]
        fn run<C: Count>(self) -> u32 {
            C::wide_up_to_8(self.0, self.1)
        }
    }

    impl Kernel for HighBits<'_> {
        type Output = u32;
        #[inline(always)]
        fn run<C: Count>(self) -> u32 {
            C::high_bits(self.0)
        }
    }

    struct ComparePlain<'a>(&'a [u64; 8], &'a [u64; 16], u64);

    impl Kernel for ComparePlain<'_> {
        type Output = (u32, u32);

        #[inline(always)]
        fn run<C: Count>(self) -> (u32, u32) {
            (C::wide_up_to_8_plain(self.0, self.2), C::wide_up_to_16(self.1, self.2))
        }
    }

    #[test]
    fn wide_counts_and_high_bits_equal_the_portable_ones() {
        let mut random = Random::new(64);
        for _ in 0..10_000 {
            let shift = random.below(64);
            let keys = std::array::from_fn(|_| AtomicU64::new(random.next_u64() >> shift));
            let wanted = match random.below(3) {
                0 => keys[random.below(8) as usize].load(Relaxed),
                _ => random.next_u64() >> shift,
            };
            let portable = Portable::wide_up_to_8(&keys, wanted);
            assert_eq!(run(CompareWide(&keys, wanted)), portable, "{wanted} in {keys:?}");
            let plain = std::array::from_fn(|i| keys[i % 8].load(Relaxed) >> (i / 8));
            let eight = std::array::from_fn(|i| plain[i]);
            let counts = (portable, Portable::wide_up_to_16(&plain, wanted));
            assert_eq!(run(ComparePlain(&eight, &plain, wanted)), counts, "{wanted} in {plain:?}");
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            if is_x86_feature_detected!("avx2") {
                assert_eq!(Avx2::wide_up_to_16(&plain, wanted), counts.1, "{wanted} in {plain:?}");
            }
            let numbers: [u32; 32] = std::array::from_fn(|_| random.next_u64() as u32);
            assert_eq!(Portable::high_bits(&numbers) >> 7 & 1, numbers[7] >> 31);
            assert_eq!(run(HighBits(&numbers)), Portable::high_bits(&numbers), "{numbers:?}");
        }
    }

    /// A count and the two searches.
    type Found = (u32, u32, u32);

    fn all<C: Count>(keys: &[AtomicU16; 32], from: u32, wanted: u16) -> Found {
        let low = keys.first_chunk().unwrap();
        let first = C::first_from(low, from, wanted);
        (C::up_to_16(low, wanted), first.min(16), C::first_of_30(keys, wanted).min(30))
    }

    impl Kernel for Compare<'_> {
        type Output = Found;
        #[inline(always)]
        fn run<C: Count>(self) -> Found {
            let Self(keys, from, wanted) = self;
            let low = keys.first_chunk().unwrap();
            let first = C::first_from(low, from, wanted);
            (C::up_to_16(low, wanted), first.min(16), C::first_of_30(keys, wanted).min(30))
        }
    }

    #[test]
    fn vector_counts_and_searches_equal_the_portable_ones() {
        let mut random = Random::new(16);
        for _ in 0..10_000 {
            let shift = random.below(16);
            let keys = std::array::from_fn(|_| AtomicU16::new((random.next_u64() as u16) >> shift));
            let wanted = match random.below(3) {
                0 => keys[random.below(32) as usize].load(Relaxed),
                _ => (random.next_u64() as u16) >> shift,
            };
            for from in 0..16 {
                let portable = all::<Portable>(&keys, from, wanted);
                let got = run(Compare(&keys, from, wanted));
                assert_eq!(got, portable, "{wanted} from {from} on in {keys:?}");
                #[cfg(all(target_arch = "x86_64", not(miri)))]
                if is_x86_feature_detected!("avx2") {
                    assert_eq!(all::<Avx2>(&keys, from, wanted), portable, "{wanted} in {keys:?}");
                }
            }
        }
    }
}
