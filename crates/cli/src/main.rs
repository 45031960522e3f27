//! `fwdlab`: arguments, progress and exit codes. What it does lives in the libraries.
//!
//! Exit codes: [`EXIT_CODES`].
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod agent;
mod audit;
mod bisect;
mod causes;
mod changes;
mod compare;
mod completions;
#[cfg(target_os = "linux")]
mod control;
#[cfg(target_os = "linux")]
mod ctl;
mod devices;
mod doctor;
mod environment;
mod experiments;
mod export;
mod family;
mod feature;
mod features;
mod fib;
mod gate;
#[cfg(target_os = "linux")]
mod generate;
mod history;
mod import;
mod init;
mod interrupt;
mod kernels;
mod manual;
mod meant;
mod merge;
mod ministat;
mod output;
mod own;
mod plan;
mod preflight;
mod process;
mod profile;
mod progress;
mod report;
mod route;
mod run;
mod sign;
mod slurm;
mod stamp;
mod state;
mod trees;
#[cfg(target_os = "linux")]
mod unlock;

use clap::{CommandFactory as _, Parser, Subcommand};
use fwdlab_guard::words::{is_hidden, shortened};
use std::process::ExitCode;

/// What exit codes mean; docs/ci.md has the same table.
const EXIT_CODES: &str = "Exit codes:\n  \
    0    done\n  \
    1    done, and a criterion is not met: a trial FAILED, a verdict of --fail-on, an audit finding,\n       \
         a report or signature that does not agree, a published median that import does not\n       \
         reproduce, something that doctor misses\n  \
    2    an error: nothing was done, or not to its end; the message says what to do\n  \
    3    stopped because the tester's host or the network failed; the same command goes on\n  \
    4    done, and --fail-on could not tell: a comparison is invalid, or too short to reach the level\n  \
    130  stopped by a signal; the same command goes on";

/// The forwarding lab: does this change make packets go faster?
#[derive(Parser)]
#[command(
    name = "fwdlab",
    version = stamp::VERSION,
    after_help = EXIT_CODES,
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
    /// Give orders to a router that forwards between interfaces
    #[cfg(target_os = "linux")]
    Ctl(ctl::Args),
    /// Load a routing table into the modular FIB and look at it
    Fib(fib::Args),
    /// Print what a shell needs to complete commands
    Completions(completions::Args),
    /// Say what this machine can do and how to get what is missing
    Doctor(doctor::Args),
    /// List the experiments that are part of this program, or print one
    Examples(experiments::Args),
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
    /// Write an experiment to begin with
    Init(init::Args),
    /// Print the manual page, or write those of all commands
    Man(manual::ManArgs),
    /// Read published result directories
    Import(import::Args),
    /// Print the licence of this program and those of everybody whose code is part of it
    #[command(alias = "licenses")]
    Licences,
    /// Put results of one experiment on several testbeds side by side
    Merge(merge::Args),
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
    /// Write the batch script that runs an experiment on a pool of testbeds
    Slurm(slurm::Args),
    /// Forward packets of capture files or between interfaces, and say what became of each
    Route(route::Args),
    /// Free a testbed that somebody left locked
    #[cfg(target_os = "linux")]
    Unlock(unlock::Args),
    /// Check the signature of results, and that they agree with themselves
    Verify(sign::VerifyArgs),
    /// Run trials for the fwdlab that started this one
    #[command(hide = true)]
    TrialProcess(process::Args),
    /// Be the tester on another host
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    Agent,
    /// Be the init process of a virtual machine
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    Guest,
    /// Become a program that ends with its parent
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    Launch(agent::LaunchArgs),
}

impl Command {
    /// Whether another fwdlab started it, which has looked for what earlier ones left.
    fn is_part_of_another(&self) -> bool {
        match self {
            Self::TrialProcess(_) => true,
            #[cfg(target_os = "linux")]
            Self::Agent | Self::Guest | Self::Launch(_) => true,
            _ => false,
        }
    }
}

fn main() -> ExitCode {
    let command = match Cli::try_parse() {
        Ok(parsed) => parsed.command,
        Err(error) => return told(&meant::with_what_was_meant(error, &Cli::command())),
    };
    if !command.is_part_of_another() {
        devices::tidy();
    }
    interrupt::outlive_limits();
    match run(command) {
        Ok(code) => code,
        Err(error) => {
            fwdlab_guard::say!("error: {}", causes::in_words(&error));
            ExitCode::from(2)
        }
    }
}

/// Prints help, the version, or what is wrong with the arguments; a full disk is an error here, too.
fn told(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        // It quotes arguments, and a shell puts strangers' names into them (`*`): never in colours, then.
        // Nor whole, where nobody reads it to its end.
        let mut arguments = std::env::args_os().map(|own| own.to_string_lossy().into_owned());
        if arguments.any(|own| own.contains(is_hidden) || shortened(&own) != own) {
            fwdlab_guard::say!("{}", error.render().to_string().trim_end());
            return ExitCode::from(2);
        }
        error.exit();
    }
    let text = error.render();
    let shown = if output::is_coloured() { text.ansi().to_string() } else { text.to_string() };
    match output::print_raw(shown.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            fwdlab_guard::say!("error: {}", causes::in_words(&error));
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
        #[cfg(target_os = "linux")]
        Command::Ctl(arguments) => ctl::execute(&arguments),
        Command::Fib(arguments) => fib::execute(&arguments),
        Command::Completions(arguments) => completions::execute(&arguments, &Cli::command()),
        Command::Doctor(arguments) => doctor::execute(&arguments),
        Command::Examples(arguments) => experiments::execute(&arguments),
        Command::Init(arguments) => init::execute(&arguments),
        Command::Man(arguments) => manual::man(&arguments, Cli::command()),
        Command::Export(arguments) => export::execute(&arguments),
        #[cfg(target_os = "linux")]
        Command::Gen(arguments) => generate::execute_gen(&arguments),
        #[cfg(target_os = "linux")]
        Command::Sink(arguments) => generate::execute_sink(&arguments),
        Command::History(arguments) => history::execute(&arguments),
        Command::Import(arguments) => import::execute(&arguments),
        Command::Licences => {
            output::print(manual::LICENCES)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Merge(arguments) => merge::execute(&arguments),
        Command::Ministat(_) => Ok(ministat::execute()),
        Command::Plan(arguments) => plan::execute(&arguments),
        Command::Profile(arguments) => profile::execute(&arguments),
        Command::Report(arguments) => report::execute(&arguments),
        Command::Slurm(arguments) => slurm::execute(&arguments),
        Command::Route(arguments) => route::execute(&arguments),
        Command::Sign(arguments) => sign::execute_sign(&arguments),
        #[cfg(target_os = "linux")]
        Command::Unlock(arguments) => unlock::execute(&arguments),
        Command::Verify(arguments) => sign::execute_verify(&arguments),
        Command::TrialProcess(_) => process::execute(),
        #[cfg(target_os = "linux")]
        Command::Agent => Ok(agent::serve()),
        #[cfg(target_os = "linux")]
        Command::Guest => Ok(agent::guest()),
        #[cfg(target_os = "linux")]
        Command::Launch(arguments) => agent::launch(&arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;

    #[test]
    fn no_cause_is_said_twice() {
        let cause = || Err::<(), _>(std::io::Error::other("it is gone"));
        let error = cause().context("cannot open x: it is gone; look again").unwrap_err();
        assert_eq!(causes::in_words(&error), "cannot open x: it is gone; look again");
        let error = cause().context("cannot open x").unwrap_err();
        assert_eq!(causes::in_words(&error), "cannot open x: it is gone");
    }

    #[test]
    fn arguments_fit_together() {
        Cli::command().debug_assert();
    }
}
