//! Runs far from the typical one: what is rare, and whether only one side has it.
//!
//! A change that makes one trial in ten 58 % slower leaves the centre of the ratios where it is, so
//! that the interval of the centre may lie within any margin: "equivalent" would be true of the
//! typical run, and false of the device. So runs far from their side's typical one are counted. If
//! one side alone has some that lie beyond the margin, or far more than the other (Fisher's exact
//! test, "Statistical Methods for Research Workers", 1934), nothing is called equivalent. What was
//! not seen may still be there: the bound on the share of rare runs is that of Clopper and Pearson,
//! Biometrika 26 (1934), for no rare run about 3 / n.

use serde::{Deserialize, Serialize};

use crate::dataset::{median, robust_sd, variance};
use crate::effect::Effect;

/// Fewest runs among which one can be told to be rare.
const LEAST_RUNS: usize = 4;
/// Robust standard deviations from the median beyond which a run is rare.
const REACH_SDS: f64 = 5.0;
/// Least distance from the median of a rare run, on the log scale.
const LEAST_DISTANCE: f64 = 0.01;
/// The level of Fisher's test.
const LEVEL: f64 = 0.05;

/// Rare runs of one side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Runs of this side.
    pub runs: usize,
    /// How many of them lie far from the typical one.
    pub rare: usize,
    /// Speed of the rare runs : speed of the typical one, their median; below 1 they are slower.
    pub size: Option<Effect>,
    /// Upper end of the 95 % range of the share of rare runs.
    pub share_at_most: f64,
}

/// Rare runs of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rare {
    /// The baseline's.
    pub baseline: Side,
    /// The variant's.
    pub variant: Side,
}

impl Rare {
    /// Among the log speeds of both sides (larger is faster).
    pub fn of(baseline: &[f64], variant: &[f64]) -> Self {
        Self { baseline: Side::of(baseline), variant: Side::of(variant) }
    }

    /// Whether one side alone has rare runs beyond `margin` (a fraction), or far more of them.
    pub fn is_one_sided(&self, margin: f64) -> bool {
        let [b, v] = [&self.baseline, &self.variant];
        let [rare_b, rare_v] = [b, v].map(|side| if side.exceeds(margin) { side.rare } else { 0 });
        match (rare_b, rare_v) {
            (0, 0) => false,
            (0, _) | (_, 0) => true,
            _ => fisher((rare_b, b.runs), (rare_v, v.runs)) < LEVEL,
        }
    }

    /// What is rare, in words: `2 of 20 runs of B are worse by about 58 %, none of A`. `None` when
    /// there are no rare runs.
    pub fn describe(&self, baseline: &str, variant: &str) -> Option<String> {
        match (self.variant.describe(variant), self.baseline.describe(baseline)) {
            (Some(v), Some(b)) => Some(format!("{v}, {b}")),
            (Some(v), None) => Some(format!("{v}, none of {baseline}")),
            (None, Some(b)) => Some(format!("{b}, none of {variant}")),
            (None, None) => None,
        }
    }
}

impl Side {
    fn of(speeds: &[f64]) -> Self {
        let (rare, typical) = split(speeds);
        let size = (!rare.is_empty()).then(|| Effect::from_ln(median(&rare) - median(&typical)));
        let share_at_most = upper_share(rare.len(), speeds.len());
        Self { runs: speeds.len(), rare: rare.len(), size, share_at_most }
    }

    fn exceeds(&self, margin: f64) -> bool {
        self.size.is_some_and(|size| size.ln().abs() > margin.ln_1p())
    }

    fn describe(&self, name: &str) -> Option<String> {
        let percent = self.size?.percent();
        // Whatever the figure is: a rare short burst is not slower.
        let word = if percent < 0.0 { "worse" } else { "better" };
        let size = crate::effect::percent(percent.abs());
        let verb = if self.rare == 1 { "is" } else { "are" };
        Some(format!("{} of {} runs of {name} {verb} {word} by about {size}", self.rare, self.runs))
    }
}

/// The rare values and the others: those far from the median in robust standard deviations (twice
/// as far among five values, whose deviation is a rough guess), or the smaller of two clusters.
fn split(speeds: &[f64]) -> (Vec<f64>, Vec<f64>) {
    if speeds.len() < LEAST_RUNS {
        return (Vec::new(), speeds.to_vec());
    }
    let centre = median(speeds);
    let few = 1.0 + 5.0 / speeds.len() as f64;
    let reach = (REACH_SDS * few * robust_sd(speeds)).max(LEAST_DISTANCE);
    let is_rare = |value: &f64| (value - centre).abs() > reach;
    let (rare, typical): (Vec<f64>, Vec<f64>) = speeds.iter().partition(|value| is_rare(value));
    if rare.is_empty() { smaller_cluster(speeds) } else { (rare, typical) }
}

/// The smaller of two clusters that lie more than 1 % and 4 times their inner spread apart.
fn smaller_cluster(speeds: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut sorted = speeds.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let gap = |at: usize| sorted[at] - sorted[at - 1];
    let Some(at) = (2..=sorted.len() - 2).max_by(|a, b| gap(*a).total_cmp(&gap(*b))) else {
        return (Vec::new(), sorted);
    };
    let (low, high) = sorted.split_at(at);
    let squares = variance(low) * (low.len() - 1) as f64 + variance(high) * (high.len() - 1) as f64;
    let within = (squares / (sorted.len() - 2) as f64).sqrt();
    if gap(at) <= (4.0 * within).max(LEAST_DISTANCE) {
        return (Vec::new(), sorted);
    }
    if high.len() < low.len() {
        (high.to_vec(), low.to_vec())
    } else {
        (low.to_vec(), high.to_vec())
    }
}

/// Upper end of the 95 % range of a share of which `rare` of `runs` were seen: the share at which so
/// few would be seen in 5 % of cases.
fn upper_share(rare: usize, runs: usize) -> f64 {
    if rare >= runs {
        return 1.0;
    }
    let (mut low, mut high) = (rare as f64 / runs as f64, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        // P(at most `rare` of `runs`) as an incomplete beta function
        let (a, b) = ((runs - rare) as f64, rare as f64 + 1.0);
        if statrs::function::beta::beta_reg(a, b, 1.0 - middle) > LEVEL {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Two-sided p of "the shares are equal" (hypergeometric; tables no likelier than the one seen).
fn fisher((a, of_a): (usize, usize), (b, of_b): (usize, usize)) -> f64 {
    let rare = a + b;
    let ln_ways = |seen: usize| {
        let choose =
            |n: usize, k: usize| statrs::function::factorial::ln_binomial(n as u64, k as u64);
        choose(of_a, seen) + choose(of_b, rare - seen)
    };
    let own = ln_ways(a);
    let (mut all, mut extreme) = (0.0, 0.0);
    for seen in rare.saturating_sub(of_b)..=rare.min(of_a) {
        let share = (ln_ways(seen) - own).exp();
        all += share;
        if share <= 1.0 + 1e-9 {
            extreme += share;
        }
    }
    extreme / all
}

#[cfg(test)]
mod tests;
