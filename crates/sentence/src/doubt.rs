//! What stands in a text and is no plain statement about the rates of a page: questions, conditions, wishes,
//! what others say, and what is measured beside rates.

use crate::clause::words;

/// Whether a clause is to be held against data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// It states nothing of a rate.
    Silent,
    /// It may state something.
    Unsure,
}

/// What is measured beside rates.
const OTHER_MEASURES: [&str; 22] = [
    "latency",
    "latencies",
    "jitter",
    "temperature",
    "temperatures",
    "degrees",
    "watt",
    "watts",
    "fan",
    "fans",
    "noise-level",
    "boot",
    "boots",
    "booting",
    "compile",
    "compiles",
    "compilation",
    "memory",
    "ram",
    "euro",
    "euros",
    "dollars",
];

/// Beginnings of words of a rate.
const RATES: [&str; 8] =
    ["perform", "throughput", "forward", "pps", "rate", "packet", "speed", "frame"];

/// Words of what may be, was thought, or is said by others.
const OPEN: [&str; 32] = [
    "if",
    "unless",
    "whether",
    "would",
    "could",
    "might",
    "may",
    "perhaps",
    "maybe",
    "probably",
    "presumably",
    "suppose",
    "imagine",
    "wonder",
    "wish",
    "hope",
    "hopefully",
    "guess",
    "claimed",
    "reported",
    "reportedly",
    "allegedly",
    "supposedly",
    "someone",
    "somebody",
    "anyone",
    "anybody",
    "nobody",
    "everybody",
    "everyone",
    "wondering",
    "until",
];

impl Doubt {
    /// The doubt about the clause that ends where `after` begins; `None` where it is a plain statement.
    pub fn of(text: &str, after: &str) -> Option<Self> {
        let words = words(text);
        let is_question = text.trim_end().ends_with('?') || after.trim_start().starts_with('?');
        let has = |list: &[&str]| words.iter().any(|(_, word)| list.contains(&word.as_str()));
        let is_of_a_rate = words
            .iter()
            .any(|(_, w)| RATES.iter().any(|rate| w.starts_with(rate) || w.ends_with("pps")));
        if is_question || has(&OTHER_MEASURES) && !is_of_a_rate {
            return Some(Self::Silent);
        }
        has(&OPEN).then_some(Self::Unsure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_statement_leaves_no_doubt() {
        for (text, after, wanted) in [
            ("Is IPv6 slower", "? No", Some(Doubt::Silent)),
            ("why is it slower?", "", Some(Doubt::Silent)),
            ("latency drops", "", Some(Doubt::Silent)),
            ("the latency drops as the throughput does", "", None),
            ("it would be slower without", "", Some(Doubt::Unsure)),
            ("the patch is slower", ". Why?", None),
        ] {
            assert_eq!(Doubt::of(text, after), wanted, "{text}");
        }
    }
}
