//! The comparison as text, JSON lines and Markdown.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use crate::compare::{Figure, Plan};
use crate::contender::Origin;
use crate::keys::Stream;
use crate::{machine, peers};

/// Collects figures and prints them.
pub struct Output {
    json: bool,
    figures: Vec<Figure>,
    method: String,
}

impl Output {
    /// An empty comparison; with `json` each figure is printed as it comes.
    pub fn new(json: bool, plan: &Plan) -> Self {
        let effort = plan.effort;
        let method = format!(
            "{} M keys (an eighth of them in single and dependent mode), {} interleaved rounds, \
             each after a warm-up with a quarter of the keys, bursts of {}, one core",
            effort.keys >> 20,
            effort.rounds,
            effort.burst,
        );
        Self { json, figures: Vec::new(), method }
    }

    /// Takes the figures of one table, stream and mode.
    pub fn add(&mut self, figures: &[Figure]) {
        if self.json {
            let mut out = std::io::stdout().lock();
            for figure in figures {
                if let Ok(line) = serde_json::to_string(figure) {
                    // A closed pipe ends the program at the next table; nothing is lost.
                    let _ = writeln!(out, "{line}");
                }
            }
        }
        if let Some(figure) = figures.first() {
            eprintln!("{} {} {} {}: done", figure.family, figure.table, figure.stream, figure.mode);
        }
        self.figures.extend_from_slice(figures);
    }

    /// Prints the tables, and writes them to `path`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(&self, path: Option<&Path>) -> Result<()> {
        let text = self.text();
        if !self.json {
            print!("{text}");
        }
        if let Some(path) = path {
            let note = "This file is written by `cargo xtask bench fib`; do not edit it.";
            let page = format!("# Route lookup, compared\n\n{note}\n\n{text}");
            fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    fn text(&self) -> String {
        let mut out = format!(
            "- Processor: {}\n- Compiler: {}\n- Commit: {}\n- Peers: {}\n- Method: {}\n\n\
             Million lookups a second, median of the rounds; in brackets the median over the \
             rounds of the ratio to the best peer of at least 15-bit nexthops. `*`: what the \
             framework chooses by itself.\n",
            machine::processor(),
            machine::compiler(),
            machine::commit(),
            peers::describe(),
            self.method,
        );
        for (family, mode, table) in self.sections() {
            let _ = writeln!(out, "\n## {family}, {mode}, table {table}\n");
            let columns = Stream::ALL.map(Stream::name).join(" | ");
            let _ = writeln!(out, "| contender | {columns} | MB | build s |");
            let _ = writeln!(out, "|---|---|---|---|---|---|---|");
            let of: Vec<&Figure> = self
                .figures
                .iter()
                .filter(|f| (f.family, f.mode, f.table.as_str()) == (family, mode, table.as_str()))
                .collect();
            for first in of.iter().filter(|f| f.stream == of[0].stream) {
                let _ = writeln!(out, "{}", row(first, &of));
            }
        }
        if let Some(summary) = self.summary() {
            let _ = writeln!(out, "\n{summary}");
        }
        out
    }

    fn sections(&self) -> Vec<(&'static str, &'static str, String)> {
        let mut sections = Vec::new();
        for figure in &self.figures {
            let section = (figure.family, figure.mode, figure.table.clone());
            if !sections.contains(&section) {
                sections.push(section);
            }
        }
        sections
    }

    /// Geometric mean and minimum of what the framework chooses by itself.
    fn summary(&self) -> Option<String> {
        let chosen: Vec<&Figure> =
            self.figures.iter().filter(|f| f.mode == "batch" && f.auto && f.ratio > 0.0).collect();
        let worst = chosen.iter().min_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
        let logs: f64 = chosen.iter().map(|f| f.ratio.ln()).sum();
        Some(format!(
            "Automatic choice against the best peer, batch, {} comparisons: geometric mean {:.2}, \
             lowest {:.2} ({}, table {}, {}, against {}).",
            chosen.len(),
            (logs / chosen.len() as f64).exp(),
            worst.ratio,
            worst.family,
            worst.table,
            worst.stream,
            worst.best_peer,
        ))
    }
}

fn row(first: &Figure, section: &[&Figure]) -> String {
    let mut line = format!("| {}{} |", first.name, if first.auto { " *" } else { "" });
    for stream in Stream::ALL {
        let cell = section
            .iter()
            .find(|f| f.name == first.name && f.stream == stream.name())
            .map_or_else(String::new, |f| match f.origin {
                Origin::Fwdlab => format!("{:.0} ({:.2})", f.mlps, f.ratio),
                Origin::Peer => format!("{:.0}", f.mlps),
            });
        let _ = write!(line, " {cell} |");
    }
    let bytes = match first.bytes {
        0 => "-".into(),
        bytes => format!("{:.2}", bytes as f64 / 1e6),
    };
    let _ = write!(line, " {bytes} | {:.3} |", first.build_s);
    line
}
