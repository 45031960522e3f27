//! Data and labels of graphs.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::load::check_flows;
use fwdlab_evidence::finding::{AuditFinding, AuditFindings, Rule, Severity, Text};
use fwdlab_netbenches::data::DirData;
use fwdlab_netbenches::number::format_g8;
use fwdlab_netbenches::series::GraphRow;
use fwdlab_sentence::label::Label;

/// gnuplot data and scripts of a directory; `exists` tells whether a file of
/// that name is in it.
pub fn check_dir(
    data: &DirData,
    place: impl Fn(&str) -> String,
    exists: impl Fn(&str) -> bool,
) -> Vec<AuditFinding> {
    let mut found = Vec::new();
    let figures = all_figures(data);
    for (name, rows) in &data.graphs {
        let mut findings = AuditFindings::about(&place(name));
        for row in rows {
            check_row(data, &figures, name, row, &mut findings);
        }
        found.extend(findings.into_sorted());
    }
    for (name, script) in &data.scripts {
        let mut findings = AuditFindings::about(&place(name));
        check_script(data, script, &exists, &mut findings);
        found.extend(findings.into_sorted());
    }
    found
}

/// Median, minimum and maximum of each series as a graph row prints them.
fn all_figures(data: &DirData) -> BTreeMap<String, [Vec<String>; 2]> {
    let figures = |values: &Vec<f64>| {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let upper = sorted[n / 2];
        let middle = (sorted[(n - 1) / 2] + upper) / 2.0;
        Some([middle, upper].map(|median| [median, low, high].map(format_g8).to_vec()))
    };
    data.all_values().iter().filter_map(|(p, v)| Some((p.clone(), figures(v)?))).collect()
}

fn check_row(
    data: &DirData,
    figures: &BTreeMap<String, [Vec<String>; 2]>,
    file: &str,
    row: &GraphRow,
    findings: &mut AuditFindings,
) {
    if row.values.len() != 3 {
        return;
    }
    let shown: Vec<String> = row.values.iter().map(|v| format_g8(*v)).collect();
    let holds = |wanted: &[Vec<String>; 2]| wanted.contains(&shown);
    let own = figures.get(&row.label);
    if own.is_some_and(holds) {
        return check_file_name(data, file, row, &row.label, findings);
    }
    let others: Vec<&String> = figures.iter().filter(|(_, f)| holds(f)).map(|(p, _)| p).collect();
    if let Some(own) = own {
        let drawn = others
            .first()
            .map_or(String::new(), |p| format!(" (these are the figures of {p}.pps)"));
        findings.add(
            if others.is_empty() { Rule::GraphData } else { Rule::GraphLabel },
            Severity::Wrong,
            row.line,
            Text::new(
                format!("{}: {}", row.label, shown.join(" ")),
                format!("{}.pps gives {}{drawn}", row.label, own[0].join(" ")),
                "make the graph data again from the .pps files",
            ),
        );
        return;
    }
    let label = Label::of(&format!("{} {}", row.label, stem(file)));
    let agrees = |p: &&String| {
        let name = Label::of(p);
        !label.contradicts_revision(&name) && !label.contradicts_family(&name)
    };
    match (others.first(), others.iter().find(|p| agrees(p))) {
        (_, Some(prefix)) => check_file_name(data, file, row, prefix, findings),
        (Some(prefix), None) => findings.add(
            Rule::GraphLabel,
            Severity::Wrong,
            row.line,
            Text::new(
                format!("'{}' in {file}: {}", row.label, shown.join(" ")),
                format!("these are the figures of {prefix}.pps"),
                "draw the series that the label names",
            ),
        ),
        (None, None) => {}
    }
}

fn stem(file: &str) -> String {
    file.trim_end_matches(".data").replace("gnuplot", "")
}

/// `ipfw.data` must hold series of ipfw: a word of the file name that tells
/// the series of the directory apart must be in the series drawn.
fn check_file_name(
    data: &DirData,
    file: &str,
    row: &GraphRow,
    prefix: &str,
    findings: &mut AuditFindings,
) {
    let drawn = Label::of(prefix);
    let prefixes: Vec<Label> =
        data.series.keys().chain(data.configurations.keys()).map(|p| Label::of(p)).collect();
    for word in Label::of(&stem(file)).words {
        let with = prefixes.iter().filter(|l| l.words.contains(&word)).count();
        if with == 0 || with == prefixes.len() || drawn.words.contains(&word) {
            continue;
        }
        findings.add(
            Rule::GraphLabel,
            Severity::Wrong,
            row.line,
            Text::new(
                format!("'{}' in {file}", row.label),
                format!("the figures are those of {prefix}.pps, which is not '{word}'"),
                "fill the file from the series that its name says",
            ),
        );
    }
}

fn check_script(
    data: &DirData,
    script: &str,
    exists: impl Fn(&str) -> bool,
    findings: &mut AuditFindings,
) {
    let mut missing: Vec<(usize, String)> = Vec::new();
    for (index, line) in script.lines().enumerate() {
        let text: String = line.chars().take(2048).collect();
        if text.trim_start().starts_with('#') {
            continue;
        }
        for (file, title) in drawn_series(&text) {
            let (name, label) = (Label::of(&file), Label::of(&title));
            if name.contradicts_revision(&label) || name.contradicts_family(&label) {
                findings.add(
                    Rule::GraphLabel,
                    Severity::Wrong,
                    index + 1,
                    Text::new(
                        format!("title '{title}'"),
                        format!("the series is read from {file}"),
                        "name the series after its file",
                    ),
                );
            }
            if !exists(&file) && !file.contains('/') {
                missing.push((index + 1, file));
            }
        }
        check_flows(data, &text, index + 1, findings);
    }
    report_missing(&missing, findings);
}

fn report_missing(missing: &[(usize, String)], findings: &mut AuditFindings) {
    let Some((line, _)) = missing.first() else { return };
    let names: BTreeSet<&str> = missing.iter().map(|(_, f)| f.as_str()).collect();
    findings.add(
        Rule::GraphSource,
        Severity::Check,
        *line,
        Text::new(
            format!("draws {}", names.iter().take(6).copied().collect::<Vec<_>>().join(", ")),
            "the files are not in this directory: the graph cannot be drawn again",
            "add the data files, or the script that was used",
        ),
    );
}

/// `"file.data" using ... title "label"`: files and titles of a plot line.
fn drawn_series(line: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let quoted: Vec<&str> = line.split('"').collect();
    let mut index = 1;
    while index < quoted.len() {
        if quoted[index].ends_with(".data") {
            let between = quoted.get(index + 1).copied().unwrap_or("");
            let has_title =
                between.trim_end().ends_with("title") || between.trim_end().ends_with(" t");
            let title = if has_title { quoted.get(index + 2).copied().unwrap_or("") } else { "" };
            found.push((quoted[index].to_owned(), title.to_owned()));
        }
        index += 2;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_netbenches::series::{Series, graph_rows};

    fn data(series: &[(&str, &[f64])]) -> DirData {
        let series = series
            .iter()
            .map(|(p, v)| ((*p).to_owned(), Series { values: v.to_vec(), bad_lines: vec![] }));
        DirData { series: series.collect(), ..DirData::default() }
    }

    fn found(data: &DirData, file: &str, rows: &str) -> Vec<(Rule, usize)> {
        let mut data = data.clone();
        data.graphs.insert(file.to_owned(), graph_rows(rows.as_bytes()).0);
        check_dir(&data, str::to_owned, |_| true).iter().map(|f| (f.rule, f.line)).collect()
    }

    #[test]
    fn a_graph_row_must_be_that_of_its_label() {
        let data = data(&[("a.inet4", &[1.0, 2.0, 3.0]), ("a.inet6", &[4.0, 5.0, 6.0])]);
        assert!(found(&data, "gnuplot.data", "a.inet4 2 1 3\na.inet6 5 4 6\n").is_empty());
        assert_eq!(found(&data, "gnuplot.data", "a.inet4 2 1 9\n"), [(Rule::GraphData, 1)]);
        assert_eq!(found(&data, "gnuplot.data", "a.inet4 5 4 6\n"), [(Rule::GraphLabel, 1)]);
        assert!(found(&data, "gnuplot-inet6.data", "a 5 4 6\n").is_empty());
        assert_eq!(found(&data, "gnuplot-inet6.data", "a 2 1 3\n"), [(Rule::GraphLabel, 1)]);
    }

    #[test]
    fn a_file_filled_by_a_grep_for_the_wrong_name_is_found() {
        let data = data(&[("r1.pf", &[1.0, 2.0, 3.0]), ("r1.ipfw", &[4.0, 5.0, 6.0])]);
        assert_eq!(found(&data, "ipfw.data", "r1 2 1 3\n"), [(Rule::GraphLabel, 1)]);
        assert!(found(&data, "ipfw.data", "r1 5 4 6\n").is_empty());
    }

    #[test]
    fn a_script_is_read_for_files_and_titles() {
        let line = "plot \"315216.data\" using 2:3:4:xticlabels(1) with histogram title \"r316216 pre-iflib\" ls 2, \\";
        assert_eq!(
            drawn_series(line),
            [("315216.data".to_owned(), "r316216 pre-iflib".to_owned())]
        );
        let mut data = data(&[]);
        data.scripts.insert("gnuplot.plt".to_owned(), format!("# x\n{line}\n"));
        let found = check_dir(&data, str::to_owned, |_| false);
        assert_eq!(
            found.iter().map(|f| f.rule).collect::<Vec<_>>(),
            [Rule::GraphLabel, Rule::GraphSource]
        );
    }
}
