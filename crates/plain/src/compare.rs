//! "IPv6 is faster than IPv4 in both cases", "all the kernels are slower than r368287", "almost twice as fast as".

use std::collections::BTreeSet;

use crate::lexicon::Lex;
use crate::sets::{Places, Sets};
use crate::verdict::PlainVerdict;
use crate::words::{Amount, Clause, Phrase, Unit, Word};

/// What is held against what: before "than", and behind it. What is named once is held against the rest of its block.
pub(crate) fn sides(sets: &Sets<'_>, clause: &Clause) -> Option<(Places, Places)> {
    // the second of "as ... as"
    let joint =
        clause.words.iter().rposition(|word| matches!(word, Word::Lex(Lex::Than | Lex::As)));
    let end = clause.words.len();
    let Some(joint) = joint else {
        // "the patch makes it more stable"
        let patched = || clause.has(|lex| lex == Lex::Patch).then(|| sets.patched(true));
        let own = &clause.names.clone().or_else(patched)?;
        let first = crate::words::in_families(sets, own.clone(), &clause.families);
        let rest: Places = sets.places().difference(own).copied().collect();
        return Some((first, crate::words::in_families(sets, rest, &clause.families)));
    };
    let (mut one, other) = (clause.named(sets, 0, joint), clause.named(sets, joint, end));
    // "than one": one queue
    // "makes Xen 5.7 times as fast": as what is not said
    let is_open = clause.is(joint, Lex::As) || clause.has(|lex| lex == Lex::One);
    if other.is_empty() && is_open {
        return None;
    }
    // "pf is faster than ipfw on 12-head": both on it
    let names = |from: usize, to: usize| {
        let own = clause.words[from..to].iter();
        own.filter_map(|w| if let Word::Name(own) = w { Some(own) } else { None })
            .collect::<Vec<_>>()
    };
    if let (1, [_, .., last]) = (names(0, joint).len(), names(joint, end).as_slice()) {
        let both: Places =
            one.names.iter().flatten().copied().filter(|at| last.contains(at)).collect();
        let is_joined = clause.words[joint..].contains(&Word::Lex(Lex::And));
        if !both.is_empty() && !is_joined {
            one.names = Some(both);
        }
    }
    apart(sets, clause, one, other)
}

/// What two phrases name, each with what only the other says of both.
fn apart(sets: &Sets<'_>, clause: &Clause, one: Phrase, other: Phrase) -> Option<(Places, Places)> {
    let is_of_families =
        one.families.len() == 1 && other.families.len() == 1 && one.families != other.families;
    let (first, second) = match () {
        // "inet6 is slower than inet4 with r368606": both with it
        () if is_of_families => {
            let names = |own: &Phrase, rest: &Phrase| {
                own.names.clone().or_else(|| rest.names.clone()).or_else(|| clause.names.clone())
            };
            let (a, b) = (names(&one, &other), names(&other, &one));
            (
                Phrase { names: a, families: one.families },
                Phrase { names: b, families: other.families },
            )
        }
        () => {
            let families = match (one.families.is_empty(), other.families.is_empty()) {
                (false, _) => one.families.clone(),
                (true, false) => other.families.clone(),
                (true, true) => clause.families.clone(),
            };
            let names = other.names.clone();
            let rest = |own: &Places| sets.places().difference(own).copied().collect::<Places>();
            let (a, b) = match (one.names, names) {
                (Some(a), Some(b)) => (a, b),
                (Some(a), None) => (a.clone(), rest(&a)),
                (None, Some(b)) => (rest(&b), b),
                (None, None) => return None,
            };
            let of_second =
                if other.families.is_empty() { families.clone() } else { other.families };
            (Phrase { names: Some(a), families }, Phrase { names: Some(b), families: of_second })
        }
    };
    let (first, second) = (first.places(sets), second.places(sets));
    let is_apart = first.is_disjoint(&second);
    let first: Places = if is_apart { first } else { first.difference(&second).copied().collect() };
    (!first.is_empty() && !second.is_empty()).then_some((first, second))
}

/// Each of the first with those of the second that are called most like it.
pub(crate) fn couples(sets: &Sets<'_>, first: &Places, second: &Places) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for one in first {
        let others = || second.iter().copied().filter(|other| other != one);
        let Some(least) = others().map(|other| sets.distance(*one, other)).min() else { continue };
        let near = others().filter(|other| sets.distance(*one, *other) == least);
        found.extend(near.map(|other| (*one, other)));
    }
    found
}

pub(crate) fn check(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    share(sets, clause).or_else(|| alike(sets, clause)).or_else(|| ordered(sets, clause))
}

/// "Reaches two thirds of the forwarding speed", "costs one third of it", "divides it by two".
fn share(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
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
    PlainVerdict::of_each(&each, clause.is_of_all(), || levels(sets, &couples))
}

fn levels(sets: &Sets<'_>, couples: &[(usize, usize)]) -> String {
    let own: BTreeSet<usize> = couples.iter().flat_map(|(a, b)| [*a, *b]).collect();
    own.iter().take(6).map(|at| sets.all[*at].level()).collect::<Vec<_>>().join("; ")
}

/// "Both families are at the same speed", "as fast as".
fn alike(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
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
            Some(PlainVerdict::Fails(levels(sets, &couples)))
        }
        () if gaps.iter().any(|gap| !fits(gap)) => {
            Some(PlainVerdict::Doubtful(levels(sets, &couples)))
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
        crate::words::in_families(sets, own, &clause.families)
    };
    let (one, other) = (within(one), within(other));
    (one.is_disjoint(&other)).then_some((one, other))
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
    let data = || {
        let own: BTreeSet<usize> = couples.iter().flat_map(|(a, b)| [*a, *b]).collect();
        own.iter().take(6).map(|at| sets.all[*at].level()).collect::<Vec<_>>().join("; ")
    };
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
    let own = crate::words::in_families(sets, own, families);
    let (first, second): (Places, Places) = own.iter().copied().partition(|at| state.contains(at));
    let couples = couples(sets, &first, &second);
    let is_denied = clause.is_denied();
    let is_so = |(a, b): &(usize, usize)| {
        let (a, b) = (sets.all[*a].cell, sets.all[*b].cell);
        let goes = |x: f64, y: f64| if is_up { x > y } else { x < y };
        (goes(a.mean(), b.mean()) || goes(a.median(), b.median())) != is_denied
    };
    let each: Vec<bool> = couples.iter().map(is_so).collect();
    let verdict = PlainVerdict::of_each(&each, clause.is_of_all(), || levels(sets, &couples))?;
    let is_unproven = |(a, b): &(usize, usize)| sets.is_proven(*a, *b) == Some(false);
    match verdict {
        PlainVerdict::Holds if couples.iter().any(is_unproven) => {
            Some(PlainVerdict::Doubtful(levels(sets, &couples)))
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
    let all = crate::words::in_families(sets, sets.places(), &clause.families);
    let families: BTreeSet<_> = own.iter().map(|at| sets.all[*at].family()).collect();
    all.into_iter().filter(|at| families.contains(&sets.all[*at].family())).collect()
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
