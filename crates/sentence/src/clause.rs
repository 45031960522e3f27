//! What a clause of prose claims: percentages, factors, faster or slower, no
//! change. Only words are read here; whether they are true is for the rules.

mod factor;
mod lexicon;
mod percent;
mod said;
mod split;
mod stance;

use said::families;
pub use said::{Bound, Percent, Sign, Stance, words};
use std::collections::BTreeSet;

use crate::label::Label;
pub use factor::factor;
use fwdlab_netbenches::name::NamedFamily;
use percent::percents;
use split::split;
pub use stance::is_of_a_huge_one;
use stance::stance;

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
    /// Says that a change is as large as another: "same drop".
    pub is_same_size: bool,
}

/// Beginnings of words for a rate that becomes smaller.
const DROPS: [&str; 9] =
    ["drop", "decreas", "reduc", "fall", "fell", "lose", "lost", "loss", "lower"];

/// What may become larger by more than 100 % when a rate drops, so that the number may be of it.
const TIMES: [&str; 7] = ["time", "times", "latency", "ns", "cost", "cycles", "jitter"];

impl Clause {
    /// A drop by more than 100 %, which no rate can have.
    pub fn impossible_drop(&self) -> Option<&Percent> {
        let words = words(&self.text);
        let is_drop = words.iter().any(|(_, word)| DROPS.iter().any(|drop| word.starts_with(drop)));
        let is_of_time = words.iter().any(|(_, word)| TIMES.contains(&word.as_str()));
        self.percents.iter().find(|percent| {
            let is_down = percent.sign == Some(Sign::Down) || (percent.sign.is_none() && is_drop);
            is_down && percent.value > 100.0 && !is_of_time
        })
    }
}

/// Cuts the text of an item into clauses that each make one claim.
pub fn clauses(text: &str) -> Vec<Clause> {
    let mut found = Vec::new();
    for (offset, part) in split(text) {
        found.push(Clause {
            text: part.to_owned(),
            offset,
            percents: if is_expectation(part) { Vec::new() } else { percents(part) },
            factor: factor(part),
            stance: if is_own_expectation(part) { Stance::Silent } else { stance(part) },
            families: families(part),
            is_about_all: is_about_all(part) || joins_families(part),
            is_same_size: is_same_size(part),
        });
    }
    found
}

/// Whether a text quotes what another page or an earlier time gave.
pub fn quotes_earlier(text: &str) -> bool {
    const WORDS: [&str; 7] =
        ["earlier", "previously", "formerly", "before", "ago", "historically", "previous"];
    let words = words(text);
    let is_year =
        |w: &str| w.len() == 4 && w.parse::<u32>().is_ok_and(|year| (2005..2100).contains(&year));
    text.contains("](")
        || text.contains("://")
        || (0..words.len()).any(|at| {
            let word = words[at].1.as_str();
            // "before the patch" is the base of the block
            let of = words.get(at + 1).map_or("", |(_, next)| next.as_str());
            let is_named =
                matches!(of, "the" | "this" | "applying") || !Label::of(of).patches.is_empty();
            let is_of_base = word == "before" && is_named;
            WORDS.contains(&word) && !is_of_base || is_year(word)
        })
        || words.windows(2).any(|w| {
            w[0].1 == "last"
                && ["year", "month", "time", "bench", "report", "page"]
                    .iter()
                    .any(|noun| w[1].1.starts_with(noun))
        })
}

/// Verbs before a percentage that is a change whatever else the clause says.
const GIVES: [&str; 13] = [
    "give", "by", "brings", "brought", "gives", "gave", "adds", "costs", "yields", "gains",
    "loses", "takes", "saves",
];

/// "Brings 3 %", "by about 3 %": a number that is said to be a change.
pub fn is_given(clause: &Clause, percent: &Percent) -> bool {
    let before = words(&clause.text[..percent.offset]);
    let mut before = before.iter().rev().map(|(_, word)| word.as_str());
    let soft = [
        "about", "around", "roughly", "nearly", "almost", "only", "some", "a", "gain", "of", "us",
        "you", "back",
    ];
    let rest = clause.text[percent.offset..].split_once(['%', 't']).map_or("", |(_, rest)| rest);
    let next = words(rest).into_iter().next().map_or(String::new(), |(_, word)| word);
    matches!(next.as_str(), "more" | "less" | "fewer")
        || before.find(|word| !soft.contains(word)).is_some_and(|word| GIVES.contains(&word))
}

/// "The same drop", "a similar gain": a word of sameness next before one of change.
fn is_same_size(text: &str) -> bool {
    words(text).windows(2).any(|pair| {
        matches!(pair[0].1.as_str(), "same" | "similar" | "equal" | "identical")
            && matches!(stance(&pair[1].1), Stance::Change(..))
    })
}

/// "I expected IPv6 to gain": what somebody thought before, and nobody measured.
fn is_own_expectation(text: &str) -> bool {
    words(text).windows(2).any(|w| {
        matches!(w[0].1.as_str(), "i" | "we")
            && matches!(w[1].1.as_str(), "expected" | "hoped" | "feared" | "thought" | "assumed")
    })
}

/// "Feared were 10 %", "this should give 20 %": a number that nobody measured. "As expected" is none.
fn is_expectation(text: &str) -> bool {
    const WORDS: [&str; 8] =
        ["feared", "expected", "hoped", "predicted", "announced", "promised", "expect", "hope"];
    const MODALS: [&str; 4] = ["should", "would", "could", "might"];
    const DOINGS: [&str; 9] =
        ["give", "bring", "improve", "gain", "add", "increase", "reduce", "get", "reach"];
    let words = words(text);
    let at = |k: usize| words.get(k).map_or("", |(_, w)| w.as_str());
    (0..words.len()).any(|k| {
        let before = k.checked_sub(1).map_or("", at);
        WORDS.contains(&at(k)) && before != "as"
            || MODALS.contains(&at(k)) && DOINGS.contains(&at(k + 1))
    })
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

/// "Both inet4 and inet6 gain", "IPv4 and IPv6 are faster": what is said of each family that it names.
fn joins_families(text: &str) -> bool {
    let words: Vec<String> = words(text).into_iter().map(|(_, word)| word).collect();
    let family = |at: usize| words.get(at).and_then(|w| fwdlab_netbenches::name::family_word(w));
    let is_joined = |at: usize| {
        let joint = words.get(at + 1).map_or("", String::as_str);
        let is_pair = family(at).zip(family(at + 2)).is_some_and(|(a, b)| a != b);
        is_pair && matches!(joint, "and" | "or" | "nor" | "like")
    };
    let is_between = words.iter().any(|w| {
        matches!(w.as_str(), "between" | "than" | "gap" | "ratio" | "sum")
            || w.starts_with("compar")
    });
    let is_neither = words.iter().any(|w| w == "neither");
    let is_change = match stance(text) {
        Stance::Change(..) => true,
        Stance::NotThat(..) => is_neither,
        _ => false,
    };
    is_change && !is_between && (0..words.len()).any(is_joined)
}

/// Beginnings of what tests are called, after "all" or "every".
const ALL_OF: [&str; 21] = [
    "test", "case", "bench", "config", "result", "value", "famil", "the", "set", "machine",
    "platform", "hardware", "scenario", "kernel", "protocol", "firewall", "two", "three", "four",
    "five", "six",
];
const EVERYWHERE: [&str; 4] = ["everywhere", "always", "throughout", "systematically"];

fn names_all(text: &str) -> bool {
    let words = words(text);
    // "not in all cases", "without any firewall"
    let is_denied = words.windows(3).any(|w| {
        let is_all = |word: &str| matches!(word, "all" | "any" | "every" | "both");
        matches!(w[0].1.as_str(), "not" | "without" | "no") && (is_all(&w[1].1) || is_all(&w[2].1))
    });
    if is_denied {
        return false;
    }
    words.windows(2).any(|pair| {
        let is_all =
            matches!(pair[0].1.as_str(), "all" | "any" | "every" | "each" | "both" | "either");
        let is_test = ALL_OF.iter().any(|w| pair[1].1.starts_with(w)) || pair[1].1 == "of";
        is_all && is_test
    }) || words.iter().any(|(_, w)| EVERYWHERE.contains(&w.as_str()))
        || words.windows(3).any(|w| w[0].1 == "across" && w[2].1 == "board")
}

#[cfg(test)]
mod tests;
