//! Questions that a campaign asks one by one, such as its traffics: each has its share of the level.
//!
//! Six traffics at 5 % each call at least one false difference in 26 % of campaigns. With Bonferroni's
//! share each may be looked at by itself: p is multiplied by their number, and the interval is that of
//! the share, so that it leaves out "no change" exactly when a difference is called. Where the blocks
//! are too few for ranks at the share, the paired t takes their place, and what it says must hold for
//! the ranks at the whole level too. Equivalence needs no share: it is claimed for one traffic alone.

use crate::comparison::{Comparison, Confidence, Method};
use crate::multiple::{Correction, Kind};
use crate::paired;

/// Compares at `confidence` for one of `questions`.
///
/// # Errors
/// Those of `compare`.
pub fn compare<E>(
    questions: usize,
    confidence: Confidence,
    compare: impl Fn(Confidence) -> Result<Vec<Comparison>, E>,
) -> Result<Vec<Comparison>, E> {
    let whole = compare(confidence)?;
    let is_alone = questions < 2 || whole.iter().any(|own| own.method == Method::Sequential);
    if is_alone {
        return Ok(whole);
    }
    let parts = compare(confidence.among(questions))?;
    Ok(whole
        .into_iter()
        .zip(parts)
        .map(|(whole, part)| of_several(whole, part, questions))
        .collect())
}

/// A comparison for one of `questions`, from that at the whole level and that at its share.
pub fn of_several(whole: Comparison, part: Comparison, questions: usize) -> Comparison {
    if questions < 2 {
        return whole;
    }
    let correction = Correction { kind: Kind::Bonferroni, among: questions };
    paired::settled(Comparison {
        confidence: whole.confidence,
        interval95: part.interval95.hull(whole.interval95),
        interval90: whole.interval90.with(part.estimate),
        p: (part.p * questions as f64).min(1.0).max(whole.p),
        correction: Some(correction),
        rare: whole.rare,
        ..part
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::comparison::Direction;
    use crate::model;
    use crate::verdict::{Subject, Verdict};

    proptest! {
        /// What is printed beside a verdict is what it was decided by.
        #[test]
        fn verdict_and_interval_agree_whatever_the_number_of_questions(
            gains in prop::collection::vec(prop::collection::vec(-0.02..0.06f64, 1..4), 4..24),
            questions in 1usize..9,
            is_gate: bool,
        ) {
            let columns = gains.iter().map(Vec::len).min().unwrap_or(1);
            let row = |(i, gains): (usize, &Vec<f64>)| -> Vec<f64> {
                let base = 1000.0 + i as f64;
                let others = gains[..columns].iter().map(|gain| base * gain.exp());
                std::iter::once(base).chain(others).collect()
            };
            let rows: Vec<Vec<f64>> = gains.iter().enumerate().map(row).collect();
            let confidence = if is_gate { Confidence::with_alpha(0.001) } else { Confidence::USUAL };
            let at = |level| model::compare_at(&rows, Direction::HigherIsBetter, level);
            let subject = Subject { variant: "b", baseline: "a", metric: "rate" };
            for own in compare(questions, confidence, at).unwrap() {
                let interval = own.interval95;
                prop_assert_eq!(own.p <= confidence.alpha(), interval.excludes_no_change(), "{:?}", own);
                prop_assert!(interval.covers(own.estimate) && own.interval90.covers(own.estimate));
                let share = 1.0 - confidence.alpha() / questions as f64;
                prop_assert!((own.level().share() - share).abs() < 1e-12);
                let verdict = Verdict::judge(&own, 0.001, &[]);
                match verdict.word() {
                    "faster" => prop_assert!(interval.low.ratio() > 1.0),
                    "slower" => prop_assert!(interval.high.ratio() < 1.0),
                    "inconclusive" => prop_assert!(interval.covers(crate::Effect::from_ln(0.0))),
                    _ => {}
                }
                let text = verdict.sentence(Some(&own), 0.001, subject);
                let is_named = text.contains(" % interval");
                let is_equivalent = verdict == Verdict::Equivalent;
                prop_assert!(is_named || (!own.is_unusual() && !is_equivalent), "{}", text);
            }
        }
    }
}
