//! The processor's time stamp counter.

/// Whether the counter runs at a constant rate in all power states (CPUID 8000_0007h, EDX bit 8).
#[cfg(target_arch = "x86_64")]
pub(crate) fn is_invariant() -> bool {
    use std::arch::x86_64::__cpuid;
    __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0
}

/// Reads the counter. Not ordered with the instructions around it: over a batch of frames the
/// few cycles do not matter, and a fence in each batch would.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn read() -> u64 {
    // SAFETY: every x86-64 processor has RDTSC; `Clock` uses it only when it is invariant.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn is_invariant() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn read() -> u64 {
    0
}
