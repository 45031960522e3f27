//! ministat blocks against their data and against themselves.

use std::collections::BTreeMap;

use fwdlab_stats::distribution::t_critical;

use fwdlab_evidence::figures::{Printer, row_key};
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::pair::Pair;
use fwdlab_evidence::surroundings::{SourcedSet, Surroundings};
use fwdlab_netbenches::block::{Comparison, Set};
use fwdlab_netbenches::name::family_word;
use fwdlab_results::units;
use fwdlab_sentence::label::Label;

/// Rows, labels, arithmetic, counts and baselines of every block.
pub fn check(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    for (index, sets) in around.sets.iter().enumerate() {
        for set in sets {
            check_row(around, set, findings);
            check_label(around, set, findings);
        }
        check_arithmetic(sets, findings);
        check_counts(around, sets, findings);
        check_baseline(sets, findings);
        check_heading(around, index, findings);
    }
    check_two_values(around, findings);
}

/// A row must be that of some values at hand.
fn check_row(around: &Surroundings<'_>, set: &SourcedSet<'_>, findings: &mut AuditFindings) {
    if let Some(source) = &set.source {
        if source.dir != around.own && !around.site.is_same_machine(source.dir, around.own) {
            report_foreign(around, set, findings);
        }
        return;
    }
    let claim = format!("{} {}", set.set.symbol, set.row.key());
    match named_series(around, set) {
        Some((prefix, wanted)) => {
            let severity = if is_close(set, &wanted) { Severity::Check } else { Severity::Wrong };
            findings.add(
                Rule::BlockRows,
                severity,
                set.row.line,
                Text::new(
                    claim,
                    format!("{prefix}.pps gives {wanted}"),
                    "run ministat again on the .pps files and paste the whole block",
                ),
            );
        }
        None if around.data.all_values().is_empty() => {}
        None => findings.add(
            Rule::BlockSource,
            Severity::Check,
            set.row.line,
            Text::new(
                format!("'{}': {claim}", set.set.legend),
                "no .pps file and no logs here give this row",
                "add the file behind it, or name where it comes from",
            ),
        ),
    }
}

fn report_foreign(around: &Surroundings<'_>, set: &SourcedSet<'_>, findings: &mut AuditFindings) {
    let Some(source) = &set.source else { return };
    let place = around.site.dir(source).map_or("", |d| d.relative.as_str());
    findings.add(
        Rule::BlockSource,
        Severity::Check,
        set.row.line,
        Text::new(
            format!("'{}' on this machine", set.set.legend),
            format!("the row is that of {}.pps in {place}", source.prefix),
            "say that the figures come from another machine, or paste the right block",
        ),
    );
}

/// The series that the legend names, and its row.
fn named_series(around: &Surroundings<'_>, set: &SourcedSet<'_>) -> Option<(String, String)> {
    let mut named = around.data.series.iter().filter(|(prefix, _)| {
        let name = Label::of(prefix);
        let words = name.telling_words();
        set.set.legend == format!("{prefix}.pps")
            || set.set.legend == **prefix
            || (!words.is_empty()
                && words.is_subset(&set.label.telling_words())
                && !name.contradicts_family(&set.label)
                && !name.contradicts_patch(&set.label))
    });
    let (prefix, series) = named.next()?;
    if named.next().is_some() {
        return None;
    }
    Some((prefix.clone(), row_key(&series.values, Printer::V3)?))
}

/// Whether a row differs from the wanted one only beyond six digits.
fn is_close(set: &SourcedSet<'_>, wanted: &str) -> bool {
    let wanted: Vec<f64> = wanted.split(' ').skip(1).filter_map(|t| t.parse().ok()).collect();
    wanted.len() == 5
        && set.row.values.iter().zip(&wanted).all(|(a, b)| (a - b).abs() <= 1e-6 * b.abs().max(1.0))
}

/// A label must not contradict the name of the file whose values it stands for.
fn check_label(around: &Surroundings<'_>, set: &SourcedSet<'_>, findings: &mut AuditFindings) {
    let Some(source) = &set.source else { return };
    let name = Label::of(&source.prefix);
    let family = around.site.dir(source).and_then(|d| d.family(&source.prefix));
    let what = if family.is_some() && set.label.family.is_some() && family != set.label.family {
        "the address family"
    } else if set.label.contradicts_revision(&name) {
        "the revision"
    } else if set.label.contradicts_patch(&name) {
        "the patch"
    } else {
        return;
    };
    findings.add(
        Rule::BlockLabel,
        Severity::Wrong,
        set.set.legend_line,
        Text::new(
            format!("'{}'", set.set.legend),
            format!("the values are those of {}.pps: {what} differs", source.prefix),
            "correct the label, or paste the block of the right files",
        ),
    );
}

/// The comparison lines must follow from the rows.
fn check_arithmetic(sets: &[SourcedSet<'_>], findings: &mut AuditFindings) {
    let Some((base, others)) = sets.split_first() else { return };
    for set in others {
        let Some(comparison) = &set.set.comparison else { continue };
        if let Some(data) = contradiction(base, set, comparison) {
            findings.add(
                Rule::BlockArithmetic,
                Severity::Wrong,
                comparison.line,
                Text::new(
                    printed(comparison),
                    data,
                    "run ministat again and paste the whole block",
                ),
            );
        }
    }
}

fn printed(comparison: &Comparison) -> String {
    match (comparison.is_proven, comparison.difference, comparison.percent) {
        (true, Some([d, e]), Some([p, q])) => format!("{d} +/- {e}, {p}% +/- {q}%"),
        (true, ..) => "a difference".to_owned(),
        (false, ..) => "no difference proven".to_owned(),
    }
}

/// What contradicts a printed comparison, within the printed precision.
fn contradiction(
    base: &SourcedSet<'_>,
    set: &SourcedSet<'_>,
    printed: &Comparison,
) -> Option<String> {
    let (a, b) = (base.row, set.row);
    let (n1, n2) = (f64::from(a.n), f64::from(b.n));
    if n1 < 3.0 || n2 < 3.0 || a.mean() == 0.0 {
        return None;
    }
    let digit = |v: f64| 10f64.powf(v.abs().max(1e-300).log10().floor() - 7.0);
    let slack = digit(a.mean()) + digit(b.mean());
    let difference = b.mean() - a.mean();
    let squares = (n1 - 1.0) * a.sd().powi(2) + (n2 - 1.0) * b.sd().powi(2);
    let pooled = (squares / (n1 + n2 - 2.0)).sqrt();
    let t = t_critical(true_confidence(printed.confidence), n1 + n2 - 2.0);
    let error = t * pooled * (1.0 / n1 + 1.0 / n2).sqrt();
    let off =
        |shown: f64, wanted: f64, slack: f64| (shown - wanted).abs() > slack + 2e-5 * wanted.abs();
    if let Some([shown, shown_error]) = printed.difference {
        if off(shown, difference, slack) {
            return Some(format!("the averages above give {difference:.6}"));
        }
        if off(shown_error, error, 1e-3 * error + slack) {
            return Some(format!("the rows above give +/- {error:.6}"));
        }
    }
    if let Some([shown, _]) = printed.percent
        && off(shown, difference * 100.0 / a.mean(), slack * 200.0 / a.mean().abs())
    {
        return Some(format!(
            "the averages above give {}",
            units::exact_percent(difference * 100.0 / a.mean())
        ));
    }
    if let Some(shown) = printed.pooled
        && off(shown, pooled, slack)
    {
        return Some(format!("the rows above give a pooled s of {pooled:.6}"));
    }
    let is_clear = (difference.abs() - error).abs() > slack + 2e-3 * error;
    (is_clear && (difference.abs() > error) != printed.is_proven).then(|| {
        let word = if printed.is_proven { "no difference is" } else { "a difference is" };
        format!("{word} proven: {difference:.6} +/- {error:.6}")
    })
}

/// N of the sets against each other and against the logs.
fn check_counts(around: &Surroundings<'_>, sets: &[SourcedSet<'_>], findings: &mut AuditFindings) {
    let most = sets.iter().map(|s| s.row.n).max().unwrap_or(0);
    for set in sets {
        let logged = around.configuration(set).map_or(0, |g| g.runs.len());
        let n = set.row.n as usize;
        if logged > n {
            let failed: Vec<String> = around
                .configuration(set)
                .into_iter()
                .flat_map(|g| &g.runs)
                .filter_map(|(number, run)| {
                    Some(format!("run {number}: {}", run.failure.as_ref()?))
                })
                .collect();
            let why =
                if failed.is_empty() { String::new() } else { format!(" ({})", failed.join("; ")) };
            findings.add(
                Rule::RunCount,
                Severity::Check,
                set.row.line,
                Text::new(
                    format!("'{}': {}", set.set.legend, units::plural(n, "run")),
                    format!("{logged} runs were logged{why}"),
                    "say which runs were left out and why",
                ),
            );
        } else if set.row.n < most {
            findings.add(
                Rule::RunCount,
                Severity::Check,
                set.row.line,
                Text::new(
                    format!("'{}': {}", set.set.legend, units::plural(n, "run")),
                    format!("another set of the block has {most}"),
                    "say why runs are missing",
                ),
            );
        }
    }
}

/// A set whose own baseline is on the block must not be read against another.
fn check_baseline(sets: &[SourcedSet<'_>], findings: &mut AuditFindings) {
    let Some((base, others)) = sets.split_first() else { return };
    for set in others {
        let is_own = |other: &&SourcedSet<'_>| {
            let (mine, theirs) = (set.label.telling_words(), other.label.telling_words());
            other.set.symbol != set.set.symbol
                && !other.label.revisions.is_empty()
                && other.label.revisions == set.label.revisions
                && theirs.is_subset(&mine)
                && theirs.len() < mine.len()
                && !other.label.contradicts_family(&set.label)
        };
        let is_old = set.label.contradicts_revision(&base.label);
        let Some(own) = others.iter().find(is_own).filter(|_| is_old) else { continue };
        let (Some(shown), Some(right)) = (Pair::of(base, set), Pair::of(own, set)) else {
            continue;
        };
        let Some(comparison) = &set.set.comparison else { continue };
        findings.add(
            Rule::OldBaseline,
            Severity::Check,
            comparison.line,
            Text::new(
                format!(
                    "'{}' {} (against '{}')",
                    set.set.legend,
                    units::exact_percent(shown.mean_percent),
                    base.set.legend
                ),
                format!(
                    "against its own baseline '{}' it is {} ± {:.2} %",
                    own.set.legend,
                    units::exact_percent(right.mean_percent),
                    right.half_width
                ),
                "compare each variant with the baseline of its own revision",
            ),
        );
    }
}

/// A short heading that names one family above a block of the other.
fn check_heading(around: &Surroundings<'_>, index: usize, findings: &mut AuditFindings) {
    let block = &around.page.blocks[index];
    let Some(item) = around.heading_above(block) else { return };
    let Some(named) = family_word(&item.text).filter(|_| item.is_announcement()) else { return };
    let families = around.block_families(index);
    if families.is_empty() || families.contains(&named) {
        return;
    }
    findings.add(
        Rule::HeadingFamily,
        Severity::Wrong,
        item.line,
        Text::new(
            format!("'{}'", item.text),
            format!(
                "the block below compares {}",
                families.iter().map(|f| f.name()).collect::<Vec<_>>().join(" and ")
            ),
            "correct the heading",
        ),
    );
}

/// One label with two values on one page.
fn check_two_values(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    // under another heading a label means another thing
    let mut first_of: BTreeMap<(Option<&str>, &str), &SourcedSet<'_>> = BTreeMap::new();
    let all = around.sets.iter().enumerate().flat_map(|(b, sets)| sets.iter().map(move |s| (b, s)));
    for (block, set) in all {
        if set.set.legend.is_empty() || is_generic(set.set) {
            continue;
        }
        let heading = around.page.blocks.get(block).and_then(|b| around.section(b));
        let place = (heading, set.set.legend.as_str());
        let first = *first_of.entry(place).or_insert(set);
        if first.row.key() == set.row.key() {
            continue;
        }
        findings.add(
            Rule::LabelTwoValues,
            Severity::Check,
            set.set.legend_line,
            Text::new(
                format!("'{}': median {}", set.set.legend, set.row.texts[2]),
                format!(
                    "line {} has median {} under the same label",
                    first.row.line, first.row.texts[2]
                ),
                "give different measurements different labels",
            ),
        );
    }
}

/// Labels such as `<stdin>` or a bare `pps` name nothing.
fn is_generic(set: &Set) -> bool {
    Label::of(&set.legend).telling_words().is_empty()
}

/// ministat's column labelled 99.5 % holds two-sided 99.8 % quantiles.
fn true_confidence(label: f64) -> f64 {
    if label == 99.5 { 0.998 } else { label.clamp(50.0, 99.0) / 100.0 }
}
