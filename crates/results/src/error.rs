//! What can go wrong with a results directory, each with what failed, on what, and what to try next.

use std::io;
use std::path::{Path, PathBuf};

/// An error of a results directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused a file operation.
    #[error("cannot {doing} {path}: {source}; {}", remedy_at(path, source))]
    Io {
        /// The operation, as the word after "cannot" ("write", "open").
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// Another run holds the lock of this results directory.
    #[error(
        "another run is writing to {dir}; wait until it ends, or choose another directory with -o DIR"
    )]
    Busy {
        /// The results directory.
        dir: PathBuf,
    },

    /// The directory already holds results, which are never overwritten.
    #[error(
        "{dir} already holds {state} results; nothing is overwritten: choose another directory with -o DIR, or move it away"
    )]
    Occupied {
        /// The results directory.
        dir: PathBuf,
        /// "finished", "unfinished" or "another experiment's".
        state: &'static str,
    },

    /// The record of what the campaign runs on is not the one that it began with.
    #[error(
        "{path} is gone or was changed since the campaign began; put it back as it was, or choose another directory with -o DIR"
    )]
    OtherEnvironment {
        /// The file.
        path: PathBuf,
    },

    /// A file was named where a results directory is wanted.
    #[error("{path} is a file; wanted a results directory{}", lies_in(dir.as_deref()))]
    NoDirectory {
        /// The file.
        path: PathBuf,
        /// The results directory that it lies in, if it does.
        dir: Option<PathBuf>,
    },

    /// A file was named where a directory of results, or of directories with results, is wanted.
    #[error(
        "{path} is no directory; wanted one with results in it or below it: name the directory that it lies in"
    )]
    NoTree {
        /// The file.
        path: PathBuf,
    },

    /// The directory holds no journal, or a journal without its first record.
    #[error("{dir} holds no results: {wanted}; {}", how_to_begin(dir))]
    NoResults {
        /// The directory.
        dir: PathBuf,
        /// What was looked for.
        wanted: &'static str,
    },

    /// A line of a journal does not say what a journal must say.
    #[error("{path}:{line}: {what}; wanted {wanted}; {remedy}")]
    JournalLine {
        /// The journal.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// What is wrong with the line.
        what: String,
        /// What the line should be.
        wanted: &'static str,
        /// What to try next.
        remedy: &'static str,
    },

    /// A trial was recorded that the journal cannot take.
    #[error("trial {id} {why}; it was not recorded again")]
    TrialRefused {
        /// The trial's id.
        id: String,
        /// "is already recorded" or "is not in the plan of this campaign".
        why: &'static str,
    },

    /// The journal, or its directory, was moved away while a run wrote to it.
    #[error(
        "{path} was moved while the run went on, and the run has stopped; what was recorded is where it is now: put it back, and run the same command again"
    )]
    Moved {
        /// Where it was.
        path: PathBuf,
    },

    /// The journal was deleted while a run wrote to it.
    #[error(
        "{path} was deleted while the run went on, and the run has stopped; its trials are lost: remove what is left of the directory, and the same command begins anew"
    )]
    Deleted {
        /// Where it was.
        path: PathBuf,
    },

    /// The journal was changed by somebody else while a run wrote to it.
    #[error(
        "{path} was changed while the run went on: it has {is} bytes and had {was}; wanted a journal that only this run writes; restore it, and run the same command again"
    )]
    Changed {
        /// The journal.
        path: PathBuf,
        /// Its length now.
        is: u64,
        /// Its length after the last record.
        was: u64,
    },

    /// A record could not be put into JSON.
    #[error("cannot encode {what} as JSON: {source}")]
    Encode {
        /// The record.
        what: &'static str,
        /// What serde said.
        source: serde_json::Error,
    },
}

impl Error {
    /// Returns a function that wraps a system error on `path`; made for
    /// `map_err`.
    pub fn io<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }

    /// A file in the place of a journal, which from this line on begins with bytes that none has.
    pub(crate) fn no_journal(path: &Path, line: usize, bytes: &[u8]) -> Self {
        let what = match bytes {
            [0] => "NUL bytes begin here".to_owned(),
            _ => format!("it begins with \"{}\"", bytes.escape_ascii()),
        };
        Self::JournalLine {
            path: path.to_owned(),
            line,
            what,
            wanted: "a journal, each line of which begins with '{'",
            remedy: "restore the file from where it was copied, or choose another directory",
        }
    }

    /// A line of a journal that does not carry the hash of the line before it.
    pub(crate) fn broken_chain(path: &Path, line: usize) -> Self {
        let before = if line == 1 { "experiment.toml" } else { "the line before" };
        Self::JournalLine {
            path: path.to_owned(),
            line,
            what: format!("its hash is not that of {before}: one of the two was changed"),
            wanted: "the records as they were written",
            remedy: "restore the directory from where it was copied, or start anew with -o DIR",
        }
    }
}

/// Where the file that was named lies, in words after what was wanted.
fn lies_in(dir: Option<&Path>) -> String {
    match dir {
        Some(dir) => format!(" and not a file in it: name {}", dir.display()),
        None => ": name the one that `fwdlab run -o DIR` made, or a new one for a run".to_owned(),
    }
}

/// What a person can do about a system error of this file. Nobody named the journal, but its directory.
fn remedy_at(path: &Path, error: &io::Error) -> &'static str {
    let is_refused = fwdlab_guard::remedy(error).is_some();
    let is_no_file = is_refused || error.kind() == io::ErrorKind::IsADirectory;
    match path.extension().is_some_and(|ending| ending == "jsonl") && is_no_file {
        true => "it is no journal: move it away, or choose another directory",
        false => io_remedy(error),
    }
}

/// What a person can do about a system error.
pub(crate) fn io_remedy(error: &io::Error) -> &'static str {
    if let Some(remedy) = fwdlab_guard::remedy(error) {
        return remedy;
    }
    match error.kind() {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::PermissionDenied => {
            "check who may read and write there, or choose another place with -o DIR"
        }
        io::ErrorKind::ReadOnlyFilesystem => "choose a place that you may write with -o DIR",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space and run the same command again: recorded trials are kept"
        }
        io::ErrorKind::FileTooLarge => {
            "raise the limit for files (`ulimit -f`) and run the same command again: recorded trials are kept"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "a file is in the way: move it, or choose another place with -o DIR"
        }
        io::ErrorKind::IsADirectory => "name a file instead of a directory",
        io::ErrorKind::InvalidData => "save it as UTF-8 text",
        _ => "check the file and its disk, then run the same command again",
    }
}

/// What to do where a directory holds no results. Standard input is no directory.
fn how_to_begin(dir: &std::path::Path) -> String {
    match dir.as_os_str() == "-" {
        true => "results are a directory, which standard input cannot be: name one".to_owned(),
        false => format!(
            "start one with `fwdlab run -o {} EXPERIMENT`",
            fwdlab_guard::words::pasted(dir)
        ),
    }
}
