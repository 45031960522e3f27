//! One point of a series: the runs of one revision.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use fwdlab_netbenches::revision::Revision;
use fwdlab_results::{Measure, Metric, Tick, units};
use fwdlab_stats::Direction;

/// Which series a point belongs to. Absent parts are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The hardware.
    pub machine: String,
    /// The set of benches, where results are published in sets: `firewalls`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bench: String,
    /// The configuration, with the patch when the image has one: `forwarding +D27401v4`.
    pub configuration: String,
    /// `inet`, `inet6` or `dual`.
    pub family: String,
    /// The traffic's name, where the other parts do not tell it apart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub traffic: String,
    /// Frame length in bytes, FCS included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_bytes: Option<u16>,
    /// Distinct flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
    /// What was measured, by its name in experiment files, where it is neither the forwarding rate
    /// nor the device's cost: `recovery`; `sampled` of a cost by ticks of a clock.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub measure: String,
    /// `frames/s`, `ns/frame`, or that of the measure.
    pub unit: String,
}

/// What build of fwdlab measured a point, among how it was measured.
pub(crate) const BUILD: &str = "fwdlab";

/// The measure of a device's cost that was sampled at ticks of a clock: another quantity than one between readings of it.
pub(crate) const SAMPLED: &str = "sampled";

impl Key {
    /// The series' name: its parts in words.
    pub fn name(&self) -> String {
        let family = match self.family.as_str() {
            "inet" => "IPv4",
            "inet6" => "IPv6",
            "dual" => "IPv4+IPv6",
            other => other,
        };
        let parts = [
            self.machine.clone(),
            self.bench.clone(),
            self.configuration.clone(),
            family.to_owned(),
            self.traffic.clone(),
            self.frame_bytes.map_or(String::new(), |bytes| format!("{bytes} B")),
            self.flows.map_or(String::new(), |flows| units::plural(flows, "flow")),
            self.own_measure().map_or_else(|| self.cost().to_owned(), |own| own.title().to_owned()),
            self.other_unit(),
        ];
        let named: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        named.join(" ")
    }

    /// The unit in words where it is not the one that the figure has elsewhere: the same measure in another one is
    /// another series, and needs another name.
    fn other_unit(&self) -> String {
        if self.unit.starts_with(Tick::Instruction.name()) {
            return "in instructions".to_owned();
        }
        let usual = match self.own_measure() {
            Some(own) => own.unit(),
            None if self.cost().is_empty() => Metric::Rate.unit(),
            None => Metric::Cost.unit(),
        };
        let is_usual = self.unit.is_empty() || self.unit == usual;
        if is_usual { String::new() } else { format!("in {}", self.unit) }
    }

    fn own_measure(&self) -> Option<Measure> {
        Measure::ALL.into_iter().find(|own| own.name() == self.measure)
    }

    /// The words of a device's cost; empty for all else.
    fn cost(&self) -> &'static str {
        let is_cost = [Tick::Nanosecond, Tick::Instruction].iter().any(|t| t.each() == self.unit);
        match is_cost {
            true if self.measure == SAMPLED => "sampled device cost",
            true => Metric::Cost.title(),
            false => "",
        }
    }

    /// Whether lower values are better.
    pub fn is_lower_better(&self) -> bool {
        match self.own_measure() {
            Some(own) => own.direction() == Direction::LowerIsBetter,
            None => !self.cost().is_empty(),
        }
    }

    /// Which way is better.
    pub fn direction(&self) -> Direction {
        if self.is_lower_better() { Direction::LowerIsBetter } else { Direction::HigherIsBetter }
    }
}

/// The runs of one revision in one series, as the store keeps them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The series.
    pub series: Key,
    /// The revision, as in the names of the files; the day where there is none.
    pub revision: String,
    /// When its kernel was built, or else when it was measured, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The figure of each run, in the series' unit; none when only a summary was published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
    /// Published median, minimum and maximum, where there are no runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<[f64; 3]>,
    /// Where it comes from: the directory and the name in it.
    pub source: String,
    /// What tells its machine from others of the same name, as far as that is known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hardware: BTreeMap<String, String>,
    /// What the machine calls itself, where no more of it is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// How it was measured, as far as that is known: build, kernel, what the device said is set, load, experiment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub setting: BTreeMap<String, String>,
    /// The directory of it on this machine, for links; no part of a store.
    #[serde(skip)]
    pub place: Option<PathBuf>,
    /// What it is called in its campaign, where that is on this machine; no part of a store.
    #[serde(skip)]
    pub called: Option<Called>,
}

/// What a point is called in the campaign that it is from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// Its variant.
    pub variant: String,
    /// Its traffic, where it is not the campaign's first.
    pub traffic: Option<String>,
    /// All variants of the campaign, in the order of its experiment.
    pub variants: Vec<String>,
}

impl Point {
    /// Median of the runs.
    pub fn median(&self) -> f64 {
        match self.summary {
            Some([median, _, _]) if self.values.is_empty() => median,
            _ => fwdlab_stats::median(&self.values),
        }
    }

    /// An interval of the median without assumptions on the noise: order statistics that hold it
    /// with at least 95 %, where there are runs enough; else minimum and maximum (93.75 % with 5
    /// runs).
    pub fn interval(&self) -> (f64, f64) {
        if let (Some([_, low, high]), true) = (self.summary, self.values.is_empty()) {
            return (low, high);
        }
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let cut = outside(sorted.len());
        match (sorted.get(cut), sorted.len().checked_sub(cut + 1).and_then(|i| sorted.get(i))) {
            (Some(&low), Some(&high)) => (low, high),
            _ => (f64::NAN, f64::NAN),
        }
    }

    /// Standard error of the median as a ratio, as far as the runs tell.
    pub fn noise(&self) -> Option<f64> {
        /// Mean range of five normal values, in standard deviations.
        const RANGE_OF_FIVE: f64 = 2.326;
        /// How much wider the error of a median is than that of a mean.
        const MEDIAN: f64 = 1.253;
        let error = |sd: f64, runs: f64| MEDIAN * sd / runs.sqrt();
        if let (Some([median, low, high]), true) = (self.summary, self.values.is_empty()) {
            return Some(error((high - low) / median / RANGE_OF_FIVE, 5.0));
        }
        let dataset = fwdlab_stats::Dataset::new(self.values.clone()).ok()?;
        (self.values.len() > 1).then(|| error(dataset.cv(), self.values.len() as f64))
    }

    /// What the revision says of its order.
    pub fn read_revision(&self) -> Option<Revision> {
        Revision::parse(&self.revision).or_else(|| Revision::within(&self.revision))
    }

    /// Whether the figures are usable.
    pub fn is_sound(&self) -> bool {
        let median = self.median();
        median.is_finite() && median > 0.0
    }
}

/// Values to leave out at either end so that the rest holds the median with at least 95 %.
fn outside(count: usize) -> usize {
    // P(fewer than k + 1 of n values below the median), from the binomial with 1/2
    let mut tail = 0.5f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut term = tail;
    let mut cut = 0;
    for k in 0..count / 2 {
        if 2.0 * tail > 0.05 {
            break;
        }
        cut = k;
        term *= (count - k) as f64 / (k + 1) as f64;
        tail += term;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(values: &[f64]) -> Point {
        Point { values: values.to_vec(), ..Point::default() }
    }

    #[test]
    fn few_runs_give_their_range_and_many_order_statistics() {
        assert_eq!(point(&[3.0, 1.0, 2.0, 5.0, 4.0]).interval(), (1.0, 5.0));
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!(point(&ten).interval(), (2.0, 9.0)); // the textbook's 97.9 %
        assert!(point(&[]).interval().0.is_nan());
    }

    #[test]
    fn a_summary_stands_where_there_are_no_runs() {
        let own = Point { summary: Some([10.0, 9.0, 12.0]), ..Point::default() };
        assert_eq!((own.median(), own.interval()), (10.0, (9.0, 12.0)));
        assert!(own.noise().is_some_and(|n| n > 0.05 && n < 0.1));
    }

    #[test]
    fn a_name_leaves_out_what_is_not_known() {
        let key = Key {
            machine: "Atom".into(),
            family: "inet6".into(),
            frame_bytes: Some(64),
            flows: Some(2000),
            unit: "frames/s".into(),
            ..Key::default()
        };
        assert_eq!(key.name(), "Atom IPv6 64 B 2000 flows");
    }

    /// An alert, an acknowledgement and `--only` were of both.
    #[test]
    fn two_units_of_one_figure_are_two_names() {
        let key = |unit: &str| Key { machine: "Atom".into(), unit: unit.into(), ..Key::default() };
        assert_eq!(key("frames/s").name(), "Atom");
        assert_eq!(key("bit/s").name(), "Atom in bit/s");
        let recovery = Key { measure: "recovery".into(), ..key("ms") };
        assert_eq!(recovery.name(), "Atom recovery time in ms");
    }

    #[test]
    fn each_measure_says_which_way_is_better() {
        let key = |measure: &str, unit: &str| Key {
            machine: "Atom".into(),
            measure: measure.into(),
            unit: unit.into(),
            ..Key::default()
        };
        for (measure, unit, is_lower, name) in [
            ("", "frames/s", false, "Atom"),
            ("", "ns/frame", true, "Atom device cost"),
            ("", "instructions/frame", true, "Atom device cost in instructions"),
            ("recovery", "s", true, "Atom recovery time"),
            ("convergence", "s", true, "Atom full convergence time"),
            ("soak", "s", false, "Atom time without loss"),
            ("full-table", "sessions/s", false, "Atom new sessions through a full table"),
            ("ndr", "frames/s", false, "Atom non-drop rate"),
        ] {
            let key = key(measure, unit);
            assert_eq!((key.is_lower_better(), key.name().as_str()), (is_lower, name), "{measure}");
        }
    }
}
