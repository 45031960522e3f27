//! Whom a clause speaks of, among names that are known: the variants of an experiment.

use std::borrow::Cow;

use crate::clause::words;

/// The names in a clause, in the order in which they stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named<'a> {
    /// All of them.
    pub all: Vec<&'a str>,
    /// The one beside which another is set: `than radix`, `against radix`.
    pub beside: Option<&'a str>,
}

/// Words before the one beside which another is set.
const BESIDE: [&str; 9] = [
    "than",
    "against",
    "over",
    "versus",
    "vs",
    "vs.",
    "compared to",
    "compared with",
    "relative to",
];

/// Names that sentences hold without meaning them.
const PLAIN: [&str; 24] = [
    "all", "and", "any", "base", "best", "both", "default", "fast", "first", "for", "new", "none",
    "off", "old", "one", "plain", "same", "second", "slow", "test", "the", "two", "with",
    "without",
];

impl<'a> Named<'a> {
    /// Those of `names` that stand in `clause` as whole words, whatever their case; names that any
    /// sentence may hold (of two letters, or words such as `default`) count in backticks or quotes only.
    pub fn of(clause: &str, names: impl Iterator<Item = &'a str>) -> Self {
        let lower = clause.to_lowercase();
        let mut found: Vec<(usize, &'a str)> = Vec::new();
        for name in names.filter(|name| !name.is_empty()) {
            let wanted = name.to_lowercase();
            let at = lower.match_indices(&wanted).map(|(at, _)| at);
            found.extend(at.filter(|at| is_meant(&lower, *at, &wanted)).map(|at| (at, name)));
        }
        // "modular" is not meant where "modular-2" stands
        let covers = |a: &(usize, &str), b: &(usize, &str)| {
            a.1.len() > b.1.len() && a.0 <= b.0 && b.0 + b.1.len() <= a.0 + a.1.len()
        };
        let longest = found.clone();
        found.retain(|own| !longest.iter().any(|other| covers(other, own)));
        found.sort_unstable();
        let is_beside = |at: usize| {
            let before = lower[..at].trim_end_matches(['`', '"', '\'', ' ']);
            let before = before.strip_suffix(" the").unwrap_or(before);
            BESIDE.iter().any(|word| {
                let rest = before.strip_suffix(word);
                rest.is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
            })
        };
        let beside = found.iter().find(|(at, _)| is_beside(*at)).map(|(_, name)| *name);
        let mut all: Vec<&'a str> = Vec::new();
        for (_, name) in found {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        Self { all, beside }
    }

    /// The one that something is said of: the first that stands beside no other.
    pub fn subject(&self) -> Option<&'a str> {
        self.all.iter().copied().find(|name| Some(*name) != self.beside)
    }
}

fn is_meant(text: &str, at: usize, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let (before, after) = (text[..at].chars().next_back(), text[at + name.len()..].chars().next());
    // a full stop ends a sentence, or goes on in a name: "radix.", "radix.2"
    let goes_on = |c: Option<char>| c.is_some_and(is_part);
    let dotted = text[at + name.len()..].strip_prefix('.').and_then(|rest| rest.chars().next());
    if goes_on(before) || goes_on(after) || goes_on(dotted) {
        return false;
    }
    let is_quoted = matches!(before, Some('`' | '"' | '\''));
    is_quoted || name.len() > 2 && !PLAIN.contains(&name)
}

/// "Other reviews were tested", "as measured before", "on one family only", "not always": of another
/// measurement, or of nothing that a single block could refute.
pub fn is_of_others(sentence: &str) -> bool {
    let own = words(sentence);
    let at = |k: usize| own.get(k).map_or("", |(_, w)| w.as_str());
    (0..own.len()).any(|k| match (at(k), at(k + 1)) {
        ("other" | "another", _) => k == 0 || at(k - 1) == "on",
        ("previous" | "next" | "first" | "last", "section" | "chapter") => true,
        ("tested" | "measured" | "benched" | "seen", "before" | "earlier") => true,
        ("not", "in" | "for" | "on") if matches!(at(k + 2), "all" | "both" | "every") => true,
        ("one", "family" | "protocol") | ("not", "always" | "all" | "both" | "every") => true,
        _ => false,
    })
}

/// Verbs of a setting, whose forms all name the state that they lead to: "disabling it", "when disabled".
const STATES: [(&str, &str); 4] = [
    ("enabl", "enabled"),
    ("disabl", "disabled"),
    ("activat", "enabled"),
    ("deactivat", "disabled"),
];

/// States of which each is named by the absence of the other.
const OPPOSITES: [(&str, &str); 2] = [("enabled", "disabled"), ("on", "off")];

/// Whether two words, folded, are states of one setting.
pub fn are_opposite(one: &str, other: &str) -> bool {
    OPPOSITES.contains(&(one, other)) || OPPOSITES.contains(&(other, one))
}

/// A word without what grammar adds to it: `statelessly`, `queues`, `statefull`.
pub fn folded(word: &str) -> String {
    let word = word.to_lowercase();
    if let Some((_, state)) = STATES.iter().find(|(verb, _)| word.starts_with(verb)) {
        return (*state).to_owned();
    }
    let word = word.strip_suffix("ly").unwrap_or(&word);
    let word = word.strip_suffix('s').unwrap_or(word);
    let word = if word.ends_with("ll") { &word[..word.len() - 1] } else { word };
    word.to_owned()
}

/// The words of a text, those of compounds apart: `ipfw-statefull` names two things.
pub fn spoken(text: &str) -> Vec<String> {
    let all = words(text).into_iter().map(|(_, word)| word);
    all.flat_map(|word| {
        let is_signed = word.starts_with(['-', '+']);
        let parts: Vec<String> = if is_signed {
            vec![word]
        } else {
            word.split(['-', '_', '\'']).map(str::to_owned).collect()
        };
        parts.into_iter().filter(|part| !part.is_empty()).map(|part| folded(&part))
    })
    .collect()
}

/// Words that announce what something is compared with.
pub const THAN: [&str; 19] = [
    "than",
    "vs",
    "versus",
    "over",
    "against",
    "compared",
    "relative",
    "regarding",
    "beats",
    "beat",
    "beating",
    "beaten",
    "outperforms",
    "outperform",
    "outperforming",
    "ahead",
    "behind",
    "instead",
    "place",
];

/// "Between 2 and 4 queues", "from 4 to 8 queues": the words of what is reached, and of what it is held
/// against.
pub fn ways(words: &[String]) -> Option<(Vec<String>, Vec<String>)> {
    [("between", "and"), ("from", "to")].iter().find_map(|(first, second)| {
        let at = words.iter().position(|w| w == first)?;
        let to = words[at..].iter().position(|w| w == second)?;
        Some((words[at + to + 1..].to_vec(), words[at + 1..at + to].to_vec()))
    })
}

/// Whether a clause says what it compares with.
pub fn names_base(text: &str) -> bool {
    words(text).iter().any(|(_, word)| THAN.contains(&word.as_str()))
}

/// "Compared to A, B gains 5 %" turned to "B gains 5 % compared to A".
pub fn turned(text: &str) -> Cow<'_, str> {
    const BEGINNINGS: [&str; 5] =
        ["compared to ", "compared with ", "relative to ", "against ", "versus "];
    let start = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_first =
        |word: &&str| start.get(..word.len()).is_some_and(|own| own.eq_ignore_ascii_case(word));
    match (BEGINNINGS.iter().find(|word| is_first(word)), start.split_once(", ")) {
        (Some(_), Some((base, rest))) => {
            format!("{} {base}", rest.trim_end_matches(['.', '!', ' '])).into()
        }
        _ => switched(text).map_or(text.into(), |state| format!("{text} {state}").into()),
    }
}

/// "Turning it off", "switched on": the state that it is in then.
fn switched(text: &str) -> Option<&'static str> {
    let words = words(text);
    let verb = words.iter().position(|(_, w)| w.starts_with("turn") || w.starts_with("switch"))?;
    words[verb..].iter().take(4).find_map(|(_, word)| match word.as_str() {
        "on" => Some("enabled"),
        "off" => Some("disabled"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_with_may_stand_first() {
        assert_eq!(turned("=> Compared to r1, r2 gains 5%."), "r2 gains 5% Compared to r1");
        assert_eq!(turned("Turning redirect off wins 5%"), "Turning redirect off wins 5% disabled");
        for text in ["r2 gains 5% compared to r1", "Compared to r1 it is slow", "Gains, and losses"]
        {
            assert_eq!(turned(text), text);
        }
    }

    fn named(clause: &str) -> Named<'static> {
        Named::of(clause, ["radix", "modular", "modular-2", "on", "default"].into_iter())
    }

    #[test]
    fn the_one_after_than_is_not_the_subject() {
        for (clause, subject, beside) in [
            ("Modular is 5 % faster than radix", Some("modular"), Some("radix")),
            ("compared to the `radix`, modular gains 5 %", Some("modular"), Some("radix")),
            ("radix loses 5 %", Some("radix"), None),
            ("5 % over radix", None, Some("radix")),
            ("5 % faster on IPv4 by default", None, None),
            ("`on` is 5 % faster than `default`.", Some("on"), Some("default")),
            ("with modular-2 it is 5 % more than with radix", Some("modular-2"), None),
        ] {
            let found = named(clause);
            assert_eq!((found.subject(), found.beside), (subject, beside), "{clause}");
        }
        assert_eq!(named("modular-2 beats radix.").all, ["modular-2", "radix"]);
        assert_eq!(named("modularity, radix.3 and xradix"), Named::default());
    }
}
