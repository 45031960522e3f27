//! Figures as they come, as text or JSON lines, and the document that they are written to: sections
//! that later runs replace one by one.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use fwdlab_lookups::Ratio;

use crate::{Format, machine};

/// One contender in one case.
pub struct Figure {
    pub case: String,
    pub family: &'static str,
    /// "fwdlab" or "peer".
    pub origin: &'static str,
    pub name: String,
    pub ns_per_frame: f64,
    /// This contender's time by the router's: by so much the router is faster. `None` without a
    /// comparison.
    pub ratio: Option<Ratio>,
    /// The measured core's beat in each round, in ns; empty where it was not measured.
    pub beats_ns: Vec<f64>,
}

impl Figure {
    /// Million frames per second.
    pub fn mpps(&self) -> f64 {
        1000.0 / self.ns_per_frame
    }
}

/// The headings of the document, in order.
pub const HEADINGS: [&str; 5] = [
    "One core",
    "Two cores over rings",
    "One and two workers",
    "Parts of a frame's time",
    "The tester",
];

/// Prints figures, and keeps the document.
pub struct Report {
    format: Format,
    path: Option<PathBuf>,
    sections: Vec<(String, String)>,
    heading: &'static str,
    figures: Vec<Figure>,
    notes: Vec<String>,
}

impl Report {
    /// With `path` the document is read there and written after each section.
    ///
    /// # Errors
    /// When there is a document that cannot be read, or that is of another processor.
    pub fn new(format: Format, path: Option<PathBuf>) -> Result<Self> {
        let sections = parse(&machine::earlier(path.as_deref())?);
        let heading = HEADINGS[0];
        Ok(Self { format, path, sections, heading, figures: Vec::new(), notes: Vec::new() })
    }

    /// Begins a section.
    pub fn begin(&mut self, heading: &'static str) {
        self.heading = heading;
        if self.format == Format::Text {
            say(heading);
        }
    }

    /// Takes a figure of the section.
    pub fn figure(&mut self, figure: Figure) {
        let Figure { case, family, origin, name, ns_per_frame, ratio, beats_ns } = &figure;
        let mpps = figure.mpps();
        match self.format {
            Format::Json => self.line(&serde_json::json!({
                "case": case, "family": family, "origin": origin, "name": name, "mpps": mpps,
                "ns_per_frame": ns_per_frame, "beats_ns": beats_ns,
                "router_is_faster_by": ratio.map(|ratio| ratio.median),
                "low": ratio.map(|ratio| ratio.low), "high": ratio.map(|ratio| ratio.high),
                "rounds_counted": ratio.map(|ratio| ratio.counted),
                "rounds": ratio.map(|ratio| ratio.rounds),
            })),
            Format::Text => {
                let ratio = ratio.map_or_else(|| "-".into(), |ratio| ratio.to_string());
                say(&format!("{case:<60} {name:<38} {mpps:>8.1} {ns_per_frame:>8.2} {ratio:>19}"));
            }
        }
        self.figures.push(figure);
    }

    /// Takes a sentence, or a table, of the section.
    pub fn note(&mut self, text: String) {
        if self.format == Format::Text {
            say(&text);
        }
        self.notes.push(text);
    }

    /// Prints a JSON line, if that is the format.
    pub fn line(&self, value: &serde_json::Value) {
        if self.format == Format::Json {
            say(&value.to_string());
        }
    }

    /// Ends the section and writes the document.
    ///
    /// # Errors
    /// When the document cannot be written.
    pub fn end(&mut self) -> Result<()> {
        let figures = std::mem::take(&mut self.figures);
        let mut body = summary(&figures).unwrap_or_default();
        if !figures.is_empty() {
            body.push_str(&table(&figures));
        }
        for note in self.notes.drain(..) {
            let _ = write!(body, "\n{note}\n");
        }
        let _ = write!(body, "\nCommit {}.\n", machine::commit());
        self.sections.retain(|section| section.0 != self.heading);
        self.sections.push((self.heading.to_owned(), body.trim().to_owned()));
        let Some(path) = &self.path else { return Ok(()) };
        fs::write(path, render(path, &mut self.sections))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Prints a line. A closed pipe is no error: whoever reads has seen enough.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// The sections of a document that was written before.
fn parse(text: &str) -> Vec<(String, String)> {
    let sections = text.split("\n## ").skip(1).filter_map(|section| section.split_once('\n'));
    let known = sections.filter(|(heading, _)| HEADINGS.contains(heading));
    known.map(|(heading, body)| (heading.to_owned(), body.trim().to_owned())).collect()
}

fn render(path: &Path, sections: &mut [(String, String)]) -> String {
    let place = |heading: &str| HEADINGS.iter().position(|known| *known == heading);
    sections.sort_by_key(|section| place(&section.0));
    let mut out = opening(path);
    for (heading, body) in sections {
        let _ = write!(out, "\n## {heading}\n\n{body}\n");
    }
    out
}

fn opening(path: &Path) -> String {
    format!(
        "# Forwarding, compared\n\n\
         Written by `cargo xtask bench forward --write {}`; do not edit \
         it. Parts can be measured again alone with `--parts` and `--only`.\n\n\
         {}{}\n- Compiler: {}\n- Peer: {}\n\n\
         The router against a forwarder of our own in DPDK's manner (bursts of 32 and of 256, \
         prefetch, one bulk lookup a burst: rte_fib in every entry size with AVX-512, rte_lpm). \
         Both do what RFC 1812 and RFC 8200 \
         ask for: destination MAC, version, lengths, IPv4 checksum, TTL, address classes, MTU; \
         lookup; MAC addresses, TTL and checksum rewritten; and both must make the same frames of \
         the same frames. The router runs as it is used, with its worker, rings and counters, \
         and its route cache where IPv6 answers come again; the peer's queues on one core are plain \
         arrays. Smallest UDP frames (64 bytes with FCS in IPv4, \
         66 in IPv6). Contenders take turns in rounds; ratios are the median over the rounds of the \
         contender's time by the router's, with the interval of that median (sign test, at least \
         95 % from six rounds on): above 1 the router is faster. `header rewrite alone` \
         fetches and edits each header without check, lookup, queue or counter: what memory \
         allows. A full table is that of `--routes`, spread over {} gateways; up to /24 it is one \
         that 1-byte entries hold too.\n",
        path.display(),
        machine::PROCESSOR,
        machine::processor(),
        machine::compiler(),
        option_env!("FWDLAB_DPDK_VERSION")
            .map_or("none: libdpdk-dev is not installed".into(), |it| format!("DPDK {it}")),
        super::table::GATEWAYS,
    )
}

/// How the router stands against the best peer of each case.
fn summary(figures: &[Figure]) -> Option<String> {
    let peers: Vec<_> = figures.iter().filter(|figure| figure.origin == "peer").collect();
    let mut cases: Vec<&str> = peers.iter().map(|figure| figure.case.as_str()).collect();
    cases.dedup();
    let best = |case: &&str| {
        let of_case = peers.iter().filter(|figure| figure.case == *case);
        of_case.filter_map(|figure| figure.ratio).min_by(|a, b| a.median.total_cmp(&b.median))
    };
    let ratios: Vec<(Ratio, &str)> =
        cases.iter().filter_map(|case| Some((best(case)?, *case))).collect();
    let (lowest, case) = ratios.iter().min_by(|a, b| a.0.median.total_cmp(&b.0.median))?;
    let logs: f64 = ratios.iter().map(|ratio| ratio.0.median.ln()).sum();
    let mean = (logs / ratios.len() as f64).exp();
    let below = ratios.iter().filter(|ratio| ratio.0.median < 1.0).count();
    let all: Vec<Ratio> = peers.iter().filter_map(|figure| figure.ratio).collect();
    Some(format!(
        "The router against the best peer of each case: geometric mean {mean:.2}x over {} cases, \
         {below} of them below 1.0, lowest {lowest} ({case}). {}\n\n",
        ratios.len(),
        Ratio::share(&all).unwrap_or_default(),
    ))
}

fn table(figures: &[Figure]) -> String {
    let mut out =
        String::from("| case | | million frames/s | ns/frame | ratio |\n|---|---|---|---|---|\n");
    let mut last = "";
    for figure in figures {
        // The name of a case stands once.
        let case = if figure.case == last { "" } else { figure.case.as_str() };
        last = &figure.case;
        let ratio = figure.ratio.map_or_else(|| "-".to_owned(), |ratio| ratio.to_string());
        let (name, mpps, ns) = (&figure.name, figure.mpps(), figure.ns_per_frame);
        let _ = writeln!(out, "| {case} | {name} | {mpps:.1} | {ns:.2} | {ratio} |");
    }
    out
}

#[cfg(test)]
mod tests {
    use fwdlab_lookups::Run;

    use super::*;

    fn run(rate: f64) -> Run {
        Run { rate, beat_ns: 1000.0 }
    }

    fn figure(case: &str, origin: &'static str, ratio: f64) -> Figure {
        Figure {
            case: case.into(),
            family: "inet",
            origin,
            name: origin.into(),
            ns_per_frame: 5.0 * ratio,
            ratio: Ratio::of(&[run(ratio)], &[run(1.0)]),
            beats_ns: Vec::new(),
        }
    }

    #[test]
    fn the_summary_takes_the_best_peer_of_each_case() {
        let figures = [
            figure("a", "fwdlab", 1.0),
            figure("a", "peer", 2.0),
            figure("a", "peer", 1.21),
            figure("b", "peer", 1.0),
        ];
        let text = summary(&figures).unwrap();
        let wanted = "mean 1.10x over 2 cases, 0 of them below 1.0, lowest 1.00 [1.00, 1.00] (b). \
                      The ratios rest on 100 % of the rounds";
        assert!(text.contains(wanted), "{text}");
        assert!(summary(&figures[..1]).is_none());
        let wanted = "| a | fwdlab | 200.0 | 5.00 | 1.00 [1.00, 1.00] |\n|  | peer |";
        assert!(table(&figures).contains(wanted));
    }

    #[test]
    fn a_section_measured_again_replaces_the_old_one_and_others_stay() {
        let path = std::env::temp_dir().join(format!("forwarding-{}.md", std::process::id()));
        for (heading, text) in [(HEADINGS[4], "old"), (HEADINGS[1], "stays"), (HEADINGS[4], "new")]
        {
            let mut report = Report::new(Format::Json, Some(path.clone())).unwrap();
            report.begin(heading);
            report.note(text.into());
            report.end().unwrap();
        }
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(text.starts_with("# Forwarding, compared"));
        assert!(text.contains("\nnew\n") && !text.contains("\nold\n"), "{text}");
        assert!(text.find("stays") < text.find("new"), "{text}");
    }
}
