//! Comparison without blocks, for imported results: Welch on log values, Mann-Whitney beside it.
//!
//! Welch, "The generalization of 'Student's' problem when several different population variances
//! are involved", Biometrika 34 (1947). Without blocks the order of the runs is not known to be
//! random; drift between the two groups looks like a difference, and no test can tell them apart.

use serde::{Deserialize, Serialize};

use crate::comparison::{Comparison, Counts, Direction, Effect, Interval, Method};
use crate::distribution::t_critical;
use crate::{Error, hodges_lehmann, mann_whitney, paired, sample};

/// The rank test that stands beside Welch's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankTest {
    /// Two-sided p of the Mann-Whitney test.
    pub p: f64,
    /// Hodges-Lehmann estimate of the speed ratio.
    pub estimate: Effect,
    /// Its 95 % interval, when the samples are large enough to have one.
    pub interval95: Option<Interval>,
}

/// Both tests of one pair of samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unpaired {
    /// Welch's t on log values.
    pub comparison: Comparison,
    /// Exact Mann-Whitney.
    pub rank: RankTest,
}

impl Unpaired {
    /// Whether one test finds a difference at 5 % and the other does not, though it could.
    pub fn tests_disagree(&self) -> bool {
        self.rank.interval95.is_some() && (self.comparison.p < 0.05) != (self.rank.p < 0.05)
    }
}

/// Compares two samples whose runs were not arranged in blocks.
///
/// # Errors
/// [`Error::TooFew`] with fewer than two values on a side, [`Error::NotPositive`] for a value
/// without a logarithm.
pub fn compare(baseline: &[f64], variant: &[f64], direction: Direction) -> Result<Unpaired, Error> {
    let b = logs("baseline", baseline)?;
    let v = logs("variant", variant)?;
    let sign = match direction {
        Direction::HigherIsBetter => 1.0,
        Direction::LowerIsBetter => -1.0,
    };
    let gain_ranks = hodges_lehmann::shift_interval(&b, &v, 0.95).map(|(low, high)| {
        let (low, high) = if sign > 0.0 { (low, high) } else { (-high, -low) };
        Interval { low: Effect::from_ln(low), high: Effect::from_ln(high) }
    });
    let rank = RankTest {
        p: mann_whitney::test(&b, &v).p,
        estimate: Effect::from_ln(sign * hodges_lehmann::shift(&b, &v)),
        interval95: gain_ranks,
    };
    Ok(Unpaired { comparison: welch(&b, &v, sign, rank.estimate), rank })
}

fn logs(side: &'static str, values: &[f64]) -> Result<Vec<f64>, Error> {
    if values.len() < 2 {
        return Err(Error::TooFew { what: side, got: values.len(), need: 2 });
    }
    if let Some(index) = values.iter().position(|v| *v <= 0.0 || !v.is_finite()) {
        return Err(Error::NotPositive { side, index, value: values[index] });
    }
    Ok(values.iter().map(|v| v.ln()).collect())
}

fn welch(b: &[f64], v: &[f64], sign: f64, estimate: Effect) -> Comparison {
    let (var_b, var_v) = (sample::variance(b), sample::variance(v));
    let (error_b, error_v) = (var_b / b.len() as f64, var_v / v.len() as f64);
    let error = (error_b + error_v).sqrt();
    let df = welch_df(error_b, b.len(), error_v, v.len());
    let mean = sign * (sample::mean(v) - sample::mean(b));
    Comparison {
        method: Method::Welch,
        n: Counts { baseline: b.len(), variant: v.len() },
        estimate,
        median: Effect::from_ln(sign * (sample::median(v) - sample::median(b))),
        mean: Effect::from_ln(mean),
        interval95: Interval::around_ln(mean, t_critical(0.95, df) * error),
        interval90: Interval::around_ln(mean, t_critical(0.90, df) * error),
        p: paired::p_of(mean, error, df),
        sd_of_difference: (var_b + var_v).sqrt(),
    }
}

/// Welch-Satterthwaite degrees of freedom from the two squared standard errors.
fn welch_df(error_b: f64, n_b: usize, error_v: f64, n_v: usize) -> f64 {
    let spread = error_b * error_b / (n_b - 1) as f64 + error_v * error_v / (n_v - 1) as f64;
    if spread > 0.0 { (error_b + error_v).powi(2) / spread } else { (n_b + n_v - 2) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASELINE: [f64; 5] = [700_644.0, 696_261.0, 694_169.0, 696_703.0, 697_081.0];
    const VARIANT: [f64; 5] = [825_061.0, 816_670.0, 818_114.5, 813_395.0, 820_180.5];

    /// scipy 1.17.1: scipy.stats.ttest_ind(log(v), log(b), equal_var=False).
    #[test]
    fn welch_equals_scipy() {
        let result = compare(&BASELINE, &VARIANT, Direction::HigherIsBetter).unwrap();
        let welch = &result.comparison;
        assert!((welch.p / 2.357529035220621e-10 - 1.0).abs() < 1e-9);
        assert!((welch.interval95.low.ln() - 0.1542722330638512).abs() < 1e-12);
        assert!((welch.interval95.high.ln() - 0.1676218601396918).abs() < 1e-12);
        assert!((welch.interval90.low.ln() - 0.1556086493919274).abs() < 1e-12);
        assert!(!result.tests_disagree());
    }

    #[test]
    fn lower_is_better_turns_the_effect_round() {
        let rate = compare(&BASELINE, &VARIANT, Direction::HigherIsBetter).unwrap();
        let cost = compare(&BASELINE, &VARIANT, Direction::LowerIsBetter).unwrap();
        assert!((rate.comparison.mean.ln() + cost.comparison.mean.ln()).abs() < 1e-12);
        let (r, c) = (rate.rank.interval95.unwrap(), cost.rank.interval95.unwrap());
        assert!((r.low.ln() + c.high.ln()).abs() < 1e-12);
    }

    #[test]
    fn a_stray_run_makes_the_tests_disagree() {
        let variant = [103.0, 103.1, 103.2, 103.3, 103.4, 150.0];
        let baseline = [100.0, 100.1, 100.2, 100.3, 100.4, 100.5];
        let result = compare(&baseline, &variant, Direction::HigherIsBetter).unwrap();
        assert!(result.tests_disagree(), "{result:?}");
    }
}
