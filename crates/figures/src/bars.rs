//! The graph of a report: median as a bar from zero, minimum to maximum as a
//! whisker, every single trial as a mark, one group of bars per traffic.

use crate::canvas::{Anchor, Canvas, TrialMark, at};
use crate::scale::{Scale, decimals, step, ticks};
use crate::text_table::wrap;
use crate::{Chart, Group, LineRate, Series, unit};
use fwdlab_results::Measure;
use fwdlab_results::Metric;

const HEIGHT: f64 = 512.0;
const LEFT: f64 = 74.0;
const TOP: f64 = 92.0;
const BOTTOM: f64 = 400.0;
const NARROWEST_SLOT: f64 = 46.0;
/// Width of a character of 12 px type, on average, in px.
const CHARACTER: f64 = 7.2;
/// Bits on the wire per frame of simple IMIX on average: 7 IP packets of 40 bytes, 4 of 576 and 1
/// of 1500, each with 14 bytes of Ethernet header (no FCS, preamble and gap: as published graphs
/// count it).
const IMIX_BITS: f64 = (7.0 * 54.0 + 4.0 * 590.0 + 1514.0) / 12.0 * 8.0;

/// Where the bars of a chart stand.
struct Layout {
    width: f64,
    y: Scale,
    unit: f64,
    metric: Metric,
    tick: f64,
    slot: f64,
    group_gap: f64,
    /// Room on the right, for the second axis if there is one.
    right: f64,
}

impl Layout {
    fn of(chart: &Chart) -> Self {
        let bars: usize = chart.groups.iter().map(|g| g.series.len()).sum();
        let groups = chart.groups.len().max(1) as f64;
        let group_gap = 36.0;
        let right = if chart.has_imix { 92.0 } else { 24.0 };
        let wanted = LEFT + right + bars as f64 * NARROWEST_SLOT + groups * group_gap;
        let width = wanted.max(800.0).round();
        let slot = (width - LEFT - right - groups * group_gap) / bars.max(1) as f64;
        let limits = chart.groups.iter().filter_map(|g| g.line_rate.as_ref()).map(|l| l.pps);
        let top = limits.fold(chart.maximum(), f64::max);
        let (scale, _) = unit(chart.metric, top);
        let tick = step(top * 1.12, 6);
        let high = (top * 1.12 / tick).ceil() * tick;
        let y = Scale::new((0.0, high), (BOTTOM, TOP));
        Self { width, y, unit: scale, metric: chart.metric, tick, slot, group_gap, right }
    }
}

/// Draws minimum, median and maximum of every series.
pub fn bars(chart: &Chart) -> Canvas {
    let layout = Layout::of(chart);
    let mut canvas = Canvas::new(layout.width, HEIGHT);
    let what = match chart.metric {
        Metric::Cost => "Device cost per frame",
        _ => "Forwarding rate",
    };
    canvas.text("title", Anchor::Start, at(16.0, 27.0), what);
    let columns = ((layout.width - 32.0) / 6.6) as usize;
    canvas.text("faint", Anchor::Start, at(16.0, 45.0), &shortened(&chart.title, columns));
    draw_legend(&mut canvas, chart);
    draw_axis(&mut canvas, &layout, chart);
    if chart.has_imix {
        draw_imix_axis(&mut canvas, &layout);
    }
    let mut x = LEFT + layout.group_gap / 2.0;
    for group in &chart.groups {
        let width = layout.slot * group.series.len() as f64;
        draw_group(&mut canvas, &layout, group, x);
        x += width + layout.group_gap;
    }
    for (k, line) in chart.caption.lines().rev().enumerate() {
        let y = HEIGHT - 12.0 - 15.0 * k as f64;
        canvas.text("faint", Anchor::Start, at(16.0, y), line);
    }
    canvas
}

fn draw_legend(canvas: &mut Canvas, chart: &Chart) {
    let mut x = 22.0;
    for (name, colour) in chart.variants() {
        let class = format!("f{colour}");
        canvas.open(&[("class", "series"), ("data-variant", name)]);
        canvas.legend_mark(&class, colour, at(x, 64.0));
        canvas.text("", Anchor::Start, at(x + 10.0, 68.0), name);
        canvas.close();
        x += 34.0 + name.chars().count() as f64 * CHARACTER;
    }
}

fn draw_axis(canvas: &mut Canvas, layout: &Layout, chart: &Chart) {
    let (low, high) = layout.y.range();
    let digits = decimals(layout.tick / layout.unit);
    for value in ticks(low, high, layout.tick) {
        let y = layout.y.place(value);
        let class = if value == 0.0 { "axis" } else { "grid" };
        canvas.line(class, at(LEFT, y), at(layout.width - layout.right, y));
        let label = format!("{:.digits$}", value / layout.unit);
        canvas.text("faint", Anchor::End, at(LEFT - 8.0, y + 4.0), &label);
    }
    let (_, unit) = unit(chart.metric, chart.maximum().max(layout.unit));
    let what = match (chart.metric, chart.measure) {
        (Metric::Cost, _) => "Device cost",
        (_, Measure::Mrr) => "Maximum receive rate",
        (_, Measure::Ndr) => "Non-drop rate",
        (_, Measure::Pdr) => "Partial drop rate",
        (_, Measure::Throughput) => "Throughput",
        // Those with a figure of their own show what was forwarded beside it.
        _ => "Forwarding rate",
    };
    let label = format!("{what} ({unit})");
    canvas.text_upwards("", at(22.0, f64::midpoint(TOP, BOTTOM)), &label);
}

/// The second axis: the rates as Ethernet throughput with simple IMIX.
fn draw_imix_axis(canvas: &mut Canvas, layout: &Layout) {
    let (low, high) = layout.y.range();
    let top = high * IMIX_BITS;
    let tick = step(top, 6);
    let (unit, name) = if top >= 1e9 { (1e9, "Gb/s") } else { (1e6, "Mb/s") };
    let digits = decimals(tick / unit);
    let x = layout.width - layout.right;
    canvas.line("axis", at(x, TOP), at(x, BOTTOM));
    for value in ticks(low * IMIX_BITS, top, tick) {
        let y = layout.y.place(value / IMIX_BITS);
        canvas.line("axis", at(x, y), at(x + 4.0, y));
        let label = format!("{:.digits$}", value / unit);
        canvas.text("faint", Anchor::Start, at(x + 8.0, y + 4.0), &label);
    }
    let middle = at(layout.width - 14.0, f64::midpoint(TOP, BOTTOM));
    canvas.text_upwards("", middle, &format!("Simple IMIX Ethernet throughput ({name})"));
}

/// At most so many characters of `text`.
fn shortened(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    text.chars().take(columns.saturating_sub(3)).chain("...".chars()).collect()
}

fn draw_group(canvas: &mut Canvas, layout: &Layout, group: &Group, left: f64) {
    let width = layout.slot * group.series.len() as f64;
    canvas.open(&[("class", "traffic"), ("data-traffic", &group.traffic)]);
    let columns = ((width + layout.group_gap) / CHARACTER) as usize;
    for (k, line) in wrap(&group.label, columns.max(8), "", "").lines().enumerate() {
        let y = BOTTOM + 40.0 + 15.0 * k as f64;
        canvas.text("strong", Anchor::Middle, at(left + width / 2.0, y), line);
    }
    if let Some(limit) = &group.line_rate {
        draw_limit(canvas, layout, limit, (left - 10.0, left + width + 10.0));
    }
    for (k, series) in group.series.iter().enumerate() {
        draw_series(canvas, layout, series, left + (k as f64 + 0.5) * layout.slot);
    }
    canvas.close();
}

fn draw_limit(canvas: &mut Canvas, layout: &Layout, limit: &LineRate, (from, to): (f64, f64)) {
    let y = layout.y.place(limit.pps);
    canvas.line("limit", at(from, y), at(to, y));
    let text = format!("- - {}: {:.3} Mpps", limit.label, limit.pps / 1e6);
    let below = at(f64::midpoint(from, to), BOTTOM + 58.0);
    canvas.text("limit-text", Anchor::Middle, below, &text);
}

fn draw_series(canvas: &mut Canvas, layout: &Layout, series: &Series, centre: f64) {
    let half = (layout.slot * 0.36).min(44.0);
    canvas.open(&[("class", "series"), ("data-variant", &series.variant)]);
    let columns = (layout.slot / CHARACTER) as usize;
    let lines = name_lines(&series.variant, columns);
    let first = BOTTOM + if lines.len() > 1 { 12.0 } else { 18.0 };
    for (k, line) in lines.into_iter().enumerate() {
        canvas.text("", Anchor::Middle, at(centre, first + 12.0 * k as f64), line);
    }
    let Some(summary) = series.summary else {
        canvas.text("warn-text", Anchor::Middle, at(centre, BOTTOM - 8.0), "no trial kept");
        canvas.close();
        return;
    };
    let colour = series.colour;
    let (median, zero) = (layout.y.place(summary.median), layout.y.place(0.0));
    canvas.rect(&format!("b{colour}"), at(centre - half, median), at(centre + half, zero));
    canvas.line("median", at(centre - half, median), at(centre + half, median));
    draw_dots(canvas, layout, series, (centre, half));
    let (top, bottom) = (layout.y.place(summary.maximum), layout.y.place(summary.minimum));
    canvas.line("whisker", at(centre, top), at(centre, bottom));
    canvas.line("whisker", at(centre - 6.0, top), at(centre + 6.0, top));
    canvas.line("whisker", at(centre - 6.0, bottom), at(centre + 6.0, bottom));
    let value = match layout.metric {
        Metric::Cost => format!("{:.1}", summary.median),
        _ => format!("{:.3}", summary.median / layout.unit),
    };
    let mut y = top - 8.0;
    if let Some(effect) = &series.effect {
        // In a narrow column the number alone.
        let is_wide = effect.chars().count() as f64 * CHARACTER > layout.slot;
        let effect = effect.rsplit_once(' ').filter(|_| is_wide).map_or(&**effect, |(n, _)| n);
        canvas.text(&format!("halo t{colour}"), Anchor::Middle, at(centre, y), effect);
        y -= 15.0;
    }
    canvas.text("halo strong", Anchor::Middle, at(centre, y), &value);
    canvas.close();
}

/// A name on one line or on two; nothing where it does not fit, and only the legend has it.
fn name_lines(name: &str, columns: usize) -> Vec<&str> {
    let fits = |part: &str| part.chars().count() <= columns;
    if fits(name) {
        return vec![name];
    }
    let ends = name.match_indices(['-', '_', ' ']).map(|(at, _)| at + 1);
    let halves = ends.map(|end| name.split_at(end));
    let mut fitting = halves.filter(|(a, b)| fits(a.trim_end()) && fits(b) && !b.is_empty());
    fitting.next_back().map_or_else(Vec::new, |(a, b)| vec![a.trim_end(), b])
}

/// Marks of the single trials, spread over the bar in the order of the run,
/// so that drift shows as a slope.
fn draw_dots(canvas: &mut Canvas, layout: &Layout, series: &Series, (centre, half): (f64, f64)) {
    let n = series.dots.len();
    let reach = half - 4.0;
    let class = format!("f{}", series.colour);
    for (k, dot) in series.dots.iter().enumerate() {
        let share = if n > 1 { k as f64 / (n - 1) as f64 * 2.0 - 1.0 } else { 0.0 };
        let place = at(centre + share * reach, layout.y.place(dot.value));
        let mark = TrialMark { id: &dot.trial, hover: &dot.hover, radius: 3.2 };
        canvas.mark(&class, series.colour, place, &mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_stand_on_two_lines() {
        assert_eq!(name_lines("radix", 9), ["radix"]);
        assert_eq!(name_lines("empty-chain", 9), ["empty-", "chain"]);
        assert_eq!(name_lines("one two three", 9), ["one two", "three"]);
        assert!(name_lines("inseparable", 9).is_empty());
        assert!(name_lines("separable-", 9).is_empty());
    }
}
