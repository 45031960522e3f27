//! How fast a processor computes, all through a trial.
//!
//! Two threads of one core share its units. The other one may belong to another virtual machine, or
//! to other work of this one; whenever it runs, all that runs here becomes slower by a fifth to a
//! half, for milliseconds or minutes, and no counter says so. So a fixed piece of arithmetic is timed
//! about once in a millisecond, on the device's processor: a *beat*. Beats of an idle core differ by
//! a few per cent; those of a shared one are longer by a fifth or more. The share of long beats in an
//! interval says whether it can be compared with others. That arithmetic knows nothing of the
//! device, so that leaving slow intervals out favours no variant.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fwdlab_port::affinity;
pub use fwdlab_port::beat::{Diary, beats};

use fwdlab_results::Interval;

/// A beat is slow when it takes more than this many times as long as the fastest ones.
const SLOW: f64 = 1.12;

/// One beat in so many is faster than what counts as fastest: a single lucky one says little.
const RANK: u64 = 50;

/// The beats of a campaign so far. It is kept from trial to trial, so that a trial on a shared core
/// is known as such.
#[derive(Clone, Debug, Default)]
pub struct Pulse {
    /// How many beats took so many ns.
    beats: BTreeMap<u32, u64>,
    count: u64,
    /// What the fastest took elsewhere.
    known_ns: Option<f64>,
}

impl Pulse {
    /// Before the first beat, when the fastest so far took that long in an earlier process: a process
    /// on a shared core is known as such from the start.
    pub fn knowing(known_ns: Option<f64>) -> Self {
        Self { known_ns, ..Self::default() }
    }

    /// Notes in `interval` what these beats of it say; nothing when there are none.
    pub fn note(&mut self, beats: &[u32], interval: &mut Interval) {
        interval.slow_share = self.slow_share(beats);
        if !beats.is_empty() {
            let ns: Vec<f64> = beats.iter().map(|ns| f64::from(*ns)).collect();
            interval.beat_ns = Some(fwdlab_stats::median(&ns));
        }
    }

    /// Share of slow ones among these beats, 0 to 1; nothing when there are none.
    fn slow_share(&mut self, beats: &[u32]) -> Option<f64> {
        for &ns in beats {
            *self.beats.entry(ns).or_default() += 1;
            self.count += 1;
        }
        let limit = self.fastest_ns()? * SLOW;
        let slow = beats.iter().filter(|&&ns| f64::from(ns) > limit).count();
        (!beats.is_empty()).then(|| slow as f64 / beats.len() as f64)
    }

    /// What the fastest beats took.
    fn fastest_ns(&self) -> Option<f64> {
        let mut before = 0;
        let own = self.beats.iter().find_map(|(ns, count)| {
            before += count;
            (before * RANK >= self.count).then_some(f64::from(*ns))
        });
        own.into_iter().chain(self.known_ns).reduce(f64::min)
    }
}

/// Share of `time` in which each of these cores was slower than the fastest of them can be, 0 to 1;
/// nothing for one that this thread may not use. One core after the other.
pub fn slow_shares(cores: &[usize], time: Duration) -> Vec<Option<f64>> {
    let watch = |core: usize| {
        affinity::pin_current_thread(core).ok()?;
        let (start, mut taken) = (Instant::now(), Vec::new());
        while start.elapsed() < time {
            taken.extend(beats(1));
            std::thread::sleep(Duration::from_millis(1));
        }
        Some(taken)
    };
    std::thread::scope(|scope| {
        let lists: Vec<Option<Vec<u32>>> = cores
            .iter()
            .map(|&core| scope.spawn(move || watch(core)).join().ok().flatten())
            .collect();
        let mut pulse = Pulse::default();
        pulse.slow_share(&lists.iter().flatten().flatten().copied().collect::<Vec<u32>>());
        lists.into_iter().map(|list| pulse.slow_share(&list?)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_beats_are_known_by_the_fastest_of_the_campaign() {
        let mut pulse = Pulse::default();
        assert_eq!(pulse.slow_share(&[]), None);
        assert_eq!(pulse.slow_share(&[1000, 1020, 1040, 1010]), Some(0.0));
        assert_eq!(pulse.slow_share(&[1010, 1300, 1400, 1020]), Some(0.5));
        // A whole interval on a shared core.
        assert_eq!(pulse.slow_share(&[1300; 40]), Some(1.0));
        assert_eq!(pulse.fastest_ns(), Some(1000.0));
        let mut later = Pulse::knowing(pulse.fastest_ns());
        assert_eq!(later.slow_share(&[1300; 40]), Some(1.0));
        // One lucky beat among hundreds changes nothing.
        pulse.slow_share(&[1010; 500]);
        assert_eq!(pulse.slow_share(&[700, 1015]), Some(0.0));
    }

    #[test]
    fn every_core_is_watched() {
        let cores = affinity::allowed_cores();
        let shares = slow_shares(&cores, Duration::from_millis(10));
        assert_eq!(shares.len(), cores.len());
        assert!(shares.iter().all(|share| share.is_some_and(|s| (0.0..=1.0).contains(&s))));
        assert_eq!(slow_shares(&[usize::MAX], Duration::from_millis(1)), [None]);
    }
}
