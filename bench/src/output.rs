//! The comparison as text, JSON lines and Markdown.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use fwdlab_lookups::{BenchPlan, Figure, Mode, UpdateFigure};

use crate::document::Document;
use crate::{machine, peers};

/// Prints figures as they come, and keeps the document.
pub struct Output {
    json: bool,
    path: Option<PathBuf>,
    document: Document,
    method: String,
    rounds: usize,
}

impl Output {
    /// With `json` a line for each figure; with `path` the document is read there and written
    /// after each table.
    ///
    /// # Errors
    /// When there is a document that cannot be read, or that is of another processor.
    pub fn new(json: bool, plan: &BenchPlan, path: Option<PathBuf>) -> Result<Self> {
        let document = Document::parse(&machine::earlier(path.as_deref())?);
        let effort = plan.effort;
        let method = format!(
            "{} M keys (an eighth of them in single and dependent mode), {} interleaved rounds, each \
             after a warm-up with a quarter of the keys, one core; rounds beside a busy neighbour are \
             run again, up to as many; slow contenders take a quarter of the keys in 3 rounds",
            effort.keys >> 20,
            effort.rounds,
        );
        Ok(Self { json, path, document, method, rounds: effort.rounds })
    }

    /// Says that a stream and mode is measured, and prints its lines.
    pub fn progress(&self, figures: &[Figure]) {
        if self.json {
            figures.iter().for_each(|figure| print_line(&figure.to_json()));
        }
        if let Some(figure) = figures.first() {
            eprintln!("{} {} {} {}: done", figure.family, figure.table, figure.stream, figure.mode);
        }
    }

    /// Takes all figures of a table of `routes` routes.
    ///
    /// # Errors
    /// When the document cannot be written.
    pub fn lookups(&mut self, figures: &[Figure], routes: usize) -> Result<()> {
        let mut modes: Vec<Mode> = Vec::new();
        for figure in figures {
            if !modes.contains(&figure.mode) {
                modes.push(figure.mode);
            }
        }
        for mode in modes {
            let of: Vec<Figure> = figures.iter().filter(|f| f.mode == mode).cloned().collect();
            self.section(fwdlab_lookups::lookup_section(&of), routes)?;
        }
        Ok(())
    }

    /// Takes the figures of updates of a table of `routes` routes.
    ///
    /// # Errors
    /// When the document cannot be written.
    pub fn updates(&mut self, figures: &[UpdateFigure], routes: usize) -> Result<()> {
        if self.json {
            figures.iter().for_each(|figure| print_line(&figure.to_json()));
        }
        match figures.is_empty() {
            true => Ok(()),
            false => self.section(fwdlab_lookups::update_section(figures), routes),
        }
    }

    fn section(&mut self, mut section: String, routes: usize) -> Result<()> {
        if !self.json {
            println!("{section}");
        }
        let (commit, rounds) = (machine::commit(), self.rounds);
        section.push_str(&format!("\nCommit {commit}, {rounds} rounds, {routes} routes.\n"));
        self.document.set_section(&section);
        self.save()
    }

    fn save(&self) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let text = self.document.render(&self.opening(path));
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    fn opening(&self, path: &Path) -> String {
        format!(
            "# Route lookup, compared\n\n\
             Written by `cargo xtask bench fib --write {}`; do not edit it. \
             Parts can be measured again alone with `--family`, `--tables` and `--modes`.\n\n\
             {}{}\n- Compiler: {}\n- Peers: {}\n- Method: {}\n\n\
             Million lookups a second, median of the rounds; in parentheses the median over the \
             rounds of the ratio to the best peer of the same nexthop capacity, with the interval of \
             that median (sign test, at least 95 % from six rounds on): 16-bit numbers against \
             peers of at least 15 bits, 8-bit numbers against peers of at least 7 bits (a peer's \
             group mark takes one bit). Contenders without an origin are this project's, also where \
             they bear the name of somebody's algorithm; how the comparison is made fair: \
             [benchmarks.md](benchmarks.md). `*`: what the framework chooses by itself; where that has \
             two forms, both. `direct4` takes 8-bit cells as long as nexthop numbers fit them. \
             The summary compares single and dependent lookups by their medians. \
             Streams: 1 a random address in a random prefix of the table, 2 uniformly random \
             (IPv6: in 2000::/3), 3 2000 destinations, 4 Zipf(1.0) over 1M destinations.",
            path.display(),
            machine::PROCESSOR,
            machine::processor(),
            machine::compiler(),
            peers::describe(),
            self.method,
        )
    }

    /// Prints what the whole document says of the goals.
    ///
    /// # Errors
    /// When the document cannot be written.
    pub fn finish(&self) -> Result<()> {
        if !self.json {
            let text = self.document.render("");
            if let Some(summary) = text.split("\n## ").nth(1).filter(|s| s.starts_with("Summary")) {
                println!("{}", summary.trim_start_matches("Summary").trim());
            }
        }
        self.save()
    }
}

fn print_line(line: &str) {
    // A closed pipe ends the program at the next table; nothing is lost.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
