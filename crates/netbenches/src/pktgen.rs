//! Logs of pkt-gen, sender or receiver, in both published formats.
//!
//! Old reading lines read `T main_thread [L] R pps (P pkts in U usec)`, new ones
//! `T main_thread [L] R pps (P pkts B bps in U usec) A avg_batch M min_space`.
//! T counts seconds modulo 1000; L is the line of pkt-gen's source that
//! printed it and so tells builds apart.

use std::io::{self, Read};

use super::command::Command;
use super::equilibrium::{Equilibrium, Step, amount_behind, frame_bytes};
use super::lines::{Line, Lines};

/// Readings kept of one log: two days at one a second.
pub const MAX_READINGS: usize = 200_000;

/// One report of pkt-gen, usually for one second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Line of the log, from 1.
    pub line: u64,
    /// When the interval ended, in microseconds modulo 1000 s.
    pub end_us: u64,
    /// Packets/s as printed.
    pub pps: u64,
    /// Packets in the interval; 0 when the line does not say.
    pub packets: u64,
    /// Length of the interval in microseconds; 0 when the line does not say.
    pub length_us: u64,
}

/// Most characters of a reason that are kept.
const MAX_WHY: usize = 400;

/// Most loads of a search that are kept: published ones try 5 to 10.
const MAX_STEPS: usize = 100;

/// What a log says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PktgenLog {
    /// The logged command.
    pub command: Option<Command>,
    /// Text lines in the file.
    pub lines: u64,
    /// Every reading, zeros included, nothing trimmed.
    pub readings: Vec<Reading>,
    /// The number in brackets after `main_thread`: tells pkt-gen builds apart.
    pub build: Option<u32>,
    /// Packets in the closing line `Sent N packets` or `Received N packets`.
    pub total: Option<u64>,
    /// Packets/s in the closing line `Speed:`.
    pub speed_pps: Option<f64>,
    /// The result of a rate search.
    pub equilibrium: Option<Equilibrium>,
    /// The loads that a rate search tried, in order.
    pub steps: Vec<Step>,
    /// Ethernet frame length that the log names, in bytes.
    pub frame_bytes: Option<u32>,
    /// True when the log ends with `Terminated`, which is how receivers end.
    pub is_terminated: bool,
    /// What is wrong with the log.
    pub problems: Vec<Problem>,
}

/// Something wrong in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The file holds nothing.
    Empty,
    /// No line of it looks like pkt-gen's.
    NotPktgen,
    /// pkt-gen started but reported no interval.
    NoReadings,
    /// Every interval has 0 packets.
    NothingSeen,
    /// `ouch, thread N exited with error`, and the reason where the line goes on with one, as logs of
    /// fwdlab's exports do.
    ThreadError(Option<String>),
    /// `Speed: -0 pps`: the run ended before it began.
    NegativeSpeed,
    /// A number does not fit into 64 bits, on this line.
    NumberTooLarge(u64),
    /// A reading line is cut in the middle or longer than any honest one, on
    /// this line.
    BrokenReading(u64),
    /// More than [`MAX_READINGS`] readings; the rest is skipped.
    TooManyReadings,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("empty file"),
            Self::NotPktgen => f.write_str("no line of pkt-gen in it"),
            Self::NoReadings => f.write_str("pkt-gen reported no interval"),
            Self::NothingSeen => f.write_str("0 packets in every interval"),
            Self::ThreadError(None) => f.write_str("a pkt-gen thread exited with an error"),
            Self::ThreadError(Some(why)) => f.write_str(why),
            Self::NegativeSpeed => f.write_str("pkt-gen closed with a speed of -0 packets/s"),
            Self::NumberTooLarge(line) => write!(f, "line {line}: a number beyond 64 bits"),
            Self::BrokenReading(line) => write!(f, "line {line}: a broken reading line"),
            Self::TooManyReadings => write!(f, "more than {MAX_READINGS} readings"),
        }
    }
}

impl PktgenLog {
    /// Reads a log of any size in bounded memory.
    ///
    /// # Errors
    /// What the reader says; a text that is no log is a [`Problem`], not an error.
    pub fn read(reader: impl Read) -> io::Result<Self> {
        let mut log = Self::default();
        let mut lines = Lines::new(reader);
        while let Some(line) = lines.next_line()? {
            log.take_line(&line);
        }
        log.close();
        Ok(log)
    }

    /// True when the figures of the log may be used.
    pub fn is_usable(&self) -> bool {
        self.failure().is_none()
    }

    /// The first problem that makes the log useless; `None` for a good one.
    pub fn failure(&self) -> Option<&Problem> {
        self.problems
            .iter()
            .find(|p| !matches!(p, Problem::BrokenReading(_) | Problem::TooManyReadings))
    }

    fn take_line(&mut self, line: &Line<'_>) {
        self.lines = line.number;
        if line.number == 1 {
            self.command = Command::parse(&String::from_utf8_lossy(line.bytes));
        }
        if let Some(rest) = after(line.bytes, b" main_thread [") {
            self.take_reading(line, rest);
        } else if !line.bytes.first().is_some_and(u8::is_ascii_digit) {
            self.take_closing(line);
        } else if let Some(rest) = after(line.bytes, b"exited with error") {
            self.problem(Problem::ThreadError(why(rest)));
        }
    }

    fn take_reading(&mut self, line: &Line<'_>, rest: &[u8]) {
        match parse_reading(line, rest) {
            Ok((build, reading)) => {
                self.build = Some(build);
                if self.readings.len() < MAX_READINGS {
                    self.readings.push(reading);
                } else {
                    self.problem(Problem::TooManyReadings);
                }
            }
            Err(Bad::TooLarge) => self.problem(Problem::NumberTooLarge(line.number)),
            Err(Bad::Broken) => self.problem(Problem::BrokenReading(line.number)),
            Err(Bad::Other) => {}
        }
    }

    /// Lines that begin with no time stamp: the closing summary.
    fn take_closing(&mut self, line: &Line<'_>) {
        let bytes = line.bytes;
        let number = |rest: &[u8]| Cursor(rest).number().ok();
        if let Some(rest) = bytes.strip_prefix(b"Sent ").or(bytes.strip_prefix(b"Received ")) {
            self.total = number(rest).or(self.total);
        } else if let Some(rest) = bytes.strip_prefix(b"Speed: ") {
            self.take_speed(rest);
        } else if let Some(rest) = after(bytes, b"Equilibrium Ethernet throughput=") {
            self.equilibrium = Equilibrium::parse(&String::from_utf8_lossy(rest));
        } else if after(bytes, b"thernet frame size").is_some() {
            let head = &bytes[..bytes.len().min(256)];
            self.frame_bytes = frame_bytes(&String::from_utf8_lossy(head)).or(self.frame_bytes);
        } else if bytes.starts_with(b"  - ") {
            self.take_step(&String::from_utf8_lossy(&bytes[..bytes.len().min(256)]));
        } else if let Some(rest) = after(bytes, b"exited with error") {
            self.problem(Problem::ThreadError(why(rest)));
        } else if bytes.starts_with(b"Terminated") {
            self.is_terminated = true;
        }
    }

    /// `  - Offering load = 50 Mb/s`, `  - Measured forwarding rate = 49 Mb/s`: a load that a search tried.
    fn take_step(&mut self, line: &str) {
        if let Some(offered) = amount_behind(line, "offering load") {
            if self.steps.len() < MAX_STEPS {
                self.steps.push(Step { offered, forwarded: None });
            }
        } else if let (Some(rate), Some(last)) =
            (amount_behind(line, "measured forwarding rate"), self.steps.last_mut())
        {
            last.forwarded = last.forwarded.or(Some(rate));
        }
    }

    /// `14.85 Mpps ...` or `1453569 pps ...`.
    fn take_speed(&mut self, rest: &[u8]) {
        let text = String::from_utf8_lossy(rest);
        let mut words = text.split_whitespace();
        let (Some(number), Some(unit)) = (words.next(), words.next()) else { return };
        if number.starts_with('-') {
            self.problem(Problem::NegativeSpeed);
            return;
        }
        let factor = match unit {
            "pps" => 1.0,
            "Kpps" => 1e3,
            "Mpps" => 1e6,
            "Gpps" => 1e9,
            _ => return,
        };
        self.speed_pps = number.parse::<f64>().ok().map(|v| v * factor).filter(|v| v.is_finite());
    }

    fn close(&mut self) {
        if let Some(search) = &mut self.equilibrium {
            search.frame_bytes = self.frame_bytes;
        }
        if self.lines == 0 {
            self.problem(Problem::Empty);
        } else if self.readings.is_empty() && self.equilibrium.is_none() {
            let is_known = self.command.is_some() || self.total.is_some();
            self.problem(if is_known { Problem::NoReadings } else { Problem::NotPktgen });
        } else if !self.readings.is_empty() && self.readings.iter().all(|s| s.pps == 0) {
            self.problem(Problem::NothingSeen);
        }
    }

    /// Notes a problem, the first of each kind only.
    fn problem(&mut self, problem: Problem) {
        let kind = std::mem::discriminant(&problem);
        if self.problems.iter().all(|p| std::mem::discriminant(p) != kind) {
            self.problems.push(problem);
        }
    }
}

/// Why a reading line could not be read.
enum Bad {
    TooLarge,
    Broken,
    /// Another message of main_thread.
    Other,
}

/// The reason behind `exited with error: `.
fn why(rest: &[u8]) -> Option<String> {
    let why = String::from_utf8_lossy(rest.strip_prefix(b": ")?);
    let why: String = why.trim().chars().take(MAX_WHY).collect();
    (!why.is_empty()).then_some(why)
}

/// What follows `wanted` in `bytes`.
fn after<'a>(bytes: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    // pkt-gen's words stand near the start of a line.
    let at = bytes[..bytes.len().min(256)].windows(wanted.len()).position(|w| w == wanted)?;
    Some(&bytes[at + wanted.len()..])
}

fn parse_reading(line: &Line<'_>, rest: &[u8]) -> Result<(u32, Reading), Bad> {
    let end_us = time_us(line.bytes).ok_or(Bad::Other)?;
    let mut cursor = Cursor(rest);
    let build = u32::try_from(cursor.number()?).map_err(|_| Bad::Other)?;
    if !cursor.skip(b"] ") || !cursor.0.first().is_some_and(u8::is_ascii_digit) {
        return Err(Bad::Other);
    }
    let pps = cursor.number()?;
    if !cursor.skip(b" pps") {
        return Err(if cursor.0.is_empty() { Bad::Broken } else { Bad::Other });
    }
    let mut reading = Reading { line: line.number, end_us, pps, packets: 0, length_us: 0 };
    if cursor.skip(b" (") {
        reading.packets = cursor.number()?;
        if !cursor.skip(b" pkts ") {
            return Err(Bad::Broken);
        }
        if !cursor.skip(b"in ") {
            cursor.number()?;
            if !cursor.skip(b" bps in ") {
                return Err(Bad::Broken);
            }
        }
        reading.length_us = cursor.number()?;
        if !cursor.skip(b" usec)") {
            return Err(Bad::Broken);
        }
    }
    Ok((build, reading))
}

/// The time stamp at the start of a line, in microseconds.
fn time_us(bytes: &[u8]) -> Option<u64> {
    let mut cursor = Cursor(bytes);
    let seconds = cursor.number().ok()?;
    if !cursor.skip(b".") {
        return None;
    }
    let digits = cursor.0.iter().take_while(|b| b.is_ascii_digit()).count();
    let fraction = cursor.number().ok()?;
    let scale = 10u64.checked_pow(6u32.checked_sub(u32::try_from(digits).ok()?)?)?;
    seconds.checked_mul(1_000_000)?.checked_add(fraction.checked_mul(scale)?)
}

/// What is left of a line.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn number(&mut self) -> Result<u64, Bad> {
        let digits = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 {
            return Err(Bad::Broken);
        }
        let mut value: u64 = 0;
        for &digit in &self.0[..digits] {
            let next = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(digit - b'0')));
            value = next.ok_or(Bad::TooLarge)?;
        }
        self.0 = &self.0[digits..];
        Ok(value)
    }

    fn skip(&mut self, wanted: &[u8]) -> bool {
        match self.0.strip_prefix(wanted) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests;
