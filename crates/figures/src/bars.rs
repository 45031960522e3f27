//! The graph of a report: median as a bar from zero, minimum to maximum as a
//! whisker, every single trial as a mark, bars for each traffic.

use crate::canvas::{Anchor, CHARACTER, Canvas, Point, TrialMark, at};
use crate::scale::{Scale, decimals, step, ticks};
use crate::text_table::wrap;
use crate::{ARROW, Chart, LineRate, Room, Series, TrafficSeries, caption, legend, title, unit};
use fwdlab_results::Measure;
use fwdlab_results::Metric;
use fwdlab_results::units;

const LEFT: f64 = 74.0;
const TOP: f64 = 92.0;
/// Height of the field in which bars stand.
const FIELD: f64 = 308.0;
const NARROWEST_SLOT: f64 = 46.0;
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

/// From one line of a title to the next.
const TITLE_LINE: f64 = 15.0;
/// Lines of a title, at most.
const MOST_LINES: usize = 3;

/// The title in lines; what the last has no room for is cut.
fn titled(title: &str, width: f64) -> Vec<String> {
    let columns = ((width - 32.0) / 6.6) as usize;
    let mut lines: Vec<String> =
        wrap(&broken(title, columns), columns, "", "").lines().map(str::to_owned).collect();
    if lines.len() > MOST_LINES {
        let rest = lines.split_off(MOST_LINES - 1).join(" ");
        lines.push(shortened(&rest, columns));
    }
    lines
}

/// How much farther down all stands because a title has several lines.
fn below(title: &[String]) -> f64 {
    TITLE_LINE * title.len().saturating_sub(1) as f64
}

/// Where the bars of a chart stand.
struct Layout {
    width: f64,
    y: Scale,
    unit: f64,
    metric: Metric,
    tick: f64,
    slot: f64,
    traffic_gap: f64,
    /// Room on the right, for the second axis if there is one.
    right: f64,
    /// How much farther down the traffics' labels stand, because the names of variants are turned: one
    /// of them is too long for its column.
    turned: Option<f64>,
    /// In narrow columns the number of an effect stands alone, on all bars.
    has_short_effects: bool,
    /// The chart's title in lines, above the legend.
    title: Vec<String>,
    /// Where the field begins and ends.
    top: f64,
    bottom: f64,
}

impl Layout {
    fn of(chart: &Chart, room: Room) -> Self {
        let bars: usize = chart.traffics.iter().map(|g| g.series.len()).sum();
        let traffics = chart.traffics.len().max(1) as f64;
        let traffic_gap = 36.0;
        let right = if chart.has_imix { 92.0 } else { 24.0 };
        let wanted = LEFT + right + bars as f64 * NARROWEST_SLOT + traffics * traffic_gap;
        let width = wanted.max(room.width()).round();
        let slot = (width - LEFT - right - traffics * traffic_gap) / bars.max(1) as f64;
        let limits = chart.traffics.iter().filter_map(|g| g.line_rate.as_ref()).map(|l| l.pps);
        let most = limits.fold(chart.reach(), f64::max);
        let (scale, _) = unit((chart.metric, chart.tick), most);
        let tick = step(most * 1.12, 6);
        let high = (most * 1.12 / tick).ceil() * tick;
        let title = titled(&chart.title, width);
        let top = TOP + below(&title) + legend::more_rows(chart, width - 44.0);
        let bottom = top + FIELD;
        let y = Scale::new((0.0, high), (bottom, top));
        let metric = chart.metric;
        let turned = turned(chart, (slot / CHARACTER) as usize);
        // a character of air between the labels of two bars
        let effects =
            chart.traffics.iter().flat_map(|g| &g.series).filter_map(|s| s.effect.as_ref());
        let longest = effects.map(|effect| effect.chars().count() + 1).max().unwrap_or(0);
        let has_short_effects = longest as f64 * CHARACTER > slot;
        Self {
            width,
            y,
            unit: scale,
            metric,
            tick,
            slot,
            traffic_gap,
            right,
            turned,
            has_short_effects,
            title,
            top,
            bottom,
        }
    }

    /// The value in the unit of the axis.
    fn figure(&self, value: f64) -> String {
        match value / self.unit {
            _ if self.metric == Metric::Cost => format!("{value:.1}"),
            // Five digits of each bar run into each other, and nobody measures so well.
            scaled if scaled >= 9.995 => format!("{scaled:.1}"),
            scaled => format!("{scaled:.3}"),
        }
    }

    /// Where a value stands; what lies beyond the axis, at its end.
    fn place(&self, value: f64) -> f64 {
        self.y.place(value.min(self.y.range().1))
    }

    /// What stands above a bar of its effect: the number alone in narrow columns, a sign for a word.
    fn effect<'a>(&self, effect: &'a str) -> &'a str {
        if !self.has_short_effects {
            return effect;
        }
        let sign = SIGNS.iter().find(|(word, _)| *word == effect).map(|(_, sign)| *sign);
        sign.or_else(|| effect.rsplit_once(' ').map(|(number, _)| number)).unwrap_or(effect)
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
        let columns = columns.max(8);
        wrap(&broken(&one.label, columns), columns, "", "").lines().map(str::to_owned).collect()
    }
}

/// Words that are too long for a line, broken behind a mark where there is one: `Atom_C2558_4Cores/Intel_i350`.
fn broken(text: &str, columns: usize) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        while rest.len() > columns {
            let mark = rest[..columns].iter().rposition(|c| matches!(c, '/' | '_' | '-' | '.'));
            let tail = rest.split_off(mark.map_or(columns, |mark| mark + 1));
            words.push(std::mem::replace(&mut rest, tail).into_iter().collect());
        }
        words.push(rest.into_iter().collect());
    }
    words.join(" ")
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
        canvas.text("faint", Anchor::Start, at(16.0, 45.0 + TITLE_LINE * k as f64), line);
    }
    let legend = at(22.0, 64.0 + below(&layout.title));
    legend::draw(&mut canvas, chart, layout.width - 44.0, legend);
    draw_axis(&mut canvas, &layout, chart);
    if chart.has_imix {
        draw_imix_axis(&mut canvas, &layout);
    }
    let mut x = LEFT + layout.traffic_gap / 2.0;
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
        canvas.line(class, at(LEFT, y), at(layout.width - layout.right, y));
        let label = format!("{:.digits$}", value / layout.unit);
        canvas.text("faint", Anchor::End, at(LEFT - 8.0, y + 4.0), &label);
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

/// At most so many characters of `text`.
fn shortened(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    text.chars().take(columns.saturating_sub(3)).chain("...".chars()).collect()
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
        draw_arrow(canvas, at(centre, top), &layout.figure(summary.maximum));
        let tame = series.dots.iter().map(|dot| dot.value).filter(|v| *v <= layout.y.range().1);
        layout.y.place(tame.fold(summary.median, f64::max)).max(top + 46.0)
    } else {
        canvas.line("whisker", at(centre - 6.0, top), at(centre + 6.0, top));
        top
    };
    let value = layout.figure(summary.median);
    let mut y = highest - 8.0;
    if let Some(effect) = &series.effect {
        let effect = layout.effect(effect);
        canvas.text(&format!("halo t{colour}"), Anchor::Middle, at(centre, y), effect);
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
        let y = layout.bottom - 8.0 - TITLE_LINE * k as f64;
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
        canvas.text_turned("", Anchor::End, place, &shortened(name, LONGEST_NAME));
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
mod tests {
    use super::*;

    /// A chart of one traffic with these variants.
    fn chart(names: &[&str]) -> Chart {
        let summary = crate::Summary { minimum: 1e6, median: 2e6, maximum: 3e6 };
        let series = names.iter().enumerate().map(|(colour, name)| Series {
            variant: (*name).to_owned(),
            colour,
            summary: Some(summary),
            dots: Vec::new(),
            effect: None,
        });
        Chart {
            title: "names".to_owned(),
            metric: Metric::Rate,
            tick: fwdlab_results::Tick::default(),
            measure: Measure::Rate,
            traffics: vec![TrafficSeries {
                traffic: "inet".to_owned(),
                label: "inet: IPv4".to_owned(),
                series: series.collect(),
                line_rate: None,
            }],
            caption: String::new(),
            has_imix: false,
            is_ordered: true,
        }
    }

    /// On a phone it was cut after 46 characters.
    #[test]
    fn a_title_that_is_too_long_for_its_line_goes_on_in_the_next() {
        let with = |title: &str| {
            let mut chart = chart(&["radix", "modular"]);
            chart.title = title.to_owned();
            bars_in(&chart, Room::Phone).into_document("t", "")
        };
        let long = "Reverse path filtering and a firewall on a Linux router: inet";
        let drawn = with(long);
        assert!(
            drawn.contains(">Reverse path filtering and a firewall on a Linux</text>"),
            "{drawn}"
        );
        assert!(drawn.contains(">router: inet</text>"), "{drawn}");
        let height = |drawn: &str| -> f64 {
            let (_, rest) = drawn.split_once("viewBox=\"0 0 360 ").expect("a size");
            rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
        };
        assert_eq!(height(&drawn), height(&with("inet")) + TITLE_LINE);
        let endless = with(&"word ".repeat(99));
        assert_eq!(height(&endless), height(&with("inet")) + 2.0 * TITLE_LINE);
        assert!(endless.contains("...</text>"), "{endless}");
    }

    /// At 400 px it ran into the next bar.
    #[test]
    fn a_bar_without_a_trial_says_so_in_the_width_of_its_column() {
        let with = |count: usize, room: Room| {
            let mut chart = chart(&["a", "b", "c", "d", "e", "f", "g", "h"][..count]);
            chart.traffics[0].series[1].summary = None;
            bars_in(&chart, room).into_document("t", "")
        };
        let wide = with(2, Room::Phone);
        assert!(wide.contains(">no trial kept</text>"), "{wide}");
        let narrow = with(3, Room::Phone);
        assert!(narrow.contains(">no trial</text>") && narrow.contains(">kept</text>"), "{narrow}");
        let narrowest = with(8, Room::Phone);
        assert!(
            narrowest.contains(">no</text>") && narrowest.contains(">trial</text>"),
            "{narrowest}"
        );
    }

    /// "inconclusive" stood across the figures of both neighbours.
    #[test]
    fn a_verdict_wider_than_its_bar_is_a_sign_that_the_caption_tells() {
        let with = |count: usize| {
            let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o"];
            let mut chart = chart(&names[..count]);
            for (own, effect) in
                chart.traffics[0].series.iter_mut().zip(["inconclusive", "+12.5 %", "equivalent"])
            {
                own.effect = Some(effect.to_owned());
            }
            bars(&chart).into_document("t", "")
        };
        let (wide, narrow) = (with(3), with(15));
        assert!(
            wide.contains(">inconclusive</text>") && !wide.contains("? inconclusive"),
            "{wide}"
        );
        assert!(!narrow.contains(">inconclusive</text>") && !narrow.contains(">equivalent</text>"));
        assert!(narrow.contains(">?</text>") && narrow.contains(">+12.5</text>"), "{narrow}");
        assert!(narrow.contains("? inconclusive. = equivalent.") && !narrow.contains("! invalid"));
    }

    /// One trial 300 times as slow left bars of a pixel.
    #[test]
    fn a_wild_trial_is_an_arrow_and_leaves_the_bars_tall() {
        let with = |worst: f64| {
            let mut chart = chart(&["radix", "modular"]);
            chart.metric = Metric::Cost;
            for series in &mut chart.traffics[0].series {
                let own = if series.colour == 1 { worst } else { 1.2 };
                let values = [1.0, 1.1, own].map(|value| 100.0 * value);
                series.summary = crate::Summary::of(&values);
                let dot = |(order, value): (u32, f64)| crate::Dot {
                    trial: format!("b{order}"),
                    block: order,
                    order,
                    value,
                    hover: String::new(),
                };
                series.dots = (1..).zip(values).map(dot).collect();
            }
            chart
        };
        let (wild, tame) = (with(300.0), with(2.5));
        assert!(wild.reach() < 121.0 && (tame.reach() - 250.0).abs() < 1e-9);
        let layout = Layout::of(&wild, Room::Page);
        assert!(layout.bottom - layout.place(110.0) > 0.5 * FIELD);
        let [wild, tame] = [wild, tame].map(|own| bars(&own).into_document("t", ""));
        assert!(wild.contains(">30000.0</text>") && wild.contains("Arrow: a trial"), "{wild}");
        assert!(!tame.contains("Arrow") && !tame.contains("30000"), "{tame}");
        assert_eq!(wild.matches("data-trial").count(), 6, "it is a mark like all others");
    }

    /// `r368606D27401v4` ran into `inet4: IPv4, 64-byte frames`.
    #[test]
    fn the_label_of_a_traffic_stands_below_the_end_of_every_turned_name() {
        let widest = 7.64; // of a digit
        for name in ["r368606D27401v4", "300000000000000000000000", "12345678901"] {
            let layout = Layout::of(&chart(&[name; 8]), Room::Phone);
            let down = layout.turned.expect("such a name does not fit");
            let end = NAME_BELOW + widest * name.len() as f64;
            assert!(LABEL_BELOW + down - 12.0 >= end, "{name}: {down}");
        }
    }

    #[test]
    fn every_bar_has_its_name_also_where_one_is_too_long() {
        let names = ["auto", "radix4_lockless", "dpdk_lpm4", "bsearch4", "inseparablylong"];
        let more = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
        for (all, is_turned) in [([&names[..], &more].concat(), true), (names[..1].to_vec(), false)]
        {
            for room in [Room::Page, Room::Phone] {
                let svg = bars_in(&chart(&all), room).into_document("t", "");
                for name in &all {
                    let own = format!(">{name}</text>");
                    // The legend has it, too, where there are several.
                    assert!(
                        svg.matches(&own).count() > usize::from(all.len() > 1),
                        "{name}: {svg}"
                    );
                }
                let turned = svg.matches("text-anchor=\"end\" transform").count();
                assert_eq!(turned, if is_turned { all.len() } else { 0 }, "{svg}");
            }
        }
    }

    #[test]
    fn the_name_of_a_group_stays_in_its_width() {
        let mut wide = chart(&["r1"]);
        wide.traffics[0].label = "Atom_C2558_4Cores/Intel_i350 (fbsd12-head)".to_owned();
        for _ in 0..5 {
            wide.traffics.push(wide.traffics[0].clone());
        }
        let layout = Layout::of(&wide, Room::Page);
        let room = (layout.slot + layout.traffic_gap) / CHARACTER;
        let lines = layout.label(&wide.traffics[0]);
        assert!(lines.iter().all(|line| line.chars().count() as f64 <= room.max(8.0)), "{lines:?}");
        assert_eq!(lines.concat(), "Atom_C2558_4Cores/Intel_i350(fbsd12-head)");
        assert_eq!(broken("inet: IPv4", 6), "inet: IPv4");
    }

    #[test]
    fn effects_of_neighbours_do_not_touch() {
        let wide = |effect: &str| {
            let mut chart = chart(&["a", "b", "c"]);
            let second = TrafficSeries { traffic: "inet6".into(), ..chart.traffics[0].clone() };
            chart.traffics.push(second);
            for series in chart.traffics.iter_mut().flat_map(|one| &mut one.series) {
                series.effect = Some(effect.to_owned());
            }
            bars(&chart).into_document("t", "").contains(&format!(">{effect}</text>"))
        };
        // a column of 105 px, with 14 characters of 7.2 px and with 13
        assert!(!wide("+18.8 % slower") && wide("+8.8 % slower"));
    }

    /// "788.584655.316" stood above two bars of a chart of eight traffics.
    #[test]
    fn figures_of_neighbours_do_not_touch() {
        let mut chart = chart(&["a", "b"]);
        let summary = crate::Summary { minimum: 5e5, median: 688_584.1, maximum: 7e5 };
        for series in &mut chart.traffics[0].series {
            series.summary = Some(summary);
            let (trial, hover) = (String::new(), String::new());
            series.dots = vec![crate::Dot { trial, block: 1, order: 1, value: 7e5, hover }];
        }
        for name in ["128", "256", "512", "1024", "1280", "1518", "imix"] {
            let other = TrafficSeries { traffic: name.into(), ..chart.traffics[0].clone() };
            chart.traffics.push(other);
        }
        let document = bars(&chart).into_document("t", "");
        assert_eq!(document.matches(">688.6</text>").count(), 16, "{document:.3000}");
        assert!(document.contains("thousand frames/s"), "{document:.3000}");
    }

    #[test]
    fn the_name_of_an_axis_is_not_longer_than_it() {
        let drawn = |length: f64| {
            let mut canvas = Canvas::new(100.0, 400.0);
            canvas.text_upwards(at(22.0, 200.0), length, "Device cost (instructions/frame)");
            canvas.into_document("t", "")
        };
        assert!(drawn(300.0).contains(">Device cost (instructions/frame)</text>"));
        let short = drawn(200.0);
        assert!(
            short.contains(">Device cost</text>") && short.contains(">(instructions/frame)</text>")
        );
    }

    #[test]
    fn long_names_stand_on_two_lines() {
        assert_eq!(name_lines("radix", 9), ["radix"]);
        assert_eq!(name_lines("empty-chain", 9), ["empty-", "chain"]);
        assert_eq!(name_lines("one two three", 9), ["one two", "three"]);
        assert!(name_lines("inseparable", 9).is_empty());
        assert!(name_lines("separable-", 9).is_empty());
    }
}
