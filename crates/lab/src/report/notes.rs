//! A user's own words about the results: `notes.md` beside the data.

use std::path::Path;

use super::ReportError;
use super::setting::read_if_present;

/// The notes, taken over into the report as they are.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    text: Option<String>,
}

impl Notes {
    /// Reads `notes.md` in `dir`; none is fine.
    ///
    /// # Errors
    /// When the file exists and cannot be read as UTF-8.
    pub fn read(dir: &Path) -> Result<Self, ReportError> {
        Ok(Self { text: read_if_present(&dir.join("notes.md"))? })
    }

    /// The notes as a section of the README; empty without notes.
    pub fn markdown(&self) -> String {
        match &self.text {
            Some(text) => format!("## Notes\n\n{}\n\n", text.trim_end()),
            None => String::new(),
        }
    }
}
