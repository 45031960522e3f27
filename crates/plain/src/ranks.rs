//! "The last diff is the worst for inet6", "the default is the best value".

use std::collections::BTreeSet;

use fwdlab_netbenches::name::NamedFamily;

use crate::lexicon::Lex;
use crate::sets::{Places, Sets};
use crate::verdict::PlainVerdict;
use crate::words::{Clause, Unit, Word};

pub(crate) fn check(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
    let others = |lex| {
        matches!(
            lex,
            Lex::Than
                | Lex::Moves(_)
                | Lex::Touched(_)
                | Lex::Over
                | Lex::Under
                | Lex::Reach
                | Lex::Gap
                | Lex::Better(_)
        )
    };
    let mut ends = clause.words.iter().filter_map(|word| match word {
        Word::Lex(Lex::Best(own)) => Some(*own),
        _ => None,
    });
    let is_best = ends.next()?;
    if ends.next().is_some() || clause.has(others) {
        return None;
    }
    // "the best result is 5.95 Mpps": of that number another reader knows more
    if clause.amounts().iter().any(|(_, own)| own.unit != Unit::Rate) {
        return None;
    }
    let is_of_runs = clause.has(|lex| lex == Lex::Run);
    let own = clause.names.clone()?;
    let is_denied = clause.is_denied();
    let families: BTreeSet<Option<NamedFamily>> =
        crate::words::in_families(sets, sets.places(), &clause.families)
            .iter()
            .map(|at| sets.all[*at].family())
            .collect();
    // what its sets are called together, and no others
    let common = |own: &Places| {
        let words = own.iter().map(|at| sets.all[*at].words.clone());
        words.reduce(|a, b| &a & &b).unwrap_or_default()
    };
    let naming = common(&own);
    let is_of_firewalls = clause.words.contains(&Word::Name(sets.firewalled()));
    let all_firewalls = sets.firewalled();
    let within = |all: &Places| {
        let is_meant = |at: &&usize| !is_of_firewalls || all_firewalls.contains(at);
        let mine: Places = own.intersection(all).copied().collect();
        let cell = |at: usize| sets.all[at].cell;
        let each = mine.iter().filter_map(|one| {
            // of what is in the same mode
            let beside: BTreeSet<&String> = sets.all[*one].words.difference(&naming).collect();
            let rest: Places = all
                .iter()
                .filter(is_meant)
                .filter(|at| !mine.contains(at))
                .filter(|at| beside.iter().all(|word| sets.all[**at].words.contains(*word)))
                .copied()
                .collect();
            let is_it = |of: &dyn Fn(usize) -> f64| {
                let signed = |at: usize| if is_best { of(at) } else { -of(at) };
                rest.iter().all(|at| signed(*at) <= signed(*one))
            };
            let end = |at: usize| if is_best { cell(at).max() } else { cell(at).min() };
            let is_so = is_it(&|at| cell(at).mean())
                || is_it(&|at| cell(at).median())
                || is_of_runs && is_it(&end);
            (!rest.is_empty()).then_some(is_so != is_denied)
        });
        each.collect::<Vec<bool>>()
    };
    let of_family = |family: &Option<NamedFamily>| -> Places {
        sets.places().into_iter().filter(|at| sets.all[*at].family() == *family).collect()
    };
    let each: Vec<bool> = families.iter().flat_map(|family| within(&of_family(family))).collect();
    let verdict = PlainVerdict::of_each(&each, clause.is_of_all(), || shown(sets, clause))?;
    // "the best run of pf was at 493 Kpps": of its own runs
    let is_own_end = is_of_runs && !clause.amounts().is_empty();
    if is_own_end && !matches!(verdict, PlainVerdict::Holds) {
        return None;
    }
    // "the best result is that of inet4 and D27401": of all of the page
    let is_of_page = clause.families.len() == 1;
    let mine = crate::words::in_families(sets, own.clone(), &clause.families);
    let of_page = || {
        let all = sets.places();
        let best = |places: &Places| {
            let signed = |at: &usize| {
                let mean = sets.all[*at].cell.mean();
                if is_best { mean } else { -mean }
            };
            places.iter().map(signed).fold(f64::MIN, f64::max)
        };
        best(&mine) >= best(&all)
    };
    match verdict {
        PlainVerdict::Fails(_) if is_of_page && of_page() => Some(PlainVerdict::Holds),
        other => Some(other),
    }
}

fn shown(sets: &Sets<'_>, clause: &Clause) -> String {
    let all = crate::words::in_families(sets, sets.places(), &clause.families);
    all.iter().take(7).map(|at| sets.all[*at].level()).collect::<Vec<_>>().join("; ")
}
