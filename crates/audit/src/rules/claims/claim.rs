//! A clause and the block it speaks of, and what is said of it where they do not agree.

use crate::finding::{AuditFindings, Rule, Severity, Text};
use crate::pair::Pair;
use crate::surroundings::{SourcedSet, Spoken};
use fwdlab_results::units::exact_percent as show;
use fwdlab_sentence::clause::{Clause, Sign};

/// Differences under this many per cent count as none.
pub(super) const MARGIN: f64 = 1.0;

/// A clause and the block it speaks of.
pub(super) struct Claim<'a> {
    pub(super) clause: &'a Clause,
    pub(super) line: usize,
    pub(super) sets: &'a [SourcedSet<'a>],
    pub(super) spoken: Spoken,
    /// False where nothing but a number says that it is of a change.
    pub(super) is_worded: bool,
    /// Comparisons that the clause can mean, each with the set meant as base
    /// and the one meant as variant.
    pub(super) pairs: Vec<Compared<'a>>,
}

/// A comparison as the clause words it.
pub(super) struct Compared<'a> {
    pub(super) base: &'a SourcedSet<'a>,
    pub(super) variant: &'a SourcedSet<'a>,
    pub(super) pair: Pair,
    /// False when the wording does not say which set is which.
    pub(super) is_oriented: bool,
}

pub(super) fn is_contrary(sign: Sign, compared: &Compared<'_>) -> bool {
    sign.factor() * compared.pair.mean_percent < 0.0
}

pub(super) fn report_sign(
    claim: &Claim<'_>,
    word: &str,
    compared: &Compared<'_>,
    findings: &mut AuditFindings,
) {
    let is_certain = claim.spoken.is_sure && compared.is_oriented && compared.pair.is_proven;
    let severity = if is_certain { Severity::Wrong } else { Severity::Check };
    let direction = if compared.pair.mean_percent < 0.0 { "slower" } else { "faster" };
    findings.add(
        Rule::ClaimSign,
        severity,
        claim.line,
        Text::new(
            format!("'{word}' in: {}", claim.clause.text.trim()),
            format!(
                "'{}' is {direction} than '{}': {}",
                compared.variant.set.legend,
                compared.base.set.legend,
                show(compared.pair.mean_percent)
            ),
            format!("write {:.1} % {direction}", compared.pair.mean_percent.abs()),
        ),
    );
}

pub(super) fn report_unproven(
    claim: &Claim<'_>,
    word: &str,
    compared: &Compared<'_>,
    findings: &mut AuditFindings,
) {
    let severity = if claim.spoken.is_sure && claim.pairs.len() == 1 {
        Severity::Wrong
    } else {
        Severity::Check
    };
    findings.add(
        Rule::ClaimUnproven,
        severity,
        claim.line,
        Text::new(
            format!("'{word}' in: {}", claim.clause.text.trim()),
            format!(
                "the block proves no difference: {} with 95 % interval {}",
                show(compared.pair.mean_percent),
                compared.pair.confidence_interval()
            ),
            "write that no difference is proven, or measure more runs",
        ),
    );
}
