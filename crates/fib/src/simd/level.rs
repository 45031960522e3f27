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
///
/// Each way is a call of its own, so that whoever ends in one saves no registers for it: a single lookup
/// took a third longer with them.
#[inline(always)]
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    match x86::level() {
        // SAFETY: `level` knows of all features that `with_avx512` is compiled for.
        Some(x86::Level::Avx512) => unsafe { x86::with_avx512(kernel) },
        // SAFETY: `level` knows of all features that `with_avx2` is compiled for.
        Some(x86::Level::Avx2) => unsafe { x86::with_avx2(kernel) },
        Some(x86::Level::None) => portable(kernel),
        None => x86::find_out_and_run(kernel),
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    kernel.run::<Portable>()
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(never)]
fn portable<K: Kernel>(kernel: K) -> K::Output {
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

    /// What the processor has, once that is known: one load and a comparison, since single lookups ask
    /// each time.
    #[inline(always)]
    pub(crate) fn level() -> Option<Level> {
        match KNOWN.load(Relaxed) {
            AVX512 => Some(Level::Avx512),
            AVX2 => Some(Level::Avx2),
            NONE => Some(Level::None),
            _ => None,
        }
    }

    /// The answer of the first call; 0 before.
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    const NONE: u8 = 1;
    const AVX2: u8 = 2;
    const AVX512: u8 = 3;

    #[cold]
    #[inline(never)]
    pub(super) fn find_out_and_run<K: Kernel>(kernel: K) -> K::Output {
        let level = detect();
        let number = match level {
            Level::None => NONE,
            Level::Avx2 => AVX2,
            Level::Avx512 => AVX512,
        };
        KNOWN.store(number, Relaxed);
        match level {
            // SAFETY: `detect` has found all features that these are compiled for.
            Level::Avx512 => unsafe { with_avx512(kernel) },
            // SAFETY: as above.
            Level::Avx2 => unsafe { with_avx2(kernel) },
            Level::None => super::portable(kernel),
        }
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
