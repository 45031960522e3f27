//! The changes of a page's sets from the bases of their blocks, and what a phrase says of them.

use crate::lexicon::Lex;
use crate::sets::{Places, Sets};
use crate::words::{Clause, Phrase, Word, in_families};

/// A change from the base of a block to another set of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) base: usize,
    pub(crate) at: usize,
    pub(crate) percent: f64,
    pub(crate) rate: f64,
    pub(crate) is_proven: bool,
}

pub(crate) fn steps(sets: &Sets<'_>, own: &Places) -> Vec<Step> {
    let steps = |at: &usize| {
        let at = *at;
        let step = move |base: usize| {
            let (a, b) = (sets.all[base].cell, sets.all[at].cell);
            Step {
                base,
                at,
                percent: (b.mean() / a.mean() - 1.0) * 100.0,
                rate: b.mean() - a.mean(),
                is_proven: sets.is_proven(base, at).unwrap_or(true),
            }
        };
        sets.bases_of(at).into_iter().map(step)
    };
    own.iter().flat_map(steps).collect()
}

pub(crate) fn shown(sets: &Sets<'_>, all: &[Step]) -> String {
    let one = |step: &Step| {
        let proof = if step.is_proven { "" } else { ", not proven" };
        format!(
            "'{}' against '{}': {:+.2} % ({:+.0} packets/s){proof}",
            sets.all[step.at].cell.legend, sets.all[step.base].cell.legend, step.percent, step.rate
        )
    };
    all.iter().take(6).map(one).collect::<Vec<_>>().join("; ")
}

/// The variants that a phrase names, by what it says beside those that it names.
pub(crate) fn variants(sets: &Sets<'_>, clause: &Clause, own: &Phrase) -> Vec<Step> {
    let names = own.names.clone().or_else(|| clause.names.clone());
    let families = if own.families.is_empty() { &clause.families } else { &own.families };
    let all = in_families(sets, names.unwrap_or_else(|| sets.places()), families);
    let found = steps(sets, &all);
    if !found.is_empty() {
        return found;
    }
    // what names bases only means what is done to them
    steps(sets, &in_families(sets, sets.places(), families))
}

pub(crate) fn sign_of(clause: &Clause, from: usize, to: usize) -> Option<f64> {
    clause.words[from..to].iter().find_map(|word| match word {
        Word::Lex(Lex::Moves(own)) => Some(if *own { 1.0 } else { -1.0 }),
        Word::Lex(Lex::Touched(true)) => Some(1.0),
        Word::Lex(Lex::Touched(false)) => Some(0.0),
        _ => None,
    })
}

pub(crate) const MEASURES: [fn(&Step) -> f64; 2] = [|step| step.percent, |step| step.rate];

/// As much as a sign wants of it: a loss as a loss, what is impacted whichever way.
pub(crate) fn signed(value: f64, sign: f64) -> f64 {
    if sign == 0.0 { value.abs() } else { value * sign }
}
