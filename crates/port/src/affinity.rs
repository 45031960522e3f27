//! Binding threads to cores.

use crate::error::PortError;
use crate::sys::sched;

/// The cores that the calling thread may use, ascending; empty when the system does not say.
pub fn allowed_cores() -> Vec<usize> {
    sched::allowed().unwrap_or_default()
}

/// Binds the calling thread to one core.
///
/// # Errors
/// The core does not exist or is not allowed, or the system has no such call.
pub fn pin_current_thread(core: usize) -> Result<(), PortError> {
    sched::pin(core).map_err(|source| PortError::Affinity { core, source })
}
