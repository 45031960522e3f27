//! docs/calibration.md: written from an simulated, and read back for the figures that must hold.

use std::fmt::Write;

use super::methods::{BLOCKS, FAMILY, MARGIN, ORDERS};
use super::noise::ALL;
use super::parallel::SEED;
use super::section::Section;
use super::simulate::{DefaultRow, EFFECTS, PeerRow, Simulated};
use super::{between, cold, lost, machines, rare, trust, wild};

/// The heading above the table that [`powers`] reads.
const POWER_HEADING: &str = "## Power of fwdlab's verdicts";

/// The heading after the last section that can be written alone.
const AFTER_SECTIONS: &str = "## False differences";

/// The whole document.
pub fn write(simulated: &Simulated) -> String {
    let mut text = String::new();
    introduction(simulated, &mut text);
    for section in <Section as clap::ValueEnum>::value_variants() {
        text.push_str(&self::section(simulated, *section));
    }
    false_differences(simulated, &mut text);
    false_equivalents(simulated, &mut text);
    power(simulated, &mut text);
    blocks(simulated, &mut text);
    peers_power(simulated, &mut text);
    text
}

/// One section, with the empty line before it.
pub fn section(simulated: &Simulated, section: Section) -> String {
    let mut text = String::new();
    match section {
        Section::Trust => trust::write(&simulated.trust, simulated.size, &mut text),
        Section::Between => between::write(&simulated.between, &mut text),
        Section::Machines => machines::write(&simulated.machines, &mut text),
        Section::Cold => cold::write(&simulated.cold, &mut text),
        Section::Rare => rare::write(&simulated.rare, &mut text),
        Section::Wild => wild::write(&simulated.wild, &mut text),
        Section::Lost => lost::write(&simulated.lost, &mut text),
    }
    text
}

/// The document with another text of one section, or with it before the tables that follow sections where it
/// has none yet; `None` if this is no such document.
pub fn replaced(document: &str, section: &str) -> Option<String> {
    let heading = section.trim_start().lines().next()?;
    let begin = document.find(&format!("\n{heading}\n"));
    let (before, rest) = match begin {
        Some(begin) => document.split_at(begin),
        None => document.split_at(document.find(&format!("\n{AFTER_SECTIONS}"))?),
    };
    let after = match begin {
        Some(_) => rest[1..].find("\n## ").map_or("", |end| &rest[end + 1..]),
        None => rest,
    };
    Some(format!("{before}{section}{after}"))
}

fn introduction(simulated: &Simulated, text: &mut String) {
    let _ = write!(
        text,
        "# Calibration\n\n\
         How often verdicts are wrong, and how often they find what is there: simulated campaigns with a\n\
         known truth. Written by `cargo xtask calibrate`; every figure depends only on the seed {SEED:#x}\n\
         and the numbers of campaigns ({} per noise model without an effect and with one at the margin, {}\n\
         with a larger one), so that a second run writes the same file. `cargo xtask calibrate --quick`\n\
         simulates fewer and fails when a rate of errors exceeds what is promised by more than the error of\n\
         simulation, or when power lies more than 5 points below the figures here.\n\n\
         Margin {} %, level 5 %. Noise of a run, in running order:\n\n",
        simulated.size.without_effect,
        simulated.size.with_effect,
        MARGIN * 100.0
    );
    for noise in ALL {
        let _ = writeln!(text, "- **{}**: {}", noise.name(), noise.describe());
    }
    let _ = write!(
        text,
        "\nfwdlab's defaults: **8 blocks** (randomised blocks, signed ranks of log ratios), **until decided**\n\
         (e-process and confidence sequence, at most 40 blocks), **{FAMILY} variants, 8 blocks** (Dunnett or Holm;\n\
         any false difference among the {FAMILY} counts; power is that for one of them). The usual tests get {BLOCKS} runs\n\
         of each variant, made all A first and then all B, or in the same randomised order as fwdlab's but\n\
         analysed without blocks: Student's pooled t (ministat), Welch on log values, exact Mann-Whitney,\n\
         percentile bootstrap of the ratio of means (1000 resamples).\n"
    );
}

fn heading(text: &mut String, title: &str, first: &str) {
    let _ = write!(text, "\n{title}\n\n| {first} |");
    for noise in ALL {
        let _ = write!(text, " {} |", noise.name());
    }
    text.push_str("\n|---|");
    text.push_str(&"---:|".repeat(ALL.len()));
    text.push('\n');
}

fn row(text: &mut String, name: &str, cells: impl Iterator<Item = String>) {
    let _ = write!(text, "| {name} |");
    for cell in cells {
        let _ = write!(text, " {cell} |");
    }
    text.push('\n');
}

fn share(value: f64) -> String {
    format!("{:.1}", value * 100.0)
}

/// The rows of one default, in the order of the noise models.
fn by_default(simulated: &Simulated) -> impl Iterator<Item = &[DefaultRow]> {
    simulated.defaults.chunks(ALL.len())
}

fn by_peer(simulated: &Simulated) -> impl Iterator<Item = &[PeerRow]> {
    simulated.peers.chunks(ALL.len())
}

fn false_differences(simulated: &Simulated, text: &mut String) {
    heading(
        text,
        &format!("{AFTER_SECTIONS}: \"faster\" or \"slower\" where nothing differs, in %"),
        "method",
    );
    for rows in by_default(simulated) {
        let name = format!("**fwdlab, {}**", rows[0].default.name());
        row(text, &name, rows.iter().map(|row| share(row.by_effect[0].difference)));
    }
    for rows in by_peer(simulated) {
        let name = format!("{}, {}", rows[0].peer.name(), rows[0].order.name());
        row(text, &name, rows.iter().map(|row| share(row.by_effect[0])));
    }
}

fn false_equivalents(simulated: &Simulated, text: &mut String) {
    heading(text, "## False \"equivalent\": the truth lies at the margin, in %", "method");
    for rows in by_default(simulated) {
        let name = format!("**fwdlab, {}**", rows[0].default.name());
        row(text, &name, rows.iter().map(|row| share(row.by_effect[1].equivalent)));
    }
    text.push_str("\nThe usual tests cannot say \"equivalent\" at all.\n");
}

fn power(simulated: &Simulated, text: &mut String) {
    heading(text, &format!("{POWER_HEADING}, in %"), "method, truth");
    for rows in by_default(simulated) {
        let name = format!("{}, equal: \"equivalent\"", rows[0].default.name());
        if rows[0].by_effect[0].equivalent > 0.0 {
            row(text, &name, rows.iter().map(|row| share(row.by_effect[0].equivalent)));
        }
        for (i, effect) in EFFECTS.iter().enumerate().skip(1) {
            let name = format!("{}, {} % faster", rows[0].default.name(), effect * 100.0);
            row(text, &name, rows.iter().map(|row| share(row.by_effect[i].difference)));
        }
    }
}

fn blocks(simulated: &Simulated, text: &mut String) {
    heading(text, "## Mean number of blocks until decided", "truth");
    for rows in by_default(simulated)
        .filter(|rows| rows[0].default == super::methods::Default::UntilDecided)
    {
        for (i, effect) in EFFECTS.iter().enumerate() {
            let name = if *effect == 0.0 {
                "equal".to_owned()
            } else {
                format!("{} % faster", effect * 100.0)
            };
            row(text, &name, rows.iter().map(|row| format!("{:.1}", row.by_effect[i].blocks)));
        }
    }
}

fn peers_power(simulated: &Simulated, text: &mut String) {
    for order in ORDERS {
        let title = format!("## Differences found by the usual tests, {}, in %", order.name());
        heading(text, &title, "method, truth");
        for rows in by_peer(simulated).filter(|rows| rows[0].order == order) {
            for (i, effect) in EFFECTS.iter().enumerate().skip(1) {
                let name = format!("{}, {} % faster", rows[0].peer.name(), effect * 100.0);
                row(text, &name, rows.iter().map(|row| share(row.by_effect[i])));
            }
        }
    }
    text.push_str(
        "\nWhere a test calls false differences far above 5 % in the first table, its power means nothing.\n",
    );
}

/// A power figure of the document.
#[derive(Debug, PartialEq)]
pub struct Power {
    /// The row's name, e.g. `8 blocks, 1 % faster`.
    pub row: String,
    /// By noise model, in per cent.
    pub percent: Vec<f64>,
}

/// The rows of the power table in the document's text.
pub fn powers(document: &str) -> Vec<Power> {
    let table = document.split(POWER_HEADING).nth(1).unwrap_or_default();
    let table = table.split("\n## ").next().unwrap_or_default();
    table
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| method"))
        .map(|line| {
            let mut cells = line.trim_matches('|').split('|').map(str::trim);
            let row = cells.next().unwrap_or_default().to_owned();
            Power { row, percent: cells.filter_map(|cell| cell.parse().ok()).collect() }
        })
        .collect()
}
