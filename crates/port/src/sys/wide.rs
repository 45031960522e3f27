//! [`wide`]: runs code compiled for the vector instructions that this processor has.

/// Runs `work` compiled for AVX-512 or AVX2 where the processor has them, else as the rest of
/// the program is compiled. The result is the same in any case.
///
/// It reaches only what is inlined into `work`: mark the functions that it calls
/// `#[inline(always)]`. The choice costs a load and a branch, so call it once a batch.
///
/// ```
/// let sum = fwdlab_port::wide(|| (0..1000u64).sum::<u64>());
/// assert_eq!(sum, 499_500);
/// ```
#[inline]
pub fn wide<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
        if has_avx2 && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl")
        {
            // SAFETY: the processor has these features (avx512bw implies avx512f).
            return unsafe { avx512(work) };
        }
        if has_avx2 {
            // SAFETY: the processor has these features.
            return unsafe { avx2(work) };
        }
    }
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,bmi2")]
fn avx512<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2")]
fn avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}
