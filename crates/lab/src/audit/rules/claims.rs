//! Sentences against the block that they speak of.

use crate::audit::clause::{Clause, Percent, Sign, Stance, clauses, words};
use crate::audit::context::{Context, Measured, Spoken};
use crate::audit::figures::percent as show;
use crate::audit::finding::{Findings, Rule, Severity, Text};
use crate::audit::match_number::{Agreement, agreement, agrees_roughly};
use crate::audit::page::{Item, ItemKind};
use crate::audit::pair::Pair;

/// Differences under this many per cent count as none.
const MARGIN: f64 = 1.0;

/// Every item of prose.
pub fn check(context: &Context<'_>, findings: &mut Findings) {
    for item in &context.page.items {
        for clause in clauses(&item.text) {
            check_clause(context, item, &clause, findings);
        }
    }
}

/// A clause and the block it speaks of.
struct Claim<'a> {
    clause: &'a Clause,
    line: usize,
    sets: &'a [Measured<'a>],
    spoken: Spoken,
    /// Comparisons that the clause can mean, each with the set meant as base
    /// and the one meant as variant.
    pairs: Vec<Compared<'a>>,
}

/// A comparison as the clause words it.
struct Compared<'a> {
    base: &'a Measured<'a>,
    variant: &'a Measured<'a>,
    pair: Pair,
    /// False when the wording does not say which set is which.
    is_oriented: bool,
}

fn check_clause(context: &Context<'_>, item: &Item, clause: &Clause, findings: &mut Findings) {
    let is_silent = clause.stance == Stance::Silent || clause.stance == Stance::Mixed;
    if is_silent && clause.percents.is_empty() && clause.factor.is_none() {
        return;
    }
    let Some(spoken) = context.block_of(item, &clause.families) else { return };
    let sets = context.sets[spoken.block].as_slice();
    let pairs = compared(sets, clause);
    if pairs.is_empty() {
        return;
    }
    let line = item.line_at(clause.offset + clause.text.len() - clause.text.trim_start().len());
    let claim = Claim { clause, line, sets, spoken, pairs };
    if clause.is_about_all {
        check_all(context, &claim, findings);
    }
    if !clause.percents.is_empty() {
        for percent in &clause.percents {
            check_percent(&claim, percent, findings);
        }
        return;
    }
    if clause.factor.is_some() && clause.stance != Stance::Silent
        || clause.factor.is_some() && item.kind == ItemKind::Conclusion
    {
        check_factor(&claim, findings);
    }
    match &clause.stance {
        Stance::Change(sign, word) if !is_setting_list(item) => {
            check_sign(&claim, *sign, word, findings);
        }
        Stance::NoChange(word) if !is_setting_list(item) => check_no_change(&claim, word, findings),
        Stance::NotThat(sign, word) if !is_setting_list(item) => {
            check_not_that(&claim, *sign, word, findings);
        }
        _ => {}
    }
}

/// Bullets list settings; what they say about speed is no claim.
fn is_setting_list(item: &Item) -> bool {
    item.kind == ItemKind::Bullet
}

/// The comparisons of a block that a clause can mean.
fn compared<'a>(sets: &'a [Measured<'a>], clause: &Clause) -> Vec<Compared<'a>> {
    let Some((base, others)) = sets.split_first() else { return Vec::new() };
    let mut named: Vec<&Measured<'_>> =
        others.iter().filter(|s| is_named(clause, s, sets)).collect();
    if named.is_empty() || others.len() == 1 {
        named = others.iter().collect();
    }
    named
        .into_iter()
        .filter_map(|variant| {
            let direct = Compared {
                base,
                variant,
                pair: Pair::of(base, variant)?,
                is_oriented: others.len() == 1,
            };
            match orientation(&clause.text, base, variant) {
                Some(false) => Some(Compared {
                    base: variant,
                    variant: base,
                    pair: Pair::of(variant, base)?,
                    is_oriented: true,
                }),
                Some(true) => Some(Compared { is_oriented: true, ..direct }),
                None => Some(direct),
            }
        })
        .collect()
}

/// Whether the clause holds a word that only this set's label has.
fn is_named(clause: &Clause, set: &Measured<'_>, sets: &[Measured<'_>]) -> bool {
    let spoken: Vec<String> = words(&clause.text).into_iter().map(|(_, w)| w).collect();
    set.label.telling_words().iter().any(|word| {
        spoken.iter().any(|s| s == word)
            && sets.iter().all(|s| s.set.symbol == set.set.symbol || !s.label.words.contains(*word))
    })
}

/// Words that announce what something is compared with.
const THAN: [&str; 8] =
    ["than", "vs", "versus", "over", "against", "compared", "relative", "regarding"];

/// True when the clause speaks of `variant` against `base`, false when of
/// `base` against `variant`, `None` when it does not say.
fn orientation(text: &str, base: &Measured<'_>, variant: &Measured<'_>) -> Option<bool> {
    let words: Vec<String> = words(text).into_iter().map(|(_, w)| w).collect();
    let than = words.iter().rposition(|w| THAN.contains(&w.as_str()) && w != "regarding");
    let than_number = than.is_some_and(|t| {
        words.get(t + 1).is_some_and(|w| w.starts_with(|c: char| c.is_ascii_digit()))
    });
    let (subject, object) = match than.filter(|_| !than_number) {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words.as_slice(), &[][..]),
    };
    let score = |words: &[String], own: &Measured<'_>, other: &Measured<'_>| -> i32 {
        words.iter().enumerate().map(|(i, w)| weight(words, i, w, own, other)).sum()
    };
    let object_is_base = score(object, base, variant) - score(object, variant, base);
    if object_is_base != 0 {
        return Some(object_is_base > 0);
    }
    let subject_is_variant = score(subject, variant, base) - score(subject, base, variant);
    match subject_is_variant {
        0 => None,
        n if n > 0 => Some(true),
        // A sentence that names only the base may still speak of the change.
        _ if than.is_some() => Some(false),
        _ => None,
    }
}

/// 1 when a word belongs to `own` alone, -1 when it is negated there.
fn weight(
    words: &[String],
    index: usize,
    word: &str,
    own: &Measured<'_>,
    other: &Measured<'_>,
) -> i32 {
    let family = crate::netbenches::name::family_word(word);
    let is_family = family.is_some() && family == own.family && family != other.family;
    let is_word = own.label.telling_words().contains(word) && !other.label.words.contains(word);
    if !is_family && !is_word {
        return 0;
    }
    let before = index.checked_sub(1).map_or("", |i| words[i].as_str());
    if matches!(before, "without" | "no" | "disabling" | "removing") { -1 } else { 1 }
}

fn check_percent(claim: &Claim<'_>, percent: &Percent, findings: &mut Findings) {
    let wanted_sign = percent.sign.or(match &claim.clause.stance {
        Stance::Change(sign, _) => Some(*sign),
        _ => None,
    });
    let best = claim.pairs.iter().map(|c| (agreement_of(percent, c), c)).min_by_key(|(a, _)| *a);
    let Some((found, compared)) = best else { return };
    if found <= Agreement::Near {
        return check_agreeing(claim, percent, found, compared, wanted_sign, findings);
    }
    if let Some(other) = other_pair(claim, percent) {
        report_other_pair(claim, percent, &other, findings);
        return;
    }
    let contradicts = wanted_sign.is_some_and(|s| is_contrary(s, compared));
    if contradicts && claim.pairs.len() == 1 {
        report_sign(claim, &percent.text, compared, findings);
        return;
    }
    let is_near_any = claim.pairs.iter().any(|c| {
        (c.pair.mean_percent.abs() - percent.value).abs() <= 2.5 * c.pair.half_width.max(0.2)
    });
    let severity = match (claim.spoken.is_sure, claim.pairs.len()) {
        (true, 1) if !percent.is_rough || !is_near_any => Severity::Wrong,
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

/// A number that agrees: is its sign right, is it rounded, is it proven?
fn check_agreeing(
    claim: &Claim<'_>,
    percent: &Percent,
    found: Agreement,
    compared: &Compared<'_>,
    sign: Option<Sign>,
    findings: &mut Findings,
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
    findings: &mut Findings,
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
fn agreement_of(percent: &Percent, compared: &Compared<'_>) -> Agreement {
    let figures = figures(compared);
    let best = |value: f64| {
        let all = figures.iter().map(|f| agreement(value, percent.decimals, f.abs()));
        all.min().unwrap_or(Agreement::No)
    };
    if let Some(upper) = percent.upper
        && figures.iter().any(|f| (percent.value..=upper).contains(&f.abs().round()))
    {
        return Agreement::Exact;
    }
    let found = best(percent.value);
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
    findings: &mut Findings,
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

fn is_contrary(sign: Sign, compared: &Compared<'_>) -> bool {
    sign.factor() * compared.pair.mean_percent < 0.0
}

fn check_sign(claim: &Claim<'_>, sign: Sign, word: &str, findings: &mut Findings) {
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

fn report_sign(claim: &Claim<'_>, word: &str, compared: &Compared<'_>, findings: &mut Findings) {
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

fn report_unproven(
    claim: &Claim<'_>,
    word: &str,
    compared: &Compared<'_>,
    findings: &mut Findings,
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
                compared.pair.interval()
            ),
            "write that no difference is proven, or measure more runs",
        ),
    );
}

fn check_no_change(claim: &Claim<'_>, word: &str, findings: &mut Findings) {
    for compared in &claim.pairs {
        let pair = &compared.pair;
        if pair.is_within(compared.base, compared.variant, MARGIN) {
            continue;
        }
        let (rule, severity, data) = if pair.is_proven && pair.mean_percent.abs() > MARGIN {
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
                    pair.interval()
                ),
            )
        } else {
            (
                Rule::ClaimNoImpact,
                Severity::Check,
                format!(
                    "no difference proven is not equal: the 95 % interval is {}, not within ±{MARGIN} %",
                    pair.interval()
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
                format!("write: {} (95 % interval {})", show(pair.mean_percent), pair.interval()),
            ),
        );
    }
}

/// "No regression", "not faster": wrong when exactly that is proven.
fn check_not_that(claim: &Claim<'_>, sign: Sign, word: &str, findings: &mut Findings) {
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
                        pair.interval()
                    ),
                    format!("write {}", show(pair.mean_percent)),
                ),
            );
        }
    }
}

fn check_factor(claim: &Claim<'_>, findings: &mut Findings) {
    let Some((factor, word)) = &claim.clause.factor else { return };
    let distance = |c: &Compared<'_>| {
        let ratio = 1.0 + c.pair.mean_percent / 100.0;
        [ratio, 1.0 / ratio].into_iter().map(|r| (r / factor).ln().abs()).fold(f64::MAX, f64::min)
    };
    let Some(best) = claim.pairs.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))) else {
        return;
    };
    if distance(best) <= 1.15f64.ln() {
        return;
    }
    let is_gross = distance(best) > 1.4f64.ln() && claim.spoken.is_sure && claim.pairs.len() == 1;
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

/// "Faster for all tests" must hold in every block.
fn check_all(context: &Context<'_>, claim: &Claim<'_>, findings: &mut Findings) {
    let wanted = match &claim.clause.stance {
        Stance::Change(sign, _) => Some(*sign),
        Stance::NoChange(_) => None,
        _ => return,
    };
    for sets in &context.sets {
        let Some((base, others)) = sets.split_first() else { continue };
        for variant in others {
            let Some(pair) = Pair::of(base, variant) else { continue };
            let is_against = match wanted {
                Some(sign) => pair.is_proven && sign.factor() * pair.mean_percent < 0.0,
                None => pair.is_proven && pair.mean_percent.abs() > MARGIN,
            };
            if is_against {
                findings.add(
                    Rule::ClaimAll,
                    Severity::Wrong,
                    claim.line,
                    Text::new(
                        format!("'all' in: {}", claim.clause.text.trim()),
                        format!(
                            "'{}' against '{}' is {} (line {})",
                            variant.set.legend,
                            base.set.legend,
                            show(pair.mean_percent),
                            variant.row.line
                        ),
                        "name the tests for which it holds",
                    ),
                );
                return;
            }
        }
    }
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
