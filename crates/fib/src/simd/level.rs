//! The vector units of this processor, and code compiled for them.
//!
//! A [`Kernel`] is safe, portable code. [`run`] calls its copy for the best units at hand: the
//! compiler vectorises each copy by itself, and population counts and shifts become single
//! instructions.
#![allow(unsafe_code)]

use super::count::{Count, Portable};

/// Work that gains from vector units. `run` must be `#[inline(always)]`, or it is compiled without
/// them.
pub(crate) trait Kernel {
    /// What comes of it.
    type Output;

    /// Does the work; `C` counts with the instructions at hand.
    fn run<C: Count>(self) -> Self::Output;
}

/// Runs a kernel with the best units of this processor.
#[inline(always)]
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    match x86::level() {
        // SAFETY: `level` has found all features that `with_avx512` is compiled for.
        x86::Level::Avx512 => return unsafe { x86::with_avx512(kernel) },
        // SAFETY: `level` has found all features that `with_avx2` is compiled for.
        x86::Level::Avx2 => return unsafe { x86::with_avx2(kernel) },
        x86::Level::None => {}
    }
    kernel.run::<Portable>()
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) mod x86 {
    use std::sync::atomic::AtomicU8;
    use std::sync::atomic::Ordering::Relaxed;

    use super::Kernel;
    use crate::simd::count::{Avx2, Avx512};

    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Level {
        None,
        Avx2,
        Avx512,
    }

    /// What the processor has: one load and a comparison, since single lookups ask each time.
    #[inline(always)]
    pub(crate) fn level() -> Level {
        match KNOWN.load(Relaxed) {
            AVX512 => Level::Avx512,
            AVX2 => Level::Avx2,
            NONE => Level::None,
            _ => find_out(),
        }
    }

    /// The answer of the first call; 0 before.
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    const NONE: u8 = 1;
    const AVX2: u8 = 2;
    const AVX512: u8 = 3;

    #[cold]
    fn find_out() -> Level {
        let level = detect();
        let number = match level {
            Level::None => NONE,
            Level::Avx2 => AVX2,
            Level::Avx512 => AVX512,
        };
        KNOWN.store(number, Relaxed);
        level
    }

    fn detect() -> Level {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        match (avx2, avx512) {
            (true, true) => Level::Avx512,
            (true, false) => Level::Avx2,
            _ => Level::None,
        }
    }

    /// # Safety
    /// The processor must have the features named here: see [`level`].
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) unsafe fn with_avx512<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx512>()
    }

    /// # Safety
    /// The processor must have the features named here: see [`level`].
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) unsafe fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx2>()
    }
}
