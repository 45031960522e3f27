//! A history for people: what changed first, then the series.

use std::cmp::Reverse;
use std::fmt::Write as _;

use super::{NAMED, again, back, beside, kind, known, label, newest_of, percent, place, size};
use crate::find::{Alert, Cause, History, Moved, Outgrown};
use crate::series::Series;
use fwdlab_results::units;

/// 100 columns without colour.
pub fn text(history: &History) -> String {
    let mut text = String::new();
    for alert in &history.alerts {
        let _ = writeln!(text, "{}", heading(history, alert));
        if let Some(own) = &alert.outgrown {
            let _ = writeln!(text, "    {}", larger(own));
        }
        for moved in alert.moved.iter().take(NAMED) {
            let name = history.series[moved.series].key.name();
            let back =
                back(history, alert, moved).map_or_else(String::new, |own| format!("; {own}"));
            let _ = writeln!(text, "    {:28} {name}{back}", size(history, moved));
        }
        if alert.moved.len() > NAMED {
            let _ = writeln!(text, "    and {} more series", alert.moved.len() - NAMED);
        }
        if !alert.unmoved.is_empty() {
            let _ = writeln!(text, "    did not move: {} series", alert.unmoved.len());
        }
        for own in beside(history, alert) {
            let _ = writeln!(text, "    changed there as well: {own}");
        }
        for command in again(history, alert) {
            let _ = writeln!(text, "    see again: {command}");
        }
    }
    suspects(&mut text, history);
    for own in history.newest.iter().take(NAMED) {
        let _ = writeln!(text, "{}", newest_of(history, own));
    }
    if let Some(more) = history.newest.len().checked_sub(NAMED + 1) {
        let more = more + 1;
        let _ = writeln!(text, "and {more} more newest points far from their levels: {ALL}");
    }
    if !text.is_empty() {
        text.push('\n');
    }
    let long: Vec<usize> =
        (0..history.series.len()).filter(|&i| history.series[i].points.len() > 1).collect();
    if !long.is_empty() {
        let _ = writeln!(
            text,
            "{:>6} {:>7} {:>14} {:>9}  series",
            "points", "changes", "last", "in all"
        );
    }
    for &index in &long {
        let series = &history.series[index];
        let _ = writeln!(
            text,
            "{:>6} {:>7} {:>14} {:>9}  {}",
            series.points.len(),
            history.changes[index].len(),
            last(series),
            overall(series),
            series.key.name(),
        );
    }
    let _ = writeln!(
        text,
        "{} series; {} of {}",
        history.series.len(),
        units::plural(history.changes.iter().map(Vec::len).sum::<usize>(), "change"),
        units::plural(history.alerts.len(), "cause"),
    );
    if let Some(single) = history.single() {
        let _ = writeln!(text, "{single}");
    }
    text
}

/// Where all is named of which only some is printed.
const ALL: &str = "--format json names all";

/// Those of most series first, set aside ones last; of many the first, and how many more there are.
fn suspects(text: &mut String, history: &History) {
    let mut all: Vec<&Alert> = history.suspects.iter().collect();
    all.sort_by_key(|alert| (alert.acknowledged.is_some(), Reverse(alert.moved.len())));
    for alert in all.iter().take(NAMED) {
        let what = match &alert.acknowledged {
            Some(reason) => format!("set aside: {reason}"),
            None => "measure it again".to_owned(),
        };
        let again = alert.outgrown.as_ref().map(|own| format!("; {}", larger(own)));
        let again = again.unwrap_or_default();
        let of = |moved: &Moved| {
            let way = if moved.change.ratio > 0.0 { "up" } else { "down" };
            (way, history.series[moved.series].key.name(), history.names_of_ends(moved).1)
        };
        let id = &alert.id;
        let _ = match alert.moved.as_slice() {
            [] => Ok(()),
            [one] => {
                let (way, name, since) = of(one);
                writeln!(text, "{id} suspected: {way} since {since}: {name}; {what}{again}")
            }
            [first, ..] => {
                let (count, since) = (alert.moved.len(), of(first).2);
                writeln!(text, "{id} suspected: {count} series since {since}; {what}{again}")
            }
        };
        if alert.moved.len() > 1 {
            for (way, name, _) in alert.moved.iter().take(NAMED).map(of) {
                let _ = writeln!(text, "    {way:4} {name}");
            }
        }
        if alert.moved.len() > NAMED {
            let _ = writeln!(text, "    and {} more series: {ALL}", alert.moved.len() - NAMED);
        }
    }
    let more = all.get(NAMED..).unwrap_or_default();
    let series: usize = more.iter().map(|alert| alert.moved.len()).sum();
    if series > 0 {
        let more = more.len();
        let _ = writeln!(text, "and {more} more suspected, of {series} series: {ALL}");
    }
}

/// `3fa19c20 regression after r1, at or before r2, software, open`.
fn heading(history: &History, alert: &Alert) -> String {
    let what = if alert.is_regression { "regression" } else { "improvement" };
    let cause = match alert.cause {
        Cause::Software => "",
        Cause::Machine => "; the machine or the lab, not the software",
        Cause::Both => "; the machine or the lab at least in part, more than the control shows",
    };
    let state = match (known(alert), alert.is_closed()) {
        (_, true) => "; taken back since".to_owned(),
        (Some(known), _) => format!("; {known}"),
        _ => alert.confirmed.as_ref().map_or_else(String::new, |_| "; confirmed".to_owned()),
    };
    let first = &alert.moved[0];
    let p = first.change.p;
    let p = if p < 1e-4 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") };
    format!("{} {what} {}, {p}{cause}{state}", alert.id, place(history, first))
}

/// Why an alert that somebody knows of is open: `open again: it was -3.0 % (-3.6 to -2.4) when it was acknowledged
/// (known)`.
fn larger(own: &Outgrown) -> String {
    let size = &own.size;
    let what = if own.is_set_aside { "set aside" } else { "acknowledged" };
    format!(
        "open again: it was {} ({:+.1} to {:+.1}) when it was {what} ({})",
        percent(size.percent / 100.0),
        size.low,
        size.high,
        own.reason
    )
}

/// The last median with its unit.
fn last(series: &Series) -> String {
    let median = series.points.last().map_or(f64::NAN, crate::Point::median);
    units::figure(median, &series.key.unit)
}

/// The last median over the first.
fn overall(series: &Series) -> String {
    match (series.points.first(), series.points.last()) {
        (Some(first), Some(last)) => label(last.median() / first.median() - 1.0),
        _ => String::new(),
    }
}

/// Somebody's words in a cell of a table of Markdown.
fn cell(text: &str) -> String {
    fwdlab_guard::markdown::plain(text).replace('|', "\\|")
}

/// The alerts as a Markdown table, for a page or the summary of a CI run.
pub fn markdown(history: &History) -> String {
    let mut text = String::new();
    if history.alerts.is_empty() {
        text.push_str("No change of level was found.\n");
    } else {
        text.push_str(
            "| alert | revisions | series | change | p | state |\n|---|---|---|---|---|---|\n",
        );
    }
    for alert in &history.alerts {
        let state = match (alert.is_closed(), &alert.acknowledged) {
            (true, _) => "taken back".to_owned(),
            (_, Some(_)) if alert.is_set_aside => "not confirmed".to_owned(),
            (_, Some(_)) => "acknowledged".to_owned(),
            _ => kind(alert),
        };
        for moved in &alert.moved {
            let (before, after) = history.names_of_ends(moved);
            let name = cell(&history.series[moved.series].key.name());
            let state = back(history, alert, moved).map_or_else(|| state.clone(), |own| cell(&own));
            let _ = writeln!(
                text,
                "| {} | {} … {} | {name} | {} | {:.2e} | {state} |",
                alert.id,
                cell(&before),
                cell(&after),
                size(history, moved),
                moved.change.p,
            );
        }
    }
    for alert in &history.alerts {
        let beside = beside(history, alert);
        if !beside.is_empty() {
            let _ = writeln!(
                text,
                "\nNote: {}: changed there as well: {}.",
                alert.id,
                cell(&beside.join("; "))
            );
        }
        for command in again(history, alert) {
            let _ = writeln!(text, "\nSee {} again:\n\n    {command}", alert.id);
        }
    }
    let points: usize = history.series.iter().map(|s| s.points.len()).sum();
    let _ =
        writeln!(text, "\n{} series, {}.", history.series.len(), units::plural(points, "point"));
    if let Some(single) = history.single() {
        let _ = writeln!(text, "\nNote: {single}.");
    }
    for own in &history.newest {
        let _ = writeln!(text, "\nNote: {}.", cell(&newest_of(history, own)));
    }
    for warning in &history.warnings {
        let _ = writeln!(text, "\nWarning: {}", fwdlab_guard::markdown::plain(warning));
    }
    text
}
