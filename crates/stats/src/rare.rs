//! Runs far from the typical one: what is rare, and whether only one side has it.
//!
//! A change that makes one trial in ten 58 % slower leaves the centre of the ratios where it is, so
//! that the interval of the centre may lie within any margin: "equivalent" would be true of the
//! typical run, and false of the device. So runs far from their side's typical one are counted,
//! the slower ones and the faster ones each for themselves, as they do not make up for each other.
//! Nothing is called equivalent if one side alone has some that lie beyond the margin, or far more
//! than the other (Fisher's exact test, "Statistical Methods for Research Workers", 1934), or loses
//! by them, on average over all its runs, twice as much as the other and half the margin more: a
//! harmless stray of one side does not excuse a slow state of the other. That last rule is no test
//! of significance: for "equivalent" the suspicion is enough to say nothing. What was
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
/// One side loses so many times as much by its rare runs as the other: twice, but for noise.
const TIMES: f64 = 1.9;
/// The level of Fisher's test.
const LEVEL: f64 = 0.05;

/// The rare runs of one side that are slower than its typical one, or those that are faster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// How many.
    pub runs: usize,
    /// Their speed : speed of the typical run, geometric mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Effect>,
    /// The same of the one furthest away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub furthest: Option<Effect>,
}

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
    /// Those that are slower.
    #[serde(default)]
    pub slower: Tail,
    /// Those that are faster.
    #[serde(default)]
    pub faster: Tail,
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

    /// Whether one side alone has rare runs beyond `margin` (a fraction), far more of them, or
    /// loses (or gains) twice as much by them and half the margin more: among the slower ones, or the faster.
    pub fn is_one_sided(&self, margin: f64) -> bool {
        let tails: [fn(&Side) -> &Tail; 2] = [|side| &side.slower, |side| &side.faster];
        tails.into_iter().any(|tail| {
            let [b, v] = [&self.baseline, &self.variant].map(|side| (tail(side), side.runs));
            differ(b, v, margin.ln_1p())
        })
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
        let typical = median(&typical);
        let size = (!rare.is_empty()).then(|| Effect::from_ln(median(&rare) - typical));
        let share_at_most = upper_share(rare.len(), speeds.len());
        let (slower, faster) = rare.iter().map(|speed| speed - typical).partition(|own| *own < 0.0);
        let [slower, faster] = [slower, faster].map(|own: Vec<f64>| Tail::of(&own));
        Self { runs: speeds.len(), rare: rare.len(), size, share_at_most, slower, faster }
    }

    fn describe(&self, name: &str) -> Option<String> {
        let (runs, mut text) = (self.runs, String::new());
        // Whatever the figure is: a rare short burst is not slower.
        for (tail, word) in [(&self.slower, "worse"), (&self.faster, "better")] {
            let Some(size) = tail.size else { continue };
            let size = crate::effect::percent(size.percent().abs());
            let verb = if tail.runs == 1 { "is" } else { "are" };
            if text.is_empty() {
                text =
                    format!("{} of {runs} runs of {name} {verb} {word} by about {size}", tail.runs);
            } else {
                text = format!("{text} and {} {word} by about {size}", tail.runs);
            }
        }
        (!text.is_empty()).then_some(text)
    }
}

impl Tail {
    /// Of these distances from the typical run, on the log scale.
    fn of(distances: &[f64]) -> Self {
        let furthest = distances.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let size = furthest.map(|_| distances.iter().sum::<f64>() / distances.len() as f64);
        let [size, furthest] = [size, furthest].map(|own| own.map(Effect::from_ln));
        Self { runs: distances.len(), size, furthest }
    }

    /// How many there are, when one at least lies beyond `margin` (on the log scale).
    fn beyond(&self, margin: f64) -> usize {
        if self.furthest.is_some_and(|own| own.ln().abs() > margin) { self.runs } else { 0 }
    }

    /// Mean distance from the typical run.
    fn distance(&self) -> f64 {
        self.size.map_or(0.0, |size| size.ln().abs())
    }
}

/// Whether one of two sides, tails and all runs of each, differs from the other in what is rare.
fn differ(b: (&Tail, usize), v: (&Tail, usize), margin: f64) -> bool {
    let [rare_b, rare_v] = [b, v].map(|(tail, _)| tail.beyond(margin));
    match (rare_b, rare_v) {
        (0, 0) => return false,
        (0, _) | (_, 0) => return true,
        _ => {}
    }
    if fisher((rare_b, b.1), (rare_v, v.1)) < LEVEL {
        return true;
    }
    let lost = |(tail, of): (&Tail, usize)| tail.runs as f64 / of as f64 * tail.distance();
    let (more, less) = (lost(b).max(lost(v)), lost(b).min(lost(v)));
    more >= TIMES * less && more - less > margin / 2.0
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
