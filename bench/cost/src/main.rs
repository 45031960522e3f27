//! A fixed number of frames, or of lookups, through one hot loop, with nothing random and no thread, so that the
//! instructions of [`counted`] can be counted:
//!
//! ```text
//! valgrind --tool=callgrind --instr-atstart=no --toggle-collect='fwdlab_cost::counted*' fwdlab-cost "router inet fwdlab"
//! ```
//!
//! `cargo xtask cost` does that for each loop in builds with and without link-time optimisation,
//! and compares. Without arguments the loops are timed instead, by the processor's own vectors;
//! `--list` names them.
// a chore that nobody reads may end
#![allow(clippy::print_stderr)]

mod case;
mod lookup;
mod router;
mod tester;
mod valgrind;

use std::process::ExitCode;
use std::time::Instant;

use case::{AnyError, Case, Loop};

/// Frames that are counted. A tenth as many go before, so that nothing happens for the first time.
const FRAMES: usize = 200_000;
/// Frames that are timed.
const TIMED: usize = 20_000_000;
/// Times that the fastest is taken of.
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), AnyError> {
    let cases: Vec<Case> = router::cases().chain(tester::cases()).chain(lookup::cases()).collect();
    match std::env::args().nth(1).as_deref() {
        Some("--list") => cases.iter().for_each(|case| println!("{}", case.name)),
        Some(name) => {
            let case = cases.iter().find(|case| case.name == name);
            let case = case.ok_or_else(|| format!("no loop `{name}`, --list names them"))?;
            let mut work = (case.make)()?;
            work(FRAMES / 10);
            valgrind::start_instrumentation();
            println!("{}", counted(&mut work, FRAMES));
        }
        None => {
            for case in &cases {
                println!("{:<32} {:6.2} ns a frame or lookup", case.name, time(case)?);
            }
        }
    }
    Ok(())
}

/// What is counted: all that happens in here, for the number of frames that is returned.
#[inline(never)]
fn counted(work: &mut Loop, frames: usize) -> usize {
    work(frames)
}

/// The fastest of some rounds, ns a frame.
fn time(case: &Case) -> Result<f64, AnyError> {
    let mut work = (case.make)()?;
    work(TIMED / 10);
    let mut round = || {
        let start = Instant::now();
        let frames = work(TIMED / ROUNDS);
        start.elapsed().as_nanos() as f64 / frames as f64
    };
    Ok((0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min))
}
