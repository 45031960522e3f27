//! The virtual machine whose first process this is, under QEMU with its device `pvpanic`.
//!
//! A guest that says that it panicked is paused at that very instruction, where QEMU is told so
//! (`-action panic=pause`): whoever wants its state can take it then, and let it, or a copy of it, go on.

use std::io;

use crate::sys::panic_port;

/// Stops the machine here.
///
/// # Errors
/// This is not the first process of a machine, or the kernel does not give the port
/// (CONFIG_X86_IOPL_IOPERM).
pub fn stop() -> io::Result<()> {
    panic_port::panicked()
}

/// The number that the machine was given as the `events` of its device: a copy may be given another.
///
/// # Errors
/// As [`stop`].
pub fn number() -> io::Result<u8> {
    panic_port::events()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_process_than_the_first_stops_a_machine() {
        if std::process::id() == 1 {
            return;
        }
        assert!(stop().is_err() && number().is_err());
    }
}
