//! What can go wrong between a results directory and its claims.

use std::io;
use std::path::PathBuf;

use crate::unresolved::Unresolved;

/// An error of the claims.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimsError {
    /// The results cannot be read.
    #[error(transparent)]
    Results(#[from] fwdlab_results::Error),

    /// The operating system refused a file operation.
    #[error("cannot {doing} {path}: {source}; {}", fwdlab_guard::remedy_beside(source))]
    Io {
        /// The operation, as the word after "cannot".
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// A file beside the journal cannot be understood.
    #[error("{path}: {detail}; restore the file from where it was copied, or remove it")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },

    /// A statement of the report is not what the trials say.
    #[error("the report contradicts its data: {}; nothing was written: please report this as a bug of fwdlab", first(.0))]
    Contradiction(Vec<Unresolved>),
}

impl ClaimsError {
    /// Returns a function that wraps a system error on `path`.
    pub fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }
}

fn first(found: &[Unresolved]) -> String {
    match found {
        [] => "nothing".to_owned(),
        [one] => one.to_string(),
        [one, rest @ ..] => format!("{one} (and {} more)", rest.len()),
    }
}
