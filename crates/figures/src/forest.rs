//! The forest plot: every verdict as an estimate with its interval, against
//! the band in which a difference does not matter.

use crate::canvas::{Anchor, CHARACTER, Canvas, at};
use crate::label::{below, bold_columns, columns, draw_above, paneled};
use crate::scale::{Ratios, thinned};
use crate::{Room, caption};
use fwdlab_guard::names::apart;
use fwdlab_stats::plain_percent;

const TOP: f64 = 84.0;
/// Room that a label of the axis takes.
const LABEL: f64 = 62.0;

/// From the plot to the words beside it.
const BESIDE: f64 = 16.0;

/// Where the lines of the axis stand in a row of a narrow plot, below its names and above its words.
const LANE: (f64, f64) = (24.0, 50.0);

/// Characters of a title in narrow plots.
const WIDEST_TITLE: usize = 28;

/// What the plot shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    /// The heading: `Change against radix`.
    pub title: String,
    /// The margin in per cent.
    pub margin_percent: f64,
    /// The words for better and worse.
    pub words: [&'static str; 2],
    /// One row per traffic and variant.
    pub rows: Vec<ForestRow>,
    /// The confidence of the intervals in per cent: `95`.
    pub level: String,
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

/// An estimate with its interval, in per cent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub estimate: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Where the parts of the plot stand.
struct Layout {
    width: f64,
    left: f64,
    right: f64,
    /// Where the first row begins.
    top: f64,
    row: f64,
    /// Words stand above and below the interval instead of beside it.
    is_narrow: bool,
}

impl Layout {
    /// Beside long words the plot itself is narrower.
    fn of(room: Room, rows: &[ForestRow]) -> Self {
        /// The least width of the plot.
        const LEAST: f64 = 200.0;
        match room {
            Room::Page => {
                let (width, left) = (800.0, 190.0);
                let words = rows.iter().flat_map(|row| [&row.text, &row.detail]);
                let longest = words.map(|words| words.chars().count()).max().unwrap_or(0);
                let right = width - BESIDE - CHARACTER * longest as f64;
                let right = right.clamp(left + LEAST, 560.0);
                Self { width, left, right, top: TOP, row: 44.0, is_narrow: false }
            }
            Room::Phone => {
                let [left, right] = [16.0, 344.0];
                Self { width: 360.0, left, right, top: TOP, row: 88.0, is_narrow: true }
            }
        }
    }
}

/// Draws the plot for a page or a file.
pub fn forest(forest: &Forest) -> Canvas {
    forest_in(forest, Room::Page)
}

/// Draws the plot where there is so much room.
pub fn forest_in(forest: &Forest, room: Room) -> Canvas {
    // a long one in smaller letters, on as many lines as it takes
    let share = room.width() / Room::Phone.width();
    let is_long = forest.title.chars().count() > (WIDEST_TITLE as f64 * share) as usize;
    let title = match is_long {
        true => paneled(&forest.title, 16.0, room.width()),
        false => vec![forest.title.clone()],
    };
    let layout = Layout { top: TOP + below(&title), ..Layout::of(room, &forest.rows) };
    let x = scale(forest, &layout);
    let is_cut = forest.rows.iter().flat_map(|row| [row.deciding, row.other]).flatten();
    let is_cut = is_cut.into_iter().any(|e| x.is_beyond(e.low) || x.is_beyond(e.high));
    let more = if is_cut { " Arrows: the interval goes on." } else { "" };
    let lines = caption(&format!("{}{more}", forest.caption), layout.width);
    let bottom = layout.top + layout.row * forest.rows.len() as f64;
    let height = bottom + 60.0 + 15.0 * lines.len() as f64;
    let mut canvas = Canvas::new(layout.width, height);
    let head = below(&title);
    let class = if is_long { "strong" } else { "title" };
    draw_above(&mut canvas, class, at(16.0, 28.0 + head), &title);
    let units = match x.ticks(LABEL).iter().any(|(_, label)| label.starts_with('x')) {
        true => "in per cent, far ones as factors",
        false => "in per cent on a scale of ratios",
    };
    let what = format!("{units}, with {} % interval", forest.level);
    canvas.text("faint", Anchor::Start, at(16.0, 48.0 + head), &what);
    draw_axis(&mut canvas, forest, (&x, &layout), bottom);
    let names = names(&forest.rows, &layout);
    for (k, row) in forest.rows.iter().zip(&names).enumerate() {
        draw_row(&mut canvas, row, (&x, &layout), layout.top + k as f64 * layout.row);
    }
    for (k, line) in lines.iter().enumerate() {
        canvas.text("faint", Anchor::Start, at(16.0, bottom + 60.0 + 15.0 * k as f64), line);
    }
    canvas
}

/// Holds zero, the margin band, every estimate, and intervals as far as they do not dwarf these.
fn scale(forest: &Forest, layout: &Layout) -> Ratios {
    let estimates = || forest.rows.iter().flat_map(|r| [r.deciding, r.other]).flatten();
    let ln = Ratios::logarithm;
    let margin = ln(forest.margin_percent);
    let deciding = forest.rows.iter().filter_map(|row| row.deciding);
    let farthest = deciding.map(|e| ln(e.estimate).abs()).fold(0.0, f64::max);
    let reach = (3.0 * farthest).max(4.0 * margin).max(ln(2.0));
    let low = estimates().map(|e| ln(e.low)).fold(-1.5 * margin, f64::min).max(-reach);
    let high = estimates().map(|e| ln(e.high)).fold(1.5 * margin, f64::max).min(reach);
    let air = 0.05 * (high - low);
    Ratios::new((low - air, high + air), (layout.left, layout.right))
}

fn draw_axis(canvas: &mut Canvas, forest: &Forest, (x, layout): (&Ratios, &Layout), bottom: f64) {
    let (margin, top) = (forest.margin_percent, layout.top);
    let lanes = lanes(&forest.rows, layout);
    for (from, to) in &lanes {
        canvas.rect("band", at(x.place(-margin), *from), at(x.place(margin), *to));
    }
    let mut upright = |class, place| {
        for (from, to) in &lanes {
            canvas.line(class, at(place, *from), at(place, *to));
        }
    };
    let ticks = thinned(x.ticks(LABEL), LABEL, |(value, _)| x.place(*value));
    ticks.iter().for_each(|(value, _)| upright("grid", x.place(*value)));
    upright("zero", x.place(0.0));
    for (value, label) in ticks {
        let half = 0.5 * label.chars().count() as f64 * CHARACTER;
        let middle = x.place(value).clamp(half, (layout.width - half).max(half));
        canvas.text("faint", Anchor::Middle, at(middle, bottom + 16.0), &label);
    }
    let label = format!("margin ±{}", plain_percent(margin));
    let half = 40.0;
    let middle = x.place(0.0).clamp(layout.left + half, layout.right - half);
    canvas.text("faint", Anchor::Middle, at(middle, top - 12.0), &label);
    let [better, worse] = forest.words;
    canvas.text("faint", Anchor::Start, at(layout.left, bottom + 34.0), &format!("← {worse}"));
    canvas.text("faint", Anchor::End, at(layout.right, bottom + 34.0), &format!("{better} →"));
}

/// Where the lines of the axis stand, from above to below: beside every interval, and nowhere else, so that no
/// words stand upon them.
fn lanes(rows: &[ForestRow], layout: &Layout) -> Vec<(f64, f64)> {
    let shown = rows.iter().enumerate().filter(|(_, row)| row.deciding.is_some());
    shown
        .map(|(k, _)| layout.top + k as f64 * layout.row)
        .map(|top| match layout.is_narrow {
            true => (top + LANE.0, top + LANE.1),
            false if top == layout.top => (top - 6.0, top + layout.row),
            false => (top, top + layout.row),
        })
        .collect()
}

/// The names of the rows, variant and traffic, in the room that they have.
fn names(rows: &[ForestRow], layout: &Layout) -> Vec<[String; 2]> {
    let variants: Vec<&str> = rows.iter().map(|row| row.variant.as_str()).collect();
    let traffics: Vec<&str> = rows.iter().map(|row| row.traffic.as_str()).collect();
    let most = if layout.is_narrow {
        // on one line, a character apart: each has half of it, or what the other one leaves
        let line = bold_columns(layout.right - 16.0) - 1;
        let longest = |all: &[&str]| all.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let left = |other: usize| line.saturating_sub(other).max(line / 2);
        [left(longest(&traffics)), left(longest(&variants))]
    } else {
        let room = layout.left - 14.0;
        [bold_columns(room), columns(room)]
    };
    let [variants, traffics] = [apart(&variants, most[0]), apart(&traffics, most[1])];
    variants.into_iter().zip(traffics).map(<[String; 2]>::from).collect()
}

fn draw_row(
    canvas: &mut Canvas,
    (row, [variant, traffic]): (&ForestRow, &[String; 2]),
    (x, layout): (&Ratios, &Layout),
    top: f64,
) {
    canvas.open(&[
        ("class", "series"),
        ("data-traffic", &row.traffic),
        ("data-variant", &row.variant),
    ]);
    let y = if layout.is_narrow { top + 36.0 } else { top + 0.5 * layout.row };
    if layout.is_narrow {
        canvas.text("strong", Anchor::Start, at(16.0, top + 18.0), variant);
        canvas.text("faint", Anchor::End, at(layout.right, top + 18.0), traffic);
        canvas.text("strong", Anchor::Start, at(16.0, top + 62.0), &row.text);
        canvas.text("faint", Anchor::Start, at(16.0, top + 77.0), &row.detail);
    } else {
        canvas.text("strong", Anchor::End, at(layout.left - 14.0, y - 2.0), variant);
        canvas.text("faint", Anchor::End, at(layout.left - 14.0, y + 13.0), traffic);
        canvas.text("strong", Anchor::Start, at(layout.right + BESIDE, y - 2.0), &row.text);
        canvas.text("faint", Anchor::Start, at(layout.right + BESIDE, y + 13.0), &row.detail);
    }
    if let Some(other) = row.other {
        draw_interval(canvas, other, x, ("axis", y + 9.0, 3.0));
        if !x.is_beyond(other.estimate) {
            let place = x.place(other.estimate);
            canvas.line("axis", at(place, y + 6.0), at(place, y + 12.0));
        }
    }
    match row.deciding {
        Some(e) => {
            draw_interval(canvas, e, x, (&format!("l{}", row.colour), y - 4.0, 5.0));
            let place = at(x.place(e.estimate), y - 4.0);
            canvas.legend_mark(&format!("f{}", row.colour), row.colour, place);
        }
        // No line of the axis stands there.
        None => {
            let middle = 0.5 * (layout.left + layout.right);
            canvas.text("warn-text", Anchor::Middle, at(middle, y + 4.0), "no comparison");
        }
    }
    canvas.close();
}

/// The interval as a line, its ends as bars, or as arrows where it goes on.
fn draw_interval(
    canvas: &mut Canvas,
    estimate: Estimate,
    x: &Ratios,
    (class, y, half): (&str, f64, f64),
) {
    let [low, high] = [estimate.low, estimate.high].map(|end| x.place(end));
    canvas.line(class, at(low, y), at(high, y));
    for (end, value, inwards) in [(low, estimate.low, half), (high, estimate.high, -half)] {
        if x.is_beyond(value) {
            canvas.line(class, at(end, y), at(end + inwards, y - half));
            canvas.line(class, at(end, y), at(end + inwards, y + half));
        } else {
            canvas.line(class, at(end, y - half), at(end, y + half));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(low: f64, high: f64) -> Forest {
        let estimate = Estimate { estimate: 12.0, low, high };
        let row = ForestRow {
            traffic: "inet-64".to_owned(),
            variant: "modular".to_owned(),
            colour: 1,
            deciding: Some(estimate),
            other: None,
            text: "faster +12 %".to_owned(),
            detail: String::new(),
        };
        Forest {
            title: "Change against radix".to_owned(),
            margin_percent: 1.0,
            words: ["faster", "slower"],
            rows: vec![row],
            level: "95".to_owned(),
            caption: "Mark: estimate.".to_owned(),
        }
    }

    /// "inet4, r368287D27401v2: 2 machines" ran over the edge at 400 px.
    #[test]
    fn a_long_title_stays_within_a_narrow_plot() {
        let titled = |title: &str, room: Room| {
            let own = Forest { title: title.to_owned(), ..plot(10.0, 14.0) };
            forest_in(&own, room).into_document("t", "")
        };
        let long = "inet4, r368287D27401v2: 2 machines";
        let is_large = |svg: &str| svg.contains("class=\"title\"");
        assert!(is_large(&titled(long, Room::Page)) && !is_large(&titled(long, Room::Phone)));
        assert!(titled(long, Room::Phone).contains(long));
        assert!(is_large(&titled("Change against radix", Room::Phone)));
        let twice = titled(&long.repeat(2), Room::Phone);
        assert!(
            twice.contains("machinesinet4,</text>") && !twice.contains(&long.repeat(2)),
            "{twice}"
        );
    }

    /// The zero line went through variants' names and verdicts at 400 px, and through "no comparison".
    #[test]
    fn no_line_of_the_axis_goes_through_words() {
        let mut own = plot(-14.0, 14.0);
        own.rows[0].text = "inconclusive, and so many words that they reach across".to_owned();
        own.rows[0].variant = "a-variant-whose-name-is-long".to_owned();
        own.rows.extend([own.rows[0].clone(), own.rows[0].clone()]);
        own.rows[1].deciding = None;
        for room in [Room::Page, Room::Phone] {
            let drawn = forest_in(&own, room).into_document("t", "");
            let number = |tag: &str, name: &str| -> f64 {
                let (_, rest) = tag.split_once(&format!(" {name}=\"")).expect("an attribute");
                rest.split('"').next().and_then(|n| n.parse().ok()).expect("a number")
            };
            let axis =
                |tag: &&str| tag.starts_with("class=\"zero\"") || tag.starts_with("class=\"grid\"");
            let lines: Vec<[f64; 3]> = drawn
                .split("<line ")
                .filter(axis)
                .map(|tag| ["x1", "y1", "y2"].map(|n| number(tag, n)))
                .collect();
            assert!(lines.len() >= 4, "{room:?}: {drawn}");
            let (_, rows) = drawn.split_once("class=\"series\"").expect("rows");
            for tag in rows.split("<text ").skip(1).filter(|tag| tag.contains("</text>")) {
                let words = tag.split(['>', '<']).nth(1).unwrap_or_default();
                let (x, y) = (number(tag, "x"), number(tag, "y"));
                let wide = crate::label::bold(words);
                let from = match () {
                    () if tag.contains("text-anchor=\"end\"") => x - wide,
                    () if tag.contains("text-anchor=\"middle\"") => x - 0.5 * wide,
                    () => x,
                };
                // letters reach 10 px above the line on which they stand, and 3 below
                let is_on = |[at, top, end]: &&[f64; 3]| {
                    (from..from + wide).contains(at) && *top < y + 3.0 && y - 10.0 < *end
                };
                // what stands below the plot has no lines
                assert_eq!(lines.iter().find(is_on), None, "{room:?}: {words:?} at {x}, {y}");
            }
        }
    }

    /// Names of 64 characters stood upon each other at 400 px, and without their beginning at 1400.
    #[test]
    fn long_names_are_cut_to_their_room() {
        let long = |first: &str, last: &str| format!("{first}{}{last}", "x".repeat(60));
        for room in [Room::Page, Room::Phone] {
            let mut own = plot(10.0, 14.0);
            (own.rows[0].variant, own.rows[0].traffic) = (long("v1", "ab"), long("t1", "cd"));
            own.title = long("Change against ", &"x".repeat(40));
            let drawn = forest_in(&own, room).into_document("t", "");
            let texts = drawn.split("</text>").filter_map(|text| text.rsplit('>').next());
            let names: Vec<&str> = texts.filter(|text| text.contains('…')).collect();
            let [variant, traffic] = names[..] else { panic!("{room:?}: {names:?}") };
            assert!(variant.starts_with("v1x") && variant.ends_with("xab"), "{variant}");
            assert!(traffic.starts_with("t1x") && traffic.ends_with("xcd"), "{traffic}");
            // bold letters are wider
            let length = |text: &str, each: f64| each * text.chars().count() as f64;
            let (used, there) = match room {
                Room::Page => (length(variant, 8.0), 176.0),
                Room::Phone => (length(variant, 8.0) + length(traffic, CHARACTER), 328.0),
            };
            assert!(used <= there, "{room:?}: {used}");
        }
    }

    /// Two machines of one name but for its middle had the same name beside both intervals.
    #[test]
    fn rows_that_differ_in_the_middle_of_their_names_stay_different() {
        let mut own = plot(10.0, 14.0);
        own.rows.push(own.rows[0].clone());
        for (row, middle) in own.rows.iter_mut().zip(["before", "after"]) {
            row.variant = format!("{0}{middle}{0}", "x".repeat(40));
        }
        for room in [Room::Page, Room::Phone] {
            let drawn = forest_in(&own, room).into_document("t", "");
            let text = |middle: &str| drawn.contains(&format!("…{middle}…"));
            assert!(text("before") && text("after"), "{room:?}: {drawn}");
        }
    }

    /// "device cost [below x0.001, above x1000" stood there, without its end.
    #[test]
    fn words_beside_the_plot_stay_within_it() {
        let mut own = plot(10.0, 14.0);
        assert_eq!(Layout::of(Room::Page, &own.rows).right, 560.0);
        own.rows[0].detail = "device cost [below x0.001, above x1000]".to_owned();
        let layout = Layout::of(Room::Page, &own.rows);
        let end = layout.right + BESIDE + CHARACTER * own.rows[0].detail.len() as f64;
        assert!(end <= layout.width && layout.right > layout.left + 200.0, "{end}");
    }

    #[test]
    fn an_interval_without_end_is_cut_and_marked() {
        for room in [Room::Page, Room::Phone] {
            let wild = forest_in(&plot(-100.0, 2e6), room).into_document("t", "");
            assert!(wild.contains("Arrows: the interval goes on."), "{wild}");
            assert!(!wild.contains("NaN") && !wild.contains("inf"), "{wild}");
            let tame = forest_in(&plot(10.0, 14.0), room).into_document("t", "");
            assert!(!tame.contains("Arrows"), "{tame}");
        }
    }

    /// "margin ±0.06999999999999999 %" stood there.
    #[test]
    fn a_margin_stands_there_as_it_was_written() {
        let own = Forest { margin_percent: 0.0007 * 100.0, ..plot(10.0, 14.0) };
        let drawn = forest_in(&own, Room::Page).into_document("t", "");
        assert!(drawn.contains(">margin ±0.07 %</text>"), "{drawn}");
    }

    /// "in per cent" stood above an axis of x20 and x50.
    #[test]
    fn the_head_names_the_unit_of_the_axis() {
        let drawn = |estimate: f64| {
            let mut own = plot(0.9 * estimate, 1.1 * estimate);
            own.rows[0].deciding = Some(Estimate { estimate, low: estimate, high: estimate });
            forest_in(&own, Room::Page).into_document("t", "")
        };
        let (near, far) = (drawn(12.0), drawn(4_000.0));
        assert!(
            near.contains("in per cent on a scale of ratios") && !near.contains(">x"),
            "{near}"
        );
        assert!(far.contains("in per cent, far ones as factors") && far.contains(">x"), "{far}");
    }

    #[test]
    fn twice_and_half_are_equally_far_from_nothing() {
        let x = Ratios::new((-2.0, 2.0), (0.0, 400.0));
        let (up, down) = (x.place(100.0) - x.place(0.0), x.place(0.0) - x.place(-50.0));
        assert!((up - down).abs() < 1e-9);
        assert!(x.is_beyond(-100.0) && x.place(-100.0) == 0.0);
    }
}
