//! "We won 2 Mpps", "60 Kpps more": a rate that is a difference, held against that of the means.

use super::wording::compared;
use crate::finding::{AuditFindings, Rule, Severity, Text};
use crate::surroundings::{SourcedSet, Spoken};
use fwdlab_results::units::rate;
use fwdlab_sentence::clause::Clause;
use fwdlab_sentence::levels::difference;

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
    let Some((sign, mention)) = difference(clause) else { return };
    let pairs = compared(sets, clause);
    let [own] = pairs.as_slice() else { return };
    let (base, variant) = (own.base.row.mean(), own.variant.row.mean());
    if mention.pps() > DIFFERENCE * base || !own.is_oriented {
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
