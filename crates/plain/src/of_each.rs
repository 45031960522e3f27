//! What is said of each of some changes: "both gain", "all kernels are faster", "neither is impacted".

use crate::lexicon::Lex;
use crate::sets::{Places, Sets};
use crate::steps::{Step, shown, sign_of, steps};
use crate::verdict::PlainVerdict;
use crate::words::{Clause, Word, in_families};

/// What is smaller, in per cent, contradicts nobody who saw no impact.
const LEAST_IMPACT: f64 = 1.0;

/// "Both gain", "all kernels are faster", "neither is impacted".
pub(crate) fn of_each(sets: &Sets<'_>, clause: &Clause) -> Option<PlainVerdict> {
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
    let is_denied_first = is_denied_first(clause);
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

/// "None gains", "for inet6 no kernel gains".
fn is_denied_first(clause: &Clause) -> bool {
    let is_light = |word: &&Word| matches!(word, Word::Lex(Lex::Light));
    let mut words = clause.words.iter().filter(|word| !is_light(word)).peekable();
    let mut has_family = false;
    while words.next_if(|word| matches!(word, Word::Family(_))).is_some() {
        has_family = true;
    }
    let is_no = matches!(words.next(), Some(Word::Lex(Lex::No | Lex::Neither)));
    let is_of_things = matches!(words.next(), Some(Word::Name(_) | Word::Lex(Lex::Thing)));
    is_no && (!has_family || is_of_things)
}
