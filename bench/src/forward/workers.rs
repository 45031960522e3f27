//! One worker, and one on each core: what the second core adds when each has ports, frames and
//! tables of its own.

use std::sync::Barrier;

use anyhow::{Result, anyhow, ensure};
use fwdlab_lookups::Ratio;
use fwdlab_port::affinity;

use super::Arguments;
use super::case::{Case, Contender, FamilyName, Table};
use super::ours::Router;
use super::report::{Figure, Report};
use super::table::Routes;
use super::turn::{LAPS, beat_on, ns_per_frame, turn};

/// Renewals of the frames in one measurement, each for [`LAPS`] laps: some 100 ms.
const RENEWALS: usize = 20;

/// Runs both families on one core and on two.
///
/// # Errors
/// Fewer than two cores.
pub fn run(arguments: &Arguments, cores: &[usize], report: &mut Report) -> Result<()> {
    ensure!(cores.len() >= 2, "two cores are needed, there are {}", cores.len());
    for family in [FamilyName::Inet, FamilyName::Inet6] {
        let case = Case { family, table: Table::Two, flows: 2000, stride: 2112 };
        let name = format!("workers, {}, 2 routes, 2000 flows", family.name());
        if !arguments.wants(&name) {
            continue;
        }
        let (mut alone, mut together) = (Vec::new(), Vec::new());
        for _ in 0..arguments.rounds {
            for (turns, count) in [(&mut alone, 1), (&mut together, 2)] {
                let time = || Ok(1.0 / rate(&case, &cores[..count])?);
                turns.push(turn(|| beat_on(cores[0]), time)?);
            }
        }
        let gain = Ratio::of(&together, &alone);
        for (contender, turns) in [("1 worker", alone), ("2 workers", together)] {
            report.figure(Figure {
                case: name.clone(),
                family: family.name(),
                origin: "fwdlab",
                name: contender.into(),
                ns_per_frame: ns_per_frame(&turns),
                ratio: None,
                beats_ns: turns.iter().map(|turn| turn.beat_ns).collect(),
            });
        }
        if let Some(gain) = gain {
            report.note(format!(
                "{}: two workers forward {gain} times what one does.",
                family.name()
            ));
        }
    }
    Ok(())
}

/// Frames per nanosecond of a worker on each of `cores`.
fn rate(case: &Case, cores: &[usize]) -> Result<f64> {
    let ready = Barrier::new(cores.len());
    let rates: Result<Vec<f64>> = std::thread::scope(|scope| {
        let ready = &ready;
        let spawn = |&core: &usize| scope.spawn(move || worker(case, core, ready));
        let workers: Vec<_> = cores.iter().map(spawn).collect();
        let result = |worker: std::thread::ScopedJoinHandle<'_, Result<f64>>| {
            worker.join().map_err(|_| anyhow!("a worker's thread ended early"))?
        };
        workers.into_iter().map(result).collect()
    });
    Ok(rates?.iter().sum())
}

fn worker(case: &Case, core: usize, ready: &Barrier) -> Result<f64> {
    let pinned = affinity::pin_current_thread(core);
    let routes = Routes::two();
    let made = Router::new(case, &routes, true);
    let frames = case.frames(&routes);
    // Everybody must come here, or nobody would go on.
    ready.wait();
    pinned?;
    let mut router = made?;
    let mut ns = 0;
    for renewal in 0..=RENEWALS {
        router.fill(&frames);
        let of_this = router.laps(LAPS);
        // The first is to warm up.
        ns += if renewal == 0 { 0 } else { of_this };
    }
    Ok((RENEWALS * LAPS * frames.len()) as f64 / ns as f64)
}
