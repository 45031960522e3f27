//! A series as an SVG: intervals, medians, levels and changes.

use std::fmt::Write as _;

use fwdlab_guard::names::apart;
use fwdlab_guard::words;
use fwdlab_results::units::RateUnit;
use fwdlab_stats::change::Change;
use fwdlab_stats::median;

use super::label;
use crate::series::Series;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 30.0;
/// How wide a letter of a label is taken to be.
const LETTER: f64 = 7.0;

/// Colours by what is drawn; the second set is for dark pages.
const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#666}.t{font-size:14px;fill:#1c1c1c}\
.g{stroke:#d5d5d5}.s{stroke:#666}.p{fill:none;stroke:#0060b0;stroke-width:1.5}.d{fill:#0060b0}\
.l{stroke:#1c1c1c;stroke-dasharray:5 4}.w{stroke:#b3261e}.b{stroke:#1b7a3d}\
@media (prefers-color-scheme:dark){text{fill:#a5a5a5}.t{fill:#e8e8e8}.g{stroke:#444}.s{stroke:#a5a5a5}\
.p{stroke:#6cb6ff}.d{fill:#6cb6ff}.l{stroke:#e8e8e8}.w{stroke:#ff8a80}.b{stroke:#7bd88f}}";

/// The figure of a series; `None` for a single point.
pub fn svg(series: &Series, changes: &[Change]) -> Option<String> {
    let points = &series.points;
    if points.len() < 2 {
        return None;
    }
    let ends: Vec<(f64, f64)> = points.iter().map(|point| point.interval()).collect();
    let low = ends.iter().map(|e| e.0).fold(f64::MAX, f64::min);
    let high = ends.iter().map(|e| e.1).fold(f64::MIN, f64::max);
    let pad = ((high - low) * 0.05).max(high.abs() * 1e-3);
    let (low, high) = (low - pad, high + pad);
    let y = |v: f64| HEIGHT - BOTTOM - (v - low) / (high - low) * (HEIGHT - TOP - BOTTOM);
    let scale = Scale::of(&series.key.unit, high);
    let ticks = ticks(low, high);
    let marks = scale.labels(&ticks);
    let longest = marks.iter().map(|mark| mark.chars().count()).max().unwrap_or(0);
    let left = LEFT.max(longest as f64 * LETTER + 10.0);
    let step = (WIDTH - left - RIGHT) / points.len() as f64;
    let x = |i: usize| left + step * (i as f64 + 0.5);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n\
         <style>{STYLE}</style>\n<text x=\"{left}\" y=\"16\" class=\"t\">{}, {}</text>\n",
        escaped(&series.key.name()),
        escaped(&scale.name)
    );
    for (value, mark) in ticks.iter().zip(marks) {
        let at = y(*value);
        let right = WIDTH - RIGHT;
        let _ = writeln!(
            out,
            "<line x1=\"{left}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\" class=\"g\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 6.0,
            at + 4.0,
            mark
        );
    }
    let every = (points.len() as f64 / ((WIDTH - left) / 90.0)).ceil() as usize;
    let room = if points.len() > 1 { (x(1) - x(0)).abs() * every as f64 / LETTER } else { 24.0 };
    let columns = (room as usize).max(11);
    let own = series.labels();
    let names: Vec<&str> = own.iter().map(String::as_str).collect();
    let mut free = 0.0;
    for (i, name) in labels(&names, columns).iter().enumerate().step_by(every) {
        let half = name.chars().count() as f64 * LETTER / 2.0;
        let middle = x(i).min(WIDTH - half).max(half);
        // none lies on the one before it
        if middle - half < free {
            continue;
        }
        free = middle + half + 6.0;
        let _ = writeln!(
            out,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - 8.0,
            escaped(name)
        );
    }
    levels(&mut out, series, changes, &Places { x: &x, y: &y, step });
    let path: Vec<String> = points
        .iter()
        .enumerate()
        .map(|(i, point)| format!("{:.1},{:.1}", x(i), y(point.median())))
        .collect();
    let _ = writeln!(out, "<polyline class=\"p\" points=\"{}\"/>", path.join(" "));
    for (i, point) in points.iter().enumerate() {
        let (from, to) = ends[i];
        let _ = writeln!(
            out,
            "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{2:.1}\" class=\"s\"/>\
             <circle cx=\"{0:.1}\" cy=\"{3:.1}\" r=\"3\" class=\"d\"><title>{4}</title></circle>",
            x(i),
            y(from),
            y(to),
            y(point.median()),
            escaped(names[i])
        );
    }
    out.push_str("</svg>\n");
    Some(out)
}

/// Where a point and a value stand.
struct Places<'a> {
    x: &'a dyn Fn(usize) -> f64,
    y: &'a dyn Fn(f64) -> f64,
    /// From one point to the next.
    step: f64,
}

/// The levels, and the changes between them: a line at a step, the way of a drift.
fn levels(out: &mut String, series: &Series, changes: &[Change], places: &Places<'_>) {
    let Places { x, y, step } = *places;
    let points = &series.points;
    let mut before = None;
    for n in 0..=changes.len() {
        let change = n.checked_sub(1).and_then(|n| changes.get(n));
        let start = change.map_or(0, |change| change.at);
        // the points of a drift are of no level
        let end = changes.get(n).map_or(points.len(), |next| next.at - next.over + 1);
        let own = points.get(start..end).unwrap_or_default().iter().map(|point| point.median());
        let own: Vec<f64> = own.collect();
        if own.is_empty() {
            continue;
        }
        let level = median(&own);
        let _ = writeln!(
            out,
            "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{2:.1}\" y2=\"{2:.1}\" class=\"l\"/>",
            x(start) - step / 2.0,
            x(end - 1) + step / 2.0,
            y(level)
        );
        let old = before.replace(level);
        let (Some(change), Some(old)) = (change, old) else { continue };
        let is_worse = (change.ratio > 0.0) == series.key.is_lower_better();
        let at = x(start) - step * change.over as f64 / 2.0;
        let ends = match change.is_drift() {
            true => [x(start - change.over), x(start), y(old), y(level)],
            false => [at, at, TOP, HEIGHT - BOTTOM],
        };
        let [x1, x2, y1, y2] = ends;
        let _ = writeln!(
            out,
            "<line x1=\"{x1:.1}\" x2=\"{x2:.1}\" y1=\"{y1:.1}\" y2=\"{y2:.1}\" class=\"{}\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            if is_worse { "w" } else { "b" },
            TOP - 6.0,
            label(change.ratio)
        );
    }
}

/// Names as they stand below an axis, each in so many columns and different where they are: where one is too long,
/// without what all begin with up to a sign between their words, as the day of times of one day.
fn labels(names: &[&str], columns: usize) -> Vec<String> {
    let is_long = names.iter().any(|name| name.chars().count() > columns);
    let alike = if is_long && names.len() > 1 { common_start(names) } else { 0 };
    if alike == 0 {
        return apart(names, columns);
    }
    let rests: Vec<String> = names.iter().map(|name| name.chars().skip(alike).collect()).collect();
    let marked =
        |rest: &String| if rest.starts_with('…') { rest.clone() } else { format!("…{rest}") };
    apart(&rests, columns - 1).iter().map(marked).collect()
}

/// Signs that all names begin with, up to the last that is no letter and no digit; none is left without a rest.
fn common_start(names: &[&str]) -> usize {
    let first: Vec<char> = names.first().map_or_else(Vec::new, |name| name.chars().collect());
    let with_first = |name: &&str| {
        let alike = name.chars().zip(&first).take_while(|(one, other)| one == *other).count();
        alike.min(name.chars().count().saturating_sub(1))
    };
    let alike = names.iter().map(with_first).min().unwrap_or(0);
    let between = first.iter().take(alike).rposition(|sign| !sign.is_ascii_alphanumeric());
    between.map_or(0, |at| at + 1)
}

/// Round values between two, some five of them.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let Some(step) = [1.0, 2.0, 5.0, 10.0].iter().map(|n| n * power).find(|s| *s >= rough) else {
        return Vec::new();
    };
    let first = (low / step).ceil();
    (0..12).map(|n| (first + f64::from(n)) * step).take_while(|v| *v <= high).collect()
}

/// In which unit the axis is written.
struct Scale {
    name: String,
    /// How much of the series' unit one of it is.
    of: f64,
}

impl Scale {
    /// For values of this unit, up to `high`: the one in which a figure of this size is told.
    fn of(unit: &str, high: f64) -> Self {
        let named = |name: &str, of: f64| Self { name: name.to_owned(), of };
        match unit {
            "frames/s" => match RateUnit::of(high) {
                own @ RateUnit::Mpps => named(own.name(), 1e6),
                own @ RateUnit::Kpps => named(own.name(), 1e3),
                own @ RateUnit::Pps => named(own.name(), 1.0),
            },
            "s" if high < 1e-3 => named("us", 1e-6),
            "s" if high < 1.0 => named("ms", 1e-3),
            "bit/s" if high >= 1e9 => named("Gbit/s", 1e9),
            "bit/s" if high >= 1e6 => named("Mbit/s", 1e6),
            "bit/s" if high >= 1e4 => named("kbit/s", 1e3),
            unit if high >= 1e7 => Self { name: format!("million {unit}"), of: 1e6 },
            unit => named(unit, 1.0),
        }
    }

    /// What stands beside ticks, with as many digits as tell one from the next.
    fn labels(&self, ticks: &[f64]) -> Vec<String> {
        let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).next();
        let places = step.map_or(1.0, |step| (1e-9 - (step / self.of).log10()).ceil());
        let places = places.clamp(0.0, 12.0) as usize;
        ticks.iter().map(|value| format!("{:.places$}", value / self.of)).collect()
    }
}

/// Text within XML.
pub(super) fn escaped(text: &str) -> String {
    let text = words::one_line(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_results::units;

    #[test]
    fn an_axis_has_the_unit_in_which_its_figures_are_told() {
        for (unit, high) in [
            ("frames/s", 950.0),
            ("frames/s", 819_142.5),
            ("frames/s", 1_488_095.2),
            ("s", 0.000_5),
            ("s", 0.02),
            ("s", 7.0),
            ("bit/s", 940e6),
            ("bit/s", 9.4e9),
            ("ns/frame", 98.14),
            ("sessions/s", 81_234.0),
        ] {
            let told = units::figure(high, unit);
            let (_, name) = told.split_once(' ').unwrap();
            assert_eq!(Scale::of(unit, high).name, name, "{unit} {high}");
        }
    }

    /// "940000000.0" stood beside bits per second, and "14.880" five times beside a card's line rate.
    #[test]
    fn ticks_are_short_and_differ() {
        for (unit, low, high, wanted) in [
            ("bit/s", 930e6, 941e6, vec!["930", "935", "940"]),
            ("s", 0.000_21, 0.000_39, vec!["250", "300", "350"]),
            ("ns/frame", 98.141, 98.163, vec!["98.145", "98.150", "98.155", "98.160"]),
            ("ns/frame", 9_200.0, 12_100.0, vec!["10000", "11000", "12000"]),
            ("bytes", 41e6, 43e6, vec!["41.0", "41.5", "42.0", "42.5", "43.0"]),
            (
                "frames/s",
                14_880_010.0,
                14_880_090.0,
                vec!["14.88002", "14.88004", "14.88006", "14.88008"],
            ),
        ] {
            assert_eq!(Scale::of(unit, high).labels(&ticks(low, high)), wanted, "{unit}");
        }
    }

    /// Three times of one day were "2026-11-27T1…" all three.
    #[test]
    fn names_that_are_too_long_show_what_tells_them_apart() {
        let times = ["2026-11-27T12:41:16Z", "2026-11-27T12:41:57Z", "2026-11-27T12:42:41Z"];
        assert_eq!(labels(&times, 13), ["…41:16Z", "…41:57Z", "…42:41Z"]);
        assert_eq!(labels(&times, 20), times);
        let revisions = ["r368606", "r368606D27401-whole", "r368606D27401-parts"];
        assert_eq!(labels(&revisions, 11), ["r368606", "r3686…whole", "r3686…parts"]);
        let middles = ["6.12.0-before-amd64", "6.12.0-behind-amd64"];
        assert_eq!(labels(&middles, 11), ["…befor…md64", "…behin…md64"]);
        assert_eq!(labels(&["a-long-name", "a-long-name"], 5), ["…name", "…name"]);
        assert_eq!(labels(&["2026-11-27T12:41:16Z"], 11), ["2026-…1:16Z"]);
        assert_eq!(labels(&["", "2026-11-27T12:41:16Z"], 11), ["", "2026-…1:16Z"]);
    }

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(ticks(654.0, 714.0), [660.0, 680.0, 700.0]);
        assert_eq!(ticks(0.0, 5.0), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!(ticks(f64::NAN, 1.0).is_empty() && ticks(1.0, 1.0).is_empty());
    }
}
