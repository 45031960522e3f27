//! A curve for each variant over what an experiment varies in three steps or more: the length of
//! frames, the number of flows, the size of a table.

use crate::canvas::{Anchor, Canvas, at};
use crate::label::{Heading, LINE, below, draw_above, left, paneled, titled};
use crate::scale::{Scale, decimals, step, thinned, ticks};
use crate::{Room, Summary, caption, legend, unit};
use fwdlab_results::{Metric, Tick};

const RIGHT: f64 = 24.0;
const TOP: f64 = 92.0;
const FIELD: f64 = 240.0;
/// From the field of one panel to that of the next.
const GAP: f64 = 84.0;
/// Room that a label of an axis takes.
const LABEL: f64 = 44.0;
/// Said where the axis has a 0.
const ZERO: &str = " 0 stands beside the logarithmic axis.";

/// What the figure shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Curves {
    /// The experiment's title.
    pub title: String,
    /// The figure that is shown.
    pub metric: Metric,
    /// What a cost counts.
    pub tick: Tick,
    /// What is varied: `frame length in bytes`.
    pub axis: String,
    /// One for each family, or what else is the same within it.
    pub panels: Vec<Panel>,
}

/// Curves over one axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What they have in common: `IPv4`.
    pub label: String,
    /// The curves.
    pub curves: Vec<Curve>,
}

impl Panel {
    /// Its curves' names and the places of their colours.
    fn names(&self) -> Vec<(&str, usize)> {
        self.curves.iter().map(|curve| (curve.name.as_str(), curve.colour)).collect()
    }
}

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Name of the variant, or of the traffic where variants are the axis.
    pub name: String,
    /// Place of its colour.
    pub colour: usize,
    /// What it goes through, from the left.
    pub spots: Vec<Spot>,
}

/// A value of the axis, and what was measured there.
#[derive(Debug, Clone, PartialEq)]
pub struct Spot {
    /// The value.
    pub at: f64,
    /// Whose trials they are.
    pub traffic: String,
    /// With what set.
    pub variant: String,
    /// What they measured.
    pub summary: Summary,
}

impl Curves {
    /// Every value of the axis, ascending.
    fn values(&self) -> Vec<f64> {
        let curves = self.panels.iter().flat_map(|panel| &panel.curves);
        let mut values: Vec<f64> = curves.flat_map(|c| &c.spots).map(|spot| spot.at).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    /// Room above the field of each panel for what its legend and its label have beyond one row, in px.
    fn head_room(&self, sides: &Sides) -> f64 {
        let rooms =
            self.panels.iter().map(|panel| sides.legend_room(panel) + below(&sides.label(panel)));
        rooms.fold(0.0, f64::max)
    }

    /// The tick of the vertical axis.
    fn tick(&self) -> f64 {
        step(self.top(), 5)
    }

    /// The largest value of a trial and the largest median.
    fn largest(&self) -> (f64, f64) {
        let curves = self.panels.iter().flat_map(|panel| &panel.curves);
        curves.flat_map(|c| &c.spots).fold((0.0, 0.0), |(most, median), spot| {
            (f64::max(most, spot.summary.maximum), f64::max(median, spot.summary.median))
        })
    }

    /// The upper end of the field: rare trials do not dwarf the medians.
    fn top(&self) -> f64 {
        let (most, median) = self.largest();
        most.min(3.0 * median) * 1.08
    }
}

/// Where fields begin, and how wide the figure is.
struct Sides {
    left: f64,
    width: f64,
}

impl Sides {
    fn of(curves: &Curves, room: Room) -> Self {
        let (most, tick) = (curves.top(), curves.tick());
        let (size, _) = unit((curves.metric, curves.tick), most);
        let digits = decimals(tick / size);
        Self { left: left(&format!("{:.digits$}", most / size)), width: room.width() }
    }

    /// How wide a field is.
    fn field(&self) -> f64 {
        self.width - self.left - RIGHT
    }

    /// Room for the rows after the first of a panel's legend.
    fn legend_room(&self, panel: &Panel) -> f64 {
        legend::rows_of(panel.names(), self.field())
    }

    /// The label of a panel in lines.
    fn label(&self, panel: &Panel) -> Vec<String> {
        paneled(&panel.label, self.left, self.width)
    }
}

/// The logarithmic axis, with a place for 0 to the left of all that has a logarithm.
struct Axis {
    scale: Scale,
    zero: f64,
}

impl Axis {
    /// Of these values, ascending, between two places.
    fn of(values: &[f64], (left, right): (f64, f64)) -> Self {
        let has_zero = values.first() == Some(&0.0);
        let first = values.iter().find(|value| **value > 0.0).copied().unwrap_or(1.0);
        let last = values.last().copied().unwrap_or(first).max(first);
        let from = if has_zero { left + 0.2 * (right - left) } else { left };
        Self { scale: Scale::new((first.ln(), last.ln()), (from, right)), zero: left }
    }

    fn place(&self, value: f64) -> f64 {
        if value > 0.0 { self.scale.place(value.ln()) } else { self.zero }
    }
}

/// Draws one panel below the other, over a logarithmic axis.
pub fn curves(curves: &Curves, room: Room) -> Canvas {
    let sides = Sides::of(curves, room);
    let width = sides.width;
    let is_cut = curves.largest().0 > curves.top();
    let more = if is_cut { ", as far as the field goes" } else { "" };
    let beside = if curves.values().contains(&0.0) { ZERO } else { "" };
    let text = format!("Line: medians. Bars: minimum to maximum of the trials{more}.{beside}");
    let lines = caption(&text, width);
    let what = match curves.metric {
        Metric::Cost => "Device cost per frame".to_owned(),
        Metric::Own(_) => crate::title(curves.metric),
        Metric::Rate => "Rate".to_owned(),
    };
    let heading = Heading::of(&format!("{what} over {}", curves.axis), width);
    let title = titled(&curves.title, width);
    let last_of_title = 48.0 + heading.below() + below(&title);
    let first = TOP + heading.below() + below(&title);
    let panel = curves.head_room(&sides) + FIELD + GAP;
    let height = first + panel * curves.panels.len() as f64 + LINE * lines.len() as f64;
    let mut canvas = Canvas::new(width, height);
    heading.draw(&mut canvas);
    draw_above(&mut canvas, "faint", at(16.0, last_of_title), &title);
    let values = curves.values();
    let x = Axis::of(&values, (sides.left + 20.0, width - RIGHT - 20.0));
    for (k, own) in curves.panels.iter().enumerate() {
        let top = first + curves.head_room(&sides) + k as f64 * panel;
        draw_panel(&mut canvas, curves, own, (&x, &values, top, &sides));
    }
    for (k, line) in lines.iter().rev().enumerate() {
        canvas.text("faint", Anchor::Start, at(16.0, height - 10.0 - LINE * k as f64), line);
    }
    canvas
}

fn draw_panel(
    canvas: &mut Canvas,
    curves: &Curves,
    panel: &Panel,
    (x, values, top, sides): (&Axis, &[f64], f64, &Sides),
) {
    let (bottom, most, tick) = (top + FIELD, curves.top(), curves.tick());
    let (left, right) = (sides.left, sides.width - RIGHT);
    let y = Scale::new((0.0, most.max(tick)), (bottom, top));
    let (size, name) = unit((curves.metric, curves.tick), most);
    let digits = decimals(tick / size);
    for value in ticks(0.0, most, tick) {
        let place = y.place(value);
        let class = if value == 0.0 { "axis" } else { "grid" };
        canvas.line(class, at(left, place), at(right, place));
        let label = format!("{:.digits$}", value / size);
        canvas.text("faint", Anchor::End, at(left - 8.0, place + 4.0), &label);
    }
    canvas.text_upwards(at(22.0, f64::midpoint(top, bottom)), FIELD, name);
    for value in values {
        let place = x.place(*value);
        canvas.line("axis", at(place, bottom), at(place, bottom + 4.0));
    }
    for value in thinned(ends_first(values), LABEL, |value| x.place(*value)) {
        let place = x.place(value);
        canvas.text("faint", Anchor::Middle, at(place, bottom + 18.0), &format!("{value}"));
    }
    let middle = f64::midpoint(left, right);
    canvas.text("", Anchor::Middle, at(middle, bottom + 36.0), &curves.axis);
    let above = top - sides.legend_room(panel);
    draw_above(canvas, "strong", at(left, above - 24.0), &sides.label(panel));
    legend::draw_names(canvas, panel.names(), sides.field(), at(left + 6.0, above - 10.0));
    for curve in &panel.curves {
        draw_curve(canvas, curve, x, &y);
    }
}

/// The values in the order in which they want a label: how far the axis goes before what lies between.
fn ends_first(values: &[f64]) -> Vec<f64> {
    match values {
        [first, between @ .., last] => [&[*first, *last], between].concat(),
        few => few.to_vec(),
    }
}

fn draw_curve(canvas: &mut Canvas, curve: &Curve, x: &Axis, y: &Scale) {
    let place = |spot: &Spot| at(x.place(spot.at), y.place(spot.summary.median));
    for two in curve.spots.windows(2) {
        canvas.open(&[("class", "series"), ("data-variant", &two[1].variant)]);
        canvas.line(&format!("l{}", curve.colour), place(&two[0]), place(&two[1]));
        canvas.close();
    }
    for spot in &curve.spots {
        canvas.open(&[
            ("class", "series"),
            ("data-traffic", &spot.traffic),
            ("data-variant", &spot.variant),
        ]);
        let (x, middle) = (x.place(spot.at), place(spot));
        let [low, high] =
            [spot.summary.minimum, spot.summary.maximum].map(|end| y.place(end.min(y.range().1)));
        canvas.line("axis", at(x, low), at(x, high));
        canvas.legend_mark(&format!("f{}", curve.colour), curve.colour, middle);
        canvas.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_the_axis_has_a_place_and_each_variant_a_line() {
        let spot = |at: f64, variant: &str| Spot {
            at,
            traffic: format!("inet-{at}"),
            variant: variant.to_owned(),
            summary: Summary { minimum: 1e6, median: 2e6 / at, maximum: 2e6 },
        };
        let curve = |(colour, name): (usize, &str)| Curve {
            name: name.to_owned(),
            colour,
            spots: [64.0, 512.0, 1280.0, 1518.0].map(|at| spot(at, name)).to_vec(),
        };
        let drawn = Curves {
            title: "sizes".to_owned(),
            metric: Metric::Rate,
            tick: Tick::default(),
            axis: "frame length in bytes".to_owned(),
            panels: vec![Panel {
                label: "IPv4".to_owned(),
                curves: [(0, "radix"), (1, "modular")].map(curve).to_vec(),
            }],
        };
        for room in [Room::Page, Room::Phone] {
            let svg = curves(&drawn, room).into_document("t", "");
            for label in ["64", "512", "1518"] {
                assert!(svg.contains(&format!(">{label}</text>")), "{label}: {svg}");
            }
            // Each value has its tick; where labels would overlap, the last one stands.
            assert_eq!(svg.matches("class=\"l1\"").count(), 3);
            assert!(!svg.contains(">1280</text>"), "{svg}");
            assert!(!svg.contains("NaN"), "{svg}");
        }
    }

    /// Names of one panel ran out of the picture where it has the width of a telephone.
    #[test]
    fn a_legend_that_is_wider_than_the_figure_goes_on_below() {
        let summary = Summary { minimum: 1e6, median: 2e6, maximum: 2e6 };
        let names = ["radix4_lockless", "dpdk_lpm4", "bsearch4-patient", "direct4", "poptrie"];
        let curve = |(colour, name): (usize, &&str)| {
            let spot = |at: f64| Spot {
                at,
                traffic: "inet".to_owned(),
                variant: (*name).to_owned(),
                summary,
            };
            Curve {
                name: (*name).to_owned(),
                colour,
                spots: [20.0, 200.0, 2000.0].map(spot).to_vec(),
            }
        };
        let curves_of = names.iter().enumerate().map(curve).collect();
        let panels = vec![Panel { label: "IPv4, 20 flows".to_owned(), curves: curves_of }];
        let drawn = Curves {
            title: "flows".to_owned(),
            metric: Metric::Rate,
            tick: Tick::default(),
            axis: "flows".to_owned(),
            panels,
        };
        let legend = |room: Room| {
            let svg = curves(&drawn, room).into_document("t", "");
            let text = |name: &&str| {
                let line = svg.lines().find(|line| line.contains(&format!(">{name}</text>")));
                let line = line.unwrap_or_else(|| panic!("no {name} in {svg}"));
                let at = |key: &str| -> f64 {
                    let from = line.find(key).expect("a place") + key.len();
                    let number = line[from..].split('"').next().expect("its number");
                    number.parse().expect("a number")
                };
                (at(" x=\""), at(" y=\""), name.len() as f64 * 6.0)
            };
            (names.iter().map(text).collect::<Vec<_>>(), room.width())
        };
        for room in [Room::Page, Room::Phone] {
            let (places, width) = legend(room);
            for (x, _, long) in &places {
                assert!(x + long <= width, "{places:?} in {width}");
            }
            let rows: std::collections::BTreeSet<u64> = places.iter().map(|p| p.1 as u64).collect();
            assert_eq!(rows.len() > 1, matches!(room, Room::Phone), "{places:?}");
        }
    }

    #[test]
    fn no_routes_at_all_have_a_place_beside_the_logarithms() {
        let axis = Axis::of(&[0.0, 1000.0, 900_000.0], (100.0, 600.0));
        assert_eq!([0.0, 1000.0, 900_000.0].map(|value| axis.place(value)), [100.0, 200.0, 600.0]);
        let axis = Axis::of(&[10.0, 100.0, 1000.0], (100.0, 600.0));
        assert!((axis.place(100.0) - 350.0).abs() < 1e-9);
    }
}
