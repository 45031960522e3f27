//! Where the trials of each variant lie: one row of stacked marks per
//! variant, none lost behind another.

use std::collections::BTreeMap;

use crate::canvas::{Anchor, Canvas, TrialMark, at};
use crate::scale::{Scale, decimals, step, ticks};
use crate::{Chart, Group, Series, unit};
use fwdlab_results::Metric;

const WIDTH: f64 = 800.0;
const LEFT: f64 = 150.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 62.0;
const RADIUS: f64 = 3.4;
const COLUMN: f64 = 2.0 * RADIUS + 0.6;
const LEAST_ROW: f64 = 34.0;

/// Draws one panel per traffic, each with its own axis.
pub fn distribution(chart: &Chart) -> Canvas {
    let heights: Vec<f64> = chart.groups.iter().map(panel_height).collect();
    let height = TOP + heights.iter().sum::<f64>() + 34.0;
    let mut canvas = Canvas::new(WIDTH, height);
    canvas.text("title", Anchor::Start, at(16.0, 28.0), "Distribution of the trials");
    let mut top = TOP;
    for (group, panel) in chart.groups.iter().zip(heights) {
        draw_panel(&mut canvas, group, chart.metric, top);
        top += panel;
    }
    let caption =
        "Each mark is one trial; the line through a row is its median. Axes do not begin at 0.";
    canvas.text("faint", Anchor::Start, at(16.0, height - 10.0), caption);
    canvas
}

fn scale(group: &Group) -> Scale {
    let values = || group.series.iter().flat_map(|s| &s.dots).map(|d| d.value);
    let (low, high) =
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let (low, high) = if low.is_finite() { (low, high) } else { (0.0, 1.0) };
    let air = (0.04 * (high - low)).max(0.002 * high);
    Scale::new((low - air, high + air), (LEFT, WIDTH - RIGHT))
}

/// Marks by column; the mark's height in its stack goes with it.
fn stacks(series: &Series, x: &Scale) -> Vec<(f64, usize)> {
    let mut used: BTreeMap<i64, usize> = BTreeMap::new();
    series
        .dots
        .iter()
        .map(|dot| {
            let column = (x.place(dot.value) / COLUMN).round() as i64;
            let level = used.entry(column).or_insert(0);
            *level += 1;
            (column as f64 * COLUMN, *level - 1)
        })
        .collect()
}

fn row_height(series: &Series, x: &Scale) -> f64 {
    let tallest = stacks(series, x).iter().map(|(_, level)| level + 1).max().unwrap_or(0);
    (tallest as f64 * COLUMN + 14.0).max(LEAST_ROW)
}

fn panel_height(group: &Group) -> f64 {
    let x = scale(group);
    group.series.iter().map(|s| row_height(s, &x)).sum::<f64>() + 66.0
}

fn draw_panel(canvas: &mut Canvas, group: &Group, metric: Metric, top: f64) {
    let x = scale(group);
    canvas.open(&[("class", "traffic"), ("data-traffic", &group.traffic)]);
    canvas.text("strong", Anchor::Start, at(16.0, top + 4.0), &group.label);
    let first = top + 14.0;
    let bottom = first + group.series.iter().map(|s| row_height(s, &x)).sum::<f64>();
    let (low, high) = x.range();
    let (scale, name) = unit(metric, high);
    let tick = step(high - low, 6);
    let digits = decimals(tick / scale);
    for value in ticks(low, high, tick) {
        canvas.line("grid", at(x.place(value), first), at(x.place(value), bottom));
        let label = format!("{:.digits$}", value / scale);
        canvas.text("faint", Anchor::Middle, at(x.place(value), bottom + 16.0), &label);
    }
    canvas.text("faint", Anchor::End, at(WIDTH - RIGHT, bottom + 32.0), name);
    let mut y = first;
    for series in &group.series {
        y += row_height(series, &x);
        draw_row(canvas, series, &x, y);
    }
    canvas.close();
}

fn draw_row(canvas: &mut Canvas, series: &Series, x: &Scale, base: f64) {
    canvas.open(&[("class", "series"), ("data-variant", &series.variant)]);
    canvas.line("axis", at(LEFT, base), at(WIDTH - RIGHT, base));
    canvas.text("", Anchor::End, at(LEFT - 12.0, base - 6.0), &series.variant);
    if let Some(summary) = series.summary {
        let place = x.place(summary.median);
        let class = format!("l{}", series.colour);
        canvas.line(&class, at(place, base - row_height(series, x) + 8.0), at(place, base));
    }
    let class = format!("f{}", series.colour);
    for (dot, (place, level)) in series.dots.iter().zip(stacks(series, x)) {
        let y = base - RADIUS - 1.0 - level as f64 * COLUMN;
        let mark = TrialMark { id: &dot.trial, hover: &dot.hover, radius: RADIUS };
        canvas.mark(&class, series.colour, at(place, y), &mark);
    }
    canvas.close();
}
