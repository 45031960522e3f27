//! "IPv6 varies twice as much as IPv4", "less stable with the patch", "more than 5 % between runs".

use crate::lexicon::Lex;
use crate::sets::{Set, Sets};
use crate::sides::{couples, sides};
use crate::verdict::PlainVerdict;
use crate::words::{Clause, Unit, Word};

/// How runs can be said to scatter.
const MEASURES: [fn(&Set<'_>) -> f64; 4] = [
    |set| set.cell.sd(),
    |set| set.cell.sd() / set.cell.mean(),
    |set| set.cell.max() - set.cell.min(),
    |set| (set.cell.max() - set.cell.min()) / set.cell.mean(),
];

pub(crate) fn check(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let place = clause.at(|lex| matches!(lex, Lex::Varies(_) | Lex::Spread | Lex::Differ));
    // "both families differ by 5 %" is of no runs
    if clause.has(|lex| lex == Lex::Differ) && !clause.has(|lex| lex == Lex::Run) {
        return Some(PlainVerdict::Open);
    }
    let is_between_runs = clause.at(|lex| lex == Lex::Between).is_some_and(|at| {
        clause.words[at..].iter().take(4).any(|word| *word == Word::Lex(Lex::Run))
    });
    // "all within 50 Kpps"
    let is_within = clause.has(|lex| lex == Lex::Within) && clause.has(|lex| lex == Lex::Run);
    if place.is_none() && !is_between_runs && !is_within {
        return outlier(sets, clause);
    }
    // a table shows no runs
    if sets.all.iter().all(|set| set.cell.sd() == 0.0) {
        return None;
    }
    let read = outlier(sets, clause)
        .or_else(|| level(sets, clause))
        .or_else(|| place.and_then(|at| most(sets, clause, at)))
        .or_else(|| place.and_then(|at| compared(sets, clause, at)))
        .or_else(|| place.and_then(|at| vague(sets, clause, at)));
    Some(read.unwrap_or(PlainVerdict::Open))
}

/// "Varies by more than 5 %".
fn level(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let amounts = clause.amounts();
    let [(at, own)] = amounts.as_slice() else { return None };
    let is_rate = own.unit == Unit::Rate;
    if !is_rate && own.unit != Unit::Percent || clause.has(|lex| matches!(lex, Lex::Moves(_))) {
        return None;
    }
    let is_over = clause.words[..*at].iter().rev().find_map(|word| match word {
        Word::Lex(Lex::Over) => Some(true),
        Word::Lex(Lex::Under | Lex::Within) => Some(false),
        _ => None,
    })?;
    let is_of_stable = clause.has(|lex| lex == Lex::Varies(false));
    // "not stable, more than 5 %" denies no number
    let is_over = is_over != (clause.is_denied() && !is_of_stable);
    let own_sets: Vec<&Set<'_>> = clause.scope(sets).into_iter().map(|at| &sets.all[at]).collect();
    let measures: [fn(&Set<'_>) -> f64; 2] =
        if is_rate { [MEASURES[0], MEASURES[2]] } else { [MEASURES[1], MEASURES[3]] };
    let scale = if is_rate { 1.0 } else { 100.0 };
    // what runs differ by is from the least to the most
    let measures = &measures[usize::from(clause.has(|lex| lex == Lex::Differ))..];
    let fits = |set: &&&Set<'_>| measures.iter().any(|of| (scale * of(set) > own.value) == is_over);
    let each: Vec<bool> = own_sets.iter().map(|set| fits(&set)).collect();
    // some set that varies so much is enough, where none is named
    PlainVerdict::of_each(&each, clause.is_of_all(), || shown(&own_sets))
}

/// "One run is 8 % under the others".
fn outlier(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let amounts = clause.amounts();
    let [(at, own)] = amounts.as_slice() else { return None };
    let is_of_run = clause.words[..*at].contains(&Word::Lex(Lex::Run));
    let under = clause.words[*at..].iter().find_map(|word| match word {
        Word::Lex(Lex::Under | Lex::Better(false)) => Some(true),
        Word::Lex(Lex::Over | Lex::Better(true)) => Some(false),
        _ => None,
    })?;
    if own.unit != Unit::Percent || !is_of_run {
        return None;
    }
    let all: Vec<&Set<'_>> = clause.scope(sets).into_iter().map(|at| &sets.all[at]).collect();
    let is_it = |set: &&Set<'_>| {
        let end = if under { set.cell.min() } else { set.cell.max() };
        let off = |middle: f64| (100.0 * (end / middle - 1.0)).abs();
        [set.cell.median(), set.cell.mean()]
            .into_iter()
            .any(|own_middle| (off(own_middle) - own.value).abs() <= own.step)
    };
    match all.iter().any(is_it) {
        true => Some(PlainVerdict::Holds),
        false => Some(PlainVerdict::Doubtful(shown(&all))),
    }
}

/// Whether what is said of it is that it scatters more.
fn sign(clause: &Clause, at: usize) -> bool {
    !clause.is(at, Lex::Varies(false))
}

/// "The most stable".
fn most(sets: &Sets<'_>, clause: &Clause, at: usize) -> Option<PlainVerdict> {
    let before = clause.words[..at].iter().rev().take(3);
    let is_most = before.clone().find_map(|word| match word {
        Word::Lex(Lex::Most) => Some(true),
        Word::Lex(Lex::Least) => Some(false),
        _ => None,
    });
    let is_most = is_most? == sign(clause, at);
    if clause.is_denied() || clause.has(|lex| lex == Lex::Than) {
        return None;
    }
    let own = clause.names.as_ref()?;
    let subject = clause.scope(sets);
    let groups: std::collections::BTreeSet<_> =
        subject.iter().map(|at| sets.all[*at].family()).collect();
    let mut each = Vec::new();
    for family in groups {
        let all: Vec<usize> =
            sets.places().into_iter().filter(|at| sets.all[*at].family() == family).collect();
        let rest = all.iter().filter(|at| !own.contains(at));
        let is_it = MEASURES.iter().any(|of| {
            let value = |at: &usize| of(&sets.all[*at]);
            let mine = subject.iter().filter(|at| sets.all[**at].family() == family).map(value);
            let mine = mine.fold(if is_most { 0.0 } else { f64::INFINITY }, |a, b| {
                if is_most { a.max(b) } else { a.min(b) }
            });
            rest.clone().all(|at| (value(at) > mine) != is_most)
        });
        if rest.clone().next().is_some() {
            each.push(is_it);
        }
    }
    let all: Vec<&Set<'_>> = sets.all.iter().collect();
    PlainVerdict::of_each(&each, false, || shown(&all))
}

/// "Varies more than", "is less stable", "varies twice as much as".
fn compared(sets: &Sets<'_>, clause: &Clause, at: usize) -> Option<PlainVerdict> {
    let is_more = clause.at(|lex| matches!(lex, Lex::More | Lex::Less | Lex::Factor(_)));
    let step = match is_more.map(|at| &clause.words[at]) {
        Some(Word::Lex(Lex::Less)) => false,
        Some(_) => true,
        None if clause.has(|lex| matches!(lex, Lex::Large)) => true,
        None if clause.has(|lex| matches!(lex, Lex::Small)) => false,
        None => return None,
    };
    if !clause.amounts().is_empty() || clause.has(|lex| matches!(lex, Lex::Moves(_) | Lex::Gap)) {
        return None;
    }
    let is_up = (step == sign(clause, at)) != clause.is_denied();
    let factor = clause.words.iter().find_map(|word| match word {
        Word::Lex(Lex::Factor(own)) => Some(f64::from(*own)),
        _ => None,
    });
    let (first, second) = sides(sets, clause)?;
    let couples = couples(sets, &first, &second);
    let is_so = |of: &fn(&Set<'_>) -> f64, (a, b): &(usize, usize)| {
        let (x, y) = (of(&sets.all[*a]), of(&sets.all[*b]));
        let goes = if is_up { x > y } else { x < y };
        let ratio = if is_up { x / y } else { y / x };
        goes && factor.is_none_or(|own| (0.65 * own..1.6 * own).contains(&ratio))
    };
    let each: Vec<bool> =
        couples.iter().map(|two| MEASURES.iter().any(|of| is_so(of, two))).collect();
    PlainVerdict::of_each(&each, clause.is_of_all(), || {
        let own: std::collections::BTreeSet<usize> =
            couples.iter().flat_map(|(a, b)| [*a, *b]).collect();
        shown(&own.iter().map(|at| &sets.all[*at]).collect::<Vec<_>>())
    })
}

/// "Very stable", "not stable": which only what is far from it contradicts.
fn vague(sets: &Sets<'_>, clause: &Clause, at: usize) -> Option<PlainVerdict> {
    let says = |lex| {
        !matches!(
            lex,
            Lex::Light
                | Lex::One
                | Lex::Thing
                | Lex::Run
                | Lex::Varies(_)
                | Lex::No
                | Lex::Much
                | Lex::And
                | Lex::All
                | Lex::With
                | Lex::Patch
                | Lex::Family
                | Lex::Both
        )
    };
    if clause.has(says) || !clause.amounts().is_empty() || clause.is(at, Lex::Spread) {
        return None;
    }
    let is_varying = sign(clause, at) != clause.is_denied();
    let own: Vec<&Set<'_>> = clause.scope(sets).into_iter().map(|at| &sets.all[at]).collect();
    let ranges: Vec<f64> = own.iter().map(|set| MEASURES[3](set)).collect();
    let fits = |range: &f64| if is_varying { *range > 0.02 } else { *range < 0.02 };
    let is_far = |range: &f64| if is_varying { *range < 0.005 } else { *range > 0.1 };
    match () {
        () if ranges.iter().all(fits) => Some(PlainVerdict::Holds),
        () if ranges.iter().all(is_far) => Some(PlainVerdict::Doubtful(shown(&own))),
        () => None,
    }
}

fn shown(all: &[&Set<'_>]) -> String {
    let one = |set: &&Set<'_>| {
        let cell = set.cell;
        format!("{}, standard deviation {:.0}", set.runs(), cell.sd())
    };
    all.iter().take(6).map(one).collect::<Vec<_>>().join("; ")
}
