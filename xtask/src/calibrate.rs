//! `cargo xtask calibrate`: simulates campaigns with a known truth and holds the verdicts to it.
//!
//! The full run writes docs/calibration.md; `--quick` runs in CI, compares with that file, ends
//! with the worst figure and fails when it is out of bounds.

mod between;
mod claim;
mod cold;
mod document;
mod lost;
mod machines;
mod methods;
mod noise;
mod parallel;
mod rare;
mod section;
mod simulate;
mod trust;
mod wild;

pub use claim::Claim;
pub use noise::Random;
pub use parallel::{SEED, in_parallel};
use std::path::Path;

use anyhow::{Context, Result, bail};
use parallel::Size;
use section::Section;
use simulate::Simulated;

/// Largest false-positive rate of a default verdict.
const MOST_FALSE: f64 = 0.06;
/// How far power may fall below the document, in per cent points.
const MOST_LOST_POINTS: f64 = 5.0;

const DOCUMENT: &str = "docs/calibration.md";

const FULL: Size =
    Size { without_effect: 4_000, with_effect: 1_500, trust: 4_000, again: 10, is_whole: true };
const QUICK: Size =
    Size { without_effect: 1_000, with_effect: 1_000, trust: 250, again: 0, is_whole: false };

/// What to simulate.
#[derive(clap::Args)]
pub struct Args {
    /// Fewer campaigns, nothing written: checks the verdicts against docs/calibration.md
    #[arg(long)]
    quick: bool,
    /// Simulates one section alone, in full, and writes it where docs/calibration.md has it
    #[arg(long, value_name = "SECTION", conflicts_with = "quick")]
    only: Option<Section>,
}

impl Args {
    /// What CI runs.
    pub fn quick() -> Self {
        Self { quick: true, only: None }
    }
}

/// One figure that must stay in bounds.
struct Figure {
    name: String,
    /// Share of its bound that it uses up; above 1 it is out of bounds.
    used: f64,
    text: String,
}

/// Runs it; false when a figure is out of bounds.
pub fn run(root: &Path, arguments: &Args) -> Result<bool> {
    let size = if arguments.quick { QUICK } else { FULL };
    let simulated = simulate::simulate(size, arguments.only);
    let path = root.join(DOCUMENT);
    let fresh = match arguments.only {
        None => document::write(&simulated),
        Some(section) => {
            let old = read(&path)?;
            let text = document::section(&simulated, section);
            println!("{text}");
            document::replaced(&old, &text).with_context(|| {
                format!("{DOCUMENT} has no place for it; write all with `cargo xtask calibrate`")
            })?
        }
    };
    let mut figures = false_rates(&simulated);
    figures.extend(trust_figures(&simulated));
    if arguments.quick {
        figures.extend(lost_power(&read(&path)?, &fresh)?);
    } else {
        std::fs::write(&path, fresh).with_context(|| format!("cannot write {DOCUMENT}"))?;
        println!("{DOCUMENT} written");
    }
    figures.sort_by(|a, b| b.used.total_cmp(&a.used));
    let bad = figures.iter().filter(|figure| figure.used > 1.0);
    for figure in bad.clone() {
        println!("OUT OF BOUNDS: {}: {}", figure.name, figure.text);
    }
    let Some(worst) = figures.first() else { bail!("nothing was simulated") };
    println!("{} figures checked", figures.len());
    println!("worst: {}: {}", worst.name, worst.text);
    Ok(bad.count() == 0)
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .with_context(|| format!("cannot read {DOCUMENT}; write it with `cargo xtask calibrate`"))
}

/// False differences where nothing differs, and false "equivalent" at the margin.
fn false_rates(simulated: &Simulated) -> Vec<Figure> {
    let figure = |name: String, rate: f64| Figure {
        name,
        used: rate / MOST_FALSE,
        text: format!("{:.2} % (at most {:.0} %)", rate * 100.0, MOST_FALSE * 100.0),
    };
    simulated
        .defaults
        .iter()
        .flat_map(|row| {
            let place = format!("{}, {} noise", row.default.name(), row.noise.name());
            [
                figure(format!("false differences, {place}"), row.by_effect[0].difference),
                figure(format!("false \"equivalent\", {place}"), row.by_effect[1].equivalent),
            ]
        })
        .collect()
}

/// Rows of the tables of trust: false winners, coverage and false "equivalent".
fn trust_figures(simulated: &Simulated) -> Vec<Figure> {
    let figure = |name: String, claim: &Claim| Figure {
        name,
        used: claim.rate / claim.bound(),
        text: format!(
            "{:.2} % (at most {:.2} %, {:.1} % and the error of simulation)",
            claim.rate * 100.0,
            claim.bound() * 100.0,
            claim.most * 100.0
        ),
    };
    let trust = simulated.trust.iter().flat_map(trust::Row::claims);
    let between = simulated.between.iter().flat_map(between::Row::claims);
    let machines = simulated.machines.iter().flat_map(machines::Row::claims);
    let cold = simulated.cold.iter().flat_map(cold::Row::claims);
    let rare = simulated.rare.iter().flat_map(rare::Row::claims);
    let wild = simulated.wild.iter().flat_map(wild::Row::claims);
    let lost = simulated.lost.iter().flat_map(lost::Row::claims);
    let all = trust.chain(between).chain(machines).chain(cold).chain(rare).chain(wild).chain(lost);
    all.map(|(name, claim)| figure(name, &claim)).collect()
}

/// Points of power lost against the document.
fn lost_power(old: &str, fresh: &str) -> Result<Vec<Figure>> {
    let (old, fresh) = (document::powers(old), document::powers(fresh));
    let mut figures = Vec::new();
    for was in &old {
        let Some(now) =
            fresh.iter().find(|now| now.row == was.row && now.percent.len() == was.percent.len())
        else {
            bail!(
                "{DOCUMENT} has a row `{}` that is no longer simulated; write it anew with `cargo xtask calibrate`",
                was.row
            );
        };
        for (noise, (was, now_is)) in noise::ALL.iter().zip(was.percent.iter().zip(&now.percent)) {
            figures.push(Figure {
                name: format!("power, {}, {} noise", now.row, noise.name()),
                used: (was - now_is) / MOST_LOST_POINTS,
                text: format!("{now_is:.1} % where the document has {was:.1} % (at most {MOST_LOST_POINTS} points below)"),
            });
        }
    }
    if figures.is_empty() {
        bail!("{DOCUMENT} holds no power table; write it anew with `cargo xtask calibrate`");
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny() -> Simulated {
        simulate::simulate(
            Size { without_effect: 20, with_effect: 10, trust: 20, again: 2, is_whole: false },
            None,
        )
    }

    #[test]
    fn simulation_depends_on_its_seed_only() {
        assert_eq!(document::write(&tiny()), document::write(&tiny()));
    }

    #[test]
    fn a_section_alone_is_that_of_the_whole() {
        let size = Size { without_effect: 1, with_effect: 1, trust: 5, again: 0, is_whole: false };
        let whole = document::write(&simulate::simulate(size, None));
        for only in <Section as clap::ValueEnum>::value_variants() {
            let alone = document::section(&simulate::simulate(size, Some(*only)), *only);
            assert!(whole.contains(&alone), "{only:?}: {alone}");
            let other = whole.replace(&alone, &alone.replace(" %", " of a hundred"));
            assert_ne!(other, whole);
            assert_eq!(document::replaced(&other, &alone), Some(whole.clone()), "{only:?}");
            assert_eq!(document::replaced("# Calibration\n", &alone), None);
        }
    }

    #[test]
    fn power_is_read_back_from_the_document() {
        let text = document::write(&tiny());
        let powers = document::powers(&text);
        assert!(powers.iter().any(|power| power.row == "8 blocks, 5 % faster"), "{powers:?}");
        assert!(powers.iter().all(|power| power.percent.len() == noise::ALL.len()), "{powers:?}");
        assert!(
            lost_power(&text, &text)
                .is_ok_and(|figures| figures.iter().all(|figure| figure.used == 0.0))
        );
    }

    #[test]
    fn power_that_fell_is_out_of_bounds() {
        let text = document::write(&tiny());
        let better = text.replace("| 8 blocks, 5 % faster |", "| 8 blocks, 5 % faster | 120.0 |");
        assert!(lost_power(&better, &text).is_err(), "a row of another length is no match");
        let figures = lost_power(&text.replace(" 100.0 |", " 110.0 |"), &text);
        assert!(figures.is_ok_and(|figures| figures.iter().any(|figure| figure.used > 1.0)));
    }
}
