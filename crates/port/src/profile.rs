//! Where a processor spends its time, by samples of the kernel's call chains. Needs root.

use std::io;

use crate::sys::perf::Sampler;
pub use crate::sys::perf::Samples;

/// Samples one processor while it lives.
#[derive(Debug)]
pub struct Profiler {
    sampler: Sampler,
}

impl Profiler {
    /// Starts to sample `processor` every `period_ns` nanoseconds.
    ///
    /// # Errors
    /// The kernel has no such events, or the process may not use them (perf_event_paranoid).
    pub fn start(processor: i32, period_ns: u64) -> io::Result<Self> {
        Sampler::start(processor, period_ns).map(|sampler| Self { sampler })
    }

    /// Ends sampling and returns what was noted.
    ///
    /// # Errors
    /// The kernel does not let go.
    pub fn stop(self) -> io::Result<Samples> {
        self.sampler.stop()
    }
}
