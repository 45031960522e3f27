//! Percentages against the block.

use crate::claim::{Claim, Compared, MARGIN, is_contrary, report_sign, report_unproven};
use crate::named::likeness;
use crate::wording::names_set;
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::pair::Pair;
use fwdlab_evidence::surroundings::SourcedSet;
use fwdlab_results::units::exact_percent as show;
use fwdlab_sentence::agreement::{Agreement, agreement, agrees_roughly};
use fwdlab_sentence::clause::{Bound, Percent, Sign, Stance, is_given, quotes_earlier};
use fwdlab_sentence::subject::names_base;

pub(crate) fn check_percent(claim: &Claim<'_>, percent: &Percent, findings: &mut AuditFindings) {
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
    let is_named = names_base(&claim.clause.text) || names_set(claim.clause, claim.sets);
    let is_settled = claim.pairs.len() == 1 && (claim.sets.len() > 2 || contradicts && is_named);
    // "stateful rules cost 26 % to ipfw": against what is likest it, and not the first set
    let is_likest = |other: &Compared<'_>| {
        let sets = [other.base, other.variant];
        let of = |a: &SourcedSet<'_>, b: &SourcedSet<'_>| likeness(a, b);
        let (is_own, alike) = (std::ptr::eq(sets[1], compared.variant), of(sets[0], sets[1]));
        is_own && alike > of(compared.base, compared.variant) && !names_base(&claim.clause.text)
    };
    let is_it = |other: &Compared<'_>| !is_settled || is_likest(other);
    if let Some(other) = other_pair(claim, percent).filter(is_it) {
        report_other_pair(claim, percent, &other, findings);
        return;
    }
    // a change that the interval leaves out is refuted, proven or not
    let signed = wanted_sign.map(|sign| sign.factor() * percent.value);
    let is_outside = signed.is_some_and(|said| {
        (compared.pair.mean_percent - said).abs() > compared.pair.half_width.max(MARGIN)
    });
    let is_refuted = is_outside && compared.is_oriented && !percent.is_rough;
    if contradicts && (compared.pair.is_proven || !is_refuted) {
        report_sign(claim, &percent.text, compared, findings);
        return;
    }
    let is_near_any = claim.pairs.iter().any(|c| {
        (c.pair.mean_percent.abs() - percent.value).abs() <= 2.5 * c.pair.half_width.max(0.2)
    });
    let is_worded = claim.is_worded || percent.sign.is_some() || is_given(claim.clause, percent);
    // a bound is no rounded number
    let is_bounded = percent.bound.is_some() && !is_within(percent, compared);
    let severity = match (claim.spoken.is_sure, claim.pairs.len()) {
        (true, 2..)
            if is_worded && percent.sign.is_none() && is_of_no_pair(claim.sets, percent) =>
        {
            Severity::Wrong
        }
        (true, 1) if is_worded && (is_bounded || !percent.is_rough || !is_near_any) => {
            Severity::Wrong
        }
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

/// Whether no two sets of the block, whichever is the base, are anywhere near so far apart.
fn is_of_no_pair(sets: &[SourcedSet<'_>], percent: &Percent) -> bool {
    let is_far = |pair: &Pair| {
        [pair.mean_percent, pair.inverse_percent].iter().all(|change| {
            let off = (change.abs() - percent.value).abs();
            off > 0.4 * percent.value && off > 2.5 * pair.half_width
        })
    };
    let bases = sets.iter().enumerate();
    let mut pairs =
        bases.flat_map(|(i, base)| sets[i + 1..].iter().map(move |s| Pair::of(base, s)));
    percent.upper.is_none() && pairs.all(|pair| pair.is_some_and(|pair| is_far(&pair)))
}

/// Whether a percentage lies in the interval of a comparison.
fn is_within(percent: &Percent, compared: &Compared<'_>) -> bool {
    (compared.pair.mean_percent.abs() - percent.value).abs() <= compared.pair.half_width
}

/// A number that no comparison of the block gives, in a sentence that quotes another page or time.
pub(crate) fn is_of_another_page(claim: &Claim<'_>, percent: &Percent) -> bool {
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
    // "less than 1 %" claims no change
    let is_at_most = percent.bound == Some(Bound::Below) && claim.clause.stance == Stance::Silent;
    if !compared.pair.is_proven && !is_same_stance(claim) && !is_at_most {
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
pub(crate) fn agreement_of(percent: &Percent, compared: &Compared<'_>) -> Agreement {
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
