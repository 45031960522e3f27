//! The forest plot: every verdict as an estimate with its interval, against
//! the band in which a difference does not matter.

use crate::canvas::{Anchor, Canvas, at};
use crate::scale::{Scale, decimals, step, ticks};

const WIDTH: f64 = 800.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 84.0;
const ROW: f64 = 44.0;

/// What the plot shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    /// The heading: `Change against radix`.
    pub title: String,
    /// The margin in per cent.
    pub margin_percent: f64,
    /// One row per traffic and variant.
    pub rows: Vec<ForestRow>,
    /// A sentence on what the intervals are.
    pub caption: String,
}

/// One verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestRow {
    /// Name of the traffic.
    pub traffic: String,
    /// Name of the variant.
    pub variant: String,
    /// Place of its colour.
    pub colour: usize,
    /// The comparison that decides; `None` when there is none.
    pub deciding: Option<Estimate>,
    /// The comparison of the other metric.
    pub other: Option<Estimate>,
    /// The verdict in words, beside the row.
    pub text: String,
    /// A second, fainter line of words.
    pub detail: String,
}

/// An estimate with its 95 % interval, in per cent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub estimate: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Draws the plot.
pub fn forest(forest: &Forest) -> Canvas {
    let bottom = TOP + ROW * forest.rows.len() as f64;
    let mut canvas = Canvas::new(WIDTH, bottom + 74.0);
    canvas.text("title", Anchor::Start, at(16.0, 28.0), &forest.title);
    canvas.text("faint", Anchor::Start, at(16.0, 48.0), "in per cent, with 95 % interval");
    let x = scale(forest);
    draw_axis(&mut canvas, forest, &x, bottom);
    for (k, row) in forest.rows.iter().enumerate() {
        draw_row(&mut canvas, row, &x, TOP + (k as f64 + 0.5) * ROW);
    }
    canvas.text("faint", Anchor::Start, at(16.0, bottom + 60.0), &forest.caption);
    canvas
}

/// Holds zero, the margin band and every interval, with some air.
fn scale(forest: &Forest) -> Scale {
    let estimates = || forest.rows.iter().flat_map(|r| [r.deciding, r.other]).flatten();
    let margin = forest.margin_percent;
    let low = estimates().map(|e| e.low).fold(-1.5 * margin, f64::min);
    let high = estimates().map(|e| e.high).fold(1.5 * margin, f64::max);
    let air = 0.05 * (high - low);
    Scale::new((low - air, high + air), (LEFT, RIGHT))
}

fn draw_axis(canvas: &mut Canvas, forest: &Forest, x: &Scale, bottom: f64) {
    let margin = forest.margin_percent;
    canvas.rect("band", at(x.place(-margin), TOP - 6.0), at(x.place(margin), bottom));
    let (low, high) = x.range();
    let tick = step(high - low, 6);
    let digits = decimals(tick);
    for value in ticks(low, high, tick) {
        let place = x.place(value);
        canvas.line("grid", at(place, TOP - 6.0), at(place, bottom));
        let sign = if value > 0.0 { "+" } else { "" };
        let label = format!("{sign}{:.digits$} %", value + 0.0);
        canvas.text("faint", Anchor::Middle, at(place, bottom + 16.0), &label);
    }
    canvas.line("zero", at(x.place(0.0), TOP - 6.0), at(x.place(0.0), bottom));
    let label = format!("margin ±{margin} %");
    canvas.text("faint", Anchor::Middle, at(x.place(0.0), TOP - 12.0), &label);
    canvas.text("faint", Anchor::Start, at(LEFT, bottom + 34.0), "← slower");
    canvas.text("faint", Anchor::End, at(RIGHT, bottom + 34.0), "faster →");
}

fn draw_row(canvas: &mut Canvas, row: &ForestRow, x: &Scale, y: f64) {
    canvas.open(&[
        ("class", "series"),
        ("data-traffic", &row.traffic),
        ("data-variant", &row.variant),
    ]);
    canvas.text("strong", Anchor::End, at(LEFT - 14.0, y - 2.0), &row.variant);
    canvas.text("faint", Anchor::End, at(LEFT - 14.0, y + 13.0), &row.traffic);
    if let Some(other) = row.other {
        canvas.line("axis", at(x.place(other.low), y + 9.0), at(x.place(other.high), y + 9.0));
        canvas.line(
            "axis",
            at(x.place(other.estimate), y + 6.0),
            at(x.place(other.estimate), y + 12.0),
        );
    }
    match row.deciding {
        Some(e) => {
            let class = format!("l{}", row.colour);
            let (low, high) = (x.place(e.low), x.place(e.high));
            canvas.line(&class, at(low, y - 4.0), at(high, y - 4.0));
            canvas.line(&class, at(low, y - 9.0), at(low, y + 1.0));
            canvas.line(&class, at(high, y - 9.0), at(high, y + 1.0));
            canvas.legend_mark(
                &format!("f{}", row.colour),
                row.colour,
                at(x.place(e.estimate), y - 4.0),
            );
        }
        None => canvas.text("warn-text", Anchor::Middle, at(x.place(0.0), y), "no comparison"),
    }
    canvas.text("strong", Anchor::Start, at(RIGHT + 16.0, y - 2.0), &row.text);
    canvas.text("faint", Anchor::Start, at(RIGHT + 16.0, y + 13.0), &row.detail);
    canvas.close();
}
