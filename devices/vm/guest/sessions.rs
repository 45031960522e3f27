//! `sessions SEND RECEIVE FRAMES MEASURE LIFETIME DURATION KHZ`: sends rounds of sessions through the device,
//! each from an empty table, and prints what was counted as JSON. Each frame of the file begins a
//! session; the same frame again is one of its later ones.
//!
//! The table is not ours to read: the tester sits in a jail, which has a table of its own. The script
//! outside is asked by a line on descriptor 3 (`empty`, `count`, `room`, `refused`, at the end `over`) and answers
//! with a number in a line on descriptor 4.

use crate::sys::{self, Arguments, File, OUTPUT};
use crate::tester::{PATIENCE, Tester, in_ns};
use crate::text::{Done, Problem, Text, number, trimmed};

const ASK: File = File(3);
const ANSWER: File = File(4);

/// Rounds before anything counts, and how many are counted at least and at most.
const WARM: u32 = 2;
const FEWEST: u32 = 3;
const MOST: u32 = 12;

/// Turns without a frame after which those missing are lost, where frames are refused: they are refused at once.
const PATIENCE_WITH_REFUSALS: u32 = 3;

#[derive(Clone, Copy, PartialEq)]
enum Measure {
    Insertion,
    Lookup,
    FullTable,
}

struct Settings {
    measure: Measure,
    lifetime: u64,
    ns: u64,
    khz: u64,
}

impl Settings {
    fn of(arguments: &Arguments) -> Option<Self> {
        Some(Self {
            measure: match arguments.get(5) {
                b"insertion" => Measure::Insertion,
                b"lookup" => Measure::Lookup,
                b"full-table" => Measure::FullTable,
                _ => return None,
            },
            lifetime: number(arguments.get(6))?,
            ns: number(arguments.get(7))?,
            khz: number(arguments.get(8))?,
        })
    }
}

pub fn run(arguments: &Arguments) -> Done {
    let done = rounds(arguments);
    // Also where something failed: the script waits for it.
    let _ = ASK.write_all(b"over\n");
    done
}

fn rounds(arguments: &Arguments) -> Done {
    let settings = Settings::of(arguments).ok_or(Problem::new("a word or number is none"))?;
    let mut tester = Tester::open(arguments, false)?;
    tester.look_back(arguments.get(2))?;
    let mut text = Text::with_room(1 << 20).map_err(Problem::with("no memory"))?;
    let room = ask(b"room\n")?;
    let all = tester.frames.count as u64;
    if settings.measure == Measure::FullTable && (room == 0 || all < room + room / 10 + 1) {
        let mut text = Text::with_room(256).map_err(Problem::with("no memory"))?;
        text.number(all).put(b" sessions do not fill a table with room for ").number(room);
        let why: &[u8] = if room == 0 { b" (no rules track)\n" } else { b" and a tenth more\n" };
        text.put(why);
        let _ = sys::ERRORS.write_all(text.bytes());
        return Err(Problem::new(
            "make more flows, or the table smaller (pf: set limit states; ipfw: net.inet.ip.fw.dyn_max)",
        ));
    }
    text.put(b"{\"intervals\":[],\"room\":").number(room).put(b",\"rounds\":[");
    let mut counted = 0;
    let mut ns = 0;
    for count in 0.. {
        if counted >= MOST || (counted >= FEWEST && ns >= settings.ns) {
            break;
        }
        let is_warm = count >= WARM;
        if count == WARM {
            tester.look_ahead();
        }
        text.put(if counted > 0 && is_warm { b"," } else { b"" });
        let start = text.length();
        ns += round(&mut tester, &settings, (room, all), &mut text)? * u64::from(is_warm);
        counted += u32::from(is_warm);
        if !is_warm {
            text.cut(start);
        }
    }
    text.put(b"]");
    tester.sum(&mut text);
    OUTPUT.write_all(text.bytes()).map_err(Problem::with("cannot write"))
}

/// One round; how long its counted part took, in ns.
fn round(
    tester: &mut Tester,
    settings: &Settings,
    (room, all): (u64, u64),
    text: &mut Text,
) -> Result<u64, Problem> {
    let (uncounted, counted) = match settings.measure {
        Measure::Insertion => (0, all),
        Measure::Lookup => (all, all * (settings.lifetime - 1).max(1)),
        Measure::FullTable => (room, all - room),
    };
    let patience = match settings.measure {
        Measure::FullTable => PATIENCE_WITH_REFUSALS,
        _ => PATIENCE,
    };
    let emptied = ask(b"empty\n")?;
    let refused = ask(b"refused\n")?;
    tester.begin_anew();
    let (received, start) = (tester.arrivals.received, sys::ticks());
    tester.send(uncounted, patience)?;
    let opening = [
        in_ns(sys::ticks() - start, settings.khz),
        uncounted,
        tester.arrivals.received - received,
    ];
    let before = ask(b"count\n")?;
    let (received, start) = (tester.arrivals.received, sys::ticks());
    tester.send(counted, patience)?;
    let ns = in_ns(sys::ticks() - start, settings.khz);
    let received = tester.arrivals.received - received;
    let after = ask(b"count\n")?;
    let refused = ask(b"refused\n")?.saturating_sub(refused);
    text.put(b"{\"emptied\":").number(emptied);
    text.put(b",\"before\":").number(before);
    text.put(b",\"after\":").number(after);
    text.put(b",\"refused\":").number(refused);
    text.put(b",\"sent\":").number(counted);
    text.put(b",\"received\":").number(received);
    text.put(b",\"ns\":").number(ns);
    text.put(b",\"opening\":{\"ns\":").number(opening[0]);
    text.put(b",\"sent\":").number(opening[1]);
    text.put(b",\"received\":").number(opening[2]).put(b"}}");
    Ok(ns)
}

/// What the script outside answers.
fn ask(what: &[u8]) -> Result<u64, Problem> {
    ASK.write_all(what).map_err(Problem::with("the script cannot be asked"))?;
    let mut answer = [0_u8; 32];
    let mut length = 0;
    while length < answer.len() && (length == 0 || answer[length - 1] != b'\n') {
        let more = ANSWER.read(&mut answer[length..]);
        length += more.map_err(Problem::with("the script does not answer"))?;
    }
    number(trimmed(&answer[..length]))
        .ok_or(Problem::new("the table of sessions cannot be read or emptied"))
}
