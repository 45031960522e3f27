//! Does a finished report still say what its journal says?

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use super::build::{Build, FIGURES};
use super::chart::Charts;
use super::notes::Notes;
use super::{ReportError, flame, render};
use fwdlab_claims::Claims;
use fwdlab_guard::input;
use fwdlab_profiles::{Profiles, changes};
use fwdlab_results::{
    EXPERIMENT_FILE, JOURNAL_FILE, Results, SIGNATURE_FILE, TORN_FILE, kept_input,
};
use fwdlab_verify::{Fault, Unchecked, verify};

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
pub fn notes_doubts(dir: &Path, claims: &Claims) -> Result<Vec<String>, ReportError> {
    Ok(Notes::read(dir, claims)?.doubts().to_vec())
}

/// Verifies the journal, derives everything again and compares it with what stands in the
/// directory; names what does not belong there. Changes nothing. What only other builds draw is let
/// be ([`unchecked`]).
///
/// # Errors
/// When the journal or a file cannot be read, or claims do not resolve.
pub fn check(results: &Results) -> Result<Vec<Difference>, ReportError> {
    check_by(results, Build::THIS)
}

/// [`check`] by a build that leaves out what this one does, and perhaps more.
pub(super) fn check_by(results: &Results, build: Build) -> Result<Vec<Difference>, ReportError> {
    let dir = &results.dir;
    let faults = verify(results)?.faults;
    let mut found: Vec<Difference> = faults.into_iter().map(Difference::Journal).collect();
    let claims = render::claims(results)?;
    let files = render::files(results, &claims, build)?;
    let mut known = left_out(build, results, &claims)?;
    known.extend(DATA.map(str::to_owned));
    let kept = results.campaign.inputs.keys().map(|named| kept_input(named));
    known.extend(kept.map(|file| file.to_string_lossy().into_owned()));
    let flames = Flames::of(dir, &files);
    let has_pictures = has_pictures(dir);
    for (name, wanted) in files {
        known.insert(name.clone());
        let path = dir.join(&name);
        match input::bytes(&path, MOST_BYTES) {
            Ok(is) if is == wanted => {}
            Ok(is) => found.extend(difference(name, &is, &wanted, flames)),
            // A build without pictures has made the rest.
            Err(e)
                if e.kind() == io::ErrorKind::NotFound
                    && name.ends_with(".png")
                    && !has_pictures => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound && flames.lack(&name) => {}
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

/// Whether pictures lie beside the journal: whoever drew one has drawn all.
fn has_pictures(dir: &Path) -> bool {
    FIGURES.iter().any(|name| dir.join(format!("{name}.png")).exists())
}

/// What [`check`] could not look at in these results.
///
/// # Errors
/// When the journal or a file beside it cannot be read.
pub fn unchecked(results: &Results) -> Result<Vec<Unchecked>, ReportError> {
    unchecked_by(results, Build::THIS)
}

/// [`unchecked`] by another build.
pub(super) fn unchecked_by(results: &Results, build: Build) -> Result<Vec<Unchecked>, ReportError> {
    let mut unchecked = verify(results)?.unchecked;
    // Without a trial that counts there is nothing to draw.
    let is_drawn = results.trials.iter().any(|trial| trial.is_ok() && !trial.is_known());
    if is_drawn && build.draws_pictures && !has_pictures(&results.dir) {
        unchecked.push(Unchecked::Pictures);
    }
    let left_out = left_out(build, results, &render::claims(results)?)?.into_iter();
    let files: Vec<String> = left_out.filter(|name| results.dir.join(name).exists()).collect();
    if !files.is_empty() {
        unchecked.push(Unchecked::Derived { files });
    }
    Ok(unchecked)
}

/// The flame graphs of a report and of the build that checks it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flames {
    /// Both have them, or neither.
    Alike,
    /// One has none because of how it was built: their section differs.
    OneSided {
        /// Whether it is the report.
        is_report: bool,
    },
}

impl Flames {
    fn of(dir: &Path, files: &BTreeMap<String, Vec<u8>>) -> Self {
        let wanted = files.get(README).map(|bytes| String::from_utf8_lossy(bytes));
        let is = input::text(&dir.join(README), MOST_BYTES);
        let is_report = is.is_ok_and(|text| text.contains(flame::LEFT_OUT));
        match wanted.is_some_and(|text| text.contains(flame::LEFT_OUT)) == is_report {
            true => Self::Alike,
            false => Self::OneSided { is_report },
        }
    }

    /// Whether the build that made the report draws no such file.
    fn lack(self, name: &str) -> bool {
        let is_flame = name.starts_with("flame-") && name.ends_with(".svg");
        is_flame && self == Self::OneSided { is_report: true }
    }
}

/// The file that begins a report.
const README: &str = "README.md";

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
        // A link may lead to where it stands.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
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

/// What differs between a file as it stands and as it is derived, if anything does that counts.
fn difference(file: String, is: &[u8], wanted: &[u8], flames: Flames) -> Option<Difference> {
    let (Ok(is), Ok(wanted)) = (std::str::from_utf8(is), std::str::from_utf8(wanted)) else {
        return Some(Difference::Bytes { file });
    };
    let (mut a, mut b) = (lines(is, flames), lines(wanted, flames));
    let mut last = 0;
    loop {
        match (a.next(), b.next()) {
            (None, None) if flames != Flames::Alike => return None,
            (None, None) => return Some(Difference::Bytes { file }),
            (x, y) if x.map(|(_, text)| text) == y.map(|(_, text)| text) => {
                last = x.map_or(last, |(line, _)| line);
            }
            (x, y) => {
                let line = x.map_or(last + 1, |(line, _)| line);
                let [is, wanted] = [x, y].map(|found| shortened(found.map(|(_, text)| text)));
                return Some(Difference::Line { file, line, is, wanted });
            }
        }
    }
}

/// The lines of a derived text with their numbers, from 1; where only one of two has flame graphs,
/// without the first section that holds them.
fn lines(text: &str, flames: Flames) -> impl Iterator<Item = (usize, &str)> {
    const SECTIONS: [[&str; 2]; 2] =
        [["## Flame graphs", "## "], ["<section id=\"flames\"", "<section "]];
    let first = |mark: &str| {
        let is_there = |(at, line): (usize, &str)| line.starts_with(mark).then_some(at);
        (1..).zip(text.lines()).find_map(is_there)
    };
    let section = SECTIONS.iter().find_map(|[start, next]| {
        let start = first(start).filter(|_| flames != Flames::Alike)?;
        let mut after = (1..).zip(text.lines()).skip(start);
        let end = after.find(|(_, line)| line.starts_with(next));
        Some(start..end.map_or(usize::MAX, |(at, _)| at))
    });
    (1..).zip(text.lines()).filter(move |(at, _)| !section.as_ref().is_some_and(|s| s.contains(at)))
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

/// Names of the files that a build does not draw, and that others may have put beside the journal.
fn left_out(
    build: Build,
    results: &Results,
    claims: &Claims,
) -> Result<BTreeSet<String>, ReportError> {
    let mut names = BTreeSet::new();
    if !build.draws_pictures {
        names.extend(FIGURES.map(|name| format!("{name}.png")));
        let charts = Charts::of(claims, results);
        names.extend(charts.named().map(|(name, _)| format!("{name}.png")));
    }
    if !build.draws_flames {
        let profiles = Profiles::read(&results.dir, claims)?;
        names.extend(flame::files(&profiles, &changes(claims, &profiles)));
    }
    Ok(names)
}
