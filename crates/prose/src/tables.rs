//! Cells of Markdown tables: percentages of a change, and rates.

use crate::anywhere;
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::Surroundings;
use fwdlab_netbenches::page::{Item, ItemKind};
use fwdlab_results::units;
use fwdlab_sentence::agreement::{Agreement, agreement};
use fwdlab_sentence::clause::clauses;
use fwdlab_sentence::quantity::{Rate, rates};

/// Words of a heading whose column holds changes.
const CHANGES: [&str; 11] = [
    "change", "differ", "gain", "improv", "delta", "impact", "drop", "loss", "speed-up", "speedup",
    "faster",
];
/// Words of a heading whose column holds rates in packets/s.
const RATES: [&str; 5] = ["pps", "packets/s", "packets per s", "frames/s", "packets-per-s"];

/// Every table of the page.
pub(crate) fn check(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    let rows: Vec<&Item> =
        around.page.items.iter().filter(|item| item.kind == ItemKind::Row).collect();
    // rows of one table stand on lines that follow each other
    for table in rows.chunk_by(|a, b| a.line + 1 == b.line) {
        let is_rule = |c: char| matches!(c, '|' | '-' | ':' | ' ');
        let headed = match table {
            [header, rule, body @ ..] if rule.text.chars().all(is_rule) => Some((header, body)),
            _ => None,
        };
        let Some((header, body)) = headed else {
            table.iter().for_each(|row| check_bare(around, row, findings));
            continue;
        };
        let names = cells(&header.text);
        for row in body {
            check_row(around, &names, row, findings);
        }
    }
}

/// A row without a heading: what begins with a sign, or is so many times, is a change of what the row names.
fn check_bare(around: &Surroundings<'_>, row: &Item, findings: &mut AuditFindings) {
    let cells = cells(&row.text);
    let Some((key, values)) = cells.split_first() else { return };
    for cell in values {
        let is_signed = cell.starts_with(['+', '-', '−']) && cell.ends_with('%');
        let times = cell.strip_prefix(['x', '×']).or_else(|| cell.strip_suffix(['x', '×']));
        let times = times.and_then(|number| number.trim().parse::<f64>().ok());
        let said = match times {
            Some(times) => format!("{key}: {:+.0} %", 100.0 * (times - 1.0)),
            None if is_signed => format!("{key}: {cell}"),
            None => continue,
        };
        for clause in clauses(&said) {
            anywhere::check(around, &clause, row.line, findings);
        }
    }
}

fn cells(row: &str) -> Vec<&str> {
    row.trim().trim_matches('|').split('|').map(str::trim).collect()
}

fn check_row(around: &Surroundings<'_>, names: &[&str], row: &Item, findings: &mut AuditFindings) {
    let cells = cells(&row.text);
    let Some((key, values)) = cells.split_first() else { return };
    for (name, cell) in names.iter().skip(1).zip(values) {
        let heading = format!("{key} {name}").to_lowercase();
        let is_signed = cell.starts_with(['+', '-', '−']);
        let is_share = heading.contains("share") || heading.contains("cpu");
        if cell.contains('%')
            && !is_share
            && (is_signed || CHANGES.iter().any(|w| heading.contains(w)))
        {
            for clause in clauses(&format!("{key} {name}: {cell}")) {
                anywhere::check(around, &clause, row.line, findings);
            }
        }
        check_rate(around, key, name, cell, row.line, findings);
    }
}

/// A rate in a table must be among the figures of the page or of the data beside it.
fn check_rate(
    around: &Surroundings<'_>,
    key: &str,
    name: &str,
    cell: &str,
    line: usize,
    findings: &mut AuditFindings,
) {
    let heading = name.to_lowercase();
    let is_load = ["load", "offered", "sent", "rate limit"].iter().any(|w| heading.contains(w));
    let own = format!("{key} {name}");
    let is_about_sets = around.sets.iter().flatten().any(|set| {
        let words = fwdlab_sentence::clause::words(&own);
        set.family.is_some_and(|f| {
            words.iter().any(|(_, w)| fwdlab_netbenches::name::family_word(w) == Some(f))
        })
    });
    if is_load || !is_about_sets {
        return;
    }
    let mut found = rates(cell);
    if found.is_empty() && RATES.iter().any(|w| heading.contains(w)) {
        found = rates(&format!("{} pps", cell.replace([',', ' '], "")));
    }
    let [mention] = found.as_slice() else { return };
    let is_close = |value: f64| is_close(mention, value);
    let on_page =
        around.sets.iter().flatten().any(|s| s.row.values[..4].iter().any(|v| is_close(*v)));
    if on_page || around.data.all_values().values().flatten().any(|v| is_close(*v)) {
        return;
    }
    let near = |value: f64| (mention.pps() / value - 1.0).abs();
    let medians = around.sets.iter().flatten().map(|set| set.row.median());
    let nearest = medians.min_by(|a, b| near(*a).total_cmp(&near(*b)));
    findings.add(
        Rule::ClaimRate,
        Severity::Check,
        line,
        Text::new(
            format!("'{cell}' under '{name}' of '{key}'"),
            format!(
                "no figure of the page or of the data beside it has this value; the nearest is {}",
                nearest.map_or("none".to_owned(), units::rate)
            ),
            "take the number from the block",
        ),
    );
}

fn is_close(mention: &Rate, value: f64) -> bool {
    agreement(mention.number, mention.decimals, value / mention.unit) <= Agreement::Near
}
