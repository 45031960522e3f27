//! What is said of changes: "VIMAGE helps ipfw the most", "never loses more than 30 %", "pf is the only one that gains".

use crate::against::{gap, more, times};
use crate::factor::factor;
use crate::lexicon::Lex;
use crate::of_each::of_each;
use crate::sets::{Places, Sets};
use crate::steps::{MEASURES, Step, shown, sign_of, signed, steps, variants};
use crate::verdict::PlainVerdict;
use crate::words::{Clause, Phrase, Unit, Word};

pub(crate) fn check(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let is_of_changes = |lex| matches!(lex, Lex::Moves(_) | Lex::Touched(_) | Lex::Gap);
    if !clause.has(is_of_changes) {
        return of_each(sets, clause);
    }
    // "costs one third of the forwarding speed" is a share of a level
    let is_share = factor(clause)
        .is_some_and(|(at, own)| own < 1.0 && sign_of(clause, at, clause.words.len()).is_none());
    if is_share {
        return None;
    }
    // of a setting the cost of one state is the gain of the other
    let is_of_settings = sets.facts.is_of_settings();
    match () {
        () if clause.has(|lex| lex == Lex::Gap) => gap(sets, clause),
        () if clause.has(|lex| lex == Lex::Than) && factor(clause).is_none() => more(sets, clause),
        () if is_of_settings => None,
        () if factor(clause).is_some() => bounded(sets, clause).or_else(|| times(sets, clause)),
        () => bounded(sets, clause)
            .or_else(|| only(sets, clause))
            .or_else(|| most(sets, clause))
            .or_else(|| of_each(sets, clause)),
    }
}

/// "VIMAGE helps ipfw the most", "pf is the least impacted".
fn most(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let is_most = clause.words.iter().find_map(|word| match word {
        // "the worst drop" is the largest
        Word::Lex(Lex::Most | Lex::Large | Lex::Best(_)) => Some(true),
        Word::Lex(Lex::Least | Lex::Less | Lex::Small) => Some(false),
        _ => None,
    })?;
    if !clause.amounts().is_empty() || clause.is_denied() {
        return None;
    }
    let sign = sign_of(clause, 0, clause.words.len())?;
    if clause.names.is_none() && clause.families.len() != 1 {
        return None;
    }
    let own = clause.scope(sets);
    let mine = steps(sets, &own);
    let rest: Places = sets.places().difference(&own).copied().collect();
    let rest = steps(sets, &rest);
    if mine.is_empty() || rest.is_empty() {
        return None;
    }
    // where all that changes is named none of it is the most
    let is_so = MEASURES.iter().any(|of| {
        let value = |step: &Step| signed(of(step), sign) * if is_most { 1.0 } else { -1.0 };
        let best = |all: &[Step]| all.iter().map(value).fold(f64::MIN, f64::max);
        best(&mine) >= best(&rest)
    });
    let all: Vec<Step> = mine.iter().chain(&rest).copied().collect();
    PlainVerdict::of_each(&[is_so], false, || shown(sets, &all))
}

/// "Never loses more than 30 %", "at least a quarter is lost everywhere".
fn bounded(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let amounts = clause.amounts();
    let [(at, own)] = amounts.as_slice() else { return None };
    let bound = match own.unit {
        Unit::Percent => own.value,
        Unit::Times if own.value < 1.0 => own.value * 100.0,
        _ => return None,
    };
    let others = |lex| {
        matches!(
            lex,
            Lex::Than | Lex::Gap | Lex::Run | Lex::Best(_) | Lex::Most | Lex::As | Lex::Only
        )
    };
    if clause.has(others) {
        return None;
    }
    let is_over = clause.words[..*at].iter().rev().find_map(|word| match word {
        Word::Lex(Lex::Over) => Some(true),
        Word::Lex(Lex::Under) => Some(false),
        _ => None,
    })?;
    let is_denied = clause.is_denied();
    let is_over = is_over != is_denied;
    let sign = sign_of(clause, 0, clause.words.len())?;
    let all = variants(sets, clause, &Phrase::default());
    let is_so = |step: &Step| {
        let value = signed(step.percent, sign);
        let rounded = if own.unit == Unit::Percent { 0.5 * own.step.min(1.0) } else { 0.5 };
        if is_over { value >= bound - rounded } else { value <= bound + rounded }
    };
    let each: Vec<bool> = all.iter().map(is_so).collect();
    let is_of_all = is_denied || clause.is_of_all() || clause.has(|lex| lex == Lex::Stays);
    PlainVerdict::of_each(&each, is_of_all, || shown(sets, &all))
}

/// "pf is the only one that gains": it does, and no other.
fn only(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    if !clause.has(|lex| lex == Lex::Only) || !clause.amounts().is_empty() || clause.is_denied() {
        return None;
    }
    let sign = sign_of(clause, 0, clause.words.len())?;
    let is_of_one = clause.families.len() == 1 || clause.names.is_some();
    if !is_of_one {
        return None;
    }
    let own = clause.scope(sets);
    let all = steps(sets, &sets.places());
    let mine = |step: &Step| own.contains(&step.at);
    if all.iter().all(mine) || !all.iter().any(mine) {
        return None;
    }
    let goes = |step: &Step| step.is_proven && (sign == 0.0 || step.percent * sign > 0.0);
    let each: Vec<bool> = all.iter().map(|step| goes(step) == mine(step)).collect();
    PlainVerdict::of_each(&each, true, || shown(sets, &all))
}
