//! Prefetch: a hint to fetch a cache line before it is needed.
#![allow(unsafe_code)]

/// Asks for the cache line of `slice[index]`; an index outside is ignored by the processor like
/// any prefetch of an unmapped address. Does nothing where there is no such instruction.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], index: usize) {
    let pointer = slice.as_ptr().wrapping_add(index);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch never faults and changes nothing that a program can see, whatever the
    // address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(pointer.cast());
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = pointer;
}
