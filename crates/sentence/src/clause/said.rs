//! What a clause can say: its percentages, its stance, its words.

use std::collections::BTreeSet;

use fwdlab_netbenches::name::NamedFamily;

/// Up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Faster.
    Up,
    /// Slower.
    Down,
}

impl Sign {
    /// `1.0` or `-1.0`.
    pub const fn factor(self) -> f64 {
        match self {
            Self::Up => 1.0,
            Self::Down => -1.0,
        }
    }

    /// The other one.
    pub const fn turned(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

/// The side of a number on which something is said to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// More than, at least.
    Above,
    /// Less than, at most.
    Below,
}

impl Bound {
    /// Whether a figure lies on this side of `value`, a twentieth of it forgiven.
    pub fn holds(self, value: f64, figure: f64) -> bool {
        match self {
            Self::Above => figure >= 0.95 * value,
            Self::Below => figure <= 1.05 * value,
        }
    }
}

/// A number with `%` or the word percent.
#[derive(Clone, Debug, PartialEq)]
pub struct Percent {
    /// Its absolute value.
    pub value: f64,
    /// Upper end of `10-15%`.
    pub upper: Option<f64>,
    /// Decimals as written.
    pub decimals: usize,
    /// An explicit `+` or `-`.
    pub sign: Option<Sign>,
    /// "More than", "less than".
    pub bound: Option<Bound>,
    /// Softened by a word: about, almost, more than.
    pub is_rough: bool,
    /// As written.
    pub text: String,
    /// Where in the clause.
    pub offset: usize,
}

/// What a clause says of a change.
#[derive(Clone, Debug, PartialEq)]
pub enum Stance {
    /// Nothing.
    Silent,
    /// Faster or slower, by the word given.
    Change(Sign, String),
    /// No change at all, by the word given.
    NoChange(String),
    /// Not faster, or not slower.
    NotThat(Sign, String),
    /// There is a difference, whichever way, by the word given.
    Differs(String),
    /// Words of both directions.
    Mixed,
}

/// The lower-case words of a text with the place of each; signs, digits, dots
/// and `%` stay within words.
pub fn words(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let is_part =
            c.is_alphanumeric() || matches!(c, '.' | '%' | '-' | '+' | '\'' | '’' | '×' | '_');
        match (start, is_part) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                let word =
                    text[from..at].trim_end_matches(['.', '-', '\'']).trim_start_matches('\'');
                if !word.is_empty() {
                    found.push((from, word.to_lowercase().replace('’', "'")));
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// Families named in a text.
pub(super) fn families(text: &str) -> BTreeSet<NamedFamily> {
    let is_legacy = text.to_lowercase().contains("legacy ip");
    text.split(|c: char| !c.is_alphanumeric())
        .filter_map(fwdlab_netbenches::name::family_word)
        .chain(is_legacy.then_some(NamedFamily::Inet))
        .collect()
}
