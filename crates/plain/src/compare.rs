//! "IPv6 is faster than IPv4 in both cases", "all the kernels are slower than r368287", "almost twice as fast as".

use std::collections::BTreeSet;

use crate::factor::{factor, is_near, share};
use crate::lexicon::Lex;
use crate::likeness::alike;
use crate::sets::{Places, Sets};
use crate::sides::{couples, sides};
use crate::verdict::PlainVerdict;
use crate::words::{Amount, Clause, Unit, Word, in_families};

pub(crate) fn check(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    share(sets, clause).or_else(|| alike(sets, clause)).or_else(|| ordered(sets, clause))
}

fn ordered(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let others = |lex| {
        matches!(
            lex,
            Lex::Moves(_)
                | Lex::Gap
                | Lex::Touched(_)
                | Lex::Most
                | Lex::Least
                | Lex::Best(_)
                | Lex::Run
        )
    };
    if clause.has(others) || clause.has(|lex| matches!(lex, Lex::From | Lex::To)) {
        return None;
    }
    if !clause.has(|lex| matches!(lex, Lex::Than | Lex::As)) {
        return in_a_state(sets, clause);
    }
    let better = clause.words.iter().find_map(|word| match word {
        Word::Lex(Lex::Better(own)) => Some(*own),
        _ => None,
    });
    let factor = factor(clause);
    let is_up = match (better, factor) {
        (Some(own), _) => own,
        (None, Some(_)) => true,
        (None, None) => return None,
    };
    let amounts = clause.amounts();
    let percent = match amounts.as_slice() {
        [] => None,
        [(at, own)] if own.unit == Unit::Percent => Some((*at, *own)),
        // "slower by one third"
        [(at, own)] if own.unit == Unit::Times && own.value < 1.0 && better.is_some() => {
            let (value, step) = (100.0 * own.value, 10.0);
            Some((*at, Amount { value, step, unit: Unit::Percent }))
        }
        [(_, own)] if own.unit == Unit::Times => None,
        _ => return None,
    };
    let factor = factor.filter(|(_, own)| *own > 1.0 || percent.is_none());
    let is_only = clause.has(|lex| lex == Lex::Only);
    // "pf is the only one that does better with IPv6 than with IPv4"
    if is_only && clause.families.len() > 1 {
        return None;
    }
    let (first, second) = sides(sets, clause)?;
    let is_denied = clause.is_denied();
    let couples = couples(sets, &first, &second);
    let is_so = |(a, b): &(usize, usize)| {
        let (a, b) = (sets.all[*a].cell, sets.all[*b].cell);
        [(a.mean(), b.mean()), (a.median(), b.median())].into_iter().any(|(x, y)| {
            let goes = if is_up { x > y } else { x < y };
            let (large, small) = (x.max(y), x.min(y));
            let fits = percent.is_none_or(|(at, own)| {
                let both = [(large / small - 1.0) * 100.0, (1.0 - small / large) * 100.0];
                both.into_iter().any(|value| is_near(clause, at, own.value, own.step, value))
            });
            let is_ratio = factor.is_none_or(|(at, own)| {
                is_near(clause, at, own, 0.1 * own, if is_up { x / y } else { y / x })
            });
            goes && fits && is_ratio
        })
    };
    let each: Vec<bool> = couples.iter().map(|two| is_so(two) != is_denied).collect();
    let data = || sets.levels(&couples);
    if is_only {
        return only(sets, clause, (&first, &second), is_up, data);
    }
    let verdict = PlainVerdict::of_each(&each, clause.is_of_all(), data)?;
    let is_unproven = |(a, b): &(usize, usize)| sets.is_proven(*a, *b) == Some(false);
    match verdict {
        PlainVerdict::Holds if couples.iter().any(is_unproven) => {
            Some(PlainVerdict::Doubtful(data()))
        }
        other => Some(other),
    }
}

/// "pf and ipf are both faster in stateless mode": than in the other.
fn in_a_state(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let (at, is_up) = clause.words.iter().enumerate().find_map(|(at, word)| match word {
        Word::Lex(Lex::Better(own)) => Some((at, *own)),
        _ => None,
    })?;
    if !clause.amounts().is_empty()
        || factor(clause).is_some()
        || clause.has(|lex| lex == Lex::Only)
    {
        return None;
    }
    let state = clause.words[at..].iter().find_map(|word| match word {
        Word::Name(own) => Some(own),
        _ => None,
    })?;
    let subject = clause.named(sets, 0, at);
    // "the slower of the two is the one with it"
    if subject.is_empty() || clause.has(|lex| matches!(lex, Lex::From | Lex::To)) {
        return None;
    }
    let families = if subject.families.is_empty() { &clause.families } else { &subject.families };
    let own = subject.names.clone().unwrap_or_else(|| sets.places());
    let own = in_families(sets, own, families);
    let (first, second): (Places, Places) = own.iter().copied().partition(|at| state.contains(at));
    let couples = couples(sets, &first, &second);
    let is_denied = clause.is_denied();
    let is_so = |(a, b): &(usize, usize)| {
        let (a, b) = (sets.all[*a].cell, sets.all[*b].cell);
        let goes = |x: f64, y: f64| if is_up { x > y } else { x < y };
        (goes(a.mean(), b.mean()) || goes(a.median(), b.median())) != is_denied
    };
    let each: Vec<bool> = couples.iter().map(is_so).collect();
    let verdict = PlainVerdict::of_each(&each, clause.is_of_all(), || sets.levels(&couples))?;
    let is_unproven = |(a, b): &(usize, usize)| sets.is_proven(*a, *b) == Some(false);
    match verdict {
        PlainVerdict::Holds if couples.iter().any(is_unproven) => {
            Some(PlainVerdict::Doubtful(sets.levels(&couples)))
        }
        other => Some(other),
    }
}

/// "Only r368606 is slower than the first": it is, and no other.
fn only(
    sets: &Sets<'_>,
    clause: &Clause,
    (first, second): (&Places, &Places),
    is_up: bool,
    data: impl Fn() -> String,
) -> Option<PlainVerdict> {
    let own = in_scope(sets, clause, first);
    let goes = |a: usize, b: usize| {
        let (x, y) = (sets.all[a].cell.mean(), sets.all[b].cell.mean());
        if is_up { x > y } else { x < y }
    };
    let couples = couples(sets, &own, second);
    let each: Vec<bool> = couples.iter().map(|(a, b)| goes(*a, *b) == first.contains(a)).collect();
    PlainVerdict::of_each(&each, true, data)
}

fn in_scope(sets: &Sets<'_>, clause: &Clause, own: &Places) -> Places {
    let all = in_families(sets, sets.places(), &clause.families);
    let families: BTreeSet<_> = own.iter().map(|at| sets.all[*at].family()).collect();
    all.into_iter().filter(|at| families.contains(&sets.all[*at].family())).collect()
}
