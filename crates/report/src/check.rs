//! Does a finished report still say what its journal says?

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use super::notes::Notes;
use super::{ReportError, render};
use fwdlab_claims::verify::{Fault, Unchecked, verify};
use fwdlab_results::{
    EXPERIMENT_FILE, JOURNAL_FILE, Results, SIGNATURE_FILE, TORN_FILE, kept_input,
};

/// Files of a results directory that are not derived, beside profiles and consoles.
const DATA: [&str; 7] = [
    JOURNAL_FILE,
    TORN_FILE,
    SIGNATURE_FILE,
    EXPERIMENT_FILE,
    "environment.json",
    "import.json",
    "notes.md",
];

/// Directories whose files nobody lists: profiles that were taken or put there, what guests
/// printed, and what stood beside published logs.
const OPEN: [&str; 3] = ["profiles", "console", "published"];

/// Something in a results directory that does not agree with the journal.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Difference {
    /// A derived file is not there.
    Missing {
        /// Its name in the directory.
        file: String,
    },
    /// A derived file differs.
    Line {
        /// Its name in the directory.
        file: String,
        /// Number of the first line that differs, from 1.
        line: usize,
        /// The line as it stands; empty past the end.
        is: String,
        /// The line that the journal gives.
        wanted: String,
    },
    /// A derived file that is no text differs.
    Bytes {
        /// Its name in the directory.
        file: String,
    },
    /// A file that is neither data of a campaign nor derived from it.
    Unknown {
        /// Its name in the directory.
        file: String,
    },
    /// The journal does not say what its experiment, its seed and its raw counts give.
    Journal(Fault),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { file } => write!(f, "{file}: missing; `fwdlab report` makes it again"),
            Self::Line { file, line, is, wanted } => {
                write!(f, "{file}:{line}: says {is:?}, the journal gives {wanted:?}")
            }
            Self::Bytes { file } => write!(f, "{file}: not the picture that the journal gives"),
            Self::Unknown { file } => {
                write!(f, "{file}: neither data of a campaign nor derived from it; move it away")
            }
            Self::Journal(fault) => write!(f, "{fault}"),
        }
    }
}

/// What in the notes beside the journal is no figure of the report, each with `notes.md:LINE`.
///
/// # Errors
/// As [`check`].
pub fn notes_doubts(results: &Results) -> Result<Vec<String>, ReportError> {
    let claims = render::claims(results)?;
    Ok(Notes::read(&results.dir, &claims)?.doubts().to_vec())
}

/// Verifies the journal, derives everything again and compares it with what stands in the
/// directory; names what does not belong there. Changes nothing.
///
/// # Errors
/// When the journal or a file cannot be read, or claims do not resolve.
pub fn check(results: &Results) -> Result<Vec<Difference>, ReportError> {
    let dir = &results.dir;
    let faults = verify(results)?.faults;
    let mut found: Vec<Difference> = faults.into_iter().map(Difference::Journal).collect();
    let claims = render::claims(results)?;
    let files = render::files(results, &claims)?;
    let mut known: BTreeSet<String> = DATA.into_iter().map(str::to_owned).collect();
    let kept = results.campaign.inputs.keys().map(|named| kept_input(named));
    known.extend(kept.map(|file| file.to_string_lossy().into_owned()));
    for (name, wanted) in files {
        known.insert(name.clone());
        let path = dir.join(&name);
        match fwdlab_guard::input::bytes(&path, MOST_BYTES) {
            Ok(is) if is == wanted => {}
            Ok(is) => found.push(difference(name, &is, &wanted)),
            // A build without pictures has made the rest.
            Err(e) if e.kind() == io::ErrorKind::NotFound && name.ends_with(".png") => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                found.push(Difference::Missing { file: name });
            }
            Err(e) => return Err(ReportError::io("read", path)(e)),
        }
    }
    let mut unknown = Vec::new();
    strangers(dir, "", &known, &mut unknown)?;
    unknown.sort();
    found.extend(unknown.into_iter().map(|file| Difference::Unknown { file }));
    Ok(found)
}

/// What [`check`] could not look at in these results.
///
/// # Errors
/// When the journal or a file beside it cannot be read.
pub fn unchecked(results: &Results) -> Result<Vec<Unchecked>, ReportError> {
    Ok(verify(results)?.unchecked)
}

/// Longest derived file that is compared.
const MOST_BYTES: u64 = 1 << 30;

/// The files in `dir`, below `prefix`, that are not `known`. Hidden ones (`.gitignore`) and what a
/// kill left half-written say nothing to a reader of the report.
fn strangers(
    dir: &Path,
    prefix: &str,
    known: &BTreeSet<String>,
    unknown: &mut Vec<String>,
) -> Result<(), ReportError> {
    let io = |e| ReportError::io("read", dir)(e);
    for entry in fs::read_dir(dir).map_err(io)? {
        let entry = entry.map_err(|e| ReportError::io("read", dir)(e))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if entry.path().is_dir() {
            let is_open = prefix.is_empty() && OPEN.contains(&name.as_str());
            if !is_open && !name.starts_with('.') {
                strangers(&entry.path(), &format!("{path}/"), known, unknown)?;
            }
        } else if !known.contains(&path) && !name.starts_with('.') && !name.ends_with(".part") {
            unknown.push(path);
        }
    }
    Ok(())
}

fn difference(file: String, is: &[u8], wanted: &[u8]) -> Difference {
    let (Ok(is), Ok(wanted)) = (std::str::from_utf8(is), std::str::from_utf8(wanted)) else {
        return Difference::Bytes { file };
    };
    let (mut a, mut b) = (is.lines(), wanted.lines());
    let mut line = 0;
    loop {
        line += 1;
        match (a.next(), b.next()) {
            (None, None) => return Difference::Bytes { file },
            (x, y) if x == y => {}
            (x, y) => {
                let (is, wanted) = (shortened(x), shortened(y));
                return Difference::Line { file, line, is, wanted };
            }
        }
    }
}

/// A line for a message: long ones lose their end.
fn shortened(line: Option<&str>) -> String {
    const MOST: usize = 120;
    let line = line.unwrap_or("");
    if line.chars().count() <= MOST {
        return line.to_owned();
    }
    let mut text: String = line.chars().take(MOST).collect();
    text.push_str("...");
    text
}
