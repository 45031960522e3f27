//! The legend of a figure: its variants with their marks, in as many rows as they need.

use crate::Chart;
use crate::canvas::{Anchor, CHARACTER, Canvas, Point, at};
use crate::label::{columns, lines};

/// From one row to the next.
const ROW: f64 = 18.0;
/// From one line of a name to the next.
const LINE: f64 = 14.0;
/// Room of a mark and of what keeps it from its neighbours.
const MARK: f64 = 34.0;

/// A name with the place of its colour.
struct Entry<'a> {
    name: &'a str,
    colour: usize,
    /// The name as it stands there.
    lines: Vec<String>,
    /// Where its mark is, from the corner of the legend.
    place: Point,
}

impl Entry<'_> {
    /// Where its last line stands.
    fn end(&self) -> f64 {
        self.place.y + LINE * self.lines.len().saturating_sub(1) as f64
    }
}

/// Names in a legend of this width. One that is wider goes on in a next line.
fn entries(names: Vec<(&str, usize)>, width: f64) -> Vec<Entry<'_>> {
    let (mut x, mut y) = (0.0, 0.0);
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (name, colour) in names {
        let lines = lines(name, columns(width - MARK).max(1));
        let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let needed = MARK + longest as f64 * CHARACTER;
        if x > 0.0 && x + needed > width {
            (x, y) = (0.0, ROW + entries.iter().map(Entry::end).fold(0.0, f64::max));
        }
        entries.push(Entry { name, colour, lines, place: at(x, y) });
        x += needed;
    }
    entries
}

/// What the rows after the first add to a figure's height.
pub fn more_rows(chart: &Chart, width: f64) -> f64 {
    rows_of(chart.variants(), width)
}

/// The same of names that are no chart's.
pub fn rows_of(names: Vec<(&str, usize)>, width: f64) -> f64 {
    entries(names, width).iter().map(Entry::end).fold(0.0, f64::max)
}

/// Draws the legend; its first mark is centred on `corner`.
pub fn draw(canvas: &mut Canvas, chart: &Chart, width: f64, corner: Point) {
    draw_names(canvas, chart.variants(), width, corner);
}

/// Draws the legend of names that are no chart's.
pub fn draw_names(canvas: &mut Canvas, names: Vec<(&str, usize)>, width: f64, corner: Point) {
    for Entry { name, colour, lines, place } in entries(names, width) {
        let (x, y) = (corner.x + place.x, corner.y + place.y);
        canvas.open(&[("class", "series"), ("data-variant", name)]);
        canvas.legend_mark(&format!("f{colour}"), colour, at(x, y));
        for (k, line) in lines.iter().enumerate() {
            canvas.text("", Anchor::Start, at(x + 10.0, y + 4.0 + LINE * k as f64), line);
        }
        canvas.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of 64 characters ran out of the picture.
    #[test]
    fn a_name_that_is_wider_than_the_legend_goes_on_below() {
        let long = "r368606D27401-with-batches-of-frames-and-a-lookup-of-eight-at-once";
        let names = vec![("radix", 0), (long, 1), ("auto", 2)];
        let all = entries(names.clone(), 316.0);
        assert!(all[1].lines.len() == 2 && all[1].lines.concat() == long, "{:?}", all[1].lines);
        let widest = all[1].lines.iter().map(|line| line.chars().count()).max();
        assert!(MARK + widest.unwrap_or(0) as f64 * CHARACTER <= 316.0);
        assert_eq!([all[1].place.y, all[2].place.y], [ROW, ROW + LINE + ROW]);
        assert_eq!(rows_of(names, 316.0), 2.0 * ROW + LINE);
    }
}
