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

    fn at(self, path: &Path, unit: &'static str, number: u64) -> RoutesError {
        let Self { what, wanted, remedy } = self;
        RoutesError::File { path: path.to_owned(), unit, number, what, wanted, remedy }
    }
}

/// A piece of a line that is fit for a message: short and printable.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let short: String = text.chars().take(MOST).collect();
    let dots = if short.len() < text.len() { "..." } else { "" };
    format!("{short:?}{dots}")
}
