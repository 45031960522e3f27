//! How many of all changes go which way: "two of the three configurations are slower with it".

use crate::lexicon::Lex;
use crate::sets::Sets;
use crate::steps::{shown, steps};
use crate::verdict::PlainVerdict;
use crate::words::{Clause, Word, in_families};

/// A clause with a count is of that count: what is said of so many is said of none of the others.
pub(crate) fn check(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let counts = clause.words.iter().filter_map(|word| match word {
        Word::Count { some, of } => Some((*some, *of)),
        _ => None,
    });
    let counts: Vec<(usize, usize)> = counts.collect();
    if counts.is_empty() {
        return None;
    }
    Some(of_changes(sets, clause, &counts).unwrap_or(PlainVerdict::Open))
}

fn of_changes(sets: &Sets<'_>, clause: &Clause, counts: &[(usize, usize)]) -> Option<PlainVerdict> {
    let [(some, of)] = counts else { return None };
    let says_more = |lex| {
        !matches!(
            lex,
            Lex::Light
                | Lex::One
                | Lex::Thing
                | Lex::Family
                | Lex::Patch
                | Lex::Patched
                | Lex::Firewall
                | Lex::Better(_)
                | Lex::Moves(_)
                | Lex::Touched(_)
                | Lex::With
                | Lex::Only
                | Lex::Much
                | Lex::Little
        )
    };
    if clause.has(says_more) || !clause.amounts().is_empty() || sets.facts.is_of_settings() {
        return None;
    }
    let mut signs = clause.words.iter().filter_map(|word| match word {
        Word::Lex(Lex::Better(own) | Lex::Moves(own)) => Some(if *own { 1.0 } else { -1.0 }),
        Word::Lex(Lex::Touched(true)) => Some(1.0),
        _ => None,
    });
    let sign = signs.next().filter(|_| signs.next().is_none())?;
    let all = steps(sets, &in_families(sets, sets.places(), &clause.families));
    if all.len() != *of {
        return None;
    }
    // as the signs are, or as many as are proven
    let goes = all.iter().filter(|step| step.percent * sign > 0.0);
    let proven = goes.clone().filter(|step| step.is_proven).count();
    let is_so = (proven..=goes.count()).contains(some);
    PlainVerdict::of_each(&[is_so], false, || shown(sets, &all))
}
