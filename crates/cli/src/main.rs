//! `fwdlab`: arguments, progress and exit codes. What it does lives in the libraries.
//!
//! Exit codes: 0 done, 1 a criterion is not met (a regression, an audit finding, a failed trial),
//! 2 an error.
#![forbid(unsafe_code)]

mod audit;
mod bisect;
mod compare;
mod devices;
mod doctor;
mod experiments;
mod export;
mod features;
mod fib;
#[cfg(target_os = "linux")]
mod generate;
mod history;
mod import;
mod interrupt;
mod ministat;
mod output;
mod plan;
mod profile;
mod progress;
mod report;
mod route;
mod run;
mod sign;
mod stamp;
#[cfg(all(target_os = "linux", feature = "vm"))]
mod vm;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The forwarding lab: does this change make packets go faster?
#[derive(Parser)]
#[command(
    name = "fwdlab",
    version,
    about = "The forwarding lab: does this change make packets go faster?",
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// One subcommand a line; each lives in the module of its name.
#[derive(Subcommand)]
enum Command {
    /// Run an experiment and write its report
    Run(run::Args),
    /// Check published pages against the data beside them
    Audit(audit::Args),
    /// Find the step of a chain of variants, images or commits that changed the figure
    Bisect(bisect::Args),
    /// Compare results directories, .pps files, CSV, JSON or Go benchmarks: a verdict for each
    Compare(compare::Args),
    /// Load a routing table into the modular FIB and look at it
    Fib(fib::Args),
    /// Say what this machine can do and how to get what is missing
    Doctor(doctor::Args),
    /// Write results for other people's tools
    Export(export::Args),
    /// Send test frames on a network interface
    #[cfg(target_os = "linux")]
    Gen(generate::GenArgs),
    /// Count the frames that arrive on a network interface
    #[cfg(target_os = "linux")]
    Sink(generate::SinkArgs),
    /// Series over revisions or dates: years of results in one view, and what changed
    History(history::Args),
    /// Read published result directories
    Import(import::Args),
    /// Compare sets of values as ministat(1) does, byte for byte
    Ministat(ministat::Args),
    /// Say how many blocks an experiment needs, and how long they take
    Plan(plan::Args),
    /// Take profiles for the flame graphs of finished results, in trials of their own
    Profile(profile::Args),
    /// Make the report of a results directory anew from its journal, or check it
    Report(report::Args),
    /// Sign finished results with an OpenSSH key
    Sign(sign::SignArgs),
    /// Forward packets of capture files, and say what became of each
    Route(route::Args),
    /// Check the signature of results, and that they agree with themselves
    Verify(sign::VerifyArgs),
    /// Be the init process of a virtual machine
    #[cfg(all(target_os = "linux", feature = "vm"))]
    #[command(hide = true)]
    VmGuest,
    /// Become a program that ends with its parent
    #[cfg(all(target_os = "linux", feature = "vm"))]
    #[command(hide = true)]
    VmLaunch(vm::LaunchArgs),
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(code) => code,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Run(arguments) => run::execute(&arguments),
        Command::Audit(arguments) => audit::execute(&arguments),
        Command::Bisect(arguments) => bisect::execute(&arguments),
        Command::Compare(arguments) => compare::execute(&arguments),
        Command::Fib(arguments) => fib::execute(&arguments),
        Command::Doctor(arguments) => doctor::execute(&arguments),
        Command::Export(arguments) => export::execute(&arguments),
        #[cfg(target_os = "linux")]
        Command::Gen(arguments) => generate::execute_gen(&arguments),
        #[cfg(target_os = "linux")]
        Command::Sink(arguments) => generate::execute_sink(&arguments),
        Command::History(arguments) => history::execute(&arguments),
        Command::Import(arguments) => import::execute(&arguments),
        Command::Ministat(_) => Ok(ministat::execute()),
        Command::Plan(arguments) => plan::execute(&arguments),
        Command::Profile(arguments) => profile::execute(&arguments),
        Command::Report(arguments) => report::execute(&arguments),
        Command::Route(arguments) => route::execute(&arguments),
        Command::Sign(arguments) => sign::execute_sign(&arguments),
        Command::Verify(arguments) => sign::execute_verify(&arguments),
        #[cfg(all(target_os = "linux", feature = "vm"))]
        Command::VmGuest => Ok(vm::guest()),
        #[cfg(all(target_os = "linux", feature = "vm"))]
        Command::VmLaunch(arguments) => vm::launch(&arguments),
    }
}
