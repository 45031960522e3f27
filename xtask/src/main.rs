//! The project's own chores: `cargo xtask layers`, `cargo xtask test`, `cargo xtask bench`.
#![forbid(unsafe_code)]
// a chore that nobody reads may end
#![allow(clippy::print_stderr)]

mod again;
mod bench;
mod beside;
mod calibrate;
mod campaigns;
mod circles;
mod cost;
mod deadline;
mod fuzz;
mod history;
mod layers;
mod methods;
mod modules;
mod names;
mod notices;
mod paths;
mod programs;
mod publish;
mod readme;
mod seeds;
mod sizes;
mod sources;
mod steps;
mod supply;
mod test;
mod words;
mod workspace;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use workspace::root;

#[derive(Parser)]
#[command(name = "xtask", about = "The project's own chores")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check that crates depend strictly downwards and that unsafe code stays in its fences
    Layers,
    /// Hold the verdicts to simulated campaigns with a known truth; writes docs/calibration.md
    Calibrate(calibrate::Args),
    /// Run real campaigns with a known truth on the built-in device; writes docs/campaigns.md
    Campaigns(campaigns::Args),
    /// Simulate long series with a known truth: which changes are found; writes a table of
    /// docs/history.md
    History(history::Args),
    /// Set published figures of D27401 beside our own; writes docs/seeds.md
    Seeds(seeds::Args),
    /// Everything that must hold: format, lints, layers, all tests, model checks; counts skips
    Test(test::Args),
    /// Check that a frame costs the same number of instructions with and without link-time
    /// optimisation
    Cost,
    /// Feed every parser mutated input for a while, guided by coverage
    Fuzz(fuzz::Args),
    /// Hold licences, bans and sources of deny.toml against the packages
    Supply(supply::Args),
    /// Compare with peers in interleaved rounds: `cargo xtask bench fib`, `... bench forward`
    Bench {
        /// Only build the bench, as one static program that runs on any Linux of its processor type, into
        /// this file; peers in C are left out
        #[arg(long, value_name = "FILE", conflicts_with_all = ["peers", "arguments"])]
        build: Option<PathBuf>,
        /// For this type of processor [default: that of this machine]
        #[arg(long, value_enum, requires = "build")]
        processor: Option<bench::Processor>,
        /// Others' lookup code: `poptrie=DIR`, `dxr=DIR`, `planb=DIR` [default: ../shared/peers]
        #[arg(long = "peer", value_name = "NAME=DIR")]
        peers: Vec<String>,
        /// Arguments of the bench program, for example `fib --format json`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Layers => layers::check(&root()),
        Task::Calibrate(arguments) => calibrate::run(&root(), &arguments),
        Task::Campaigns(arguments) => campaigns::run(&root(), &arguments),
        Task::History(arguments) => history::run(&root(), &arguments),
        Task::Seeds(arguments) => seeds::run(&root(), &arguments),
        Task::Test(arguments) => test::run(&root(), &arguments),
        Task::Cost => cost::check(),
        Task::Fuzz(arguments) => fuzz::run(&root(), &arguments),
        Task::Supply(arguments) => supply::run(&root(), &arguments),
        Task::Bench { build: Some(file), processor, .. } => {
            bench::build(&root(), &file, processor.unwrap_or_default())
        }
        Task::Bench { peers, arguments, .. } => bench::run(&peers, &arguments),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
