//! What can go wrong.

use std::io;
use std::path::PathBuf;

/// An error of a history.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Results could not be read.
    #[error(transparent)]
    Results(#[from] fwdlab_results::Error),
    /// A file or directory could not be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file that is to be a store has another beginning.
    #[error(
        "{} is no store of `fwdlab history`: its first line is no record of one ({what}); name one that --store has made, or a \
         file that is not there yet",
        path.display()
    )]
    NoStore {
        /// The file.
        path: PathBuf,
        /// What is wrong with its first line.
        what: String,
    },
    /// A line of a store is no record.
    #[error(
        "{}, line {line}: {what}; remove the line, or move the file away and build it again from the results",
        path.display()
    )]
    StoreLine {
        /// The store.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A merge of a store was left open.
    #[error(
        "{}, line {line}: git could not end a merge here; remove its marks (<<<<<<<, =======, >>>>>>>) and keep \
         the lines of both sides, in any order; with '{} merge=union' in .gitattributes it merges by itself",
        path.display(),
        path.file_name().unwrap_or_default().display()
    )]
    Conflict {
        /// The store.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// No results were found.
    #[error(
        "no results below {places}: wanted trials.jsonl of fwdlab, or RAW/bench.*.receiver, *.pps \
         or *.data as published"
    )]
    Nothing {
        /// Where was looked.
        places: String,
    },
    /// No alert has the id.
    #[error(
        "no alert is called {id}; `fwdlab history --store {}` lists them",
        fwdlab_guard::words::pasted(store)
    )]
    NoAlert {
        /// The id asked for.
        id: String,
        /// The store.
        store: PathBuf,
    },
    /// Something could not be written as JSON.
    #[error("cannot encode {what}: {source}")]
    Encode {
        /// What.
        what: &'static str,
        /// Why.
        source: serde_json::Error,
    },
}

impl Error {
    /// Wraps what the system says of `path`.
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
