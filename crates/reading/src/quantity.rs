//! Over how many of what it may mean a claim is said to hold: "all", "neither", "three of four".

use crate::amount::number_word;
use crate::cue::{is_negated, is_negation};
use crate::mention::{Mention, Whom};
use crate::token::Token;

/// Over how many of what it may mean a claim is said to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Plain,
    All,
    None,
    Some,
    NotAll,
    /// Of what is named, and of nothing else.
    Only,
    /// So many of so many.
    Of(usize, Option<usize>),
}

/// Over how many it is said.
pub(crate) fn quantity(own: &[Token], mentions: &[Mention]) -> Quantity {
    let all = || own.iter().any(|token| token.is_in("universally invariably uniformly"));
    let counted = (0..own.len()).find_map(|at| counted(own, at));
    let said = || (0..own.len()).find_map(|at| said(own, mentions, at));
    counted.or_else(said).unwrap_or_else(|| if all() { Quantity::All } else { Quantity::Plain })
}

fn is_digit(sign: char) -> bool {
    sign.is_ascii_digit()
}

fn text(own: &[Token], at: usize) -> &str {
    own.get(at).map_or("", |token| token.text.as_str())
}

/// What things are counted as: comparisons, cases, machines.
fn is_of_sets(word: &str) -> bool {
    let roots = [
        "comparison",
        "difference",
        "case",
        "test",
        "block",
        "result",
        "set",
        "combination",
        "measurement",
        "configuration",
        "machine",
        "box",
        "famil",
        "of",
        "firewall",
        "filter",
        "scenario",
        "setup",
        "ups",
        "release",
        "kernel",
        "setting",
    ];
    roots.iter().any(|root| word.starts_with(root))
}

/// "Three of the four comparisons", "three out of four", "not one of".
fn counted(own: &[Token], at: usize) -> Option<Quantity> {
    let text = |at: usize| text(own, at);
    let number = |at: usize| number_word(text(at)).or_else(|| text(at).parse().ok());
    let k = number(at).filter(|k| *k < 20.0)?;
    let mut next = at + 1;
    let is_out = text(next) == "out" || text(next) == "of" || text(next) == "in";
    while matches!(
        text(next),
        "out" | "of" | "the" | "in" | "all" | "these" | "our" | "my" | "those" | "your"
    ) {
        next += 1;
    }
    if k == 1.0 && at > 0 && text(at - 1) == "not" {
        return Some(Quantity::None);
    }
    let n = number(next).filter(|n| is_out && *n >= k && *n < 20.0)?;
    let is_noun = (next + 1..next + 3)
        .map(text)
        .any(|w| w.is_empty() || is_of_sets(w) || w == "," || w == ".");
    is_noun.then_some(Quantity::Of(k as usize, Some(n as usize)))
}

/// What the word at a place says.
fn said(own: &[Token], mentions: &[Mention], at: usize) -> Option<Quantity> {
    let text = |at: usize| text(own, at);
    let is_before_sets = |at: usize| {
        (1..=4).any(|k| is_of_sets(text(at + k)) && text(at + k) != "of") || text(at + 1) == "of"
    };
    let denied = at > 0 && is_negation(text(at - 1));
    Some(match text(at) {
        "win" if text(at + 1) == "win" => {
            if is_negated(own, at) {
                Quantity::NotAll
            } else {
                Quantity::All
            }
        }
        "not" | "neither" | "nowhere" | "none" | "no" => {
            return none_of([text(at), text(at + 1), text(at + 2)], is_before_sets(at));
        }
        // "only 1 % more" is of the number
        "only" if number_word(text(at + 1)).is_some() || text(at + 1).starts_with(is_digit) => {
            return None;
        }
        "only" | "alone" | "solely" | "exclusively" if !denied => {
            return is_near_one(own, mentions, at).then_some(Quantity::Only);
        }
        "limited" | "confined" | "restricted" if text(at + 1) == "to" && !denied => {
            return is_limit(own, mentions, at + 2).then_some(Quantity::Only);
        }
        "all" | "every" | "each" | "any" if !denied && is_before_sets(at) => Quantity::All,
        "everything" | "everywhere" | "always" | "throughout" if !denied => Quantity::All,
        "across" if text(at + 1) == "the" && text(at + 2) == "board" => Quantity::All,
        "without" if text(at + 1) == "exception" => Quantity::All,
        "both" if !denied => Quantity::All,
        "some" | "one" if text(at + 1) == "of" && is_of_sets(text(at + 3)) => Quantity::Some,
        _ => return None,
    })
}

/// "Not all", "none of", "no machine": what a word that denies says with the two behind it.
fn none_of(words: [&str; 3], is_before_sets: bool) -> Option<Quantity> {
    match words {
        ["not", "all" | "every" | "everything" | "both" | "each" | "always" | "everywhere", _] => {
            Some(Quantity::NotAll)
        }
        ["not", "one", "of"] | ["neither", ..] | ["none", "of", _] => Some(Quantity::None),
        ["nowhere", next, _] => (next != "near").then_some(Quantity::None),
        ["no", next, _] => {
            const SETS: [&str; 8] =
                ["machine", "box", "family", "comparison", "case", "test", "combination", "one"];
            SETS.contains(&next).then_some(Quantity::None)
        }
        ["not", "a", "single"] => is_before_sets.then_some(Quantity::None),
        _ => None,
    }
}

/// Whether what something is limited to is named, and is no number.
fn is_limit(own: &[Token], mentions: &[Mention], at: usize) -> bool {
    let is_named = |m: &Mention| (at..at + 3).contains(&m.at);
    own.get(at).is_some_and(|token| !token.is_number()) && mentions.iter().any(is_named)
}

/// Whether "only" stands by what is named.
fn is_near_one(own: &[Token], mentions: &[Mention], at: usize) -> bool {
    const ONES: [&str; 9] =
        ["one", "family", "machine", "box", "test", "case", "set", "scenario", "comparison"];
    let is_only = text(own, at) == "only";
    let is_near = |m: &Mention| {
        m.at.abs_diff(at) <= 2
            || is_only && ((at..at + 4).contains(&m.at) || ONES.contains(&text(own, at + 1)))
    };
    let is_one = |m: &&Mention| matches!(m.whom, Whom::Part(_) | Whom::Family(_) | Whom::Roles(_));
    mentions.iter().filter(is_one).any(is_near)
}
