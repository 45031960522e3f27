//! "With D27401 it stays around 700 Kpps": a rate that the page has, but of another set than the one named.

use super::named::{named, spoken};
use crate::finding::{AuditFindings, Rule, Severity, Text};
use crate::surroundings::{SourcedSet, Spoken};
use fwdlab_results::units::rate;
use fwdlab_sentence::clause::{Clause, words};
use fwdlab_sentence::quantity::rates;

/// Words before a rate that is not what the named set reaches.
const OTHERS: [&str; 22] = [
    "from", "was", "were", "than", "against", "instead", "before", "over", "by", "load", "gain",
    "gains", "gained", "lost", "loses", "loss", "adds", "of", "vs", "versus", "with", "without",
];
/// Share by which a rate has to be off the set that is named, and may be off the one that has it.
const FAR: f64 = 0.04;
const NEAR: f64 = 0.01;

/// A clause with one rate that names one set.
pub(super) fn check(
    clause: &Clause,
    line: usize,
    spoken_of: Spoken,
    sets: &[SourcedSet<'_>],
    findings: &mut AuditFindings,
) {
    let all = rates(&clause.text);
    let of_family: Vec<usize> = match clause.families.len() {
        1 => {
            let is_own =
                |set: &SourcedSet<'_>| set.family.is_some_and(|f| clause.families.contains(&f));
            (0..sets.len()).filter(|set| is_own(&sets[*set])).collect()
        }
        _ => Vec::new(),
    };
    let by_label = named(&spoken(&clause.text), sets);
    let meant = if of_family.len() == 1 { of_family } else { by_label };
    let ([mention], &[own]) = (all.as_slice(), meant.as_slice()) else {
        return;
    };
    let before = words(&clause.text[..mention.offset]);
    let is_other = before.iter().rev().take(2).any(|(_, w)| OTHERS.contains(&w.as_str()));
    let is_denied = before.iter().any(|(_, w)| {
        matches!(w.as_str(), "without" | "no" | "not" | "disabling" | "removing" | "unlike")
    });
    let is_added = words(&clause.text).iter().any(|(_, w)| matches!(w.as_str(), "more" | "less"));
    if is_other || is_denied || is_added || clause.text[..mention.offset].trim_end().ends_with('(')
    {
        return;
    }
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
