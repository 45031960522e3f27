//! A clause and the block it speaks of, and what is said of it where they do not agree.

use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::pair::Pair;
use fwdlab_evidence::surroundings::{SourcedSet, Spoken};
use fwdlab_results::units::exact_percent as show;
use fwdlab_sentence::clause::{Clause, Sign};

/// Differences under this many per cent count as none.
pub(crate) const MARGIN: f64 = 1.0;

/// A clause and the block it speaks of.
pub(crate) struct Claim<'a> {
    pub(crate) clause: &'a Clause,
    pub(crate) line: usize,
    pub(crate) sets: &'a [SourcedSet<'a>],
    pub(crate) spoken: Spoken,
    /// False where nothing but a number says that it is of a change.
    pub(crate) is_worded: bool,
    /// Comparisons that the clause can mean, each with the set meant as base
    /// and the one meant as variant.
    pub(crate) pairs: Vec<Compared<'a>>,
}

/// A comparison as the clause words it.
pub(crate) struct Compared<'a> {
    pub(crate) base: &'a SourcedSet<'a>,
    pub(crate) variant: &'a SourcedSet<'a>,
    pub(crate) pair: Pair,
    /// False when the wording does not say which set is which.
    pub(crate) is_oriented: bool,
}

pub(crate) fn is_contrary(sign: Sign, compared: &Compared<'_>) -> bool {
    sign.factor() * compared.pair.mean_percent < 0.0
}

pub(crate) fn report_sign(
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

pub(crate) fn report_unproven(
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
