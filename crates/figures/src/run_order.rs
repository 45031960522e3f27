//! Every trial in the order of the run, as its deviation from the median of
//! its own variant: drift shows as a slope, two clusters as two bands.

use crate::canvas::{Anchor, Canvas, Point, TrialMark, at};
use crate::label::{Heading, LINE, below, draw_above, paneled};
use crate::scale::{Scale, decimals, step, thinned, ticks};
use crate::{ARROW, Chart, Room, Series, TrafficSeries, caption, legend};
use fwdlab_results::Metric;
use fwdlab_stats::far_change;

const LEFT: f64 = 74.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 92.0;
const PANEL: f64 = 170.0;
const GAP: f64 = 34.0;

/// What the figure calls its trials.
struct Words {
    title: &'static str,
    axis: &'static str,
    caption: &'static str,
}

const ORDERED: Words = Words {
    title: "Every trial in the order of the run",
    axis: "trial, in the order of the run",
    caption: "Deviation of each trial's rate from the median of its variant and traffic. Stripes: \
              blocks.",
};

const NUMBERED: Words = Words {
    title: "Every published run",
    axis: "run, by variant and number",
    caption: "Deviation of each run's rate from the median of its variant and traffic. In which order \
              they ran is not known.",
};

/// Draws one panel per traffic, for a page or a file.
pub fn run_order(chart: &Chart) -> Canvas {
    run_order_in(chart, Room::Page)
}

/// Draws one panel per traffic where there is so much room.
pub fn run_order_in(chart: &Chart, room: Room) -> Canvas {
    let panels = chart.traffics.len() as f64;
    let last = all_dots(chart).map(|(_, d)| d.order).max().unwrap_or(1);
    let width = match room {
        Room::Page => (LEFT + RIGHT + f64::from(last) * 2.4).max(room.width()),
        Room::Phone => room.width(),
    };
    let words = if chart.is_ordered { &ORDERED } else { &NUMBERED };
    let more = if chart.traffics.iter().any(TrafficSeries::has_wild) { ARROW } else { "" };
    let said = match chart.metric {
        Metric::Own(_) => words.caption.replace("'s rate from", "'s figure from"),
        _ => words.caption.to_owned(),
    };
    let lines = caption(&format!("{said}{more}"), width);
    let heading = Heading::of(words.title, width);
    let label = |one: &TrafficSeries| paneled(&one.label, LEFT, width);
    let first = TOP + heading.below() + legend::more_rows(chart, width - 44.0);
    let labels: f64 = chart.traffics.iter().map(|one| below(&label(one))).sum();
    let bottom = first + labels + panels * PANEL + (panels - 1.0).max(0.0) * GAP;
    let mut canvas = Canvas::new(width, bottom + 55.0 + LINE * lines.len() as f64);
    heading.draw(&mut canvas);
    legend::draw(&mut canvas, chart, width - 44.0, at(22.0, 50.0 + heading.below()));
    let x = Scale::new((0.5, f64::from(last) + 0.5), (LEFT, width - RIGHT));
    let mut top = first;
    for one in &chart.traffics {
        let label = label(one);
        top += below(&label);
        draw_above(&mut canvas, "strong", at(LEFT, top - 8.0), &label);
        draw_panel(&mut canvas, chart, one, (&x, top));
        top += PANEL + GAP;
    }
    draw_orders(&mut canvas, (&x, words.axis), bottom, last);
    for (k, line) in lines.iter().enumerate() {
        canvas.text("faint", Anchor::Start, at(16.0, bottom + 58.0 + 15.0 * k as f64), line);
    }
    canvas
}

fn all_dots(chart: &Chart) -> impl Iterator<Item = (&Series, &crate::Dot)> {
    chart.traffics.iter().flat_map(|g| &g.series).flat_map(|s| s.dots.iter().map(move |d| (s, d)))
}

fn draw_panel(canvas: &mut Canvas, chart: &Chart, one: &TrafficSeries, (x, top): (&Scale, f64)) {
    let bottom = top + PANEL;
    let (low, high) = reach(one);
    let y = Scale::new((low, high), (bottom, top));
    if chart.is_ordered {
        draw_stripes(canvas, chart, x, (top, bottom));
    }
    let tick = step(high - low, 5);
    let digits = decimals(tick);
    for value in ticks(low, high, tick) {
        let place = y.place(value);
        let (from, to) = (x.place(x.range().0), x.place(x.range().1));
        canvas.line(if value == 0.0 { "axis" } else { "grid" }, at(from, place), at(to, place));
        let sign = if value > 0.0 { "+" } else { "" };
        let label = format!("{sign}{:.digits$} %", value + 0.0);
        canvas.text("faint", Anchor::End, at(LEFT - 8.0, place + 4.0), &label);
    }
    canvas.open(&[("class", "traffic"), ("data-traffic", &one.traffic)]);
    for series in &one.series {
        canvas.open(&[("class", "series"), ("data-variant", &series.variant)]);
        let class = format!("f{}", series.colour);
        for dot in &series.dots {
            let Some(value) = series.deviation(dot.value) else { continue };
            let deviation = far_change(value).unwrap_or_else(|| format!("{value:+.2} %"));
            let hover = format!("{}, {deviation} from its median", dot.hover);
            let mark = TrialMark { id: &dot.trial, hover: &hover, radius: 3.8 };
            let place = at(x.place(f64::from(dot.order)), y.place(value.clamp(low, high)));
            canvas.mark(&class, series.colour, place, &mark);
            if !(low..=high).contains(&value) {
                draw_arrow(canvas, place, value, x);
            }
        }
        canvas.close();
    }
    canvas.close();
}

/// The mark at an end of the axis of a trial that lies beyond it, with its deviation in per cent.
fn draw_arrow(canvas: &mut Canvas, end: Point, deviation: f64, x: &Scale) {
    /// Room that a figure takes.
    const FIGURE: f64 = 70.0;
    let back = if deviation > 0.0 { 9.0 } else { -9.0 };
    for side in [-5.0, 5.0] {
        let tip = at(end.x, end.y - back);
        canvas.line("whisker", tip, at(end.x + side, tip.y + 0.6 * back));
    }
    let figure = far_change(deviation).unwrap_or_else(|| format!("{deviation:+.0} %"));
    let has_room = end.x + FIGURE < x.place(x.range().1);
    let (anchor, aside) = if has_room { (Anchor::Start, 9.0) } else { (Anchor::End, -9.0) };
    canvas.text("halo strong", anchor, at(end.x + aside, end.y + 4.0), &figure);
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
    let values = ticks(1.0, f64::from(last), tick);
    for value in thinned(values, 40.0, |value| x.place(*value)) {
        let label = format!("{value:.0}");
        canvas.text("faint", Anchor::Middle, at(x.place(value), bottom + 16.0), &label);
    }
    let middle = f64::midpoint(x.place(x.range().0), x.place(x.range().1));
    canvas.text("", Anchor::Middle, at(middle, bottom + 36.0), axis);
}

/// The deviations that a panel shows, lowest and highest: as far down as up, but no trial has lost
/// more than everything. Wild ones lie beyond.
fn reach(one: &TrafficSeries) -> (f64, f64) {
    let reach = 1.1 * one.widest_deviation().max(0.5);
    (-reach.min(100.0), reach)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dot, Summary};

    #[test]
    fn no_axis_goes_below_a_loss_of_everything() {
        let dot =
            |value| Dot { trial: String::new(), block: 1, order: 1, value, hover: String::new() };
        let one = |values: &[f64]| TrafficSeries {
            traffic: "inet".to_owned(),
            label: "inet".to_owned(),
            line_rate: None,
            series: vec![Series {
                variant: "a".to_owned(),
                colour: 0,
                dots: values.iter().copied().map(dot).collect(),
                summary: Summary::of(values),
                effect: None,
            }],
        };
        assert_eq!(reach(&one(&[1.0, 1.0, 40.0])).0, -100.0, "one of three is not wild");
        // one of eight and more is
        let noise = |i: u32| 100.0 + 0.3 * f64::from(i * 5 % 8);
        let with = |wild: f64| -> Vec<f64> { (0..9).map(noise).chain([wild]).collect() };
        for wild in [1.0, 300.0, 3000.0] {
            let own = one(&with(wild));
            assert!(reach(&own).1 < 3.0 && own.has_wild(), "{wild}: {:?}", reach(&own));
        }
        assert!(!one(&with(104.0)).has_wild());
        // a second state is none
        let states: Vec<f64> = (0..10).map(|i| if i % 3 == 0 { 63.0 } else { noise(i) }).collect();
        assert!(!one(&states).has_wild());
        let (low, high) = reach(&one(&[99.0, 100.0, 101.0]));
        assert!(low == -high && (1.0..2.0).contains(&high), "{low} {high}");
    }
}
