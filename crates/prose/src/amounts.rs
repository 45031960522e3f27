//! "We won 2 Mpps", "60 Kpps more": a rate that is a difference, held against that of the means.

use crate::wording::compared;
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::{SourcedSet, Spoken};
use fwdlab_results::units::rate;
use fwdlab_sentence::clause::{Clause, words};
use fwdlab_sentence::levels::difference;
use fwdlab_sentence::quantity::Rate;

/// A difference is smaller than this share of what it is from.
const DIFFERENCE: f64 = 0.7;
/// How far it may be off, as a ratio.
const SLACK: f64 = 1.25;

/// A clause with one rate and a direction.
pub(crate) fn check(
    clause: &Clause,
    line: usize,
    spoken: Spoken,
    sets: &[SourcedSet<'_>],
    findings: &mut AuditFindings,
) {
    let Some((sign, mention)) = difference(clause) else { return };
    // "they are 400 Kpps apart" may be of sets of two blocks
    let is_apart = words(&clause.text).iter().any(|(_, word)| word == "apart");
    let spoken = Spoken { is_sure: spoken.is_sure && !is_apart, ..spoken };
    let pairs = compared(sets, clause);
    let [own] = pairs.as_slice() else {
        return check_any(clause, line, spoken, (sets, &mention), findings);
    };
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

/// How far a number may be off where any two sets may be meant.
const ANY_SLACK: f64 = 2.0;

/// A difference of rates that no two sets of the block are apart.
fn check_any(
    clause: &Clause,
    line: usize,
    spoken: Spoken,
    (sets, mention): (&[SourcedSet<'_>], &Rate),
    findings: &mut AuditFindings,
) {
    let means: Vec<f64> = sets.iter().map(|set| set.row.mean()).collect();
    let Some(most) = means.iter().copied().reduce(f64::max) else { return };
    let apart = |a: &f64| means.iter().map(move |b| (a - b).abs()).collect::<Vec<_>>();
    let widest = means.iter().flat_map(apart).fold(0.0, f64::max);
    if mention.pps() > DIFFERENCE * most || mention.pps() <= ANY_SLACK * widest || !spoken.is_sure {
        return;
    }
    let data = format!("no two sets of the block are more than {} apart", rate(widest));
    let claim = format!("'{}' in: {}", mention.text, clause.text.trim());
    let text = Text::new(claim, data, "take the difference from the block");
    findings.add(Rule::ClaimRate, Severity::Wrong, line, text);
}
