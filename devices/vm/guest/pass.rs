//! `pass SEND RECEIVE FRAMES WAY DURATION INTERVAL KHZ`: sends the frames of a file in a circle on
//! one interface, receives them from another, and prints what was counted as JSON. Times are in
//! ns; KHZ is how fast the time stamp counter ticks. WAY is `cable` or `device`.
//!
//! The file: the number of frames and the number of flows, in 4 bytes each; then for each frame its
//! flow, where it ends among the frames, and its length without padding, in 4 bytes each; then the
//! frames as they are sent; then as they arrive when the device has forwarded them, which may have
//! taken the padding off. One thread sends and receives in turn, so that on one
//! processor nothing waits: what the counter shows is work.

use crate::sys::{self, Arguments, File, OUTPUT, Receiver};
use crate::text::{Done, Problem, Text, number};

/// Frames between two looks at the receiver.
const BATCH: usize = 32;

/// Turns without a frame after which those missing are lost.
const PATIENCE: u32 = 1000;

/// So long nothing is counted: the kernel's own threads find their places among each other within
/// the first 80 ms.
const SETTLING_MS: u64 = 150;

const LARGEST: usize = 256 << 20;
const MOST_INTERVALS: usize = 100_000;

/// Bytes in front of the frames' descriptions, and of one of these.
const HEAD: usize = 8;
const DESCRIPTION: usize = 12;

/// Ethernet and the shortest IP header.
const SHORTEST: usize = 34;

struct Frames {
    count: usize,
    flows: usize,
    described: &'static [u8],
    sent: &'static [u8],
    expected: &'static [u8],
}

impl Frames {
    fn read(path: &[u8], is_cable: bool) -> Result<Self, Problem> {
        let bytes = sys::whole(path, LARGEST).map_err(Problem::with("cannot read the frames"))?;
        let broken = Problem::new("the file of frames is broken");
        let bytes: &'static [u8] = bytes;
        let Some((head, rest)) = bytes.split_at_checked(HEAD) else { return Err(broken) };
        let [count, flows] = [0, 4].map(|at| word(&head[at..]) as usize);
        let Some((described, frames)) = rest.split_at_checked(DESCRIPTION * count) else {
            return Err(broken);
        };
        if count == 0 || flows == 0 {
            return Err(broken);
        }
        let mut start = 0;
        for description in described.chunks(DESCRIPTION) {
            let [flow, end, least] = [0, 4, 8].map(|at| word(&description[at..]) as usize);
            if flow >= flows || least < SHORTEST || end < start + least {
                return Err(broken);
            }
            start = end;
        }
        if frames.len() != 2 * start {
            return Err(broken);
        }
        let (sent, forwarded) = frames.split_at(start);
        let expected = if is_cable { sent } else { forwarded };
        Ok(Self { count, flows, described, sent, expected })
    }

    fn place(&self, at: usize) -> core::ops::Range<usize> {
        let end = |at: usize| word(&self.described[DESCRIPTION * at + 4..]) as usize;
        let start = if at == 0 { 0 } else { end(at - 1) };
        start..end(at)
    }

    fn sent(&self, at: usize) -> &[u8] {
        &self.sent[self.place(at)]
    }

    fn expected(&self, at: usize) -> &[u8] {
        &self.expected[self.place(at)]
    }

    /// Whether an arriving frame is this one, with its padding or without.
    fn is(&self, at: usize, frame: &[u8]) -> bool {
        let expected = self.expected(at);
        let least = word(&self.described[DESCRIPTION * at + 8..]) as usize;
        (least..=expected.len()).contains(&frame.len()) && same(&frame[..least], &expected[..least])
    }

    fn flow(&self, at: usize) -> usize {
        word(&self.described[DESCRIPTION * at..]) as usize
    }

    fn after(&self, at: usize) -> usize {
        if at + 1 == self.count { 0 } else { at + 1 }
    }
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// What arrived, and what was wrong with it.
struct Arrivals {
    received: u64,
    next: usize,
    seen: &'static mut [u8],
    reordered: u64,
    bad_ttl: u64,
    bad_checksum: u64,
    bad_mac: u64,
    misrouted: u64,
    strangers: u64,
}

impl Arrivals {
    fn take(&mut self, frames: &Frames, frame: &[u8]) {
        if frames.is(self.next, frame) {
            self.received += 1;
            self.seen[frames.flow(self.next)] = 1;
            self.next = frames.after(self.next);
            return;
        }
        self.look_closer(frames, frame);
    }

    /// A frame that is not the next one: another one of ours, one of ours that is damaged, or a
    /// stranger, such as an announcement of the kernel.
    #[cold]
    fn look_closer(&mut self, frames: &Frames, frame: &[u8]) {
        let mut at = self.next;
        for _ in 0..frames.count {
            if frames.is(at, frame) {
                self.received += 1;
                self.reordered += u64::from(at != self.next);
                self.seen[frames.flow(at)] = 1;
                self.next = frames.after(at);
                return;
            }
            at = frames.after(at);
        }
        for _ in 0..frames.count {
            let wanted = frames.expected(at);
            if addresses(frame).is_some_and(|own| Some(own) == addresses(wanted)) {
                self.received += 1;
                self.seen[frames.flow(at)] = 1;
                self.next = frames.after(at);
                let time_to_live = if wanted[12] == 8 { 22 } else { 21 };
                if frame[..12] != wanted[..12] {
                    self.bad_mac += 1;
                } else if frame[time_to_live] != wanted[time_to_live] {
                    self.bad_ttl += 1;
                } else {
                    self.bad_checksum += 1;
                }
                return;
            }
            at = frames.after(at);
        }
        self.strangers += 1;
    }
}

fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len()
        && a.chunks(8).zip(b.chunks(8)).all(|(a, b)| {
            match (<[u8; 8]>::try_from(a), <[u8; 8]>::try_from(b)) {
                (Ok(a), Ok(b)) => u64::from_ne_bytes(a) == u64::from_ne_bytes(b),
                _ => a == b,
            }
        })
}

/// The addresses and ports of a packet, which no router changes.
fn addresses(frame: &[u8]) -> Option<&[u8]> {
    match frame.get(12..14)? {
        [8, 0] => frame.get(26..38),
        [0x86, 0xdd] => frame.get(22..58),
        _ => None,
    }
}

struct Settings {
    is_cable: bool,
    ticks: u64,
    interval: u64,
    khz: u64,
}

impl Settings {
    fn of(arguments: &Arguments) -> Option<Self> {
        let khz = number(arguments.get(8))?;
        let in_ticks = |ns: u64| (u128::from(ns) * u128::from(khz) / 1_000_000) as u64;
        Some(Self {
            is_cable: arguments.get(5) == b"cable",
            ticks: in_ticks(number(arguments.get(6))?),
            interval: in_ticks(number(arguments.get(7))?),
            khz,
        })
    }
}

pub fn run(arguments: &Arguments) -> Done {
    let settings = Settings::of(arguments).ok_or(Problem::new("a number is none"))?;
    let frames = Frames::read(arguments.get(4), settings.is_cable)?;
    let receiver = Receiver::open(arguments.get(3));
    let mut receiver = receiver.map_err(Problem::with("netmap cannot receive"))?;
    let sender = sys::frame_sender(arguments.get(2));
    let sender = sender.map_err(Problem::with("bpf cannot send"))?;
    let mut arrivals = Arrivals {
        received: 0,
        next: 0,
        seen: sys::memory(frames.flows).map_err(Problem::with("no memory"))?,
        reordered: 0,
        bad_ttl: 0,
        bad_checksum: 0,
        bad_mac: 0,
        misrouted: 0,
        strangers: 0,
    };
    let mut text = Text::with_room(8 << 20).map_err(Problem::with("no memory"))?;
    text.put(b"{\"intervals\":[");
    let sent = send(&frames, &settings, sender, &mut receiver, &mut arrivals, &mut text)?;
    let seen = arrivals.seen.iter().filter(|&&flow| flow == 1).count();
    text.put(b"],\"sent\":").number(sent);
    text.put(b",\"received\":").number(arrivals.received);
    text.put(b",\"flows_seen\":").number(seen as u64);
    text.put(b",\"checks\":{\"checked\":").number(arrivals.received);
    text.put(b",\"lost\":").number(sent.saturating_sub(arrivals.received));
    text.put(b",\"duplicated\":").number(arrivals.received.saturating_sub(sent));
    text.put(b",\"reordered\":").number(arrivals.reordered);
    text.put(b",\"misrouted\":").number(arrivals.misrouted);
    text.put(b",\"bad_ttl\":").number(arrivals.bad_ttl);
    text.put(b",\"bad_checksum\":").number(arrivals.bad_checksum);
    text.put(b",\"bad_mac\":").number(arrivals.bad_mac);
    text.put(b"}}\n");
    OUTPUT.write_all(text.bytes()).map_err(Problem::with("cannot write"))
}

fn send(
    frames: &Frames,
    settings: &Settings,
    sender: File,
    receiver: &mut Receiver,
    arrivals: &mut Arrivals,
    text: &mut Text,
) -> Result<u64, Problem> {
    let start = sys::ticks();
    let settling = SETTLING_MS * settings.khz;
    let (mut interval_start, mut interval_sent, mut interval_received) = (start, 0, 0);
    let (mut at, mut sent, mut intervals, mut lost) = (0, 0_u64, 0, 0);
    loop {
        for _ in 0..BATCH {
            sender.write(frames.sent(at)).map_err(Problem::with("bpf cannot send"))?;
            at = frames.after(at);
        }
        sent += BATCH as u64;
        let mut turns = 0;
        while arrivals.received + lost < sent && turns < PATIENCE {
            let before = arrivals.received;
            receiver
                .receive(|frame| arrivals.take(frames, frame))
                .map_err(Problem::with("netmap cannot receive"))?;
            if arrivals.received == before {
                turns += 1;
            }
            if arrivals.received + lost < sent {
                sys::yield_processor();
            }
        }
        lost = sent.saturating_sub(arrivals.received).max(lost);
        let now = sys::ticks();
        if now - start < settling {
            (interval_start, interval_sent, interval_received) = (now, sent, arrivals.received);
            continue;
        }
        if now - interval_start >= settings.interval && intervals < MOST_INTERVALS {
            let ns = u128::from(now - interval_start) * 1_000_000 / u128::from(settings.khz);
            text.put(if intervals > 0 { b"," } else { b"" });
            text.put(b"{\"ns\":").number(ns as u64);
            text.put(b",\"sent\":").number(sent - interval_sent);
            text.put(b",\"received\":").number(arrivals.received - interval_received).put(b"}");
            intervals += 1;
            (interval_start, interval_sent, interval_received) = (now, sent, arrivals.received);
        }
        if now - start >= settling + settings.ticks {
            return Ok(sent);
        }
    }
}
