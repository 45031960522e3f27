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
}

/// Contenders that need longer than this for a quarter of the keys only get that quarter, in
/// [`SLOW_ROUNDS`] rounds.
const SLOW_S: f64 = 0.04;
const SLOW_ROUNDS: usize = 3;

/// Rates of every contender in every round, M lookups/s: `rates[contender][round]`.
pub(super) type Rates = Vec<Vec<f64>>;

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
            let start = Instant::now();
            let sum = run_once(contender, &keys[size], mode, effort.burst);
            let seconds = start.elapsed().as_secs_f64();
            sums.check(size, sum, contender.name())?;
            rates[index].push(keys[size].native().len() as f64 / seconds / 1e6);
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

/// The median over rounds of the ratio of two contenders.
pub(super) fn ratio(of: &[f64], to: &[f64]) -> f64 {
    median(&of.iter().zip(to).map(|(a, b)| a / b).collect::<Vec<_>>())
}
