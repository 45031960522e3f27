//! Zeroed memory for lookup tables: on huge pages when it is large, shared between one writer and
//! many readers.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

/// From this size on, transparent huge pages are asked for: below, the table's pages fit the
/// second-level TLB anyway.
const HUGE_FROM_BYTES: usize = 1 << 20;
/// Huge pages of x86-64, and of AArch64 with 4 KiB pages.
const HUGE_PAGE_BYTES: usize = 2 << 20;
const LINE_BYTES: usize = 64;
const LINE_WORDS: usize = LINE_BYTES / 8;

/// Zeroed memory that all threads may read and write as atomic numbers of 16, 32 or 64 bits. Pages
/// are only backed by memory once they are written.
///
/// A word written through one view must be read through the same view: the order of the parts in
/// another view depends on the machine.
#[derive(Debug)]
pub(crate) struct Region {
    start: NonNull<u8>,
    words: usize,
    /// What to unmap, when the memory does not come from the allocator.
    mapped: Option<(*mut u8, usize)>,
}

// SAFETY: the memory is owned, and only ever accessed through atomics.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// At least `words` zeroed words of 64 bits, aligned to a cache line; `None` without memory.
    pub(crate) fn zeroed(words: usize) -> Option<Self> {
        let layout = layout(words)?;
        let words = layout.size() / 8;
        if layout.size() >= HUGE_FROM_BYTES
            && let Some((start, mapped)) = sys::map(layout.size())
        {
            return Some(Self { start, words, mapped: Some(mapped) });
        }
        // SAFETY: the layout is never of size 0.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { start, words, mapped: None })
    }

    /// As 64-bit numbers.
    #[inline(always)]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: the region holds `words` initialised words, aligned to 64 bytes, for as long as
        // `self` lives; atomics may be shared.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.words) }
    }

    /// As 32-bit numbers, two to a word.
    #[inline(always)]
    pub(crate) fn halves(&self) -> &[AtomicU32] {
        // SAFETY: as for `words`; the same bytes counted in smaller units.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.words * 2) }
    }

    /// As 16-bit numbers, four to a word.
    #[inline(always)]
    pub(crate) fn quarters(&self) -> &[AtomicU16] {
        // SAFETY: as for `words`; the same bytes counted in smaller units.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.words * 4) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        match self.mapped {
            // SAFETY: mapped by `map` with this start and length, unmapped only here.
            Some((start, len)) => unsafe { sys::unmap(start, len) },
            None => {
                let layout = layout(self.words).expect("invariant: it was allocated with it");
                // SAFETY: allocated with this layout: `layout` rounds a rounded size to itself.
                unsafe { dealloc(self.start.as_ptr(), layout) };
            }
        }
    }
}

/// Size and alignment for `words`, rounded up to whole cache lines; `None` for more than a machine
/// can address. Never less than was asked for: lookups do not check again.
fn layout(words: usize) -> Option<Layout> {
    let bytes = words.div_ceil(LINE_WORDS).max(1).checked_mul(LINE_BYTES)?;
    Layout::from_size_align(bytes, LINE_BYTES).ok()
}

/// Asks for huge pages for what a vector has room for: a walk through a large one waits for the pages of
/// its elements, too.
pub(crate) fn huge_pages<T>(memory: &mut Vec<T>) {
    let room = memory.spare_capacity_mut();
    if size_of_val(room) >= 2 * HUGE_PAGE_BYTES {
        sys::huge_pages(room);
    }
}

/// Large mappings: only the pages that are written cost memory, and those are huge pages.
#[cfg(all(target_os = "linux", not(miri)))]
mod sys {
    use std::ptr::{NonNull, null_mut};

    /// Maps `bytes` and asks for huge pages; returns the aligned start, and what to unmap.
    pub(super) fn map(bytes: usize) -> Option<(NonNull<u8>, (*mut u8, usize))> {
        let len = bytes.checked_add(super::HUGE_PAGE_BYTES)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh anonymous mapping touches no memory in use.
        let raw = unsafe { libc::mmap(null_mut(), len, protection, flags, -1, 0) };
        if raw == libc::MAP_FAILED {
            return None;
        }
        let raw = raw.cast::<u8>();
        let offset = raw.align_offset(super::HUGE_PAGE_BYTES);
        // SAFETY: the offset is below a huge page, by which the mapping is longer than `bytes`.
        let start = unsafe { raw.add(offset) };
        // SAFETY: the range lies in the mapping. Refusal is no error: small pages work too.
        unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
        Some((NonNull::new(start)?, (raw, len)))
    }

    pub(super) fn huge_pages<T>(room: &mut [std::mem::MaybeUninit<T>]) {
        let first = room.as_mut_ptr().cast::<u8>();
        let skipped = first.align_offset(super::HUGE_PAGE_BYTES);
        let bytes = size_of_val(room).saturating_sub(skipped) & !(super::HUGE_PAGE_BYTES - 1);
        // SAFETY: whole pages that lie in `room`; the advice changes nothing in them, and may be refused.
        unsafe { libc::madvise(first.wrapping_add(skipped).cast(), bytes, libc::MADV_HUGEPAGE) };
    }

    /// # Safety
    /// `start` and `len` must come from [`map`]; nothing may use the memory any more.
    pub(super) unsafe fn unmap(start: *mut u8, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { libc::munmap(start.cast(), len) };
    }
}

/// Elsewhere the allocator serves all sizes.
#[cfg(not(all(target_os = "linux", not(miri))))]
mod sys {
    use std::ptr::NonNull;

    pub(super) fn map(_bytes: usize) -> Option<(NonNull<u8>, (*mut u8, usize))> {
        None
    }

    pub(super) fn huge_pages<T>(_room: &mut [std::mem::MaybeUninit<T>]) {}

    /// # Safety
    /// Never called: [`map`] maps nothing here.
    pub(super) unsafe fn unmap(_start: *mut u8, _len: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn small_and_large_regions_are_zeroed_aligned_and_writable() {
        for words in [1, 8, 9, 1000, 1 << 18, (1 << 18) + 1] {
            let region = Region::zeroed(words).unwrap();
            assert!(region.words().len() >= words);
            assert_eq!(region.start.as_ptr() as usize % LINE_BYTES, 0);
            assert!(region.words().iter().all(|word| word.load(Relaxed) == 0));
            region.words()[words - 1].store(7, Relaxed);
            region.quarters()[0].store(9, Relaxed);
            assert_eq!(region.quarters()[0].load(Relaxed), 9);
            assert_eq!(region.halves().len(), 2 * region.words().len());
        }
    }

    #[test]
    fn a_region_is_never_smaller_than_was_asked_for() {
        for words in [1, 9, 1000, 1 << 18, isize::MAX as usize / 64, isize::MAX as usize / 8 - 7] {
            let bytes = layout(words).map(|layout| layout.size());
            assert!(bytes.is_some_and(|bytes| bytes >= words * 8), "{words} words");
        }
        for words in [isize::MAX as usize / 8 + 1, usize::MAX / 8, usize::MAX] {
            assert!(Region::zeroed(words).is_none(), "{words} words");
        }
    }
}
