//! "Twice", "1.8 times", "one third of it": a factor, and a share of a level.

use crate::lexicon::Lex;
use crate::sets::Sets;
use crate::sides::{apart, couples};
use crate::verdict::PlainVerdict;
use crate::words::{Clause, Unit, Word};

/// "Reaches two thirds of the forwarding speed", "costs one third of it", "divides it by two".
pub(crate) fn share(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let others = |lex| {
        matches!(
            lex,
            Lex::Than
                | Lex::As
                | Lex::Gap
                | Lex::Most
                | Lex::Least
                | Lex::Best(_)
                | Lex::Moves(true)
                | Lex::Better(_)
                | Lex::Run
        )
    };
    if clause.has(others) || clause.is_denied() {
        return None;
    }
    let divides = clause.at(|lex| lex == Lex::Divides);
    let (at, own, joint) = match divides {
        Some(verb) => {
            let number =
                clause.words.iter().enumerate().skip(verb).find_map(|(at, word)| match word {
                    Word::Amount(own) if matches!(own.unit, Unit::Plain | Unit::Times) => {
                        Some((at, own.value))
                    }
                    Word::Lex(Lex::Both) => Some((at, 2.0)),
                    _ => None,
                })?;
            (number.0, 1.0 / number.1, verb)
        }
        None => {
            let (at, own) = factor(clause).filter(|(_, own)| *own < 1.0)?;
            (at, own, at)
        }
    };
    let (one, other) =
        (clause.named(sets, 0, joint), clause.named(sets, joint, clause.words.len()));
    if one.names.is_none() || other.names.is_none() && divides.is_none() {
        return None;
    }
    let is_loss = divides.is_none() && clause.has(|lex| lex == Lex::Moves(false));
    let (first, second) = apart(sets, clause, one, other)?;
    let couples = couples(sets, &first, &second);
    let is_so = |(a, b): &(usize, usize)| {
        let ratio = sets.all[*a].cell.mean() / sets.all[*b].cell.mean();
        match () {
            () if divides.is_some() => is_near(clause, at, 1.0 / own, 0.2, 1.0 / ratio),
            () if is_loss => is_near(clause, at, own, 0.1 * own, 1.0 - ratio),
            () => is_near(clause, at, own, 0.1 * own, ratio),
        }
    };
    let each: Vec<bool> = couples.iter().map(is_so).collect();
    PlainVerdict::of_each(&each, clause.is_of_all(), || sets.levels(&couples))
}

/// "Twice", "1.8 times", and where it stands.
pub(crate) fn factor(clause: &Clause) -> Option<(usize, f64)> {
    let mut all = clause.words.iter().enumerate().filter_map(|(at, word)| match word {
        Word::Lex(Lex::Factor(own)) => Some((at, f64::from(*own))),
        Word::Lex(Lex::Half) => Some((at, 0.5)),
        Word::Amount(own) if own.unit == Unit::Times => Some((at, own.value)),
        _ => None,
    });
    let first = all.next();
    if all.next().is_some() { None } else { first }
}

/// Whether a figure is a number as it is written: about it, above it, below it.
pub(crate) fn is_near(clause: &Clause, at: usize, own: f64, step: f64, value: f64) -> bool {
    let before = clause.words[at.saturating_sub(3)..at].iter();
    let over = before.clone().any(|word| *word == Word::Lex(Lex::Over));
    let under = before.clone().any(|word| *word == Word::Lex(Lex::Under));
    let soft = before.clone().any(|word| *word == Word::Lex(Lex::Little));
    let more = before.clone().any(|word| *word == Word::Lex(Lex::More));
    match () {
        () if over => value >= own * 0.98,
        () if under => value <= own * 1.02,
        () if soft || more => (0.85 * own - 0.5 * step..=1.18 * own + 0.5 * step).contains(&value),
        () => (value - own).abs() <= (0.6 * step).max(0.07 * own),
    }
}
