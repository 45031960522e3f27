//! Interleaved rounds.

use std::fmt;
use std::time::Instant;

use crate::{Contender, Keys};
use fwdlab_fib::Family;

/// How lookups are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// So many addresses at a time (at most 1024) through the batch interface.
    Batch(usize),
    /// One address after the other, as fast as the processor overlaps them.
    Single,
    /// Each address waits for the answer before: latency.
    Dependent,
}

impl fmt::Display for Mode {
    /// The name in the results.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Batch(burst) => write!(f, "batch of {burst}"),
            Self::Single => f.write_str("single"),
            Self::Dependent => f.write_str("dependent"),
        }
    }
}

/// How much to measure.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Keys of a batch run; single and dependent runs take an eighth of them.
    pub keys: usize,
    /// Rounds in which the core has one beat; up to as many again are run to get them.
    pub rounds: usize,
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
pub struct Run {
    /// Million lookups (or frames) a second.
    pub rate: f64,
    /// The longer of the beats before and after it, in ns.
    pub beat_ns: f64,
}

/// Runs of every contender in every round: `rates[contender][round]`.
pub(crate) type Rates = Vec<Vec<Run>>;

/// Runs all contenders in turn, in `effort.rounds` rounds in which the core had one beat, or in twice
/// as many if there are not so many calm ones. The order is rotated from round to round. Before the
/// first round all look up a quarter of the keys, which tells the slow ones.
///
/// # Errors
/// The names of two contenders that disagree on the sum of all answers: one of them is wrong.
pub(crate) fn run<F: Family>(
    contenders: &mut [Box<dyn Contender<F>>],
    keys: &Keys<F>,
    mode: Mode,
    effort: Effort,
) -> Result<Rates, (String, String)> {
    // Single lookups are slower by far: a part of the keys is enough.
    let is_batch = matches!(mode, Mode::Batch(_));
    let count = if is_batch { keys.native().len() } else { effort.keys / 8 };
    let keys = [count, count / 4, count / 16].map(|count| keys.head(count));
    let mut sums = Sums::default();
    let mut is_slow = Vec::new();
    for contender in contenders.iter_mut() {
        let start = Instant::now();
        let sum = run_once(contender.as_mut(), &keys[1], mode);
        is_slow.push(start.elapsed().as_secs_f64() > SLOW_S);
        sums.check(1, sum, contender.as_ref())?;
    }
    let mut rates = vec![Vec::new(); contenders.len()];
    let mut beats = Vec::new();
    for round in 0..2 * effort.rounds {
        let mut longest: f64 = 0.0;
        for turn in 0..contenders.len() {
            let index = (turn + round) % contenders.len();
            let contender = contenders[index].as_mut();
            let size = usize::from(is_slow[index]);
            if is_slow[index] && round >= SLOW_ROUNDS {
                continue;
            }
            // Bring the table into the caches, as steady traffic would: the contender before has
            // pushed it out.
            run_once(contender, &keys[size + 1], mode);
            let before = (effort.beat)();
            let start = Instant::now();
            let sum = run_once(contender, &keys[size], mode);
            let seconds = start.elapsed().as_secs_f64();
            let beat_ns = (effort.beat)().max(before);
            longest = longest.max(beat_ns);
            sums.check(size, sum, contender)?;
            rates[index]
                .push(Run { rate: keys[size].native().len() as f64 / seconds / 1e6, beat_ns });
        }
        beats.push(longest);
        if calm(&beats) >= effort.rounds {
            break;
        }
    }
    Ok(rates)
}

/// Of the longest beats of some rounds, how many are those of a core that nobody shares.
fn calm(beats: &[f64]) -> usize {
    let least = beats.iter().copied().fold(f64::INFINITY, f64::min);
    beats.iter().filter(|beat| **beat <= least * SAME_BEAT).count()
}

/// The sums of all answers for all keys and for a quarter of them, and who found them first.
#[derive(Default)]
struct Sums([Option<(u64, String)>; 2]);

impl Sums {
    fn check<F: Family>(
        &mut self,
        size: usize,
        sum: u64,
        contender: &dyn Contender<F>,
    ) -> Result<(), (String, String)> {
        if !contender.is_held_to_answers() {
            return Ok(());
        }
        let name = contender.name();
        let (wanted, first) = self.0[size].get_or_insert_with(|| (sum, name.to_string()));
        match sum == *wanted {
            true => Ok(()),
            false => Err((name.to_string(), first.clone())),
        }
    }
}

fn run_once<F: Family>(contender: &mut dyn Contender<F>, keys: &Keys<F>, mode: Mode) -> u64 {
    match mode {
        Mode::Batch(burst) => contender.batch(keys, burst),
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

/// The median rate of some runs; 0 for none.
pub fn rate(runs: &[Run]) -> f64 {
    median(&runs.iter().map(|run| run.rate).collect::<Vec<_>>())
}

/// By how much one contender is faster than another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The median over the rounds that count.
    pub median: f64,
    /// The interval of that median, from its order statistics: at least 95 % from six rounds on, all
    /// that was seen below.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Rounds that count: those in which the core had one beat for both.
    pub counted: usize,
    /// Rounds in which both ran.
    pub rounds: usize,
}

impl Ratio {
    /// The ratio of two contenders' rates, taken within each round: over those in which the core had
    /// one beat for both, unless these are too few. `None` without a round.
    pub fn of(of: &[Run], to: &[Run]) -> Option<Self> {
        let rounds = || of.iter().zip(to);
        let is_alike =
            |a: &Run, b: &Run| a.beat_ns.max(b.beat_ns) <= a.beat_ns.min(b.beat_ns) * SAME_BEAT;
        let alike: Vec<f64> =
            rounds().filter(|(a, b)| is_alike(a, b)).map(|(a, b)| a.rate / b.rate).collect();
        let mut counted = match alike.len() >= FEWEST {
            true => alike,
            false => rounds().map(|(a, b)| a.rate / b.rate).collect(),
        };
        counted.sort_by(f64::total_cmp);
        let outer = outside(counted.len());
        Some(Self {
            median: median(&counted),
            low: *counted.get(outer)?,
            high: *counted.get(counted.len().checked_sub(outer + 1)?)?,
            counted: counted.len(),
            rounds: rounds().count(),
        })
    }

    /// On what share of the rounds some ratios rest, as a sentence; `None` without ratios.
    pub fn share(ratios: &[Self]) -> Option<String> {
        let counted: usize = ratios.iter().map(|ratio| ratio.counted).sum();
        let rounds: usize = ratios.iter().map(|ratio| ratio.rounds).sum();
        let share = 100.0 * counted as f64 / rounds as f64;
        (rounds > 0).then(|| {
            format!(
                "The ratios rest on {share:.0} % of the rounds: those in which the core had one beat \
                 for both sides."
            )
        })
    }
}

impl fmt::Display for Ratio {
    /// The median with its interval: `1.36 [1.31, 1.40]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} [{:.2}, {:.2}]", self.median, self.low, self.high)
    }
}

/// So many of `n` sorted values on each side may lie outside the interval of their median, whose
/// coverage stays 95 % (sign test).
fn outside(n: usize) -> usize {
    let total = 2.0_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let (mut tail, mut term, mut outer) = (0.0, 1.0, 0);
    for k in 0..n / 2 {
        tail += term / total;
        if tail > 0.025 {
            break;
        }
        outer = k;
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    outer
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
        let of_all = Ratio::of(&of, &to).unwrap();
        assert_eq!((of_all.median, of_all.counted, of_all.rounds), (2.0, 3, 5));
        // Too few of them, or none measured: all count.
        let median = |of: &[Run], to: &[Run]| Ratio::of(of, to).map(|ratio| ratio.median);
        assert_eq!(median(&of[..3], &to[..3]), Some(2.0));
        assert_eq!(median(&runs(&slowed[..1]), &to[..1]), Some(1.4));
        assert_eq!(median(&runs(&[(8.0, 0.0); 4]), &runs(&[(2.0, 0.0); 4])), Some(4.0));
        assert_eq!(Ratio::of(&[], &to), None);
    }

    #[test]
    fn the_interval_of_a_median_holds_it_in_95_of_100() {
        // Tables of the sign test: 5 values have no such interval, from 6 on it is all of them, from
        // 9 on all but the outermost, from 12 on all but two on each side.
        let expected = [(5, 0), (6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (15, 3), (20, 5)];
        for (n, outer) in expected {
            assert_eq!(outside(n), outer, "{n}");
        }
        let run = |rate: u32| Run { rate: f64::from(rate), beat_ns: 1000.0 };
        let of: Vec<Run> = (1..=9).map(run).collect();
        let ratio = Ratio::of(&of, &[run(1); 9]).unwrap();
        assert_eq!((ratio.low, ratio.median, ratio.high), (2.0, 5.0, 8.0));
    }

    #[test]
    fn a_round_beside_a_busy_neighbour_is_not_calm() {
        assert_eq!(calm(&[1300.0, 1000.0, 1010.0, 1290.0]), 2);
        assert_eq!(calm(&[0.0; 3]), 3);
        assert_eq!(calm(&[]), 0);
    }
}
