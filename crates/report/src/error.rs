//! What can go wrong between a results directory and its report.

use std::io;
use std::path::PathBuf;

/// An error of the report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The results cannot be read.
    #[error(transparent)]
    Results(#[from] fwdlab_results::Error),

    /// There is something that cannot be said of the results.
    #[error(transparent)]
    Claims(#[from] fwdlab_claims::ClaimsError),

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

    /// A figure cannot be shown.
    #[error(transparent)]
    Figure(#[from] fwdlab_figures::FigureError),

    /// A link of the report leads nowhere.
    #[error(
        "{file} links to {target}, which does not exist; run `fwdlab report` again, or put the file back"
    )]
    DeadLink {
        /// The file with the link.
        file: String,
        /// Where it leads.
        target: String,
    },

    /// Results that measured different things cannot stand in one table.
    #[error(
        "{dir} measured {wanted} where {other} measured {got}; make two syntheses, or say --mixed to have both in one with a warning"
    )]
    Mixed {
        /// The first directory.
        dir: PathBuf,
        /// What it measured.
        wanted: String,
        /// The directory that differs.
        other: PathBuf,
        /// What that one measured.
        got: String,
    },
}

impl ReportError {
    /// Whether the directory may only be read.
    pub fn is_read_only(&self) -> bool {
        let Self::Io { source, .. } = self else { return false };
        matches!(source.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
    }

    /// Returns a function that wraps a system error on `path`.
    pub(crate) fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }
}
