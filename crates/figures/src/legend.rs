//! The legend of a figure: its variants with their marks, in as many rows as they need.

use crate::Chart;
use crate::canvas::{Anchor, Canvas, Point, at};

/// Width of a character of 12 px type, on average, in px.
const CHARACTER: f64 = 7.2;
/// From one row to the next.
const ROW: f64 = 18.0;

/// Where each name, with the place of its colour, stands in a legend of this width, from its corner.
fn places(names: Vec<(&str, usize)>, width: f64) -> Vec<(&str, usize, Point)> {
    let (mut x, mut y) = (0.0, 0.0);
    let mut places = Vec::new();
    for (name, colour) in names {
        let needed = 34.0 + name.chars().count() as f64 * CHARACTER;
        if x > 0.0 && x + needed > width {
            (x, y) = (0.0, y + ROW);
        }
        places.push((name, colour, at(x, y)));
        x += needed;
    }
    places
}

/// What the rows after the first add to a figure's height.
pub fn more_rows(chart: &Chart, width: f64) -> f64 {
    rows_of(chart.variants(), width)
}

/// The same of names that are no chart's.
pub fn rows_of(names: Vec<(&str, usize)>, width: f64) -> f64 {
    places(names, width).last().map_or(0.0, |(_, _, place)| place.y)
}

/// Draws the legend; its first mark is centred on `corner`.
pub fn draw(canvas: &mut Canvas, chart: &Chart, width: f64, corner: Point) {
    draw_names(canvas, chart.variants(), width, corner);
}

/// Draws the legend of names that are no chart's.
pub fn draw_names(canvas: &mut Canvas, names: Vec<(&str, usize)>, width: f64, corner: Point) {
    for (name, colour, Point { x, y }) in places(names, width) {
        let (x, y) = (corner.x + x, corner.y + y);
        canvas.open(&[("class", "series"), ("data-variant", name)]);
        canvas.legend_mark(&format!("f{colour}"), colour, at(x, y));
        canvas.text("", Anchor::Start, at(x + 10.0, y + 4.0), name);
        canvas.close();
    }
}
