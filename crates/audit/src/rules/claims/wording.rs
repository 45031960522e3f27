//! Which sets of a block a clause compares, and which of them is the base.

use super::Compared;
use crate::context::Measured;
use crate::pair::Pair;
use fwdlab_sentence::clause::{Clause, words};

/// The comparisons of a block that a clause can mean.
pub(super) fn compared<'a>(sets: &'a [Measured<'a>], clause: &Clause) -> Vec<Compared<'a>> {
    let Some((base, others)) = sets.split_first() else { return Vec::new() };
    let mut named: Vec<&Measured<'_>> =
        others.iter().filter(|s| is_named(clause, s, sets)).collect();
    if named.is_empty() || others.len() == 1 {
        named = others.iter().collect();
    }
    named
        .into_iter()
        .filter_map(|variant| {
            let direct = Compared {
                base,
                variant,
                pair: Pair::of(base, variant)?,
                is_oriented: others.len() == 1,
            };
            match orientation(&clause.text, base, variant) {
                Some(false) => Some(Compared {
                    base: variant,
                    variant: base,
                    pair: Pair::of(variant, base)?,
                    is_oriented: true,
                }),
                Some(true) => Some(Compared { is_oriented: true, ..direct }),
                None => Some(direct),
            }
        })
        .collect()
}

/// Whether the clause names a set of a block by a word that no other set of it has.
pub(super) fn names_set(clause: &Clause, sets: &[Measured<'_>]) -> bool {
    sets.iter().any(|set| is_named(clause, set, sets))
}

/// Whether the clause holds a word that only this set's label has.
fn is_named(clause: &Clause, set: &Measured<'_>, sets: &[Measured<'_>]) -> bool {
    let spoken: Vec<String> = words(&clause.text).into_iter().map(|(_, w)| w).collect();
    set.label.telling_words().iter().any(|word| {
        spoken.iter().any(|s| s == word)
            && sets.iter().all(|s| s.set.symbol == set.set.symbol || !s.label.words.contains(*word))
    })
}

/// Words that announce what something is compared with.
const THAN: [&str; 17] = [
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
];

/// True when the clause speaks of `variant` against `base`, false when of
/// `base` against `variant`, `None` when it does not say.
fn orientation(text: &str, base: &Measured<'_>, variant: &Measured<'_>) -> Option<bool> {
    let words: Vec<String> = words(text).into_iter().map(|(_, w)| w).collect();
    let than = words.iter().rposition(|w| THAN.contains(&w.as_str()) && w != "regarding");
    let than_number = than.is_some_and(|t| {
        words.get(t + 1).is_some_and(|w| w.starts_with(|c: char| c.is_ascii_digit()))
    });
    let (subject, object) = match than.filter(|_| !than_number) {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words.as_slice(), &[][..]),
    };
    let score = |words: &[String], own: &Measured<'_>, other: &Measured<'_>| -> i32 {
        words.iter().enumerate().map(|(i, w)| weight(words, i, w, own, other)).sum()
    };
    let object_is_base = score(object, base, variant) - score(object, variant, base);
    if object_is_base != 0 {
        return Some(object_is_base > 0);
    }
    let subject_is_variant = score(subject, variant, base) - score(subject, base, variant);
    match subject_is_variant {
        0 => None,
        n if n > 0 => Some(true),
        // A sentence that names only the base may still speak of the change.
        _ if than.is_some() => Some(false),
        _ => None,
    }
}

/// 1 when a word belongs to `own` alone, -1 when it is negated there.
fn weight(
    words: &[String],
    index: usize,
    word: &str,
    own: &Measured<'_>,
    other: &Measured<'_>,
) -> i32 {
    let family = fwdlab_netbenches::name::family_word(word);
    let is_family = family.is_some() && family == own.family && family != other.family;
    let is_word = own.label.telling_words().contains(word) && !other.label.words.contains(word);
    if !is_family && !is_word {
        return 0;
    }
    let before = index.checked_sub(1).map_or("", |i| words[i].as_str());
    if matches!(before, "without" | "no" | "disabling" | "removing") { -1 } else { 1 }
}
