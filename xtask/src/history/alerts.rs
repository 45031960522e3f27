//! A year of nights over many series: what is suspected, what a second measurement confirms.

use fwdlab_stats::distribution::t_two_sided;

use super::nightly::{NEAR, Raised, STEP, nightly};
use super::noise::{self, Kind, Random, Simulated};

/// Series of a project.
pub const SERIES: u64 = 100;
/// Commits of each, measured one a night.
pub const COMMITS: usize = 1_000;
/// Points of each that are looked at in a night.
const WINDOW: usize = 60;
/// Blocks in which both sides are measured again.
const BLOCKS: usize = 10;
/// The p of a confirmation.
const ALPHA: f64 = 0.01;
/// The noises that the bounds are asked of.
const KINDS: [Kind; 3] = [Kind::Steady, Kind::Stray, Kind::TwoStates];

/// What came out.
pub struct Watched {
    /// Nights on which something was suspected although nothing had changed.
    pub suspected: usize,
    /// Of these, those that a second measurement confirmed: false alerts.
    pub alerts: usize,
    /// Of the series with a step, in per cent: found within three points.
    pub found: f64,
    /// Found and confirmed.
    pub confirmed: f64,
    /// Points without a change that were simulated.
    pub points: usize,
    /// Series with a step.
    pub steps: u64,
}

/// Simulates `series` of `commits` without a change, and as many with one.
pub fn simulate(series: u64, commits: usize, first: u64) -> Watched {
    let (mut suspected, mut alerts) = (0, 0);
    for seed in first..first + series {
        let kind = KINDS[(seed % 3) as usize];
        let own = noise::series(kind, None, seed, commits);
        let raised = nightly(&own, WINDOW);
        suspected += raised.len();
        let again = |own_night: &&Raised| {
            is_confirmed(kind, &own, 1.0, seed ^ (own_night.night as u64) << 32)
        };
        alerts += raised.iter().filter(again).count();
    }
    let (mut found, mut confirmed) = (0, 0);
    let steps = 3 * series;
    for seed in first..first + steps {
        let kind = KINDS[(seed % 3) as usize];
        let at = 28 + (seed as usize * 7) % 20;
        let ratio = if (seed / 3).is_multiple_of(2) { 1.0 - STEP } else { 1.0 / (1.0 - STEP) };
        let own = noise::series(kind, Some((at, ratio)), seed + 2_000_000, noise::POINTS);
        if nightly(&own, WINDOW).iter().any(|own| (at..=at + NEAR).contains(&own.night)) {
            found += 1;
            confirmed += usize::from(is_confirmed(kind, &own, ratio, seed));
        }
    }
    let percent = |count: usize| count as f64 * 100.0 / steps as f64;
    Watched {
        suspected,
        alerts,
        found: percent(found),
        confirmed: percent(confirmed),
        points: series as usize * commits,
        steps,
    }
}

/// Both sides measured again in blocks, each in a process of its own, as `--confirm` asks for.
fn is_confirmed(kind: Kind, own: &Simulated, ratio: f64, seed: u64) -> bool {
    let mut random = Random::new(seed.wrapping_add(9_000_000));
    let logs: Vec<f64> = (0..BLOCKS)
        .map(|_| {
            let mut side = |level: f64| noise::point(kind, level, own.runs_sd, &mut random).ln();
            let before = side(1e6);
            side(1e6 * ratio) - before
        })
        .collect();
    let mean = logs.iter().sum::<f64>() / BLOCKS as f64;
    let squares: f64 = logs.iter().map(|log| (log - mean) * (log - mean)).sum();
    let error = (squares / (BLOCKS * (BLOCKS - 1)) as f64).sqrt();
    // which way the alarm went is not known here where nothing changed: either way counts
    let is_same_way = ratio == 1.0 || (mean > 0.0) == (ratio > 1.0);
    is_same_way && t_two_sided(mean / error, (BLOCKS - 1) as f64) < ALPHA
}
