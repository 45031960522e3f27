//! Columns in the manner of benchstat: one line per group, one column per series, the unit in the
//! head, the change with its p and n beside each variant.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::text::{aligned, median};
use crate::{Compared, Group, Judgement, Series};
use fwdlab_results::units;
use fwdlab_stats::{Direction, Effect, Verdict, signed_change};

/// One table per unit and set of series.
pub(crate) fn benchstat(compared: &Compared) -> String {
    let mut tables: BTreeMap<(String, Vec<String>), Vec<&Group>> = BTreeMap::new();
    for group in &compared.groups {
        let names = group.series.iter().map(|series| series.name.clone()).collect();
        tables.entry((group.unit.clone(), names)).or_default().push(group);
    }
    let mut text = String::new();
    for ((unit, names), groups) in &tables {
        if !text.is_empty() {
            text.push('\n');
        }
        table(unit, names, groups, &mut text);
    }
    text
}

fn table(unit: &str, names: &[String], groups: &[&Group], text: &mut String) {
    let unit = if unit.is_empty() { "value" } else { unit };
    let mut head = vec![String::new()];
    let mut units = vec![String::new()];
    for (i, name) in names.iter().enumerate() {
        head.push(name.clone());
        units.push(unit.to_owned());
        if i > 0 {
            head.push(String::new());
            units.push("vs base".to_owned());
        }
    }
    let mut rows = vec![head, units];
    rows.extend(groups.iter().map(|group| row(group)));
    for line in aligned(&rows) {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    for group in groups {
        for judgement in &group.judgements {
            let _ = writeln!(text, "=> {}", judgement.sentence);
            for note in judgement.notes() {
                let _ = writeln!(text, "   {note}");
            }
            for finding in &judgement.findings {
                let _ = writeln!(text, "   {finding}");
            }
        }
    }
}

fn row(group: &Group) -> Vec<String> {
    let name = if group.name.is_empty() { &group.metric } else { &group.name };
    let mut row = vec![name.clone()];
    for (i, series) in group.series.iter().enumerate() {
        row.push(centre(series));
        if let Some(judgement) = i.checked_sub(1).map(|i| &group.judgements[i]) {
            let p =
                judgement.comparison.as_ref().map_or(String::new(), |c| format!("p={:.3} ", c.p));
            row.push(format!(
                "{} ({p}n={})",
                change(judgement, group.direction),
                series.values.len()
            ));
        }
    }
    row
}

/// The change of the values themselves, new / old - 1, as benchstat has it: fewer ns/op are negative;
/// new / old beyond ten times. `~` where nothing is proven.
fn change(judgement: &Judgement, direction: Direction) -> String {
    let of_values = |effect: Effect| match direction {
        Direction::HigherIsBetter => effect,
        Direction::LowerIsBetter => Effect::from_ratio(1.0 / effect.ratio()),
    };
    match (&judgement.verdict, &judgement.comparison) {
        (Verdict::Faster { .. } | Verdict::Slower { .. }, Some(c)) => {
            let [estimate, a, b] = [c.estimate, c.interval95.low, c.interval95.high].map(of_values);
            let (low, high) = if a <= b { (a, b) } else { (b, a) };
            if [estimate, low, high].into_iter().any(Effect::is_far) {
                return signed_change(estimate, [low, high]).join(" ");
            }
            let [estimate, low, high] = [estimate, low, high].map(Effect::percent);
            format!("{estimate:+.2}% [{low:+.2}, {high:+.2}]")
        }
        (Verdict::Invalid { .. }, _) => "invalid".to_owned(),
        _ => "~".to_owned(),
    }
}

/// The median, and how far the farthest value lies from it, in per cent; `-` without a value.
fn centre(series: &Series) -> String {
    let Some(centre) = median(series) else { return "-".to_owned() };
    let far = series.values.iter().map(|value| (value - centre).abs()).fold(0.0, f64::max);
    // of a median of 0 nothing is a share
    if centre == 0.0 {
        return units::bare(centre);
    }
    let far = units::decimal((far / centre.abs() * 100.0).round(), 0);
    format!("{} ± {far}%", units::bare(centre))
}
