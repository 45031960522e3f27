//! One turn of a contender, and the state of its core around it.

use anyhow::Result;
use fwdlab_lookups::Run;
use fwdlab_port::{affinity, beat};

/// Takes a turn, whose nanoseconds per frame `measure` returns, between two beats of the measured
/// core.
pub fn of(beat: impl Fn() -> f64, measure: impl FnOnce() -> f64) -> Run {
    let before = beat();
    let ns_per_frame = measure();
    Run { rate: 1000.0 / ns_per_frame, beat_ns: beat().max(before) }
}

/// As [`of`], of what may fail.
///
/// # Errors
/// Those of `measure`.
pub fn turn(beat: impl Fn() -> f64, measure: impl FnOnce() -> Result<f64>) -> Result<Run> {
    let mut failed = None;
    let taken = of(beat, || {
        measure().unwrap_or_else(|error| {
            failed = Some(error);
            f64::NAN
        })
    });
    failed.map_or(Ok(taken), Err)
}

/// The median of some turns.
pub fn ns_per_frame(turns: &[Run]) -> f64 {
    1000.0 / fwdlab_lookups::rate(turns)
}

/// What a beat takes on this core, in ns.
pub fn beat_on(core: usize) -> f64 {
    let pinned = || {
        let _ = affinity::pin_current_thread(core);
        beat::now()
    };
    std::thread::scope(|scope| scope.spawn(pinned).join().unwrap_or(f64::NAN))
}

/// Laps that a frame can make before its TTL has to be renewed.
pub const LAPS: usize = 250;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_keeps_the_longer_of_the_two_beats() {
        let beats = std::cell::Cell::new(5.0);
        let run = of(|| beats.replace(7.0), || 4.0);
        assert_eq!(run, Run { rate: 250.0, beat_ns: 7.0 });
        assert_eq!(ns_per_frame(&[run, Run { rate: 100.0, ..run }, run]), 4.0);
        assert!(turn(|| 1.0, || anyhow::bail!("no frames")).is_err());
    }
}
