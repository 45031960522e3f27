//! Medians against logs, failed runs, series that vanish, numbers of runs.

use std::collections::BTreeSet;

use fwdlab_evidence::finding::{AuditFinding, AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::Surroundings;
use fwdlab_netbenches::data::{ConfigurationData, DirData};
use fwdlab_netbenches::number::format_g8;
use fwdlab_results::units;
use fwdlab_sentence::quantity::{is_of_each_set, run_counts};

/// The data of a directory, apart from any page.
pub fn check_dir(data: &DirData, place: impl Fn(&str) -> String) -> Vec<AuditFinding> {
    let mut found = Vec::new();
    for (prefix, series) in &data.series {
        let mut findings = AuditFindings::about(&place(&format!("{prefix}.pps")));
        for line in series.bad_lines.iter().take(3) {
            let text = Text::new("a median", "the line is no number", "write one number a line");
            findings.add(Rule::PageUnreadable, Severity::Check, *line, text);
        }
        if let Some(configuration) = data.configurations.get(prefix) {
            check_values(data, prefix, &series.values, configuration, &mut findings);
        }
        check_zeros(&series.values, &mut findings);
        found.extend(findings.into_sorted());
    }
    let mut findings = AuditFindings::about(&place("RAW"));
    for (prefix, configuration) in &data.configurations {
        check_failures(prefix, configuration, &mut findings);
        check_missing(data, prefix, configuration, &mut findings);
    }
    found.extend(findings.into_sorted());
    found
}

/// Every published median must be that of one run, by one of the two rules.
fn check_values(
    data: &DirData,
    prefix: &str,
    values: &[f64],
    configuration: &ConfigurationData,
    findings: &mut AuditFindings,
) {
    let printed = configuration.printed();
    if printed.is_empty()
        || printed.len() < values.len() && printed.len() < configuration.runs.len()
    {
        return;
    }
    let left = unmatched(values, &printed);
    if left.is_empty() {
        return;
    }
    let is_of = |other: &ConfigurationData| unmatched(values, &other.printed()).is_empty();
    if let Some((other, _)) =
        data.configurations.iter().find(|(name, g)| *name != prefix && is_of(g))
    {
        return report_other_name(prefix, other, findings);
    }
    let is_another_figure = left.len() == values.len();
    for (index, value) in left.iter().take(3) {
        let nearest = printed
            .iter()
            .flat_map(|p| p.iter())
            .filter_map(|t| t.parse::<f64>().ok())
            .min_by(|a, b| (a - value).abs().total_cmp(&(b - value).abs()));
        findings.add(
            Rule::MedianReproduced,
            if is_another_figure { Severity::Check } else { Severity::Wrong },
            index + 1,
            Text::new(
                format_g8(*value),
                format!(
                    "no log gives this median; the nearest is {}",
                    nearest.map_or("none".to_owned(), format_g8)
                ),
                "compute the file again from the logs, or add the log",
            ),
        );
    }
}

fn report_other_name(prefix: &str, other: &str, findings: &mut AuditFindings) {
    findings.add(
        Rule::MedianReproduced,
        Severity::Check,
        1,
        Text::new(
            format!("the medians of {prefix}"),
            format!("they are those of the logs of {other}"),
            "give logs and medians one name",
        ),
    );
}

/// Values (with their index) that no run yields by either rule: a file may have been made in parts,
/// before and after ministat changed.
fn unmatched(values: &[f64], printed: &[&[String; 2]]) -> Vec<(usize, f64)> {
    let number = |text: &String| text.parse::<f64>().unwrap_or(f64::NAN);
    let mut free: Vec<[f64; 2]> = printed.iter().map(|p| [number(&p[0]), number(&p[1])]).collect();
    let mut left = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let is_it = |figure: &f64| (figure - value).abs() <= 1e-7 * value.abs();
        match free.iter().position(|run| run.iter().any(is_it)) {
            Some(at) => {
                free.swap_remove(at);
            }
            None => left.push((index, *value)),
        }
    }
    left
}

fn check_zeros(values: &[f64], findings: &mut AuditFindings) {
    if let Some(index) = values.iter().position(|v| *v <= 0.0) {
        findings.add(
            Rule::FailedRun,
            Severity::Check,
            index + 1,
            Text::new(
                format_g8(values[index]),
                "a run that forwarded nothing is a failed run",
                "say that it failed and leave it out of the statistics",
            ),
        );
    }
}

fn check_failures(prefix: &str, configuration: &ConfigurationData, findings: &mut AuditFindings) {
    let failed: Vec<String> = configuration
        .runs
        .iter()
        .filter_map(|(n, run)| Some(format!("run {n}: {}", run.failure.as_ref()?)))
        .collect();
    if failed.is_empty() {
        return;
    }
    findings.add(
        Rule::FailedRun,
        Severity::Check,
        1,
        Text::new(
            format!("{} of {prefix}", units::plural(configuration.runs.len(), "run")),
            format!(
                "{} failed: {}",
                failed.len(),
                failed.iter().take(4).cloned().collect::<Vec<_>>().join("; ")
            ),
            "name failed runs in the report",
        ),
    );
}

/// A configuration with logs and without medians, in a directory that has medians.
fn check_missing(
    data: &DirData,
    prefix: &str,
    configuration: &ConfigurationData,
    findings: &mut AuditFindings,
) {
    let is_expected = data.series.len() >= 2 && !configuration.runs.is_empty();
    if !is_expected || data.series.contains_key(prefix) {
        return;
    }
    let printed = configuration.printed();
    let is_of =
        |values: &Vec<f64>| values.len() == printed.len() && unmatched(values, &printed).is_empty();
    if !printed.is_empty() && data.series.values().any(|series| is_of(&series.values)) {
        return; // its medians are there under another name
    }
    let best = configuration.forwarded_pps();
    let seen = best.map_or("nothing was received".to_owned(), |v| {
        format!("median {} frames/s", units::whole(v))
    });
    findings.add(
        Rule::SeriesMissing,
        Severity::Check,
        1,
        Text::new(
            format!("{} series of medians, none of {prefix}", data.series.len()),
            format!("{} runs of it were logged ({seen})", configuration.runs.len()),
            "show the series, failed or not",
        ),
    );
}

/// "5 benches" against N on the page.
pub fn check_counts(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    let shown: BTreeSet<u64> = around.sets.iter().flatten().map(|s| u64::from(s.row.n)).collect();
    if shown.is_empty() {
        return;
    }
    for item in &around.page.items {
        for count in run_counts(&item.text) {
            // "none of the 4 benches" are the blocks
            let before = &item.text[..count.offset];
            let is_of_blocks = usize::try_from(count.value) == Ok(around.page.blocks.len())
                && before.split_whitespace().rev().take(2).any(|word| matches!(word, "of" | "all"));
            let is_shown = shown.contains(&count.value) || is_of_blocks;
            if count.value < 2 || count.value > 100 || is_shown {
                continue;
            }
            let is_sure = shown.len() == 1 && is_of_each_set(&item.text, &count);
            findings.add(
                Rule::RunCount,
                if is_sure { Severity::Wrong } else { Severity::Check },
                item.line_at(count.offset),
                Text::new(
                    format!("'{}' in: {}", count.text, item.text),
                    format!(
                        "the blocks have N = {}",
                        shown.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
                    ),
                    "name the number of runs of each set",
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_netbenches::data::RunData;

    fn configuration(medians: &[&str]) -> ConfigurationData {
        let run = |text: &&str| RunData {
            printed: Some([(*text).to_owned(), (*text).to_owned()]),
            ..RunData::default()
        };
        ConfigurationData {
            runs: (1..).zip(medians.iter().map(run)).collect(),
            ..ConfigurationData::default()
        }
    }

    #[test]
    fn a_median_that_no_log_gives_is_wrong() {
        let mut findings = AuditFindings::about("a.pps");
        let data = DirData::default();
        check_values(&data, "a", &[100.0, 250.0], &configuration(&["100", "200"]), &mut findings);
        let found = findings.into_sorted();
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].rule, found[0].severity, found[0].line),
            (Rule::MedianReproduced, Severity::Wrong, 2)
        );
        let mut findings = AuditFindings::about("a.pps");
        check_values(&data, "a", &[200.0, 100.0], &configuration(&["100", "200"]), &mut findings);
        assert!(findings.into_sorted().is_empty());
    }
}
