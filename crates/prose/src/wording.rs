//! Which sets of a block a clause compares, and which of them is the base.

use crate::claim::Compared;
use crate::named::{label_of, likeness, named};
use fwdlab_evidence::pair::Pair;
use fwdlab_evidence::surroundings::SourcedSet;
use fwdlab_sentence::clause::{Clause, words};
use fwdlab_sentence::label::Label;
use fwdlab_sentence::subject::{THAN, are_opposite, folded, spoken, turned, ways};

/// The comparisons of a block that a clause can mean.
pub(crate) fn compared<'a>(sets: &'a [SourcedSet<'a>], clause: &Clause) -> Vec<Compared<'a>> {
    let Some((base, others)) = sets.split_first() else { return Vec::new() };
    let text = turned(&clause.text);
    if others.len() > 1
        && let Some(pairs) = against(sets, &text)
    {
        return pairs;
    }
    let meant = named(&spoken(&text), sets);
    let mut variants: Vec<&SourcedSet<'_>> =
        meant.iter().filter(|&&i| i > 0).map(|&i| &sets[i]).collect();
    if variants.is_empty() || others.len() == 1 {
        variants = others.iter().collect();
    }
    variants
        .into_iter()
        .filter_map(|variant| {
            let direct = Compared {
                base,
                variant,
                pair: Pair::of(base, variant)?,
                is_oriented: others.len() == 1,
            };
            match orientation(&text, base, variant) {
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

/// Whether the clause names sets of a block by words that tell them apart.
pub(crate) fn names_set(clause: &Clause, sets: &[SourcedSet<'_>]) -> bool {
    !named(&spoken(&clause.text), sets).is_empty()
}

/// "pf is slower than ipfw": the sets named on both sides, each with the one most like it.
fn against<'a>(sets: &'a [SourcedSet<'a>], text: &str) -> Option<Vec<Compared<'a>>> {
    let words = spoken(text);
    let is_named = |side: &[String]| !named(side, sets).is_empty();
    let sides = ways(&words).filter(|(to, from)| is_named(to) && is_named(from));
    let (subject, object) = match sides {
        Some(sides) => sides,
        None => {
            let than = words.iter().rposition(|w| THAN.contains(&w.as_str()))?;
            (words[..than].to_vec(), words[than + 1..].to_vec())
        }
    };
    let (subject, object) = (plain(&subject, sets), plain(&object, sets));
    let pairs = || subject.iter().flat_map(|s| object.iter().map(move |o| (*s, *o)));
    let alike = |(s, o): (usize, usize)| likeness(&sets[s], &sets[o]);
    let most = pairs().filter(|(s, o)| s != o).map(alike).max()?;
    let meant = pairs().filter(|(s, o)| s != o && alike((*s, *o)) == most);
    meant
        .map(|(s, o)| {
            let (base, variant) = (&sets[o], &sets[s]);
            Some(Compared { base, variant, pair: Pair::of(base, variant)?, is_oriented: true })
        })
        .collect()
}

/// The sets that words name; of a revision without a word of a patch, those that have none.
pub(crate) fn plain(spoken: &[String], sets: &[SourcedSet<'_>]) -> Vec<usize> {
    let mut found = named(spoken, sets);
    let is_plain = |set: &usize| sets[*set].label.patches.is_empty();
    let is_of_a_patch = |word: &String| {
        word.starts_with("patch") || word.starts_with("diff") || word.starts_with("review")
    };
    let is_patched = spoken.iter().any(|w| is_of_a_patch(w) || !Label::of(w).patches.is_empty());
    if !is_patched && found.iter().any(is_plain) {
        found.retain(is_plain);
    }
    found
}

/// True when the clause speaks of `variant` against `base`, false when of
/// `base` against `variant`, `None` when it does not say.
fn orientation(text: &str, base: &SourcedSet<'_>, variant: &SourcedSet<'_>) -> Option<bool> {
    let words: Vec<String> = words(text).into_iter().map(|(_, w)| w).collect();
    let than = words.iter().rposition(|w| THAN.contains(&w.as_str()) && w != "regarding");
    let than_number = than.is_some_and(|t| {
        words.get(t + 1).is_some_and(|w| {
            w.starts_with(|c: char| c.is_ascii_digit())
                || matches!(w.as_str(), "one" | "a" | "half")
        })
    });
    let (subject, object) = match than.filter(|_| !than_number) {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words.as_slice(), &[][..]),
    };
    // "without it is slower than with it"
    let has = |words: &[String], word: &str| words.iter().any(|w| w == word);
    if has(subject, "without") && object.first().is_some_and(|w| w == "with") {
        return Some(false);
    }
    if has(subject, "with") && object.first().is_some_and(|w| w == "without") {
        return Some(true);
    }
    let score = |words: &[String], own: &SourcedSet<'_>, other: &SourcedSet<'_>| -> i32 {
        // "ipfw-statefull" names two things
        let parts = |(i, w): (usize, &String)| -> i32 {
            w.split(['-', '_']).map(|part| weight(words, i, part, own, other)).sum()
        };
        words.iter().enumerate().map(parts).sum()
    };
    let object_is_base = score(object, base, variant) - score(object, variant, base);
    if object_is_base != 0 {
        return Some(object_is_base > 0);
    }
    let subject_is_variant = score(subject, variant, base) - score(subject, base, variant);
    match subject_is_variant {
        0 if than.is_none() && names_unpatched(subject, base, variant) => Some(false),
        0 => None,
        n if n > 0 => Some(true),
        // "disabling LRO is worth 21 %"
        _ if than.is_none() && takes_away(subject, base, variant) => Some(false),
        // "IPv4 is the slower one"
        _ if names_family_of(subject, base, variant) => Some(false),
        // "disabled it is faster"
        _ if names_state_of(subject, base, variant) => Some(false),
        // A sentence that names only the base may still speak of the change.
        _ if than.is_some() => Some(false),
        _ => None,
    }
}

/// Whether what tells `variant` from `base` is said to be taken away.
fn takes_away(said: &[String], base: &SourcedSet<'_>, variant: &SourcedSet<'_>) -> bool {
    (0..said.len()).any(|at| weight(said, at, &said[at], variant, base) < 0)
}

/// Whether the words name the family of `base` alone, in a block of family against family.
fn names_family_of(words: &[String], base: &SourcedSet<'_>, variant: &SourcedSet<'_>) -> bool {
    let family = |word: &String| fwdlab_netbenches::name::family_word(word);
    let mut named = words.iter().filter_map(family).peekable();
    base.family != variant.family
        && named.peek().is_some()
        && named.all(|own| Some(own) == base.family)
}

/// Whether the words name a state that `base` is in and `variant` is not: on, disabled.
fn names_state_of(words: &[String], base: &SourcedSet<'_>, variant: &SourcedSet<'_>) -> bool {
    let (own, other) = (label_of(base), label_of(variant));
    let mut words = words.iter().map(|word| folded(word)).filter(|word| own.contains(word));
    words.any(|word| other.iter().any(|opposite| are_opposite(&word, opposite)))
}

/// Whether the words name the kernel without the patch, as a label does not.
fn names_unpatched(said: &[String], base: &SourcedSet<'_>, variant: &SourcedSet<'_>) -> bool {
    base.label.patches.is_empty()
        && !variant.label.patches.is_empty()
        && said.iter().enumerate().any(|(at, word)| match word.as_str() {
            "unpatched" | "vanilla" | "stock" => true,
            "old" | "original" | "previous" => said
                .get(at + 1)
                .is_some_and(|next| matches!(next.as_str(), "kernel" | "code" | "one")),
            _ => false,
        })
}

/// 1 when a word belongs to `own` alone, -1 when it is negated there.
fn weight(
    words: &[String],
    index: usize,
    word: &str,
    own: &SourcedSet<'_>,
    other: &SourcedSet<'_>,
) -> i32 {
    let family = fwdlab_netbenches::name::family_word(word);
    let is_family = family.is_some() && family == own.family && family != other.family;
    let word = &folded(word);
    let is_word = label_of(own).contains(word) && !label_of(other).contains(word);
    if !is_family && !is_word {
        return 0;
    }
    let before = index.checked_sub(1).map_or("", |i| words[i].as_str());
    const TAKEN_AWAY: [&str; 9] = [
        "without",
        "no",
        "not",
        "disabling",
        "removing",
        "reverting",
        "undoing",
        "dropping",
        "minus",
    ];
    if TAKEN_AWAY.contains(&before) { -1 } else { 1 }
}
