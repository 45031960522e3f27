//! What is wrong with an experiment file, place by place.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use fwdlab_guard::words::{ends, is_hidden};

/// One problem of an experiment file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The key, with the tables around it: `traffic[2].source`, where tables
    /// that repeat are counted from 1. Empty when no key is concerned.
    pub field: String,
    /// What is wrong.
    pub what: String,
    /// What should stand there.
    pub wanted: String,
    /// What to do.
    pub remedy: String,
    /// The bytes of the file that are meant, within their line.
    pub at: Range<usize>,
}

/// All problems of an experiment file, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// The file.
    pub path: PathBuf,
    /// Its text; empty where there is none to be shown.
    pub text: String,
    /// The problems; never empty.
    pub list: Vec<Problem>,
}

impl Problems {
    /// A problem for a file that was refused without a reason; a fault of the
    /// reader, reported instead of a panic.
    #[cold]
    pub fn unexplained(path: &Path) -> Self {
        let problem = Problem {
            line: 1,
            column: 1,
            field: String::new(),
            what: "the file cannot be understood".to_owned(),
            wanted: "an experiment".to_owned(),
            remedy: "compare it with examples/modular-fib.toml".to_owned(),
            at: 0..0,
        };
        Self { path: path.to_owned(), text: String::new(), list: vec![problem] }
    }

    /// The problems for a person at a terminal of this many columns: below each its line, with what is
    /// meant marked. Characters that could command the terminal are replaced.
    pub fn pictured(&self, columns: usize) -> String {
        let renderer = Renderer::plain().term_width(columns);
        let mut out = String::new();
        for problem in &self.list {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&problem.line_of(&self.path));
            if problem.at.is_empty() {
                continue;
            }
            let mark = AnnotationKind::Primary.span(problem.at.clone());
            let source = Snippet::source(self.text.as_str()).annotation(mark);
            let picture = renderer.render(&[Group::with_level(Level::ERROR).element(source)]);
            for line in picture.lines() {
                out.push('\n');
                // What the library leaves as it is; a mark stays below its word.
                out.extend(
                    line.trim_end().chars().map(|c| if is_hidden(c) { '\u{fffd}' } else { c }),
                );
            }
        }
        out
    }
}

impl Problem {
    /// The problem on one line, as editors understand it.
    fn line_of(&self, path: &Path) -> String {
        let Self { line, column, field, what, wanted, remedy, .. } = self;
        let field = if field.is_empty() { String::new() } else { format!("{field}: ") };
        format!("{}:{line}:{column}: {field}{what}; wanted {wanted}; {remedy}", path.display())
    }
}

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&problem.line_of(&self.path))?;
        }
        Ok(())
    }
}

/// Text of a problem before its place is known.
#[derive(Debug)]
pub struct Complaint {
    /// What is wrong.
    pub what: String,
    /// What should stand there.
    pub wanted: String,
    /// What to do.
    pub remedy: String,
}

impl Complaint {
    /// A complaint of these three parts.
    pub fn new(
        what: impl Into<String>,
        wanted: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { what: what.into(), wanted: wanted.into(), remedy: remedy.into() }
    }
}

/// The page that describes every key of an experiment.
pub(crate) const EXPERIMENTS: &str = "docs/experiment-file.md";

/// Collects problems while a file is read.
pub struct Complaints<'t> {
    text: &'t str,
    page: &'static str,
    list: Vec<(usize, Problem)>,
}

impl<'t> Complaints<'t> {
    /// No problems yet of the file with this text.
    pub fn new(text: &'t str) -> Self {
        Self { text, page: EXPERIMENTS, list: Vec::new() }
    }

    /// The same of a file whose keys another page describes.
    #[must_use]
    pub fn described_in(self, page: &'static str) -> Self {
        Self { page, ..self }
    }

    /// The page that describes every key of the file.
    pub fn page(&self) -> &'static str {
        self.page
    }

    /// Adds a problem at the bytes `at`.
    pub fn add(&mut self, at: &Range<usize>, field: &str, complaint: Complaint) {
        let (line, column) = line_and_column(self.text, at.start);
        let Complaint { what, wanted, remedy } = complaint;
        let what = ends(&what, 400).into_owned();
        let field = field.to_owned();
        let within = within_a_line(self.text, at);
        let problem = Problem { line, column, field, what, wanted, remedy, at: within };
        self.list.push((at.start, problem));
    }

    /// Takes the value out of a result and adds the problem that stands in
    /// its place.
    pub fn keep<T>(
        &mut self,
        at: &Range<usize>,
        field: &str,
        result: Result<T, Complaint>,
    ) -> Option<T> {
        result.map_err(|complaint| self.add(at, field, complaint)).ok()
    }

    /// Whether nothing is wrong so far.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The problems in the order of the file; `None` when there are none.
    pub fn into_problems(mut self, path: &Path) -> Option<Problems> {
        if self.list.is_empty() {
            return None;
        }
        self.list.sort_by_key(|(start, _)| *start);
        // A place that is read for each of several measures is wrong once.
        let mut list: Vec<Problem> = Vec::new();
        for (_, problem) in self.list {
            if !list.contains(&problem) {
                list.push(problem);
            }
        }
        Some(Problems { path: path.to_owned(), text: self.text.to_owned(), list })
    }
}

/// The part of `at` that lies in its first line; nothing of an empty line.
fn within_a_line(text: &str, at: &Range<usize>) -> Range<usize> {
    let rest = text.get(at.start..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default().trim_end().len();
    // A place between two characters is the one behind it.
    let least = rest.chars().next().map_or(0, char::len_utf8);
    let len = at.len().max(least).min(line);
    let end = (at.start + len..=at.start + line).find(|&end| text.is_char_boundary(end));
    at.start..end.unwrap_or(at.start)
}

/// Line and column, both from 1, of the byte `offset`; the column counts
/// characters.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}
