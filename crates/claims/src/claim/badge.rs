//! What must hold, as a value.

use serde::Serialize;

/// Whether a criterion is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Met.
    Good,
    /// Met with a doubt.
    Warn,
    /// Not met.
    Bad,
}

impl State {
    /// A word for plain text: `ok`, `warning`, `not met`. FAILED is what trials are.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Warn => "warning",
            Self::Bad => "not met",
        }
    }
}

/// One criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Badge {
    /// Its name: `flows seen`.
    pub name: &'static str,
    /// Whether it is met.
    pub state: State,
    /// What was found.
    pub text: String,
}
