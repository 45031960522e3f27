//! The instruction itself: FreeBSD takes the number in rax and arguments as Linux does, and says
//! by the carry flag whether rax is an error.

use core::arch::asm;

use super::errno::{Answered, Errno};

/// Numbers of system calls (sys/kern/syscalls.master).
pub mod number {
    pub const EXIT: usize = 1;
    pub const FORK: usize = 2;
    pub const READ: usize = 3;
    pub const WRITE: usize = 4;
    pub const OPEN: usize = 5;
    pub const CLOSE: usize = 6;
    pub const WAIT4: usize = 7;
    pub const CHDIR: usize = 12;
    pub const GETPID: usize = 20;
    pub const IOCTL: usize = 54;
    pub const REBOOT: usize = 55;
    pub const EXECVE: usize = 59;
    pub const CHROOT: usize = 61;
    pub const MUNMAP: usize = 73;
    pub const DUP2: usize = 90;
    pub const SOCKET: usize = 97;
    pub const MKFIFO: usize = 132;
    pub const SHUTDOWN: usize = 134;
    pub const MKDIR: usize = 136;
    pub const SETSID: usize = 147;
    pub const RTPRIO: usize = 166;
    pub const SCHED_YIELD: usize = 331;
    pub const NMOUNT: usize = 378;
    pub const KENV: usize = 390;
    pub const MMAP: usize = 477;
}

/// Asks the kernel. Arguments that are addresses point into memory that the caller holds.
pub fn call(number: usize, arguments: [usize; 6]) -> Answered<usize> {
    let (result, failed): (usize, u8);
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: every caller passes addresses of values that live until the call returns, with the
    // lengths that belong to them; the kernel changes no other memory. Registers that the kernel
    // may change are named.
    unsafe {
        asm!(
            "syscall",
            "setc {failed}",
            failed = out(reg_byte) failed,
            inlateout("rax") number => result,
            in("rdi") a,
            in("rsi") b,
            inlateout("rdx") c => _,
            inlateout("r10") d => _,
            inlateout("r8") e => _,
            inlateout("r9") f => _,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    if failed == 0 { Ok(result) } else { Err(Errno(result as u32)) }
}

/// The child gets 0: FreeBSD says by rdx as well which one it is.
pub fn fork() -> Answered<usize> {
    let (result, is_child, failed): (usize, usize, u8);
    // SAFETY: the child has a copy of all memory; nothing is shared.
    unsafe {
        asm!(
            "syscall",
            "setc {failed}",
            failed = out(reg_byte) failed,
            inlateout("rax") number::FORK => result,
            lateout("rdx") is_child,
            lateout("rcx") _,
            lateout("r11") _,
            lateout("r8") _,
            lateout("r9") _,
            lateout("r10") _,
        );
    }
    match (failed, is_child) {
        (0, 1) => Ok(0),
        (0, _) => Ok(result),
        _ => Err(Errno(result as u32)),
    }
}

/// Maps the memory of a device, whose open file has this number, or fresh memory.
pub fn map(device: Option<usize>, bytes: usize) -> Answered<&'static mut [u8]> {
    const READ_AND_WRITE: usize = 3;
    const SHARED: usize = 1;
    const PRIVATE_FRESH: usize = 0x1002;
    let (how, file) = device.map_or((PRIVATE_FRESH, usize::MAX), |file| (SHARED, file));
    let address = call(number::MMAP, [0, bytes, READ_AND_WRITE, how, file, 0])?;
    // SAFETY: the kernel has just mapped so many bytes there, nobody else knows of them, and they
    // stay until the process ends.
    Ok(unsafe { core::slice::from_raw_parts_mut(address as *mut u8, bytes) })
}

/// Gives memory back that was mapped; nobody else has it.
pub fn unmap(memory: &'static mut [u8]) {
    let _ = call(number::MUNMAP, [memory.as_mut_ptr() as usize, memory.len(), 0, 0, 0, 0]);
}

pub fn time_stamp() -> u64 {
    // SAFETY: reads a counter that every x86-64 processor has.
    unsafe { core::arch::x86_64::_rdtsc() }
}
