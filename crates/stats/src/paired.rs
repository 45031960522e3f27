//! Comparison within randomised blocks: signed ranks of log ratios, or their paired t.
//!
//! Every block ran both variants once, in random order, so that drift between blocks cancels in the
//! ratio. The random order also makes a ratio as likely above as below its centre when nothing
//! differs, whatever the noise; the signed-rank test needs no more than that (Wilcoxon 1945;
//! Lehmann, "Nonparametrics", 1975, chapter 4), so that its chance of a false difference is known
//! exactly under two-state, sticky and heavy-tailed noise too. The figure to quote is its
//! Hodges-Lehmann estimate. With fewer blocks than it needs for the level (six for 95 %) the
//! paired t takes its place, with the geometric mean; it takes the noise for normal. Fewer than
//! [`LEAST_NAMED`] blocks name no winner.

pub use crate::comparison::LEAST_NAMED;

use serde::{Deserialize, Serialize};

use crate::agreement::Agreement;
use crate::comparison::{
    Comparison, Confidence, ConfidenceInterval, Counts, Direction, Estimand, Method,
};
use crate::distribution::{t_critical, t_two_sided};
use crate::effect::Effect;
use crate::pairs::Pairs;
use crate::rare::Rare;
use crate::resolution::Resolution;
use crate::{Error, dataset, hodges_lehmann, signed_rank, validity};

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
/// trial, and say so in a warning) at 95 %.
///
/// # Errors
/// [`Error::TooFew`] with fewer than two blocks, [`Error::NotPositive`] for a value without a
/// logarithm.
pub fn compare(blocks: &[Block], direction: Direction) -> Result<Comparison, Error> {
    compare_at(blocks, direction, Confidence::USUAL)
}

/// As [`compare`], as sure as `confidence` asks for.
///
/// # Errors
/// As [`compare`].
pub fn compare_at(
    blocks: &[Block],
    direction: Direction,
    confidence: Confidence,
) -> Result<Comparison, Error> {
    let gains = log_gains(blocks, direction)?;
    if gains.len() < 2 {
        return Err(Error::TooFew { what: "a paired comparison", got: gains.len(), need: 2 });
    }
    let terms = Terms { confidence, resolution: resolution(blocks) };
    let rare = rare(blocks, direction, confidence.alpha());
    Ok(with_runs(from_log_gains(&gains, terms), &gains, rare))
}

/// The comparison with what its single runs show: how far blocks agree, and rare runs. The interval for "equivalent" holds that of the mean of typical
/// ratios too: where the noise of one side is skewed, the centre of the ratios is not what a frame
/// takes on average.
pub(crate) fn with_runs(comparison: Comparison, gains: &[f64], rare: Rare) -> Comparison {
    let interval90 = comparison.interval90;
    let interval90 = rare.typical.map_or(interval90, |mean| {
        interval90.hull(ConfidenceInterval { low: mean.low, high: mean.high })
    });
    let agreement = Agreement::of(gains, comparison.confidence.alpha());
    Comparison { interval90, rare: Some(rare), agreement, ..comparison }
}

fn log_speeds(blocks: &[Block], direction: Direction) -> [Vec<f64>; 2] {
    let side = |of: fn(&Block) -> f64| -> Vec<f64> {
        blocks.iter().map(|block| direction.log_speed(of(block))).collect()
    };
    [side(|block| block.baseline), side(|block| block.variant)]
}

/// What an analysis of gains goes by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    /// How sure it has to be.
    pub confidence: Confidence,
    /// How finely the figures are known.
    pub resolution: Resolution,
}

/// The rounding step that the figures of all blocks show.
pub(crate) fn resolution(blocks: &[Block]) -> Resolution {
    Resolution::of(blocks.iter().flat_map(|block| [&block.baseline, &block.variant]))
}

/// The runs of either side far from its typical one, and what they cost: each end with a chance of
/// error of `alpha`.
pub(crate) fn rare(blocks: &[Block], direction: Direction, alpha: f64) -> Rare {
    let [baseline, variant] = log_speeds(blocks, direction);
    Rare::of_blocks(&baseline, &variant, alpha)
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
pub(crate) fn from_log_gains(gains: &[f64], terms: Terms) -> Comparison {
    by_signed_ranks(gains, terms).unwrap_or_else(|| by_t(gains, terms))
}

/// Whether some of the ratios are stray runs.
pub(crate) fn has_strays(gains: &[f64]) -> bool {
    validity::stray_runs("", gains).is_some()
}

/// The comparison by signed ranks; `None` when there are too few ratios for them.
fn by_signed_ranks(gains: &[f64], terms: Terms) -> Option<Comparison> {
    let pairs = Pairs::means(gains);
    let allowance = terms.resolution.allowance(dataset::sd(gains));
    let interval = |confidence| {
        let (low, high) = hodges_lehmann::location_of(gains.len(), &pairs, confidence)?;
        Some(ConfidenceInterval::of_ln(low, high).widened(allowance))
    };
    let (interval95, interval90) =
        (interval(terms.confidence.share())?, interval(terms.confidence.of_equivalence())?);
    let t = T::of(gains, terms);
    let ranks = signed_rank::of_pairs(gains.len(), &pairs);
    let p = if terms.resolution.hides(t.sd) { ranks.max(t.p()) } else { ranks };
    Some(settled(Comparison {
        method: Method::SignedRank,
        estimand: Estimand::CentreOfRatios,
        estimate: Effect::from_ln(pairs.median()),
        p,
        ..t.comparison(terms, [interval95, interval90])
    }))
}

/// The interval of the Hodges-Lehmann estimate by signed ranks.
pub(crate) fn rank_interval(gains: &[f64], confidence: f64) -> Option<ConfidenceInterval> {
    let (low, high) = hodges_lehmann::location_interval(gains, confidence)?;
    Some(ConfidenceInterval::of_ln(low, high))
}

/// The paired t comparison of at least two log ratios.
pub(crate) fn by_t(gains: &[f64], terms: Terms) -> Comparison {
    let t = T::of(gains, terms);
    let allowance = terms.resolution.allowance(t.sd);
    let intervals = [terms.confidence.share(), terms.confidence.of_equivalence()].map(|level| {
        let plain = ConfidenceInterval::around_ln(t.mean, t_critical(level, t.degrees()) * t.error);
        plain.with(Effect::from_ln(t.mean)).widened(allowance)
    });
    let comparison = t.comparison(terms, intervals);
    if gains.len() < LEAST_NAMED { unnamed(comparison) } else { settled(comparison) }
}

/// Student's t of log ratios. No spread is taken for less than what the figures' rounding may hide.
pub(crate) struct T {
    n: usize,
    mean: f64,
    median: f64,
    sd: f64,
    error: f64,
    /// How far rounding may have moved the mean for good.
    allowance: f64,
}

impl T {
    pub fn of(gains: &[f64], terms: Terms) -> Self {
        let sd = dataset::sd(gains);
        let least = terms.resolution.least_sd_of_difference();
        let error = sd.max(least) / (gains.len() as f64).sqrt();
        let (mean, median) = (dataset::mean(gains), dataset::median(gains));
        let allowance = terms.resolution.allowance(sd);
        Self { n: gains.len(), mean, median, sd, error, allowance }
    }

    fn degrees(&self) -> f64 {
        (self.n - 1) as f64
    }

    fn p(&self) -> f64 {
        p_of(beyond(self.mean, self.allowance), self.error, self.degrees())
    }

    /// The comparison with these intervals, at the confidence of the terms and for "equivalent".
    pub fn comparison(
        &self,
        terms: Terms,
        [interval95, interval90]: [ConfidenceInterval; 2],
    ) -> Comparison {
        Comparison {
            method: Method::Paired,
            n: Counts { baseline: self.n, variant: self.n },
            estimand: Estimand::MeanOfRatios,
            estimate: Effect::from_ln(self.mean),
            median: Effect::from_ln(self.median),
            mean: Effect::from_ln(self.mean),
            confidence: terms.confidence,
            interval95,
            interval90,
            p: self.p(),
            sd_of_difference: self.sd,
            correction: None,
            rare: None,
            agreement: None,
            rounding: self.allowance,
        }
    }
}

/// A comparison of too few values to name a winner.
pub(crate) fn unnamed(comparison: Comparison) -> Comparison {
    Comparison { interval95: comparison.interval95.with_no_change(), p: 1.0, ..comparison }
}

/// A comparison whose interval agrees with its p to the last digit.
pub(crate) fn settled(comparison: Comparison) -> Comparison {
    let interval = comparison.interval95;
    let is_different = comparison.p <= comparison.confidence.alpha();
    let interval95 = if is_different {
        interval.without_no_change(comparison.estimate)
    } else {
        interval.with_no_change()
    };
    // no spread at all beside an estimate that rounds to "no change" is no proof
    let p = if is_different && !interval95.excludes_no_change() { 1.0 } else { comparison.p };
    Comparison { interval95, p, ..comparison }
}

/// What of a mean rounding cannot have made, without its sign.
pub(crate) fn beyond(mean: f64, allowance: f64) -> f64 {
    (mean.abs() - allowance).max(0.0)
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

    const TERMS: Terms = Terms { confidence: Confidence::USUAL, resolution: Resolution::FINE };

    fn blocks() -> Vec<Block> {
        let baseline = [100.0, 101.0, 99.0, 100.5, 98.0, 102.0, 100.0, 99.5];
        let variant = [102.0, 103.5, 100.0, 103.0, 100.5, 103.0, 102.5, 101.0];
        baseline.into_iter().zip(variant).map(|(b, v)| Block::new(b, v)).collect()
    }

    /// scipy 1.17.1: scipy.stats.ttest_rel(log(v), log(b)) and its confidence_interval.
    #[test]
    fn interval_and_p_equal_scipy() {
        let gains = log_gains(&blocks(), Direction::HigherIsBetter).unwrap();
        let result = by_t(&gains, TERMS);
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
        // again, with other digits: equal figures look rounded
        let again = blocks().into_iter().map(|b| Block::new(b.baseline + 0.01, b.variant + 0.02));
        let more: Vec<Block> = strayed.iter().copied().chain(again).collect();
        let result = compare(&more, Direction::HigherIsBetter).unwrap();
        assert!(result.interval95.low.percent() > 1.0 && result.p < 0.01, "{result:?}");
        assert!(
            !by_t(&log_gains(&more, Direction::HigherIsBetter).unwrap(), TERMS)
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

    /// Seven digits that agree are worth more than one.
    #[test]
    fn identical_blocks_are_as_equal_as_their_figures_can_tell() {
        let of = |figure| compare(&[Block::new(figure, figure); 5], Direction::HigherIsBetter);
        let (coarse, fine) = (of(5.0).unwrap(), of(5_000_000.0).unwrap());
        assert_eq!((coarse.p, fine.p), (1.0, 1.0));
        assert!(!fine.interval95.excludes_no_change() && fine.interval90.is_within(0.01));
        assert!(!coarse.interval90.is_within(0.01), "{coarse:?}");
    }

    #[test]
    fn zero_spread_of_few_blocks_names_no_winner() {
        for n in 2..=LEAST_NAMED {
            let result =
                compare(&vec![Block::new(5.0, 6.0); n], Direction::HigherIsBetter).unwrap();
            assert!(!result.interval95.excludes_no_change(), "{n}: {result:?}");
        }
        // 5.49 and 5.51 look like that too, and so do clocks that tick at other moments.
        for n in [5, 12, 100] {
            let of = |v| compare(&vec![Block::new(5.0, v); n], Direction::HigherIsBetter).unwrap();
            let (near, far) = (of(6.0), of(9.0));
            assert!(near.p > 0.05 && !near.interval95.excludes_no_change(), "{n}: {near:?}");
            assert!(near.interval95.high.percent() > 25.0, "{n}: {near:?}");
            assert!(n < 100 || far.interval95.excludes_no_change(), "{n}: {far:?}");
            assert!(!by_t(&vec![near.mean.ln(); n], steps()).interval95.excludes_no_change());
        }
    }

    /// Boots of a kernel whose clock counts instructions are the same to the last one.
    #[test]
    fn exact_counts_without_spread_differ_where_no_rounding_made_them() {
        let blocks = vec![Block::new(2_480.370_123, 2_570.112_457); 4];
        let found = compare(&blocks, Direction::LowerIsBetter).unwrap();
        assert!(found.interval95.excludes_no_change() && found.p < 0.05, "{found:?}");
        assert!(found.interval95.covers(found.estimate), "{found:?}");
        assert!((found.estimate.percent() + 3.49).abs() < 0.01, "{found:?}");
        let equal =
            compare(&[Block::new(2_480.370_123, 2_480.370_123); 4], Direction::LowerIsBetter);
        let equal = equal.unwrap();
        assert!(!equal.interval95.excludes_no_change(), "{equal:?}");
    }

    /// Whole numbers about 6.
    fn steps() -> Terms {
        Terms { resolution: Resolution::of(&[5.0, 5.0, 6.0, 6.0]), ..TERMS }
    }

    #[test]
    fn the_first_blocks_speak_only_together() {
        let blocks: Vec<Block> =
            (0..3).map(|i| Block::new(100.0 + f64::from(i), 150.0 + f64::from(2 * i))).collect();
        let result = compare(&blocks, Direction::HigherIsBetter).unwrap();
        assert!(result.p == 1.0 && !result.interval95.excludes_no_change(), "{result:?}");
    }

    #[test]
    fn more_confidence_is_a_wider_interval() {
        let at = |share| {
            let confidence = Confidence::new(share).unwrap();
            compare_at(&blocks(), Direction::HigherIsBetter, confidence).unwrap()
        };
        let (usual, sure) = (at(0.95), at(0.999));
        assert!(sure.interval95.low < usual.interval95.low);
        assert_eq!(sure.method, Method::Paired, "8 blocks have no signed ranks at 99.9 %");
        assert_eq!(sure.confidence.percent(), 99.9);
        assert!(Confidence::new(1.0).is_err() && Confidence::new(f64::NAN).is_err());
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
