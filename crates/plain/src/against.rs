//! Changes held against each other: "inet6 gains more than inet4", "what IPv4 wins is twice what IPv6 loses", "the gap
//! grows".

use crate::factor::{factor, is_near};
use crate::lexicon::Lex;
use crate::sets::{Places, Sets};
use crate::steps::{MEASURES, Step, shown, sign_of, signed, steps, variants};
use crate::verdict::PlainVerdict;
use crate::words::{Clause, Phrase, Unit, Word};

/// Changes of two phrases that differ in nothing but what these name.
fn couples(sets: &Sets<'_>, first: &[Step], second: &[Step]) -> Vec<(Step, Step)> {
    let mut found = Vec::new();
    for a in first {
        let others = || second.iter().filter(|b| b.at != a.at);
        let Some(least) = others().map(|b| sets.distance(a.at, b.at)).min() else { continue };
        let near = others().filter(|b| sets.distance(a.at, b.at) == least);
        found.extend(near.map(|b| (*a, *b)));
    }
    found
}

/// "IPv6 gains more than IPv4".
pub(crate) fn more(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let than = clause.at(|lex| lex == Lex::Than)?;
    let last = clause.words.len();
    let is_more = clause.words[..than].iter().rev().find_map(|word| match word {
        Word::Lex(Lex::More | Lex::Large | Lex::Better(true)) => Some(true),
        Word::Lex(Lex::Less | Lex::Small | Lex::Better(false)) => Some(false),
        _ => None,
    })?;
    if !clause.amounts().iter().all(|(_, own)| own.unit == Unit::Percent && own.value == 0.0) {
        return None;
    }
    let sign = sign_of(clause, 0, than)?;
    let sign = if sets.facts.is_of_settings() { 0.0 } else { sign };
    let other_sign = sign_of(clause, than, last).filter(|_| sign != 0.0).unwrap_or(sign);
    let (one, other) = (clause.named(sets, 0, than), clause.named(sets, than, last));
    if one.is_empty() || other.is_empty() {
        return None;
    }
    // "with pf, inet4 lost more than inet6": of both
    let is_of_families = one.families.len() == 1 && other.families.len() == 1;
    let other = match is_of_families && other.names.is_none() {
        true => Phrase { names: one.names.clone(), ..other },
        false => other,
    };
    let (first, second) = (variants(sets, clause, &one), variants(sets, clause, &other));
    let couples = couples(sets, &first, &second);
    let is_denied = clause.is_denied();
    let is_so = |(a, b): &(Step, Step)| {
        MEASURES.iter().any(|of| {
            let (x, y) = (signed(of(a), sign), signed(of(b), other_sign));
            ((x > y) == is_more) != is_denied
        })
    };
    let each: Vec<bool> = couples.iter().map(is_so).collect();
    let all: Vec<Step> = first.iter().chain(&second).copied().collect();
    PlainVerdict::of_each(&each, clause.is_of_all(), || shown(sets, &all))
}

/// "What IPv4 wins is twice what IPv6 loses".
pub(crate) fn times(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let (at, own) = factor(clause)?;
    let last = clause.words.len();
    let (one, other) = (clause.named(sets, 0, at), clause.named(sets, at, last));
    if one.is_empty() || other.is_empty() {
        return None;
    }
    sign_of(clause, 0, last)?;
    let (first, second) = (variants(sets, clause, &one), variants(sets, clause, &other));
    let couples = couples(sets, &first, &second);
    let is_so = |(a, b): &(Step, Step)| {
        MEASURES.iter().any(|of| {
            let ratio = (of(a) / of(b)).abs();
            is_near(clause, at, own, 0.1 * own, ratio)
        })
    };
    let each: Vec<bool> = couples.iter().map(is_so).collect();
    let all: Vec<Step> = first.iter().chain(&second).copied().collect();
    PlainVerdict::of_each(&each, false, || shown(sets, &all))
}

/// "The gap between IPv4 and IPv6 grows with the patch".
pub(crate) fn gap(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let is_wider = clause.words.iter().find_map(|word| match word {
        Word::Lex(Lex::Moves(own)) => Some(*own),
        Word::Lex(Lex::Large) => Some(true),
        Word::Lex(Lex::Small) => Some(false),
        _ => None,
    })?;
    if !clause.amounts().is_empty() || clause.is_denied() {
        return None;
    }
    let (one, other) = of_gap(sets, clause)?;
    let mut each = Vec::new();
    let mut all = Vec::new();
    for a in steps(sets, &one) {
        let others = steps(sets, &other);
        let Some(least) = others.iter().map(|b| sets.distance(a.at, b.at)).min() else { continue };
        for b in others.iter().filter(|b| sets.distance(a.at, b.at) == least) {
            let apart = |x: usize, y: usize| {
                let (x, y) = (sets.all[x].cell.mean(), sets.all[y].cell.mean());
                [(x - y).abs(), x.max(y) / x.min(y)]
            };
            let (base, variant) = (apart(a.base, b.base), apart(a.at, b.at));
            each.push((0..2).any(|of| (variant[of] > base[of]) == is_wider));
            all.extend([(a.base, b.base), (a.at, b.at)]);
        }
    }
    PlainVerdict::of_each(&each, false, || sets.levels(&all))
}

/// What is said to be apart: two families, or what stands on either side of "and".
fn of_gap(sets: &Sets<'_>, clause: &Clause) -> Option<(Places, Places)> {
    if let [a, b] = clause.families.iter().copied().collect::<Vec<_>>().as_slice() {
        let all = sets.places();
        return Some((sets.of_family(&all, *a), sets.of_family(&all, *b)));
    }
    let between = clause.at(|lex| lex == Lex::Between)?;
    let and = (between..clause.words.len()).find(|at| clause.is(*at, Lex::And))?;
    let one = clause.named(sets, between, and).names?;
    let other = match &clause.words.get(and + 1)? {
        Word::Name(own) => own.clone(),
        _ => return None,
    };
    Some((one, other))
}
