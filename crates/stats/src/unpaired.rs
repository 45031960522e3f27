//! Comparison without blocks, for imported results: Welch on log values and Mann-Whitney, both.
//!
//! Welch, "The generalization of 'Student's' problem when several different population variances
//! are involved", Biometrika 34 (1947), is at ease with unequal spreads and takes the noise for
//! normal; Mann and Whitney's test (Ann. Math. Stat. 18 (1947)) is exact under any noise and takes
//! both spreads for equal. A difference must pass both, so that it has the level asked for where
//! either assumption holds (an intersection-union test: Berger, "Multiparameter hypothesis testing
//! and acceptance sampling", Technometrics 24 (1982)). The interval is the smallest that holds
//! those of both, the figure quoted is the Hodges-Lehmann estimate.
//!
//! Without blocks the order of the runs is not known to be random; drift between the two groups
//! looks like a difference, and no test can tell them apart.

use serde::{Deserialize, Serialize};

use crate::comparison::{
    Comparison, Confidence, ConfidenceInterval, Counts, Direction, Estimand, Method,
};
use crate::distribution::t_critical;
use crate::effect::Effect;
use crate::multiple::{Correction, Kind};
use crate::paired::{self, LEAST_NAMED};
use crate::pairs::Pairs;
use crate::rare::Rare;
use crate::resolution::Resolution;
use crate::{Error, dataset, hodges_lehmann, lost, mann_whitney};

/// The rank test that stands beside Welch's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankTest {
    /// Two-sided p of the Mann-Whitney test.
    pub p: f64,
    /// Hodges-Lehmann estimate of the speed ratio.
    pub estimate: Effect,
    /// Its interval, 95 % unless asked otherwise, when the datasets are large enough to have one.
    pub interval95: Option<ConfidenceInterval>,
}

/// Both tests of one pair of datasets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unpaired {
    /// What both together say.
    pub comparison: Comparison,
    /// Two-sided p of Welch's t on log values alone.
    pub welch_p: f64,
    /// Mann-Whitney alone.
    pub rank: RankTest,
}

impl Unpaired {
    /// Whether one test finds a difference and the other does not, though it could.
    pub fn tests_disagree(&self) -> bool {
        let alpha = self.comparison.confidence.alpha();
        self.rank.interval95.is_some() && (self.welch_p < alpha) != (self.rank.p < alpha)
    }
}

/// Compares two datasets whose runs were not arranged in blocks, at 95 %.
///
/// # Errors
/// [`Error::TooFew`] with fewer than two values on a side, [`Error::NotPositive`] for a value
/// without a logarithm.
pub fn compare(baseline: &[f64], variant: &[f64], direction: Direction) -> Result<Unpaired, Error> {
    compare_at(baseline, variant, direction, Confidence::USUAL)
}

/// As [`compare`], as sure as `confidence` asks for.
///
/// With fewer than four runs on a side, or too few for the rank test to reach the level, no winner
/// is named: p is then above the level, and the interval holds "no change".
///
/// # Errors
/// As [`compare`].
pub fn compare_at(
    baseline: &[f64],
    variant: &[f64],
    direction: Direction,
    confidence: Confidence,
) -> Result<Unpaired, Error> {
    compare_pair(&Pair { baseline, variant, direction, failed: [0; 2] }, confidence)
}

/// As [`compare_at`], beside trials that FAILED: a difference must also be proven with each of them as the
/// worst run of its side, and nothing is equivalent while there is any ([`crate::lost`]). The rank test and
/// Welch's p are of what was measured.
///
/// # Errors
/// As [`compare`].
pub fn compare_pair(pair: &Pair<'_>, confidence: Confidence) -> Result<Unpaired, Error> {
    Ok(Beside::new(pair)?.compared(confidence, None))
}

/// Two datasets that are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair<'a> {
    /// Values of the baseline.
    pub baseline: &'a [f64],
    /// Values of the variant.
    pub variant: &'a [f64],
    /// Which way is better.
    pub direction: Direction,
    /// How many trials of the baseline and of the variant FAILED beside these.
    pub failed: [usize; 2],
}

/// Compares several pairs of datasets that share one level: several variants
/// beside one baseline with [`Kind::Holm`], a list of benchmarks with [`Kind::FalseDiscovery`].
/// The results are in the order of the pairs; p is adjusted, and intervals have the level of their
/// step, so that they leave out "no change" exactly when p reaches the level.
///
/// # Errors
/// As [`compare`], for each pair by itself; a pair that cannot be compared takes no share.
pub fn compare_several(
    pairs: &[Pair<'_>],
    confidence: Confidence,
    kind: Kind,
) -> Vec<Result<Unpaired, Error>> {
    let sides: Vec<Result<Beside, Error>> = pairs.iter().map(Beside::new).collect();
    let plain = |sides: &Beside| sides.compared(confidence, None).comparison.p;
    let p: Vec<f64> = sides.iter().flatten().map(plain).collect();
    let correction = Correction { kind, among: p.len() };
    let mut steps = correction.steps(&p, confidence.alpha()).into_iter();
    sides
        .into_iter()
        .map(|sides| {
            let sides = sides?;
            let step = steps.next().expect("invariant: one step for each pair that compares");
            let at = Confidence::with_alpha(step.alpha);
            let mut result = sides.compared(at, Some(correction));
            let own = Comparison { p: step.p, confidence, ..result.comparison };
            result.comparison = paired::settled(own);
            Ok(result)
        })
        .collect()
}

/// Both sides as measured, and with the worst in the place of what FAILED, where anything did.
struct Beside {
    measured: Sides,
    filled: Option<Sides>,
    failed: [usize; 2],
}

impl Beside {
    fn new(pair: &Pair<'_>) -> Result<Self, Error> {
        let Pair { baseline, variant, direction, failed } = *pair;
        let measured = Sides::new(baseline, variant, direction)?;
        let filled = (failed != [0; 2]).then(|| Sides {
            baseline: lost::filled_side(measured.baseline.clone(), failed[0]),
            variant: lost::filled_side(measured.variant.clone(), failed[1]),
            ..measured
        });
        Ok(Self { measured, filled, failed })
    }

    fn compared(&self, confidence: Confidence, correction: Option<Correction>) -> Unpaired {
        let own = self.measured.compared(confidence, correction);
        let Some(filled) = &self.filled else { return own };
        let all = filled.compared(confidence, correction).comparison;
        Unpaired { comparison: lost::of_both(own.comparison, &all, self.failed), ..own }
    }
}

/// Log speeds of both sides: larger is faster.
struct Sides {
    baseline: Vec<f64>,
    variant: Vec<f64>,
    resolution: Resolution,
}

impl Sides {
    fn new(baseline: &[f64], variant: &[f64], direction: Direction) -> Result<Self, Error> {
        Ok(Self {
            baseline: log_speeds("baseline", baseline, direction)?,
            variant: log_speeds("variant", variant, direction)?,
            resolution: Resolution::of(baseline.iter().chain(variant)),
        })
    }

    fn compared(&self, confidence: Confidence, correction: Option<Correction>) -> Unpaired {
        let (b, v) = (&self.baseline, &self.variant);
        let pairs = Pairs::differences(b, v);
        let levels = [confidence.share(), confidence.of_equivalence()];
        let ranks = levels.map(|level| {
            let (low, high) = hodges_lehmann::interval_of((b.len(), v.len()), &pairs, level)?;
            Some(ConfidenceInterval::of_ln(low, high))
        });
        let rank = RankTest {
            p: mann_whitney::test(b, v).p,
            estimate: Effect::from_ln(pairs.median()),
            interval95: ranks[0],
        };
        let welch = Welch::of(self);
        let allowance = self.resolution.allowance(welch.sd_of_difference());
        let [wide, narrow] = [0, 1].map(|i| {
            let welch = welch.interval(levels[i]).with(rank.estimate);
            ranks[i].map_or(welch, |ranks| welch.hull(ranks)).widened(allowance)
        });
        let welch_p = welch.p(allowance);
        let comparison = Comparison {
            method: Method::Welch,
            n: Counts { baseline: b.len(), variant: v.len() },
            estimand: Estimand::ShiftOfValues,
            estimate: rank.estimate,
            median: Effect::from_ln(dataset::median(v) - dataset::median(b)),
            mean: Effect::from_ln(welch.mean),
            confidence,
            interval95: wide,
            interval90: narrow,
            p: welch_p.max(mann_whitney::of_pairs((b.len(), v.len()), &pairs)),
            sd_of_difference: welch.sd_of_difference(),
            correction,
            rare: Some(Rare::of_runs(b, v, confidence.alpha())),
            agreement: None,
            rounding: allowance,
        };
        let is_unnamed = b.len().min(v.len()) < LEAST_NAMED;
        let comparison =
            if is_unnamed { paired::unnamed(comparison) } else { paired::settled(comparison) };
        Unpaired { comparison, welch_p, rank }
    }
}

fn log_speeds(side: &'static str, values: &[f64], direction: Direction) -> Result<Vec<f64>, Error> {
    if values.len() < 2 {
        return Err(Error::TooFew { what: side, got: values.len(), need: 2 });
    }
    if let Some(index) = values.iter().position(|v| *v <= 0.0 || !v.is_finite()) {
        return Err(Error::NotPositive { side, index, value: values[index] });
    }
    Ok(values.iter().map(|v| direction.log_speed(*v)).collect())
}

/// Welch's t. No side's spread is taken for less than what rounding may hide.
struct Welch {
    mean: f64,
    /// Squared standard errors, with the number of values.
    errors: [(f64, usize); 2],
    /// Variances as seen.
    variances: [f64; 2],
}

impl Welch {
    fn of(sides: &Sides) -> Self {
        let values = [&sides.baseline, &sides.variant];
        let variances = values.map(|side| dataset::variance(side));
        let least = sides.resolution.least_sd().powi(2);
        let error = |i: usize| (variances[i].max(least) / values[i].len() as f64, values[i].len());
        let mean = dataset::mean(values[1]) - dataset::mean(values[0]);
        Self { mean, errors: [error(0), error(1)], variances }
    }

    fn error(&self) -> f64 {
        self.errors.iter().map(|(error, _)| error).sum::<f64>().sqrt()
    }

    fn sd_of_difference(&self) -> f64 {
        self.variances.iter().sum::<f64>().sqrt()
    }

    /// Welch-Satterthwaite.
    fn degrees(&self) -> f64 {
        let all: f64 = self.errors.iter().map(|(error, _)| error).sum();
        let spread: f64 =
            self.errors.iter().map(|(error, n)| (error / all).powi(2) / (n - 1) as f64).sum();
        let pooled: usize = self.errors.iter().map(|(_, n)| n - 1).sum();
        if all > 0.0 && spread.is_finite() { 1.0 / spread } else { pooled as f64 }
    }

    /// p of what rounding cannot have made.
    fn p(&self, allowance: f64) -> f64 {
        paired::p_of(paired::beyond(self.mean, allowance), self.error(), self.degrees())
    }

    fn interval(&self, confidence: f64) -> ConfidenceInterval {
        ConfidenceInterval::around_ln(
            self.mean,
            t_critical(confidence, self.degrees()) * self.error(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    const BASELINE: [f64; 5] = [700_644.0, 696_261.0, 694_169.0, 696_703.0, 697_081.0];
    const VARIANT: [f64; 5] = [825_061.0, 816_670.0, 818_114.5, 813_395.0, 820_180.5];

    /// scipy 1.17.1: scipy.stats.ttest_ind(log(v), log(b), equal_var=False).
    #[test]
    fn welch_equals_scipy() {
        let result = compare(&BASELINE, &VARIANT, Direction::HigherIsBetter).unwrap();
        assert!((result.welch_p / 2.357529035220621e-10 - 1.0).abs() < 1e-9);
        let sides = Sides::new(&BASELINE, &VARIANT, Direction::HigherIsBetter).unwrap();
        let [wide, narrow] = [0.95, 0.90].map(|level| Welch::of(&sides).interval(level));
        assert!((wide.low.ln() - 0.1542722330638512).abs() < 1e-12);
        assert!((wide.high.ln() - 0.1676218601396918).abs() < 1e-12);
        assert!((narrow.low.ln() - 0.1556086493919274).abs() < 1e-12);
        assert!(!result.tests_disagree());
        let own = &result.comparison;
        assert_eq!(own.p, result.rank.p, "both tests must find it: 2 in C(10, 5)");
        assert!(own.interval95.low <= wide.low && own.interval95.high >= wide.high);
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

    /// `5,5` against `6,6` used to be "20.0 % [20.0 %, 20.0 %]".
    #[test]
    fn zero_spread_is_no_proof() {
        let judge = |n: usize| {
            let result = compare(&vec![5.0; n], &vec![6.0; n], Direction::HigherIsBetter).unwrap();
            Verdict::judge(&result.comparison, 0.01, &[])
        };
        assert_eq!(judge(2), Verdict::Inconclusive { more_blocks: 2 });
        assert_eq!(judge(3), Verdict::Inconclusive { more_blocks: 1 });
        let ten = compare(&[5.0; 10], &[6.0; 10], Direction::HigherIsBetter).unwrap().comparison;
        assert_eq!(judge(10).word(), "inconclusive", "5.49 and 5.51 look like that, too");
        assert!(ten.interval95.low.percent() < 1.0 && ten.interval95.high.percent() > 39.0);
    }

    /// Hodges and Lehmann's estimate used to stand beside an interval of means that left it out.
    #[test]
    fn the_figure_quoted_lies_in_its_interval_under_two_states() {
        let side = |slow: [usize; 4]| -> Vec<f64> {
            let state = |i| if slow.contains(&i) { 7.6 } else { 4.8 };
            (0..20).map(|i| state(i) * (1.0 + 1e-3 * (i * 7 % 19) as f64)).collect()
        };
        let (a, b) = (side([1, 2, 3, 4]), side([99, 99, 99, 99]));
        let own = compare(&a, &b, Direction::LowerIsBetter).unwrap().comparison;
        assert!(own.interval95.covers(own.estimate) && own.interval95.covers(own.mean), "{own:?}");
        let means = Welch::of(&Sides::new(&a, &b, Direction::LowerIsBetter).unwrap());
        assert!(!means.interval(0.95).covers(own.estimate), "the means alone leave it out");
    }

    #[test]
    fn several_groups_share_the_level() {
        let base: Vec<f64> = (0..10).map(|i| 100.0 + f64::from(i * 7 % 10) * 0.31).collect();
        let near: Vec<f64> = base.iter().map(|v| v * 1.011 + 0.003).collect();
        let far: Vec<f64> = base.iter().map(|v| v * 1.1 + 0.001).collect();
        let alone = compare(&base, &near, Direction::HigherIsBetter).unwrap().comparison;
        assert!(alone.p < 0.05 && alone.p > 0.01, "{}", alone.p);
        let pair = |variant| Pair {
            baseline: &base,
            variant,
            direction: Direction::HigherIsBetter,
            failed: [0; 2],
        };
        let pairs = [pair(&near), pair(&far), pair(&base), pair(&[1.0])];
        let several = |kind| {
            let all = compare_several(&pairs, Confidence::USUAL, kind);
            assert!(matches!(all[3], Err(Error::TooFew { .. })));
            let named =
                |i: usize| all[i].as_ref().unwrap().comparison.interval95.excludes_no_change();
            (named(0), named(1), named(2))
        };
        assert_eq!(several(Kind::Holm), (false, true, false));
        let all = compare_several(&pairs[..3], Confidence::USUAL, Kind::FalseDiscovery);
        let correction = all[0].as_ref().unwrap().comparison.correction.unwrap();
        assert_eq!(
            correction.describe(),
            "false discovery rate over 3 comparisons (Benjamini-Hochberg)"
        );
    }
}
