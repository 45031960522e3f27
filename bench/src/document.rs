//! The document that comparisons are written to: sections that later runs replace one by one.

use std::fmt::Write as _;

const FAMILIES: [&str; 2] = ["inet", "inet6"];
const MODES: [&str; 4] = ["batch", "single", "dependent", "updates"];
const TABLES: [&str; 5] = ["2", "8", "1000", "real", "generated"];

/// Sections by their headings.
#[derive(Debug, Default)]
pub struct Document {
    sections: Vec<(String, String)>,
}

impl Document {
    /// The sections of a text that was written before; all before the first heading is left out,
    /// and so is the summary.
    pub fn parse(text: &str) -> Self {
        let mut document = Self::default();
        for section in text.split("\n## ").skip(1) {
            if let Some((heading, body)) = section.split_once('\n')
                && position(heading).is_some()
            {
                document.set(heading, body);
            }
        }
        document
    }

    /// Adds a section, or replaces the one of the same heading.
    pub fn set(&mut self, heading: &str, body: &str) {
        self.sections.retain(|section| section.0 != heading);
        self.sections.push((heading.to_string(), body.trim().to_string()));
        self.sections.sort_by_key(|section| position(&section.0));
    }

    /// Adds a section that begins with its heading.
    pub fn set_section(&mut self, section: &str) {
        if let Some((heading, body)) = section.split_once('\n') {
            self.set(heading.trim_start_matches("## "), body);
        }
    }

    /// The whole text after some opening words.
    pub fn render(&self, opening: &str) -> String {
        let mut out = format!("{}\n", opening.trim_end());
        let summary = self.summary();
        if !summary.is_empty() {
            let _ = write!(out, "\n## Summary\n\n{summary}");
        }
        for (heading, body) in &self.sections {
            let _ = write!(out, "\n## {heading}\n\n{body}\n");
        }
        out
    }

    /// Geometric means and minima of the ratios of what the framework chooses by itself.
    fn summary(&self) -> String {
        let mut out = String::new();
        for family in FAMILIES {
            for (label, bits) in [("16-bit nexthops", 16), ("8-bit nexthops", 8)] {
                let ratios = self.ratios(family, bits);
                let Some(worst) = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else {
                    continue;
                };
                let logs: f64 = ratios.iter().map(|ratio| ratio.0.ln()).sum();
                let mean = (logs / ratios.len() as f64).exp();
                let _ = writeln!(
                    out,
                    "- {family}, {label}, batch, automatic choice against the best peer of that \
                     capacity: geometric mean {mean:.2}x over {} comparisons, lowest {:.2}x ({}).",
                    ratios.len(),
                    worst.0,
                    worst.1,
                );
            }
        }
        out
    }

    /// The ratios in the rows of automatic choices, with where they stand.
    fn ratios(&self, family: &str, bits: u32) -> Vec<(f64, String)> {
        let of_family = format!("{family}, batch, ");
        let mut ratios = Vec::new();
        for (heading, body) in self.sections.iter().filter(|s| s.0.starts_with(&of_family)) {
            for line in body.lines() {
                let cells: Vec<&str> = line.split('|').map(str::trim).collect();
                let [_, name, streams @ .., own_bits, _, _, _] = cells.as_slice() else { continue };
                // Whatever stores at least 16 bits counts as that.
                let own = own_bits.parse::<u32>().map_or(0, |own| own.min(16));
                if !name.ends_with('*') || own != bits {
                    continue;
                }
                let ratio = |cell: &str| {
                    let (_, ratio) = cell.trim_end_matches(')').split_once('(')?;
                    ratio.parse::<f64>().ok()
                };
                let found =
                    streams.iter().enumerate().filter_map(|(i, cell)| Some((i, ratio(cell)?)));
                ratios.extend(
                    found.map(|(i, ratio)| (ratio, format!("{heading}, stream {}", i + 1))),
                );
            }
        }
        ratios
    }
}

/// Where a heading stands in the document; `None` for a strange one.
fn position(heading: &str) -> Option<(usize, usize, usize)> {
    let mut parts = heading.split(", ");
    let mut of = |names: &[&str], prefix: &str| {
        let part = parts.next()?.strip_prefix(prefix)?;
        names.iter().position(|name| *name == part)
    };
    Some((of(&FAMILIES, "")?, of(&MODES, "")?, of(&TABLES, "table ")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTION: &str = "## inet6, batch, table 1000\n\n\
        | contender | table-random | uniform | flows-2000 | zipf-1M | nexthop bits | MB | build s |\n\
        |---|---|---|---|---|---|---|---|\n\
        | direct6 * | 400 (4.00) | 100 (1.00) | 90 (0.90) | 10 (1.00) | 16 | 1.00 | 0.001 |\n\
        | rte_fib6 2 bytes | 100 | 100 | 100 | 10 | 15 | 34.00 | 0.001 |\n";

    #[test]
    fn a_section_measured_again_replaces_the_old_one_and_others_stay() {
        let mut document = Document::default();
        document.set_section(SECTION);
        document.set_section("## inet, single, table real\n\nx\n");
        let mut document = Document::parse(&document.render("# Title"));
        document.set_section("## inet, single, table real\n\ny\n");
        let text = document.render("# Title");
        assert!(text.starts_with("# Title\n\n## Summary"));
        assert!(text.contains("\ny\n") && !text.contains("\nx\n"));
        let at = |heading: &str| text.find(heading).unwrap();
        assert!(at("## inet, single") < at("## inet6, batch"));
    }

    #[test]
    fn the_summary_names_the_worst_comparison_of_what_is_chosen() {
        let mut document = Document::default();
        document.set_section(SECTION);
        let text = document.render("");
        let wanted = "geometric mean 1.38x over 4 comparisons, lowest 0.90x (inet6, batch, table \
                      1000, stream 3)";
        assert!(text.contains(wanted), "{text}");
        assert!(!text.contains("8-bit"));
    }
}
