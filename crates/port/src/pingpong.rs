//! How far apart two cores are: the time that a cache line takes there and back.
//!
//! On rented machines the hypervisor moves virtual cores, and this time jumps between about 100
//! and 450 ns; everything that two cores share then costs more. Trials are compared only within
//! one state, so the probe is recorded with each trial.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::affinity::pin_current_thread;
use crate::clock::Clock;
use crate::error::PortError;

/// Round trips in one measurement.
const ROUNDS: u64 = 200;
/// Measurements, of which the median counts.
const REPEATS: usize = 25;

/// One cache line (two, because processors fetch pairs) that both cores write in turn.
#[repr(align(128))]
struct Ball(AtomicU64);

/// What the probe found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrip {
    /// Median time for a cache line to the other core and back, in ns.
    pub median_ns: f64,
    /// The fastest of the repeats, in ns.
    pub minimum_ns: f64,
}

/// Measures the round trip between two different cores; takes about a millisecond.
///
/// # Errors
/// A core cannot be used, both are the same, or no thread can be started.
pub fn measure(core_a: usize, core_b: usize) -> Result<RoundTrip, PortError> {
    if core_a == core_b {
        let source = std::io::Error::other("the probe needs two different cores");
        return Err(PortError::Affinity { core: core_b, source });
    }
    let ball = Ball(AtomicU64::new(0));
    std::thread::scope(|scope| {
        let start = |name: &str, core: usize, first: u64| {
            let ball = &ball;
            std::thread::Builder::new()
                .name(name.to_owned())
                .spawn_scoped(scope, move || play(ball, core, first))
                .map_err(|source| PortError::Thread { source })
        };
        let one = start("pingpong-a", core_a, 0)?;
        let two = start("pingpong-b", core_b, 1);
        if two.is_err() {
            ball.0.store(STOP, Ordering::Release);
        }
        let first = one.join().expect("invariant: the probe does not panic");
        let second = two?.join().expect("invariant: the probe does not panic");
        second?;
        first
    })
}

/// The game is over because one side could not play.
const STOP: u64 = u64::MAX;

/// Even numbers belong to the first player, odd ones to the second.
fn play(ball: &Ball, core: usize, first: u64) -> Result<RoundTrip, PortError> {
    if let Err(error) = pin_current_thread(core) {
        ball.0.store(STOP, Ordering::Release);
        return Err(error);
    }
    let clock = Clock::new();
    let mut times = [0.0_f64; REPEATS];
    let mut turn = first;
    for time in &mut times {
        let start = clock.ticks();
        for _ in 0..ROUNDS {
            loop {
                match ball.0.load(Ordering::Acquire) {
                    at if at == turn => break,
                    STOP => return Ok(RoundTrip { median_ns: f64::NAN, minimum_ns: f64::NAN }),
                    _ => std::hint::spin_loop(),
                }
            }
            // The other side may have stopped the game in between: never overwrite that.
            if ball
                .0
                .compare_exchange(turn, turn + 1, Ordering::Release, Ordering::Relaxed)
                .is_err()
            {
                return Ok(RoundTrip { median_ns: f64::NAN, minimum_ns: f64::NAN });
            }
            turn += 2;
        }
        *time = clock.ticks_to_ns(clock.ticks() - start) as f64 / ROUNDS as f64;
    }
    times.sort_by(f64::total_cmp);
    Ok(RoundTrip { median_ns: times[REPEATS / 2], minimum_ns: times[0] })
}
