//! The graph of a report: median as a bar from zero, minimum to maximum as a
//! whisker, every single trial as a mark, bars for each traffic.

use std::collections::BTreeMap;

use crate::canvas::{Anchor, CHARACTER, Canvas, Point, TrialMark, at};
use crate::label::{LINE, below, bold, left, lines, titled};
use crate::scale::{Scale, decimals, step, ticks};
use crate::text_table::wrap;
use crate::{ARROW, Chart, LineRate, Room, Series, TrafficSeries, caption, legend, title, unit};
use fwdlab_guard::names::apart;
use fwdlab_results::Measure;
use fwdlab_results::Metric;
use fwdlab_results::units;

const TOP: f64 = 92.0;
/// Height of the field in which bars stand.
const FIELD: f64 = 308.0;
const NARROWEST_SLOT: f64 = 46.0;
/// Between what stands above two bars.
const AIR: f64 = 5.0;
/// How far below the field a turned name begins.
const NAME_BELOW: f64 = 8.0;
/// How far below the field the base line of a traffic's label is, where no name is turned.
const LABEL_BELOW: f64 = 40.0;
/// Characters of a name that is turned, at most; the legend has all of it.
const LONGEST_NAME: usize = 24;
/// Verdicts without a number, and what stands for them above bars that are narrower than the word.
const SIGNS: [(&str, &str); 3] = [("inconclusive", "?"), ("equivalent", "="), ("invalid", "!")];
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
    /// Where the field begins.
    left: f64,
    slot: f64,
    traffic_gap: f64,
    /// Room on the right, for the second axis if there is one.
    right: f64,
    /// How much farther down the traffics' labels stand, because the names of variants are turned: one
    /// of them is too long for its column.
    turned: Option<f64>,
    /// The names of variants as they stand below bars.
    names: BTreeMap<String, String>,
    /// In narrow columns the number of an effect stands alone, on all bars.
    has_short_effects: bool,
    /// The chart's title in lines, above the legend.
    title: Vec<String>,
    /// Its upper and its lower end.
    top: f64,
    bottom: f64,
}

/// The names of variants, short enough to be turned.
fn names(chart: &Chart) -> BTreeMap<String, String> {
    let all: Vec<&str> = chart.variants().into_iter().map(|(name, _)| name).collect();
    let shown = apart(&all, LONGEST_NAME);
    all.into_iter().map(str::to_owned).zip(shown).collect()
}

/// The effects above all bars.
fn effects(chart: &Chart) -> impl Iterator<Item = &str> {
    chart.traffics.iter().flat_map(|one| &one.series).filter_map(|own| own.effect.as_deref())
}

/// The number of an effect alone, or the sign for its word.
fn short(effect: &str) -> &str {
    let sign = SIGNS.iter().find(|(word, _)| *word == effect).map(|(_, sign)| *sign);
    sign.or_else(|| effect.rsplit_once(' ').map(|(number, _)| number)).unwrap_or(effect)
}

/// A value in the unit of the axis: nobody measures more than four digits.
fn figure(metric: Metric, scaled: f64) -> String {
    let decimals = match scaled {
        _ if scaled >= 999.95 => 0,
        _ if scaled >= 9.995 || metric == Metric::Cost => 1,
        _ => 3,
    };
    let least = 10_f64.powi(-decimals);
    // a bar beside others 10,000 times as tall
    let is_less = scaled > 0.0 && scaled < 0.5 * least;
    let (sign, shown) = if is_less { ("<", least) } else { ("", scaled) };
    format!("{sign}{shown:.*}", decimals.unsigned_abs() as usize)
}

/// The narrowest column in which what stands above a bar does not run into that above the next.
fn narrowest(chart: &Chart, unit: f64) -> f64 {
    let summaries = chart.traffics.iter().flat_map(|one| &one.series).filter_map(|own| own.summary);
    let values = summaries.flat_map(|own| [own.median, own.maximum]);
    let figures = values.map(|value| bold(&figure(chart.metric, value / unit)));
    let widest = figures.chain(effects(chart).map(|effect| bold(short(effect))));
    widest.map(|own| own + AIR).fold(NARROWEST_SLOT, f64::max)
}

impl Layout {
    fn of(chart: &Chart, room: Room) -> Self {
        let bars: usize = chart.traffics.iter().map(|g| g.series.len()).sum();
        let traffics = chart.traffics.len().max(1) as f64;
        let traffic_gap = 36.0;
        let right = if chart.has_imix { 92.0 } else { 24.0 };
        let limits = chart.traffics.iter().filter_map(|g| g.line_rate.as_ref()).map(|l| l.pps);
        let most = limits.fold(chart.reach(), f64::max);
        let (unit, _) = unit((chart.metric, chart.tick), most);
        let tick = step(most * 1.12, 6);
        let high = (most * 1.12 / tick).ceil() * tick;
        let digits = decimals(tick / unit);
        let left = left(&format!("{:.digits$}", high / unit));
        let narrowest = narrowest(chart, unit);
        let wanted = left + right + bars as f64 * narrowest + traffics * traffic_gap;
        let width = wanted.max(room.width()).round();
        let slot = (width - left - right - traffics * traffic_gap) / bars.max(1) as f64;
        let title = titled(&chart.title, width);
        let top = TOP + below(&title) + legend::more_rows(chart, width - 44.0);
        let bottom = top + FIELD;
        let y = Scale::new((0.0, high), (bottom, top));
        let metric = chart.metric;
        let turned = turned(chart, (slot / CHARACTER) as usize);
        let has_short_effects = effects(chart).any(|effect| bold(effect) + AIR > slot);
        Self {
            width,
            y,
            unit,
            metric,
            tick,
            left,
            slot,
            traffic_gap,
            right,
            turned,
            names: names(chart),
            has_short_effects,
            title,
            top,
            bottom,
        }
    }

    /// Where a value stands; what lies beyond the axis, at its end.
    fn place(&self, value: f64) -> f64 {
        self.y.place(value.min(self.y.range().1))
    }

    /// What stands above a bar of its effect: the number alone in narrow columns, a sign for a word.
    fn effect<'a>(&self, effect: &'a str) -> &'a str {
        if self.has_short_effects { short(effect) } else { effect }
    }

    /// What the signs above bars mean, where there are some.
    fn signs(&self, chart: &Chart) -> String {
        let is_shown = |word: &str| {
            let mut all = chart.traffics.iter().flat_map(|one| &one.series);
            self.has_short_effects && all.any(|own| own.effect.as_deref() == Some(word))
        };
        let shown = SIGNS.iter().filter(|(word, _)| is_shown(word));
        shown.map(|(word, sign)| format!(" {sign} {word}.")).collect()
    }

    /// The label of a traffic in lines.
    fn label(&self, one: &TrafficSeries) -> Vec<String> {
        let width = self.slot * one.series.len() as f64;
        let columns = ((width + self.traffic_gap) / CHARACTER) as usize;
        lines(&one.label, columns.max(8))
    }
}

/// Draws minimum, median and maximum of every series, for a page or a file.
pub fn bars(chart: &Chart) -> Canvas {
    bars_in(chart, Room::Page)
}

/// Draws minimum, median and maximum of every series where there is so much room.
pub fn bars_in(chart: &Chart, room: Room) -> Canvas {
    let layout = Layout::of(chart, room);
    let is_cut = chart.reach() < chart.maximum();
    let more = if is_cut { ARROW } else { "" };
    let signs = layout.signs(chart);
    let lines = caption(&format!("{}{signs}{more}", chart.caption), layout.width);
    let labels = chart.traffics.iter().map(|one| layout.label(one).len()).max().unwrap_or(1);
    let has_limit = chart.traffics.iter().any(|one| one.line_rate.is_some());
    let room = 15.0 * (labels + lines.len()) as f64 + if has_limit { 18.0 } else { 0.0 };
    let room = room + layout.turned.unwrap_or(0.0);
    let height = layout.bottom + 52.0 + room;
    let mut canvas = Canvas::new(layout.width, height);
    let what = match chart.metric {
        Metric::Cost => "Device cost per frame".to_owned(),
        Metric::Own(_) => title(chart.metric),
        Metric::Rate => "Forwarding rate".to_owned(),
    };
    canvas.text("title", Anchor::Start, at(16.0, 27.0), &what);
    for (k, line) in layout.title.iter().enumerate() {
        canvas.text("faint", Anchor::Start, at(16.0, 45.0 + LINE * k as f64), line);
    }
    let legend = at(22.0, 64.0 + below(&layout.title));
    legend::draw(&mut canvas, chart, layout.width - 44.0, legend);
    draw_axis(&mut canvas, &layout, chart);
    if chart.has_imix {
        draw_imix_axis(&mut canvas, &layout);
    }
    let mut x = layout.left + layout.traffic_gap / 2.0;
    for one in &chart.traffics {
        let width = layout.slot * one.series.len() as f64;
        draw_traffic(&mut canvas, &layout, one, x);
        x += width + layout.traffic_gap;
    }
    for (k, line) in lines.iter().rev().enumerate() {
        let y = height - 12.0 - 15.0 * k as f64;
        canvas.text("faint", Anchor::Start, at(16.0, y), line);
    }
    canvas
}

fn draw_axis(canvas: &mut Canvas, layout: &Layout, chart: &Chart) {
    let (low, high) = layout.y.range();
    let digits = decimals(layout.tick / layout.unit);
    for value in ticks(low, high, layout.tick) {
        let y = layout.y.place(value);
        let class = if value == 0.0 { "axis" } else { "grid" };
        canvas.line(class, at(layout.left, y), at(layout.width - layout.right, y));
        let label = format!("{:.digits$}", value / layout.unit);
        canvas.text("faint", Anchor::End, at(layout.left - 8.0, y + 4.0), &label);
    }
    let (_, unit) = unit((chart.metric, chart.tick), chart.reach().max(layout.unit));
    let own = title(chart.metric);
    let what = match (chart.metric, chart.measure) {
        (Metric::Cost, _) => "Device cost",
        (Metric::Own(_), _) => &own,
        (_, Measure::Mrr) => "Maximum receive rate",
        (_, Measure::Ndr) => "Non-drop rate",
        (_, Measure::Pdr) => "Partial drop rate",
        (_, Measure::Throughput) => "Throughput",
        _ => "Forwarding rate",
    };
    let label = format!("{what} ({unit})");
    let middle = f64::midpoint(layout.top, layout.bottom);
    canvas.text_upwards(at(22.0, middle), layout.bottom - layout.top, &label);
}

/// The second axis: the rates as Ethernet throughput with simple IMIX.
fn draw_imix_axis(canvas: &mut Canvas, layout: &Layout) {
    let (low, high) = layout.y.range();
    let top = high * IMIX_BITS;
    let tick = step(top, 6);
    let (unit, name) = if top >= 1e9 { (1e9, "Gb/s") } else { (1e6, "Mb/s") };
    let digits = decimals(tick / unit);
    let x = layout.width - layout.right;
    canvas.line("axis", at(x, layout.top), at(x, layout.bottom));
    for value in ticks(low * IMIX_BITS, top, tick) {
        let y = layout.y.place(value / IMIX_BITS);
        canvas.line("axis", at(x, y), at(x + 4.0, y));
        let label = format!("{:.digits$}", value / unit);
        canvas.text("faint", Anchor::Start, at(x + 8.0, y + 4.0), &label);
    }
    let middle = at(layout.width - 14.0, f64::midpoint(layout.top, layout.bottom));
    let label = format!("Simple IMIX Ethernet throughput ({name})");
    canvas.text_upwards(middle, layout.bottom - layout.top, &label);
}

fn draw_traffic(canvas: &mut Canvas, layout: &Layout, one: &TrafficSeries, left: f64) {
    let width = layout.slot * one.series.len() as f64;
    canvas.open(&[("class", "traffic"), ("data-traffic", &one.traffic)]);
    let lines = layout.label(one);
    let mut y = layout.bottom + LABEL_BELOW + layout.turned.unwrap_or(0.0);
    for line in &lines {
        canvas.text("strong", Anchor::Middle, at(left + width / 2.0, y), line);
        y += 15.0;
    }
    if let Some(limit) = &one.line_rate {
        draw_limit(canvas, layout, limit, (left - 10.0, left + width + 10.0, y + 3.0));
    }
    for (k, series) in one.series.iter().enumerate() {
        draw_series(canvas, layout, series, left + (k as f64 + 0.5) * layout.slot);
    }
    canvas.close();
}

fn draw_limit(
    canvas: &mut Canvas,
    layout: &Layout,
    limit: &LineRate,
    (from, to, below): (f64, f64, f64),
) {
    let y = layout.y.place(limit.pps);
    canvas.line("limit", at(from, y), at(to, y));
    let text = format!("- - {}: {}", limit.label, units::rate(limit.pps));
    let below = at(f64::midpoint(from, to), below);
    canvas.text("limit-text", Anchor::Middle, below, &text);
}

fn draw_series(canvas: &mut Canvas, layout: &Layout, series: &Series, centre: f64) {
    let half = (layout.slot * 0.36).min(44.0);
    canvas.open(&[("class", "series"), ("data-variant", &series.variant)]);
    draw_name(canvas, layout, &series.variant, centre);
    let Some(summary) = series.summary else {
        draw_nothing(canvas, layout, centre);
        canvas.close();
        return;
    };
    let colour = series.colour;
    let (median, zero) = (layout.y.place(summary.median), layout.y.place(0.0));
    canvas.rect(&format!("b{colour}"), at(centre - half, median), at(centre + half, zero));
    canvas.line("median", at(centre - half, median), at(centre + half, median));
    draw_dots(canvas, layout, series, (centre, half));
    let (top, bottom) = (layout.place(summary.maximum), layout.place(summary.minimum));
    canvas.line("whisker", at(centre, top), at(centre, bottom));
    canvas.line("whisker", at(centre - 6.0, bottom), at(centre + 6.0, bottom));
    let highest = if summary.maximum > layout.y.range().1 {
        draw_arrow(canvas, at(centre, top), &figure(layout.metric, summary.maximum / layout.unit));
        let tame = series.dots.iter().map(|dot| dot.value).filter(|v| *v <= layout.y.range().1);
        layout.y.place(tame.fold(summary.median, f64::max)).max(top + 46.0)
    } else {
        canvas.line("whisker", at(centre - 6.0, top), at(centre + 6.0, top));
        top
    };
    let value = figure(layout.metric, summary.median / layout.unit);
    let mut y = highest - 8.0;
    if let Some(effect) = &series.effect {
        let effect = layout.effect(effect);
        // not in the colour of its series, of which some are too light for letters
        // "!" in thin letters would be a part of the whisker
        let class = if effect.len() > 1 { "halo" } else { "halo strong" };
        canvas.text(class, Anchor::Middle, at(centre, y), effect);
        y -= 15.0;
    }
    canvas.text("halo strong", Anchor::Middle, at(centre, y), &value);
    canvas.close();
}

/// What stands in the place of a bar without a trial, in as many lines as its column asks for.
fn draw_nothing(canvas: &mut Canvas, layout: &Layout, centre: f64) {
    let columns = ((layout.slot / CHARACTER) as usize).max("trial".len());
    let lines = wrap("no trial kept", columns, "", "");
    for (k, line) in lines.lines().rev().enumerate() {
        let y = layout.bottom - 8.0 - LINE * k as f64;
        canvas.text("warn-text", Anchor::Middle, at(centre, y), line);
    }
}

/// The end of a whisker that goes on to this figure.
fn draw_arrow(canvas: &mut Canvas, end: Point, figure: &str) {
    for side in [-5.0, 5.0] {
        canvas.line("whisker", end, at(end.x + side, end.y + 8.0));
    }
    canvas.text("halo strong", Anchor::Middle, at(end.x, end.y - 6.0), figure);
}

/// The name below a bar, level with those of all other bars.
fn draw_name(canvas: &mut Canvas, layout: &Layout, name: &str, centre: f64) {
    if layout.turned.is_some() {
        let place = at(centre + 4.0, layout.bottom + NAME_BELOW);
        let shown = layout.names.get(name).map_or(name, String::as_str);
        canvas.text_turned("", Anchor::End, place, shown);
        return;
    }
    let lines = name_lines(name, (layout.slot / CHARACTER) as usize);
    let first = layout.bottom + if lines.len() > 1 { 12.0 } else { 18.0 };
    for (k, line) in lines.into_iter().enumerate() {
        canvas.text("", Anchor::Middle, at(centre, first + 12.0 * k as f64), line);
    }
}

/// What turned names need below the bars beyond what others do, where one does not fit into so many
/// columns.
fn turned(chart: &Chart, columns: usize) -> Option<f64> {
    let names = || chart.traffics.iter().flat_map(|one| &one.series).map(|own| &*own.variant);
    let is_turned = names().any(|name| name_lines(name, columns).is_empty());
    let longest = names().map(|name| name.chars().count()).max().unwrap_or(0).min(LONGEST_NAME);
    // A traffic's label is 12 px high, and digits are wider than most characters.
    let below = 1.07 * longest as f64 * CHARACTER + NAME_BELOW + 12.0 - LABEL_BELOW;
    is_turned.then_some(below.max(0.0))
}

/// A name on one line or on two; nothing where it does not fit.
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
        let place = at(centre + share * reach, layout.place(dot.value));
        let mark = TrialMark { id: &dot.trial, hover: &dot.hover, radius: 3.2 };
        canvas.mark(&class, series.colour, place, &mark);
    }
}

#[cfg(test)]
mod tests;
