//! "From ~480 K to ~960 K", "826 Kpps => 815 Kpps": two rates, held against the two sets of a block.

use crate::named::label_of;
use crate::wording::compared;
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::pair::Pair;
use fwdlab_evidence::surroundings::{Spoken, Surroundings};
use fwdlab_results::units;
use fwdlab_sentence::clause::Clause;
use fwdlab_sentence::levels::{ends, sides};
use fwdlab_sentence::quantity::Scaled;

/// Numbers farther than this from the figures of the block are of something else.
const SCALE: f64 = 4.0;
/// How far a number may be from its figure: as written, and softened.
const NEAR: f64 = 0.02;
const ROUGHLY_NEAR: f64 = 0.06;

/// A clause that moves from one number to another, beside the block it speaks of.
pub(crate) fn check(
    around: &Surroundings<'_>,
    clause: &Clause,
    line: usize,
    spoken: Spoken,
    findings: &mut AuditFindings,
) {
    let by_side = sides(&clause.text);
    let names_sides = by_side.is_some();
    let Some((from, to)) = by_side.or_else(|| ends(&clause.text)) else { return };
    let sets = around.sets[spoken.block].as_slice();
    let is_in_scale = |end: &Scaled| {
        let near = |mean: f64| (1.0 / SCALE..=SCALE).contains(&(end.value / mean));
        sets.iter().any(|set| near(set.row.mean()))
    };
    // "from 1M to 4M" are sets that are called so
    let is_name = |end: &Scaled| {
        sets.iter().any(|set| label_of(set).contains(&end.text.trim().to_lowercase()))
    };
    if !is_in_scale(&from) || !is_in_scale(&to) || is_name(&from) || is_name(&to) {
        return;
    }
    let agrees = |end: &Scaled, row: &fwdlab_netbenches::block::Row| {
        let slack = if end.is_rough { ROUGHLY_NEAR } else { NEAR };
        [row.median(), row.mean()]
            .iter()
            .any(|v| (end.value / v - 1.0).abs() <= slack + end.step / v)
    };
    let pairs = compared(sets, clause);
    let is_it = |a: &Scaled, b: &Scaled| {
        pairs.iter().any(|c| {
            // near both, the numbers may still go the wrong way
            let is_turned = c.pair.is_proven && (b.value - a.value) * c.pair.mean_percent < 0.0;
            !is_turned && agrees(a, c.base.row) && agrees(b, c.variant.row)
        })
    };
    let Some(first) = pairs.first() else { return };
    // "without it we go up": the way back
    let is_back = fwdlab_sentence::clause::words(&clause.text)
        .iter()
        .any(|(_, w)| matches!(w.as_str(), "without" | "no" | "removing"));
    if is_it(&from, &to) || !names_sides && (!first.is_oriented || is_back) && is_it(&to, &from) {
        return;
    }
    let is_contrary = |pair: &Pair| (to.value - from.value) * pair.mean_percent < 0.0;
    let is_far = |pair: &Pair| {
        let ratio = (to.value / from.value) / (1.0 + pair.mean_percent / 100.0);
        ratio.max(1.0 / ratio) > 1.0 + 2.0 * ROUGHLY_NEAR
    };
    let is_certain = spoken.is_sure && pairs.len() == 1;
    // written to the digit, and no run of either set has it
    let is_nowhere = |end: &Scaled| {
        let has = |c: &super::claim::Compared<'_>| {
            [c.base, c.variant].iter().any(|set| {
                let [low, high] = [set.row.values[0] - end.step, set.row.values[1] + end.step];
                (low * (1.0 - NEAR)..=high * (1.0 + NEAR)).contains(&end.value)
            })
        };
        !end.is_rough && end.step / end.value < NEAR && !pairs.iter().any(has)
    };
    let is_off = is_nowhere(&from) || is_nowhere(&to);
    let is_wrong = is_certain && (is_off || is_contrary(&first.pair) || is_far(&first.pair));
    findings.add(
        Rule::ClaimRate,
        if is_wrong { Severity::Wrong } else { Severity::Check },
        line,
        Text::new(
            format!("'{}' to '{}' in: {}", from.text, to.text, clause.text.trim()),
            format!(
                "'{}' is {}, '{}' is {}",
                first.base.set.legend,
                units::rate(first.base.row.median()),
                first.variant.set.legend,
                units::rate(first.variant.row.median())
            ),
            "take both numbers from the block",
        ),
    );
}
