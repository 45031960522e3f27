//! Bisecting with a noisy measurement: the experiment of one comparison, the chain, and the journal
//! from which an interrupted bisection goes on. What to measure next is said by
//! [`fwdlab_stats::bisect`]; who runs the comparison is told by the caller.

mod derive;
mod error;
mod journal;

pub use derive::{derive, margin, traffics, variants};
pub use error::BisectError;
pub use journal::{BisectStep, Header, Journal, LeftOut};

use std::path::Path;

use fwdlab_results::{Metric, Results};
use fwdlab_stats::bisect::{Answer, Bisection, Next, Terms};
use fwdlab_stats::median;

/// How well `probe` does beside `good` in results that hold both: the median over the blocks of the
/// ratio of their figures, above 1 when the probe is faster. `traffic` is the one to look at, else
/// the first.
///
/// # Errors
/// When the results cannot be read or hold no block with both.
pub fn ratio(
    dir: &Path,
    good: &str,
    probe: &str,
    traffic: Option<&str>,
) -> Result<f64, BisectError> {
    let results = Results::read(dir)?;
    let first = results.campaign.traffics.first().map_or("", String::as_str);
    let traffic = traffic.unwrap_or(first);
    let metric =
        Metric::deciding(results.trials.iter().filter(|t| t.traffic == traffic && t.is_ok()));
    let of_good = results.figures(metric, good, traffic);
    let ratios: Vec<f64> = results
        .figures(metric, probe, traffic)
        .into_iter()
        .filter_map(|(block, own)| {
            let (_, other) = of_good.iter().find(|(other, _)| *other == block)?;
            let ratio = own / other;
            Some(if metric == Metric::Cost { 1.0 / ratio } else { ratio })
        })
        .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        .collect();
    if ratios.is_empty() {
        return Err(BisectError::NoBlock { dir: dir.to_owned(), probe: probe.to_owned() });
    }
    Ok(median(&ratios))
}

/// Comparisons in a row of which nothing came, after which a state is given up.
const LOST: usize = 5;

/// What came of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Compared {
    /// How well the state does beside the good end.
    Ratio(f64),
    /// Nothing: it is compared again.
    Nothing,
    /// The state cannot be measured, and why: it is left out.
    Untestable(String),
}

/// The answer, over the states that could be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its steps are places in `states`.
    pub answer: Answer,
    /// Indices of the measured states in the chain, in order: all but those that the journal leaves out.
    pub states: Vec<usize>,
}

/// Bisects: `measure` compares the state of an index with the good end; `said` hears each measurement. A state that
/// cannot be measured is left out, so that the answer may be a step over several states, as `git bisect skip` has it.
///
/// # Errors
/// Those of `measure`, when nothing comes of [`LOST`] comparisons of a state in a row, when an end cannot be
/// measured, and when the journal cannot be written. What was measured stays in the journal.
pub fn bisect<E: From<BisectError>>(
    journal: &mut Journal,
    terms: Terms,
    mut measure: impl FnMut(usize) -> Result<Compared, E>,
    mut said: impl FnMut(&BisectStep),
) -> Result<Found, E> {
    loop {
        let is_left_out = |state: &usize| journal.left_out().iter().any(|own| own.state == *state);
        let all = 0..journal.header().chain.len();
        let states: Vec<usize> = all.filter(|state| !is_left_out(state)).collect();
        if let Some(answer) = among(&states, journal, terms, &mut measure, &mut said)? {
            return Ok(Found { answer, states });
        }
    }
}

/// The answer over some states of the chain; `None` when one more had to be left out.
fn among<E: From<BisectError>>(
    states: &[usize],
    journal: &mut Journal,
    terms: Terms,
    measure: &mut impl FnMut(usize) -> Result<Compared, E>,
    said: &mut impl FnMut(&BisectStep),
) -> Result<Option<Answer>, E> {
    let mut bisection = Bisection::new(states.len(), terms);
    for earlier in journal.measured() {
        if let Ok(place) = states.binary_search(&earlier.state) {
            bisection.take(place, earlier.ratio);
        }
    }
    let mut lost = 0;
    loop {
        let place = match bisection.next() {
            Next::Answer(answer) => return Ok(Some(answer)),
            Next::Measure(place) => place,
        };
        let state = states[place];
        let name = journal.header().chain[state].clone();
        match measure(state)? {
            Compared::Ratio(ratio) => {
                lost = 0;
                let measured = BisectStep { state, name, ratio };
                journal.add(&measured)?;
                said(&measured);
                bisection.take(place, ratio);
            }
            Compared::Untestable(why) => {
                journal.leave_out(state, &why)?;
                return Ok(None);
            }
            Compared::Nothing => {
                lost += 1;
                if lost == LOST {
                    return Err(BisectError::Lost { state: name, tries: LOST }.into());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
