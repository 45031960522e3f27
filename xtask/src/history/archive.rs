//! Series as long ones of the archive are: 1.4 to 3 % from point to point, shares of it kept to the next, bad days, and
//! more than one step.

use std::fmt::Write as _;

use fwdlab_stats::change::{self, Settings, divisive};

use super::nightly::{By, NEAR, nightly};
use super::noise::{POINTS, Random, Simulated};

/// The noise from point to point of six long series of 2016, as a ratio: from the median size of what is between two points.
const NOISES: [f64; 6] = [0.029_9, 0.030_1, 0.013_9, 0.019_4, 0.018_5, 0.016_0];
/// Shares that points keep to the next. Within the levels of seven series they are -0.09 to 0.41.
pub(super) const SHARES: [f64; 4] = [0.0, 0.2, 0.4, 0.6];
/// Sizes of the steps, in per cent, and the last in standard deviations.
const SIZES: [Size; 6] = [
    Size::Percent(3.0),
    Size::Percent(5.0),
    Size::Percent(7.0),
    Size::Percent(10.0),
    Size::Percent(15.0),
    Size::Deviations(5.0),
];
/// What the runs of a point say of its error.
const OF_RUNS: f64 = 0.005;
/// Fewest points of a level, and of a series with steps.
const LEVEL: usize = 8;
/// Points of a series with steps.
const LENGTHS: std::ops::RangeInclusive<usize> = 20..=62;
/// Points that are left out, to see whether older ones that join take a step away.
const OLDER: usize = 10;
/// The first seed: of no other table.
const FIRST: u64 = 300_000;

#[derive(Clone, Copy)]
enum Size {
    Percent(f64),
    Deviations(f64),
}

impl Size {
    fn name(self) -> String {
        match self {
            Self::Percent(percent) => format!("{percent} %"),
            Self::Deviations(count) => format!("{count} standard deviations"),
        }
    }

    fn log(self, sd: f64) -> f64 {
        match self {
            Self::Percent(percent) => (percent / 100.0).ln_1p(),
            Self::Deviations(count) => count * sd,
        }
    }
}

/// A series whose levels, as logarithms, are `levels`, one for each point.
pub(super) fn series(
    levels: &[f64],
    sd: f64,
    share: f64,
    seed: u64,
    random: &mut Random,
) -> Simulated {
    let mut kept = sd * random.normal();
    let mut values = Vec::with_capacity(levels.len());
    for level in levels {
        kept = share * kept + (1.0 - share * share).sqrt() * sd * random.normal();
        let mut value = 1e6 * (level + kept).exp();
        if random.unit() < 0.02 {
            value *= 0.97 - 0.27 * random.unit();
        }
        values.push(value);
    }
    Simulated { values, noise: OF_RUNS, runs_sd: OF_RUNS, seed }
}

/// The noise from point to point of one of the archive's series.
pub(super) fn noise(random: &mut Random) -> f64 {
    one_of(&NOISES, random)
}

fn one_of<T: Copy>(of: &[T], random: &mut Random) -> T {
    of[((random.unit() * of.len() as f64) as usize).min(of.len() - 1)]
}

fn levels_found(values: &[f64]) -> Vec<usize> {
    let found = change::changes(values, OF_RUNS, &Settings::default());
    found.iter().map(|own| own.at).collect()
}

/// False changes of series without one, in 1,000 points.
fn without_steps(series_of_each: u64) -> String {
    let mut text = "| kept to the next point | levels, once | levels, each night | last points, each night | e-divisive p ≤ 0.005, once | e-divisive, each night |\n|---:|---:|---:|---:|---:|---:|\n".to_owned();
    for share in SHARES {
        let mut counts = [0usize; 5];
        for seed in FIRST..FIRST + series_of_each {
            let mut random = Random::new(seed);
            let sd = one_of(&NOISES, &mut random);
            let own = series(&[0.0; POINTS], sd, share, seed, &mut random);
            counts[0] += levels_found(&own.values).len();
            for raised in nightly(&own, POINTS) {
                counts[if raised.by == By::LastPoints { 2 } else { 1 }] += 1;
            }
            counts[3] += divisive::changes(&own.values, 0.005, seed).len();
            let mut known: Vec<usize> = Vec::new();
            for night in 4..=own.values.len() {
                for place in divisive::changes(&own.values[..night], 0.005, seed) {
                    if !known.iter().any(|k| k.abs_diff(place) <= NEAR) {
                        known.push(place);
                    }
                }
            }
            counts[4] += known.len();
        }
        let points = (series_of_each as usize * POINTS) as f64;
        let cells = counts.map(|count| format!("{:.2}", count as f64 * 1_000.0 / points));
        let _ = writeln!(text, "| {share} | {} |", cells.join(" | "));
    }
    text
}

/// Steps found within three points, of series of one to four, and what is found elsewhere.
fn with_steps(series_of_each: u64) -> String {
    let mut text = "| step | steps | levels | elsewhere | lost to older points | e-divisive p ≤ 0.005 | elsewhere |\n|---|---:|---:|---:|---:|---:|---:|\n".to_owned();
    for size in SIZES {
        let (mut steps, mut points) = (0, 0);
        let (mut found, mut elsewhere) = ([0usize; 2], [0usize; 2]);
        let (mut seen, mut lost) = (0usize, 0usize);
        for seed in FIRST..FIRST + series_of_each {
            let mut random = Random::new(seed);
            let sd = one_of(&NOISES, &mut random);
            let share = 0.4 * random.unit();
            let span = (LENGTHS.end() - LENGTHS.start() + 1) as f64;
            let count = LENGTHS.start() + (random.unit() * span) as usize;
            let many = (1 + (random.unit() * 4.0) as usize).min(count / LEVEL - 1);
            let spare = count - (many + 1) * LEVEL;
            let mut cuts: Vec<usize> =
                (0..many).map(|_| (random.unit() * (spare + 1) as f64) as usize).collect();
            cuts.sort_unstable();
            let places: Vec<usize> =
                cuts.iter().enumerate().map(|(k, cut)| cut + (k + 1) * LEVEL).collect();
            let mut level = 0.0;
            let mut levels = Vec::with_capacity(count);
            for point in 0..count {
                if places.contains(&point) {
                    let sign = if random.unit() < 0.5 { -1.0 } else { 1.0 };
                    level += sign * size.log(sd);
                }
                levels.push(level);
            }
            let own = series(&levels, sd, share, seed, &mut random);
            let whole = levels_found(&own.values);
            let rival = divisive::changes(&own.values, 0.005, seed);
            for (k, all) in [&whole, &rival].into_iter().enumerate() {
                let is_near = |place: &&usize| all.iter().any(|at| at.abs_diff(**place) <= NEAR);
                found[k] += places.iter().filter(is_near).count();
                let is_far = |at: &&usize| places.iter().all(|p| p.abs_diff(**at) > NEAR);
                elsewhere[k] += all.iter().filter(is_far).count();
            }
            for at in levels_found(&own.values[OLDER..]) {
                let at = at + OLDER;
                if places.iter().any(|place| place.abs_diff(at) <= NEAR) {
                    seen += 1;
                    lost += usize::from(whole.iter().all(|other| other.abs_diff(at) > NEAR));
                }
            }
            steps += places.len();
            points += count;
        }
        let percent = |of: usize, all: usize| of as f64 * 100.0 / all.max(1) as f64;
        let in_1000 = |of: usize| of as f64 * 1_000.0 / points as f64;
        let _ = writeln!(
            text,
            "| {} | {steps} | {:.1} % | {:.2} | {:.1} % | {:.1} % | {:.2} |",
            size.name(),
            percent(found[0], steps),
            in_1000(elsewhere[0]),
            percent(lost, seen),
            percent(found[1], steps),
            in_1000(elsewhere[1]),
        );
    }
    text
}

/// Both tables.
pub fn simulate(series_of_each: u64) {
    println!("{}", without_steps(series_of_each));
    println!("{}", with_steps(series_of_each));
}
