//! What is said to make no difference: "IPv6 is not affected by it", "ipfw remains unchanged", "A can't be told apart from
//! B".

use crate::lexicon::Lex;
use crate::sets::{Places, Sets};
use crate::sides::couples;
use crate::steps::{Step, shown, steps};
use crate::verdict::PlainVerdict;
use crate::words::{Clause, in_families};

/// What is smaller, in per cent, contradicts nobody who saw no difference.
const LEAST: f64 = 1.0;

pub(crate) fn check(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    if clause.has(|lex| lex == Lex::Told) {
        return Some(told(sets, clause).unwrap_or(PlainVerdict::Open));
    }
    let says_more = |lex| {
        !matches!(
            lex,
            Lex::Light
                | Lex::One
                | Lex::Thing
                | Lex::Patch
                | Lex::Patched
                | Lex::Unpatched
                | Lex::Base
                | Lex::Last
                | Lex::First
                | Lex::Firewall
                | Lex::With
                | Lex::Stays
                | Lex::No
                | Lex::Much
                | Lex::Touched(false)
        )
    };
    let is_of_touch = clause.has(|lex| lex == Lex::Touched(false));
    // "not much affected" is a matter of taste
    let is_soft = clause.has(|lex| lex == Lex::Much);
    if !is_of_touch || !clause.is_denied() || is_soft || clause.has(says_more) {
        return None;
    }
    if !clause.amounts().is_empty() || clause.families.len() > 1 || sets.facts.is_of_settings() {
        return None;
    }
    let all = steps(sets, &clause.scope(sets));
    let untouched: Vec<bool> = all.iter().map(|step| !is_seen(step)).collect();
    let verdict = PlainVerdict::of_each(&untouched, false, || shown(sets, &all))?;
    // what is not proven is not shown to be nothing
    match verdict {
        PlainVerdict::Holds if all.iter().any(|step| step.percent.abs() > LEAST) => {
            Some(PlainVerdict::Open)
        }
        other => Some(other),
    }
}

/// Proven, and large enough to be seen.
fn is_seen(step: &Step) -> bool {
    step.is_proven && step.percent.abs() > LEAST
}

/// "A can't be distinguished from B", "A and B can't be told apart", by the changes that the page has of them.
fn told(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    if !clause.is_denied() || !clause.amounts().is_empty() {
        return None;
    }
    let joint = clause.at(|lex| matches!(lex, Lex::And | Lex::From | Lex::To));
    let side = |from: usize, to: usize| clause.named(sets, from, to).names;
    let sides = joint.and_then(|at| Some((side(0, at)?, side(at, clause.words.len())?)));
    let of_families = |own: Places| in_families(sets, own, &clause.families);
    let pairs = match sides {
        Some((one, other)) => {
            let (one, other) = (of_families(one), of_families(other));
            one.is_disjoint(&other).then(|| couples(sets, &one, &other))?
        }
        // "the results of both kernels": of the two of a block
        None if clause.families.len() < 2 && clause.has(|lex| lex == Lex::Both) => {
            let all = steps(sets, &clause.scope(sets));
            let pairs: Vec<(usize, usize)> = all.iter().map(|step| (step.base, step.at)).collect();
            (sets.facts.widest() == 2).then_some(pairs)?
        }
        None => return None,
    };
    let is_one = |(a, b): &(usize, usize)| {
        let (one, other) = (sets.all[*a].cell.mean(), sets.all[*b].cell.mean());
        let percent = 100.0 * (one.max(other) / one.min(other) - 1.0);
        Some(!sets.is_proven(*a, *b)? || percent <= LEAST)
    };
    let each: Option<Vec<bool>> = pairs.iter().map(is_one).collect();
    PlainVerdict::of_each(&each?, false, || sets.levels(&pairs))
}
