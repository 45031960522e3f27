//! Percentages against the block.

use super::wording::names_base;
use super::{Claim, Compared, is_contrary, report_sign, report_unproven};
use crate::finding::{AuditFindings, Rule, Severity, Text};
use crate::pair::Pair;
use fwdlab_results::units::exact_percent as show;
use fwdlab_sentence::agreement::{Agreement, agreement, agrees_roughly};
use fwdlab_sentence::clause::{Percent, Sign, Stance, quotes_earlier};

pub(super) fn check_percent(claim: &Claim<'_>, percent: &Percent, findings: &mut AuditFindings) {
    let wanted_sign = percent.sign.or(match &claim.clause.stance {
        Stance::Change(sign, _) => Some(*sign),
        _ => None,
    });
    let best = claim.pairs.iter().map(|c| (agreement_of(percent, c), c)).min_by_key(|(a, _)| *a);
    let Some((found, compared)) = best else { return };
    if found <= Agreement::Near {
        return check_agreeing(claim, percent, found, compared, wanted_sign, findings);
    }
    let contradicts =
        claim.pairs.len() == 1 && wanted_sign.is_some_and(|s| is_contrary(s, compared));
    // "IPv4 is 25 % faster than IPv6" names both sides
    let is_settled = claim.pairs.len() == 1
        && (claim.sets.len() > 2 || contradicts && names_base(&claim.clause.text));
    if let Some(other) = other_pair(claim, percent).filter(|_| !is_settled) {
        report_other_pair(claim, percent, &other, findings);
        return;
    }
    if contradicts {
        report_sign(claim, &percent.text, compared, findings);
        return;
    }
    let is_near_any = claim.pairs.iter().any(|c| {
        (c.pair.mean_percent.abs() - percent.value).abs() <= 2.5 * c.pair.half_width.max(0.2)
    });
    let is_worded = claim.is_worded || percent.sign.is_some();
    let severity = match (claim.spoken.is_sure, claim.pairs.len()) {
        (true, 1) if is_worded && (!percent.is_rough || !is_near_any) => Severity::Wrong,
        _ => Severity::Check,
    };
    findings.add(
        Rule::ClaimSize,
        severity,
        claim.line,
        Text::new(
            format!("'{}' in: {}", percent.text, claim.clause.text.trim()),
            described(&claim.pairs),
            format!("write {}", show(compared.pair.mean_percent)),
        ),
    );
}

/// A number that no comparison of the block gives, in a sentence that quotes another page or time.
pub(super) fn is_of_another_page(claim: &Claim<'_>, percent: &Percent) -> bool {
    let agrees = |c: &Compared<'_>| agreement_of(percent, c) <= Agreement::Near;
    // "than before" names the base
    let bases = ["than before", "as before", "before:", "compared to before"];
    let text = bases.iter().fold(claim.clause.text.to_lowercase(), |t, base| t.replace(base, ""));
    quotes_earlier(&text) && !claim.pairs.iter().any(agrees)
}

/// A number that agrees: is its sign right, is it rounded, is it proven?
fn check_agreeing(
    claim: &Claim<'_>,
    percent: &Percent,
    found: Agreement,
    compared: &Compared<'_>,
    sign: Option<Sign>,
    findings: &mut AuditFindings,
) {
    if sign.is_some_and(|s| is_contrary(s, compared)) {
        return report_sign(claim, &percent.text, compared, findings);
    }
    if !compared.pair.is_proven && !is_same_stance(claim) {
        return report_unproven(claim, &percent.text, compared, findings);
    }
    let (figure, meant) = meant_figure(percent, compared);
    let found = if found == Agreement::No || percent.is_rough { found } else { meant };
    let rounded = format!("{figure:.*} %", percent.decimals);
    match found {
        Agreement::Cut if !percent.is_rough && percent.upper.is_none() => findings.add(
            Rule::ClaimRounding,
            Severity::Info,
            claim.line,
            Text::new(
                format!("'{}' in: {}", percent.text, claim.clause.text.trim()),
                format!("the block says {figure:.5} %, which rounds to {rounded}"),
                format!("write {rounded}"),
            ),
        ),
        Agreement::Near if !percent.is_rough && percent.upper.is_none() => findings.add(
            Rule::ClaimRounding,
            Severity::Check,
            claim.line,
            Text::new(
                format!("'{}' in: {}", percent.text, claim.clause.text.trim()),
                format!("the block says {figure:.5} %"),
                format!("write {rounded}"),
            ),
        ),
        _ => check_median_source(claim, percent, compared, findings),
    }
}

fn is_same_stance(claim: &Claim<'_>) -> bool {
    matches!(claim.clause.stance, Stance::NoChange(_) | Stance::NotThat(..))
}

/// A percentage that fits the medians but not the means.
fn check_median_source(
    claim: &Claim<'_>,
    percent: &Percent,
    compared: &Compared<'_>,
    findings: &mut AuditFindings,
) {
    let is =
        |figure: f64| agreement(percent.value, percent.decimals, figure.abs()) <= Agreement::Cut;
    let pair = &compared.pair;
    let is_inverse = !compared.is_oriented && is(pair.inverse_percent);
    if percent.is_rough || is(pair.mean_percent) || is_inverse || !is(pair.median_percent) {
        return;
    }
    findings.add(
        Rule::MedianPercent,
        Severity::Info,
        claim.line,
        Text::new(
            format!("'{}' in: {}", percent.text, claim.clause.text.trim()),
            format!(
                "it is the change of the medians ({}); the block compares means ({})",
                show(pair.median_percent),
                show(pair.mean_percent)
            ),
            "say which of the two is meant",
        ),
    );
}

/// How well a percentage agrees with a comparison.
pub(super) fn agreement_of(percent: &Percent, compared: &Compared<'_>) -> Agreement {
    let figures = figures(compared);
    let best = |value: f64| {
        let all = figures.iter().map(|f| agreement(value, percent.decimals, f.abs()));
        all.min().unwrap_or(Agreement::No)
    };
    if let Some(upper) = percent.upper {
        let is_within = |f: &f64| {
            (percent.value..=upper).contains(&f.abs())
                || (percent.value..=upper).contains(&f.abs().round())
        };
        return if figures.iter().any(is_within) { Agreement::Exact } else { best(percent.value) };
    }
    let found = best(percent.value);
    if let Some(bound) = percent.bound.filter(|_| found == Agreement::No) {
        let holds = bound.holds(percent.value, figures[0].abs());
        return if holds { Agreement::Exact } else { Agreement::No };
    }
    if found == Agreement::No && percent.is_rough && agrees_roughly(percent.value, figures[0].abs())
    {
        return Agreement::Exact;
    }
    found
}

/// The figures that a percentage can be taken from: the change of the means,
/// of the medians, and, when the wording leaves open what is compared with
/// what, the change the other way round.
fn figures(compared: &Compared<'_>) -> Vec<f64> {
    let pair = &compared.pair;
    let mut figures = vec![pair.mean_percent, pair.median_percent];
    if !compared.is_oriented {
        figures.push(pair.inverse_percent);
    }
    figures
}

/// The figure that a percentage was taken from: the change of the means when
/// it agrees at all, else the one that agrees best.
fn meant_figure(percent: &Percent, compared: &Compared<'_>) -> (f64, Agreement) {
    let rank = |f: f64| agreement(percent.value, percent.decimals, f.abs());
    let mean = compared.pair.mean_percent;
    if rank(mean) <= Agreement::Cut {
        return (mean, rank(mean));
    }
    let figures = figures(compared);
    let best = figures.into_iter().min_by_key(|f| rank(*f)).unwrap_or(mean);
    (best, rank(best))
}

/// Two other sets of the block whose comparison gives the percentage.
fn other_pair<'a>(claim: &Claim<'a>, percent: &Percent) -> Option<Compared<'a>> {
    let sets = claim.sets;
    for (i, base) in sets.iter().enumerate() {
        for variant in &sets[i + 1..] {
            let pair = Pair::of(base, variant)?;
            let compared = Compared { base, variant, pair, is_oriented: false };
            if agreement_of(percent, &compared) <= Agreement::Cut {
                return Some(compared);
            }
        }
    }
    None
}

fn report_other_pair(
    claim: &Claim<'_>,
    percent: &Percent,
    other: &Compared<'_>,
    findings: &mut AuditFindings,
) {
    if claim.sets.len() == 2 {
        return;
    }
    findings.add(
        Rule::ClaimSize,
        Severity::Info,
        claim.line,
        Text::new(
            format!("'{}' in: {}", percent.text, claim.clause.text.trim()),
            format!(
                "it is '{}' against '{}', which the block does not show",
                other.variant.set.legend, other.base.set.legend
            ),
            "show that comparison",
        ),
    );
}

/// The comparisons of a block in words.
fn described(pairs: &[Compared<'_>]) -> String {
    let parts: Vec<String> = pairs
        .iter()
        .take(6)
        .map(|c| {
            format!(
                "'{}' against '{}': {} ± {:.2} %",
                c.variant.set.legend,
                c.base.set.legend,
                show(c.pair.mean_percent),
                c.pair.half_width
            )
        })
        .collect();
    parts.join("; ")
}
