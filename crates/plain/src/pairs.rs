//! Of single runs: "no run of D11476 reaches the slowest one of the base", "the best run with 4096 is above the worst
//! one with 2048".

use std::collections::BTreeSet;

use crate::factor::is_near;
use crate::lexicon::Lex;
use crate::sets::{Set, Sets};
use crate::sides::couples;
use crate::verdict::PlainVerdict;
use crate::words::{Clause, Phrase, Unit, Word};

pub(crate) fn check(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let amounts = clause.amounts();
    let percent = match amounts.as_slice() {
        [] => None,
        [(at, own)] if own.unit == Unit::Percent => Some((*at, *own)),
        _ => return None,
    };
    if !clause.has(|lex| lex == Lex::Run) {
        return None;
    }
    let end = |from: usize, to: usize| {
        clause.words[from..to].iter().find_map(|word| match word {
            Word::Lex(Lex::Best(own)) => Some(*own),
            _ => None,
        })
    };
    let (at, is_over) = clause.words.iter().enumerate().find_map(|(at, word)| match word {
        Word::Lex(Lex::Over | Lex::Reach | Lex::Better(true)) => Some((at, true)),
        Word::Lex(Lex::Under | Lex::Better(false)) => Some((at, false)),
        _ => None,
    })?;
    let last = clause.words.len();
    let is_denied = clause.is_denied();
    let first = end(0, at);
    // "all runs are faster than those without": than the fastest of them
    let has_all = clause.words[..at].contains(&Word::Lex(Lex::All))
        && clause.words[..at].contains(&Word::Lex(Lex::Run))
        && clause.has(|lex| lex == Lex::Than);
    let second = end(at, last).or_else(|| (has_all && !is_denied).then_some(is_over))?;
    // "all runs are above ..": the slowest is; "no run reaches ..": the fastest does not
    let is_each = clause.words[..at].contains(&Word::Lex(Lex::All)) || is_denied;
    let first = match first {
        Some(own) => own,
        None if is_each => is_over == is_denied,
        None => return None,
    };
    let (one, other) = (clause.named(sets, 0, at), clause.named(sets, at, last));
    let one = with_rest(one, &other);
    let (firsts, mut seconds) = (one.places(sets), with_rest(other, &one).places(sets));
    if seconds == firsts || seconds.is_superset(&firsts) {
        seconds = seconds.difference(&firsts).copied().collect();
    }
    let value =
        |set: &Set<'_>, is_best: bool| if is_best { set.cell.max() } else { set.cell.min() };
    let couples = couples(sets, &firsts, &seconds);
    let is_so = |(a, b): &(usize, usize)| {
        let (x, y) = (value(&sets.all[*a], first), value(&sets.all[*b], second));
        let apart = (100.0 * (x / y - 1.0)).abs();
        let fits = percent.is_none_or(|(at, own)| is_near(clause, at, own.value, own.step, apart));
        ((if is_over { x >= y } else { x <= y }) != is_denied) && fits
    };
    let each: Vec<bool> = couples.iter().map(is_so).collect();
    PlainVerdict::of_each(&each, false, || {
        let own: BTreeSet<usize> = couples.iter().flat_map(|(a, b)| [*a, *b]).collect();
        own.iter().take(6).map(|at| sets.all[*at].runs()).collect::<Vec<_>>().join("; ")
    })
}

/// What a phrase does not name it has from the other one, but for what these differ in.
fn with_rest(own: Phrase, other: &Phrase) -> Phrase {
    let families = if own.families.is_empty() { other.families.clone() } else { own.families };
    Phrase { names: own.names, families }
}
