//! Which bound the evidence of the last points has to reach: the lowest that keeps the promise of false alarms on
//! every noise. Its series are of no other table.

use std::thread;

use fwdlab_stats::change::today;

use super::nightly::{MOST_FALSE, NEAR, nights, raised, stepped};
use super::noise::{self, Kind, POINTS};

/// The bounds that are tried: 50, 60, and so on to 300.
const BOUNDS: std::ops::RangeInclusive<u32> = 5..=30;
/// Series of each noise, without a step and with one.
const SERIES: u64 = 500;
/// The first seed: far from those of the tables.
const FIRST: u64 = 100_000;
/// How far above what was counted the true number may be, in standard deviations of it: one in twenty is further.
const SURE: f64 = 1.645;

/// What one bound gives for one noise: false alarms and steps that were found.
type Counts = [usize; 2];

/// Prints what each bound gives and the one that the rule takes; whether that is the one in use.
pub fn choose() -> bool {
    let bounds: Vec<f64> = BOUNDS.map(|tens| f64::from(10 * tens)).collect();
    let of_kind = |kind: Kind| counts(kind, &bounds);
    let all: Vec<Vec<Counts>> = Kind::ALL.into_iter().map(of_kind).collect();
    let names: Vec<&str> = Kind::ALL.into_iter().map(Kind::name).collect();
    println!(
        "false alarms in 1,000 points / steps found, of {SERIES} series each: {}",
        names.join(", ")
    );
    let points = (SERIES as usize * POINTS) as f64;
    for (index, bound) in bounds.iter().enumerate() {
        let cell = |own: &Vec<Counts>| {
            let [alarms, found] = own[index];
            let in_1000 = alarms as f64 * 1_000.0 / points;
            format!("{in_1000:.2} / {:.1} %", found as f64 * 100.0 / SERIES as f64)
        };
        let cells: Vec<String> = all.iter().map(cell).collect();
        println!("{bound:5.0}  {}", cells.join("   "));
    }
    // what was counted may be too few by chance
    let most = MOST_FALSE * points / 1_000.0;
    let is_kept = |alarms: usize| alarms as f64 + SURE * (alarms as f64).sqrt() <= most;
    let is_good = |index: &usize| all.iter().all(|own| is_kept(own[*index][0]));
    let chosen = (0..bounds.len()).find(is_good).map(|index| bounds[index]);
    match chosen {
        Some(bound) => println!("the rule takes {bound}; in use is {}", today::BOUND),
        None => println!("no bound up to 300 keeps the promise; in use is {}", today::BOUND),
    }
    chosen == Some(today::BOUND)
}

/// What each bound gives for a noise, on all cores.
fn counts(kind: Kind, bounds: &[f64]) -> Vec<Counts> {
    let threads = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let sum = |mut all: Vec<Counts>, own: Vec<Counts>| {
        for (all, own) in all.iter_mut().zip(own) {
            *all = [all[0] + own[0], all[1] + own[1]];
        }
        all
    };
    let none = || vec![[0; 2]; bounds.len()];
    thread::scope(|scope| {
        let part = |first: u64| {
            let seeds = (FIRST + first..FIRST + SERIES).step_by(threads as usize);
            scope.spawn(move || seeds.map(|seed| one(kind, seed, bounds)).fold(none(), sum))
        };
        let jobs: Vec<_> = (0..threads).map(part).collect();
        let done =
            jobs.into_iter().map(|job| job.join().expect("invariant: simulation does not panic"));
        done.fold(none(), sum)
    })
}

/// The same of one series without a step and of one with.
fn one(kind: Kind, seed: u64, bounds: &[f64]) -> Vec<Counts> {
    let silent = nights(&noise::series(kind, None, seed, POINTS), POINTS);
    let (at, own) = stepped(kind, seed);
    let moved = nights(&own, POINTS);
    let of_bound = |bound: &f64| {
        let is_hit = raised(&moved, *bound).iter().any(|own| (at..=at + NEAR).contains(&own.night));
        [raised(&silent, *bound).len(), usize::from(is_hit)]
    };
    bounds.iter().map(of_bound).collect()
}
