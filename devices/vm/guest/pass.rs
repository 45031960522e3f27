//! `pass SEND RECEIVE FRAMES WAY DURATION INTERVAL KHZ [IDLE IDLE]`: sends the frames of a file in a circle on
//! one interface, receives them from another, and prints what was counted as JSON. Times are in
//! ns; KHZ is how fast the time stamp counter ticks. WAY is `cable`, `device`, or `tried`: through the device, to see
//! whether anything comes back, and nothing is done before. With two interfaces over which nothing goes, the receiver's
//! place is chosen first.

use crate::place;
use crate::sys::{self, Arguments, OUTPUT};
use crate::tester::{PATIENCE, Tester, in_ns};
use crate::text::{Done, Problem, Text, number};

/// So long nothing is counted: the kernel's own threads find their places among each other within
/// the first 80 ms.
const SETTLING_MS: u64 = 150;

const MOST_INTERVALS: usize = 100_000;

/// Turns without a frame after which those missing are lost, where frames are only tried: as long as none comes back,
/// many are to be sent.
const PATIENCE_OF_TRIES: u32 = 50;

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Cable,
    Device,
    Tried,
}

struct Settings {
    way: Way,
    ticks: u64,
    interval: u64,
    khz: u64,
}

impl Settings {
    fn of(arguments: &Arguments) -> Option<Self> {
        let khz = number(arguments.get(8))?;
        let in_ticks = |ns: u64| (u128::from(ns) * u128::from(khz) / 1_000_000) as u64;
        Some(Self {
            way: match arguments.get(5) {
                b"cable" => Way::Cable,
                b"device" => Way::Device,
                b"tried" => Way::Tried,
                _ => return None,
            },
            ticks: in_ticks(number(arguments.get(6))?),
            interval: in_ticks(number(arguments.get(7))?),
            khz,
        })
    }
}

pub fn run(arguments: &Arguments) -> Done {
    let settings = Settings::of(arguments).ok_or(Problem::new("a word or number is none"))?;
    let mut tester = Tester::open(arguments, settings.way == Way::Cable)?;
    let mut text = Text::with_room(8 << 20).map_err(Problem::with("no memory"))?;
    // It waits for what is lost.
    text.put(b"{\"waits\":true,\"intervals\":[");
    if settings.way == Way::Device {
        tester.look_back(arguments.get(2))?;
    }
    if settings.way != Way::Tried {
        tester.settle(SETTLING_MS * settings.khz)?;
        tester.look_ahead();
        place::choose(&mut tester, arguments, settings.khz)?;
    }
    send(&mut tester, &settings, &mut text)?;
    text.put(b"]");
    tester.sum(&mut text);
    OUTPUT.write_all(text.bytes()).map_err(Problem::with("cannot write"))
}

fn send(tester: &mut Tester, settings: &Settings, text: &mut Text) -> Done {
    let start = sys::ticks();
    let (mut interval_start, mut interval_sent, mut interval_received) =
        (start, tester.sent, tester.arrivals.received);
    let mut intervals = 0;
    let patience = if settings.way == Way::Tried { PATIENCE_OF_TRIES } else { PATIENCE };
    loop {
        tester.send_batch(patience)?;
        let now = sys::ticks();
        let (sent, received) = (tester.sent, tester.arrivals.received);
        if now - interval_start >= settings.interval && intervals < MOST_INTERVALS {
            text.put(if intervals > 0 { b"," } else { b"" });
            text.put(b"{\"ns\":").number(in_ns(now - interval_start, settings.khz));
            text.put(b",\"sent\":").number(sent - interval_sent);
            text.put(b",\"received\":").number(received - interval_received).put(b"}");
            intervals += 1;
            (interval_start, interval_sent, interval_received) = (now, sent, received);
        }
        if now - start >= settings.ticks {
            return Ok(());
        }
    }
}
