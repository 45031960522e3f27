//! "The interval is [16.9, 18.2] %", "it includes zero", "at its lower end": what is said of the interval of a
//! change, held against that of the block.

use crate::wording::compared;
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::{SourcedSet, Spoken};
use fwdlab_results::units::exact_percent as show;
use fwdlab_sentence::clause::Clause;
use fwdlab_sentence::interval::Said;

/// How far an end may be off, as a share of the half width, and in per cent beside it.
const SLACK: f64 = 0.5;
const ROUNDING: f64 = 0.15;

/// True where the clause is about the interval, and no more is to be said of it.
pub(crate) fn check(
    clause: &Clause,
    line: usize,
    spoken: Spoken,
    sets: &[SourcedSet<'_>],
    findings: &mut AuditFindings,
) -> bool {
    let Some(said) = Said::of(&clause.text) else { return false };
    let pairs = compared(sets, clause);
    let [own] = pairs.as_slice() else { return true };
    let (mean, half) = (own.pair.mean_percent, own.pair.half_width);
    let near = |value: f64, end: f64| (value - end).abs() <= SLACK * half + ROUNDING;
    let (low, high) = (mean - half, mean + half);
    // "a loss of 6.8 to 7.9 %" leaves the sign to the word
    let sides = [(low, high), (-high, -low)];
    let holds = match said {
        Said::Zero(is_within) => is_within != own.pair.is_proven,
        Said::Ends(a, b) => sides.iter().any(|(low, high)| near(a, *low) && near(b, *high)),
        Said::End(value) => near(value.abs(), low.abs()) || near(value.abs(), high.abs()),
    };
    if !holds {
        findings.add(
            Rule::ClaimSize,
            if spoken.is_sure { Severity::Wrong } else { Severity::Check },
            line,
            Text::new(
                clause.text.trim(),
                format!(
                    "the change is {}, 95 % interval {}",
                    show(mean),
                    own.pair.confidence_interval()
                ),
                "take the interval from the block",
            ),
        );
    }
    true
}
