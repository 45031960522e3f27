//! A statement that its trials do not bear out.

use std::fmt;

/// A statement that the trials do not bear out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// Which statement: `cell inet/modular`.
    pub claim: String,
    /// What does not agree.
    pub detail: String,
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.claim, self.detail)
    }
}
