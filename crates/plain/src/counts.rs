//! How many of all changes go which way: "two of the three configurations are slower with it".

use crate::lexicon::Lex;
use crate::sets::Sets;
use crate::steps::{shown, steps};
use crate::verdict::PlainVerdict;
use crate::words::{Clause, Unit, Word, in_families};

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
    let read = of_runs(sets, clause, &counts).or_else(|| of_changes(sets, clause, &counts));
    Some(read.unwrap_or(PlainVerdict::Open))
}

/// "Only one of the five runs stayed under 1.8 Mpps".
fn of_runs(sets: &Sets<'_>, clause: &Clause, counts: &[(usize, usize)]) -> Option<PlainVerdict> {
    let amounts = clause.amounts();
    let ([(some, of)], [(at, own)]) = (counts, amounts.as_slice()) else { return None };
    let says_more = |lex| {
        !matches!(
            lex,
            Lex::Light
                | Lex::Thing
                | Lex::Run
                | Lex::Patched
                | Lex::Unpatched
                | Lex::Over
                | Lex::Under
                | Lex::Stays
                | Lex::With
                | Lex::Only
        )
    };
    if own.unit != Unit::Rate || !clause.has(|lex| lex == Lex::Run) || clause.has(says_more) {
        return None;
    }
    let is_over = clause.words[..*at].iter().rev().find_map(|word| match word {
        Word::Lex(Lex::Over) => Some(true),
        Word::Lex(Lex::Under) => Some(false),
        _ => None,
    })?;
    let all: Vec<usize> = clause
        .scope(sets)
        .into_iter()
        .filter(|at| sets.all[*at].cell.runs as usize == *of)
        .collect();
    let fits = |value: f64| (value >= own.value) == is_over;
    let is_so = |at: &usize| {
        let cell = sets.all[*at].cell;
        // the least and the most are two of them
        let ends = [cell.min(), cell.max()].into_iter().filter(|end| fits(*end)).count();
        let many = match (cell.all.len() == *of, ends) {
            (true, _) => cell.all.iter().filter(|value| fits(**value)).count(),
            (false, 0) => 0,
            (false, 2) => *of,
            (false, _) => return (1..*of).contains(some),
        };
        many == *some
    };
    let each: Vec<bool> = all.iter().map(is_so).collect();
    let shown = || all.iter().take(5).map(|at| sets.all[*at].runs()).collect::<Vec<_>>().join("; ");
    PlainVerdict::of_each(&each, false, shown)
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
