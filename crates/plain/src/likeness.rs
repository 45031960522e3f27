//! "Both families are at the same speed", "pf and ipfw are equal".

use crate::lexicon::Lex;
use crate::sets::{Places, Sets};
use crate::sides::couples;
use crate::verdict::PlainVerdict;
use crate::words::{Clause, Unit, Word, in_families};

/// "Both families are at the same speed", "as fast as".
pub(crate) fn alike(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let others = |lex| {
        !matches!(
            lex,
            Lex::Same
                | Lex::Light
                | Lex::One
                | Lex::Thing
                | Lex::Family
                | Lex::Both
                | Lex::And
                | Lex::Little
                | Lex::With
                | Lex::Between
                | Lex::Patch
                | Lex::All
        )
    };
    if !clause.has(|lex| lex == Lex::Same) || clause.has(others) {
        return None;
    }
    let is_soft = clause.has(|lex| lex == Lex::Little);
    let percent = match clause.amounts().as_slice() {
        [] => None,
        [(_, own)] if own.unit == Unit::Percent => Some(*own),
        _ => return None,
    };
    let families: Vec<_> = match clause.families.len() {
        2 => clause.families.iter().copied().collect(),
        0 if clause.has(|lex| lex == Lex::Family) => sets.facts.families().into_iter().collect(),
        _ => Vec::new(),
    };
    let couples = match families.as_slice() {
        [one, other] => {
            let all = clause.names.clone().unwrap_or_else(|| sets.places());
            couples(sets, &sets.of_family(&all, *one), &sets.of_family(&all, *other))
        }
        _ => {
            let (one, other) = joined(sets, clause)?;
            couples(sets, &one, &other)
        }
    };
    let apart = |(a, b): &(usize, usize)| {
        let (a, b) = (sets.all[*a].cell.mean(), sets.all[*b].cell.mean());
        100.0 * (a.max(b) / a.min(b) - 1.0)
    };
    let gaps: Vec<f64> = couples.iter().map(apart).collect();
    let near = if is_soft { 3.0 } else { 1.5 };
    let fits = |gap: &f64| match percent {
        Some(own) => (gap - own.value).abs() <= 1.5 * own.step,
        None => *gap <= near,
    };
    match () {
        () if gaps.is_empty() => None,
        () if gaps.iter().all(fits) => Some(PlainVerdict::Holds),
        () if gaps.iter().all(|gap| *gap > 4.0 * near) => {
            Some(PlainVerdict::Fails(sets.levels(&couples)))
        }
        () if gaps.iter().any(|gap| !fits(gap)) => {
            Some(PlainVerdict::Doubtful(sets.levels(&couples)))
        }
        () => None,
    }
}

/// "pf and ipfw", each with what else is named.
fn joined(sets: &Sets<'_>, clause: &Clause) -> Option<(Places, Places)> {
    let and = clause.at(|lex| lex == Lex::And)?;
    let name = |at: usize| match clause.words.get(at) {
        Some(Word::Name(own)) => Some(own),
        _ => None,
    };
    let (one, other) = (name(and.checked_sub(1)?)?, name(and + 1)?);
    let rest = (0..clause.words.len()).filter(|at| *at + 1 != and && *at != and + 1);
    let within = |own: &Places| {
        let own = rest.clone().filter_map(name).fold(own.clone(), |own, more| {
            let both: Places = &own & more;
            if both.is_empty() { own } else { both }
        });
        in_families(sets, own, &clause.families)
    };
    let (one, other) = (within(one), within(other));
    (one.is_disjoint(&other)).then_some((one, other))
}
