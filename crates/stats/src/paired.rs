//! Comparison within randomised blocks: paired t on log ratios, or their signed ranks.
//!
//! Every block ran both variants once, in random order, so that drift between blocks cancels in the
//! ratio. The interval is the paired t interval on the log scale; the figure to quote is the
//! Hodges-Lehmann estimate, which a stray run cannot move far. It blows up the t interval, though:
//! with stray runs among the ratios the interval is the exact one of the signed-rank test, which
//! belongs to the same estimate.

use serde::{Deserialize, Serialize};

use crate::comparison::{Comparison, Counts, Direction, Effect, Interval, Method};
use crate::distribution::{t_critical, t_two_sided};
use crate::{Error, hodges_lehmann, sample, signed_rank, validity};

/// The two figures of one block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The baseline's figure.
    pub baseline: f64,
    /// The variant's figure.
    pub variant: f64,
}

impl Block {
    /// A block from its two figures.
    pub fn new(baseline: f64, variant: f64) -> Self {
        Self { baseline, variant }
    }
}

/// Compares a variant with its baseline over complete blocks (leave out blocks with a failed
/// trial, and say so in a warning).
///
/// # Errors
/// [`Error::TooFew`] with fewer than two blocks, [`Error::NotPositive`] for a value without a
/// logarithm.
pub fn compare(blocks: &[Block], direction: Direction) -> Result<Comparison, Error> {
    let gains = log_gains(blocks, direction)?;
    if gains.len() < 2 {
        return Err(Error::TooFew { what: "a paired comparison", got: gains.len(), need: 2 });
    }
    Ok(from_log_gains(&gains))
}

/// The log speed ratio of every block, in order.
///
/// # Errors
/// [`Error::NotPositive`] for a value without a logarithm.
pub fn log_gains(blocks: &[Block], direction: Direction) -> Result<Vec<f64>, Error> {
    let check = |side: &'static str, index: usize, value: f64| {
        if value > 0.0 && value.is_finite() {
            Ok(())
        } else {
            Err(Error::NotPositive { side, index, value })
        }
    };
    blocks
        .iter()
        .enumerate()
        .map(|(index, block)| {
            check("baseline", index, block.baseline)?;
            check("variant", index, block.variant)?;
            Ok(direction.log_gain(block.baseline, block.variant))
        })
        .collect()
}

/// The comparison of at least two log ratios.
pub(crate) fn from_log_gains(gains: &[f64]) -> Comparison {
    let by_t = by_t(gains);
    if has_strays(gains) { by_signed_ranks(gains, &by_t).unwrap_or(by_t) } else { by_t }
}

/// Whether some of the ratios are stray runs.
pub(crate) fn has_strays(gains: &[f64]) -> bool {
    validity::stray_runs("", gains).is_some()
}

/// The comparison by signed ranks; `None` when there are too few ratios for them.
fn by_signed_ranks(gains: &[f64], by_t: &Comparison) -> Option<Comparison> {
    Some(Comparison {
        method: Method::SignedRank,
        interval95: rank_interval(gains, 0.95)?,
        interval90: rank_interval(gains, 0.90)?,
        p: signed_rank::two_sided(gains),
        ..by_t.clone()
    })
}

/// The interval of the Hodges-Lehmann estimate by signed ranks.
pub(crate) fn rank_interval(gains: &[f64], confidence: f64) -> Option<Interval> {
    let (low, high) = hodges_lehmann::location_interval(gains, confidence)?;
    Some(Interval { low: Effect::from_ln(low), high: Effect::from_ln(high) })
}

/// The paired t comparison of at least two log ratios.
pub(crate) fn by_t(gains: &[f64]) -> Comparison {
    let n = gains.len();
    let df = (n - 1) as f64;
    let mean = sample::mean(gains);
    let sd = sample::sd(gains);
    let error = sd / (n as f64).sqrt();
    Comparison {
        method: Method::Paired,
        n: Counts { baseline: n, variant: n },
        estimate: Effect::from_ln(hodges_lehmann::location(gains)),
        median: Effect::from_ln(sample::median(gains)),
        mean: Effect::from_ln(mean),
        interval95: Interval::around_ln(mean, t_critical(0.95, df) * error),
        interval90: Interval::around_ln(mean, t_critical(0.90, df) * error),
        p: p_of(mean, error, df),
        sd_of_difference: sd,
    }
}

/// Two-sided p of a mean with its standard error; decided without a quotient when that is 0.
pub(crate) fn p_of(mean: f64, error: f64, df: f64) -> f64 {
    if error > 0.0 {
        t_two_sided(mean / error, df)
    } else if mean == 0.0 {
        1.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks() -> Vec<Block> {
        let baseline = [100.0, 101.0, 99.0, 100.5, 98.0, 102.0, 100.0, 99.5];
        let variant = [102.0, 103.5, 100.0, 103.0, 100.5, 103.0, 102.5, 101.0];
        baseline.into_iter().zip(variant).map(|(b, v)| Block::new(b, v)).collect()
    }

    /// scipy 1.17.1: scipy.stats.ttest_rel(log(v), log(b)) and its confidence_interval.
    #[test]
    fn interval_and_p_equal_scipy() {
        let result = compare(&blocks(), Direction::HigherIsBetter).unwrap();
        assert!((result.p / 8.380699838633987e-05 - 1.0).abs() < 1e-9);
        assert!((result.interval95.low.ln() - 0.013588101351752587).abs() < 1e-12);
        assert!((result.interval95.high.ln() - 0.024781205844586766).abs() < 1e-12);
        assert!((result.interval90.low.ln() - 0.014700597350675767).abs() < 1e-12);
    }

    /// One run of eight at half speed: the effect of 2 % is found all the same.
    #[test]
    fn a_stray_run_does_not_hide_what_the_others_show() {
        let mut strayed = blocks();
        strayed[3].variant = 50.0;
        let result = compare(&strayed, Direction::HigherIsBetter).unwrap();
        assert_eq!(result.method, Method::SignedRank);
        assert!((result.estimate.percent() - 1.9).abs() < 0.5, "{}", result.estimate.percent());
        assert!(!result.interval95.excludes_no_change(), "one of eight has another sign");
        let more: Vec<Block> = strayed.iter().chain(&blocks()).copied().collect();
        let result = compare(&more, Direction::HigherIsBetter).unwrap();
        assert!(result.interval95.low.percent() > 1.0 && result.p < 0.01, "{result:?}");
        assert!(
            !by_t(&log_gains(&more, Direction::HigherIsBetter).unwrap())
                .interval95
                .excludes_no_change()
        );
    }

    #[test]
    fn cost_is_shown_as_change_in_frames_per_busy_second() {
        let blocks: Vec<Block> =
            (0..4).map(|i| Block::new(100.0, 80.0 + f64::from(i) * 0.001)).collect();
        let result = compare(&blocks, Direction::LowerIsBetter).unwrap();
        assert!((result.estimate.percent() - 25.0).abs() < 0.01, "{}", result.estimate.percent());
    }

    #[test]
    fn identical_blocks_have_a_point_interval() {
        let result = compare(&[Block::new(5.0, 5.0); 3], Direction::HigherIsBetter).unwrap();
        assert_eq!(result.p, 1.0);
        assert!(!result.interval95.excludes_no_change());
        assert!(result.interval90.is_within(0.01));
    }

    #[test]
    fn refuses_zero_and_a_single_block() {
        let zero = [Block::new(1.0, 1.0), Block::new(1.0, 0.0)];
        let error = compare(&zero, Direction::HigherIsBetter).unwrap_err();
        assert_eq!(error, Error::NotPositive { side: "variant", index: 1, value: 0.0 });
        let error = compare(&zero[..1], Direction::HigherIsBetter).unwrap_err();
        assert!(matches!(error, Error::TooFew { got: 1, need: 2, .. }));
    }
}
