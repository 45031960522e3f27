//! "Is today's result a change?" on the archive's noise: what the last points alone say, without a step and with one.

use std::thread;

use fwdlab_stats::change::{Settings, today};

use super::archive;
use super::nightly::{NEAR, last_points};
use super::noise::{POINTS, Random, Simulated};

/// Sizes of the steps, in per cent.
const SIZES: [f64; 4] = [3.0, 5.0, 10.0, 15.0];
/// The first seed: of no other table.
const FIRST: u64 = 400_000;

/// What came out for one share.
#[derive(Clone, Default)]
struct Counts {
    /// False alarms, by the length of the history before them: 10 to 16, 17 to 29, 30 and more.
    silent: [usize; 3],
    /// Steps found, of each size.
    found: [usize; SIZES.len()],
}

fn simulated(share: f64, percent: f64, seed: u64) -> (usize, Simulated) {
    let mut random = Random::new(seed);
    let sd = archive::noise(&mut random);
    let at = 20 + (seed as usize * 7) % 28;
    let size = (percent / 100.0).ln_1p() * if seed.is_multiple_of(2) { -1.0 } else { 1.0 };
    let levels: Vec<f64> = (0..POINTS).map(|point| if point >= at { size } else { 0.0 }).collect();
    (at, archive::series(&levels, sd, share, seed, &mut random))
}

/// Whether the last points say in time that there is a step; what they said before does not count.
fn is_found(own: &Simulated, at: usize) -> bool {
    let settings = Settings::default();
    (at + 2..=at + NEAR).any(|night| {
        today::alarm(&own.values[..=night], own.noise, &settings, today::BOUND)
            .is_some_and(|alarm| alarm.began.abs_diff(at) <= NEAR)
    })
}

fn one(share: f64, seed: u64) -> Counts {
    let mut counts = Counts::default();
    let (_, quiet) = simulated(share, 0.0, seed);
    for night in last_points(&quiet) {
        counts.silent[if night < 20 {
            0
        } else if night < 33 {
            1
        } else {
            2
        }] += 1;
    }
    for (found, size) in counts.found.iter_mut().zip(SIZES) {
        let (at, own) = simulated(share, size, seed);
        *found += usize::from(is_found(&own, at));
    }
    counts
}

/// Prints both.
pub fn simulate(series: u64) {
    let threads = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    println!(
        "| kept | false in 1,000 points | by nights to 19, 32, later | 3 % | 5 % | 10 % | 15 % |"
    );
    println!("|---:|---:|---|---:|---:|---:|---:|");
    for share in archive::SHARES {
        let mut all = Counts::default();
        thread::scope(|scope| {
            let jobs: Vec<_> = (0..threads)
                .map(|first| {
                    let seeds = (FIRST + first..FIRST + series).step_by(threads as usize);
                    scope.spawn(move || seeds.map(|seed| one(share, seed)).collect::<Vec<_>>())
                })
                .collect();
            for own in jobs.into_iter().flat_map(|job| job.join().expect("invariant: no panic")) {
                for (all, own) in all.silent.iter_mut().zip(own.silent) {
                    *all += own;
                }
                for (all, own) in all.found.iter_mut().zip(own.found) {
                    *all += own;
                }
            }
        });
        let of_series = |count: &usize| format!("{:.1} %", *count as f64 * 100.0 / series as f64);
        let found: Vec<String> = all.found.iter().map(of_series).collect();
        println!(
            "| {share} | {:.2} | {:?} | {} |",
            all.silent.iter().sum::<usize>() as f64 * 1_000.0 / (series as usize * POINTS) as f64,
            all.silent,
            found.join(" | ")
        );
    }
}
