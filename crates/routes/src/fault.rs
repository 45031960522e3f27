//! What is wrong with a line of a routes file.

use std::path::Path;

use crate::RoutesError;

/// Text of an error before its place is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub what: String,
    pub wanted: &'static str,
    pub remedy: &'static str,
}

impl Fault {
    /// The error for a line of a text.
    pub(super) fn at_line(self, path: &Path, line: u64) -> RoutesError {
        self.at(path, "", line)
    }

    /// The error for a record of a dump.
    pub(super) fn at_record(self, path: &Path, record: u64) -> RoutesError {
        self.at(path, "MRT record: ", record)
    }

    /// The error for what is no file: what helps files does not apply.
    pub(super) fn of_order(self) -> RoutesError {
        RoutesError::Order { what: self.what, wanted: self.wanted }
    }

    fn at(self, path: &Path, unit: &'static str, number: u64) -> RoutesError {
        let Self { what, wanted, remedy } = self;
        RoutesError::File { path: path.to_owned(), unit, number, what, wanted, remedy }
    }
}

/// A piece of a line, where it is fit for a message: what looks like an address, or a short word of
/// letters alone. The file may be one that an experiment of somebody else names, and hold secrets: those
/// have digits, or are long.
pub(super) fn shown(text: &str) -> String {
    const LONGEST_WORD: usize = 12;
    const LONGEST_ADDRESS: usize = 48;
    let is_word = |c: char| c.is_ascii_alphabetic() || c == '-';
    let is_address = |c: char| c.is_ascii_hexdigit() || ".:/%".contains(c);
    let is_fit = (text.len() <= LONGEST_WORD && text.chars().all(is_word))
        || (text.len() <= LONGEST_ADDRESS
            && text.contains(['.', ':', '/'])
            && text.chars().all(is_address));
    if is_fit { format!("{text:?}") } else { "what stands there".to_owned() }
}
