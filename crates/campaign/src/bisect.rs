//! Bisecting with a noisy measurement: the experiment of one comparison, the chain, and the journal
//! from which an interrupted bisection goes on. What to measure next is said by
//! [`fwdlab_stats::bisect`]; who runs the comparison is told by the caller.

mod derive;
mod error;
mod journal;

pub use derive::{derive, margin, traffics, variants};
pub use error::BisectError;
pub use journal::{BisectStep, Header, Journal};

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

/// Bisects: `measure` compares the state of an index with the good end, and is asked again where nothing came of
/// it (`None`); `said` hears each measurement.
///
/// # Errors
/// Those of `measure`, when nothing comes of [`LOST`] comparisons of a state in a row, and when the journal
/// cannot be written. What was measured stays in the journal.
pub fn bisect<E: From<BisectError>>(
    journal: &mut Journal,
    terms: Terms,
    mut measure: impl FnMut(usize) -> Result<Option<f64>, E>,
    mut said: impl FnMut(&BisectStep),
) -> Result<Answer, E> {
    let mut bisection = Bisection::new(journal.header().chain.len(), terms);
    for earlier in journal.measured() {
        bisection.take(earlier.state, earlier.ratio);
    }
    let mut lost = 0;
    loop {
        match bisection.next() {
            Next::Answer(answer) => return Ok(answer),
            Next::Measure(state) => {
                let name = journal.header().chain[state].clone();
                let Some(ratio) = measure(state)? else {
                    lost += 1;
                    if lost == LOST {
                        return Err(BisectError::Lost { state: name, tries: LOST }.into());
                    }
                    continue;
                };
                lost = 0;
                let measured = BisectStep { state, name, ratio };
                journal.add(&measured)?;
                said(&measured);
                bisection.take(state, ratio);
            }
        }
    }
}

#[cfg(test)]
mod tests;
