//! Several variants against one baseline over complete blocks.
//!
//! log y = block + variant + residual: the residual variance is pooled over all variants, which
//! buys degrees of freedom, and Dunnett's critical value keeps the chance of any false difference
//! at 5 % (testing each alone against the baseline: 20 % with six variants). When the
//! variances of differences differ more than fourfold, or stray runs are among them, pooling misleads;
//! then each variant is paired with the baseline by itself, with Holm's step-down ("A simple sequentially rejective multiple test
//! procedure", Scand. J. Stat. 6 (1979)).

use crate::comparison::{Comparison, Counts, Direction, Effect, Interval, Method};
use crate::distribution::t_critical;
use crate::{Error, dunnett, hodges_lehmann, paired, sample, signed_rank};

/// Ratio of the variances of differences from which they are not pooled.
pub const MOST_VARIANCE_RATIO: f64 = 4.0;

/// Compares every variant with the baseline. `blocks` has one row per complete block: the
/// baseline's value first, then each variant's. The results are in the order of the variants.
///
/// # Errors
/// [`Error::TooFew`] with fewer than two blocks or columns, [`Error::Ragged`] for rows of unequal
/// length, [`Error::NotPositive`] for a value without a logarithm.
pub fn compare(blocks: &[Vec<f64>], direction: Direction) -> Result<Vec<Comparison>, Error> {
    let gains = gains_by_variant(blocks, direction)?;
    if gains.len() == 1 {
        return Ok(vec![paired::from_log_gains(&gains[0])]);
    }
    let has_strays = gains.iter().any(|gains| paired::has_strays(gains));
    Ok(if has_strays || variance_ratio(&gains) > MOST_VARIANCE_RATIO {
        holm(&gains)
    } else {
        by_dunnett(&gains, &Residuals::of(&gains))
    })
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
        let grand = sample::mean(&column_means);
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
            let variance = sample::variance(&differences);
            (low, high) = (low.min(variance), high.max(variance));
        }
    }
    if high > 0.0 { high / low } else { 1.0 }
}

fn by_dunnett(gains: &[Vec<f64>], residuals: &Residuals) -> Vec<Comparison> {
    let (blocks, k) = (residuals.blocks, gains.len());
    let df = residuals.degrees();
    let sd = (2.0 * residuals.variance()).sqrt();
    let error = sd / (blocks as f64).sqrt();
    let (wide, narrow) = (dunnett::critical(0.95, k, df), dunnett::critical(0.90, k, df));
    gains
        .iter()
        .map(|gains| {
            let mean = sample::mean(gains);
            let p = match error > 0.0 {
                true => 1.0 - dunnett::probability(mean.abs() / error, k, df),
                false => paired::p_of(mean, error, df),
            };
            Comparison {
                method: Method::Dunnett,
                n: Counts { baseline: blocks, variant: blocks },
                estimate: Effect::from_ln(hodges_lehmann::location(gains)),
                median: Effect::from_ln(sample::median(gains)),
                mean: Effect::from_ln(mean),
                interval95: Interval::around_ln(mean, wide * error),
                interval90: Interval::around_ln(mean, narrow * error),
                p,
                sd_of_difference: sd,
            }
        })
        .collect()
}

/// Pairs with Holm: the smallest p is tested at alpha/k, the next at alpha/(k-1), and so on until
/// one is not rejected. Each interval has the level of its step, so that it leaves out "no change"
/// exactly when Holm rejects.
fn holm(gains: &[Vec<f64>]) -> Vec<Comparison> {
    // With few blocks ranks cannot reach the level of the first step; t can.
    let first_tail = 0.05 / 2.0 / gains.len() as f64;
    let has_ranks = signed_rank::critical(gains[0].len(), first_tail).is_some();
    let compare = if has_ranks { paired::from_log_gains } else { paired::by_t };
    let mut comparisons: Vec<Comparison> = gains.iter().map(|gains| compare(gains)).collect();
    let mut order: Vec<usize> = (0..gains.len()).collect();
    order.sort_by(|a, b| comparisons[*a].p.total_cmp(&comparisons[*b].p));
    let (mut left, mut largest_p, mut has_stopped) = (gains.len(), 0.0f64, false);
    for i in order {
        let own = &mut comparisons[i];
        let (n, mean) = (own.n.baseline as f64, own.mean.ln());
        let error = own.sd_of_difference / n.sqrt();
        let level = |alpha: f64| 1.0 - alpha / left as f64;
        let by_t = |alpha| Interval::around_ln(mean, t_critical(level(alpha), n - 1.0) * error);
        let by_ranks = |alpha| paired::rank_interval(&gains[i], level(alpha));
        let ranks = (own.method == Method::SignedRank).then(|| by_ranks(0.05).zip(by_ranks(0.10)));
        (own.method, own.interval95, own.interval90) = match ranks.flatten() {
            Some((wide, narrow)) => (Method::HolmSignedRank, wide, narrow),
            None => (Method::HolmPaired, by_t(0.05), by_t(0.10)),
        };
        largest_p = largest_p.max((own.p * left as f64).min(1.0));
        own.p = largest_p;
        has_stopped |= largest_p >= 0.05;
        if !has_stopped {
            left -= 1;
        }
    }
    comparisons
}

#[cfg(test)]
mod tests;
