//! What can go wrong in a bisection.

use std::io;
use std::path::{Path, PathBuf};

/// What to do about the journal, which nobody names.
fn remedy(path: &Path) -> &'static str {
    let is_journal = path.ends_with("bisect.jsonl");
    if is_journal { "; move it away, or choose another --output" } else { "" }
}

/// An error of a bisection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BisectError {
    /// Results could not be read.
    #[error(transparent)]
    Results(#[from] fwdlab_results::Error),
    /// A file could not be used.
    #[error("cannot {action} {}: {source}{}", path.display(), remedy(path))]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The experiment is no TOML.
    #[error("{}: {what}", path.display())]
    Experiment {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A state is not in the chain.
    #[error(
        "'{name}' is none of the states: {known}{}",
        if known.split(", ").any(|own| own == "{}") {
            "; the variant called {} is made into the states of --list FILE, or the commits of --git REPOSITORY"
        } else {
            ""
        }
    )]
    NoState {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A traffic is not in the experiment.
    #[error("{}: no traffic is called '{name}'; --traffic takes one of {known}", path.display())]
    NoTraffic {
        /// The experiment.
        path: PathBuf,
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The good end stands behind the bad one, or they are one.
    #[error("the good state '{good}' must stand before the bad one '{bad}' in the chain")]
    Order {
        /// The good end.
        good: String,
        /// The bad end.
        bad: String,
    },
    /// The variant with the place for a state is missing.
    #[error(
        "{}: no variant is called \"{{}}\"; add one whose settings hold {{}} where the state's name \
         belongs",
        path.display()
    )]
    NoTemplate {
        /// The experiment.
        path: PathBuf,
    },
    /// What a command wrote for a state is no TOML.
    #[error("the settings that --command wrote for {state} are no TOML: {what}")]
    Settings {
        /// The state.
        state: String,
        /// What is wrong.
        what: String,
    },
    /// No block compares both.
    #[error(
        "{}: no block has a good trial of '{probe}' and of the good state; look at its trials.jsonl",
        dir.display()
    )]
    NoBlock {
        /// The results.
        dir: PathBuf,
        /// The state.
        probe: String,
    },
    /// Nothing came of several comparisons of one state.
    #[error(
        "{tries} comparisons of {state} in a row had no good trial; look at the trials.jsonl of the last one, \
         then the same command goes on from what is recorded"
    )]
    Lost {
        /// The state.
        state: String,
        /// How many.
        tries: usize,
    },
    /// An end of the chain cannot be left out.
    #[error(
        "'{name}' is an end of the chain and cannot be left out ({why}); name another --good or --bad"
    )]
    End {
        /// The state.
        name: String,
        /// Why it was to be.
        why: String,
    },
    /// A journal is of another bisection.
    #[error(
        "{} is of another bisection ({difference}); choose another --output, or remove it",
        path.display()
    )]
    Other {
        /// The journal.
        path: PathBuf,
        /// What differs.
        difference: &'static str,
    },
    /// Another bisection is at work there.
    #[error(
        "{} is being written by another bisection; wait for it, or choose another --output",
        path.display()
    )]
    Busy {
        /// The journal.
        path: PathBuf,
    },
    /// A line of a journal is no record.
    #[error("{}, line {line}: {what}; remove the line to have it measured again", path.display())]
    Line {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
}

impl BisectError {
    /// Wraps what the system says of `path`.
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
