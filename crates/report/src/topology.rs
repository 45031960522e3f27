//! The topology as a drawing: where frames come from, through what, where to.

use fwdlab_claims::claim::Claims;
use fwdlab_claims::setting::TrafficSetting;
use fwdlab_figures::{Anchor, Canvas, Room, at};
use fwdlab_guard::names::apart;
use fwdlab_results::units;

/// Draws tester, device and what flows between them; from above to below for a narrow screen.
pub fn topology(claims: &Claims, room: Room) -> Canvas {
    match room {
        Room::Page => in_a_row(claims),
        Room::Phone => in_a_column(claims),
    }
}

/// The boxes with what stands in them.
fn boxes(claims: &Claims) -> [(&'static str, &str); 3] {
    let is_both = claims.setting.traffics.iter().any(|traffic| traffic.is_both_ways);
    let [first, last] =
        if is_both { ["sends and checks"; 2] } else { ["sender", "receiver, checks"] };
    [("tester", first), ("device", &claims.setting.device), ("tester", last)]
}

/// The names of the traffics in so many characters.
fn names(traffics: &[TrafficSetting], most: usize) -> Vec<String> {
    apart(&traffics.iter().map(|traffic| &traffic.name).collect::<Vec<_>>(), most)
}

fn in_a_row(claims: &Claims) -> Canvas {
    let traffics = &claims.setting.traffics;
    let height = 96.0 + 34.0 * traffics.len().max(1) as f64;
    let mut canvas = Canvas::new(800.0, height);
    let bottom = height - 26.0;
    let link = claims.setting.about.link.word();
    let places = [(16.0, 130.0), (320.0, 160.0), (654.0, 130.0)];
    for ((x, width), (name, detail)) in places.into_iter().zip(boxes(claims)) {
        canvas.rect("box", at(x, 16.0), at(x + width, bottom));
        canvas.text("strong", Anchor::Middle, at(x + width / 2.0, 38.0), name);
        canvas.text("faint", Anchor::Middle, at(x + width / 2.0, 54.0), detail);
    }
    // so many characters stand in the box
    for (k, (traffic, name)) in traffics.iter().zip(names(traffics, 20)).enumerate() {
        draw_traffic(&mut canvas, (traffic, &name), 86.0 + 34.0 * k as f64);
    }
    for x in [233.0, 567.0] {
        canvas.text("faint", Anchor::Middle, at(x, bottom + 18.0), link);
    }
    canvas
}

fn in_a_column(claims: &Claims) -> Canvas {
    const BOX: f64 = 46.0;
    let traffics = &claims.setting.traffics;
    let between = 24.0 + 32.0 * traffics.len() as f64;
    let width = Room::Phone.width();
    let mut canvas = Canvas::new(width, 3.0 * BOX + 2.0 * between + 20.0);
    let mut y = 8.0;
    for (k, (name, detail)) in boxes(claims).into_iter().enumerate() {
        canvas.rect("box", at(16.0, y), at(width - 16.0, y + BOX));
        canvas.text("strong", Anchor::Middle, at(width / 2.0, y + 20.0), name);
        canvas.text("faint", Anchor::Middle, at(width / 2.0, y + 36.0), detail);
        y += BOX;
        if k == 2 {
            break;
        }
        let end = y + between;
        let is_both = traffics.iter().any(|traffic| traffic.is_both_ways);
        canvas.arrow(at(40.0, y), at(40.0, end), is_both);
        canvas.text(
            "faint",
            Anchor::End,
            at(width - 16.0, y + 16.0),
            claims.setting.about.link.word(),
        );
        // and so many beside the arrow
        for (n, (traffic, name)) in traffics.iter().zip(names(traffics, 40)).enumerate() {
            let top = y + 30.0 + 32.0 * n as f64;
            canvas.open(&[("class", "traffic"), ("data-traffic", &traffic.name)]);
            canvas.text("", Anchor::Start, at(56.0, top), &name);
            let about = if k == 0 { flows(traffic) } else { frames(traffic) };
            canvas.text("faint", Anchor::Start, at(56.0, top + 14.0), &about);
            canvas.close();
        }
        y = end;
    }
    canvas
}

/// How many flows, where that is known, at which load.
fn flows(traffic: &TrafficSetting) -> String {
    match traffic.flows {
        Some(flows) => format!("{}, {}", units::counted(flows, "flow"), traffic.load),
        None => traffic.load.clone(),
    }
}

/// Of which kind its frames are, and whether they go both ways.
fn frames(traffic: &TrafficSetting) -> String {
    let ways = if traffic.is_both_ways { ", both ways" } else { "" };
    format!("{}, {} bytes{ways}", traffic.family.title(), traffic.frame_bytes)
}

fn draw_traffic(canvas: &mut Canvas, (traffic, name): (&TrafficSetting, &str), y: f64) {
    canvas.open(&[("class", "traffic"), ("data-traffic", &traffic.name)]);
    for (from, to) in [(146.0, 320.0), (480.0, 654.0)] {
        canvas.arrow(at(from, y), at(to, y), traffic.is_both_ways);
    }
    canvas.text("faint", Anchor::Middle, at(229.0, y - 6.0), &flows(traffic));
    canvas.text("faint", Anchor::Middle, at(567.0, y - 6.0), &frames(traffic));
    canvas.text("", Anchor::Middle, at(400.0, y + 4.0), name);
    canvas.close();
}
