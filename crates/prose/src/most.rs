//! "The fastest is ...", "the lowest performance has ...": a set said to be first or last of its block.

use crate::named::named;
use crate::wording::plain;
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::pair::Pair;
use fwdlab_evidence::surroundings::{SourcedSet, Spoken};
use fwdlab_results::units::rate;
use fwdlab_sentence::clause::Clause;
use fwdlab_sentence::levels::extreme;
use fwdlab_sentence::subject::spoken;

/// Returns true where the clause ranks one set of the block, right or wrong.
pub(crate) fn check(
    clause: &Clause,
    line: usize,
    spoken_of: Spoken,
    sets: &[SourcedSet<'_>],
    findings: &mut AuditFindings,
) -> bool {
    let Some((sign, word)) = extreme(clause) else { return false };
    let meant = plain(&spoken(&clause.text), sets);
    // what costs least is no choice against what costs nothing, nor a firewall against none
    let is_of_group = meant.len() > 1 || clause.text.to_lowercase().contains("firewall");
    let first = usize::from(word == "cheapest" || is_of_group);
    let place = |set: &usize| sets[*set].row.mean() * sign.factor();
    let Some(own) = meant.iter().copied().max_by(|a, b| place(a).total_cmp(&place(b))) else {
        return false;
    };
    if meant.contains(&0) && is_of_group || meant.len() + first >= sets.len() {
        return false;
    }
    let beaten = |other: &&SourcedSet<'_>| {
        let pair = Pair::of(&sets[own], other);
        pair.is_some_and(|p| p.is_proven && p.mean_percent * sign.factor() > 0.0)
    };
    let beyond = sets[first..]
        .iter()
        .filter(beaten)
        .max_by(|a, b| (a.row.mean() * sign.factor()).total_cmp(&(b.row.mean() * sign.factor())));
    let Some(first) = beyond else { return true };
    let severity = if spoken_of.is_sure { Severity::Wrong } else { Severity::Check };
    findings.add(
        Rule::ClaimSign,
        severity,
        line,
        Text::new(
            format!("'{word}' in: {}", clause.text.trim()),
            format!(
                "'{}' has {}, '{}' has {}",
                sets[own].set.legend,
                rate(sets[own].row.median()),
                first.set.legend,
                rate(first.row.median())
            ),
            format!("name '{}'", first.set.legend),
        ),
    );
    true
}

/// `a > b > c`: sets in the order of their rates.
pub(crate) fn check_order(
    clause: &Clause,
    line: usize,
    sets: &[SourcedSet<'_>],
    findings: &mut AuditFindings,
) {
    let text = clause.text.trim().trim_start_matches(['=', '-']).trim_start_matches('>');
    let parts: Vec<&str> = text.split('>').collect();
    let one = |part: &&str| match named(&spoken(part), sets).as_slice() {
        &[own] => Some(own),
        _ => None,
    };
    // the base may have no word of its own
    let order: Vec<usize> = parts.iter().filter_map(one).collect();
    if parts.len() < 3 || order.len() + 1 < parts.len() {
        return;
    }
    let is_above = |pair: &&[usize]| {
        let pair = Pair::of(&sets[pair[0]], &sets[pair[1]]);
        pair.is_some_and(|p| p.is_proven && p.mean_percent > 0.0)
    };
    let Some(wrong) = order.windows(2).find(is_above) else { return };
    let (first, second) = (&sets[wrong[0]], &sets[wrong[1]]);
    findings.add(
        Rule::ClaimSign,
        Severity::Wrong,
        line,
        Text::new(
            clause.text.trim(),
            format!(
                "'{}' has {}, '{}' has {}",
                first.set.legend,
                rate(first.row.median()),
                second.set.legend,
                rate(second.row.median())
            ),
            "put them in the order of the block",
        ),
    );
}
