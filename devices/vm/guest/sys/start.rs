//! How the program begins, and the functions that the compiler expects.

use core::arch::{asm, global_asm};

use super::arguments::Arguments;

// FreeBSD knows its programs by this note; the number is a release whose system calls are used
// here. The kernel puts the address of the arguments into rdi.
global_asm!(
    ".pushsection .note.tag, \"a\", @note",
    ".balign 4",
    ".long 8, 4, 1",
    ".asciz \"FreeBSD\"",
    ".long 1400097",
    ".popsection",
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "and rsp, -16",
    "call {begin}",
    "ud2",
    begin = sym begin,
);

extern "C" fn begin(stack: *const usize) -> ! {
    super::exit(crate::main(&Arguments::at(stack)))
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    let _ = super::ERRORS.write(b"fwdlab: the guest's program panicked\n");
    super::exit(99)
}

/// Named by the core library, which was built for programs that unwind; this one ends instead.
#[unsafe(no_mangle)]
pub extern "C" fn rust_eh_personality() {}

// Without a C library, the compiler's own calls end here. In assembly or by volatile reads, because
// a plain loop could be recognised and become a call of itself.

/// Copies; both places hold `count` bytes.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: the caller vouches for both places.
    unsafe {
        asm!(
            "mov {rest}, rcx", "shr rcx, 3", "rep movsq", "mov rcx, {rest}", "and rcx, 7", "rep movsb",
            rest = out(reg) _, inout("rdi") to => _, inout("rsi") from => _, inout("rcx") count => _,
            options(nostack)
        );
    }
    to
}

/// Copies between places that may overlap.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    let is_ahead = (to as usize).wrapping_sub(from as usize) >= count;
    // SAFETY: the caller vouches for both places; from behind, no byte is read after it was written.
    unsafe {
        if is_ahead {
            return memcpy(to, from, count);
        }
        asm!(
            "std", "rep movsb", "cld",
            inout("rdi") to.wrapping_add(count).wrapping_sub(1) => _,
            inout("rsi") from.wrapping_add(count).wrapping_sub(1) => _,
            inout("rcx") count => _, options(nostack)
        );
    }
    to
}

/// Fills.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memset(to: *mut u8, byte: i32, count: usize) -> *mut u8 {
    // SAFETY: the caller vouches for the place.
    unsafe {
        asm!(
            "rep stosb",
            inout("rdi") to => _, inout("rcx") count => _, in("al") byte as u8, options(nostack)
        );
    }
    to
}

/// Compares: below, 0 or above 0.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, count: usize) -> i32 {
    let mut at = 0;
    while at < count {
        // SAFETY: the caller vouches for both places.
        let (x, y) = unsafe { (a.add(at).read_volatile(), b.add(at).read_volatile()) };
        if x != y {
            return i32::from(x) - i32::from(y);
        }
        at += 1;
    }
    0
}

/// Compares: 0 or not.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, count: usize) -> i32 {
    // SAFETY: as in `memcmp`.
    unsafe { memcmp(a, b, count) }
}

/// How long a text is that ends with a zero byte.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let mut length = 0;
    // SAFETY: the caller vouches for the zero byte.
    while unsafe { text.add(length).read_volatile() } != 0 {
        length += 1;
    }
    length
}
