//! A sampling profiler for one thread of this process: no root, no perf, no other thread
//! disturbed.
//!
//! A timer of the monotonic clock interrupts the thread and records its call stack. For a thread
//! that polls on a core of its own this is a profile of its time; kernel frames are not seen. The
//! timer has high resolution, so the sampling rate does not depend on the kernel's tick.
//!
//! ```
//! use fwdlab_port::sampler::Sampler;
//!
//! let sampler = Sampler::start(1999)?;
//! let mut sum = 0_u64;
//! for n in 0..20_000_000_u64 {
//!     sum = std::hint::black_box(sum.wrapping_mul(31) ^ n);
//! }
//! let samples = sampler.stop();
//! assert!(samples.total() > 0 && samples.lost == 0);
//! # Ok::<(), fwdlab_port::PortError>(())
//! ```

use std::collections::{BTreeMap, HashMap};

use crate::PortError;
use crate::sys::sampler::{Recorded, Recorder};

/// A running recording of the thread that started it. One at a time in a process.
pub struct Sampler(Recorder);

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Samples by stack, outermost function first; inlined functions are frames of their own
    /// where the program holds line tables.
    pub stacks: BTreeMap<Vec<String>, u64>,
    /// Samples for which there was no room.
    pub lost: u64,
}

impl Sampler {
    /// Starts to record the calling thread, `frequency_hz` times a second.
    ///
    /// # Errors
    /// Another recording runs in this process, or the system grants no timer.
    pub fn start(frequency_hz: u32) -> Result<Self, PortError> {
        Recorder::start(frequency_hz).map(Self).map_err(|source| PortError::Sampler { source })
    }

    /// Ends the recording and finds the names of the functions, which takes up to a second the
    /// first time.
    pub fn stop(self) -> Samples {
        named(self.0.stop())
    }
}

impl Samples {
    /// Samples in all stacks.
    pub fn total(&self) -> u64 {
        self.stacks.values().sum()
    }
}

/// Puts names to addresses.
fn named(recorded: Recorded) -> Samples {
    let mut names: HashMap<usize, Vec<String>> = HashMap::new();
    let mut samples = Samples { stacks: BTreeMap::new(), lost: recorded.lost };
    for stack in recorded.stacks {
        let mut frames = Vec::new();
        for (depth, &address) in stack.iter().enumerate() {
            // `resolve` looks one byte before a return address; the innermost is none.
            let address = if depth == 0 { address + 1 } else { address };
            let functions = names.entry(address).or_insert_with(|| functions_at(address));
            frames.extend(functions.iter().cloned());
        }
        frames.reverse();
        *samples.stacks.entry(frames).or_insert(0) += 1;
    }
    samples
}

/// The functions at an address, innermost first: one, and those it is inlined into.
fn functions_at(address: usize) -> Vec<String> {
    let mut functions = Vec::new();
    backtrace::resolve(address as *mut _, |symbol| {
        // `{:#}` leaves out the hash at the end.
        functions.push(symbol.name().map_or("[unknown]".to_owned(), |name| format!("{name:#}")));
    });
    if functions.is_empty() {
        functions.push("[unknown]".to_owned());
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn spin_for_the_sampler(rounds: u64) -> u64 {
        (0..rounds).fold(0, |sum: u64, n| std::hint::black_box(sum.wrapping_mul(31) ^ n))
    }

    /// One test, because there is one recording at a time in a process.
    #[test]
    fn samples_name_the_function_that_ran_and_only_one_recording_runs_at_a_time() {
        let sampler = Sampler::start(1999).unwrap();
        assert!(Sampler::start(1999).is_err());
        let begun = std::time::Instant::now();
        while begun.elapsed().as_millis() < 300 {
            spin_for_the_sampler(100_000);
        }
        let samples = sampler.stop();
        assert_eq!(samples.lost, 0);
        assert!(samples.total() > 30, "{} samples in 300 ms", samples.total());
        let of_spin: u64 = samples
            .stacks
            .iter()
            .filter(|(stack, _)| stack.iter().any(|f| f.contains("spin_for_the_sampler")))
            .map(|(_, n)| n)
            .sum();
        assert!(of_spin * 10 > samples.total() * 8, "{of_spin} of {}", samples.total());
        let again = Sampler::start(1999).unwrap();
        drop(again);
        assert!(Sampler::start(100).is_ok());
    }
}
