//! An SVG page under construction: a few shapes, all styled by class names.
//!
//! Colours live in [`crate::theme`], so that the same drawing serves a light
//! file, a rasterised picture and an HTML page that switches to dark. Numbers
//! are written with one decimal, which keeps files small and byte-identical
//! from run to run.

use std::fmt::Write as _;

use crate::Room;

/// A place on the page in user units (px at the drawing's own size), y downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Distance from the left edge.
    pub x: f64,
    /// Distance from the upper edge.
    pub y: f64,
}

/// Shorthand for a `Point`.
pub const fn at(x: f64, y: f64) -> Point {
    Point { x, y }
}

/// Which end of a text stands at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at the point.
    Start,
    /// The text is centred on the point.
    Middle,
    /// The text ends at the point.
    End,
}

impl Anchor {
    const fn attribute(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// Width of a character of 12 px type, on average, in px.
pub const CHARACTER: f64 = 7.2;

/// Shapes that tell series apart without colour, in the order of the variants.
const SHAPES: usize = 6;

/// A drawing of a fixed size; shapes are painted in the order of the calls.
#[derive(Debug, Clone)]
pub struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

impl Canvas {
    /// An empty page of `width` by `height` px.
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::with_capacity(16 * 1024) }
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: Point, to: Point) {
        let _ = writeln!(
            self.body,
            r#"<line class="{class}" x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}"/>"#,
            from.x, from.y, to.x, to.y
        );
    }

    /// A level or upright arrow, of whiskers; with a point at either end, if it leads both ways.
    pub fn arrow(&mut self, from: Point, to: Point, is_both: bool) {
        self.line("whisker", from, to);
        for (point, other) in [(to, from), (from, to)].into_iter().take(1 + usize::from(is_both)) {
            let back = |from: f64, to: f64| (from - to).clamp(-8.0, 8.0);
            let (x, y) = (back(other.x, point.x), back(other.y, point.y));
            for side in [0.625, -0.625] {
                self.line("whisker", at(point.x + x + side * y, point.y + y + side * x), point);
            }
        }
    }

    /// A rectangle between two opposite corners.
    pub fn rect(&mut self, class: &str, corner: Point, opposite: Point) {
        let (x, y) = (corner.x.min(opposite.x), corner.y.min(opposite.y));
        let (w, h) = ((corner.x - opposite.x).abs(), (corner.y - opposite.y).abs());
        let _ = writeln!(
            self.body,
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}"/>"#
        );
    }

    /// A text whose base line starts, is centred or ends at `place`.
    pub fn text(&mut self, class: &str, anchor: Anchor, place: Point, text: &str) {
        let _ = writeln!(
            self.body,
            r#"<text class="{class}" text-anchor="{}" x="{:.1}" y="{:.1}">{}</text>"#,
            anchor.attribute(),
            place.x,
            place.y,
            escape(text)
        );
    }

    /// The name of an axis of this length, turned by 90 degrees, read from below, centred on `place`: on
    /// two lines, the unit on the second, where it is longer than its axis.
    pub fn text_upwards(&mut self, place: Point, length: f64, text: &str) {
        let is_long = text.chars().count() as f64 * CHARACTER > length;
        match text.rsplit_once(" (").filter(|_| is_long) {
            Some((name, unit)) => {
                self.text_turned("", Anchor::Middle, at(place.x - 9.0, place.y), name);
                self.text_turned(
                    "",
                    Anchor::Middle,
                    at(place.x + 6.0, place.y),
                    &format!("({unit}"),
                );
            }
            None => self.text_turned("", Anchor::Middle, place, text),
        }
    }

    /// A text turned by 90 degrees, read from below, of which an end or the middle is at `place`.
    pub fn text_turned(&mut self, class: &str, anchor: Anchor, place: Point, text: &str) {
        let _ = writeln!(
            self.body,
            r#"<text class="{class}" text-anchor="{}" transform="translate({:.1} {:.1}) rotate(-90)">{}</text>"#,
            anchor.attribute(),
            place.x,
            place.y,
            escape(text)
        );
    }

    /// Opens a group with the given attributes; [`Self::close`] ends it.
    pub fn open(&mut self, attributes: &[(&str, &str)]) {
        self.body.push_str("<g");
        for (name, value) in attributes {
            let _ = write!(self.body, r#" {name}="{}""#, escape(value));
        }
        self.body.push_str(">\n");
    }

    /// Ends the innermost group.
    pub fn close(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// The mark of one trial. `shape` picks among six outlines, `hover` is
    /// what a reader sees who points at it.
    pub fn mark(&mut self, class: &str, shape: usize, place: Point, trial: &TrialMark<'_>) {
        let _ = writeln!(
            self.body,
            r#"<path class="mark {class}" data-trial="{}" d="{}"><title>{}</title></path>"#,
            escape(trial.id),
            outline(shape, place, trial.radius),
            escape(trial.hover)
        );
    }

    /// A filled outline that stands for a series in a legend.
    pub fn legend_mark(&mut self, class: &str, shape: usize, place: Point) {
        let _ = writeln!(
            self.body,
            r#"<path class="mark {class}" d="{}"/>"#,
            outline(shape, place, 4.5)
        );
    }

    /// The page as an SVG document with its own style sheet and background.
    pub fn into_document(self, title: &str, style: &str) -> String {
        let (w, h) = (self.width, self.height);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" \
             viewBox=\"0 0 {w:.0} {h:.0}\" role=\"img\">\n<title>{}</title>\n\
             <style>\n{style}</style>\n<rect class=\"page\" width=\"{w:.0}\" height=\"{h:.0}\"/>\n{}</svg>\n",
            escape(title),
            self.body
        )
    }

    /// The page as an element of an HTML page, which brings the styles.
    pub fn into_inline(self, label: &str, id: &str) -> String {
        self.inline(label, id, "figure")
    }

    /// As [`Self::into_inline`], shown where there is so much room only.
    pub fn into_inline_for(self, room: Room, label: &str, id: &str) -> String {
        match room {
            Room::Page => self.inline(label, id, "figure for-page"),
            Room::Phone => self.inline(label, &format!("{id}-narrow"), "figure for-phone"),
        }
    }

    fn inline(self, label: &str, id: &str, class: &str) -> String {
        let (w, h) = (self.width, self.height);
        format!(
            "<svg id=\"{}\" class=\"{class}\" viewBox=\"0 0 {w:.0} {h:.0}\" role=\"group\" \
             aria-label=\"{}\">\n{}</svg>\n",
            escape(id),
            escape(label),
            self.body
        )
    }
}

/// What belongs to the mark of one trial.
#[derive(Debug, Clone, Copy)]
pub struct TrialMark<'a> {
    /// The trial's id in the journal.
    pub id: &'a str,
    /// One line about the trial.
    pub hover: &'a str,
    /// Half the size of the mark in px.
    pub radius: f64,
}

/// The outline of a mark: circle, square, diamond, triangle up, triangle down, plus.
fn outline(shape: usize, place: Point, radius: f64) -> String {
    let (x, y, r) = (place.x, place.y, radius);
    match shape % SHAPES {
        0 => format!(
            "M{:.1} {y:.1}a{r:.1} {r:.1} 0 1 0 {d:.1} 0a{r:.1} {r:.1} 0 1 0 -{d:.1} 0z",
            x - r,
            d = 2.0 * r
        ),
        1 => {
            let s = r * 0.9;
            format!("M{:.1} {:.1}h{d:.1}v{d:.1}h-{d:.1}z", x - s, y - s, d = 2.0 * s)
        }
        2 => {
            let s = r * 1.25;
            format!("M{x:.1} {:.1}l{s:.1} {s:.1}l-{s:.1} {s:.1}l-{s:.1} -{s:.1}z", y - s)
        }
        3 => {
            let s = r * 1.15;
            format!("M{:.1} {:.1}h{:.1}l-{s:.1} -{:.1}z", x - s, y + s * 0.8, 2.0 * s, 1.8 * s)
        }
        4 => {
            let s = r * 1.15;
            format!("M{:.1} {:.1}h{:.1}l-{s:.1} {:.1}z", x - s, y - s * 0.8, 2.0 * s, 1.8 * s)
        }
        _ => {
            let (a, b) = (r * 0.45, r * 1.2);
            let c = b - a;
            let d = 2.0 * a;
            format!(
                "M{:.1} {:.1}h{d:.1}v{c:.1}h{c:.1}v{d:.1}h-{c:.1}v{c:.1}h-{d:.1}v-{c:.1}h-{c:.1}v-{d:.1}h{c:.1}z",
                x - a,
                y - b
            )
        }
    }
}

/// Makes a text safe inside XML elements and attributes. Control characters
/// that XML 1.0 does not know become spaces.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if fwdlab_guard::words::is_hidden(c) => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_every_character_that_xml_reserves() {
        assert_eq!(escape("a<b>&\"c'\u{1}"), "a&lt;b&gt;&amp;&quot;c&#39; ");
    }

    #[test]
    fn rectangle_is_the_same_from_any_corner() {
        let mut a = Canvas::new(10.0, 10.0);
        let mut b = Canvas::new(10.0, 10.0);
        a.rect("x", at(1.0, 8.0), at(4.0, 2.0));
        b.rect("x", at(4.0, 2.0), at(1.0, 8.0));
        assert_eq!(a.body, b.body);
    }
}
