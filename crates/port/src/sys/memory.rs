//! One private mapping of zeroed memory, in huge pages where the system has them.

use std::ptr::NonNull;

use crate::error::PortError;

/// Mappings are aligned to the huge page size of x86-64 and of most arm64 kernels.
const HUGE_PAGE: usize = 2 << 20;

/// Owned, zero-filled, page-aligned memory that never moves.
pub(crate) struct Memory {
    base: NonNull<u8>,
    mapped: NonNull<u8>,
    mapped_len: usize,
    len: usize,
}

// SAFETY: `Memory` owns its mapping; the pointers are not shared with anything else.
unsafe impl Send for Memory {}
// SAFETY: a shared `Memory` only hands out its address and length.
unsafe impl Sync for Memory {}

impl Memory {
    /// Maps `len` bytes and touches every page, so that no page fault falls into a measurement.
    pub(crate) fn new(len: usize) -> Result<Self, PortError> {
        let failed = |source| PortError::Memory { bytes: len, source };
        let rounded = len.max(1).next_multiple_of(HUGE_PAGE);
        let mapped_len = rounded + HUGE_PAGE;
        // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no
        // memory that exists already.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped_len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(failed(std::io::Error::last_os_error()));
        }
        let Some(mapped) = NonNull::new(address.cast::<u8>()) else {
            return Err(failed(std::io::Error::other("the kernel mapped address 0")));
        };
        let skip = mapped.as_ptr().align_offset(HUGE_PAGE);
        // SAFETY: `skip < HUGE_PAGE`, so base lies inside the mapping with `rounded` bytes after it.
        let base = unsafe { mapped.add(skip) };
        let memory = Self { base, mapped, mapped_len, len };
        memory.populate(rounded);
        Ok(memory)
    }

    fn populate(&self, rounded: usize) {
        // SAFETY: the range lies inside our mapping. A refusal (no huge pages) is harmless.
        #[cfg(target_os = "linux")]
        unsafe {
            libc::madvise(self.base.as_ptr().cast(), rounded, libc::MADV_HUGEPAGE);
        }
        for offset in (0..rounded).step_by(4096) {
            // SAFETY: offset < rounded, inside the mapping; nobody else has its address yet.
            unsafe { self.base.add(offset).write_volatile(0) };
        }
    }

    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `new` made; the pool frees it only when all frames
        // are home, so no pointer into it is left.
        unsafe { libc::munmap(self.mapped.as_ptr().cast(), self.mapped_len) };
    }
}
