//! A tree in less than 200 lines: what changed, a line for each directory, the largest first; what
//! did not is counted.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use fwdlab_compare::{CompareError, Compared, Judgement};
use fwdlab_figures::text_table::{Side, TextTable};
use fwdlab_results::units;
use fwdlab_stats::{Verdict, signed_change};

/// Directories with a change that have a line of their own.
const CHANGED: usize = 120;
/// Lines for what the others are counted by.
const COUNTED: usize = 20;
/// Names and reasons of what was not compared.
const LEFT_OUT: usize = 10;

/// What one directory says.
pub struct Line {
    name: String,
    /// How many comparisons ended in each word.
    words: BTreeMap<&'static str, usize>,
    /// The largest change that is proven.
    largest: Option<Largest>,
    /// Why nothing was compared.
    reason: Option<String>,
}

struct Largest {
    /// Of logarithms.
    size: f64,
    interval: String,
    /// Variant and traffic.
    what: String,
}

impl Line {
    /// From what was compared in the directory.
    pub fn of(name: &Path, compared: Result<&Compared, &CompareError>) -> Self {
        let name = name.display().to_string();
        let mut line = Self { name, words: BTreeMap::new(), largest: None, reason: None };
        let compared = match compared {
            Ok(compared) => compared,
            Err(error) => {
                line.reason = Some(match error {
                    CompareError::Alone { .. } => "one variant, so nothing to compare".to_owned(),
                    error => error.to_string(),
                });
                return line;
            }
        };
        for group in &compared.groups {
            for judgement in &group.judgements {
                *line.words.entry(judgement.word).or_insert(0) += 1;
                line.largest = larger(line.largest, Largest::of(judgement, &group.name));
            }
        }
        line
    }

    /// How many verdicts ended in one of these words, as text.
    fn count(&self, words: &[&str]) -> String {
        let counts = words.iter().filter_map(|word| self.words.get(word));
        counts.sum::<usize>().to_string()
    }

    /// The first part of its path below what all share.
    fn head(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }
}

fn larger(one: Option<Largest>, other: Option<Largest>) -> Option<Largest> {
    match (one, other) {
        (Some(one), Some(other)) => {
            Some(if other.size.abs() > one.size.abs() { other } else { one })
        }
        (one, other) => one.or(other),
    }
}

impl Largest {
    /// A change that the comparison proves.
    fn of(judgement: &Judgement, traffic: &str) -> Option<Self> {
        let is_change =
            matches!(judgement.verdict, Verdict::Faster { .. } | Verdict::Slower { .. });
        let comparison = judgement.comparison.as_ref().filter(|_| is_change)?;
        let interval = comparison.interval95;
        Some(Self {
            size: comparison.estimate.ln(),
            interval: signed_change(comparison.estimate, [interval.low, interval.high]).join(" "),
            what: format!("{} against {}, {traffic}", judgement.variant, judgement.baseline)
                .trim_end_matches([',', ' '])
                .to_owned(),
        })
    }
}

/// Lines of all directories.
pub struct Overview {
    /// What all paths begin with.
    shared: String,
    lines: Vec<Line>,
}

impl Overview {
    /// Takes from all paths what they share.
    pub fn of(mut lines: Vec<Line>) -> Self {
        let shared = shared(&lines);
        if !shared.is_empty() {
            for line in &mut lines {
                line.name = line.name[shared.len()..].trim_start_matches('/').to_owned();
            }
        }
        Self { shared, lines }
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        self.page(TextTable::plain)
    }

    /// For a page or a summary.
    pub fn markdown(&self) -> String {
        self.page(TextTable::markdown)
    }

    fn page(&self, table: fn(&TextTable) -> String) -> String {
        let mut text = self.head();
        let mut changed: Vec<(&Line, &Largest)> =
            self.lines.iter().filter_map(|line| Some((line, line.largest.as_ref()?))).collect();
        changed.sort_by(|a, b| b.1.size.abs().total_cmp(&a.1.size.abs()));
        if !changed.is_empty() {
            text.push_str("\nThe largest change of each directory that has one:\n\n");
            text.push_str(&table(&changes(&changed)));
        }
        let rest: Vec<&Line> = changed.iter().skip(CHANGED).map(|(line, _)| *line).collect();
        counted(&mut text, "more with changes", &rest);
        let is_silent = |line: &&Line| line.largest.is_none() && line.reason.is_none();
        let silent: Vec<&Line> = self.lines.iter().filter(is_silent).collect();
        counted(&mut text, "without a change", &silent);
        self.left_out(&mut text);
        text
    }

    fn head(&self) -> String {
        let mut words: BTreeMap<&str, usize> = BTreeMap::new();
        for (word, count) in self.lines.iter().flat_map(|line| &line.words) {
            *words.entry(word).or_insert(0) += count;
        }
        let total: usize = words.values().sum();
        let below =
            if self.shared.is_empty() { String::new() } else { format!(" below {}", self.shared) };
        let directories = match self.lines.len() {
            1 => "1 results directory".to_owned(),
            many => format!("{many} results directories"),
        };
        format!(
            "{directories}{below}, {}{}\n",
            units::plural(total, "comparison"),
            if total == 0 { String::new() } else { format!(": {}", list(&words)) }
        )
    }

    /// Directories that could not be compared, by reason.
    fn left_out(&self, text: &mut String) {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for line in &self.lines {
            if let Some(reason) = &line.reason {
                reasons.entry(reason).or_default().push(&line.name);
            }
        }
        for (reason, names) in reasons.iter().take(LEFT_OUT) {
            let more = if names.len() > 1 { ", ..." } else { "" };
            let _ =
                writeln!(text, "\nnot compared: {} ({}{more}): {reason}", names.len(), names[0]);
        }
        let more: usize = reasons.values().skip(LEFT_OUT).map(Vec::len).sum();
        if more > 0 {
            let _ = writeln!(text, "\nnot compared for other reasons: {more}");
        }
    }
}

/// Words for the worse and for the better, and what stands above their counts.
const WORSE: [&str; 2] = ["slower", "worse"];
const BETTER: [&str; 2] = ["faster", "better"];

/// Those of the words that occur; the first where none does.
fn head(words: [&str; 2], changed: &[(&Line, &Largest)]) -> String {
    let occurs = |word: &&str| changed.iter().any(|(line, _)| line.words.contains_key(word));
    let own: Vec<&str> = words.into_iter().filter(occurs).collect();
    if own.is_empty() { words[0].to_owned() } else { own.join(", ") }
}

fn changes(changed: &[(&Line, &Largest)]) -> TextTable {
    let mut table = TextTable::new([
        ("directory".to_owned(), Side::Left),
        ("change".to_owned(), Side::Left),
        ("of".to_owned(), Side::Left),
        (head(WORSE, changed), Side::Right),
        (head(BETTER, changed), Side::Right),
        ("all".to_owned(), Side::Right),
    ]);
    for (line, largest) in changed.iter().take(CHANGED) {
        let all: usize = line.words.values().sum();
        table.row(vec![
            line.name.clone(),
            largest.interval.clone(),
            largest.what.clone(),
            line.count(&WORSE),
            line.count(&BETTER),
            all.to_string(),
        ]);
    }
    table
}

/// Directories by the first part of their path.
fn counted(text: &mut String, what: &str, lines: &[&Line]) {
    if lines.is_empty() {
        return;
    }
    let mut heads: BTreeMap<&str, (usize, BTreeMap<&str, usize>)> = BTreeMap::new();
    for line in lines {
        let (count, words) = heads.entry(line.head()).or_default();
        *count += 1;
        for (word, n) in &line.words {
            *words.entry(word).or_insert(0) += n;
        }
    }
    let _ = writeln!(text, "\n{} {what}:\n", lines.len());
    for (head, (count, words)) in heads.iter().take(COUNTED) {
        let count = if *count == 1 { String::new() } else { format!(" ({count})") };
        let _ = writeln!(text, "  - {head}{count}: {}", list(words));
    }
    let more: usize = heads.values().skip(COUNTED).map(|(count, _)| count).sum();
    if more > 0 {
        let _ = writeln!(text, "  - and {more} more");
    }
}

fn list(words: &BTreeMap<&str, usize>) -> String {
    let each: Vec<String> = words.iter().map(|(word, count)| format!("{count} {word}")).collect();
    each.join(", ")
}

/// The parts that all paths begin with; never the whole of one.
fn shared(lines: &[Line]) -> String {
    let Some(first) = lines.first() else { return String::new() };
    let mut parts: Vec<&str> = first.name.split('/').collect();
    parts.pop();
    for line in lines {
        let own: Vec<&str> = line.name.split('/').collect();
        let most = own.len().saturating_sub(1).min(parts.len());
        let same = (0..most).take_while(|&k| own[k] == parts[k]).count();
        parts.truncate(same);
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: String, percent: Option<f64>) -> Line {
        let word = if percent.is_some() { "slower" } else { "inconclusive" };
        let largest = percent.map(|percent| Largest {
            size: (percent / 100.0).ln_1p(),
            interval: format!("{percent:+.1} %"),
            what: "pf against forwarding, inet".to_owned(),
        });
        Line { name, words: BTreeMap::from([(word, 1)]), largest, reason: None }
    }

    fn many() -> Vec<Line> {
        let mut lines = Vec::new();
        for k in 0..900_u32 {
            let name = format!("archive/machine{}/card/fbsd-{k}", k % 50);
            let percent = (k % 2 == 0).then(|| -1.0 - f64::from(k) / 20.0);
            let mut own = line(name, percent);
            if k % 9 == 0 {
                own = Line { reason: Some(format!("reason {k}")), largest: None, ..own };
            }
            lines.push(own);
        }
        lines
    }

    #[test]
    fn a_tree_of_any_size_stays_below_200_lines() {
        let overview = Overview::of(many());
        for text in [overview.text(), overview.markdown()] {
            let count = text.lines().count();
            assert!(count < 200, "{count} lines");
        }
    }

    #[test]
    fn the_largest_change_stands_first_and_the_rest_is_counted() {
        let text = Overview::of(many()).text();
        assert!(
            text.starts_with("900 results directories below archive, 900 comparisons"),
            "{text}"
        );
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is not in\n{text}"));
        assert!(at("fbsd-898") < at("fbsd-896"), "{text}");
        assert!(at("fbsd-896") < at("more with changes"), "{text}");
        assert!(at("more with changes") < at("without a change"), "{text}");
        assert!(at("without a change") < at("not compared: 1 ("), "{text}");
    }

    #[test]
    fn one_directory_keeps_its_name() {
        assert_eq!(shared(&[line("results/fbsd13".to_owned(), None)]), "results");
        assert_eq!(shared(&[line("fbsd13".to_owned(), None)]), "");
        let two = [line("a/b/c".to_owned(), None), line("a/b".to_owned(), None)];
        assert_eq!(shared(&two), "a");
    }
}
