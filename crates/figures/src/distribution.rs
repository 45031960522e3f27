//! Where the trials of each variant lie: one row of stacked marks per
//! variant, none lost behind another.

use std::collections::BTreeMap;

use crate::canvas::{Anchor, Canvas, Point, TrialMark, at};
use crate::label::{Heading, LINE, below, columns, draw_above, paneled};
use crate::scale::{Scale, decimals, step, thinned, ticks};
use crate::{ARROW, Chart, Room, Series, TrafficSeries, caption, unit};
use fwdlab_guard::names::apart;
use fwdlab_results::{Metric, Tick};

/// Between what is written and the edge of the figure.
const EDGE: f64 = 16.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 62.0;
const RADIUS: f64 = 3.4;
const COLUMN: f64 = 2.0 * RADIUS + 0.6;
const LEAST_ROW: f64 = 34.0;

/// Where rows begin and end, and the room above each for the name of its variant.
#[derive(Clone, Copy)]
struct Layout {
    left: f64,
    width: f64,
    above: f64,
}

impl Layout {
    const fn of(room: Room) -> Self {
        match room {
            Room::Page => Self { left: 150.0, width: room.width(), above: 0.0 },
            Room::Phone => Self { left: 16.0, width: room.width(), above: 14.0 },
        }
    }
}

/// Draws one panel per traffic, each with its own axis, where there is so much room.
pub fn distribution(chart: &Chart, room: Room) -> Canvas {
    let layout = Layout::of(room);
    let heights: Vec<f64> = chart.traffics.iter().map(|one| panel_height(one, layout)).collect();
    let more = if chart.traffics.iter().any(TrafficSeries::has_wild) { ARROW } else { "" };
    let lines = caption(&format!("{CAPTION}{more}"), layout.width);
    let heading = Heading::of("Distribution of the trials", layout.width);
    let first = TOP + heading.below();
    let height = first + heights.iter().sum::<f64>() + 19.0 + LINE * lines.len() as f64;
    let mut canvas = Canvas::new(layout.width, height);
    heading.draw(&mut canvas);
    let mut top = first;
    for (one, panel) in chart.traffics.iter().zip(heights) {
        draw_panel(&mut canvas, one, ((chart.metric, chart.tick), layout), top);
        top += panel;
    }
    for (k, line) in lines.iter().rev().enumerate() {
        canvas.text("faint", Anchor::Start, at(EDGE, height - 10.0 - LINE * k as f64), line);
    }
    canvas
}

const CAPTION: &str =
    "Each mark is one trial; the line through a row is its median. Axes do not begin at 0.";

fn scale(one: &TrafficSeries, layout: Layout) -> Scale {
    let widest = one.widest_deviation();
    let is_shown = |s: &Series, value: f64| s.deviation(value).is_none_or(|d| d.abs() <= widest);
    let values = || {
        let all = one.series.iter().flat_map(|s| s.dots.iter().map(move |dot| (s, dot.value)));
        all.filter(|(s, value)| is_shown(s, *value)).map(|(_, value)| value)
    };
    let (low, high) =
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let (low, high) = if low.is_finite() { (low, high) } else { (0.0, 1.0) };
    let air = (0.04 * (high - low)).max(0.002 * high);
    Scale::new((low - air, high + air), (layout.left, layout.width - RIGHT))
}

/// Marks by column; the mark's height in its stack goes with it.
fn stacks(series: &Series, x: &Scale) -> Vec<(f64, usize)> {
    let mut used: BTreeMap<i64, usize> = BTreeMap::new();
    series
        .dots
        .iter()
        .map(|dot| {
            let (low, high) = x.range();
            let column = (x.place(dot.value.clamp(low, high)) / COLUMN).round() as i64;
            let level = used.entry(column).or_insert(0);
            *level += 1;
            (column as f64 * COLUMN, *level - 1)
        })
        .collect()
}

fn row_height(series: &Series, x: &Scale, layout: Layout) -> f64 {
    let tallest = stacks(series, x).iter().map(|(_, level)| level + 1).max().unwrap_or(0);
    (tallest as f64 * COLUMN + 14.0).max(LEAST_ROW) + layout.above
}

fn panel_height(one: &TrafficSeries, layout: Layout) -> f64 {
    let x = scale(one, layout);
    let rows: f64 = one.series.iter().map(|s| row_height(s, &x, layout)).sum();
    below(&label(one, layout)) + rows + 66.0
}

/// The label of a panel in lines.
fn label(one: &TrafficSeries, layout: Layout) -> Vec<String> {
    paneled(&one.label, EDGE, layout.width)
}

/// The names of a panel's variants in the room that they have.
fn names(one: &TrafficSeries, layout: Layout) -> Vec<String> {
    let all: Vec<&str> = one.series.iter().map(|series| series.variant.as_str()).collect();
    let room =
        if layout.above > 0.0 { layout.width - 2.0 * EDGE } else { layout.left - 12.0 - EDGE };
    apart(&all, columns(room))
}

fn draw_panel(
    canvas: &mut Canvas,
    one: &TrafficSeries,
    (of, layout): ((Metric, Tick), Layout),
    top: f64,
) {
    let x = scale(one, layout);
    canvas.open(&[("class", "traffic"), ("data-traffic", &one.traffic)]);
    let label = label(one, layout);
    let top = top + below(&label);
    draw_above(canvas, "strong", at(EDGE, top + 4.0), &label);
    let first = top + 14.0;
    let bottom = first + one.series.iter().map(|s| row_height(s, &x, layout)).sum::<f64>();
    let (low, high) = x.range();
    let (scale, name) = unit(of, high);
    let tick = step(high - low, 6);
    let digits = decimals(tick / scale);
    for value in thinned(ticks(low, high, tick), 52.0, |value| x.place(*value)) {
        canvas.line("grid", at(x.place(value), first), at(x.place(value), bottom));
        let label = format!("{:.digits$}", value / scale);
        canvas.text("faint", Anchor::Middle, at(x.place(value), bottom + 16.0), &label);
    }
    canvas.text("faint", Anchor::End, at(layout.width - RIGHT, bottom + 32.0), name);
    let mut y = first;
    for (series, name) in one.series.iter().zip(names(one, layout)) {
        y += row_height(series, &x, layout);
        draw_row(canvas, (series, &name), (&x, scale), layout, y);
    }
    canvas.close();
}

fn draw_row(
    canvas: &mut Canvas,
    (series, name): (&Series, &str),
    (x, unit): (&Scale, f64),
    layout: Layout,
    base: f64,
) {
    canvas.open(&[("class", "series"), ("data-variant", &series.variant)]);
    canvas.line("axis", at(layout.left, base), at(layout.width - RIGHT, base));
    let top = base - row_height(series, x, layout);
    if layout.above > 0.0 {
        canvas.text("", Anchor::Start, at(layout.left, top + 14.0), name);
    } else {
        canvas.text("", Anchor::End, at(layout.left - 12.0, base - 6.0), name);
    }
    if let Some(summary) = series.summary {
        let place = x.place(summary.median);
        let class = format!("l{}", series.colour);
        canvas.line(&class, at(place, top + layout.above + 8.0), at(place, base));
    }
    let class = format!("f{}", series.colour);
    for (dot, (place, level)) in series.dots.iter().zip(stacks(series, x)) {
        let y = base - RADIUS - 1.0 - level as f64 * COLUMN;
        let mark = TrialMark { id: &dot.trial, hover: &dot.hover, radius: RADIUS };
        canvas.mark(&class, series.colour, at(place, y), &mark);
        let (low, high) = x.range();
        if !(low..=high).contains(&dot.value) {
            draw_arrow(canvas, at(place, y), dot.value > high, dot.value / unit);
        }
    }
    canvas.close();
}

/// The mark at an end of the axis of a trial that lies beyond it, with its figure in the unit of the axis.
fn draw_arrow(canvas: &mut Canvas, end: Point, is_above: bool, figure: f64) {
    let back = if is_above { -9.0 } else { 9.0 };
    for side in [-4.0, 4.0] {
        let tip = at(end.x - back, end.y);
        canvas.line("whisker", tip, at(tip.x + 0.6 * back, end.y + side));
    }
    let anchor = if is_above { Anchor::End } else { Anchor::Start };
    let digits = decimals(figure.abs() / 1000.0);
    let text = format!("{figure:.digits$}");
    canvas.text("halo strong", anchor, at(end.x + back, end.y + 4.0), &text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dot, Summary};
    use fwdlab_results::Measure;

    /// One trial at a tenth left all others in one column.
    #[test]
    fn a_wild_trial_is_an_arrow_and_leaves_the_others_apart() {
        let chart = |wild: f64| {
            let values: Vec<f64> =
                (0..11).map(|i| 1e6 + 1e3 * f64::from(i)).chain([wild]).collect();
            let dot = |(order, value): (u32, f64)| {
                let (trial, hover) = (format!("b{order}"), String::new());
                Dot { trial, block: order, order, value, hover }
            };
            let series = Series {
                variant: "radix".to_owned(),
                colour: 0,
                dots: (1..).zip(values.iter().copied()).map(dot).collect(),
                summary: Summary::of(&values),
                effect: None,
            };
            Chart {
                title: "one".to_owned(),
                metric: Metric::Rate,
                tick: Tick::default(),
                measure: Measure::Rate,
                traffics: vec![TrafficSeries {
                    traffic: "inet".to_owned(),
                    label: "inet: IPv4".to_owned(),
                    series: vec![series],
                    line_rate: None,
                }],
                caption: String::new(),
                has_imix: false,
                is_ordered: true,
            }
        };
        for room in [Room::Page, Room::Phone] {
            let layout = Layout::of(room);
            for wild in [1e5, 3e7] {
                let own = chart(wild);
                let x = scale(&own.traffics[0], layout);
                let columns = stacks(&own.traffics[0].series[0], &x);
                assert!(columns[..11].windows(2).all(|two| two[0].0 < two[1].0), "{columns:?}");
                let svg = distribution(&own, room).into_document("t", "");
                assert_eq!(svg.matches("data-trial").count(), 12, "a mark like all others");
                assert!(svg.contains("Arrow: a trial"), "{svg}");
                let figure = if wild > 1e6 { ">30.00</text>" } else { ">0.1000</text>" };
                assert!(svg.contains(figure), "{figure} {svg}");
            }
            let tame = distribution(&chart(1.012e6), room).into_document("t", "");
            assert!(!tame.contains("Arrow"), "{tame}");
        }
    }
}
