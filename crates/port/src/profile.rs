//! Where a processor spends its time, by samples of the kernel's call chains. Needs root.
//!
//! One clock that ticks at a fixed period keeps step with work that repeats itself: on a processor
//! that counts instructions, it met the same few functions of a loop again and again, and shares
//! were wrong by half. So several clocks of different periods take samples in turn, and what one
//! costs moves the others.

use std::io;

use crate::sys::perf::Sampler;
pub use crate::sys::perf::Samples;

/// Clocks that sample together.
const CLOCKS: u64 = 16;

/// The golden ratio's fraction in units of 2^-32: its multiples spread evenly over an interval,
/// however many there are.
const GOLDEN: u64 = 2_654_435_769;

/// Samples one processor while it lives.
#[derive(Debug)]
pub struct Profiler {
    samplers: Vec<Sampler>,
}

impl Profiler {
    /// Starts to sample `processor` every `period_ns` nanoseconds on average.
    ///
    /// # Errors
    /// The kernel has no such events, or the process may not use them (perf_event_paranoid).
    pub fn start(processor: i32, period_ns: u64) -> io::Result<Self> {
        let samplers = periods(period_ns).map(|period| Sampler::start(processor, period));
        samplers.collect::<io::Result<_>>().map(|samplers| Self { samplers })
    }

    /// Ends sampling and returns what was noted, in no order.
    ///
    /// # Errors
    /// The kernel does not let go.
    pub fn stop(self) -> io::Result<Samples> {
        let mut all = Samples::default();
        for sampler in self.samplers {
            let samples = sampler.stop()?;
            all.chains.extend(samples.chains);
            all.lost += samples.lost;
        }
        Ok(all)
    }
}

/// The clocks' periods: [`CLOCKS`] times `mean_ns`, less up to an eighth or more up to an eighth.
fn periods(mean_ns: u64) -> impl Iterator<Item = u64> {
    (0..CLOCKS).map(move |clock| {
        let fraction = clock * GOLDEN % (1 << 32);
        let spread = mean_ns * CLOCKS / 4;
        mean_ns * CLOCKS - spread / 2 + (spread as f64 * fraction as f64 / 4_294_967_296.0) as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clocks_differ_and_sample_together_as_often_as_was_asked() {
        let all: Vec<u64> = periods(500_250).collect();
        let mut distinct = all.clone();
        distinct.sort_unstable();
        assert!(distinct.windows(2).all(|pair| pair[1] - pair[0] > 10_000), "{distinct:?}");
        let per_second: f64 = all.iter().map(|&period| 1e9 / period as f64).sum();
        assert!((per_second / 1999.0 - 1.0).abs() < 0.02, "{per_second} samples a second");
    }
}
