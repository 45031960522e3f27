//! "The noisiest set is pf", "8 queues are the most stable": whose runs scatter most or least, held against the standard
//! deviations, the shares that these are of the means, and the ranges of the sets of a block.

use crate::wording::plain;
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::{SourcedSet, Spoken, Surroundings};
use fwdlab_netbenches::page::Item;
use fwdlab_results::units::rate;
use fwdlab_sentence::clause::{Clause, Sign, words};
use fwdlab_sentence::subject::spoken;

/// How much more another set has to scatter, or less.
const BEYOND: f64 = 1.05;

/// True where the clause ranks a set by how its runs scatter, and no more is to be said of it.
pub(crate) fn check(
    around: &Surroundings<'_>,
    item: &Item,
    clause: &Clause,
    line: usize,
    findings: &mut AuditFindings,
) -> bool {
    let Some(sign) = extreme(&clause.text) else { return false };
    let said = spoken(&clause.text);
    // below a block it is of that one; in a list, of those of its section that show what it names
    let own = around.block_of(item, &clause.families);
    let section = around.section_above(item).rev();
    let section = section.map(|block| Spoken { block, is_sure: false });
    let blocks: Vec<Spoken> = own.into_iter().chain(section).collect();
    let found = blocks.iter().find_map(|spoken| {
        let sets = around.sets[spoken.block].as_slice();
        match plain(&said, sets).as_slice() {
            &[own] if sets.len() > 1 => Some((spoken, sets, own)),
            _ => None,
        }
    });
    let Some((spoken, sets, own)) = found else { return true };
    // "of the firewalls": what stands first has none
    let first = usize::from(clause.text.to_lowercase().contains("firewall") && own > 0);
    if let Some(other) = beyond(&sets[first..], &sets[own], sign) {
        let shown = |set: &SourcedSet<'_>| format!("'{}' {}", set.set.legend, rate(set.row.sd()));
        let data = format!("standard deviations: {}, {}", shown(&sets[own]), shown(other));
        let severity = if spoken.is_sure { Severity::Wrong } else { Severity::Check };
        let remedy = format!("name '{}'", other.set.legend);
        let text = Text::new(clause.text.trim(), data, remedy);
        findings.add(Rule::ClaimReading, severity, line, text);
    }
    true
}

/// A set that scatters more than the one named, or less, where one does by each measure.
fn beyond<'a>(
    sets: &'a [SourcedSet<'a>],
    own: &SourcedSet<'_>,
    sign: Sign,
) -> Option<&'a SourcedSet<'a>> {
    let measures: [fn(&SourcedSet<'_>) -> f64; 3] = [
        |set| set.row.sd(),
        |set| set.row.sd() / set.row.mean(),
        |set| set.row.values[1] - set.row.values[0],
    ];
    let is_beyond = |of: fn(&SourcedSet<'_>) -> f64, other: &SourcedSet<'_>| match sign {
        Sign::Up => of(other) > BEYOND * of(own),
        Sign::Down => BEYOND * of(other) < of(own),
    };
    let is_refuted = measures.iter().all(|of| sets.iter().any(|other| is_beyond(*of, other)));
    let first = sets
        .iter()
        .max_by(|a, b| (a.row.sd() * sign.factor()).total_cmp(&(b.row.sd() * sign.factor())));
    first.filter(|_| is_refuted)
}

/// Whether something is said to scatter most, or least.
fn extreme(text: &str) -> Option<Sign> {
    const NOISIEST: [&str; 4] = ["noisiest", "shakiest", "jumpiest", "bumpiest"];
    const STEADIEST: [&str; 5] = ["steadiest", "stablest", "calmest", "quietest", "tightest"];
    const NOISY: [&str; 7] =
        ["noisy", "variable", "unstable", "scattered", "erratic", "unsteady", "spread"];
    const STEADY: [&str; 7] =
        ["stable", "steady", "consistent", "reproducible", "repeatable", "predictable", "even"];
    const LARGE: [&str; 6] = ["largest", "biggest", "highest", "greatest", "widest", "most"];
    const SMALL: [&str; 6] = ["smallest", "lowest", "least", "narrowest", "tightest", "littlest"];
    const SPREAD: [&str; 9] = [
        "deviation",
        "deviations",
        "stddev",
        "stdev",
        "variance",
        "spread",
        "scatter",
        "noise",
        "variation",
    ];
    let own: Vec<String> = words(text).into_iter().map(|(_, word)| word).collect();
    let has = |list: &[&str], word: &str| list.contains(&word);
    let said = |at: usize| {
        let word = own[at].as_str();
        let next = own.get(at + 1).map_or("", String::as_str);
        let is_of_spread = own[at + 1..].iter().take(2).any(|word| has(&SPREAD, word));
        match word {
            _ if has(&NOISIEST, word) => Some(Sign::Up),
            "most" if has(&NOISY, next) => Some(Sign::Up),
            "most" if has(&STEADY, next) => Some(Sign::Down),
            "least" if has(&NOISY, next) => Some(Sign::Down),
            "least" if has(&STEADY, next) => Some(Sign::Up),
            _ if has(&LARGE, word) && is_of_spread => Some(Sign::Up),
            _ if has(&SMALL, word) && is_of_spread => Some(Sign::Down),
            _ if has(&STEADIEST, word) => Some(Sign::Down),
            _ => None,
        }
    };
    let is_denied = own.iter().any(|w| matches!(w.as_str(), "not" | "no" | "never" | "isn't"));
    let mut found = (0..own.len()).filter_map(said);
    let first = found.next()?;
    (!is_denied && found.all(|other| other == first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_scatters_most_is_told_from_what_is_fastest() {
        for (text, wanted) in [
            ("The noisiest set is pf", Some(Sign::Up)),
            ("q8 is the most stable of the four (smallest stddev)", Some(Sign::Down)),
            ("pf has the largest standard deviation", Some(Sign::Up)),
            ("the least steady of all", Some(Sign::Up)),
            ("the noisiest has the smallest deviation", None),
            ("pf is not the noisiest", None),
            ("the largest gain is with pf", None),
            ("most of the noise is gone", None),
        ] {
            assert_eq!(extreme(text), wanted, "{text}");
        }
    }
}
