//! Binding threads to cores, and how much of a core a thread had.

use std::time::{Duration, Instant};

use crate::error::PortError;
use crate::sys::sched;

/// Watches how much of its core's time the thread that made it gets: others may run in between.
#[derive(Clone, Copy, Debug)]
pub struct CoreShare {
    began: Instant,
    ran: Option<Duration>,
}

impl CoreShare {
    /// From now on, for the calling thread.
    pub fn begin() -> Self {
        Self { began: Instant::now(), ran: sched::thread_time() }
    }

    /// The share of the time since then in which the calling thread ran, 0 to 1; it must be the
    /// thread that began. Nothing where the system does not say.
    pub fn so_far(&self) -> Option<f64> {
        let ran = sched::thread_time()?.checked_sub(self.ran?)?;
        let passed = self.began.elapsed();
        (!passed.is_zero()).then(|| (ran.as_secs_f64() / passed.as_secs_f64()).min(1.0))
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_sleeps_has_a_small_share_of_its_core() {
        let share = CoreShare::begin();
        std::thread::sleep(Duration::from_millis(30));
        assert!(share.so_far().is_none_or(|share| share < 0.5), "{:?}", share.so_far());
        let share = CoreShare::begin();
        while share.began.elapsed() < Duration::from_millis(2) {
            std::hint::spin_loop();
        }
        assert!(share.so_far().is_none_or(|share| share > 0.0), "{:?}", share.so_far());
    }
}
