//! For people: plain text that fits a commit message, and Markdown.

use std::fmt::Write;

use fwdlab_stats::campaigns::Deviations;
use fwdlab_stats::validity::Severity;
use fwdlab_stats::{Comparison, Dataset, Effect, Verdict};

use crate::{Compared, Group, Judgement, Series};
use fwdlab_claims::words;
use fwdlab_results::units;

/// Columns of a commit message.
const WIDTH: usize = 72;

/// Groups with a line per series, then the verdicts.
pub(crate) fn text(compared: &Compared) -> String {
    let mut text = String::new();
    for (i, group) in compared.groups.iter().enumerate() {
        if i > 0 {
            text.push('\n');
        }
        let _ = writeln!(text, "{}", title(group));
        table(group, &mut text);
        for judgement in &group.judgements {
            wrapped(&format!("=> {}", short(judgement)), "   ", &mut text);
            for note in judgement.notes() {
                wrapped(&format!("   {note}"), "     ", &mut text);
            }
            campaigns(judgement, &mut text);
            findings(judgement, &mut text);
        }
    }
    for own in compared.notes() {
        text.push('\n');
        wrapped(&format!("warning: {own}"), "  ", &mut text);
    }
    for own in &compared.unfinished {
        let _ = writeln!(text, "\nwarning: {own}");
    }
    text
}

/// The verdict; what makes it invalid stands below it.
fn short(judgement: &Judgement) -> &str {
    words::without_causes(&judgement.sentence, &judgement.verdict, &judgement.findings)
}

/// Each campaign by itself, and how far campaigns lie apart.
fn campaigns(judgement: &Judgement, text: &mut String) {
    let Some(several) = &judgement.campaigns else { return };
    for own in &several.campaigns {
        let figure = own.comparison.as_ref().map_or("no figure".to_owned(), effect);
        wrapped(&format!("   campaign {}: {figure}", own.source), "     ", text);
    }
    let Deviations { block, process, campaign } = several.spread;
    let by = |what: &str, sd: f64| format!("{what} by {:.2} %", sd * 100.0);
    // with one block a process nobody knows how blocks of one process differ
    let inner = match process {
        Some(process) if block > 0.0 => {
            format!("{}, {}", by("processes", process), by("blocks", block))
        }
        Some(process) => by("processes", process),
        None => by("blocks", block),
    };
    let line = format!(
        "   campaigns differ by {:.2} % (standard deviation), {inner}; p of no difference between \
         campaigns {}",
        campaign * 100.0,
        units::p_value(several.same_p)
    );
    wrapped(&line, "     ", text);
}

fn findings(judgement: &Judgement, text: &mut String) {
    for finding in &judgement.findings {
        let weight = match finding.severity() {
            Severity::Invalid => "invalid",
            Severity::Warning => "warning",
        };
        wrapped(&format!("   {weight}: {finding}"), "     ", text);
        wrapped(&format!("     remedy: {}", finding.remedy()), "       ", text);
    }
}

/// What was compared: `forwarding rate in frames/s, inet`.
pub(super) fn title(group: &Group) -> String {
    let mut title = if group.metric.is_empty() { "value".to_owned() } else { group.metric.clone() };
    if !group.unit.is_empty() {
        let _ = write!(title, " in {}", group.unit);
    }
    if !group.name.is_empty() {
        let _ = write!(title, ", {}", group.name);
    }
    title
}

fn table(group: &Group, text: &mut String) {
    write_rows(group, &(0..group.series.len()).collect::<Vec<_>>(), text);
}

/// A line for each of these series, the baseline among them.
pub(super) fn write_rows(group: &Group, which: &[usize], text: &mut String) {
    // 1 s / rate: the time between frames, which is the device's cost only where nothing else bounds
    // it. Series with a cost of their own are shown with that, in a group of its own.
    let has_time = group.unit == "frames/s" && group.series.iter().all(|own| own.blocks.is_none());
    let mut rows = vec![vec![String::new(), "median".to_owned(), "CV".to_owned(), "n".to_owned()]];
    if has_time {
        rows[0].push("wall ns".to_owned());
    }
    rows[0].push("change".to_owned());
    let series = which.iter().filter_map(|i| Some((*i, group.series.get(*i)?)));
    for (i, series) in series {
        let mut row =
            vec![series.name.clone(), figure_or_dash(median(series)), cv(series), count(series)];
        if has_time {
            row.push(figure_or_dash(median(series).map(|median| 1e9 / median)));
        }
        row.push(if i == 0 { String::new() } else { change(&group.judgements[i - 1]) });
        rows.push(row);
    }
    for line in aligned(&rows) {
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// The estimate with its interval when it is decided, `~` when it is not.
fn change(judgement: &Judgement) -> String {
    match (&judgement.verdict, &judgement.comparison) {
        (Verdict::Faster { .. } | Verdict::Slower { .. }, Some(c)) => effect(c),
        (Verdict::Equivalent, Some(_)) => "= within the margin".to_owned(),
        (Verdict::Invalid { .. }, _) => "invalid".to_owned(),
        _ => "~".to_owned(),
    }
}

/// `+1.75 % [+1.20, +2.30]`; beyond ten times as in sentences: `x790 [x650, x900]`.
fn effect(c: &Comparison) -> String {
    let all = [c.estimate, c.interval95.low, c.interval95.high];
    if all.into_iter().any(Effect::is_far) {
        return words::change(c, None).join(" ");
    }
    let [estimate, low, high] = all.map(Effect::percent);
    format!("{estimate:+.2} % [{low:+.2}, {high:+.2}]")
}

/// The median; nothing of a series without a value.
pub(crate) fn median(series: &Series) -> Option<f64> {
    Dataset::new(series.values.clone()).ok().map(|sample| sample.median())
}

/// A figure, or `-` where there is none.
pub(crate) fn figure_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), units::bare)
}

/// Coefficient of variation, `FAILED` where trials gave no value for that they failed, `-` where there is none to
/// give, all are 0 or there is one only.
fn cv(series: &Series) -> String {
    let Ok(sample) = Dataset::new(series.values.clone()) else {
        return if series.failed.is_empty() { "-" } else { "FAILED" }.to_owned();
    };
    let cv = sample.cv();
    if cv.is_finite() && series.values.len() > 1 {
        format!("{:.2} %", cv * 100.0)
    } else {
        "-".to_owned()
    }
}

/// `5`, or `4 of 5` when values are missing.
fn count(series: &Series) -> String {
    let kept = series.values.len();
    if series.planned() == kept {
        kept.to_string()
    } else {
        format!("{kept} of {}", series.planned())
    }
}

/// Rows in columns, the first to the left, the others to the right, the last to the left again.
pub(crate) fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter()
        .map(|row| {
            let cells = row.iter().enumerate().map(|(i, cell)| {
                if i == 0 || i + 1 == columns {
                    format!("{cell:<0$}", widths[i])
                } else {
                    format!("{cell:>0$}", widths[i])
                }
            });
            format!("  {}", cells.collect::<Vec<_>>().join("  "))
        })
        .collect()
}

/// Writes `line` in lines of at most 72 columns, those after the first behind `indent`.
pub(super) fn wrapped(line: &str, indent: &str, text: &mut String) {
    let lead: String = line.chars().take_while(|c| *c == ' ').collect();
    let (mut current, mut is_empty) = (lead, true);
    for word in line.split_whitespace() {
        if !is_empty && current.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{current}");
            (current, is_empty) = (indent.to_owned(), true);
        }
        if !is_empty {
            current.push(' ');
        }
        current.push_str(word);
        is_empty = false;
    }
    let _ = writeln!(text, "{current}");
}

/// A table and the sentences, in Markdown.
pub(crate) fn markdown(compared: &Compared) -> String {
    let mut text = String::new();
    for group in &compared.groups {
        let _ = writeln!(text, "### {}\n", title(group));
        text.push_str("| variant | median | CV | n | change [interval] | verdict |\n|---|---:|---:|---:|---:|---|\n");
        for (i, series) in group.series.iter().enumerate() {
            let judgement = i.checked_sub(1).map(|i| &group.judgements[i]);
            let name = series.name.replace('|', "\\|");
            let (change, word) =
                judgement.map_or((String::new(), "baseline"), |j| (change(j), j.word));
            let _ = writeln!(
                text,
                "| {name} | {} | {} | {} | {change} | {word} |",
                figure_or_dash(median(series)),
                cv(series),
                count(series)
            );
        }
        text.push('\n');
        for judgement in &group.judgements {
            let _ = writeln!(text, "=> {}\n", short(judgement));
            for note in judgement.notes() {
                let _ = writeln!(text, "- {note}");
            }
            for finding in &judgement.findings {
                let _ = writeln!(text, "- {finding}; remedy: {}", finding.remedy());
            }
            text.push('\n');
        }
    }
    for own in compared.warnings() {
        let _ = writeln!(text, "Warning: {}\n", fwdlab_guard::markdown::plain(&own));
    }
    text
}
