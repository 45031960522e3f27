//! Interleaved rounds.

use std::time::Instant;

use super::{Contender, Keys};
use crate::family::Family;

/// How lookups are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Bursts through the batch interface.
    Batch,
    /// One address after the other, as fast as the processor overlaps them.
    Single,
    /// Each address waits for the answer before: latency.
    Dependent,
}

impl Mode {
    /// All modes, in the order of the tables.
    pub const ALL: [Self; 3] = [Self::Batch, Self::Single, Self::Dependent];

    /// Name in the results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Single => "single",
            Self::Dependent => "dependent",
        }
    }
}

/// How much to measure.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Keys of a batch run; single and dependent runs take an eighth of them.
    pub keys: usize,
    /// Rounds.
    pub rounds: usize,
    /// Addresses of one batch call, at most 1024.
    pub burst: usize,
    /// Says how long a fixed piece of arithmetic takes now on the core of this thread, in ns: longer
    /// while somebody else works on the core's other half. Asked before and after each run.
    pub beat: fn() -> f64,
}

/// Beats that differ by less than this factor are one state of the core.
const SAME_BEAT: f64 = 1.12;

/// Fewest rounds from which a ratio is taken when the others do not count.
const FEWEST: usize = 3;

/// Contenders that need longer than this for a quarter of the keys only get that quarter, in
/// [`SLOW_ROUNDS`] rounds.
const SLOW_S: f64 = 0.04;
const SLOW_ROUNDS: usize = 3;

/// One run of one contender.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Run {
    /// M lookups/s.
    pub rate: f64,
    /// The longer of the beats before and after it, in ns.
    pub beat_ns: f64,
}

/// Runs of every contender in every round: `rates[contender][round]`.
pub(super) type Rates = Vec<Vec<Run>>;

/// Runs all contenders in turn, `effort.rounds` times. The order is rotated from round to round.
/// Before the first round all look up a quarter of the keys, which tells the slow ones.
///
/// # Errors
/// The names of two contenders that disagree on the sum of all answers: one of them is wrong.
pub(super) fn run<F: Family>(
    contenders: &mut [Box<dyn Contender<F>>],
    keys: &Keys<F>,
    mode: Mode,
    effort: Effort,
) -> Result<Rates, (String, String)> {
    // Single lookups are slower by far: a part of the keys is enough.
    let count = if mode == Mode::Batch { keys.native().len() } else { effort.keys / 8 };
    let keys = [count, count / 4, count / 16].map(|count| keys.head(count));
    let mut sums = Sums::default();
    let mut is_slow = Vec::new();
    for contender in contenders.iter_mut() {
        let start = Instant::now();
        let sum = run_once(contender.as_mut(), &keys[1], mode, effort.burst);
        is_slow.push(start.elapsed().as_secs_f64() > SLOW_S);
        sums.check(1, sum, contender.name())?;
    }
    let mut rates = vec![Vec::new(); contenders.len()];
    for round in 0..effort.rounds {
        for turn in 0..contenders.len() {
            let index = (turn + round) % contenders.len();
            let contender = contenders[index].as_mut();
            let size = usize::from(is_slow[index]);
            if is_slow[index] && round >= SLOW_ROUNDS {
                continue;
            }
            // Bring the table into the caches, as steady traffic would: the contender before has
            // pushed it out.
            run_once(contender, &keys[size + 1], mode, effort.burst);
            let before = (effort.beat)();
            let start = Instant::now();
            let sum = run_once(contender, &keys[size], mode, effort.burst);
            let seconds = start.elapsed().as_secs_f64();
            let beat_ns = (effort.beat)().max(before);
            sums.check(size, sum, contender.name())?;
            rates[index]
                .push(Run { rate: keys[size].native().len() as f64 / seconds / 1e6, beat_ns });
        }
    }
    Ok(rates)
}

/// The sums of all answers for all keys and for a quarter of them, and who found them first.
#[derive(Default)]
struct Sums([Option<(u64, String)>; 2]);

impl Sums {
    fn check(&mut self, size: usize, sum: u64, name: &str) -> Result<(), (String, String)> {
        let (wanted, first) = self.0[size].get_or_insert_with(|| (sum, name.to_string()));
        match sum == *wanted {
            true => Ok(()),
            false => Err((name.to_string(), first.clone())),
        }
    }
}

fn run_once<F: Family>(
    contender: &mut dyn Contender<F>,
    keys: &Keys<F>,
    mode: Mode,
    burst: usize,
) -> u64 {
    match mode {
        Mode::Batch => contender.batch(keys, burst),
        Mode::Single => contender.single(keys, false),
        Mode::Dependent => contender.single(keys, true),
    }
}

/// The median of some figures; 0 for none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// The median rate of some runs.
pub(super) fn rate(runs: &[Run]) -> f64 {
    median(&runs.iter().map(|run| run.rate).collect::<Vec<_>>())
}

/// The median over rounds of the ratio of two contenders: over those in which the core had one beat
/// for both, unless these are too few.
pub(super) fn ratio(of: &[Run], to: &[Run]) -> f64 {
    let rounds = || of.iter().zip(to);
    let is_alike =
        |a: &Run, b: &Run| a.beat_ns.max(b.beat_ns) <= a.beat_ns.min(b.beat_ns) * SAME_BEAT;
    let alike: Vec<f64> =
        rounds().filter(|(a, b)| is_alike(a, b)).map(|(a, b)| a.rate / b.rate).collect();
    match alike.len() >= FEWEST {
        true => median(&alike),
        false => median(&rounds().map(|(a, b)| a.rate / b.rate).collect::<Vec<_>>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_in_which_the_core_was_slower_for_one_of_two_do_not_count() {
        let runs = |list: &[(f64, f64)]| -> Vec<Run> {
            list.iter().map(|&(rate, beat_ns)| Run { rate, beat_ns }).collect()
        };
        let slowed = [(70.0, 1300.0), (100.0, 1000.0), (100.0, 1010.0), (69.0, 1290.0)];
        let of = runs(&[&slowed[..], &[(100.0, 1000.0)]].concat());
        let to = runs(&[(50.0, 1000.0); 5]);
        // Three rounds at one beat; the two others would make it 1.4.
        assert_eq!(ratio(&of, &to), 2.0);
        // Too few of them, or none measured: all count.
        assert_eq!(ratio(&of[..3], &to[..3]), 2.0);
        assert_eq!(ratio(&runs(&slowed[..1]), &to[..1]), 1.4);
        assert_eq!(ratio(&runs(&[(8.0, 0.0); 4]), &runs(&[(2.0, 0.0); 4])), 4.0);
    }
}
