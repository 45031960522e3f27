//! What a clause holds against what: the sets on either side of "than", and which of them belong together.

use crate::lexicon::Lex;
use crate::sets::{Places, Sets};
use crate::words::{Clause, Phrase, Word, in_families};

/// What is held against what: before "than", and behind it. What is named once is held against the rest of its block.
pub(crate) fn sides(sets: &Sets<'_>, clause: &Clause) -> Option<(Places, Places)> {
    // the second of "as ... as"
    let joint =
        clause.words.iter().rposition(|word| matches!(word, Word::Lex(Lex::Than | Lex::As)));
    let end = clause.words.len();
    let Some(joint) = joint else {
        // "the patch makes it more stable"
        let patched = || clause.has(|lex| lex == Lex::Patch).then(|| sets.patched(true));
        let own = &clause.names.clone().or_else(patched)?;
        let first = in_families(sets, own.clone(), &clause.families);
        let rest: Places = sets.places().difference(own).copied().collect();
        return Some((first, in_families(sets, rest, &clause.families)));
    };
    let (mut one, other) = (clause.named(sets, 0, joint), clause.named(sets, joint, end));
    // "than one": one queue
    // "makes Xen 5.7 times as fast": as what is not said
    let is_open = clause.is(joint, Lex::As) || clause.has(|lex| lex == Lex::One);
    if other.is_empty() && is_open {
        return None;
    }
    // "pf is faster than ipfw on 12-head": both on it
    let names = |from: usize, to: usize| {
        let own = clause.words[from..to].iter();
        own.filter_map(|w| if let Word::Name(own) = w { Some(own) } else { None })
            .collect::<Vec<_>>()
    };
    if let (1, [_, .., last]) = (names(0, joint).len(), names(joint, end).as_slice()) {
        let both: Places =
            one.names.iter().flatten().copied().filter(|at| last.contains(at)).collect();
        let is_joined = clause.words[joint..].contains(&Word::Lex(Lex::And));
        if !both.is_empty() && !is_joined {
            one.names = Some(both);
        }
    }
    apart(sets, clause, one, other)
}

/// What two phrases name, each with what only the other says of both.
pub(crate) fn apart(
    sets: &Sets<'_>,
    clause: &Clause,
    one: Phrase,
    other: Phrase,
) -> Option<(Places, Places)> {
    let is_of_families =
        one.families.len() == 1 && other.families.len() == 1 && one.families != other.families;
    let (first, second) = match () {
        // "inet6 is slower than inet4 with r368606": both with it
        () if is_of_families => {
            let names = |own: &Phrase, rest: &Phrase| {
                own.names.clone().or_else(|| rest.names.clone()).or_else(|| clause.names.clone())
            };
            let (a, b) = (names(&one, &other), names(&other, &one));
            (
                Phrase { names: a, families: one.families },
                Phrase { names: b, families: other.families },
            )
        }
        () => {
            let families = match (one.families.is_empty(), other.families.is_empty()) {
                (false, _) => one.families.clone(),
                (true, false) => other.families.clone(),
                (true, true) => clause.families.clone(),
            };
            let names = other.names.clone();
            let rest = |own: &Places| sets.places().difference(own).copied().collect::<Places>();
            let (a, b) = match (one.names, names) {
                (Some(a), Some(b)) => (a, b),
                (Some(a), None) => (a.clone(), rest(&a)),
                (None, Some(b)) => (rest(&b), b),
                (None, None) => return None,
            };
            let of_second =
                if other.families.is_empty() { families.clone() } else { other.families };
            (Phrase { names: Some(a), families }, Phrase { names: Some(b), families: of_second })
        }
    };
    let (first, second) = (first.places(sets), second.places(sets));
    let is_apart = first.is_disjoint(&second);
    let first: Places = if is_apart { first } else { first.difference(&second).copied().collect() };
    (!first.is_empty() && !second.is_empty()).then_some((first, second))
}

/// Each of the first with those of the second that are called most like it.
pub(crate) fn couples(sets: &Sets<'_>, first: &Places, second: &Places) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for one in first {
        let others = || second.iter().copied().filter(|other| other != one);
        let Some(least) = others().map(|other| sets.distance(*one, other)).min() else { continue };
        let near = others().filter(|other| sets.distance(*one, *other) == least);
        found.extend(near.map(|other| (*one, other)));
    }
    found
}
