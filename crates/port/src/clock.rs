//! A clock cheap enough to be read for every batch.
//!
//! On x86-64 with an invariant time stamp counter a reading costs some 10 ns and no system call;
//! elsewhere it is the monotonic clock in nanoseconds. A tick is one unit of either.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::sys::tsc;

/// How long the counter is compared with the monotonic clock: 20 ms against an uncertainty of
/// some 100 ns gives the rate to 5 parts in a million.
const CALIBRATION: Duration = Duration::from_millis(20);

/// A source of ticks, and their length. Cheap to copy; all clocks of a process agree.
///
/// ```
/// use fwdlab_port::Clock;
/// let clock = Clock::new();
/// let start = clock.ticks();
/// let busy = clock.ticks() - start;
/// assert!(clock.ticks_to_ns(busy) < 1_000_000_000);
/// assert_eq!(clock.ticks_to_ns(clock.ns_to_ticks(1_000_000)).div_ceil(1000), 1000);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    source: Source,
    ns_per_tick: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Tsc,
    Monotonic(Instant),
}

static CLOCK: OnceLock<Clock> = OnceLock::new();

impl Clock {
    /// The best clock of this machine. The first call in a process takes 20 ms to calibrate it.
    #[cold]
    pub fn new() -> Self {
        *CLOCK.get_or_init(|| match tsc::is_invariant() {
            true => Self { source: Source::Tsc, ns_per_tick: calibrate() },
            false => Self { source: Source::Monotonic(Instant::now()), ns_per_tick: 1.0 },
        })
    }

    /// The present time in ticks.
    #[inline(always)]
    pub fn ticks(&self) -> u64 {
        match self.source {
            Source::Tsc => tsc::read(),
            Source::Monotonic(start) => start.elapsed().as_nanos() as u64,
        }
    }

    /// A number of ticks in nanoseconds.
    #[inline]
    pub fn ticks_to_ns(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.ns_per_tick) as u64
    }

    /// Nanoseconds in ticks.
    #[inline]
    pub fn ns_to_ticks(&self, ns: u64) -> u64 {
        (ns as f64 / self.ns_per_tick).round() as u64
    }

    /// Length of a tick in nanoseconds.
    pub fn ns_per_tick(&self) -> f64 {
        self.ns_per_tick
    }

    /// "tsc" or "monotonic", for the record of the environment.
    pub fn name(&self) -> &'static str {
        match self.source {
            Source::Tsc => "tsc",
            Source::Monotonic(_) => "monotonic",
        }
    }
}

/// The processor's time stamp counter as it is, 0 where there is none. Its unit is only known to
/// who set the machine up: in a virtual machine that counts instructions, it is one of them.
#[inline(always)]
pub fn time_stamp() -> u64 {
    tsc::read()
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

#[cold]
fn calibrate() -> f64 {
    let (start_time, start) = together();
    while start_time.elapsed() < CALIBRATION {
        std::hint::spin_loop();
    }
    let (end_time, end) = together();
    (end_time - start_time).as_nanos() as f64 / (end - start).max(1) as f64
}

/// Both clocks at the same moment: of several readings, the one with the least in between.
fn together() -> (Instant, u64) {
    let reading = |_| {
        let before = tsc::read();
        let time = Instant::now();
        let after = tsc::read();
        (after - before, time, before + (after - before) / 2)
    };
    let best = (0..16).map(reading).min_by_key(|&(width, ..)| width);
    best.map_or_else(|| (Instant::now(), tsc::read()), |(_, time, ticks)| (time, ticks))
}
