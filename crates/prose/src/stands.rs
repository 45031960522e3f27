//! "With D27401 it stays around 700 Kpps": a rate that the page has, but of another set than the one named.

use crate::named::{named, side};
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::{SourcedSet, Spoken, Surroundings};
use fwdlab_netbenches::name::NamedFamily;
use fwdlab_results::units::rate;
use fwdlab_sentence::clause::{Clause, words};
use fwdlab_sentence::levels::{reached, stated};
use fwdlab_sentence::subject::spoken;

/// Share by which a rate has to be off the set that is named, and may be off the one that has it.
const FAR: f64 = 0.04;
const NEAR: f64 = 0.01;

/// A clause with one rate that names one set.
pub(crate) fn check(
    clause: &Clause,
    line: usize,
    spoken_of: Spoken,
    sets: &[SourcedSet<'_>],
    findings: &mut AuditFindings,
) {
    let Some(mention) = stated(clause) else { return };
    let of_family: Vec<usize> = match clause.families.len() {
        1 => {
            let is_own =
                |set: &SourcedSet<'_>| set.family.is_some_and(|f| clause.families.contains(&f));
            (0..sets.len()).filter(|set| is_own(&sets[*set])).collect()
        }
        _ => Vec::new(),
    };
    let by_label = named(&spoken(&clause.text), sets);
    let words: Vec<String> = words(&clause.text).into_iter().map(|(_, word)| word).collect();
    let is_of_family = sets.iter().all(|set| {
        clause.families.len() == 1 && set.family.is_some_and(|f| clause.families.contains(&f))
    });
    let meant = match side(&words, sets).filter(|_| is_of_family) {
        Some(side) => vec![side],
        None if of_family.len() == 1 => of_family,
        None => by_label,
    };
    let &[own] = meant.as_slice() else { return };
    let row = sets[own].row;
    let (low, high) = (row.values[0] * (1.0 - FAR), row.values[1] * (1.0 + FAR));
    let is_near = |set: &&SourcedSet<'_>| (mention.pps() / set.row.median() - 1.0).abs() <= NEAR;
    let Some(owner) = sets.iter().find(is_near).filter(|_| !(low..=high).contains(&mention.pps()))
    else {
        return;
    };
    findings.add(
        Rule::ClaimRate,
        if spoken_of.is_sure { Severity::Wrong } else { Severity::Check },
        line,
        Text::new(
            format!("'{}' in: {}", mention.text, clause.text.trim()),
            format!(
                "it is the figure of '{}'; '{}' has {}",
                owner.set.legend,
                sets[own].set.legend,
                rate(row.median())
            ),
            format!("write {}", rate(row.median())),
        ),
    );
}

/// "Patched or not", "with or without it".
fn names_each(text: &str) -> bool {
    let words = spoken(text);
    words.windows(2).any(|w| w[0] == "or" && matches!(w[1].as_str(), "not" | "without" | "with"))
}

/// "inet6 forwards at about 850 Kpps": a rate that no set of the family has, on the page or beside it.
pub(crate) fn check_reached(
    around: &Surroundings<'_>,
    clause: &Clause,
    line: usize,
    spoken_of: Spoken,
    findings: &mut AuditFindings,
) {
    let is_of_none = around.sets.iter().flatten().all(|set| set.family.is_none());
    let said =
        reached(clause).filter(|_| clause.families.len() == 1 || is_of_none && spoken_of.is_sure);
    let Some((mention, bound)) = said else { return };
    let is_own = |family: Option<NamedFamily>| {
        is_of_none || family.is_some_and(|f| clause.families.contains(&f))
    };
    let has = |values: &[f64]| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        match bound {
            None => (low * (1.0 - FAR)..=high * (1.0 + FAR)).contains(&mention.pps()),
            Some(bound) => [low, high].iter().any(|value| bound.holds(mention.pps(), *value)),
        }
    };
    let sets = around.sets.iter().flatten().filter(|set| is_own(set.family));
    let data = around.data.all_values().iter().filter(|(p, _)| is_own(around.data.family(p)));
    let is_known = sets.clone().any(|set| has(&set.row.values[..2]))
        || data.into_iter().any(|(_, values)| has(values));
    let mut own = around.sets[spoken_of.block].iter().filter(|set| is_own(set.family));
    // "patched or not": each of them
    let is_each = bound.is_none() && names_each(&clause.text);
    let other = own.clone().find(|set| is_each && !has(&set.row.values[..2]));
    let last = own.next_back().filter(|_| !is_known);
    let Some(own) = last.or(other) else { return };
    findings.add(
        Rule::ClaimRate,
        if spoken_of.is_sure { Severity::Wrong } else { Severity::Check },
        line,
        Text::new(
            format!("'{}' in: {}", mention.text, clause.text.trim()),
            format!(
                "{}; '{}' has {}",
                if is_known { "not all sets do so" } else { "no set of this family does so" },
                own.set.legend,
                rate(own.row.median())
            ),
            "take the rate from the block",
        ),
    );
}
