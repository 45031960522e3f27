//! What a clause of prose claims: percentages, factors, faster or slower, no
//! change. Only words are read here; whether they are true is for the rules.

mod factor;
mod percent;
mod split;
mod stance;

use std::collections::BTreeSet;

pub use factor::factor;
use fwdlab_netbenches::name::NamedFamily;
use percent::percents;
use split::split;
use stance::stance;

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
    /// Words of both directions.
    Mixed,
}

/// One clause of an item.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// The text.
    pub text: String,
    /// Where it begins in the item.
    pub offset: usize,
    /// Percentages.
    pub percents: Vec<Percent>,
    /// `x10`, twice, half: the factor and how it is written.
    pub factor: Option<(f64, String)>,
    /// Faster, slower, the same.
    pub stance: Stance,
    /// Families that it names.
    pub families: BTreeSet<NamedFamily>,
    /// Says something about all tests.
    pub is_about_all: bool,
}

/// Cuts the text of an item into clauses that each make one claim.
pub fn clauses(text: &str) -> Vec<Clause> {
    let mut found = Vec::new();
    for (offset, part) in split(text) {
        found.push(Clause {
            text: part.to_owned(),
            offset,
            percents: percents(part),
            factor: factor(part),
            stance: stance(part),
            families: families(part),
            is_about_all: is_about_all(part),
        });
    }
    found
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
fn families(text: &str) -> BTreeSet<NamedFamily> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter_map(fwdlab_netbenches::name::family_word)
        .collect()
}

/// Whether a text claims something of all tests: in a long sentence the words
/// must stand together with those of change.
fn is_about_all(text: &str) -> bool {
    if words(text).len() <= 14 {
        return names_all(text);
    }
    let parts = text.split([',', '(', ')', ':', '—']);
    parts.filter(|part| names_all(part)).any(|part| stance(part) != Stance::Silent)
}

fn names_all(text: &str) -> bool {
    let words = words(text);
    words.windows(2).any(|pair| {
        let is_all = matches!(pair[0].1.as_str(), "all" | "every" | "each" | "both");
        let is_test = ["test", "case", "bench", "config", "result", "value", "famil", "the"]
            .iter()
            .any(|w| pair[1].1.starts_with(w));
        is_all && is_test
    }) || words.iter().any(|(_, w)| w == "everywhere" || w == "always")
}

#[cfg(test)]
mod tests;
