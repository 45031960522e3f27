//! "More queues are always better", "scales linearly": held against all sets of a block whose labels
//! differ in a number, in the order of the numbers.

use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::pair::Pair;
use fwdlab_evidence::surroundings::{SourcedSet, Spoken};
use fwdlab_results::units::rate;
use fwdlab_sentence::clause::Clause;
use fwdlab_sentence::scaling::Scaling;

/// Share of what is proportional that counts as such.
const NEARLY: f64 = 0.75;

/// Returns true where the clause speaks of all sets in their order, right or wrong.
pub(crate) fn check(
    (clause, after): (&Clause, &str),
    line: usize,
    spoken: Spoken,
    sets: &[SourcedSet<'_>],
    findings: &mut AuditFindings,
) -> bool {
    let (Some(said), Some(order)) = (Scaling::of(clause, after), counted(sets)) else {
        return false;
    };
    let is_refuted = |(a, from): &(f64, &SourcedSet<'_>), (b, to): &(f64, &SourcedSet<'_>)| {
        let Some(pair) = Pair::of(from, to).filter(|pair| pair.is_proven) else { return false };
        match said {
            Scaling::Each(sign) => pair.mean_percent * sign.factor() < 0.0,
            Scaling::Proportional => 1.0 + pair.mean_percent / 100.0 < NEARLY * b / a,
        }
    };
    let Some(wrong) = order.windows(2).find(|w| is_refuted(&w[0], &w[1])) else { return true };
    let ((_, from), (_, to)) = (&wrong[0], &wrong[1]);
    let shown =
        |set: &SourcedSet<'_>| format!("'{}' has {}", set.set.legend, rate(set.row.median()));
    findings.add(
        Rule::ClaimAll,
        if spoken.is_sure { Severity::Wrong } else { Severity::Check },
        line,
        Text::new(
            clause.text.trim(),
            format!("{}, {}", shown(from), shown(to)),
            "name the sets for which it holds",
        ),
    );
    true
}

/// Three sets or more with the number of each, in rising order.
fn counted<'a>(sets: &'a [SourcedSet<'a>]) -> Option<Vec<(f64, &'a SourcedSet<'a>)>> {
    let number = |set: &SourcedSet<'_>| {
        let words = set.set.legend.split(|c: char| !c.is_alphanumeric() && c != '.');
        words.into_iter().find_map(|word| word.parse::<f64>().ok().filter(|n| *n > 0.0))
    };
    let mut order: Vec<_> =
        sets.iter().map(|set| Some((number(set)?, set))).collect::<Option<_>>()?;
    order.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let is_distinct = order.windows(2).all(|w| w[0].0 < w[1].0);
    (order.len() > 2 && is_distinct).then_some(order)
}
