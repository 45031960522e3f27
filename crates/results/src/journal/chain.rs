//! The hash chain of a journal: each line carries the SHA-256 of the line before it, the first that
//! of the experiment file beside it. Whoever changes, removes or moves a line must write every later
//! line anew, and then the last hash is another one: the report prints it, and a signature covers it.
//! No line follows the last one, so that it carries a hash of itself: its seal.

use std::io;
use std::path::Path;

use fwdlab_guard::{digest, input};
use serde::Deserialize;

use crate::files::{JournalText, journal_bytes};
use crate::record::Campaign;
use crate::{EXPERIMENT_FILE, Error, JOURNAL_FILE, Result};

/// Whether the lines of a journal follow from each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chain {
    /// The journal has none: an earlier version wrote it, or an import.
    Absent,
    /// Every line carries the hash of the one before.
    Whole {
        /// SHA-256 of the last line.
        last: String,
    },
    /// A line does not.
    Broken {
        /// Its number, from 1.
        line: usize,
        /// The hash that it carries; `None` when it carries none.
        carries: Option<String>,
        /// The hash that it must carry.
        wanted: String,
    },
}

impl Chain {
    /// Reads the chain of the journal in `dir`; absent without a journal.
    ///
    /// # Errors
    /// When the journal or the experiment file exists and cannot be read.
    pub fn read(dir: &Path) -> Result<Self> {
        let bytes = journal(dir)?;
        Self::of(&JournalText::split(&bytes), dir)
    }

    /// The chain of these lines of the journal in `dir`.
    pub(crate) fn of(text: &JournalText<'_>, dir: &Path) -> Result<Self> {
        let Some(first) = text.lines.first() else { return Ok(Self::Absent) };
        if carried(first).is_none() {
            let later = text.lines.iter().position(|line| carried(line).is_some());
            return Ok(match later {
                None => Self::Absent,
                // Who takes the hash out of the first line must take it out of all.
                Some(_) => Self::Broken { line: 1, carries: None, wanted: experiment(dir)? },
            });
        }
        Ok(Self::from(text, experiment(dir)?))
    }

    /// The chain of these lines, of which the first must carry `wanted`.
    fn from(text: &JournalText<'_>, mut wanted: String) -> Self {
        for (index, line) in text.lines.iter().enumerate() {
            let carries = carried(line);
            if carries.as_deref() != Some(wanted.as_str()) {
                return Self::Broken { line: index + 1, carries, wanted };
            }
            wanted = digest::of(line);
        }
        Self::Whole { last: wanted }
    }

    /// SHA-256 of the last line of a whole chain.
    pub fn last(&self) -> Option<&str> {
        match self {
            Self::Whole { last } => Some(last),
            Self::Absent | Self::Broken { .. } => None,
        }
    }
}

/// The first line of a journal that is not as it was written. An experiment file that is gone is not
/// one that was changed: then the chain begins with what the first line carries.
pub(crate) fn changed(
    text: &JournalText<'_>,
    dir: &Path,
    campaign: &Campaign,
) -> Result<Option<usize>> {
    let first = text.lines.first().and_then(|line| carried(line));
    let chain = match first.filter(|_| !dir.join(EXPERIMENT_FILE).exists()) {
        Some(first) => Chain::from(text, first),
        None => Chain::of(text, dir)?,
    };
    let chain = match chain {
        Chain::Broken { line, .. } => Some(line),
        // Whoever takes the hashes out of all lines leaves what only journals with hashes have.
        Chain::Absent if campaign.is_blocked() => campaign.key_with_chain().map(|_| 1),
        Chain::Absent | Chain::Whole { .. } => None,
    };
    let seal = seals(text).find(|(_, seal)| *seal == Seal::Broken).map(|(line, _)| line);
    Ok(chain.into_iter().chain(seal).min())
}

/// What a hash that was noted once says of the journal as it is now. A chain shows what was changed in
/// place; whether all of it was written anew, or its end cut off, shows only what was kept elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// It is that of the last line: the journal is the one noted.
    Last,
    /// It is that of an earlier line: the journal went on.
    Earlier {
        /// Number of that line, from 1.
        line: usize,
        /// Lines of the journal.
        lines: usize,
    },
    /// No line has it: the journal was written anew, or its end was cut off.
    Nowhere,
}

impl Noted {
    /// What `hash`, in hexadecimal, says of the journal in `dir`.
    ///
    /// # Errors
    /// When the journal exists and cannot be read.
    pub fn read(dir: &Path, hash: &str) -> Result<Self> {
        let bytes = journal(dir)?;
        let text = JournalText::split(&bytes);
        let is_it = |line: &&[u8]| digest::of(line).eq_ignore_ascii_case(hash);
        let lines = text.lines.len();
        Ok(match text.lines.iter().position(is_it) {
            None => Self::Nowhere,
            Some(at) if at + 1 == lines => Self::Last,
            Some(at) => Self::Earlier { line: at + 1, lines },
        })
    }
}

/// What a line may carry beside its record.
#[derive(Deserialize)]
struct Carried {
    after: Option<String>,
}

fn carried(line: &[u8]) -> Option<String> {
    serde_json::from_slice::<Carried>(line).ok()?.after
}

/// Where the chain begins: the SHA-256 of the experiment file, of nothing when it is gone.
fn experiment(dir: &Path) -> Result<String> {
    Ok(digest::of(&read_or_nothing(&dir.join(EXPERIMENT_FILE), crate::MOST_TEXT_BYTES)?))
}

fn journal(dir: &Path) -> Result<Vec<u8>> {
    let path = dir.join(JOURNAL_FILE);
    match input::found(&path, crate::MOST_JOURNAL_BYTES) {
        Ok(file) => journal_bytes(&path, file),
        Err(error) => nothing_or(&path, error),
    }
}

fn read_or_nothing(path: &Path, most: u64) -> Result<Vec<u8>> {
    match input::bytes(path, most) {
        Ok(bytes) => Ok(bytes),
        Err(error) => nothing_or(path, error),
    }
}

fn nothing_or(path: &Path, error: io::Error) -> Result<Vec<u8>> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(Vec::new()),
        _ => Err(Error::io("read", path)(error)),
    }
}

/// Whether a record of the end is as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seal {
    /// It carries no hash of itself: an earlier version wrote it.
    Absent,
    /// It is.
    Whole,
    /// It is not.
    Broken,
}

impl Seal {
    /// The seals of the journal in `dir`, each with the number of its line: a campaign of which trials
    /// ran again has several ends.
    ///
    /// # Errors
    /// When the journal exists and cannot be read.
    pub fn read(dir: &Path) -> Result<Vec<(usize, Self)>> {
        let bytes = journal(dir)?;
        let text = JournalText::split(&bytes);
        Ok(seals(&text).collect())
    }

    fn of(line: &[u8], carries: Option<&str>) -> Self {
        let Some(seal) = carries else { return Self::Absent };
        let Some(rest) = line.strip_suffix(sealing(seal).as_bytes()) else { return Self::Broken };
        let whole = [rest, b"}"].concat();
        if digest::of(&whole) == seal { Self::Whole } else { Self::Broken }
    }
}

/// The seals of the ends, each with the number of its line.
fn seals(text: &JournalText<'_>) -> impl Iterator<Item = (usize, Seal)> {
    text.lines.iter().enumerate().filter_map(|(index, line)| {
        let end: End = serde_json::from_slice(line).ok()?;
        (end.record == "finished").then(|| (index + 1, Seal::of(line, end.seal.as_deref())))
    })
}

/// What tells the record of an end.
#[derive(Deserialize)]
struct End {
    record: String,
    seal: Option<String>,
}

/// How a line ends that carries this hash of itself.
fn sealing(seal: &str) -> String {
    format!(",\"seal\":\"{seal}\"}}")
}

/// Puts a hash of itself into an encoded record.
pub(crate) fn put_seal(line: &mut Vec<u8>) {
    let seal = digest::of(line);
    let closing = line.pop();
    debug_assert_eq!(closing, Some(b'}'), "a record is an object");
    line.extend_from_slice(sealing(&seal).as_bytes());
}

/// Puts the hash of the line before into an encoded record.
pub(crate) fn put_after(line: &mut Vec<u8>, after: &str) {
    let closing = line.pop();
    debug_assert_eq!(closing, Some(b'}'), "a record is an object");
    line.extend_from_slice(format!(",\"after\":\"{after}\"}}").as_bytes());
}
