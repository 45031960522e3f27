//! "We won 2 Mpps", "60 Kpps more": a rate that is a difference, held against that of the means.

use super::wording::compared;
use crate::finding::{AuditFindings, Rule, Severity, Text};
use crate::surroundings::{SourcedSet, Spoken};
use fwdlab_results::units::rate;
use fwdlab_sentence::clause::{Clause, Sign, Stance, words};
use fwdlab_sentence::quantity::rates;

/// Words before a rate that is reached, and no difference.
const LEVELS: [&str; 12] = [
    "to", "at", "from", "is", "was", "reach", "reaches", "around", "of", "than", "forwards", "with",
];
/// A difference is smaller than this share of what it is from.
const DIFFERENCE: f64 = 0.7;
/// How far it may be off, as a ratio.
const SLACK: f64 = 1.25;

/// A clause with one rate and a direction.
pub(super) fn check(
    clause: &Clause,
    line: usize,
    spoken: Spoken,
    sets: &[SourcedSet<'_>],
    findings: &mut AuditFindings,
) {
    let all = rates(&clause.text);
    let [mention] = all.as_slice() else { return };
    let before = words(&clause.text[..mention.offset]);
    let after = words(&clause.text[mention.offset + mention.text.len()..]);
    let next = after.first().map_or("", |(_, w)| w.as_str());
    let sign = match (&clause.stance, next) {
        (_, "more") => Sign::Up,
        (_, "less" | "fewer") => Sign::Down,
        (Stance::Change(sign, _), _) => *sign,
        _ => return,
    };
    let is_gain_of = before.iter().rev().take(2).any(|(_, w)| w == "of")
        && before.iter().rev().take(3).any(|(_, w)| {
            matches!(
                w.as_str(),
                "gain" | "loss" | "drop" | "improvement" | "increase" | "reduction"
            )
        });
    let is_level = before.last().is_some_and(|(_, w)| LEVELS.contains(&w.as_str()));
    let pairs = compared(sets, clause);
    let [own] = pairs.as_slice() else { return };
    let (base, variant) = (own.base.row.mean(), own.variant.row.mean());
    let is_counted = matches!(next, "more" | "less" | "fewer");
    if is_level && !is_gain_of && !is_counted
        || mention.pps() > DIFFERENCE * base
        || !own.is_oriented
    {
        return;
    }
    let wanted = (variant - base).abs();
    let off = (mention.pps() / wanted).max(wanted / mention.pps());
    let is_contrary = sign.factor() * (variant - base) < 0.0 && own.pair.is_proven;
    if !is_contrary && off <= SLACK {
        return;
    }
    findings.add(
        if is_contrary { Rule::ClaimSign } else { Rule::ClaimRate },
        if spoken.is_sure { Severity::Wrong } else { Severity::Check },
        line,
        Text::new(
            format!("'{}' in: {}", mention.text, clause.text.trim()),
            format!(
                "'{}' forwards {} {} than '{}'",
                own.variant.set.legend,
                rate(wanted),
                if variant > base { "more" } else { "less" },
                own.base.set.legend
            ),
            "take the difference from the block",
        ),
    );
}
