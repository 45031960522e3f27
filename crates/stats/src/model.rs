//! Several variants against one baseline over complete blocks.
//!
//! log y = block + variant + residual: the residual variance is pooled over all variants, which
//! buys degrees of freedom, and Dunnett's critical value keeps the chance of any false difference
//! at 5 % (testing each alone against the baseline: 20 % with six variants). When the
//! variances of differences differ more than fourfold, or stray runs are among them, pooling misleads;
//! then each variant is paired with the baseline by itself, with Holm's step-down ("A simple sequentially rejective multiple test
//! procedure", Scand. J. Stat. 6 (1979)).
//!
//! Dunnett's test takes the residuals for normal. A difference must therefore pass the signed-rank
//! test of its own ratios too, where there are blocks enough for one; the interval is the smallest
//! that holds those of both.

use crate::comparison::{Comparison, Confidence, ConfidenceInterval, Direction, Estimand, Method};
use crate::effect::Effect;
use crate::multiple::{Correction, Kind};
use crate::paired::{LEAST_NAMED, Terms};
use crate::rare::Rare;
use crate::resolution::Resolution;
use crate::{Error, dataset, dunnett, hodges_lehmann, paired, signed_rank};

/// Ratio of the variances of differences from which they are not pooled.
pub const MOST_VARIANCE_RATIO: f64 = 4.0;

/// Compares every variant with the baseline at 95 %. `blocks` has one row per complete block: the
/// baseline's value first, then each variant's. The results are in the order of the variants.
///
/// # Errors
/// [`Error::TooFew`] with fewer than two blocks or columns, [`Error::Ragged`] for rows of unequal
/// length, [`Error::NotPositive`] for a value without a logarithm.
pub fn compare(blocks: &[Vec<f64>], direction: Direction) -> Result<Vec<Comparison>, Error> {
    compare_at(blocks, direction, Confidence::USUAL)
}

/// As [`compare`], as sure as `confidence` asks for, over all variants together.
///
/// # Errors
/// As [`compare`].
pub fn compare_at(
    blocks: &[Vec<f64>],
    direction: Direction,
    confidence: Confidence,
) -> Result<Vec<Comparison>, Error> {
    let gains = gains_by_variant(blocks, direction)?;
    let terms = Terms { confidence, resolution: Resolution::of(blocks.iter().flatten()) };
    let has_strays = gains.iter().any(|gains| paired::has_strays(gains));
    let compared = if gains.len() == 1 {
        vec![paired::from_log_gains(&gains[0], terms)]
    } else if has_strays || variance_ratio(&gains) > MOST_VARIANCE_RATIO {
        holm(&gains, terms)
    } else {
        by_dunnett(&gains, &Residuals::of(&gains), terms)
    };
    let side = |column: usize| -> Vec<f64> {
        blocks.iter().map(|row| direction.log_speed(row[column])).collect()
    };
    let alpha = confidence.among(gains.len()).alpha();
    let with_runs = |(variant, comparison): (usize, Comparison)| {
        let own = &gains[variant];
        let [baseline, variant] = [0, variant + 1].map(&side);
        paired::with_runs(comparison, own, Rare::of_blocks(&baseline, &variant, alpha))
    };
    Ok(compared.into_iter().enumerate().map(with_runs).collect())
}

/// Log speed ratios of each variant against the baseline, by block.
fn gains_by_variant(blocks: &[Vec<f64>], direction: Direction) -> Result<Vec<Vec<f64>>, Error> {
    let want = blocks.first().map_or(0, Vec::len);
    if blocks.len() < 2 || want < 2 {
        return Err(Error::TooFew {
            what: "a comparison over blocks",
            got: blocks.len().min(want),
            need: 2,
        });
    }
    if let Some(block) = blocks.iter().position(|row| row.len() != want) {
        return Err(Error::Ragged { block, got: blocks[block].len(), want });
    }
    (1..want)
        .map(|variant| {
            let pairs: Vec<paired::Block> =
                blocks.iter().map(|row| paired::Block::new(row[0], row[variant])).collect();
            paired::log_gains(&pairs, direction)
        })
        .collect()
}

/// Residuals of the two-way model, from the gains alone: with the baseline's log value as origin
/// of each block, the values of a block are 0 and its gains.
struct Residuals {
    /// Sum of squares of each column, the baseline first.
    squares: Vec<f64>,
    blocks: usize,
}

impl Residuals {
    fn of(gains: &[Vec<f64>]) -> Self {
        let blocks = gains[0].len();
        let columns = gains.len() + 1;
        let value =
            |column: usize, block: usize| if column == 0 { 0.0 } else { gains[column - 1][block] };
        let column_means: Vec<f64> = (0..columns)
            .map(|c| (0..blocks).map(|b| value(c, b)).sum::<f64>() / blocks as f64)
            .collect();
        let grand = dataset::mean(&column_means);
        let mut squares = vec![0.0; columns];
        for block in 0..blocks {
            let block_mean = (0..columns).map(|c| value(c, block)).sum::<f64>() / columns as f64;
            for (column, sum) in squares.iter_mut().enumerate() {
                *sum += (value(column, block) - block_mean - column_means[column] + grand).powi(2);
            }
        }
        Self { squares, blocks }
    }

    fn degrees(&self) -> f64 {
        ((self.blocks - 1) * (self.squares.len() - 1)) as f64
    }

    fn variance(&self) -> f64 {
        self.squares.iter().sum::<f64>() / self.degrees()
    }
}

/// Largest over smallest variance of the log differences between any two columns, the baseline
/// among them. (Variances of single columns would need Grubbs' estimator, which comes out negative
/// in one of three tables of 8 blocks; these are always positive, and they are what intervals are
/// made of.)
fn variance_ratio(gains: &[Vec<f64>]) -> f64 {
    let zero = vec![0.0; gains[0].len()];
    let columns: Vec<&Vec<f64>> = std::iter::once(&zero).chain(gains).collect();
    let (mut low, mut high) = (f64::INFINITY, 0.0f64);
    for (i, a) in columns.iter().enumerate() {
        for b in &columns[i + 1..] {
            let differences: Vec<f64> = a.iter().zip(b.iter()).map(|(a, b)| a - b).collect();
            let variance = dataset::variance(&differences);
            (low, high) = (low.min(variance), high.max(variance));
        }
    }
    if high > 0.0 { high / low } else { 1.0 }
}

fn by_dunnett(gains: &[Vec<f64>], residuals: &Residuals, terms: Terms) -> Vec<Comparison> {
    let is_unnamed = residuals.blocks < LEAST_NAMED;
    dunnett_alone(gains, residuals, terms)
        .into_iter()
        .zip(gains)
        .map(|(own, gains)| both(own, gains, terms))
        .map(|own| if is_unnamed { paired::unnamed(own) } else { paired::settled(own) })
        .collect()
}

fn dunnett_alone(gains: &[Vec<f64>], residuals: &Residuals, terms: Terms) -> Vec<Comparison> {
    let (blocks, k) = (residuals.blocks, gains.len());
    let df = residuals.degrees();
    let sd = (2.0 * residuals.variance()).sqrt();
    let error = sd.max(terms.resolution.least_sd_of_difference()) / (blocks as f64).sqrt();
    let allowance = terms.resolution.allowance(sd);
    let levels = [terms.confidence.share(), terms.confidence.of_equivalence()];
    let critical = levels.map(|level| dunnett::critical(level, k, df));
    gains
        .iter()
        .map(|gains| {
            let mean = dataset::mean(gains);
            let beyond = paired::beyond(mean, allowance);
            let p = match error > 0.0 {
                true => (1.0 - dunnett::probability(beyond / error, k, df)).clamp(0.0, 1.0),
                false => paired::p_of(beyond, error, df),
            };
            let intervals = critical.map(|critical| {
                let plain = ConfidenceInterval::around_ln(mean, critical * error);
                plain.with(Effect::from_ln(mean)).widened(allowance)
            });
            let by_t = paired::T::of(gains, terms).comparison(terms, intervals);
            Comparison {
                method: Method::Dunnett,
                p,
                sd_of_difference: sd,
                rounding: allowance,
                ..by_t
            }
        })
        .collect()
}

/// A comparison that must pass the signed-rank test too, if there are blocks enough for it.
fn both(comparison: Comparison, gains: &[f64], terms: Terms) -> Comparison {
    let Terms { confidence, resolution } = terms;
    let ranks = |level: f64| paired::rank_interval(gains, level);
    let levels = ranks(confidence.share()).zip(ranks(confidence.of_equivalence()));
    let Some((wide, narrow)) = levels else { return comparison };
    let allowance = resolution.allowance(dataset::sd(gains));
    Comparison {
        estimand: Estimand::CentreOfRatios,
        estimate: Effect::from_ln(hodges_lehmann::location(gains)),
        interval95: comparison.interval95.hull(wide.widened(allowance)),
        interval90: comparison.interval90.hull(narrow.widened(allowance)),
        p: comparison.p.max(signed_rank::two_sided(gains)),
        ..comparison
    }
}

/// Pairs with Holm: the smallest p is tested at alpha/k, the next at alpha/(k-1), and so on until
/// one is not rejected. Each interval has the level of its step, so that it leaves out "no change"
/// exactly when Holm rejects.
fn holm(gains: &[Vec<f64>], terms: Terms) -> Vec<Comparison> {
    let (k, alpha) = (gains.len(), terms.confidence.alpha());
    // With few blocks ranks cannot reach the level of the first step; t can.
    let has_ranks = signed_rank::critical(gains[0].len(), alpha / 2.0 / k as f64).is_some();
    let at = |gains: &[f64], alpha: f64| {
        let terms = Terms { confidence: Confidence::with_alpha(alpha), ..terms };
        if has_ranks { paired::from_log_gains(gains, terms) } else { paired::by_t(gains, terms) }
    };
    let p: Vec<f64> = gains.iter().map(|gains| at(gains, alpha).p).collect();
    let steps = Correction { kind: Kind::Holm, among: k }.steps(&p, alpha);
    gains
        .iter()
        .zip(steps)
        .map(|(gains, step)| {
            let own = at(gains, step.alpha);
            let method = match own.method {
                Method::SignedRank => Method::HolmSignedRank,
                _ => Method::HolmPaired,
            };
            let confidence = terms.confidence;
            paired::settled(Comparison { method, p: step.p, confidence, ..own })
        })
        .collect()
}

#[cfg(test)]
mod tests;
