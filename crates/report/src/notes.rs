//! A user's own words about the results: `notes.md` beside the data, with
//! every number in it compared with the claims.

use std::path::Path;

use super::ReportError;
use super::prose;
use fwdlab_claims::claim::Claims;
use fwdlab_claims::setting::read_if_present;

/// The notes and what does not agree in them.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    text: Option<String>,
    doubts: Vec<String>,
}

impl Notes {
    /// Reads `notes.md` in `dir` and checks it; none is fine.
    ///
    /// # Errors
    /// When the file exists and cannot be read as UTF-8.
    pub fn read(dir: &Path, claims: &Claims) -> Result<Self, ReportError> {
        let text = read_if_present(&dir.join("notes.md"))?;
        let doubts = text.as_deref().map_or_else(Vec::new, |t| prose::check(t, "notes.md", claims));
        Ok(Self { text, doubts })
    }

    /// The words as they stand in the file.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref().map(str::trim_end)
    }

    /// What does not agree with the results, one sentence each.
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }
}
