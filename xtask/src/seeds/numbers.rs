//! The numbers of docs/seeds.toml, and what follows from them.

use anyhow::{Context, Result, ensure};
use fwdlab_stats::machines::{Figure, Runs};
use serde::Deserialize;

use super::elsewhere::{Elsewhere, Instructions};
use super::family::Family;

/// All numbers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Numbers {
    pub(super) lab: Lab,
    /// What stands elsewhere.
    #[serde(skip)]
    pub(super) own: Elsewhere,
    pub(super) machine: Vec<Machine>,
    #[serde(default)]
    pub(super) said: Vec<Said>,
}

/// A sentence of a page about a figure of a machine, or about two other rates of the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Said {
    pub(super) page: String,
    pub(super) words: String,
    /// Absent of "no impact".
    pub(super) percent: Option<f64>,
    pub(super) of: Option<Named>,
    pub(super) rates: Option<Rates>,
    /// The second rate was all of the load.
    #[serde(default)]
    pub(super) limited: bool,
}

/// Where a figure stands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    machine: String,
    change: String,
    family: Family,
}

/// Two rates that no figure holds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rates {
    runs: usize,
    family: Family,
    before: Side,
    after: Side,
}

/// Where fwdlab's own router ran.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lab {
    pub(super) machine: String,
    pub(super) ghz: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Machine {
    pub(super) name: String,
    pub(super) processor: String,
    pub(super) cores: u32,
    pub(super) ghz: Option<f64>,
    /// What the program calls its results of the change.
    pub(super) program: Option<String>,
    pub(super) figure: Vec<Published>,
}

/// One change on one machine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Published {
    pub(super) change: String,
    pub(super) family: Family,
    runs: usize,
    #[serde(default, rename = "use")]
    pub(super) role: Role,
    before: Side,
    after: Side,
}

/// What a figure is good for.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    /// The machine's figure for the change.
    #[default]
    Figure,
    /// Another run, or an earlier form of the change, on a machine that has its figure.
    Repeat,
    /// The load was the limit, not the machine.
    Limited,
    /// Another change.
    Other,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct Side {
    mean: f64,
    sd: f64,
}

/// Reads the numbers, beside those that stand elsewhere.
pub(super) fn read(text: &str, own: Elsewhere) -> Result<Numbers> {
    let numbers = Numbers { own, ..toml::from_str(text)? };
    for machine in &numbers.machine {
        ensure!(machine.cores > 0, "{}: no cores", machine.name);
        for figure in &machine.figure {
            figure.change()?;
        }
    }
    for said in &numbers.said {
        numbers.about(said)?;
    }
    Ok(numbers)
}

impl Numbers {
    /// All figures of a family with their machines.
    pub(super) fn of(&self, family: Family) -> impl Iterator<Item = (&Machine, &Published)> {
        self.machine.iter().flat_map(move |machine| {
            let own = machine.figure.iter().filter(move |figure| figure.family == family);
            own.map(move |figure| (machine, figure))
        })
    }
}

/// What a sentence is about.
pub(super) struct About {
    pub(super) family: Family,
    pub(super) change: Figure,
    /// Whether it counts among the machines of the summary.
    pub(super) is_figure: bool,
}

impl Numbers {
    /// What a sentence is about.
    pub(super) fn about(&self, said: &Said) -> Result<About> {
        if let Some(rates) = &said.rates {
            ensure!(said.of.is_none(), "'{}' is about one figure: `of` or `rates`", said.words);
            let change = change(rates.runs, rates.before, rates.after)?;
            return Ok(About { family: rates.family, change, is_figure: false });
        }
        let named = said.of.as_ref().with_context(|| format!("'{}': about what?", said.words))?;
        let is_it = |(machine, figure): &(&Machine, &Published)| {
            machine.name == named.machine && figure.change == named.change
        };
        let found = self.of(named.family).find(is_it);
        let (_, figure) = found.with_context(|| format!("'{}': no such figure", said.words))?;
        let is_figure = figure.role == Role::Figure;
        Ok(About { family: named.family, change: figure.change()?, is_figure })
    }
}

/// The ratio of two rates.
fn change(n: usize, before: Side, after: Side) -> Result<Figure> {
    let runs = |side: Side| Runs { n, mean: side.mean, sd: side.sd };
    Ok(Figure::of_runs(runs(before), runs(after))?)
}

impl Instructions {
    /// The change of the rate if time went by instructions, per cent.
    pub(super) fn percent(self) -> f64 {
        100.0 * (self.before / self.after - 1.0)
    }
}

impl Published {
    /// The ratio of the rates.
    pub(super) fn change(&self) -> Result<Figure> {
        change(self.runs, self.before, self.after)
    }

    /// Time that the machine's cores spend on a frame, before and after, ns: all of them are busy
    /// when it forwards as much as it can.
    pub(super) fn ns_per_frame(&self, machine: &Machine) -> [f64; 2] {
        [self.before, self.after].map(|side| f64::from(machine.cores) * 1e9 / side.mean)
    }
}

/// The change of the rate when `saved` of `of` ns go, per cent.
pub(super) fn percent_of(saved: f64, of: f64) -> f64 {
    100.0 * (of / (of - saved) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: &str = r#"
        lab = { machine = "m", ghz = 4.0 }
        [[machine]]
        name = "n"
        processor = "p"
        cores = 4
        ghz = 1.0
        figure = [{ change = "c", family = "inet", runs = 5, before = { mean = 1e6, sd = 1 }, after = { mean = 1.25e6, sd = 1 } }]
    "#;

    #[test]
    fn nanoseconds_and_per_cent_follow_from_rates_and_cores() {
        let numbers = read(NUMBERS, Elsewhere::default()).unwrap();
        let (machine, figure) = numbers.of(Family::Inet).next().unwrap();
        assert_eq!(figure.ns_per_frame(machine), [4000.0, 3200.0]);
        assert!((figure.change().unwrap().effect.percent() - 25.0).abs() < 1e-9);
        assert!((percent_of(800.0, 4000.0) - 25.0).abs() < 1e-9);
        assert!((Instructions { before: 1100.0, after: 1000.0 }.percent() - 10.0).abs() < 1e-9);
        assert!(numbers.of(Family::Inet6).next().is_none());
    }

    #[test]
    fn what_is_no_figure_is_refused() {
        for (good, bad) in [
            ("mean = 1e6", "mean = 0"),
            ("runs = 5", "runs = 1"),
            ("cores = 4", "cores = 0"),
            ("\"c\"", "3"),
        ] {
            assert!(read(&NUMBERS.replace(good, bad), Elsewhere::default()).is_err(), "{bad}");
        }
    }
}
