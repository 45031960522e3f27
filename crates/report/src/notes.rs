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
    pub fn doubts(&self) -> Vec<String> {
        self.doubts.clone()
    }

    /// The notes as a section of the README; empty without notes.
    pub fn markdown(&self) -> String {
        let Some(text) = self.text() else { return String::new() };
        let mut out = String::from("## Notes\n\n");
        for doubt in &self.doubts {
            out.push_str(&format!("> warning: {doubt}\n>\n"));
        }
        if !self.doubts.is_empty() {
            out.truncate(out.len() - 2);
            out.push('\n');
        }
        out.push_str(text);
        out.push_str("\n\n");
        out
    }
}
