//! Cells of Markdown tables: percentages of a change, and rates. A cell is of the set that its row and its column name
//! together, where they name one; else it has to be some figure of the page.

use std::collections::BTreeSet;

use crate::anywhere;
use crate::named::{among, with_all};
use crate::window::windows;
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::pair::Pair;
use fwdlab_evidence::surroundings::{SourcedSet, Surroundings};
use fwdlab_netbenches::name::family_word;
use fwdlab_netbenches::page::{Item, ItemKind};
use fwdlab_results::units;
use fwdlab_sentence::agreement::{Agreement, agreement};
use fwdlab_sentence::clause::clauses;
use fwdlab_sentence::derived::wrong_changes;
use fwdlab_sentence::label::Label;
use fwdlab_sentence::quantity::{Rate, rates};
use fwdlab_sentence::subject::{folded, spoken};

/// Words of a heading whose column holds changes.
const CHANGES: [&str; 11] = [
    "change", "differ", "gain", "improv", "delta", "impact", "drop", "loss", "speed-up", "speedup",
    "faster",
];
/// Words of a heading whose column holds rates in packets/s.
const RATES: [&str; 5] = ["pps", "packets/s", "packets per s", "frames/s", "packets-per-s"];

/// Rows times blocks up to which each cell is held against each block.
const MOST_WORK: usize = 4000;

/// Every table of the page; those of a long page against the blocks around them, as its sentences.
pub(crate) fn check(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    let rows: Vec<&Item> =
        around.page.items.iter().filter(|item| item.kind == ItemKind::Row).collect();
    if rows.len() * around.page.blocks.len() <= MOST_WORK {
        return check_tables(around, &rows, around, findings);
    }
    for (shown, own) in windows(around, &rows) {
        check_tables(&around.within(&shown), own, around, findings);
    }
}

/// Some tables, whose cells are of the blocks that are shown, or else figures of the whole page.
fn check_tables(
    around: &Surroundings<'_>,
    rows: &[&Item],
    whole: &Surroundings<'_>,
    findings: &mut AuditFindings,
) {
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
            check_row((around, whole), &names, row, findings);
            check_quotients(&names, row, findings);
        }
        check_derived(&names, body, findings);
    }
}

/// A column of changes beside two of figures.
fn check_derived(names: &[&str], body: &[&Item], findings: &mut AuditFindings) {
    let rows: Vec<Vec<&str>> = body.iter().map(|row| cells(&row.text)).collect();
    let mut columns = (1..names.len()).filter(|at| is_of_changes(&names[*at].to_lowercase()));
    let Some(change) = columns.next().filter(|_| columns.next().is_none()) else { return };
    for own in wrong_changes(names, &rows, change) {
        let row = &rows[own.row];
        let [a, b] = own.figures;
        let text = Text::new(
            format!("'{}' under '{}' of '{}'", row[change], names[change], row[0]),
            format!("from {a} to {b} is {:+.1} %", own.percent),
            format!("write {:+.1} %", own.percent),
        );
        findings.add(Rule::ClaimSize, Severity::Wrong, body[own.row].line, text);
    }
}

fn is_of_changes(heading: &str) -> bool {
    CHANGES.iter().any(|word| heading.contains(word))
}

/// A change against the set that another cell of its row names, below "base" or "against". Whether it is one.
fn check_based(
    around: &Surroundings<'_>,
    (names, cells): (&[&str], &[&str]),
    column: usize,
    line: usize,
    findings: &mut AuditFindings,
) -> bool {
    const BASES: [&str; 5] = ["base", "against", "compared", "reference", "relative"];
    let is_base = |name: &&str| BASES.iter().any(|word| name.to_lowercase().contains(word));
    let Some(base) = names.iter().position(is_base) else { return false };
    let (Some(base), Some(key)) = (cells.get(base), cells.first()) else { return false };
    let (name, cell) = (names[column], cells[column]);
    let of = |own: &str| meant(around, &format!("{own} {name}"));
    let (Some(base), Some(variant)) = (of(base), of(key)) else { return false };
    let number = cell.trim_end_matches([' ', '%']).replace('−', "-");
    let (Some(pair), Ok(own)) = (Pair::of(base, variant), number.parse::<f64>()) else {
        return false;
    };
    let decimals = number.split_once('.').map_or(0, |(_, rest)| rest.len());
    let is_signed = number.starts_with(['+', '-']);
    let is_it = |wanted: f64| {
        let (own, wanted) = if is_signed { (own, wanted) } else { (own.abs(), wanted.abs()) };
        agreement(own, decimals, wanted) <= Agreement::Near
    };
    if !is_it(pair.mean_percent) && !is_it(pair.median_percent) {
        let wanted = pair.mean_percent;
        let (variant, base) = (&variant.set.legend, &base.set.legend);
        let text = Text::new(
            format!("'{cell}' under '{name}' of '{key}'"),
            format!("'{variant}' against '{base}': {wanted:+.2} %"),
            format!("write {wanted:+.1} %"),
        );
        findings.add(Rule::ClaimSize, Severity::Wrong, line, text);
    }
    true
}

/// "Mpps per queue" beside "Mpps" and "queues": one column divided by another.
fn check_quotients(names: &[&str], row: &Item, findings: &mut AuditFindings) {
    let cells = cells(&row.text);
    let column = |name: &str| {
        let root = name.trim().trim_end_matches('s').to_lowercase();
        let is_it = |own: &&str| own.trim().trim_end_matches('s').to_lowercase() == root;
        let number = |at: usize| cells.get(at)?.replace(',', "").parse::<f64>().ok();
        names.iter().position(is_it).and_then(number)
    };
    for (name, cell) in names.iter().zip(&cells) {
        let Some((of, per)) = name.split_once(" per ") else { continue };
        let (Some(of), Some(per)) = (column(of), column(per)) else { continue };
        let Ok(own) = cell.replace(',', "").parse::<f64>() else { continue };
        let decimals = cell.split_once('.').map_or(0, |(_, rest)| rest.len());
        let wanted = of / per;
        if per == 0.0 || agreement(own, decimals, wanted) <= Agreement::Near {
            continue;
        }
        let text = Text::new(
            format!("'{cell}' under '{name}' of '{}'", cells[0]),
            format!("{of} / {per} is {wanted:.decimals$}"),
            format!("write {wanted:.decimals$}"),
        );
        findings.add(Rule::ClaimRate, Severity::Wrong, row.line, text);
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

fn check_row(
    (around, whole): (&Surroundings<'_>, &Surroundings<'_>),
    names: &[&str],
    row: &Item,
    findings: &mut AuditFindings,
) {
    let cells = cells(&row.text);
    let Some((key, values)) = cells.split_first() else { return };
    for (at, (name, cell)) in names.iter().skip(1).zip(values).enumerate() {
        let heading = format!("{key} {name}").to_lowercase();
        let is_signed = cell.starts_with(['+', '-', '−']);
        let is_share = heading.contains("share") || heading.contains("cpu");
        if cell.contains('%')
            && !is_share
            && (is_signed || is_of_changes(&heading))
            && !check_based(around, (names, &cells), at + 1, row.line, findings)
        {
            for clause in clauses(&format!("{key} {name}: {cell}")) {
                anywhere::check(around, &clause, row.line, findings);
            }
        }
        check_rate((around, whole), (key, name, cell), row.line, findings);
    }
}

/// A rate in a table must be among the figures of the page or of the data beside it.
fn check_rate(
    (around, whole): (&Surroundings<'_>, &Surroundings<'_>),
    (key, name, cell): (&str, &str, &str),
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
    if around.page.blocks.is_empty() && !is_load {
        return check_series(around, (key, name, cell), line, findings);
    }
    let meant = meant(around, &own);
    if is_load || !is_about_sets && meant.is_none() {
        return;
    }
    let Some(mention) = rate_of(name, cell) else { return };
    let is_close = |value: f64| is_close(&mention, value);
    if let Some(set) = meant {
        check_meant(set, &mention, (key, name, cell), line, findings);
        return;
    }
    let on_page =
        whole.sets.iter().flatten().any(|s| s.row.values[..4].iter().any(|v| is_close(*v)));
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

/// The one rate of a cell, of which the head of the column may give the unit.
fn rate_of(name: &str, cell: &str) -> Option<Rate> {
    let mut found = rates(cell);
    let heading = name.to_lowercase();
    if let Some(unit) = unit_of(&heading).filter(|_| found.is_empty()) {
        found = rates(&format!("{} {unit}", cell.replace([',', ' '], "")));
    }
    found.pop().filter(|_| found.is_empty())
}

/// A rate of a page without blocks: of the series beside it that row and column name.
fn check_series(
    around: &Surroundings<'_>,
    (key, name, cell): (&str, &str, &str),
    line: usize,
    findings: &mut AuditFindings,
) {
    let Some(mention) = rate_of(name, cell) else { return };
    let said = spoken(&format!("{key} {name}"));
    let family = said.iter().find_map(|word| family_word(word));
    let is_of_family = |prefix: &String| {
        family.is_none() || around.data.family(prefix).is_none_or(|own| Some(own) == family)
    };
    let all = around.data.all_values().iter();
    let all: Vec<(&String, &Vec<f64>)> =
        all.filter(|(prefix, values)| is_of_family(prefix) && !values.is_empty()).collect();
    let label = |prefix: &str| Label::of(prefix).telling_words().into_iter().map(folded).collect();
    let labels: Vec<Vec<String>> = all.iter().map(|(prefix, _)| label(prefix)).collect();
    let meant = with_all(&said, &labels);
    let has = |at: &usize| {
        let values = all[*at].1;
        let low = values.iter().copied().fold(f64::INFINITY, f64::min) * (1.0 - FAR);
        let high = values.iter().copied().fold(0.0, f64::max) * (1.0 + FAR);
        (low..=high).contains(&mention.pps())
    };
    let Some(first) = meant.first().filter(|_| !meant.iter().any(has)) else { return };
    let (prefix, values) = all[*first];
    let median = units::rate(fwdlab_stats::median(values));
    let text = Text::new(
        format!("'{cell}' under '{name}' of '{key}'"),
        format!("{prefix} has {median}"),
        format!("write {median}"),
    );
    let severity = if meant.len() == 1 { Severity::Wrong } else { Severity::Check };
    findings.add(Rule::ClaimRate, severity, line, text);
}

/// The unit in a heading: `inet4 (Kpps)`, `packets/s`.
fn unit_of(heading: &str) -> Option<&str> {
    let is_end = |c: char| !c.is_alphanumeric() && c != '/';
    let word = heading.split(is_end).find(|word| {
        word.strip_suffix("pps").is_some_and(|scale| matches!(scale, "" | "k" | "m" | "g"))
    });
    word.or_else(|| RATES.iter().any(|own| heading.contains(own)).then_some("pps"))
}

/// The one set of the page that some words name, whatever blocks show it.
fn meant<'a>(around: &'a Surroundings<'_>, words: &str) -> Option<&'a SourcedSet<'a>> {
    let families: BTreeSet<_> = spoken(words).iter().filter_map(|w| family_word(w)).collect();
    let is_own = |set: &&SourcedSet<'_>| {
        families.is_empty() || set.family.is_none_or(|family| families.contains(&family))
    };
    let sets: Vec<&SourcedSet<'_>> = around.sets.iter().flatten().filter(is_own).collect();
    among(&spoken(words), &sets)
}

/// How far a cell may be off the runs of its set, as a share.
const FAR: f64 = 0.01;

/// A rate in the cell of one set.
fn check_meant(
    set: &SourcedSet<'_>,
    mention: &Rate,
    (key, name, cell): (&str, &str, &str),
    line: usize,
    findings: &mut AuditFindings,
) {
    let heading = name.to_lowercase();
    if ["stddev", "deviation", "spread", "sigma"].iter().any(|word| heading.contains(word)) {
        let sd = set.row.sd();
        if heading.contains("dev") && !is_close(mention, sd) {
            let text = Text::new(
                format!("'{cell}' under '{name}' of '{key}'"),
                format!("the standard deviation of '{}' is {}", set.set.legend, units::rate(sd)),
                format!("write {}", units::rate(sd)),
            );
            findings.add(Rule::ClaimRate, Severity::Wrong, line, text);
        }
        return;
    }
    let [low, high, ..] = set.row.values;
    let is_inside = (low * (1.0 - FAR)..=high * (1.0 + FAR)).contains(&mention.pps());
    if is_inside || set.row.values[..4].iter().any(|value| is_close(mention, *value)) {
        return;
    }
    let median = units::rate(set.row.median());
    let text = Text::new(
        format!("'{cell}' under '{name}' of '{key}'"),
        format!("'{}' has {median}", set.set.legend),
        format!("write {median}"),
    );
    findings.add(Rule::ClaimRate, Severity::Wrong, line, text);
}

fn is_close(mention: &Rate, value: f64) -> bool {
    agreement(mention.number, mention.decimals, value / mention.unit) <= Agreement::Near
}
