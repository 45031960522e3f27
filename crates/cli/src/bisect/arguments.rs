//! Arguments of `fwdlab bisect`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Arguments of `fwdlab bisect`.
#[derive(Parser)]
#[command(
    after_help = "Both ends are measured again first. The answers: one culprit, several changes, \
                  changes that take each other back, no single culprit, or a difference that is \
                  gone (the lab or the machine changed).\nThe same command goes on where it was \
                  interrupted. docs/history.md has the method."
)]
pub struct Args {
    /// Experiment file; its variants are the chain, unless --list or --git says another
    pub(super) experiment: PathBuf,

    /// The state without the change
    #[arg(long, value_name = "STATE", required_unless_present = "lab")]
    pub(super) good: Option<String>,

    /// The state with it
    #[arg(long, value_name = "STATE", required_unless_present = "lab")]
    pub(super) bad: Option<String>,

    /// A file with one state a line, oldest first; the variant called "{}" is made of each
    #[arg(long, value_name = "FILE", conflicts_with = "git")]
    pub(super) list: Option<PathBuf>,

    /// A git repository whose commits between the ends (first parents) are the states; each is
    /// checked out before --command, and what was checked out before comes back
    #[arg(long, value_name = "REPOSITORY", requires = "command")]
    pub(super) git: Option<PathBuf>,

    /// What makes a state ready (builds a kernel), run once for each by sh with its name in
    /// FWDLAB_STATE. What it writes into the file FWDLAB_VARIANT is added to the state's variant:
    /// kernel = "...", or set = { ... }. A state for which it ends with 125 is left out
    #[arg(long, value_name = "COMMAND")]
    pub(super) command: Option<String>,

    /// A state between the ends that cannot be measured, to be left out from now on; may be given several times
    #[arg(long, value_name = "STATE", conflicts_with = "lab")]
    pub(super) skip: Vec<String>,

    /// Vary fwdlab itself at a fixed device: NAME=PROGRAM, twice, the older first
    #[arg(long, value_name = "NAME=PROGRAM", num_args = 1, conflicts_with_all = ["list", "git"])]
    pub(super) lab: Vec<String>,

    /// The traffic to look at [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(super) traffic: Option<String>,

    /// Blocks of each comparison
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) blocks: u32,

    /// Most comparisons
    #[arg(long, default_value_t = 200)]
    pub(super) most: usize,

    /// Where the comparisons go [default: results/bisect-<name of the experiment file>]
    #[arg(short, long, value_name = "DIR", value_parser = crate::own::directory())]
    pub(super) output: Option<PathBuf>,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

/// Forms of the output.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// The answer in words
    Text,
    /// The answer in base units
    Json,
}
