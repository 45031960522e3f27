//! The document that comparisons are written to: sections that later runs replace one by one.

use std::fmt::Write as _;

const FAMILIES: [&str; 2] = ["inet", "inet6"];
const MODES: [&str; 3] = ["single", "dependent", "updates"];
/// How the modes of batches begin; the number of addresses follows.
const BATCH: &str = "batch of ";
const TABLES: [&str; 6] = ["2", "8", "1000", "real", "real-short", "generated"];

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

    /// Geometric means and minima of the ratios of what the framework chooses by itself, and the
    /// memory of the compact structures.
    fn summary(&self) -> String {
        let mut out = String::new();
        for family in FAMILIES {
            for (label, bits) in [("16-bit nexthops", 16), ("8-bit nexthops", 8)] {
                for mode in self.batches() {
                    let against = format!(
                        "{family}, {label}, {mode}, against the best peer of that capacity"
                    );
                    for choice in CHOICES {
                        out.push_str(&line(
                            &against,
                            choice,
                            &self.ratios(family, mode, bits, choice),
                        ));
                    }
                }
            }
            for mode in ["single", "dependent"] {
                for (label, names) in RIVALS {
                    let against = format!("{family}, {mode} lookups, against {label}");
                    out.push_str(&line(&against, AUTOMATIC, &self.against(family, mode, names)));
                }
            }
        }
        let compact: Vec<Row<'_>> = self
            .batches()
            .last()
            .into_iter()
            .flat_map(|mode| self.rows(mode))
            .filter(|row| row.name.starts_with("bitruns"))
            .collect();
        for row in compact {
            if let Some(bytes) = row.bytes_per_route() {
                let _ = writeln!(
                    out,
                    "- {}: {} takes {bytes:.1} bytes a route.",
                    row.heading, row.name
                );
            }
        }
        out
    }

    /// The sizes of batches that were measured, as the headings name them, smallest first.
    fn batches(&self) -> Vec<&str> {
        let modes = self.sections.iter().filter_map(|section| section.0.split(", ").nth(1));
        let mut modes: Vec<&str> = modes.filter(|mode| mode.starts_with(BATCH)).collect();
        modes.sort_by_key(|mode| burst(mode));
        modes.dedup();
        modes
    }

    /// The ratios to the best peer of the same capacity in the rows of automatic choices.
    fn ratios(&self, family: &str, mode: &str, bits: u32, choice: &str) -> Vec<(f64, String)> {
        let way = choice.strip_prefix(AUTOMATIC).map(str::trim).unwrap_or_default();
        let chosen = self.rows(mode).filter(|row| {
            let is_chosen = match way {
                "" => row.is_chosen,
                way => row.name.ends_with(way),
            };
            // Whatever stores at least 16 bits counts as that.
            row.family() == family && is_chosen && row.nexthop_bits.min(16) == bits
        });
        let ratios = chosen.flat_map(|row| row.cells.into_iter().map(move |c| (c, row.heading)));
        ratios
            .filter_map(|(cell, heading)| Some((cell.ratio?, place(heading, cell.stream))))
            .collect()
    }

    /// The rates of automatic choices over the best rate of the named rivals, stream by stream.
    fn against(&self, family: &str, mode: &str, names: &[&str]) -> Vec<(f64, String)> {
        let rows: Vec<Row<'_>> = self.rows(mode).filter(|row| row.family() == family).collect();
        let mut ratios = Vec::new();
        for chosen in rows.iter().filter(|row| row.is_chosen) {
            for cell in &chosen.cells {
                let of_rival = |row: &Row<'_>| {
                    let is_rival = names.iter().any(|name| row.name.starts_with(name));
                    let same = row.heading == chosen.heading && is_rival;
                    row.cells.iter().find(|c| same && c.stream == cell.stream).map(|c| c.rate)
                };
                let best = rows.iter().filter_map(of_rival).fold(0.0, f64::max);
                if best > 0.0 {
                    ratios.push((cell.rate / best, place(chosen.heading, cell.stream)));
                }
            }
        }
        ratios
    }

    /// All rows of the lookup tables of a mode.
    fn rows(&self, mode: &str) -> impl Iterator<Item = Row<'_>> {
        let of_mode = format!(", {mode}, ");
        let sections = self.sections.iter().filter(move |section| section.0.contains(&of_mode));
        sections
            .flat_map(|(heading, body)| body.lines().filter_map(|l| Row::parse(heading, body, l)))
    }
}

/// What is compared: the structure that the framework chooses, and the same as users look it up.
const CHOICES: [&str; 2] = [AUTOMATIC, "automatic choice through a reader"];
/// How they begin; the names of rows end as they do.
const AUTOMATIC: &str = "automatic choice";

/// Whom single lookups are compared with: a label, and how the names begin.
const RIVALS: [(&str, &[&str]); 2] = [
    ("the Rust crates", &["ip_network_table", "prefix-trie"]),
    ("poptrie, DXR and PlanB in others' code", &["poptrie,", "DXR,", "PlanB,"]),
];

/// A row of a lookup table.
struct Row<'a> {
    heading: &'a str,
    name: &'a str,
    /// The framework chooses it by itself.
    is_chosen: bool,
    cells: Vec<Cell>,
    nexthop_bits: u32,
    megabytes: Option<f64>,
    /// Routes of the table, where the section says it.
    routes: Option<f64>,
}

/// The figure of a stream.
struct Cell {
    stream: usize,
    /// M lookups/s.
    rate: f64,
    /// To the best peer of the same capacity.
    ratio: Option<f64>,
}

impl<'a> Row<'a> {
    fn parse(heading: &'a str, body: &str, line: &'a str) -> Option<Self> {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, streams @ .., bits, megabytes, _, _] = cells.as_slice() else { return None };
        let cell = |(i, text): (usize, &&str)| {
            let (rate, ratio) = text.trim_end_matches(')').split_once(" (").unwrap_or((text, ""));
            let median = ratio.split(' ').next().and_then(|median| median.parse().ok());
            Some(Cell { stream: i + 1, rate: rate.parse().ok()?, ratio: median })
        };
        let routes = body.rsplit_once(" rounds, ").and_then(|(_, rest)| rest.split_once(" routes"));
        Some(Self {
            heading,
            name: name.trim_end_matches(" *"),
            is_chosen: name.ends_with('*'),
            cells: streams.iter().enumerate().filter_map(cell).collect(),
            nexthop_bits: bits.parse().ok()?,
            megabytes: megabytes.parse().ok(),
            routes: routes.and_then(|(routes, _)| routes.parse().ok()),
        })
    }

    fn family(&self) -> &str {
        self.heading.split(", ").next().unwrap_or_default()
    }

    /// Of a full table; the least that a structure takes says nothing of its routes.
    fn bytes_per_route(&self) -> Option<f64> {
        let routes = self.routes.filter(|routes| *routes > 10_000.0)?;
        Some(self.megabytes? * 1e6 / routes)
    }
}

fn place(heading: &str, stream: usize) -> String {
    format!("{heading}, stream {stream}")
}

/// A line of the summary; empty without comparisons.
fn line(against: &str, choice: &str, ratios: &[(f64, String)]) -> String {
    let Some(worst) = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return String::new();
    };
    let logs: f64 = ratios.iter().map(|ratio| ratio.0.ln()).sum();
    let mean = (logs / ratios.len() as f64).exp();
    let below = ratios.iter().filter(|ratio| ratio.0 < 1.0).count();
    format!(
        "- {against}: {choice}, geometric mean {mean:.2}x over {} comparisons, {below} of \
         them below 1.0, lowest {:.2}x ({}).\n",
        ratios.len(),
        worst.0,
        worst.1,
    )
}

/// Where a heading stands in the document; `None` for a strange one.
fn position(heading: &str) -> Option<(usize, usize, usize)> {
    let mut parts = heading.split(", ");
    let of = |names: &[&str], part: &str| names.iter().position(|name| *name == part);
    let family = of(&FAMILIES, parts.next()?)?;
    let mode = parts.next()?;
    // Batches first, by their size, which is at most 1024.
    let mode = burst(mode).or_else(|| of(&MODES, mode).map(|place| 2000 + place))?;
    Some((family, mode, of(&TABLES, parts.next()?.strip_prefix("table ")?)?))
}

/// The number of addresses in the name of a mode; `None` when these are no batches.
fn burst(mode: &str) -> Option<usize> {
    mode.strip_prefix(BATCH)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTION: &str = "## inet6, batch of 256, table 1000\n\n\
        | contender | table-random | uniform | flows-2000 | zipf-1M | nexthop bits | MB | build s |\n\
        |---|---|---|---|---|---|---|---|\n\
        | direct6 * | 400 (4.00 [3.90, 4.10]) | 100 (1.00) | 90 (0.90) | 10 (1.00) | 16 | 1.00 | 0.001 |\n\
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
        let wanted = "geometric mean 1.38x over 4 comparisons, 1 of them below 1.0, lowest 0.90x \
                      (inet6, batch of 256, table 1000, stream 3)";
        assert!(text.contains(wanted), "{text}");
        assert!(!text.contains("8-bit") && !text.contains("single"));
    }

    #[test]
    fn what_a_user_gets_through_a_reader_has_a_line_of_its_own() {
        let mut document = Document::default();
        let row = "| direct6, through a reader | 300 (3.00) | 100 (1.00) | | | 16 | 1.00 | 0.1 |\n";
        document.set_section(&format!("{SECTION}{row}"));
        let text = document.render("");
        let wanted = "automatic choice through a reader, geometric mean 1.73x over 2 comparisons";
        assert!(text.contains(wanted) && text.contains("geometric mean 1.38x over 4"), "{text}");
    }

    #[test]
    fn the_summary_compares_single_lookups_with_the_crates_and_with_others_code() {
        let mut document = Document::default();
        document.set_section(
            "## inet, single, table real\n\n\
             | direct4, 8-bit cells * | 90 (0.80) | 20 (1.00) | | | 8 | 21.00 | 0.1 |\n\
             | poptrie, its author's C | 30 | 40 | | | 16 | 9.00 | 0.1 |\n\
             | prefix-trie | 9 | 5 | | | 32 | - | 0.1 |\n\
             | ip_network_table | 10 | 4 | | | 32 | - | 0.1 |\n",
        );
        let text = document.render("");
        let crates = "against the Rust crates: automatic choice, geometric mean 6.00x over 2 \
                      comparisons, 0 of them below 1.0, lowest 4.00x (inet, single, table real, \
                      stream 2)";
        assert!(text.contains(crates), "{text}");
        assert!(text.contains(
            "poptrie, DXR and PlanB in others' code: automatic choice, geometric mean 1.22x"
        ));
        assert!(text.contains("1 of them below 1.0, lowest 0.50x"));
    }

    #[test]
    fn the_summary_tells_the_bytes_a_route_of_compact_structures() {
        let mut document = Document::default();
        let row = "| bitruns4 | 173 (0.77) | 160 | 476 | 190 | 16 | 4.73 | 0.016 |\n";
        document.set_section(&format!(
            "## inet, batch of 256, table real\n\n{row}\nCommit abc, 7 rounds, 901886 routes.\n"
        ));
        document.set_section(&format!(
            "## inet, batch of 256, table 8\n\n{row}\nCommit abc, 7 rounds, 8 routes.\n"
        ));
        let text = document.render("");
        assert!(
            text.contains("inet, batch of 256, table real: bitruns4 takes 5.2 bytes a route"),
            "{text}"
        );
        assert_eq!(text.matches("bytes a route").count(), 1);
    }
}
