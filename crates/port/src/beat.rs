//! How fast a core computes now: a fixed piece of arithmetic, timed.
//!
//! Two threads of one core share its units; when the other one works, for whomever, all that runs
//! here becomes slower by a fifth to a half, and no counter says so. Arithmetic that keeps several
//! units busy takes longer then by as much: a *beat*.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// So many beats, one after the other, on the processor of this thread; each takes about 1 us.
pub fn beats(count: usize) -> Vec<u32> {
    // The first ones find their code out of the caches, as the work before has left them.
    (0..count + 2).map(|_| beat()).skip(2).collect()
}

/// What a beat takes now on the processor of this thread, in ns: the median of five.
pub fn now() -> f64 {
    let mut ns = beats(5);
    ns.sort_unstable();
    f64::from(ns[2])
}

/// The latest beats that [`Diary`] keeps; more than an interval holds.
const KEPT: usize = 512;

/// Beats that the measured thread takes between two pieces of its work and another thread reads.
/// Neither ever waits for the other.
#[derive(Debug)]
pub struct Diary {
    count: AtomicU64,
    ns: [AtomicU32; KEPT],
}

impl Default for Diary {
    fn default() -> Self {
        Self { count: AtomicU64::new(0), ns: [const { AtomicU32::new(0) }; KEPT] }
    }
}

impl Diary {
    /// Takes a beat, about 3 us in all, on the thread whose processor is of interest. One thread
    /// alone writes.
    pub fn write(&self) {
        let count = self.count.load(Ordering::Relaxed);
        for ns in beats(1) {
            self.ns[count as usize % KEPT].store(ns, Ordering::Relaxed);
        }
        self.count.store(count + 1, Ordering::Release);
    }

    /// The beats since `read`, as far as they are kept; `read` becomes their end.
    pub fn read_from(&self, read: &mut u64) -> Vec<u32> {
        let count = self.count.load(Ordering::Acquire);
        let first = (*read).max(count.saturating_sub(KEPT as u64));
        *read = count;
        (first..count).map(|at| self.ns[at as usize % KEPT].load(Ordering::Relaxed)).collect()
    }
}

/// Four chains of arithmetic that do not wait for each other, so that all units of a core are busy.
fn beat() -> u32 {
    let start = Instant::now();
    let mut chains = black_box([1_u64, 2, 3, 4]);
    for _ in 0..512 {
        for chain in &mut chains {
            *chain ^= *chain << 13;
            *chain ^= *chain >> 7;
        }
    }
    black_box(chains);
    u32::try_from(start.elapsed().as_nanos()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diary_is_read_once_and_keeps_the_latest() {
        let (diary, mut read) = (Diary::default(), 0);
        assert_eq!(diary.read_from(&mut read), [0_u32; 0]);
        for _ in 0..3 {
            diary.write();
        }
        let first = diary.read_from(&mut read);
        assert!(first.len() == 3 && first.iter().all(|ns| *ns > 0), "{first:?}");
        assert_eq!(diary.read_from(&mut read), [0_u32; 0]);
        for _ in 0..KEPT + 5 {
            diary.write();
        }
        assert_eq!(diary.read_from(&mut read).len(), KEPT);
    }
}
