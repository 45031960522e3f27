//! What a clause of prose claims: percentages, factors, faster or slower, no
//! change. Only words are read here; whether they are true is for the rules.

use std::collections::BTreeSet;

use crate::netbenches::name::NamedFamily;

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

/// Splits at sentence ends and at words that turn to another claim; at `and`
/// and commas only when both sides hold a percentage of their own.
fn split(text: &str) -> Vec<(usize, &str)> {
    const TURNS: [&str; 9] =
        [". ", "; ", "! ", "? ", " but ", " whereas ", " while ", " however ", ".\n"];
    const JOINTS: [&str; 3] = [" and ", ", ", " then "];
    let mut parts = vec![(0, text)];
    for turn in TURNS {
        parts = parts.into_iter().flat_map(|p| split_at(p, turn, |_, _| true)).collect();
    }
    for joint in JOINTS {
        let both =
            |a: &str, b: &str| !is_span(a) && !percents(a).is_empty() && !percents(b).is_empty();
        parts = parts.into_iter().flat_map(|p| split_at(p, joint, both)).collect();
    }
    parts.retain(|(_, part)| !part.trim().is_empty());
    parts
}

fn split_at<'a>(
    (offset, text): (usize, &'a str),
    joint: &str,
    may: impl Fn(&str, &str) -> bool,
) -> Vec<(usize, &'a str)> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(joint) {
        if at >= start && may(&text[start..at], &text[at + joint.len()..]) {
            parts.push((offset + start, &text[start..at]));
            start = at + joint.len();
        }
    }
    parts.push((offset + start, &text[start..]));
    parts
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

/// Percentages of a text that can be changes of a rate.
fn percents(text: &str) -> Vec<Percent> {
    let lower = text.to_lowercase();
    let mut found = Vec::new();
    if lower.len() != text.len() {
        return found; // letters of other scripts: places would not match
    }
    let signs = lower.match_indices('%').map(|(at, _)| (at, 1));
    let names = lower.match_indices("percent").map(|(at, _)| (at, 7));
    for (at, length) in signs.chain(names) {
        if let Some(percent) = percent_before(text, at)
            && !is_other_share(&lower, percent.offset, at + length)
        {
            found.push(percent);
        }
    }
    if found.len() == 2 && is_span(text) && found[0].upper.is_none() {
        found[0].upper = found.pop().map(|last: Percent| last.value);
    }
    found
}

/// Whether a text speaks of a span: "between 5% and 10%", "from 5% to 10%".
fn is_span(text: &str) -> bool {
    words(text).iter().any(|(_, w)| w == "between" || w == "from")
}

/// The number that ends at `end`, blanks between allowed.
fn percent_before(text: &str, end: usize) -> Option<Percent> {
    let head = text[..end].trim_end();
    let number = number_at_end(head)?;
    let value: f64 = number.replace(',', ".").parse().ok()?;
    let rest = &head[..head.len() - number.len()];
    let (sign, rest, lower) = match rest.chars().last() {
        Some('+') => (Some(Sign::Up), &rest[..rest.len() - 1], None),
        Some(dash @ ('-' | '−' | '–')) => {
            let before = &rest[..rest.len() - dash.len_utf8()];
            match number_at_end(before.trim_end_matches('%').trim_end()) {
                Some(first) => (None, before, first.replace(',', ".").parse::<f64>().ok()),
                None => (Some(Sign::Down), before, None),
            }
        }
        _ => (None, rest, None),
    };
    let previous = words(&rest.to_lowercase());
    let is_arrow = ["=>", "->"].iter().any(|arrow| rest.trim_end().ends_with(arrow));
    let is_rough = !is_arrow && rest.trim_end().ends_with(['~', '≈', '>', '<'])
        || previous.iter().rev().take(2).any(|(_, w)| ROUGH.contains(&w.as_str()));
    Some(Percent {
        value: lower.unwrap_or(value),
        upper: lower.map(|_| value),
        decimals: number.split(['.', ',']).nth(1).map_or(0, str::len),
        sign,
        is_rough,
        text: format!("{}%", &text[end - (end - rest.len())..end].trim()),
        offset: rest.len(),
    })
}

const ROUGH: [&str; 16] = [
    "about",
    "around",
    "almost",
    "nearly",
    "approximately",
    "roughly",
    "circa",
    "than",
    "over",
    "least",
    "to",
    "under",
    "approx",
    "only",
    "near",
    "some",
];

fn number_at_end(text: &str) -> Option<&str> {
    let start = text
        .char_indices()
        .rev()
        .take_while(|(_, c)| c.is_ascii_digit() || matches!(c, '.' | ','))
        .last()?
        .0;
    let number = text[start..].trim_start_matches(['.', ',']);
    let glued = text[..text.len() - number.len()].chars().last();
    let is_number = number.starts_with(|c: char| c.is_ascii_digit());
    (is_number && !glued.is_some_and(|c| c.is_alphabetic() || c == '_')).then_some(number)
}

/// Shares that are no change of a rate: confidence, processor load, loss.
fn is_other_share(lower: &str, start: usize, end: usize) -> bool {
    const AFTER: [&str; 9] = [
        "confidence",
        "cpu",
        "idle",
        "load",
        "usage",
        "utilization",
        "packet",
        "of line",
        "of the line",
    ];
    const BEFORE: [&str; 8] =
        ["confidence", "cpu", "cpus", "usage", "load", "idle", "utilization", "loaded"];
    let after = lower[end..].trim_start();
    let before = words(&lower[..start]);
    AFTER.iter().any(|w| after.starts_with(w))
        || before.iter().rev().take(3).any(|(_, w)| BEFORE.contains(&w.as_str()))
}

/// `x10`, `10x`, `10 times`, twice, doubled, half, divided by 3.
fn factor(text: &str) -> Option<(f64, String)> {
    let words = words(text);
    for (index, (_, word)) in words.iter().enumerate() {
        let next = words.get(index + 1).map_or("", |(_, w)| w.as_str());
        let number = |w: &str| w.parse::<f64>().ok().filter(|v| *v > 1.0 && *v < 1e4);
        let fixed = match word.as_str() {
            "twice" | "double" | "doubled" | "doubles" | "doubling" => Some(2.0),
            "triple" | "tripled" | "triples" => Some(3.0),
            "half" | "halved" | "halves" => Some(0.5),
            _ => None,
        };
        if let Some(value) = fixed {
            return Some((value, word.clone()));
        }
        if let Some(value) = word.strip_prefix(['x', '×']).and_then(number) {
            return Some((value, word.clone()));
        }
        if let Some(value) = word.strip_suffix(['x', '×']).and_then(number) {
            return Some((value, word.clone()));
        }
        if let Some(value) = number(word).filter(|_| next == "times") {
            return Some((value, format!("{word} times")));
        }
        let before = index.checked_sub(1).map_or("", |i| words[i].1.as_str());
        if matches!((word.as_str(), before), ("by", "divided"))
            && let Some(value) = number(next)
        {
            return Some((1.0 / value, format!("divided by {next}")));
        }
    }
    None
}

const UP: [&str; 16] = [
    "improv",
    "imprev",
    "imporv",
    "faster",
    "gain",
    "benefit",
    "increas",
    "better",
    "speed-up",
    "speedup",
    "boost",
    "higher",
    "quicker",
    "accelerat",
    "outperform",
    "rais",
];
const DOWN: [&str; 19] = [
    "slow",
    "reduc",
    "decreas",
    "drop",
    "degrad",
    "regress",
    "lower",
    "worse",
    "loss",
    "lose",
    "lost",
    "declin",
    "penalt",
    "overhead",
    "deteriorat",
    "cost",
    "diminish",
    "shrink",
    "hurt",
];
const SAME: [&str; 12] = [
    "same",
    "identical",
    "equal",
    "equals",
    "equivalent",
    "similar",
    "unchanged",
    "neutral",
    "negligible",
    "identically",
    "equally",
    "indistinguishable",
];
/// Words of change without a direction, which only a negation makes a claim.
const NEUTRAL: [&str; 9] = [
    "impact",
    "difference",
    "change",
    "effect",
    "influence",
    "differences",
    "changes",
    "impacts",
    "variation",
];
const NEGATIONS: [&str; 17] = [
    "no", "not", "without", "never", "neither", "nor", "isn't", "doesn't", "don't", "didn't",
    "wasn't", "aren't", "cannot", "can't", "zero", "non", "none",
];

/// Faster, slower or the same. Parentheses count only when nothing outside says
/// anything.
fn stance(text: &str) -> Stance {
    let outside = without_parentheses(text);
    match stance_of(&outside) {
        Stance::Silent if outside.len() < text.len() => stance_of(text),
        stance => stance,
    }
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0usize;
    let mut kept = String::new();
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept
}

fn stance_of(text: &str) -> Stance {
    let words = words(text);
    let is_reading_aid = words.windows(2).any(|w| w[0].1 == "is" && w[1].1 == "better");
    if is_reading_aid && words.len() <= 6 {
        return Stance::Silent; // "(higher is better)"
    }
    let mut found = Stance::Silent;
    for (index, (_, word)) in words.iter().enumerate() {
        let Some(next) = stance_of_word(&words, index, word) else { continue };
        found = match (found, next) {
            (Stance::Silent, next) => next,
            (Stance::Change(a, w), Stance::Change(b, _)) if a == b => Stance::Change(a, w),
            (Stance::Change(..), Stance::Change(..)) => return Stance::Mixed,
            (first, _) => first,
        };
    }
    found
}

fn stance_of_word(words: &[(usize, String)], index: usize, word: &str) -> Option<Stance> {
    let is = |list: &[&str]| list.iter().any(|w| word.starts_with(w));
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let is_negated = (1..=3).any(|back| {
        index
            .checked_sub(back)
            .is_some_and(|i| NEGATIONS.contains(&at(i)) && !(at(i) == "not" && at(i + 1) == "only"))
    });
    let sign = match (is(&UP), is(&DOWN)) {
        (true, _) => Some(Sign::Up),
        (_, true) => Some(Sign::Down),
        _ => None,
    };
    if SAME.contains(&word) {
        let is_claim = !is_negated && (ALONE.contains(&word) || is_about_speed(words));
        return is_claim.then(|| Stance::NoChange(word.to_owned()));
    }
    if NEUTRAL.contains(&word) {
        return is_negated.then(|| Stance::NoChange(format!("no {word}")));
    }
    let sign = sign?;
    if is_of_a_setting(words, index) {
        return None;
    }
    if is_negated {
        return Some(Stance::NotThat(sign, word.to_owned()));
    }
    Some(Stance::Change(sign, word.to_owned()))
}

/// Words of sameness that speak of a result by themselves.
const ALONE: [&str; 5] = ["unchanged", "neutral", "negligible", "identically", "indistinguishable"];

/// "The same speed" is a claim, "the same hardware" is none.
fn is_about_speed(words: &[(usize, String)]) -> bool {
    const SPEED: [&str; 9] = [
        "performance",
        "performances",
        "speed",
        "throughput",
        "pps",
        "rate",
        "forwarding",
        "level",
        "impact",
    ];
    words.iter().any(|(_, w)| SPEED.contains(&w.as_str()))
}

/// "increased from 32K to 256K", "packet loss", "reduced number of queues": a
/// setting or a count moved, not the rate.
fn is_of_a_setting(words: &[(usize, String)], index: usize) -> bool {
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let before = index.checked_sub(1).map_or("", at);
    let word = at(index);
    let is_moved = matches!(
        word,
        "increased"
            | "decreased"
            | "reduced"
            | "lowered"
            | "raised"
            | "increasing"
            | "decreasing"
            | "reducing"
            | "lowering"
            | "raising"
    );
    let to_a_value = (1..=4).any(|n| {
        matches!(at(index + n), "from" | "to")
            && at(index + n + 1).starts_with(|c: char| c.is_ascii_digit())
            && !at(index + n + 1).ends_with("pps")
            && !at(index + n + 1).ends_with('%')
    });
    let is_of_packets = word.starts_with("drop") && at(index + 1).starts_with("packet");
    let is_slow_path =
        word.starts_with("slow") && (word.contains("path") || at(index + 1) == "path");
    let is_number_of = at(index + 1) == "number" || at(index + 2) == "number";
    matches!(before, "packet" | "packets" | "frame") && word != "faster"
        || is_of_packets
        || is_slow_path
        || is_moved && (to_a_value || is_number_of)
        || word == "cost" && before == "at"
        || word.starts_with("lower") && at(index + 1) == "layer"
}

/// Families named in a text.
fn families(text: &str) -> BTreeSet<NamedFamily> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter_map(crate::netbenches::name::family_word)
        .collect()
}

fn is_about_all(text: &str) -> bool {
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
