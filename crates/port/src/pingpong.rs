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
#[derive(Default)]
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
/// A round trip between two threads in the middle of their work: one asks now and then, the other
/// looks between two pieces of its work whether it is asked. Not being asked costs it one read of
/// a line that stays in its own cache.
#[derive(Default)]
pub struct Rally {
    /// An odd number waits for an answer, the next even one; [`OVER`] ends the rally.
    ball: Ball,
}

/// Round trips in one measurement of a rally.
const RALLY_ROUNDS: u64 = 16;
/// Measurements, of which the median counts.
const RALLY_REPEATS: usize = 9;
/// How long the asking side waits for an answer.
const PATIENCE_NS: u64 = 5_000_000;
/// How often the answering side looks for the next ball before it returns to its work.
const LOOKS: u32 = 20_000;
/// Set in the last ball.
const OVER: u64 = 1 << 63;

impl Rally {
    /// A rally that nobody plays yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The median round trip to the thread that calls [`Rally::answer`], in ns; about 0.1 ms.
    /// Nothing when it does not answer within 5 ms.
    pub fn measure(&self, clock: &Clock) -> Option<f64> {
        // A ball that was never answered may still be: serve one that cannot be mistaken for it.
        let mut serve = ((self.ball.0.load(Ordering::Relaxed) & !OVER) | 1) + 2;
        self.round(serve, clock)?; // the other side may be in the middle of a batch
        let mut times = [0.0_f64; RALLY_REPEATS];
        for time in &mut times {
            let start = clock.ticks();
            for _ in 0..RALLY_ROUNDS {
                serve += 2;
                self.round(serve, clock)?;
            }
            *time = clock.ticks_to_ns(clock.ticks() - start) as f64 / RALLY_ROUNDS as f64;
        }
        self.ball.0.store(OVER | serve, Ordering::Release);
        times.sort_by(f64::total_cmp);
        Some(times[RALLY_REPEATS / 2])
    }

    fn round(&self, serve: u64, clock: &Clock) -> Option<()> {
        self.ball.0.store(serve, Ordering::Release);
        let start = clock.ticks();
        let mut looks = 0_u32;
        while self.ball.0.load(Ordering::Acquire) != serve + 1 {
            std::hint::spin_loop();
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(1024) && clock.ticks_to_ns(clock.ticks() - start) > PATIENCE_NS
            {
                return None;
            }
        }
        Some(())
    }

    /// Plays the other side if it is asked to, until the rally is over or pauses.
    #[inline]
    pub fn answer(&self) {
        if is_serve(self.ball.0.load(Ordering::Relaxed)) {
            self.play();
        }
    }

    #[cold]
    fn play(&self) {
        let mut looks = 0;
        while looks < LOOKS {
            let ball = self.ball.0.load(Ordering::Acquire);
            if ball & OVER != 0 {
                return;
            }
            if is_serve(ball) {
                // A newer serve may have come in between: it is answered in the next turn.
                let _ = self.ball.0.compare_exchange(
                    ball,
                    ball + 1,
                    Ordering::Release,
                    Ordering::Relaxed,
                );
                looks = 0;
            } else {
                std::hint::spin_loop();
                looks += 1;
            }
        }
    }
}

const fn is_serve(ball: u64) -> bool {
    ball & 1 == 1 && ball & OVER == 0
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn a_rally_is_answered_between_two_pieces_of_work_and_again_later() {
        let (rally, is_over) = (Rally::new(), AtomicBool::new(false));
        let clock = Clock::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    rally.answer();
                    std::thread::yield_now();
                }
            });
            // A busy machine may take the other thread's core away for longer than the patience.
            let found: Vec<f64> = (0..50).filter_map(|_| rally.measure(&clock)).take(2).collect();
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(found.len(), 2);
            assert!(found.iter().all(|ns| *ns > 0.0), "{found:?}");
        });
    }

    #[test]
    fn a_rally_that_nobody_answers_ends_without_a_figure() {
        let rally = Rally::new();
        assert_eq!(rally.measure(&Clock::new()), None);
        // The abandoned ball is answered later, and harms nobody.
        rally.answer();
        assert_eq!(rally.measure(&Clock::new()), None);
    }
}
