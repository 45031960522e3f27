//! What can be wrong with sources.

use std::path::PathBuf;

/// Why sources cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A source cannot be read.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// The source.
        path: PathBuf,
        /// The system's words.
        reason: std::io::Error,
    },
    /// A results directory is damaged.
    #[error(transparent)]
    Results(#[from] fwdlab_results::Error),
    /// A line is not what its format asks for.
    #[error("{path} line {line}: {got:?} where {wanted} is wanted; {remedy}")]
    Line {
        /// The source.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What stands there.
        got: String,
        /// What should.
        wanted: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A source holds no values.
    #[error(
        "{path}: no values found{detail}; give numbers, one a line, CSV, JSON, Go benchmark output or a results directory"
    )]
    Empty {
        /// The source.
        path: PathBuf,
        /// Where they were looked for.
        detail: String,
    },
    /// JSON that is none, or of another shape.
    #[error(
        "{path}: {reason}; wanted are an array of numbers, an object of such arrays, or an array of records"
    )]
    Json {
        /// The source.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A named column, metric or baseline does not exist.
    #[error("no {what} `{name}`; there are: {}", known.join(", "))]
    Unknown {
        /// `column`, `metric` or `baseline`.
        what: &'static str,
        /// The name asked for.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A column has to be chosen.
    #[error("{path} has several columns with numbers; choose with --column one of: {}", known.join(", "))]
    Ambiguous {
        /// The source.
        path: PathBuf,
        /// Their names.
        known: Vec<String>,
    },
    /// Fewer than two series of one metric.
    #[error("nothing to compare: {found}; give a second file, or a file with two variants")]
    Alone {
        /// What there is.
        found: String,
    },
}
