//! Are the last points of a growing series another level?
//!
//! The points before them say what to expect: one level, or two where the series has two states, each
//! with the same spread, and now and then a bad day of any size. The mixture is fitted (EM; one level
//! or two by Schwarz's criterion), its spread moderated by a prior and its tails those of Student's t,
//! since few points say little about either. Against it stand the same expectations moved by any step
//! that matters. The ratio of both likelihoods, averaged over the steps, is 1 on average when nothing
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
use statrs::function::gamma::ln_gamma;

/// The evidence at which `fwdlab history` speaks: chosen by `cargo xtask history --tune`.
pub const BOUND: f64 = 130.0;

/// New points that are needed: one or two bad days in a row are no change.
pub const FEWEST_NEW: usize = 3;
/// Most new points that are looked at.
pub const MOST_NEW: usize = 6;
/// Fewest points before them.
const FEWEST_OLD: usize = 8;
/// Most points before them.
const MOST_OLD: usize = 60;
/// What the prior spread weighs, in degrees of freedom.
const PRIOR_DF: f64 = 4.0;
/// Share of bad days.
const STRAY: f64 = 0.04;
/// The range of logarithms over which bad days are spread.
const STRAY_WIDTH: f64 = 0.7;
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

/// What the next point should be.
struct Expected {
    /// Weights and centres of one state or two.
    states: Vec<(f64, f64)>,
    spread: f64,
    df: f64,
    /// The logarithm of the density's constant.
    constant: f64,
    /// How much less several points say than as many independent ones.
    share: f64,
}

impl Expected {
    fn of(old: &[f64], floor: f64, settings: &Settings) -> Self {
        let one = Fit::of(old, vec![(1.0, median(old))], floor, settings);
        let two = halves(old).map(|states| Fit::of(old, states, floor, settings));
        let better = two.filter(|two| {
            let count = old.len() as f64;
            two.likelihood - one.likelihood > count.ln() && two.is_apart()
        });
        let fit = better.unwrap_or(one);
        let df = PRIOR_DF + (old.len() - fit.states.len()) as f64;
        // the centre is not known better than the points say
        let spread = fit.spread * (1.0 + 1.0 / old.len() as f64).sqrt();
        let constant = ln_gamma((df + 1.0) / 2.0)
            - ln_gamma(df / 2.0)
            - 0.5 * (df * std::f64::consts::PI).ln()
            - spread.ln();
        let kept = fit.kept(old);
        Self { states: fit.states, spread, df, constant, share: (1.0 - kept) / (1.0 + kept) }
    }

    /// The density of a point.
    fn density(&self, log: f64) -> f64 {
        let of = |&(weight, centre): &(f64, f64)| {
            let z = (log - centre) / self.spread;
            weight * (self.constant - (self.df + 1.0) / 2.0 * (z * z / self.df).ln_1p()).exp()
        };
        (1.0 - STRAY) * self.states.iter().map(of).sum::<f64>() + STRAY / STRAY_WIDTH
    }

    /// The likelihood of the points after a step one way, averaged over its sizes, over that without.
    fn against(&self, new: &[f64], is_up: bool, settings: &Settings) -> f64 {
        let without: f64 = new.iter().map(|log| self.density(*log).ln()).sum();
        let (mut size, mut sum, mut count) = (SMALLEST * settings.margin.max(1e-3), 0.0, 0);
        while size <= LARGEST {
            let step = if is_up { size } else { -size };
            let with: f64 = new.iter().map(|log| self.density(log - step).ln()).sum();
            sum += (self.share * (with - without)).exp();
            count += 1;
            size *= GROWTH;
        }
        if count == 0 { 0.0 } else { sum / f64::from(count) }
    }
}

/// A fitted mixture.
struct Fit {
    states: Vec<(f64, f64)>,
    spread: f64,
    likelihood: f64,
}

impl Fit {
    fn of(old: &[f64], states: Vec<(f64, f64)>, floor: f64, settings: &Settings) -> Self {
        let first = noise(old).max(floor).max(settings.prior_noise / 4.0);
        let mut own = Self { states, spread: first, likelihood: f64::NEG_INFINITY };
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
        self.spread = ((PRIOR_DF * prior + squares) / (PRIOR_DF + free)).sqrt().max(floor);
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
