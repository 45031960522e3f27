//! Which candidates are changes: each tested beside its neighbours, the weakest withdrawn.

use super::Settings;
use super::model::{Model, PRIOR_DF};
use super::partition::{Sums, settle};
use crate::distribution::t_two_sided;

/// The largest share of its deviation that a point is taken to keep to the next.
const MOST_KEPT: f64 = 0.7;
/// How much worse another place may explain the series, in units of the noise's variance, and still
/// be in the range: the 95 % point of chi-squared with one degree of freedom.
const RANGE: f64 = 3.84;
/// The share of its bound that the p of a step is at most which no other step's withdrawal takes away.
const CLEAR: f64 = 0.1;

/// A candidate with its test.
#[derive(Clone, Copy, Debug)]
pub struct Tested {
    /// First point of the new level.
    pub at: usize,
    /// Points from the last of the old level to it: 1 for a step.
    pub over: usize,
    /// Places that explain the series almost as well.
    pub range: (usize, usize),
    /// New level less old one, as logarithms.
    pub size: f64,
    /// Standard error of the size.
    pub error: f64,
    /// Degrees of freedom of that error.
    pub df: f64,
    /// Corrected p.
    pub p: f64,
}

/// Withdraws the weakest of the candidates until each one that is left is significant and large enough.
///
/// What is withdrawn adds to the noise of those that are left, and of a step that was clear among all of them this may
/// not make noise: it stays. Else one weak step after the other takes the next with it, down to the largest. Elsewhere in
/// the series a withdrawn step stays part of what the noise is taken from.
pub fn confirm(
    clean: &[f64],
    candidates: Vec<usize>,
    floor: f64,
    settings: &Settings,
) -> Vec<Tested> {
    let sums = Sums::new(clean);
    let model = Model::new(clean, floor, settings);
    let mut steps = model.likeliest(&sums, candidates);
    let mut withdrawn: Vec<usize> = Vec::new();
    // the p of those that were clear
    let mut clear: Vec<Option<f64>> = vec![None; steps.len()];
    loop {
        let tested: Vec<Tested> =
            (0..steps.len()).map(|k| test(&model, &sums, &steps, &withdrawn, k)).collect();
        // how far each is from its bound
        let odds: Vec<f64> = (0..steps.len())
            .map(|k| tested[k].p / settings.bound(clean.len(), fewest(&steps, k, clean.len())))
            .collect();
        for (own, (step, odds)) in clear.iter_mut().zip(tested.iter().zip(&odds)) {
            if *odds <= CLEAR {
                *own = Some(own.map_or(step.p, |p| p.min(step.p)));
            }
        }
        let is_small = |t: &Tested| t.size.exp_m1().abs() < settings.margin;
        let is_out = |k: usize| (odds[k] > 1.0 && clear[k].is_none()) || is_small(&tested[k]);
        let weakest =
            (0..steps.len()).filter(|&k| is_out(k)).max_by(|&a, &b| odds[a].total_cmp(&odds[b]));
        let Some(weakest) = weakest else {
            let p = |own: &Tested, clear: Option<f64>| clear.map_or(own.p, |p| p.min(own.p));
            let all = tested.into_iter().zip(clear);
            return all.map(|(own, clear)| Tested { p: p(&own, clear), ..own }).collect();
        };
        withdrawn.push(steps.remove(weakest));
        clear.remove(weakest);
        settle(&sums, &mut steps, clean.len());
    }
}

/// Points of the shorter of the levels beside the step `k`.
fn fewest(steps: &[usize], k: usize, count: usize) -> usize {
    let start = if k == 0 { 0 } else { steps[k - 1] };
    let end = steps.get(k + 1).copied().unwrap_or(count);
    (steps[k] - start).min(end - steps[k])
}

/// The test of one place that nobody searched for.
pub fn named(clean: &[f64], at: usize, floor: f64, settings: &Settings) -> Tested {
    let sums = Sums::new(clean);
    let noise = Noise::of(clean, &sums, &[at], floor, settings);
    let size = sums.mean(at, clean.len()) - sums.mean(0, at);
    let counts = 1.0 / at as f64 + 1.0 / (clean.len() - at) as f64;
    let error = (noise.variance * counts).sqrt();
    let p = t_two_sided(size / error, noise.df);
    Tested { at, over: 1, range: (at, at), size, error, df: noise.df, p }
}

/// The noise of a point: that around the levels, moderated by the prior, and no less than what the
/// runs of one point say.
struct Noise {
    variance: f64,
    df: f64,
}

impl Noise {
    fn of(
        clean: &[f64],
        sums: &Sums,
        candidates: &[usize],
        floor: f64,
        settings: &Settings,
    ) -> Self {
        let count = clean.len();
        let mut start = 0;
        let mut squares = 0.0;
        for end in candidates.iter().copied().chain([count]) {
            squares += sums.error(start, end);
            start = end;
        }
        let own_df = count.saturating_sub(candidates.len() + 1) as f64;
        let prior = settings.prior_noise * settings.prior_noise;
        let variance = (PRIOR_DF * prior + squares) / (PRIOR_DF + own_df);
        let variance = variance * inflation(kept(clean, sums, candidates));
        Self { variance: variance.max(floor * floor), df: PRIOR_DF + own_df }
    }
}

/// How much more the mean of many points varies when each keeps a share of the deviation before it: as that of
/// n (1 - share) / (1 + share) independent ones.
pub fn inflation(kept: f64) -> f64 {
    (1.0 + kept) / (1.0 - kept)
}

/// The share of its deviation that a point keeps to the next, around the levels.
fn kept(clean: &[f64], sums: &Sums, candidates: &[usize]) -> f64 {
    let mut start = 0;
    let mean_of_all = clean.iter().sum::<f64>() / clean.len().max(1) as f64;
    let mut parts = Vec::with_capacity(candidates.len() + 1);
    for end in candidates.iter().copied().chain([clean.len()]) {
        let level = sums.mean(start, end) + mean_of_all;
        parts.push(clean[start..end].iter().map(|value| value - level).collect());
        start = end;
    }
    kept_of(&parts, clean.len())
}

/// The same of the deviations in each part of `count` points: the first autocorrelation, less what independent points
/// show by chance.
pub fn kept_of(parts: &[Vec<f64>], count: usize) -> f64 {
    let (mut products, mut squares) = (0.0, 0.0);
    for off in parts {
        products += off.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        squares += off.iter().map(|value| value * value).sum::<f64>();
    }
    if squares <= 0.0 {
        return 0.0;
    }
    let by_chance = 1.0 / (count as f64).sqrt();
    (products / squares - by_chance).clamp(0.0, MOST_KEPT)
}

/// The test of the step `k`: how much likelier the series is with it, each time with what points keep as fits best.
fn test(model: &Model, sums: &Sums, steps: &[usize], withdrawn: &[usize], k: usize) -> Tested {
    let at = steps[k];
    let start = if k == 0 { 0 } else { steps[k - 1] };
    let end = steps.get(k + 1).copied().unwrap_or(model.count());
    let elsewhere = withdrawn.iter().filter(|own| **own < start || **own > end);
    let mut all: Vec<usize> = steps.iter().chain(elsewhere).copied().collect();
    all.sort_unstable();
    all.dedup();
    let with = model.fit(sums, &all);
    all.retain(|own| *own != at);
    let without = model.fit(sums, &all);
    let df = PRIOR_DF + model.count().saturating_sub(all.len() + 2) as f64;
    let t = with.t_over(&without, df);
    let (before, after) = ((at - start) as f64, (end - at) as f64);
    let size = sums.mean(at, end) - sums.mean(start, at);
    let variance = with.of_means();
    let error = (variance * (1.0 / before + 1.0 / after)).sqrt();
    let places = (end - start).saturating_sub(1).max(1) as f64;
    let p = (t_two_sided(t, df) * places).min(1.0);
    let split = |at: usize| sums.error(start, at) + sums.error(at, end);
    let worst = split(at) + RANGE * variance;
    let inside = |k: &usize| split(*k) <= worst;
    let first = (start + 1..=at).find(inside).unwrap_or(at);
    let last = (at..end).rev().find(inside).unwrap_or(at);
    Tested { at, over: 1, range: (first, last), size, error, df, p }
}
