//! "Never above 820 Kpps", "all runs are over 5.8 Mpps", "stays between 700 and 750 Kpps".

use crate::lexicon::Lex;
use crate::sets::{Set, Sets};
use crate::verdict::PlainVerdict;
use crate::words::{Amount, Clause, Unit, Word};

/// How far a figure may lie beyond a bound that is written with so many digits.
const ROUNDED: f64 = 0.0005;

/// Which side of a number something is said to be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Over,
    Under,
    /// At least once.
    Reached,
}

pub(crate) fn check(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let amounts = clause.amounts();
    match amounts.as_slice() {
        [(at, own)] if own.unit == Unit::Rate => of_one(sets, clause, *at, own),
        [(from, low), (to, high)] if low.unit == Unit::Rate && high.unit == Unit::Rate => {
            let is_range = clause.at(|lex| lex == Lex::Between).is_some_and(|at| at < *from)
                && clause.words[*from..*to].contains(&Word::Lex(Lex::And));
            is_range.then(|| between(sets, clause, low.value, high.value)).flatten()
        }
        _ => None,
    }
}

fn of_one(sets: &Sets<'_>, clause: &Clause, at: usize, own: &Amount) -> Option<PlainVerdict> {
    let bound = clause.words[..at].iter().rev().find_map(|word| match word {
        Word::Lex(Lex::Over) => Some(Side::Over),
        Word::Lex(Lex::Under) => Some(Side::Under),
        Word::Lex(Lex::Reach) => Some(Side::Reached),
        _ => None,
    })?;
    let moves = |lex| {
        matches!(
            lex,
            Lex::Moves(_) | Lex::Gap | Lex::Than | Lex::Best(_) | Lex::Half | Lex::Factor(_)
        )
    };
    if clause.has(moves) {
        return None;
    }
    let is_denied = clause.is_denied();
    let side = match (bound, is_denied) {
        (Side::Over | Side::Reached, true) => Side::Under,
        (Side::Under, true) => Side::Over,
        (side, false) => side,
    };
    // "all runs reach 12 Mpps": the slowest one, too
    let is_of_each_run = clause.has(|lex| lex == Lex::Run) && clause.has(|lex| lex == Lex::All);
    let side = match side {
        Side::Reached if is_of_each_run => Side::Over,
        side => side,
    };
    let is_of_things = is_of_things(clause);
    let is_of_runs = is_denied
        || clause.is_of_all() && !is_of_things
        || clause.has(|lex| matches!(lex, Lex::Run | Lex::Stays));
    let own_sets: Vec<&Set<'_>> = clause.scope(sets).into_iter().map(|at| &sets.all[at]).collect();
    let fits = |value: f64| match side {
        Side::Over | Side::Reached => value >= own.value * (1.0 - ROUNDED),
        Side::Under => value <= own.value * (1.0 + ROUNDED),
    };
    // of the level it is so where mean or median is
    let level = |set: &Set<'_>| fits(set.cell.mean()) || fits(set.cell.median());
    let runs = |set: &Set<'_>| match side {
        Side::Over => fits(set.cell.min()),
        Side::Under | Side::Reached => fits(set.cell.max()),
    };
    let shown = || {
        let all: Vec<String> = own_sets.iter().take(5).map(|set| set.runs()).collect();
        all.join("; ")
    };
    let each: Vec<bool> = own_sets.iter().map(|set| runs(set)).collect();
    if is_of_runs || side == Side::Reached {
        let is_of_all = is_of_runs && (side != Side::Reached || clause.is_of_all());
        let verdict = PlainVerdict::of_each(&each, is_of_all, shown)?;
        // "reaches 702 Kpps" may be that number itself
        let is_number = side == Side::Reached && !clause.is_of_all();
        return Some(if is_number { PlainVerdict::Open } else { verdict });
    }
    let levels: Vec<bool> = own_sets.iter().map(|set| level(set)).collect();
    // "stays under", of more than one set: of each
    let is_of_all = is_of_things
        || clause.names.is_some()
        || clause.families.len() == 1 && sets.facts.widest() > 2;
    match PlainVerdict::of_each(&levels, is_of_all, shown)? {
        PlainVerdict::Doubtful(_) => None,
        // what it is said of is on that side by its mean, and some run is not
        PlainVerdict::Holds if each.iter().all(|own| *own) => Some(PlainVerdict::Holds),
        PlainVerdict::Holds => Some(PlainVerdict::Doubtful(shown())),
        other => Some(other),
    }
}

/// "All kernels", "both diffs": of each as a whole, and not of each of its runs.
fn is_of_things(clause: &Clause) -> bool {
    let all = clause.at(|lex| matches!(lex, Lex::All | Lex::Both));
    let next = all
        .and_then(|at| clause.words[at + 1..].iter().find(|word| **word != Word::Lex(Lex::Light)));
    let is_thing = match next {
        Some(Word::Name(_) | Word::Family(_)) => true,
        Some(Word::Lex(lex)) => {
            matches!(lex, Lex::Thing | Lex::Family | Lex::Firewall | Lex::Both)
        }
        _ => false,
    };
    is_thing && !clause.has(|lex| lex == Lex::Run)
}

/// "Stays between 700 and 750 Kpps": all of them do.
fn between(sets: &Sets<'_>, clause: &Clause, low: f64, high: f64) -> Option<PlainVerdict> {
    if clause.has(|lex| matches!(lex, Lex::Moves(_) | Lex::Gap)) {
        return None;
    }
    let own = clause.scope(sets);
    let fits = |value: f64| (low * (1.0 - ROUNDED)..=high * (1.0 + ROUNDED)).contains(&value);
    let all: Vec<&Set<'_>> = own.into_iter().map(|at| &sets.all[at]).collect();
    let each: Vec<bool> =
        all.iter().map(|set| fits(set.cell.mean()) || fits(set.cell.median())).collect();
    PlainVerdict::of_each(&each, true, || {
        let shown: Vec<String> = all.iter().take(5).map(|set| set.level()).collect();
        shown.join("; ")
    })
}
