//! Tells valgrind where counting begins.
//!
//! Building a table takes many times the instructions of looking up in it, and takes fifty times as long while each
//! is counted. So callgrind is started with `--instr-atstart=no` and asked to instrument from here on, by a
//! request of valgrind.h: rotations that leave everything as it was, before an exchange of a register with itself.
//! A processor does nothing by them; valgrind knows the pattern.
#![allow(unsafe_code)]

/// `VALGRIND_DO_CLIENT_REQUEST` with `CALLGRIND_START_INSTRUMENTATION`; nothing where this does not run under
/// callgrind, and on other processors than x86-64, whose patterns are not written here.
pub fn start_instrumentation() {
    #[cfg(target_arch = "x86_64")]
    {
        /// `VG_USERREQ__START_INSTRUMENTATION`: the fifth of the tool whose letters are C and T.
        const START: u64 = ((b'C' as u64) << 24 | (b'T' as u64) << 16) + 4;
        let request = [START, 0, 0, 0, 0, 0];
        // SAFETY: the rotations of rdi add up to 128 bits, so it is as before, and the exchange changes nothing;
        // the flags are said to be changed. Valgrind reads the six words of `request` and writes rdx.
        unsafe {
            std::arch::asm!(
                "rol rdi, 3",
                "rol rdi, 13",
                "rol rdi, 61",
                "rol rdi, 51",
                "xchg rbx, rbx",
                in("rax") request.as_ptr(),
                inout("rdx") 0_u64 => _,
                options(nostack),
            );
        }
    }
}
