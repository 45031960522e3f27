//! Words against the block: faster, slower, the same, twice, for all tests.

use std::collections::BTreeSet;

use crate::claim::{Claim, Compared, MARGIN, is_contrary, report_sign, report_unproven};
use crate::meant::{is_of_families, is_of_the_change};
use crate::named::named;
use crate::wording::compared;
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::pair::Pair;
use fwdlab_evidence::surroundings::{Spoken, Surroundings};
use fwdlab_netbenches::name::family_word;
use fwdlab_results::units::exact_percent as show;
use fwdlab_sentence::clause::{Bound, Clause, Sign, Stance, is_of_a_huge_one};
use fwdlab_sentence::families::{compares_families, is_of_all_families, is_of_proof};
use fwdlab_sentence::subject::{folded, spoken};

pub(crate) fn check_sign(claim: &Claim<'_>, sign: Sign, word: &str, findings: &mut AuditFindings) {
    let contrary = |c: &&Compared<'_>| is_contrary(sign, c);
    let proven: Vec<&Compared<'_>> = claim.pairs.iter().filter(|c| c.pair.is_proven).collect();
    if claim.pairs.iter().any(|c| c.pair.is_proven && !is_contrary(sign, c)) {
        return;
    }
    if let Some(compared) = proven.into_iter().find(contrary) {
        return report_sign(claim, word, compared, findings);
    }
    if let Some(compared) = claim.pairs.first() {
        report_unproven(claim, word, compared, findings);
    }
}

pub(crate) fn check_no_change(claim: &Claim<'_>, word: &str, findings: &mut AuditFindings) {
    for compared in &claim.pairs {
        let pair = &compared.pair;
        if pair.is_within(compared.base, compared.variant, MARGIN) {
            continue;
        }
        let is_beyond = pair.is_proven && pair.mean_percent.abs() > MARGIN;
        if !is_beyond && is_of_proof(claim.clause) {
            continue;
        }
        let (rule, severity, data) = if is_beyond {
            let severity = if claim.spoken.is_sure && claim.pairs.len() == 1 {
                Severity::Wrong
            } else {
                Severity::Check
            };
            (
                Rule::ClaimNoImpact,
                severity,
                format!(
                    "a difference is proven: {}, 95 % interval {}",
                    show(pair.mean_percent),
                    pair.confidence_interval()
                ),
            )
        } else {
            (
                Rule::ClaimNoImpact,
                Severity::Check,
                format!(
                    "no difference proven is not equal: the 95 % interval is {}, not within ±{MARGIN} %",
                    pair.confidence_interval()
                ),
            )
        };
        findings.add(
            rule,
            severity,
            claim.line,
            Text::new(
                format!("'{word}' in: {}", claim.clause.text.trim()),
                data,
                format!(
                    "write: {} (95 % interval {})",
                    show(pair.mean_percent),
                    pair.confidence_interval()
                ),
            ),
        );
    }
}

/// Per cent below which no difference is called huge.
const HUGE: f64 = 5.0;

/// "Huge difference", "not the same speed": some difference has to be there, and a huge one to be large.
pub(crate) fn check_differs(claim: &Claim<'_>, word: &str, findings: &mut AuditFindings) {
    let is_shown = |c: &Compared<'_>| {
        c.pair.is_proven && (!is_of_a_huge_one(word) || c.pair.mean_percent.abs() >= HUGE)
    };
    let Some(compared) = claim.pairs.first().filter(|_| !claim.pairs.iter().any(is_shown)) else {
        return;
    };
    if !claim.pairs.iter().any(|c| c.pair.is_proven) {
        return report_unproven(claim, word, compared, findings);
    }
    let severity = if claim.spoken.is_sure && claim.pairs.len() == 1 {
        Severity::Wrong
    } else {
        Severity::Check
    };
    let interval = compared.pair.confidence_interval();
    findings.add(
        Rule::ClaimSize,
        severity,
        claim.line,
        Text::new(
            format!("'{word}' in: {}", claim.clause.text.trim()),
            format!("it is {}, 95 % interval {interval}", show(compared.pair.mean_percent)),
            format!("write {}", show(compared.pair.mean_percent)),
        ),
    );
}

/// "No regression", "not faster": wrong when exactly that is proven.
pub(crate) fn check_not_that(
    claim: &Claim<'_>,
    sign: Sign,
    word: &str,
    findings: &mut AuditFindings,
) {
    for compared in &claim.pairs {
        let pair = &compared.pair;
        if pair.is_proven && !is_contrary(sign, compared) && pair.mean_percent.abs() > MARGIN {
            let severity = if claim.spoken.is_sure && compared.is_oriented {
                Severity::Wrong
            } else {
                Severity::Check
            };
            findings.add(
                Rule::ClaimNoImpact,
                severity,
                claim.line,
                Text::new(
                    format!("'no {word}' in: {}", claim.clause.text.trim()),
                    format!(
                        "it is proven: {}, 95 % interval {}",
                        show(pair.mean_percent),
                        pair.confidence_interval()
                    ),
                    format!("write {}", show(pair.mean_percent)),
                ),
            );
        }
    }
}

pub(crate) fn check_factor(claim: &Claim<'_>, findings: &mut AuditFindings) {
    let Some((factor, word)) = &claim.clause.factor else { return };
    // "half as much as IPv4": of what another one gains, which may stand in the clause before
    if claim.clause.text.contains(" as much as ") {
        return;
    }
    // "doubles" says which way; "half" and "twice" may be said of either set
    let is_directed =
        ["doubles", "triples", "halves"].contains(&word.as_str()) || word.starts_with("a ");
    let distance = |c: &Compared<'_>| {
        let ratio = 1.0 + c.pair.mean_percent / 100.0;
        [ratio, if is_directed && c.is_oriented { ratio } else { 1.0 / ratio }]
            .into_iter()
            .map(|r| (r / factor).ln().abs())
            .fold(f64::MAX, f64::min)
    };
    let Some(best) = claim.pairs.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))) else {
        return;
    };
    // "a third more" for a sixth: near as factors, far as parts
    let part = (factor - 1.0).abs();
    let is_part = part < 0.6 && word.starts_with("a ");
    let off = part / (best.pair.mean_percent / 100.0).abs();
    let is_off = is_part && off.max(1.0 / off) > 1.5;
    if distance(best) <= 1.15f64.ln() && !is_off {
        return;
    }
    let is_gross = (distance(best) > 1.4f64.ln() || is_off)
        && claim.spoken.is_sure
        && claim.pairs.len() == 1
        && !is_of_another(claim, word);
    findings.add(
        Rule::ClaimSize,
        if is_gross { Severity::Wrong } else { Severity::Check },
        claim.line,
        Text::new(
            format!("'{word}' in: {}", claim.clause.text.trim()),
            format!("the ratio of the means is {:.2}", 1.0 + best.pair.mean_percent / 100.0),
            format!("write x{:.2}", 1.0 + best.pair.mean_percent / 100.0),
        ),
    );
}

/// "Doubles the rate of the bare ruleset": of what none of the sets is called.
fn is_of_another(claim: &Claim<'_>, word: &str) -> bool {
    const LEVELS: [&str; 6] = ["rate", "throughput", "speed", "performance", "figure", "result"];
    const WHOLE: [&str; 7] = ["router", "box", "machine", "system", "server", "kernel", "device"];
    let said = spoken(&claim.clause.text);
    let Some(at) = said.iter().position(|own| *own == folded(word)) else { return false };
    let Some(of) = (at + 1..said.len()).find(|at| said[*at] == "of") else { return false };
    let rest = &said[of + 1..];
    LEVELS.contains(&said[of - 1].as_str())
        && !rest.iter().any(|own| WHOLE.contains(&own.as_str()))
        && named(rest, claim.sets).is_empty()
}

/// "Same drop": the change of the block must be about that of the block before.
pub(crate) fn check_same_size(
    around: &Surroundings<'_>,
    claim: &Claim<'_>,
    findings: &mut AuditFindings,
) {
    let before = claim.spoken.block.checked_sub(1).and_then(|b| around.sets.get(b));
    let Some([base, variant, ..]) = before.map(Vec::as_slice) else { return };
    let (Some(first), Some(now)) = (Pair::of(base, variant), claim.pairs.first()) else { return };
    let now = &now.pair;
    let apart = (first.mean_percent - now.mean_percent).abs();
    let larger = first.mean_percent.abs().max(now.mean_percent.abs());
    if apart <= ALL_ALIKE * larger + first.half_width + now.half_width {
        return;
    }
    findings.add(
        Rule::ClaimSize,
        Severity::Check,
        claim.line,
        Text::new(
            claim.clause.text.trim(),
            format!(
                "it is {}, and {} in the block before",
                show(now.mean_percent),
                show(first.mean_percent)
            ),
            "write both numbers",
        ),
    );
}

/// Share of a percentage by which a test may differ that is said to behave as all do.
const ALL_ALIKE: f64 = 0.4;

/// "Faster for all tests", "-30% for all tests" must hold in every block.
pub(crate) fn check_all(
    around: &Surroundings<'_>,
    clause: &Clause,
    (line, spoken): (usize, Option<Spoken>),
    findings: &mut AuditFindings,
) {
    let wanted = Wanted::of(clause);
    let telling = |block: usize| -> Vec<BTreeSet<&str>> {
        let is_other = |word: &&str| family_word(word).is_none();
        let words = around.sets[block].iter().map(|set| set.label.telling_words());
        words.map(|words| words.into_iter().filter(is_other).collect()).collect()
    };
    // of both families, beside a block: of what that block compares
    let own = spoken.filter(|_| is_of_all_families(clause)).map(|own| telling(own.block));
    // "the improvement is below 2 % in all cases": of what the patch changed
    let of_changes = is_of_the_change(around, clause) && !compares_families(clause);
    for (block, sets) in around.sets.iter().enumerate() {
        let Some((base, others)) = sets.split_first() else { continue };
        let is_other = of_changes && is_of_families(around, block);
        if is_other || own.as_ref().is_some_and(|own| *own != telling(block)) {
            continue;
        }
        let families = around.block_families(block);
        if clause.families.len() == 1
            && !families.is_empty()
            && families.is_disjoint(&clause.families)
        {
            continue;
        }
        for variant in others {
            let oriented = compared(sets, clause).into_iter().next().map(|c| c.pair);
            let pair = oriented.filter(|_| others.len() == 1).or_else(|| Pair::of(base, variant));
            let Some(pair) = pair else { continue };
            if !wanted.as_ref().is_some_and(|wanted| wanted.is_refuted_by(&pair)) {
                continue;
            }
            let data = format!(
                "'{}' against '{}' is {} (line {})",
                variant.set.legend,
                base.set.legend,
                show(pair.mean_percent),
                variant.row.line
            );
            let claim = format!("'all' in: {}", clause.text.trim());
            let text = Text::new(claim, data, "name the tests for which it holds");
            findings.add(Rule::ClaimAll, Severity::Wrong, line, text);
            return;
        }
    }
}

/// What is said of all tests.
enum Wanted {
    /// They change this way, by so many per cent where it says, or by more or less than that.
    Change(Sign, Option<f64>, Option<Bound>),
    /// They do not change this way: "neither IPv4 nor IPv6 gains".
    Not(Sign),
    /// They do not change.
    Same,
}

impl Wanted {
    fn of(clause: &Clause) -> Option<Self> {
        let percent = match clause.percents.as_slice() {
            [one] if one.upper.is_none() => Some(one),
            _ => None,
        };
        let sign = percent.and_then(|percent| percent.sign);
        let (size, bound) = (percent.map(|p| p.value), percent.and_then(|p| p.bound));
        match &clause.stance {
            Stance::Change(sign, _) => Some(Self::Change(*sign, size, bound)),
            Stance::NoChange(_) => Some(Self::Same),
            Stance::Silent => Some(Self::Change(sign?, size, bound)),
            Stance::NotThat(sign, _) => Some(Self::Not(*sign)),
            Stance::Mixed | Stance::Differs(_) => None,
        }
    }

    fn is_refuted_by(&self, pair: &Pair) -> bool {
        let percent = pair.mean_percent;
        match self {
            Self::Not(sign) => pair.is_proven && sign.factor() * percent > MARGIN,
            Self::Same => pair.is_proven && percent.abs() > MARGIN,
            Self::Change(sign, ..) if sign.factor() * percent < 0.0 => {
                pair.is_proven || percent.abs() > MARGIN
            }
            Self::Change(_, Some(size), Some(bound)) => !bound.holds(*size, percent.abs()),
            Self::Change(_, Some(size), None) => {
                (percent.abs() - size).abs() > ALL_ALIKE * size + pair.half_width
            }
            Self::Change(_, None, _) => false,
        }
    }
}
