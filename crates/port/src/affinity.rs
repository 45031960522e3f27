//! Binding threads to cores, and how much of a core a thread had.

use std::sync::OnceLock;
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

/// What the first thread that asked, or was bound, might use before.
static AT_FIRST: OnceLock<Vec<usize>> = OnceLock::new();

/// The cores that this process may use, ascending; empty when the system does not say. A thread that
/// was bound to one of them ([`pin_current_thread`]) has not lost the others to the process.
pub fn allowed_cores() -> Vec<usize> {
    AT_FIRST.get_or_init(|| sched::allowed().unwrap_or_default()).clone()
}

/// A core for `who` beside the one that the tester has; none when the system does not say.
///
/// # Errors
/// There is only that one.
pub fn beside(tester: Option<usize>, who: &'static str) -> Result<Option<usize>, PortError> {
    let cores = allowed_cores();
    match cores.iter().find(|core| Some(**core) != tester) {
        None if !cores.is_empty() => Err(PortError::OneCore { who }),
        other => Ok(other.copied()),
    }
}

/// Binds the calling thread to one core.
///
/// # Errors
/// The core does not exist or is not allowed, or the system has no such call.
pub fn pin_current_thread(core: usize) -> Result<(), PortError> {
    allowed_cores();
    sched::pin(core).map_err(|source| PortError::Affinity { core, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_thread_leaves_the_process_its_cores() {
        let before = allowed_cores();
        let Some(&core) = before.first() else { return };
        std::thread::spawn(move || {
            pin_current_thread(core).unwrap();
            assert_eq!(allowed_cores(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_core_beside_the_testers_is_another_or_an_error() {
        let cores = allowed_cores();
        let other = beside(cores.first().copied(), "the router");
        match cores.len() {
            1 => assert!(other.unwrap_err().to_string().contains("a second core")),
            _ => assert!(other.unwrap().is_none_or(|core| core != cores[0])),
        }
    }

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
