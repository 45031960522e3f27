//! Every trial in the order of the run, as its deviation from the median of
//! its own variant: drift shows as a slope, two clusters as two bands.

use crate::canvas::{Anchor, Canvas, TrialMark, at};
use crate::scale::{Scale, decimals, step, ticks};
use crate::{Chart, Group, Series};

const LEFT: f64 = 74.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 92.0;
const PANEL: f64 = 170.0;
const GAP: f64 = 34.0;
/// Steps of the colour scale of blocks.
const STEPS: u32 = 10;
const CHARACTER: f64 = 7.2;

/// What the figure calls its trials.
struct Words {
    title: &'static str,
    axis: &'static str,
    caption: &'static str,
    colours: &'static str,
}

const ORDERED: Words = Words {
    title: "Every trial in the order of the run",
    axis: "trial, in the order of the run",
    caption: "Deviation of each trial's rate from the median of its variant and traffic. Stripes and \
              colours: blocks.",
    colours: "block 1",
};

const NUMBERED: Words = Words {
    title: "Every published run",
    axis: "run, by variant and number",
    caption: "Deviation of each run's rate from the median of its variant and traffic. In which order \
              they ran is not known.",
    colours: "run 1",
};

/// Draws one panel per traffic.
pub fn run_order(chart: &Chart) -> Canvas {
    let panels = chart.groups.len() as f64;
    let bottom = TOP + panels * PANEL + (panels - 1.0).max(0.0) * GAP;
    let last = all_dots(chart).map(|(_, d)| d.order).max().unwrap_or(1);
    let width = (LEFT + RIGHT + f64::from(last) * 2.4).max(800.0);
    let mut canvas = Canvas::new(width, bottom + 70.0);
    let words = if chart.is_ordered { &ORDERED } else { &NUMBERED };
    canvas.text("title", Anchor::Start, at(16.0, 28.0), words.title);
    draw_legend(&mut canvas, chart, width);
    let x = Scale::new((0.5, f64::from(last) + 0.5), (LEFT, width - RIGHT));
    for (k, group) in chart.groups.iter().enumerate() {
        let top = TOP + k as f64 * (PANEL + GAP);
        draw_panel(&mut canvas, chart, group, (&x, top));
    }
    draw_orders(&mut canvas, (&x, words.axis), bottom, last);
    canvas.text("faint", Anchor::Start, at(16.0, bottom + 58.0), words.caption);
    canvas
}

fn all_dots(chart: &Chart) -> impl Iterator<Item = (&Series, &crate::Dot)> {
    chart.groups.iter().flat_map(|g| &g.series).flat_map(|s| s.dots.iter().map(move |d| (s, d)))
}

fn draw_legend(canvas: &mut Canvas, chart: &Chart, width: f64) {
    let mut x = 22.0;
    for (name, shape) in chart.variants() {
        canvas.open(&[("class", "series"), ("data-variant", name)]);
        canvas.legend_mark("k0", shape, at(x, 50.0));
        canvas.text("", Anchor::Start, at(x + 10.0, 54.0), name);
        canvas.close();
        x += 34.0 + name.chars().count() as f64 * CHARACTER;
    }
    let blocks = all_dots(chart).map(|(_, d)| d.block).max().unwrap_or(1);
    let left = width - RIGHT - 160.0;
    let words = if chart.is_ordered { &ORDERED } else { &NUMBERED };
    canvas.text("faint", Anchor::End, at(left - 6.0, 54.0), words.colours);
    for k in 0..STEPS {
        let from = left + f64::from(k) * 11.0;
        canvas.rect(&format!("k{k}"), at(from, 45.0), at(from + 11.0, 56.0));
    }
    canvas.text("faint", Anchor::Start, at(left + 116.0, 54.0), &blocks.to_string());
}

fn draw_panel(canvas: &mut Canvas, chart: &Chart, group: &Group, (x, top): (&Scale, f64)) {
    let bottom = top + PANEL;
    let reach = group
        .series
        .iter()
        .flat_map(|s| s.dots.iter().filter_map(|d| deviation(s, d.value)))
        .fold(0.5, |most: f64, d| most.max(d.abs()));
    let y = Scale::new((-1.1 * reach, 1.1 * reach), (bottom, top));
    if chart.is_ordered {
        draw_stripes(canvas, chart, x, (top, bottom));
    }
    let tick = step(2.2 * reach, 5);
    let digits = decimals(tick);
    for value in ticks(-1.1 * reach, 1.1 * reach, tick) {
        let place = y.place(value);
        let (from, to) = (x.place(x.range().0), x.place(x.range().1));
        canvas.line(if value == 0.0 { "axis" } else { "grid" }, at(from, place), at(to, place));
        let sign = if value > 0.0 { "+" } else { "" };
        let label = format!("{sign}{:.digits$} %", value + 0.0);
        canvas.text("faint", Anchor::End, at(LEFT - 8.0, place + 4.0), &label);
    }
    canvas.text("strong", Anchor::Start, at(LEFT, top - 8.0), &group.label);
    canvas.open(&[("class", "traffic"), ("data-traffic", &group.traffic)]);
    let blocks = all_dots(chart).map(|(_, d)| d.block).max().unwrap_or(1);
    for series in &group.series {
        canvas.open(&[("class", "series"), ("data-variant", &series.variant)]);
        for dot in &series.dots {
            let Some(value) = deviation(series, dot.value) else { continue };
            let class =
                format!("k{}", dot.block.saturating_sub(1) * (STEPS - 1) / (blocks - 1).max(1));
            let hover = format!("{}, {value:+.2} % from its median", dot.hover);
            let mark = TrialMark { id: &dot.trial, hover: &hover, radius: 3.8 };
            canvas.mark(
                &class,
                series.colour,
                at(x.place(f64::from(dot.order)), y.place(value)),
                &mark,
            );
        }
        canvas.close();
    }
    canvas.close();
}

/// A stripe behind every second block.
fn draw_stripes(canvas: &mut Canvas, chart: &Chart, x: &Scale, (top, bottom): (f64, f64)) {
    let mut blocks: Vec<(u32, u32, u32)> = Vec::new();
    for (_, dot) in all_dots(chart) {
        match blocks.iter_mut().find(|b| b.0 == dot.block) {
            Some(b) => {
                b.1 = b.1.min(dot.order);
                b.2 = b.2.max(dot.order);
            }
            None => blocks.push((dot.block, dot.order, dot.order)),
        }
    }
    for (_, first, last) in blocks.iter().filter(|b| b.0 % 2 == 0) {
        let from = x.place(f64::from(*first) - 0.5);
        let to = x.place(f64::from(*last) + 0.5);
        canvas.rect("stripe", at(from, top), at(to, bottom));
    }
}

fn draw_orders(canvas: &mut Canvas, (x, axis): (&Scale, &str), bottom: f64, last: u32) {
    let tick = step(f64::from(last), 10).max(1.0);
    for value in ticks(1.0, f64::from(last), tick) {
        let label = format!("{value:.0}");
        canvas.text("faint", Anchor::Middle, at(x.place(value), bottom + 16.0), &label);
    }
    let middle = f64::midpoint(x.place(x.range().0), x.place(x.range().1));
    canvas.text("", Anchor::Middle, at(middle, bottom + 36.0), axis);
}

/// The deviation from the median of the series, in per cent.
fn deviation(series: &Series, value: f64) -> Option<f64> {
    let median = series.summary?.median;
    (median > 0.0).then(|| (value / median - 1.0) * 100.0)
}
