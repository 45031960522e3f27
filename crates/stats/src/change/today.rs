//! Are the last points of a growing series another level?
//!
//! The points before them say what to expect: one level, or two where the series has two states, each
//! with the same spread, and now and then a bad day of any size. The mixture is fitted (EM; one level
//! or two by Schwarz's criterion), its spread moderated by a prior. Few points say little about spread and centre, so
//! what they leave open is averaged over, for all new points together: a history that shows too little noise errs
//! about each of them alike. Against it stand the same expectations moved by any step
//! that matters. The ratio of both likelihoods, averaged over the steps, is at most 1 on average when nothing
//! changed: an e-value for each place at which the change may have begun, summed over these places
//! (the idea of the e-detector of Shin, Ramdas and Rinaldo 2024). The expectations are estimates, so its
//! false alarms are what simulation says: with [`BOUND`] fewer than one in 1,000 points
//! (docs/history.md).
//!
//! [`watch`](super::watch) does the same with ranks and assumes nothing of the noise, at the price of
//! seeing less.

use super::Settings;
use super::filter::noise;
use crate::dataset::median;

/// The evidence at which `fwdlab history` speaks: what `cargo xtask history --choose` takes.
pub const BOUND: f64 = 150.0;

/// New points that are needed: one or two bad days in a row are no change.
pub const FEWEST_NEW: usize = 3;
/// Most new points that are looked at.
pub const MOST_NEW: usize = 6;
/// Places at which a change may have begun; the evidence of each is at most 1 on average when nothing changed, and
/// what is told is their sum.
pub const PLACES: usize = MOST_NEW - FEWEST_NEW + 1;
/// Fewest points before them.
const FEWEST_OLD: usize = 10;
/// How much likelier two states must be than one, in Schwarz's penalties for the second: a few points of one state
/// look like two more often than his criterion, which is of many points, allows for.
const OF_TWO: f64 = 1.5;
/// Most points before them.
const MOST_OLD: usize = 60;
/// What the prior spread weighs, in degrees of freedom.
const PRIOR_DF: f64 = 4.0;
/// Share of bad days.
const STRAY: f64 = 0.04;
/// The range of logarithms over which bad days are spread.
const STRAY_WIDTH: f64 = 0.7;
/// Where the posterior of the spread's logarithm is looked at, in its standard deviations; it is skewed.
const SPREADS: [f64; 6] = [-1.8, -0.6, 0.6, 1.8, 3.0, 4.2];
/// Where that of the centre is.
const OFFS: [f64; 5] = [-2.2, -1.1, 0.0, 1.1, 2.2];
/// Steps of expectation and maximisation.
const ROUNDS: usize = 25;
/// Sizes of steps that are tried, each this much larger than the one before.
const GROWTH: f64 = 1.25;
/// The smallest step that is tried, in margins: smaller ones are what states and young series look like.
const SMALLEST: f64 = 2.5;
/// The largest step that is tried.
const LARGEST: f64 = 0.7;
/// The largest share of its deviation that a point is taken to keep to the next.
const MOST_KEPT: f64 = 0.7;

/// What the last points say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alarm {
    /// The point at which the change most likely began.
    pub began: usize,
    /// True when the new points are above the old ones.
    pub is_up: bool,
    /// How many times likelier the points are after a step.
    pub evidence: f64,
}

/// Whether the last points of `values` are another level than those before them. `noise` is what a
/// point's own runs say of its error, as a ratio; the evidence has to reach `bound`.
pub fn alarm(values: &[f64], noise: f64, settings: &Settings, bound: f64) -> Option<Alarm> {
    let logs: Vec<f64> =
        values.iter().filter(|v| v.is_finite() && **v > 0.0).map(|v| v.ln()).collect();
    // places would not be those of `values`
    if logs.len() != values.len() {
        return None;
    }
    let mut total = 0.0;
    let mut best: Option<(f64, usize, bool)> = None;
    for new in FEWEST_NEW..=MOST_NEW {
        let Some(began) = logs.len().checked_sub(new).filter(|old| *old >= FEWEST_OLD) else {
            break;
        };
        let old = &logs[began.saturating_sub(MOST_OLD)..began];
        let expected = Expected::of(old, noise.max(0.0), settings);
        for is_up in [false, true] {
            let e_value = expected.against(&logs[began..], is_up, settings) / 2.0;
            total += e_value;
            if best.is_none_or(|(most, ..)| e_value > most) {
                best = Some((e_value, began, is_up));
            }
        }
    }
    let (_, began, is_up) = best.filter(|_| total >= bound)?;
    Some(Alarm { began, is_up, evidence: total })
}

/// What the next points should be.
struct Expected {
    /// Weights and centres of one state or two.
    states: Vec<(f64, f64)>,
    /// What the spread and the error of the centres may be, with weights.
    nodes: Vec<Node>,
    /// The share of its deviation that a point keeps to the next.
    kept: f64,
}

/// One spread and one error of the centres that the points before leave possible.
struct Node {
    weight: f64,
    spread: f64,
    off: f64,
}

impl Expected {
    fn of(old: &[f64], floor: f64, settings: &Settings) -> Self {
        let one = Fit::of(old, vec![(1.0, median(old))], floor, settings);
        let two = halves(old).map(|states| Fit::of(old, states, floor, settings));
        let better = two.filter(|two| {
            let count = old.len() as f64;
            two.likelihood - one.likelihood > OF_TWO * count.ln() && two.is_apart()
        });
        let fit = better.unwrap_or(one);
        let kept = fit.kept(old);
        let nodes = nodes(fit.spread, fit.df, old.len() as f64 * share(old.len(), kept));
        Self { states: fit.states, nodes, kept }
    }

    /// The density of a point, at one node.
    fn density(&self, log: f64, node: &Node) -> f64 {
        let of = |&(weight, centre): &(f64, f64)| {
            let z = (log - centre - node.off) / node.spread;
            weight * (-0.5 * z * z).exp() / (node.spread * ROOT_TWO_PI)
        };
        (1.0 - STRAY) * self.states.iter().map(of).sum::<f64>() + STRAY / STRAY_WIDTH
    }

    /// The likelihood of the points after a step.
    ///
    /// All new points share what is not known of the spread and the centre: a history that happens to show too
    /// little of either errs for all of them alike.
    fn likelihood(&self, new: &[f64], step: f64, nodes: &[Node]) -> f64 {
        let share = share(new.len(), self.kept);
        let at = |node: &Node| {
            let all: f64 = new.iter().map(|log| self.density(log - step, node)).product();
            node.weight * all.powf(share)
        };
        nodes.iter().map(at).sum()
    }

    /// The likelihood of the points after a step one way, averaged over its sizes, over that without.
    fn against(&self, new: &[f64], is_up: bool, settings: &Settings) -> f64 {
        // what the most likely spread and centre speak against, the others do as well
        let most = self.nodes.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
        let first =
            most.map_or(0.0, |own| self.averaged(new, is_up, settings, std::slice::from_ref(own)));
        if first < 1.0 { first } else { self.averaged(new, is_up, settings, &self.nodes) }
    }

    fn averaged(&self, new: &[f64], is_up: bool, settings: &Settings, nodes: &[Node]) -> f64 {
        let without = self.likelihood(new, 0.0, nodes);
        let (mut size, mut sum, mut count) = (SMALLEST * settings.margin.max(1e-3), 0.0, 0);
        while size <= LARGEST {
            let step = if is_up { size } else { -size };
            sum += self.likelihood(new, step, nodes) / without;
            count += 1;
            size *= GROWTH;
        }
        if count == 0 { 0.0 } else { sum / f64::from(count) }
    }
}

/// How much of what as many independent points say `count` points say together that each keep a share of the
/// deviation before them: the variance of an independent point over that of their mean, times their number.
fn share(count: usize, kept: f64) -> f64 {
    let all = count as f64;
    let together = |apart: usize| (1.0 - apart as f64 / all) * kept.powf(apart as f64);
    1.0 / (1.0 + 2.0 * (1..count).map(together).sum::<f64>())
}

/// The posterior of spread and centre on a grid. With `df` degrees of freedom the logarithm of the spread has the
/// density s^-df exp(-df / 2 s²), s in spreads; the centre of `count` points is off by s / sqrt(count).
fn nodes(spread: f64, df: f64, count: f64) -> Vec<Node> {
    let mut nodes = Vec::with_capacity(SPREADS.len() * OFFS.len());
    for of_spread in SPREADS {
        let ratio = of_spread / (2.0 * df).sqrt();
        let scale = ratio.exp();
        let spread_weight = (-df * ratio - df / (2.0 * scale * scale) + df / 2.0).exp();
        for of_centre in OFFS {
            nodes.push(Node {
                weight: spread_weight * (-0.5 * of_centre * of_centre).exp(),
                spread: spread * scale,
                off: of_centre * spread * scale / count.max(1.0).sqrt(),
            });
        }
    }
    nodes
}

/// A fitted mixture.
struct Fit {
    states: Vec<(f64, f64)>,
    spread: f64,
    /// Degrees of freedom of the spread.
    df: f64,
    likelihood: f64,
}

impl Fit {
    fn of(old: &[f64], states: Vec<(f64, f64)>, floor: f64, settings: &Settings) -> Self {
        let first = noise(old).max(floor).max(settings.prior_noise / 4.0);
        let mut own = Self { states, spread: first, df: PRIOR_DF, likelihood: f64::NEG_INFINITY };
        for _ in 0..ROUNDS {
            own.improve(old, floor, settings);
        }
        own
    }

    /// One step of EM; the share of bad days stays.
    fn improve(&mut self, old: &[f64], floor: f64, settings: &Settings) {
        let mut sums = vec![(0.0, 0.0); self.states.len()];
        let mut shares: Vec<Vec<f64>> = Vec::with_capacity(old.len());
        self.likelihood = 0.0;
        for log in old {
            let of = |&(weight, centre): &(f64, f64)| {
                let z = (log - centre) / self.spread;
                (1.0 - STRAY) * weight * (-0.5 * z * z).exp() / (self.spread * ROOT_TWO_PI)
            };
            let each: Vec<f64> = self.states.iter().map(of).collect();
            let total = each.iter().sum::<f64>() + STRAY / STRAY_WIDTH;
            self.likelihood += total.ln();
            let each: Vec<f64> = each.iter().map(|own| own / total).collect();
            for (sum, share) in sums.iter_mut().zip(&each) {
                sum.0 += share;
                sum.1 += share * log;
            }
            shares.push(each);
        }
        let all: f64 = sums.iter().map(|sum| sum.0).sum();
        if sums.iter().any(|sum| sum.0 < 1e-6) {
            return;
        }
        for (state, sum) in self.states.iter_mut().zip(&sums) {
            *state = (sum.0 / all, sum.1 / sum.0);
        }
        let mut squares = 0.0;
        for (log, each) in old.iter().zip(&shares) {
            for (state, share) in self.states.iter().zip(each) {
                squares += share * (log - state.1) * (log - state.1);
            }
        }
        let prior = settings.prior_noise * settings.prior_noise;
        let free = (all - self.states.len() as f64).max(0.0);
        // the prior says how much noise is to be expected at least: a machine that shows more has more
        let is_rough = free > 0.0 && squares > free * prior;
        let prior_df = if is_rough { 0.0 } else { PRIOR_DF };
        self.df = prior_df + free;
        self.spread = ((prior_df * prior + squares) / self.df).sqrt().max(floor);
    }

    /// Whether there are two states, and not one of an odd shape.
    fn is_apart(&self) -> bool {
        let [one, other] = self.states[..] else { return true };
        (one.1 - other.1).abs() > 2.0 * self.spread && one.0.min(other.0) > 0.05
    }

    /// The share of its deviation that a point keeps to the next, less what independent points show by
    /// chance.
    fn kept(&self, old: &[f64]) -> f64 {
        let nearest = |log: &f64| {
            let off = self.states.iter().map(|state| log - state.1);
            off.min_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0)
        };
        // a bad day keeps nothing
        let most = 3.0 * self.spread;
        let off: Vec<f64> = old.iter().map(|log| nearest(log).clamp(-most, most)).collect();
        let squares: f64 = off.iter().map(|own| own * own).sum();
        if squares <= 0.0 {
            return 0.0;
        }
        let products: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
        (products / squares - 1.0 / (old.len() as f64).sqrt()).clamp(0.0, MOST_KEPT)
    }
}

const ROOT_TWO_PI: f64 = 2.506_628_274_631_000_2;

/// The best two groups of the points, each of at least two: where EM begins.
fn halves(old: &[f64]) -> Option<Vec<(f64, f64)>> {
    let mut sorted = old.to_vec();
    sorted.sort_by(f64::total_cmp);
    let sums = super::partition::Sums::new(&sorted);
    let count = sorted.len();
    let error = |at: usize| sums.error(0, at) + sums.error(at, count);
    let at = (2..count.saturating_sub(1)).min_by(|&a, &b| error(a).total_cmp(&error(b)))?;
    let centre = |part: &[f64]| median(part);
    let weight = at as f64 / count as f64;
    Some(vec![(weight, centre(&sorted[..at])), (1.0 - weight, centre(&sorted[at..]))])
}
