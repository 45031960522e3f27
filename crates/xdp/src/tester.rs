//! The sending half of the tester: run on live frames, it fills in each and sends it.

use std::io;

use fwdlab_port::bpf::{
    Assembler, Condition, Helper, Label, Map, Program, Register::*, Width, action,
};

use super::latency::{self, STAMP_BYTES};
use super::{BEATS_KEPT, Headers, Shared, at, word};

/// When frames are due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Frames that follow each other at once.
    pub burst: u32,
    /// From one burst to the next, in 1/256 ns.
    pub gap: u64,
    /// Whether only as many frames are sent as [`word::LEFT`] says.
    pub is_counted: bool,
}

impl Pace {
    /// The largest burst: as many frames as the kernel hands on at once.
    const MOST: f64 = 64.0;

    /// Frames are sent at least so often, as far as a burst is more than one frame.
    const SHORTEST_GAP_NS: f64 = 50_000.0;

    /// So many frames per second.
    pub fn new(pps: f64) -> Self {
        let burst = (pps * Self::SHORTEST_GAP_NS / 1e9).clamp(1.0, Self::MOST).floor();
        Self { burst: burst as u32, gap: (burst * 256e9 / pps).round() as u64, is_counted: false }
    }

    /// From now on the program that runs keeps it.
    pub fn keep(self, shared: &Shared) {
        shared.set(word::GAP, self.gap);
        shared.set(word::BURST, u64::from(self.burst));
    }
}

/// Later than this many 1/256 ns, bursts are left out instead of caught up with: 10 ms.
const MOST_LATE: u64 = 10_000_000 * 256;

/// From one beat of the processor to the next, in frames.
const BEAT_EVERY: i32 = 1024;

/// Rounds of a beat, about 1 us in all.
const BEAT_ROUNDS: i32 = 256;

/// Runs of a beat, of which the last counts.
const BEAT_RUNS: i32 = 2;

/// Additions to each of five registers in a round. So many, that it does not matter where in a cache
/// line the round begins; what bounds a beat is that five additions are made at a time.
const BEAT_ADDITIONS: usize = 16;

/// Where frames go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlet {
    /// Out of the sender's interface.
    Out,
    /// Into the stack of the device, in whose namespace the program then runs, as if its port had
    /// received them. `batch` frames at a time are handed over; the device begins to work when the
    /// last of them is made.
    Stack {
        /// Frames of a batch, a power of two.
        batch: u32,
    },
}

/// What is written into frames.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// Headers in the order of sending.
    pub headers: &'a Map,
    /// How many.
    pub entries: u32,
    /// So many bytes of each.
    pub length: usize,
    /// Whether the time follows them.
    pub has_stamp: bool,
}

impl<'a> Written<'a> {
    /// These headers, and nothing else.
    pub const fn of(headers: &'a Headers) -> Self {
        let Headers { map, entries, length, .. } = headers;
        Self { headers: map, entries: *entries, length: *length, has_stamp: false }
    }
}

/// Loads the program. Without a pace frames are sent as fast as they come.
///
/// # Errors
/// The kernel refuses the program.
pub fn load(
    shared: &Shared,
    written: Written<'_>,
    pace: Option<Pace>,
    way: Outlet,
) -> io::Result<Program> {
    let Written { headers, entries, length, has_stamp } = written;
    let reach = length + if has_stamp { STAMP_BYTES } else { 0 };
    let mut program = Assembler::new();
    program.copy(R6, R1).map_value(R7, shared.map(), 0);
    program.load(Width::Double, R1, R7, at(word::STOP)).jump(Condition::NotEqual, R1, 0, "drop");
    if let Some(pace) = pace {
        pace.keep(shared);
        wait(&mut program, pace);
    }
    beat(&mut program, shared);
    // The next header of the table.
    program
        .load(Width::Double, R8, R7, at(word::NEXT))
        .store(Width::Word, R10, -4, R8)
        .add(R8, 1)
        .jump(Condition::Below, R8, entries as i32, "next")
        .set(R8, 0)
        .label("next")
        .store(Width::Double, R7, at(word::NEXT), R8)
        .map(R1, headers)
        .copy(R2, R10)
        .add(R2, -4)
        .call(Helper::MapLookup)
        .jump(Condition::Equal, R0, 0, "drop");
    // Into the frame, as far as there is room.
    program
        .load(Width::Word, R1, R6, 0)
        .load(Width::Word, R2, R6, 4)
        .copy(R3, R1)
        .add(R3, reach as i32)
        .jump_register(Condition::Above, R3, R2, "drop");
    let mut done = 0;
    for (width, bytes) in [(Width::Double, 8), (Width::Word, 4), (Width::Half, 2), (Width::Byte, 1)]
    {
        while done + bytes <= length {
            program.load(width, R3, R0, done as i16).store(width, R1, done as i16, R3);
            done += bytes;
        }
    }
    if has_stamp {
        latency::stamp(&mut program, length as i16);
    }
    program.increment(R7, at(word::SENT), R1);
    match way {
        Outlet::Out => program.set(R0, action::TX).exit().label("drop"),
        Outlet::Stack { batch } => {
            stamp(&mut program, batch, "sent");
            program.set(R0, action::PASS).exit().label("drop");
            stamp(&mut program, batch, "dropped")
        }
    };
    program.set(R0, action::DROP).exit();
    Program::load_xdp("fwdlab_tester", &program.finish())
}

/// With the last frame of a batch the device begins to work. How many frames it has, the turns in which none was due
/// left out, is noted for the receiver.
fn stamp(program: &mut Assembler, batch: u32, not_last: Label) -> &mut Assembler {
    program
        .load(Width::Double, R1, R7, at(word::TURNS))
        .add(R1, 1)
        .store(Width::Double, R7, at(word::TURNS), R1)
        .and(R1, batch as i32 - 1)
        .jump(Condition::NotEqual, R1, 0, not_last)
        .load(Width::Double, R1, R7, at(word::SENT))
        .load(Width::Double, R2, R7, at(word::HANDED))
        .store(Width::Double, R7, at(word::HANDED), R1)
        .subtract(R1, R2)
        .store(Width::Double, R7, at(word::BATCH), R1)
        .call(Helper::NowNs)
        .store(Width::Double, R7, at(word::BUSY_SINCE), R0)
        .store_number(Width::Double, R7, at(word::IS_BUSY), 1)
        .label(not_last)
}

/// Times a fixed piece of arithmetic once in a while. It has run before the time is taken, so that it
/// does not matter what the device left of it in the caches.
fn beat(program: &mut Assembler, shared: &Shared) {
    program
        .load(Width::Double, R1, R7, at(word::SENT))
        .and(R1, BEAT_EVERY - 1)
        .jump(Condition::NotEqual, R1, 0, "no beat")
        .set(R8, 0)
        .label("beat")
        .call(Helper::NowNs)
        .copy(R9, R0);
    for register in [R1, R2, R3, R4, R5, R0] {
        program.set(register, 0);
    }
    program.label("round");
    for register in [R2, R3, R4, R5, R0].into_iter().cycle().take(5 * BEAT_ADDITIONS) {
        program.add(register, 1);
    }
    program
        .add(R1, 1)
        .jump(Condition::Below, R1, BEAT_ROUNDS, "round")
        .call(Helper::NowNs)
        .add(R8, 1)
        .jump(Condition::Below, R8, BEAT_RUNS, "beat")
        .subtract(R0, R9)
        .load(Width::Double, R1, R7, at(word::BEATS))
        .copy(R2, R1)
        .and(R2, BEATS_KEPT as i32 - 1)
        .shift_left(R2, 3)
        .map_value(R3, &shared.beats, 0)
        .add_register(R3, R2)
        .store(Width::Double, R3, 0, R0)
        .add(R1, 1)
        .store(Width::Double, R7, at(word::BEATS), R1)
        .label("no beat");
}

/// Goes on while a burst is due; else counts the waiting and drops the frame.
fn wait(program: &mut Assembler, pace: Pace) {
    if pace.is_counted {
        program.load(Width::Double, R8, R7, at(word::LEFT)).jump(Condition::Equal, R8, 0, "drop");
    }
    program
        .load(Width::Double, R8, R7, at(word::BURST_LEFT))
        .jump(Condition::NotEqual, R8, 0, "go")
        .call(Helper::NowNs)
        .shift_left(R0, 8)
        .load(Width::Double, R1, R7, at(word::DUE))
        .jump(Condition::NotEqual, R1, 0, "started")
        .copy(R1, R0)
        .label("started")
        .jump_register(Condition::AtLeast, R0, R1, "due")
        .increment(R7, at(word::WAITED), R1)
        .go("drop")
        .label("due");
    // R2 = how late it is.
    program
        .copy(R2, R0)
        .subtract(R2, R1)
        .set_wide(R3, MOST_LATE)
        .jump_register(Condition::AtMost, R2, R3, "on time")
        .copy(R1, R0)
        .label("on time")
        .load(Width::Double, R3, R7, at(word::GAP))
        .add_register(R1, R3)
        .store(Width::Double, R7, at(word::DUE), R1)
        .load(Width::Double, R3, R7, at(word::LATE_SUM))
        .add_register(R3, R2)
        .store(Width::Double, R7, at(word::LATE_SUM), R3)
        .load(Width::Double, R3, R7, at(word::LATE_MOST))
        .jump_register(Condition::AtMost, R2, R3, "known")
        .store(Width::Double, R7, at(word::LATE_MOST), R2)
        .label("known")
        .increment(R7, at(word::BURSTS), R3)
        .load(Width::Double, R8, R7, at(word::BURST))
        .label("go")
        .add(R8, -1)
        .store(Width::Double, R7, at(word::BURST_LEFT), R8);
    if pace.is_counted {
        program.load(Width::Double, R8, R7, at(word::LEFT)).add(R8, -1).store(
            Width::Double,
            R7,
            at(word::LEFT),
            R8,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_keeps_the_rate_with_bursts_that_fit() {
        for pps in [1.0, 1_000.0, 20_000.0, 500_000.0, 1_488_095.0, 7e6] {
            let Pace { burst, gap, .. } = Pace::new(pps);
            assert!((1..=64).contains(&burst), "{pps}");
            let rate = f64::from(burst) * 256e9 / gap as f64;
            assert!((rate / pps - 1.0).abs() < 1e-5, "{pps}: {rate}");
        }
    }
}
