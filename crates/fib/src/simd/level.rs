//! The vector units of this processor, and code compiled for them.
//!
//! A [`Kernel`] is safe, portable code. [`run`] calls its copy for the best units at hand: the
//! compiler vectorises each copy by itself, and population counts and shifts become single
//! instructions.
#![allow(unsafe_code)]

use super::count::{Count, Portable};
use crate::nexthop::NexthopId;

/// Vector units of a processor, each including those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vectors {
    /// What the compiler takes for granted: SSE2 on x86-64, NEON on 64-bit Arm.
    Portable,
    /// AVX2 with BMI1, BMI2, LZCNT and POPCNT.
    Avx2,
    /// AVX-512 F, BW, DQ and VL.
    Avx512,
}

impl Vectors {
    /// Those that this processor has.
    pub fn of_this_processor() -> Self {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        return x86::detect();
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        Self::Portable
    }

    /// Those that lookups of this process use.
    pub fn used() -> Self {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        return x86::level().unwrap_or_else(Self::of_this_processor);
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        Self::Portable
    }

    /// Lookups of this process use no better ones than these from now on, for comparisons: answers are the
    /// same with all. Returns those that they use.
    pub fn limit(most: Self) -> Self {
        let used = most.min(Self::of_this_processor());
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        x86::know(used);
        used
    }
}

/// Work that gains from vector units. `run` must be `#[inline(always)]`, or it is compiled without
/// them.
pub(crate) trait Kernel {
    /// What comes of it.
    type Output;

    /// Does the work; `C` counts with the instructions at hand.
    fn run<C: Count>(self) -> Self::Output;
}

/// Runs a kernel with the best units of this processor: for many addresses, where the kernel is too large
/// for registers.
#[inline(always)]
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    match x86::level().unwrap_or_else(x86::find_out) {
        // SAFETY: `level` knows of all features that `with_avx512` is compiled for.
        Vectors::Avx512 => return unsafe { x86::with_avx512(kernel) },
        // SAFETY: `level` knows of all features that `with_avx2` is compiled for.
        Vectors::Avx2 => return unsafe { x86::with_avx2(kernel) },
        Vectors::Portable => {}
    }
    kernel.run::<Portable>()
}

/// A table that answers for many addresses. `batch` must be `#[inline(always)]`, as [`Kernel::run`].
pub(crate) trait Batched<A> {
    /// Writes the answers; of slices that differ in length, the shorter one counts.
    fn batch<C: Count>(self, addrs: &[A], answers: &mut [NexthopId]);
}

/// [`run`] for a table: what it is given goes in registers, where a kernel of as much is copied to memory and
/// read from there.
///
/// Each way is a call of its own, and the last thing that is done: nothing is saved for it. With one of them
/// in place a burst of 32 took 2 ns more.
#[inline(always)]
pub(crate) fn run_batch<A, T: Batched<A>>(table: T, addrs: &[A], answers: &mut [NexthopId]) {
    const { assert!(size_of::<T>() <= 16, "all of it fits registers") };
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    match x86::level() {
        // SAFETY: `level` knows of all features that `batch_avx512` is compiled for.
        Some(Vectors::Avx512) => unsafe { x86::batch_avx512(table, addrs, answers) },
        // SAFETY: `level` knows of all features that `batch_avx2` is compiled for.
        Some(Vectors::Avx2) => unsafe { x86::batch_avx2(table, addrs, answers) },
        Some(Vectors::Portable) => batch_portable(table, addrs, answers),
        None => x86::find_out_and_batch(table, addrs, answers),
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    table.batch::<Portable>(addrs, answers);
}

/// Runs a part of a batch that is seldom needed, as a call of its own: so that the rest, which is, saves no
/// registers for it.
#[inline(always)]
pub(crate) fn aside<C: Count, K: Kernel>(kernel: K) -> K::Output {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if C::HAS_AVX512 {
        // SAFETY: types that claim AVX-512 are only chosen on processors with all that it is compiled for.
        return unsafe { x86::aside_avx512(kernel) };
    }
    kernel.run::<C>()
}

/// The same for one address. Each way is a call of its own, so that whoever ends in one saves no registers
/// for it: a lookup took a third longer with them.
///
/// Note: a kernel that does not fit registers is copied for such a call, and the copy waits for what was just
/// stored: 6 to 15 ns for a batch.
#[inline(always)]
pub(crate) fn run_one<K: Kernel>(kernel: K) -> K::Output {
    const { assert!(size_of::<K>() <= 32, "it fits registers") };
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    match x86::level() {
        // SAFETY: `level` knows of all features that `with_avx512` is compiled for.
        Some(Vectors::Avx512) => unsafe { x86::with_avx512(kernel) },
        // SAFETY: `level` knows of all features that `with_avx2` is compiled for.
        Some(Vectors::Avx2) => unsafe { x86::with_avx2(kernel) },
        Some(Vectors::Portable) => portable(kernel),
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
#[inline(never)]
fn batch_portable<A, T: Batched<A>>(table: T, addrs: &[A], answers: &mut [NexthopId]) {
    table.batch::<Portable>(addrs, answers);
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::sync::atomic::AtomicU8;
    use std::sync::atomic::Ordering::Relaxed;

    use super::{Batched, Kernel, NexthopId, Vectors};
    use crate::simd::count::{Avx2, Avx512};

    /// What the processor has, once that is known: one load and a comparison, since single lookups ask
    /// each time.
    #[inline(always)]
    pub(crate) fn level() -> Option<Vectors> {
        match KNOWN.load(Relaxed) {
            AVX512 => Some(Vectors::Avx512),
            AVX2 => Some(Vectors::Avx2),
            NONE => Some(Vectors::Portable),
            _ => None,
        }
    }

    pub(super) fn know(level: Vectors) {
        let number = match level {
            Vectors::Portable => NONE,
            Vectors::Avx2 => AVX2,
            Vectors::Avx512 => AVX512,
        };
        KNOWN.store(number, Relaxed);
    }

    /// The answer of the first call; 0 before.
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    const NONE: u8 = 1;
    const AVX2: u8 = 2;
    const AVX512: u8 = 3;

    #[cold]
    #[inline(never)]
    pub(super) fn find_out_and_batch<A, T: Batched<A>>(
        table: T,
        addrs: &[A],
        answers: &mut [NexthopId],
    ) {
        find_out();
        super::run_batch(table, addrs, answers);
    }

    #[cold]
    pub(super) fn find_out() -> Vectors {
        let level = detect();
        know(level);
        level
    }

    #[cold]
    #[inline(never)]
    pub(super) fn find_out_and_run<K: Kernel>(kernel: K) -> K::Output {
        match find_out() {
            // SAFETY: `detect` has found all features that these are compiled for.
            Vectors::Avx512 => unsafe { with_avx512(kernel) },
            // SAFETY: as above.
            Vectors::Avx2 => unsafe { with_avx2(kernel) },
            Vectors::Portable => super::portable(kernel),
        }
    }

    pub(super) fn detect() -> Vectors {
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
            (true, true) => Vectors::Avx512,
            (true, false) => Vectors::Avx2,
            _ => Vectors::Portable,
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

    /// # Safety
    /// As [`with_avx512`].
    #[inline(never)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) unsafe fn aside_avx512<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx512>()
    }

    /// # Safety
    /// As [`with_avx512`].
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) unsafe fn batch_avx512<A, T: Batched<A>>(
        table: T,
        addrs: &[A],
        answers: &mut [NexthopId],
    ) {
        table.batch::<Avx512>(addrs, answers);
    }

    /// # Safety
    /// As [`with_avx2`].
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) unsafe fn batch_avx2<A, T: Batched<A>>(
        table: T,
        addrs: &[A],
        answers: &mut [NexthopId],
    ) {
        table.batch::<Avx2>(addrs, answers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algo::Algorithm;
    use crate::{Family, Inet, Inet6, NexthopId, Prefix, Random, Registry, Rib};

    /// Of lookups one by one, and in batches of all lengths of remainders without and with a default.
    fn answers<F: Family>(
        algorithm: &dyn Algorithm<F>,
        rib: &Rib<F>,
        addrs: &[F::Addr],
    ) -> Vec<u32> {
        let module = algorithm.build(&rib.dump()).expect("a small table");
        let lookup = module.lookup();
        let mut all: Vec<_> = addrs.iter().map(|addr| lookup.lookup(*addr).0).collect();
        for length in [1, 15, 16, 33, 64, 200, addrs.len()] {
            let mut answers = vec![NexthopId::NONE; length];
            lookup.lookup_batch(&addrs[..length], &mut answers);
            all.extend(answers.iter().map(|answer| answer.0));
            lookup.lookup_batch_or(&addrs[..length], &mut answers, DEFAULT);
            all.extend(answers.iter().map(|&answer| match answer {
                NexthopId::NONE => u32::MAX,
                DEFAULT => 0,
                answer => answer.0,
            }));
        }
        all
    }

    /// Of a default route, higher than narrow cells hold.
    const DEFAULT: NexthopId = NexthopId(1_000_001);

    fn same_with_all<F: Family>(registry: Registry<F>) {
        let mut random = Random::new(47);
        for routes in [5, 60, 3000] {
            let mut rib = Rib::<F>::new();
            for _ in 0..routes {
                let len = F::BITS / 32 * (4 + random.below(29) as u8);
                let at = Prefix::covering(random.addr::<F>() >> 3, len);
                rib.set(at, NexthopId(1 + random.below(300) as u32));
            }
            let known = rib.dump();
            let near = |i: usize| known.routes()[i % known.len()].0.last_addr();
            let addrs: Vec<F::Addr> =
                (0..500).map(|i| if i % 3 == 0 { random.addr::<F>() } else { near(i) }).collect();
            let wanted: Vec<u32> = addrs
                .iter()
                .map(|addr| rib.longest_match(*addr).map_or(0, |route| route.1.0))
                .collect();
            for algorithm in registry.all() {
                if algorithm.limits().prefixes < rib.len() {
                    continue;
                }
                for most in [Vectors::Portable, Vectors::Avx2, Vectors::Avx512] {
                    let used = Vectors::limit(most);
                    let found = answers(algorithm, &rib, &addrs);
                    assert_eq!(found[..500], wanted, "{} of {routes}, {used:?}", algorithm.name());
                    let mut rest = &found[500..];
                    let lengths = [1, 15, 16, 33, 64, 200, 500];
                    for length in lengths.into_iter().flat_map(|length| [length; 2]) {
                        let (batch, after) = rest.split_at(length);
                        assert_eq!(batch, &wanted[..length], "{}, {used:?}", algorithm.name());
                        rest = after;
                    }
                }
            }
        }
    }

    /// Other tests of this process may meet the limits; they must hold with all of them.
    #[test]
    fn answers_are_the_same_with_all_vector_units() {
        let best = Vectors::of_this_processor();
        for missing in [Vectors::Avx2, Vectors::Avx512].into_iter().filter(|one| *one > best) {
            eprintln!("SKIPPED lookups with {missing:?}: this processor has {best:?}");
        }
        same_with_all(Registry::<Inet>::standard());
        same_with_all(Registry::<Inet6>::standard());
        assert_eq!(Vectors::limit(Vectors::Avx512), best);
    }
}
