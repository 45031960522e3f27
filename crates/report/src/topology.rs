//! The topology as a drawing: where frames come from, through what, where to.

use fwdlab_claims::claim::Claims;
use fwdlab_claims::setting::TrafficSetting;
use fwdlab_figures::{Anchor, Canvas, Room, at};
use fwdlab_results::units;

/// Draws tester, device and what flows between them.
pub fn topology(claims: &Claims) -> Canvas {
    let traffics = &claims.setting.traffics;
    let height = 96.0 + 34.0 * traffics.len().max(1) as f64;
    let mut canvas = Canvas::new(800.0, height);
    let bottom = height - 26.0;
    let link = claims.setting.about.link.word();
    for (x, width, name, detail) in [
        (16.0, 130.0, "tester", "sender"),
        (320.0, 160.0, "device", claims.setting.device.as_str()),
        (654.0, 130.0, "tester", "receiver, checks"),
    ] {
        canvas.rect("box", at(x, 16.0), at(x + width, bottom));
        canvas.text("strong", Anchor::Middle, at(x + width / 2.0, 38.0), name);
        canvas.text("faint", Anchor::Middle, at(x + width / 2.0, 54.0), detail);
    }
    for (k, traffic) in traffics.iter().enumerate() {
        draw_traffic(&mut canvas, traffic, 86.0 + 34.0 * k as f64);
    }
    for x in [233.0, 567.0] {
        canvas.text("faint", Anchor::Middle, at(x, bottom + 18.0), link);
    }
    canvas
}

/// The same from above to below, for a narrow screen.
pub fn topology_in_a_column(claims: &Claims) -> Canvas {
    const BOX: f64 = 46.0;
    let traffics = &claims.setting.traffics;
    let between = 24.0 + 32.0 * traffics.len() as f64;
    let width = Room::Phone.width();
    let mut canvas = Canvas::new(width, 3.0 * BOX + 2.0 * between + 20.0);
    let mut y = 8.0;
    let boxes = [
        ("tester", "sender"),
        ("device", claims.setting.device.as_str()),
        ("tester", "receiver, checks"),
    ];
    for (k, (name, detail)) in boxes.into_iter().enumerate() {
        canvas.rect("box", at(16.0, y), at(width - 16.0, y + BOX));
        canvas.text("strong", Anchor::Middle, at(width / 2.0, y + 20.0), name);
        canvas.text("faint", Anchor::Middle, at(width / 2.0, y + 36.0), detail);
        y += BOX;
        if k == 2 {
            break;
        }
        let end = y + between;
        canvas.line("whisker", at(40.0, y), at(40.0, end));
        canvas.line("whisker", at(35.0, end - 8.0), at(40.0, end));
        canvas.line("whisker", at(45.0, end - 8.0), at(40.0, end));
        canvas.text(
            "faint",
            Anchor::End,
            at(width - 16.0, y + 16.0),
            claims.setting.about.link.word(),
        );
        for (n, traffic) in traffics.iter().enumerate() {
            let top = y + 30.0 + 32.0 * n as f64;
            canvas.open(&[("class", "traffic"), ("data-traffic", &traffic.name)]);
            canvas.text("", Anchor::Start, at(56.0, top), &traffic.name);
            let about = match k {
                0 => flows(traffic),
                _ => format!("{}, {} bytes", traffic.family.title(), traffic.frame_bytes),
            };
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
        Some(1) => format!("1 flow, {}", traffic.load),
        Some(flows) => format!("{} flows, {}", units::count(flows), traffic.load),
        None => traffic.load.clone(),
    }
}

fn draw_traffic(canvas: &mut Canvas, traffic: &TrafficSetting, y: f64) {
    canvas.open(&[("class", "traffic"), ("data-traffic", &traffic.name)]);
    for (from, to) in [(146.0, 320.0), (480.0, 654.0)] {
        canvas.line("whisker", at(from, y), at(to, y));
        canvas.line("whisker", at(to - 8.0, y - 5.0), at(to, y));
        canvas.line("whisker", at(to - 8.0, y + 5.0), at(to, y));
    }
    canvas.text("faint", Anchor::Middle, at(229.0, y - 6.0), &flows(traffic));
    let frames = format!("{}, {} bytes", traffic.family.title(), traffic.frame_bytes);
    canvas.text("faint", Anchor::Middle, at(567.0, y - 6.0), &frames);
    canvas.text("", Anchor::Middle, at(400.0, y + 4.0), &traffic.name);
    canvas.close();
}
