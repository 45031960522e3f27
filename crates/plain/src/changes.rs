//! Changes held against each other: "inet6 gains more than inet4", "the gap grows", "VIMAGE helps ipfw the most", "both
//! gain", "what IPv4 wins is twice what IPv6 loses".

use crate::factor::{factor, is_near};
use crate::lexicon::Lex;
use crate::sets::{Places, Sets};
use crate::verdict::PlainVerdict;
use crate::words::{Clause, Phrase, Unit, Word, in_families};

/// What is smaller, in per cent, contradicts nobody who saw no impact.
const LEAST_IMPACT: f64 = 1.0;

/// A change from the base of a block to another set of it.
#[derive(Clone, Copy, Debug)]
struct Step {
    base: usize,
    at: usize,
    percent: f64,
    rate: f64,
    is_proven: bool,
}

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

fn steps(sets: &Sets<'_>, own: &Places) -> Vec<Step> {
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

fn shown(sets: &Sets<'_>, all: &[Step]) -> String {
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
fn variants(sets: &Sets<'_>, clause: &Clause, own: &Phrase) -> Vec<Step> {
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

fn sign_of(clause: &Clause, from: usize, to: usize) -> Option<f64> {
    clause.words[from..to].iter().find_map(|word| match word {
        Word::Lex(Lex::Moves(own)) => Some(if *own { 1.0 } else { -1.0 }),
        Word::Lex(Lex::Touched(true)) => Some(1.0),
        Word::Lex(Lex::Touched(false)) => Some(0.0),
        _ => None,
    })
}

const MEASURES: [fn(&Step) -> f64; 2] = [|step| step.percent, |step| step.rate];

/// As much as a sign wants of it: a loss as a loss, what is impacted whichever way.
fn signed(value: f64, sign: f64) -> f64 {
    if sign == 0.0 { value.abs() } else { value * sign }
}

/// Changes of two phrases that differ in nothing but what these name.
fn couples(sets: &Sets<'_>, first: &[Step], second: &[Step]) -> Vec<(Step, Step)> {
    let mut found = Vec::new();
    for a in first {
        let others = || second.iter().filter(|b| b.at != a.at);
        let Some(least) = others().map(|b| sets.distance(a.at, b.at)).min() else { continue };
        let near = others().filter(|b| sets.distance(a.at, b.at) == least);
        found.extend(near.map(|b| (*a, *b)));
    }
    found
}

/// "IPv6 gains more than IPv4".
fn more(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let than = clause.at(|lex| lex == Lex::Than)?;
    let last = clause.words.len();
    let is_more = clause.words[..than].iter().rev().find_map(|word| match word {
        Word::Lex(Lex::More | Lex::Large | Lex::Better(true)) => Some(true),
        Word::Lex(Lex::Less | Lex::Small | Lex::Better(false)) => Some(false),
        _ => None,
    })?;
    if !clause.amounts().iter().all(|(_, own)| own.unit == Unit::Percent && own.value == 0.0) {
        return None;
    }
    let sign = sign_of(clause, 0, than)?;
    let sign = if sets.facts.is_of_settings() { 0.0 } else { sign };
    let other_sign = sign_of(clause, than, last).filter(|_| sign != 0.0).unwrap_or(sign);
    let (one, other) = (clause.named(sets, 0, than), clause.named(sets, than, last));
    if one.is_empty() || other.is_empty() {
        return None;
    }
    // "with pf, inet4 lost more than inet6": of both
    let is_of_families = one.families.len() == 1 && other.families.len() == 1;
    let other = match is_of_families && other.names.is_none() {
        true => Phrase { names: one.names.clone(), ..other },
        false => other,
    };
    let (first, second) = (variants(sets, clause, &one), variants(sets, clause, &other));
    let couples = couples(sets, &first, &second);
    let is_denied = clause.is_denied();
    let is_so = |(a, b): &(Step, Step)| {
        MEASURES.iter().any(|of| {
            let (x, y) = (signed(of(a), sign), signed(of(b), other_sign));
            ((x > y) == is_more) != is_denied
        })
    };
    let each: Vec<bool> = couples.iter().map(is_so).collect();
    let all: Vec<Step> = first.iter().chain(&second).copied().collect();
    PlainVerdict::of_each(&each, clause.is_of_all(), || shown(sets, &all))
}

/// "What IPv4 wins is twice what IPv6 loses".
fn times(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let (at, own) = factor(clause)?;
    let last = clause.words.len();
    let (one, other) = (clause.named(sets, 0, at), clause.named(sets, at, last));
    if one.is_empty() || other.is_empty() {
        return None;
    }
    sign_of(clause, 0, last)?;
    let (first, second) = (variants(sets, clause, &one), variants(sets, clause, &other));
    let couples = couples(sets, &first, &second);
    let is_so = |(a, b): &(Step, Step)| {
        MEASURES.iter().any(|of| {
            let ratio = (of(a) / of(b)).abs();
            is_near(clause, at, own, 0.1 * own, ratio)
        })
    };
    let each: Vec<bool> = couples.iter().map(is_so).collect();
    let all: Vec<Step> = first.iter().chain(&second).copied().collect();
    PlainVerdict::of_each(&each, false, || shown(sets, &all))
}

/// "The gap between IPv4 and IPv6 grows with the patch".
fn gap(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let is_wider = clause.words.iter().find_map(|word| match word {
        Word::Lex(Lex::Moves(own)) => Some(*own),
        Word::Lex(Lex::Large) => Some(true),
        Word::Lex(Lex::Small) => Some(false),
        _ => None,
    })?;
    if !clause.amounts().is_empty() || clause.is_denied() {
        return None;
    }
    let (one, other) = of_gap(sets, clause)?;
    let mut each = Vec::new();
    let mut all = Vec::new();
    for a in steps(sets, &one) {
        let others = steps(sets, &other);
        let Some(least) = others.iter().map(|b| sets.distance(a.at, b.at)).min() else { continue };
        for b in others.iter().filter(|b| sets.distance(a.at, b.at) == least) {
            let apart = |x: usize, y: usize| {
                let (x, y) = (sets.all[x].cell.mean(), sets.all[y].cell.mean());
                [(x - y).abs(), x.max(y) / x.min(y)]
            };
            let (base, variant) = (apart(a.base, b.base), apart(a.at, b.at));
            each.push((0..2).any(|of| (variant[of] > base[of]) == is_wider));
            all.extend([(a.base, b.base), (a.at, b.at)]);
        }
    }
    PlainVerdict::of_each(&each, false, || sets.levels(&all))
}

/// What is said to be apart: two families, or what stands on either side of "and".
fn of_gap(sets: &Sets<'_>, clause: &Clause) -> Option<(Places, Places)> {
    if let [a, b] = clause.families.iter().copied().collect::<Vec<_>>().as_slice() {
        let all = sets.places();
        return Some((sets.of_family(&all, *a), sets.of_family(&all, *b)));
    }
    let between = clause.at(|lex| lex == Lex::Between)?;
    let and = (between..clause.words.len()).find(|at| clause.is(*at, Lex::And))?;
    let one = clause.named(sets, between, and).names?;
    let other = match &clause.words.get(and + 1)? {
        Word::Name(own) => own.clone(),
        _ => return None,
    };
    Some((one, other))
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

/// "Both gain", "all kernels are faster", "neither is impacted".
fn of_each(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let others = |lex| {
        matches!(
            lex,
            Lex::Run
                | Lex::Gap
                | Lex::Varies(_)
                | Lex::Over
                | Lex::Under
                | Lex::Reach
                | Lex::Best(_)
                | Lex::As
                | Lex::Most
                | Lex::Least
                | Lex::Only
                | Lex::Same
                | Lex::From
                | Lex::To
        )
    };
    // "none gains" denies it of each, "not both gain" of some
    let first = clause.words.iter().find(|word| **word != Word::Lex(Lex::Light));
    let is_denied_first = matches!(first, Some(Word::Lex(Lex::No | Lex::Neither)));
    if clause.is_denied() && !is_denied_first || sets.facts.is_of_settings() {
        return None;
    }
    let is_each = clause.is_of_all() || clause.families.len() > 1;
    if !is_each || clause.has(others) || !clause.amounts().is_empty() {
        return None;
    }
    // "the slower of the two" is one of them
    let better = clause.at(|lex| matches!(lex, Lex::Better(_))).unwrap_or(0);
    let each = clause.at(|lex| matches!(lex, Lex::All | Lex::Both | Lex::No | Lex::Neither));
    if each.is_some_and(|each| each > better) && better > 0
        || clause.words.iter().take(2).any(|word| matches!(word, Word::Lex(Lex::Better(_))))
    {
        return None;
    }
    let sign = match clause.words.iter().find_map(|word| match word {
        Word::Lex(Lex::Better(own)) => Some(if *own { 1.0 } else { -1.0 }),
        _ => None,
    }) {
        Some(sign) => sign,
        None => sign_of(clause, 0, clause.words.len())?,
    };
    // than what: the base of the block, and nothing else
    if let Some(than) = clause.at(|lex| lex == Lex::Than) {
        let other = clause.named(sets, than, clause.words.len()).names?;
        let families = in_families(sets, sets.places(), &clause.families);
        let bases: Places = families.iter().flat_map(|at| sets.bases_of(*at)).collect();
        if bases.is_empty()
            || !bases.is_subset(&other)
            || other.iter().any(|at| sets.all[*at].cell.role > 0)
        {
            return None;
        }
    }
    let than = clause.at(|lex| lex == Lex::Than).unwrap_or(clause.words.len());
    let own = clause.named(sets, 0, than);
    let families = if own.families.is_empty() { clause.families.clone() } else { own.families };
    let named = own.names.filter(|own| own.iter().any(|at| !sets.bases_of(*at).is_empty()));
    let all = in_families(sets, named.unwrap_or_else(|| sets.places()), &families);
    let all = steps(sets, &all);
    let is_denied = clause.is_denied();
    let goes = |step: &Step| match sign {
        0.0 => step.is_proven,
        sign => step.percent * sign > 0.0 && step.is_proven,
    };
    let each: Vec<bool> = all.iter().map(|step| goes(step) != is_denied).collect();
    // what points the way that is said, and is not proven, contradicts nothing
    let is_contrary = |step: &&Step| match (is_denied, sign) {
        // "no impact" of what is proven, and nobody would notice, is to be asked about
        (true, 0.0) => goes(step) && step.percent.abs() > LEAST_IMPACT,
        (true, _) => goes(step),
        (false, 0.0) => false,
        (false, sign) => step.percent * sign < 0.0,
    };
    let verdict = PlainVerdict::of_each(&each, true, || shown(sets, &all))?;
    match verdict {
        PlainVerdict::Fails(data) if !all.iter().any(|step| is_contrary(&step)) => {
            Some(PlainVerdict::Doubtful(data))
        }
        other => Some(other),
    }
}
