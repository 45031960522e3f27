//! Which candidates are changes: each tested beside its neighbours, the weakest withdrawn.

use super::Settings;
use super::partition::Sums;
use crate::distribution::t_two_sided;

/// What the prior noise weighs, in degrees of freedom.
pub const PRIOR_DF: f64 = 4.0;
/// The largest share of its deviation that a point is taken to keep to the next.
const MOST_KEPT: f64 = 0.7;
/// How much worse another place may explain the series, in units of the noise's variance, and still
/// be in the range: the 95 % point of chi-squared with one degree of freedom.
const RANGE: f64 = 3.84;

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

/// Withdraws candidates until each one that is left is significant and large enough.
pub fn confirm(
    clean: &[f64],
    mut candidates: Vec<usize>,
    floor: f64,
    settings: &Settings,
) -> Vec<Tested> {
    let sums = Sums::new(clean);
    let alpha = settings.bound(clean.len());
    loop {
        let noise = Noise::of(clean, &sums, &candidates, floor, settings);
        let tested: Vec<Tested> = (0..candidates.len())
            .map(|k| {
                let start = if k == 0 { 0 } else { candidates[k - 1] };
                let end = candidates.get(k + 1).copied().unwrap_or(clean.len());
                test(&sums, start, candidates[k], end, &noise)
            })
            .collect();
        let is_small = |t: &Tested| t.size.exp_m1().abs() < settings.margin;
        let weakest = (0..tested.len())
            .filter(|&k| tested[k].p > alpha || is_small(&tested[k]))
            .max_by(|&a, &b| tested[a].p.total_cmp(&tested[b].p));
        match weakest {
            Some(k) => {
                candidates.remove(k);
                settle(&sums, &mut candidates, clean.len());
            }
            None => return tested,
        }
    }
}

/// The test of one place that nobody searched for.
pub fn named(clean: &[f64], at: usize, floor: f64, settings: &Settings) -> Tested {
    let sums = Sums::new(clean);
    let noise = Noise::of(clean, &sums, &[at], floor, settings);
    let own = test(&sums, 0, at, clean.len(), &noise);
    Tested { p: t_two_sided(own.size / own.error, noise.df), range: (at, at), ..own }
}

/// Moves each candidate to the best place between its neighbours.
fn settle(sums: &Sums, candidates: &mut [usize], count: usize) {
    for k in 0..candidates.len() {
        let start = if k == 0 { 0 } else { candidates[k - 1] };
        let end = candidates.get(k + 1).copied().unwrap_or(count);
        let split = |at: usize| sums.error(start, at) + sums.error(at, end);
        let best = (start + 1..end).min_by(|&a, &b| split(a).total_cmp(&split(b)));
        if let Some(best) = best.filter(|&best| split(best) < split(candidates[k])) {
            candidates[k] = best;
        }
    }
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

fn test(sums: &Sums, start: usize, at: usize, end: usize, noise: &Noise) -> Tested {
    let (before, after) = ((at - start) as f64, (end - at) as f64);
    let size = sums.mean(at, end) - sums.mean(start, at);
    let error = (noise.variance * (1.0 / before + 1.0 / after)).sqrt();
    let places = (end - start).saturating_sub(1).max(1) as f64;
    let p = (t_two_sided(size / error, noise.df) * places).min(1.0);
    let split = |at: usize| sums.error(start, at) + sums.error(at, end);
    let worst = split(at) + RANGE * noise.variance;
    let inside = |k: &usize| split(*k) <= worst;
    let first = (start + 1..=at).find(inside).unwrap_or(at);
    let last = (at..end).rev().find(inside).unwrap_or(at);
    Tested { at, over: 1, range: (first, last), size, error, df: noise.df, p }
}
