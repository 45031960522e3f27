//! Time as a parameter.

use fwdlab_port::Clock;

/// Where the tester's time comes from; tests bring their own.
pub trait TimeSource {
    /// The present time in ticks, never going back.
    fn ticks(&mut self) -> u64;

    /// Length of a tick in ns.
    fn ns_per_tick(&self) -> f64;
}

impl TimeSource for Clock {
    #[inline(always)]
    fn ticks(&mut self) -> u64 {
        Clock::ticks(self)
    }

    fn ns_per_tick(&self) -> f64 {
        Clock::ns_per_tick(self)
    }
}
