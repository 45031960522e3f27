//! Figures: drawings of series whose every mark names the trial behind it.
//!
//! A figure is drawn once as SVG. `raster` turns that same drawing into a
//! PNG, and the HTML page takes it as an element, so the three cannot differ.
//! [`verify`] reads a finished drawing back and compares every mark with the
//! results: no series can stand under another label.
//! [`text_table`] lays rows out for terminals and Markdown.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod bars;
mod canvas;
mod curve;
mod distribution;
mod error;
mod forest;
mod label;
mod legend;
pub mod observed;
#[cfg_attr(not(feature = "png"), path = "raster/left_out.rs")]
mod raster;
mod room;
mod run_order;
mod scale;
pub mod text_table;
mod theme;
mod verify;

pub use bars::{bars, bars_in};
pub use canvas::{Anchor, Canvas, Point, at, escape};
pub use curve::{Curve, Curves, Panel, Spot, curves};
pub use distribution::distribution;
pub use error::FigureError;
pub use forest::{Estimate, Forest, ForestRow, forest, forest_in};
pub use raster::png;
pub use room::Room;
pub use run_order::{run_order, run_order_in};
pub use theme::{DARK, LIGHT, inline_sheet, properties, sheet};
pub use verify::{verify, verify_those};

use fwdlab_results::Measure;
use fwdlab_results::Metric;
use fwdlab_results::Tick;

use crate::text_table::wrap;

/// A caption in lines that fit below a figure of this width.
fn caption(text: &str, width: f64) -> Vec<String> {
    /// Width of a character of 11 px type, on average, in px.
    const CHARACTER: f64 = 6.3;
    let columns = ((width - 32.0) / CHARACTER) as usize;
    let wrapped = text.lines().map(|line| wrap(line, columns, "", ""));
    wrapped.flat_map(|lines| lines.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// What a figure shows: series for each traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// The experiment's title.
    pub title: String,
    /// The figure that is shown.
    pub metric: Metric,
    /// What a cost counts.
    pub tick: Tick,
    /// What a rate is.
    pub measure: Measure,
    /// The traffics, in the experiment's order.
    pub traffics: Vec<TrafficSeries>,
    /// A sentence on n and on trials that are missing.
    pub caption: String,
    /// Whether a second axis says which Ethernet throughput the rates are with simple IMIX.
    pub has_imix: bool,
    /// Whether the order of the trials is known, and blocks with it; it is not in published results.
    pub is_ordered: bool,
}

/// The series of one traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct TrafficSeries {
    /// Name of the traffic.
    pub traffic: String,
    /// How readers know it: `IPv4, 64-byte frames`.
    pub label: String,
    /// One series per variant, the baseline among them.
    pub series: Vec<Series>,
    /// The line rate to mark, when the values come near one.
    pub line_rate: Option<LineRate>,
}

/// A line rate: the most frames/s that a link of some speed carries.
#[derive(Debug, Clone, PartialEq)]
pub struct LineRate {
    /// Frames/s.
    pub pps: f64,
    /// `1 Gb/s line rate`.
    pub label: String,
}

/// The trials of one variant with one traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name of the variant.
    pub variant: String,
    /// Place of its colour: 0 is the baseline.
    pub colour: usize,
    /// The single trials, in the order in which they ran.
    pub dots: Vec<Dot>,
    /// Their summary; `None` when no trial was kept.
    pub summary: Option<Summary>,
    /// The effect beside the bar: `+17.5 % faster`.
    pub effect: Option<String>,
}

/// One trial in a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// Id of the trial.
    pub trial: String,
    /// Its block, from 1.
    pub block: u32,
    /// Its place in the running order, from 1.
    pub order: u32,
    /// Frames/s or ns/frame.
    pub value: f64,
    /// What a reader sees who points at it.
    pub hover: String,
}

/// Minimum, median and maximum of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Smallest value.
    pub minimum: f64,
    /// Median; the mean of the two middle values when n is even.
    pub median: f64,
    /// Largest value.
    pub maximum: f64,
}

impl Summary {
    /// Summarises `values`; `None` when there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let (&minimum, &maximum) = (sorted.first()?, sorted.last()?);
        let median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
        Some(Self { minimum, median, maximum })
    }
}

impl Series {
    /// The deviation of a value from the median of the series, in per cent.
    pub(crate) fn deviation(&self, value: f64) -> Option<f64> {
        let median = self.summary?.median;
        (median > 0.0).then(|| (value / median - 1.0) * 100.0)
    }
}

/// What a caption says where a wild trial is drawn at the end of its axis.
pub(crate) const ARROW: &str = " Arrow: a trial far beyond the axis, with its figure.";

impl TrafficSeries {
    /// The widest deviation of a trial from the median of its variant, in per cent, but for the wild ones: one
    /// of ten at most, each several times as far off as all others, which could not be told apart beside it.
    pub(crate) fn widest_deviation(&self) -> f64 {
        /// Times the widest of the others beyond which a trial is wild.
        const WILD: f64 = 5.0;
        /// Nothing is wild within this, in per cent.
        const LEAST: f64 = 0.5;
        let own = |s: &'_ Series, dot: &Dot| s.deviation(dot.value).map(f64::abs);
        let of = self.series.iter().flat_map(|s| s.dots.iter().filter_map(move |dot| own(s, dot)));
        let mut all: Vec<f64> = of.collect();
        all.sort_by(f64::total_cmp);
        let wild = (all.len() + 2) / 10;
        let Some(most) = all.len().checked_sub(1 + wild).map(|at| WILD * all[at].max(LEAST)) else {
            return 0.0;
        };
        all.into_iter().filter(|deviation| *deviation <= most).fold(0.0, f64::max)
    }

    /// Whether a trial lies beyond that.
    pub(crate) fn has_wild(&self) -> bool {
        let widest = self.widest_deviation();
        let values = self.series.iter().flat_map(|s| s.dots.iter().map(move |dot| (s, dot.value)));
        values.filter_map(|(s, value)| s.deviation(value)).any(|own| own.abs() > widest)
    }
}

impl Chart {
    /// Whether there is no trial to draw.
    pub fn is_empty(&self) -> bool {
        self.traffics.iter().flat_map(|g| &g.series).all(|s| s.dots.is_empty())
    }

    /// Without the traffics of which there is no trial to draw, whose axes would be empty; the caption names
    /// them.
    pub fn drawn(mut self) -> Self {
        let is_empty = |one: &TrafficSeries| one.series.iter().all(|s| s.dots.is_empty());
        let (empty, drawn) = self.traffics.into_iter().partition(is_empty);
        self.traffics = drawn;
        let empty: Vec<TrafficSeries> = empty;
        if !empty.is_empty() {
            let names: Vec<&str> = empty.iter().map(|one| one.traffic.as_str()).collect();
            self.caption += &format!(
                "\nNot drawn, without a trial that has this figure: {}.",
                names.join(", ")
            );
        }
        self
    }

    /// The largest value of any trial.
    pub fn maximum(&self) -> f64 {
        let values = self.traffics.iter().flat_map(|g| &g.series).flat_map(|s| &s.dots);
        values.map(|d| d.value).fold(0.0, f64::max)
    }

    /// The largest value that the bars' axis shows: that of all trials but the wild ones, beside which
    /// bars would be too low to compare.
    pub fn reach(&self) -> f64 {
        /// Times the tallest bar beyond which a trial is wild.
        const WILD: f64 = 3.0;
        let series = || self.traffics.iter().flat_map(|one| &one.series);
        let tallest = series().filter_map(|own| own.summary).map(|own| own.median);
        let most = WILD * tallest.fold(0.0, f64::max);
        let values = series().flat_map(|own| &own.dots).map(|dot| dot.value);
        values.filter(|value| *value <= most || most <= 0.0).fold(0.0, f64::max)
    }

    /// Every variant with its colour, in order of first appearance.
    pub fn variants(&self) -> Vec<(&str, usize)> {
        let mut found: Vec<(&str, usize)> = Vec::new();
        for series in self.traffics.iter().flat_map(|g| &g.series) {
            if !found.iter().any(|(name, _)| *name == series.variant) {
                found.push((&series.variant, series.colour));
            }
        }
        found
    }
}

/// The name of a figure as a title.
pub(crate) fn title(metric: Metric) -> String {
    let title = metric.title();
    let (first, rest) = title.split_at(title.chars().next().map_or(0, char::len_utf8));
    first.to_uppercase() + rest
}

/// The unit of a figure that a measure has of its own.
fn own_unit(unit: &'static str, maximum: f64) -> (f64, &'static str) {
    match (unit, maximum) {
        ("s", m) if m < 1e-3 => (1e-6, "us"),
        ("s", m) if m < 1.0 => (1e-3, "ms"),
        ("bit/s", m) if m >= 1e9 => (1e9, "Gbit/s"),
        ("bit/s", m) if m >= 1e6 => (1e6, "Mbit/s"),
        _ => (1.0, unit),
    }
}

/// The unit in which figures of about `maximum` (frames/s or ns/frame) are
/// shown.
pub fn unit((metric, tick): (Metric, Tick), maximum: f64) -> (f64, &'static str) {
    match maximum {
        _ if metric == Metric::Cost => (1.0, tick.per_frame()),
        m if matches!(metric, Metric::Own(_)) && metric.unit_in(tick) != "frames/s" => {
            own_unit(metric.unit_in(tick), m)
        }
        m if !tick.is_nanosecond() && m >= 1e3 => (1e3, "thousand frames per 10^9 instructions"),
        _ if !tick.is_nanosecond() => (1.0, "frames per 10^9 instructions"),
        m if m >= 1e6 => (1e6, "million frames/s"),
        m if m >= 1e3 => (1e3, "thousand frames/s"),
        _ => (1.0, "frames/s"),
    }
}
