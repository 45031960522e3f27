//! The I/O port of QEMU's device `pvpanic` (docs/specs/pvpanic.rst of QEMU).

use std::io;

/// Where the device is.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const PORT: u16 = 0x505;

/// The bit by which a guest says that it panicked.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const PANICKED: u8 = 1;

/// Says that this guest panicked.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) fn panicked() -> io::Result<()> {
    allow()?;
    // SAFETY: the processor lets this thread use the port, of a virtual machine whose first process this is;
    // what listens there changes nothing in memory.
    unsafe {
        std::arch::asm!("out dx, al", in("dx") PORT, in("al") PANICKED, options(nomem, nostack));
    }
    Ok(())
}

/// Which events the device says that it knows.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) fn events() -> io::Result<u8> {
    allow()?;
    let events: u8;
    // SAFETY: as above; reading has no effect.
    unsafe {
        std::arch::asm!("in al, dx", in("dx") PORT, out("al") events, options(nomem, nostack));
    }
    Ok(events)
}

/// Asks the kernel for the port, as the first process of a machine and no other.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn allow() -> io::Result<()> {
    if std::process::id() != 1 {
        let why = "only the first process of a virtual machine stops it";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    // SAFETY: it changes which ports this thread may use, and nothing in memory.
    match unsafe { libc::ioperm(PORT.into(), 1, 1) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) fn panicked() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) fn events() -> io::Result<u8> {
    Err(io::ErrorKind::Unsupported.into())
}
