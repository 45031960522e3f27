//! What can be wrong with sources.

use std::path::PathBuf;

/// Why sources cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A source cannot be read.
    #[error("cannot read {path}: {reason}{}", remedy(reason))]
    Read {
        /// The source.
        path: PathBuf,
        /// The system's words.
        reason: std::io::Error,
    },
    /// A results directory is damaged.
    #[error(transparent)]
    Results(#[from] fwdlab_results::Error),
    /// A directory without a journal, in which files of figures lie.
    #[error(
        "{dir} holds no results, but files of figures; name those: {}",
        fwdlab_guard::words::pasted(&dir.join("NAME.pps"))
    )]
    FilesOfFigures {
        /// The directory.
        dir: PathBuf,
    },
    /// A file beside a results directory's journal is damaged.
    #[error(transparent)]
    Setting(#[from] fwdlab_claims::ClaimsError),
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
    /// A file without a head has several numbers a line.
    #[error("{path} has several numbers a line; write one a line, or choose with --column one of: {}", known.join(", "))]
    Columns {
        /// The source.
        path: PathBuf,
        /// The numbers of the columns.
        known: Vec<String>,
    },
    /// Two columns have one name.
    #[error("{path} has two columns `{name}`; give each variant a name of its own")]
    Twice {
        /// The source.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// A source that is to be a campaign is none.
    #[error(
        "{path}: no results directory of a campaign in blocks, which before and after a change are compared by"
    )]
    NoCampaign {
        /// The source.
        path: PathBuf,
    },
    /// Directories that are to be campaigns of one experiment are not.
    #[error(
        "{path} is of another experiment than {first}; several directories of before a change are followed by --after and those of after it"
    )]
    OtherExperiment {
        /// The directory.
        path: PathBuf,
        /// The first one.
        first: PathBuf,
    },
    /// One campaign, given twice, would count as two.
    #[error("{path} has the trials of {first}: one campaign counts once; give each of them once")]
    SameCampaign {
        /// The directory.
        path: PathBuf,
        /// The one with the same trials.
        first: PathBuf,
    },
    /// A baseline is named where each variant is its own.
    #[error(
        "before and after a change each variant is compared with itself; leave out --baseline {name}"
    )]
    OwnBaseline {
        /// The baseline asked for.
        name: String,
    },
    /// A journal is not as it was written.
    #[error(
        "{path}: line {line} of its journal is not as it was written, so that nobody knows what was measured; take the directory again from where it was measured"
    )]
    Changed {
        /// The results directory.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// ministat cannot show a group.
    #[error("{group}: {why}; another --format shows it all the same")]
    NotForMinistat {
        /// Name of the group.
        group: String,
        /// Why it cannot.
        why: String,
    },
    /// Fewer than two series of one metric.
    #[error("nothing to compare: {found}; give a second file, or a file with two variants")]
    Alone {
        /// What there is.
        found: String,
    },
    /// Several series, each of another metric, unit or group.
    #[error(
        "nothing to compare, for no two are of one kind: {found}; give what is compared the same head, unit and group, \
         and files of plain numbers the same ending of their names (.pps is frames/s)"
    )]
    Unlike {
        /// What there is, each with its kind.
        found: String,
    },
    /// Two campaigns whose figures are not of one kind.
    #[error(
        "traffic {traffic}: {old} has its {old_measure}, {new} its {new_measure}, which are not one figure before \
         and after; measure both with the same `measure`"
    )]
    Measures {
        /// Whose figures they are.
        traffic: String,
        /// The directory before the change.
        old: PathBuf,
        /// What its figure is.
        old_measure: &'static str,
        /// The directory after the change.
        new: PathBuf,
        /// What its figure is.
        new_measure: &'static str,
    },
}

/// What to do about a source that is not there.
fn remedy(reason: &std::io::Error) -> &'static str {
    match reason.kind() {
        std::io::ErrorKind::NotFound => {
            "; give a results directory, such as those that `fwdlab run` makes in results/, or a file of \
             figures"
        }
        _ if fwdlab_guard::remedy(reason).is_some() => {
            "; name a regular file of figures, a results directory, or - for standard input"
        }
        _ => "",
    }
}
