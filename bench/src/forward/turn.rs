//! One turn of a contender, and the state of its core around it.

use anyhow::Result;
use fwdlab_port::{affinity, beat};

/// Beats that differ by less than this factor are one state of the core: somebody who works on its
/// other half makes them longer by a fifth or more.
const SAME_BEAT: f64 = 1.12;

/// Fewest rounds from which a ratio is taken when the others do not count.
const FEWEST: usize = 3;

/// What one turn took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    pub ns_per_frame: f64,
    /// The longer of the beats before and after it.
    pub beat_ns: f64,
}

impl Turn {
    /// Takes a turn between two beats of the measured core.
    pub fn of(beat: impl Fn() -> f64, measure: impl FnOnce() -> f64) -> Self {
        let before = beat();
        let ns_per_frame = measure();
        Self { ns_per_frame, beat_ns: beat().max(before) }
    }

    /// The median of some turns.
    pub fn ns_per_frame(turns: &[Self]) -> f64 {
        median(turns.iter().map(|turn| turn.ns_per_frame).collect())
    }

    /// The median of peer / ours over the rounds in which the core had one beat for both, or over
    /// all when these are too few.
    pub fn ratio(peer: &[Self], ours: &[Self]) -> f64 {
        let rounds = || peer.iter().zip(ours);
        let ratio = |(a, b): (&Self, &Self)| a.ns_per_frame / b.ns_per_frame;
        let alike: Vec<f64> = rounds()
            .filter(|(a, b)| a.beat_ns.max(b.beat_ns) <= a.beat_ns.min(b.beat_ns) * SAME_BEAT)
            .map(ratio)
            .collect();
        median(if alike.len() >= FEWEST { alike } else { rounds().map(ratio).collect() })
    }
}

/// What a beat takes on this core, in ns.
pub fn beat_on(core: usize) -> f64 {
    let pinned = || {
        let _ = affinity::pin_current_thread(core);
        beat::now()
    };
    std::thread::scope(|scope| scope.spawn(pinned).join().unwrap_or(f64::NAN))
}

/// As [`Turn::of`], of what may fail.
///
/// # Errors
/// Those of `measure`.
pub fn turn(beat: impl Fn() -> f64, measure: impl FnOnce() -> Result<f64>) -> Result<Turn> {
    let mut failed = None;
    let taken = Turn::of(beat, || {
        measure().unwrap_or_else(|error| {
            failed = Some(error);
            f64::NAN
        })
    });
    failed.map_or(Ok(taken), Err)
}

/// Laps that a frame can make before its TTL has to be renewed.
pub(super) const LAPS: usize = 250;

pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_at_one_beat_as_long_as_three_rounds_remain() {
        let turns = |list: &[(f64, f64)]| -> Vec<Turn> {
            list.iter().map(|&(ns_per_frame, beat_ns)| Turn { ns_per_frame, beat_ns }).collect()
        };
        let peer = turns(&[(90.0, 1300.0), (60.0, 1000.0), (61.0, 1005.0), (62.0, 990.0)]);
        let ours = turns(&[(30.0, 1000.0), (30.0, 1000.0), (30.5, 1000.0), (31.0, 1000.0)]);
        assert_eq!(Turn::ratio(&peer, &ours), 2.0);
        assert_eq!(Turn::ratio(&peer[..1], &ours[..1]), 3.0);
        assert_eq!(Turn::ns_per_frame(&peer), 62.0);
        let turn = Turn::of(|| 5.0, || 7.0);
        assert_eq!(turn, Turn { ns_per_frame: 7.0, beat_ns: 5.0 });
    }
}
