//! The files of a results directory, and the lines of its journal.

use std::io::{self, Read};
use std::path::Path;

use fwdlab_guard::Refused;

use crate::{Error, Result};

/// Name of the journal in a results directory.
pub const JOURNAL_FILE: &str = "trials.jsonl";

/// Name of the copy of the experiment file.
pub const EXPERIMENT_FILE: &str = "experiment.toml";

/// Name of what says on what the campaign ran.
pub const ENVIRONMENT_FILE: &str = "environment.json";

/// Name of the signature beside the journal.
pub const SIGNATURE_FILE: &str = "trials.jsonl.sig";

/// Name of the file beside the journal to which torn lines are moved.
pub const TORN_FILE: &str = "trials.jsonl.torn";

/// Name of the directory of what devices said before they failed.
pub const CONSOLE_DIR: &str = "console";

/// A journal is read in pieces of so many bytes.
const PIECE: u64 = 1 << 20;

/// The bytes of a journal. A long file that is none is refused by its first byte, and one that goes on in NUL
/// bytes, as a file with holes does, where they begin: neither is read to its end.
///
/// # Errors
/// When it cannot be read, is longer than a journal may be, or is none.
pub(crate) fn journal_bytes(path: &Path, source: impl Read) -> Result<Vec<u8>> {
    let mut source = source.take(crate::MOST_JOURNAL_BYTES + 1);
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        let read = source.by_ref().take(PIECE).read_to_end(&mut bytes);
        if read.map_err(Error::io("read", path))? < PIECE as usize {
            break;
        }
        let piece = &bytes[before..];
        if before == 0 && piece[0] != b'{' {
            return Err(Error::no_journal(path, 1, &piece[..1]));
        }
        if piece.iter().all(|byte| *byte == 0) {
            let line = 1 + bytes.iter().filter(|byte| **byte == b'\n').count();
            return Err(Error::no_journal(path, line, &[0]));
        }
    }
    match bytes.len() as u64 > crate::MOST_JOURNAL_BYTES {
        true => {
            let refused = io::Error::from(Refused::TooLong(crate::MOST_JOURNAL_BYTES));
            Err(Error::io("read", path)(refused))
        }
        false => Ok(bytes),
    }
}

/// The lines of a journal, the torn rest apart.
pub(crate) struct JournalText<'a> {
    /// Whole lines without their line end.
    pub lines: Vec<&'a [u8]>,
    /// What follows them: a line without an end, or a last line that is not
    /// JSON.
    pub torn: Option<&'a [u8]>,
}

impl<'a> JournalText<'a> {
    /// Splits a journal. A record is written with its line end in one piece,
    /// so a line without an end was cut short; a last line that is not JSON
    /// was ended by a file system that lost its middle.
    pub(crate) fn split(bytes: &'a [u8]) -> Self {
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
        let (body, tail) = bytes.split_at(whole);
        let mut lines: Vec<&[u8]> = body.split(|&b| b == b'\n').collect();
        lines.pop(); // what follows the last line end: nothing
        let mut torn = (!tail.is_empty()).then_some(tail);
        if torn.is_none()
            && let Some(last) = lines.last()
            && serde_json::from_slice::<serde::de::IgnoredAny>(last).is_err()
        {
            torn = Some(&body[body.len() - last.len() - 1..]);
            lines.pop();
        }
        Self { lines, torn }
    }

    /// Bytes of the whole lines, line ends included.
    pub(crate) fn whole_bytes(&self) -> u64 {
        self.lines.iter().map(|line| line.len() as u64 + 1).sum()
    }
}
