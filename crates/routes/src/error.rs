//! What can go wrong with a file of routes.

use std::io;
use std::path::{Path, PathBuf};

/// An error of a file of routes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RoutesError {
    /// The operating system refused a file operation.
    #[error("cannot {doing} {path}: {source}; check the path and who may read it")]
    Io {
        /// The operation, as the word after "cannot" ("read", "open").
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// A file of routes is wrong.
    #[error("{path}:{number}: {unit}{what}; wanted {wanted}; {remedy}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is counted: empty for lines, `MRT record: ` for records.
        unit: &'static str,
        /// Which one, from 1.
        number: u64,
        /// What is wrong with it.
        what: String,
        /// What it should be.
        wanted: &'static str,
        /// What to try next.
        remedy: &'static str,
    },

    /// What was given as one route is none.
    #[error("{what}; wanted {wanted}")]
    Order {
        /// What is wrong with it.
        what: String,
        /// What it should be.
        wanted: &'static str,
    },
}

impl RoutesError {
    /// Returns a function that wraps a system error on `path`; made for `map_err`.
    pub(crate) fn io<'a>(
        doing: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }
}
