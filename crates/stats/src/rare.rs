//! Runs far from the typical one: what is rare, and what it costs beside the other side.
//!
//! A change that makes one trial in ten 58 % slower leaves the centre of the ratios where it is, so
//! that the interval of the centre may lie within any margin: "equivalent" would be true of the
//! typical run, and false of the device. So runs far from their side's typical one are counted,
//! the slower ones and the faster ones each for themselves, as they do not make up for each other,
//! and nothing is called equivalent unless the difference in what they cost, averaged over all runs,
//! is known to lie within the margin ([`RareCost`]). That both sides have some excuses neither: a
//! state in one run of ten here and in one of five there is a difference of 4.6 %.
//!
//! What was not seen may still be there: the bound on the share of rare runs is that of Clopper and
//! Pearson, Biometrika 26 (1934), for no rare run about 3 / n.
//!
//! Note: we tried Fisher's exact test of the shares beside a factor between both costs (silent about
//! half as many rare runs in 40 to 50 % of campaigns), and the t interval of the cost (false in up to
//! 15 % of campaigns that saw few rare runs: the variance of one rare run is not known from it).

mod cost;

pub use cost::RareCost;
pub(crate) use cost::{Wanted, rare_cost};

use serde::{Deserialize, Serialize};

use crate::dataset::{mean, median, robust_sd, sd, variance};
use crate::distribution::{solved, t_critical};
use crate::effect::Effect;
use crate::plural;

/// Fewest runs among which one can be told to be rare.
const LEAST_RUNS: usize = 4;
/// Robust standard deviations from the median beyond which a run is rare.
const REACH_SDS: f64 = 5.0;
/// Least distance from the median of a rare run, on the log scale.
const LEAST_DISTANCE: f64 = 0.01;
/// Chance that a share lies above its upper end.
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
    /// Trials beside those runs that FAILED while the other side's did not: what they would have shown is
    /// not known.
    #[serde(default, skip_serializing_if = "is_none")]
    pub failed: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// Rare runs of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rare {
    /// The baseline's.
    pub baseline: Side,
    /// The variant's.
    pub variant: Side,
    /// What the slower ones cost the variant beside the baseline; `None` when neither side has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower: Option<RareCost>,
    /// What the faster ones gain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faster: Option<RareCost>,
    /// What typical runs differ by, in the same terms: the mean of the ratios of blocks without a rare
    /// run, by Student's t; `None` without blocks, whose comparison is of all runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typical: Option<RareCost>,
}

impl Rare {
    /// Among the log speeds of both sides (larger is faster), equally many, in blocks; each end of
    /// what they cost is missed with a chance of `alpha`.
    pub(crate) fn of_blocks(baseline: &[f64], variant: &[f64], alpha: f64) -> Self {
        let costs = |[b, v]: [&[f64]; 2]| RareCost::of_blocks(b, v, alpha);
        let typical = typical_mean(&Distances::typical_gains(baseline, variant), alpha);
        let rare = Self::of_sides(Distances::in_blocks(baseline, variant), costs);
        Self { typical, ..rare }
    }

    /// As [`Self::of_blocks`], among runs that share no blocks.
    pub(crate) fn of_runs(baseline: &[f64], variant: &[f64], alpha: f64) -> Self {
        let costs = |[b, v]: [&[f64]; 2]| RareCost::of_runs(b, v, alpha);
        Self::of(&[baseline.to_vec()], &[variant.to_vec()], costs)
    }

    /// Among the runs of several campaigns, each about its campaign's typical run. Rare runs of one
    /// campaign may have one cause: they count as one event.
    pub fn of_campaigns(baseline: &[Vec<f64>], variant: &[Vec<f64>], alpha: f64) -> Self {
        let counts =
            [baseline, variant].map(|side| side.iter().map(Vec::len).collect::<Vec<usize>>());
        let costs =
            |losses: [&[f64]; 2]| RareCost::of_campaigns(losses, [&counts[0], &counts[1]], alpha);
        Self::of(baseline, variant, costs)
    }

    /// The fewest blocks that show what is wanted of the rare runs of a pilot's blocks, of which neither
    /// side truly has more.
    pub(crate) fn blocks_needed(baseline: &[f64], variant: &[f64], wanted: Wanted) -> u64 {
        let [b, v] = Distances::in_blocks(baseline, variant);
        let needed = |losses: [&[f64]; 2]| RareCost::blocks_needed(losses, wanted);
        needed([&b.losses(), &v.losses()]).max(needed([&b.gains(), &v.gains()]))
    }

    fn of(
        baseline: &[Vec<f64>],
        variant: &[Vec<f64>],
        cost: impl Fn([&[f64]; 2]) -> Option<RareCost>,
    ) -> Self {
        Self::of_sides([baseline, variant].map(Distances::of), cost)
    }

    fn of_sides([b, v]: [Distances; 2], cost: impl Fn([&[f64]; 2]) -> Option<RareCost>) -> Self {
        let slower = cost([&b.losses(), &v.losses()]);
        // what is gained is a loss with the other sign
        let faster = cost([&b.gains(), &v.gains()]).map(RareCost::turned);
        Self { baseline: b.side(), variant: v.side(), slower, faster, typical: None }
    }

    /// What slower and what faster rare runs cost, where it may exceed `margin` (a fraction), or does with
    /// what typical runs differ by that is within it alone: while there is any nothing is equivalent.
    pub fn unclear(&self, margin: f64) -> impl Iterator<Item = &RareCost> {
        let is_typical_within = self.typical.is_some_and(|typical| typical.is_within(margin));
        let is_beyond = move |cost: &RareCost| {
            !cost.is_within(margin) || is_typical_within && !self.in_all(cost).is_within(margin)
        };
        let both = [self.slower.as_ref(), self.faster.as_ref()];
        both.into_iter().flatten().filter(move |cost| is_beyond(cost))
    }

    /// A cost of rare runs with what typical ones differ by.
    fn in_all(&self, cost: &RareCost) -> RareCost {
        self.typical.as_ref().map_or(*cost, |typical| cost.with(typical))
    }

    /// Whether rare runs, or trials of one side alone that FAILED, keep the sides from being equivalent
    /// within `margin` (a fraction).
    pub fn is_unclear(&self, margin: f64) -> bool {
        self.failed() > 0 || self.unclear(margin).next().is_some()
    }

    /// Trials of one side alone that FAILED.
    pub fn failed(&self) -> usize {
        self.baseline.failed + self.variant.failed
    }

    /// The same beside trials that FAILED: those of the baseline, and those of the variant.
    pub(crate) fn with_failed(mut self, [baseline, variant]: [usize; 2]) -> Self {
        self.baseline.failed = baseline;
        self.variant.failed = variant;
        self
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

/// Student's interval of the mean of ratios; `None` for fewer than two.
fn typical_mean(gains: &[f64], alpha: f64) -> Option<RareCost> {
    let degrees = gains.len().checked_sub(2)? as f64 + 1.0;
    let (mean, error) = (mean(gains), sd(gains) / (gains.len() as f64).sqrt());
    let half = t_critical(1.0 - 2.0 * alpha, degrees) * error;
    let [estimate, low, high] = [mean, mean - half, mean + half].map(Effect::from_ln);
    Some(RareCost { estimate, low, high })
}

/// Rare runs whose cost may exceed `margin`, and that cost: `2 of 20 runs of B are worse by about
/// 36.7 %, none of A: on average over all runs that is -4.47 % [-14.0 %, +8.5 %] for B`; and trials of one
/// side alone that FAILED: `2 of 20 trials of B FAILED, and may have been slow`. `None` where there are
/// neither.
pub(crate) fn in_words(
    rare: &Rare,
    margin: f64,
    (baseline, variant): (&str, &str),
) -> Option<String> {
    let cost = |own: &RareCost| match own.is_within(margin) {
        true => format!("{} with what typical runs differ by", rare_cost(&rare.in_all(own))),
        false => rare_cost(own),
    };
    let costs: Vec<String> = rare.unclear(margin).map(cost).collect();
    let seen = rare.describe(baseline, variant).filter(|_| !costs.is_empty());
    let costs = costs.join(" and ");
    let seen =
        seen.map(|seen| format!("{seen}: on average over all runs that is {costs} for {variant}"));
    let failed = [(variant, rare.variant), (baseline, rare.baseline)]
        .map(|(name, side)| side.failed_in_words(name))
        .into_iter()
        .flatten()
        .reduce(|both, own| format!("{both} and {own}"));
    let failed = failed.map(|own| format!("{own} FAILED, and may have been slow"));
    [seen, failed].into_iter().flatten().reduce(|both, own| format!("{both}; {own}"))
}

impl Side {
    fn failed_in_words(&self, name: &str) -> Option<String> {
        let (failed, trials) = (self.failed, plural(self.runs + self.failed, "trial"));
        (failed > 0).then(|| format!("{failed} of {trials} of {name}"))
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

/// How far each run of a side lies from the typical one, on the log scale: 0 unless it is rare.
struct Distances(Vec<f64>);

impl Distances {
    /// Of the runs of several campaigns, in their order.
    fn of(campaigns: &[Vec<f64>]) -> Self {
        let is_one = campaigns.len() < 2;
        let about = |own: &Vec<f64>| if is_one { 0.0 } else { median(own) };
        let speeds: Vec<f64> = campaigns
            .iter()
            .flat_map(|own| own.iter().map(move |speed| speed - about(own)))
            .collect();
        let is_rare = rare(&speeds);
        let typical: Vec<f64> =
            speeds.iter().zip(&is_rare).filter(|(_, rare)| !**rare).map(|(own, _)| *own).collect();
        let typical = median(&typical);
        let distance = |(speed, rare): (&f64, bool)| if rare { speed - typical } else { 0.0 };
        Self(speeds.iter().zip(is_rare).map(distance).collect())
    }

    /// Of the runs of blocks. Where the level of the machine moves from block to block, or drifts, runs
    /// of a side differ by more than a rare run does; their ratios do not. So what is left of the
    /// ratios is looked at too, and counts as a loss of the side that was the slower one.
    fn in_blocks(baseline: &[f64], variant: &[f64]) -> [Self; 2] {
        let [mut b, mut v] = [baseline, variant].map(|side| Self::of(&[side.to_vec()]));
        let sides = baseline.iter().zip(variant).zip(b.0.iter().zip(&v.0));
        let left: Vec<f64> =
            sides.map(|((b, v), (off_b, off_v))| (v - off_v) - (b - off_b)).collect();
        for (at, own) in Self::of(&[left]).0.into_iter().enumerate() {
            if own < 0.0 {
                v.0[at] += own;
            } else {
                b.0[at] -= own;
            }
        }
        [b, v]
    }

    /// The ratios of the blocks in which neither run is rare.
    fn typical_gains(baseline: &[f64], variant: &[f64]) -> Vec<f64> {
        let [b, v] = Self::in_blocks(baseline, variant);
        let sides = baseline.iter().zip(variant).zip(b.0.iter().zip(&v.0));
        sides.filter(|(_, off)| *off == (&0.0, &0.0)).map(|((b, v), _)| v - b).collect()
    }

    fn losses(&self) -> Vec<f64> {
        self.0.iter().map(|own| (-own).max(0.0)).collect()
    }

    fn gains(&self) -> Vec<f64> {
        self.0.iter().map(|own| own.max(0.0)).collect()
    }

    fn side(&self) -> Side {
        let rare: Vec<f64> = self.0.iter().copied().filter(|own| *own != 0.0).collect();
        let size = (!rare.is_empty()).then(|| Effect::from_ln(median(&rare)));
        let share_at_most = upper_share(rare.len(), self.0.len());
        let (slower, faster) = rare.iter().partition(|own| **own < 0.0);
        let [slower, faster] = [slower, faster].map(|own: Vec<f64>| Tail::of(&own));
        let runs = self.0.len();
        Side { runs, rare: rare.len(), size, share_at_most, slower, faster, failed: 0 }
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
}

/// Which values are rare: those far from the median in robust standard deviations (twice as far among
/// five values, whose deviation is a rough guess), or the smaller of two clusters. A state of many runs
/// widens the deviation that it is measured by, so that what remains is looked at again.
fn rare(speeds: &[f64]) -> Vec<bool> {
    let mut is_rare = vec![false; speeds.len()];
    if speeds.len() < LEAST_RUNS {
        return is_rare;
    }
    let few = 1.0 + 5.0 / speeds.len() as f64;
    loop {
        let typical: Vec<f64> =
            speeds.iter().zip(&is_rare).filter(|(_, rare)| !**rare).map(|(own, _)| *own).collect();
        let centre = median(&typical);
        let reach = (REACH_SDS * few * robust_sd(&typical)).max(LEAST_DISTANCE);
        let next: Vec<bool> = speeds
            .iter()
            .zip(&is_rare)
            .map(|(own, rare)| *rare || (own - centre).abs() > reach)
            .collect();
        let count = next.iter().filter(|rare| **rare).count();
        if next == is_rare || 2 * count > speeds.len() {
            break;
        }
        is_rare = next;
    }
    if is_rare.contains(&true) { is_rare } else { smaller_cluster(speeds) }
}

/// The smaller of two clusters that lie more than 1 % and 4 times their inner spread apart.
fn smaller_cluster(speeds: &[f64]) -> Vec<bool> {
    let mut sorted = speeds.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let none = vec![false; speeds.len()];
    let gap = |at: usize| sorted[at] - sorted[at - 1];
    let Some(at) = (2..=sorted.len() - 2).max_by(|a, b| gap(*a).total_cmp(&gap(*b))) else {
        return none;
    };
    let (low, high) = sorted.split_at(at);
    let squares = variance(low) * (low.len() - 1) as f64 + variance(high) * (high.len() - 1) as f64;
    let within = (squares / (sorted.len() - 2) as f64).sqrt();
    if gap(at) <= (4.0 * within).max(LEAST_DISTANCE) {
        return none;
    }
    let is_high_rare = high.len() < low.len();
    speeds.iter().map(|own| (*own >= high[0]) == is_high_rare).collect()
}

/// Upper end of the 95 % range of a share of which `rare` of `runs` were seen: the share at which so
/// few would be seen in 5 % of cases.
fn upper_share(rare: usize, runs: usize) -> f64 {
    if rare >= runs {
        return 1.0;
    }
    solved(1, [rare as f64, runs as f64], || solve_share(rare, runs))
}

fn solve_share(rare: usize, runs: usize) -> f64 {
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

#[cfg(test)]
mod tests;
