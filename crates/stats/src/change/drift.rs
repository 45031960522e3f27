//! Drifts: what goes on over many points is no step at one of them.
//!
//! One step, or several in a row that go the same way, are held against a ramp: a level, a straight way to another
//! (of logarithms), and that level. A step is the shortest ramp, so that one always fits at least as well; it is
//! called a drift where the points are clearly likelier along it, by Schwarz's criterion.
//!
//! What goes on from one end of a series to the other has no level before it and none after it, so that no step may be
//! proven: where none is, a ramp over half of the points or more is held against a single level. It needs the p of a step,
//! too.

use super::Settings;
use super::confirm::{Tested, inflation, kept_of};
use super::model::PRIOR_DF;
use super::partition::Sums;
use crate::distribution::t_two_sided;

/// Fewest points from the last of the old level to the first of the new one.
const FEWEST: usize = 5;
/// Fewest points of a series that can be a drift as a whole.
const FEWEST_OF_ALL: usize = 12;
/// How many times likelier the points have to be along a ramp.
const LIKELIER: f64 = 300.0;
/// Two levels and two places.
const OF_RAMP: f64 = 4.0;
/// Places that are tried for either end of a ramp in a long stretch.
const MOST_PLACES: usize = 400;

/// The steps, with those that are a drift put together.
pub fn merged(clean: &[f64], steps: &[Tested], floor: f64, settings: &Settings) -> Vec<Tested> {
    let sums = Sums::new(clean);
    if steps.is_empty() {
        return whole(clean, &sums, floor, settings).into_iter().collect();
    }
    let mut found = Vec::with_capacity(steps.len());
    let mut first = 0;
    while let Some(step) = steps.get(first) {
        let is_same_way = |other: &&Tested| other.size * step.size > 0.0;
        let many = steps[first..].iter().take_while(is_same_way).count();
        let drift = (1..=many).rev().find_map(|count| {
            let start = first.checked_sub(1).map_or(0, |before| steps[before].at);
            let end = steps.get(first + count).map_or(clean.len(), |next| next.at);
            let own = &steps[first..first + count];
            Some((count, drift_of(clean, &sums, (start, end), own, floor, settings)?))
        });
        let (count, own) = drift.unwrap_or((1, *step));
        found.push(own);
        first += count;
    }
    found
}

/// The drift that a series without a step is, if it is one.
fn whole(clean: &[f64], sums: &Sums, floor: f64, settings: &Settings) -> Option<Tested> {
    let count = clean.len();
    if count < FEWEST_OF_ALL {
        return None;
    }
    let own = drift_of(clean, sums, (0, count), &[], floor, settings)?;
    (own.p <= settings.bound(count, count)).then_some(own)
}

/// The drift in a stretch that its steps are, if they are one.
fn drift_of(
    clean: &[f64],
    sums: &Sums,
    (start, end): (usize, usize),
    steps: &[Tested],
    floor: f64,
    settings: &Settings,
) -> Option<Tested> {
    let own = &clean[start..end];
    let fewest = if steps.is_empty() { own.len() / 2 } else { FEWEST };
    let ramp = Ramp::best(own, fewest)?;
    let ends = steps.iter().map(|step| step.at).chain([end]);
    let starts = std::iter::once(start).chain(steps.iter().map(|step| step.at));
    let of_steps: f64 = starts.zip(ends).map(|(from, to)| sums.error(from, to)).sum();
    let count = own.len() as f64;
    let prior = settings.prior_noise * settings.prior_noise;
    let df = PRIOR_DF + (count - OF_RAMP).max(0.0);
    let kept = kept_of(&[ramp.residuals(own)], own.len());
    let variance = (PRIOR_DF * prior + ramp.squares) / df * inflation(kept);
    let variance = variance.max(floor * floor);
    let more = 2.0 * steps.len() as f64 + 1.0 - OF_RAMP;
    let likelier = (of_steps - ramp.squares) / (2.0 * variance) + 0.5 * more * count.ln();
    if likelier < LIKELIER.ln() || ramp.size.exp_m1().abs() < settings.margin {
        return None;
    }
    let error = (variance / ramp.weight).sqrt();
    let places = count * (count - 1.0) / 2.0;
    let p = (t_two_sided(ramp.size / error, df) * places).min(1.0);
    let (from, at) = (start + ramp.from, start + ramp.to);
    Some(Tested { at, over: at - from, range: (from + 1, at), size: ramp.size, error, df, p })
}

/// A level, a straight way, another level.
struct Ramp {
    /// The last point of the old level.
    from: usize,
    /// The first of the new one.
    to: usize,
    /// New level less old one.
    size: f64,
    /// The sum of squares of the way around its mean: the variance of a point over that of the size.
    weight: f64,
    /// What is left around it.
    squares: f64,
}

impl Ramp {
    /// The one that fits best, of those that are long enough. O(n²) up to [`MOST_PLACES`] points.
    fn best(logs: &[f64], fewest: usize) -> Option<Self> {
        let count = logs.len();
        let mean = logs.iter().sum::<f64>() / count.max(1) as f64;
        let (mut sum, mut moment) = (vec![0.0], vec![0.0]);
        let (mut s, mut m, mut squares) = (0.0, 0.0, 0.0);
        for (at, log) in logs.iter().enumerate() {
            let off = log - mean;
            s += off;
            m += at as f64 * off;
            squares += off * off;
            sum.push(s);
            moment.push(m);
        }
        let of = |from: usize, to: usize| {
            let length = (to - from) as f64;
            let after = (count - 1 - to) as f64;
            let mean = ((length + 1.0) / 2.0 + after) / count as f64;
            let all = (length + 1.0) * (2.0 * length + 1.0) / (6.0 * length) + after;
            let weight = all - count as f64 * mean * mean;
            let on_way = moment[to + 1] - moment[from] - from as f64 * (sum[to + 1] - sum[from]);
            let together = on_way / length + sum[count] - sum[to + 1];
            let size = together / weight;
            let left = (squares - together * size).max(0.0);
            Self { from, to, size, weight, squares: left }
        };
        let stride = count.div_ceil(MOST_PLACES).max(1);
        let starts = (0..count.saturating_sub(fewest)).step_by(stride);
        let ramps = starts
            .flat_map(|from| (from + fewest..count).step_by(stride).map(move |to| (from, to)));
        let ramps = ramps.map(|(from, to)| of(from, to)).filter(|own| own.weight > 0.0);
        ramps.min_by(|a, b| a.squares.total_cmp(&b.squares))
    }

    /// What each point is off by.
    fn residuals(&self, logs: &[f64]) -> Vec<f64> {
        let length = (self.to - self.from) as f64;
        let way = |at: usize| ((at as f64 - self.from as f64) / length).clamp(0.0, 1.0);
        let off = |(at, log): (usize, &f64)| log - self.size * way(at);
        let around: Vec<f64> = logs.iter().enumerate().map(off).collect();
        let level = around.iter().sum::<f64>() / around.len().max(1) as f64;
        around.into_iter().map(|own| own - level).collect()
    }
}
