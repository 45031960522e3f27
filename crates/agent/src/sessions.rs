//! Sessions through the device in a guest: rounds of frames, each from an empty table, which is proven by
//! reading it. All frames are ready before the first is sent, and each that arrives is compared with the one
//! that was sent, so that what came of a session is known whatever the device does.
//!
//! Past the device, over a cable, the counted part of each round is sent likewise: what the tester costs by
//! itself.

use std::collections::BTreeMap;
use std::time::Duration;

use fwdlab_port::packet::PacketPort;
use fwdlab_port::{Batch, Frame, Pool, Port};
use fwdlab_results::{Checks, Measure};
use fwdlab_topology::tracking::{self, Tracked};
use fwdlab_traffic::rounds::{self, Lives, Part, Run, Taken};
use fwdlab_traffic::{
    Arrival, Carried, Fit, FlowSet, FrameOf, Segments, TimeSource, flow_frame, tcp_data_bytes,
};
use fwdlab_wire::ethernet::FCS_LEN;

use crate::channel::{Pass, Reading, Round};
use crate::network::{BY_CABLE, BY_DEVICE, DEVICE, Network};
use crate::task::{Task, TaskSessions};
use crate::tester::{BATCH, GuestTime};
use crate::{Result, words};

/// The same seed in every trial: variants are compared with the same order of sessions.
const SEED: u64 = 1;

/// Rounds before anything counts, fewest that are counted, and most.
const WARM: u32 = 2;
const ROUNDS: std::ops::Range<u32> = 3..64;

/// Looks without a frame after which those missing are lost: they are forwarded before the call that sent
/// them returns, or soon after by a thread of the kernel, for which this one makes way.
const PATIENCE: u32 = 70;

/// After so many of them it sleeps in between: the kernel's thread has no more claim to the processor than this
/// one, and where each frame costs much it was passed over fifty times.
const LOOKS_AWAKE: u32 = 50;

/// As long as the kernel's thread is at work, a sleep costs nothing that is not counted anyway.
const NAP: Duration = Duration::from_micros(100);

/// Quiet after the table was emptied, so that what the kernel does later falls into nothing that is counted;
/// a guest's idle time passes at once.
const QUIET: Duration = Duration::from_millis(50);

/// How often a table is emptied before it counts as one that cannot be.
const EMPTYINGS: u32 = 20;

/// What was counted, and what is known of the table.
pub(super) struct Done {
    pub(super) pass: Pass,
    pub(super) proof: BTreeMap<String, String>,
    /// Frames for whose sessions there was no room.
    pub(super) refused: u64,
}

/// The tester with a cable in place of the device: what it costs by itself.
pub(super) fn cable(task: &Task, own: TaskSessions, network: &Network) -> Result<Pass> {
    let mut tester = SessionTester::new(task, own, network, Place::Cable)?;
    let mut pass = Pass::default();
    let mut ns = 0;
    for count in 0..WARM + ROUNDS.end {
        if count >= WARM + ROUNDS.start && ns >= task.cable_ns {
            break;
        }
        tester.begin_anew();
        let Some(part) = tester.round.parts.iter().find(|part| part.is_counted).cloned() else {
            break;
        };
        let reading = tester.part(&part)?;
        // The first of a pass does not count anyway.
        if count + 1 >= WARM {
            ns += reading.ns;
            pass.intervals.push(reading);
        }
    }
    tester.total(&mut pass);
    Ok(pass)
}

/// The tester with the device.
pub(super) fn device(task: &Task, own: TaskSessions, network: &Network) -> Result<Done> {
    let mut tester = SessionTester::new(task, own, network, Place::Device)?;
    let before = network.within(DEVICE, read)?;
    let mut pass = Pass { room: Some(tester.room), ..Pass::default() };
    let mut ns = 0;
    for count in 0..WARM + ROUNDS.end {
        if count >= WARM + ROUNDS.start && ns >= task.duration_ns {
            break;
        }
        let round = tester.one_round(network)?;
        if count >= WARM {
            ns += round.ns;
            pass.rounds.push(round);
        }
    }
    let mut proof = BTreeMap::new();
    if own.is_tcp {
        let states = network.within(DEVICE, || Ok(tracking::states()))?;
        proof.insert("sessions in the table, states".to_owned(), states);
    }
    if tester.has_mark {
        let translated = tester.lanes.iter().map(|lane| lane.translated).sum::<u64>();
        proof.insert("frames with other addresses".to_owned(), translated.to_string());
    }
    let refused = network.within(DEVICE, read)?.refused - before.refused;
    tester.total(&mut pass);
    Ok(Done { pass, proof, refused })
}

/// What the frames pass.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Cable,
    Device,
}

/// Sender and receiver of both ways, ready.
struct SessionTester {
    lanes: Vec<Lane>,
    /// On the side of the sources, and on that of the destinations.
    ports: [PacketPort; 2],
    pool: Pool,
    time: GuestTime,
    round: rounds::Round,
    room: u64,
    has_mark: bool,
}

/// The frames of one way.
struct Lane {
    /// In the order of sending, each with its flow.
    frames: Vec<(u32, Vec<u8>)>,
    next: usize,
    arrival: Arrival,
    sent: u64,
    received: u64,
    seen: Vec<bool>,
    translated: u64,
    checks: Checks,
}

impl SessionTester {
    fn new(task: &Task, own: TaskSessions, network: &Network, place: Place) -> Result<Self> {
        let no_tracking = |why| {
            format!(
                "the kernel tracks no connections ({why}); it needs CONFIG_NF_CONNTRACK and \
                     CONFIG_NF_CT_NETLINK"
            )
        };
        let room = network.within(DEVICE, || tracking::room().map_err(no_tracking))?;
        let traffic = &task.traffic;
        let flows = FlowSet::parse(&traffic.source, &traffic.destination).map_err(words)?;
        let order: fwdlab_traffic::Order = traffic.order.parse().map_err(words)?;
        let order = order.turn(flows.count(), SEED);
        let ways = if own.both_ways { 2 } else { 1 };
        let round = rounds::Round::new(lives(own), &order, ways, room).map_err(|least| {
            format!(
                "its flows do not fill a table of {room} sessions: widen source or destination until \
                 there are {least} of them, or leave out measure = \"{}\"",
                own.measure
            )
        })?;
        let data = tcp_data_bytes(&flows, traffic.frame_bytes);
        let is_closed = own.measure == Measure::Rate;
        let script = Segments::new(own.lifetime as usize, data, is_closed);
        let carried = match own.is_tcp {
            true => Carried::Segment(&script),
            false => Carried::Datagram { has_mark: own.has_mark },
        };
        let length = usize::from(traffic.frame_bytes) - FCS_LEN;
        let lane = |(way, turn): (usize, &Vec<FrameOf>)| {
            Lane::new((&flows, turn), (way, length), (carried, own.has_mark), place)
        };
        let lanes = round.turns.iter().enumerate().map(lane).collect::<Result<_>>()?;
        let pool = Pool::with_frames(8 * BATCH).map_err(words)?;
        let by = if place == Place::Cable { BY_CABLE } else { BY_DEVICE };
        let [near, far] = by.map(|(role, name)| {
            let pool = pool.clone();
            network.within(role, move || PacketPort::open(name, pool).map_err(words))
        });
        let (ports, time) = ([near?, far?], GuestTime::new(task.clock));
        Ok(Self { lanes, ports, pool, time, round, room, has_mark: own.has_mark })
    }

    /// The first frame of each way is the next.
    fn begin_anew(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.next = 0);
    }

    fn one_round(&mut self, network: &Network) -> Result<Round> {
        let emptied = network.within(DEVICE, empty)?;
        std::thread::sleep(QUIET);
        self.begin_anew();
        let mut own = Round { emptied: emptied.entries, ..Round::default() };
        for part in self.round.parts.clone() {
            let before = network.within(DEVICE, read)?;
            let Reading { ns, sent, received } = self.part(&part)?;
            let after = network.within(DEVICE, read)?;
            if part.is_counted {
                (own.before, own.after) = (before.entries, after.entries);
                (own.ns, own.sent, own.received) = (ns, sent, received);
            } else {
                own.opening = Reading { ns, sent, received };
            }
            own.refused = after.refused.saturating_sub(emptied.refused);
            own.evicted = after.evicted.saturating_sub(emptied.evicted);
        }
        Ok(own)
    }

    /// Sends a part, and waits for its frames.
    fn part(&mut self, part: &Part) -> Result<Reading> {
        let count = |lanes: &[Lane]| -> (u64, u64) {
            (lanes.iter().map(|lane| lane.sent).sum(), lanes.iter().map(|lane| lane.received).sum())
        };
        let before = count(&self.lanes);
        let start = self.time.ticks();
        for &Run { way, frames } in &part.runs {
            let mut left = frames as usize;
            while left > 0 {
                let batch = left.min(BATCH);
                self.batch(way, batch)?;
                left -= batch;
            }
        }
        let ticks = self.time.ticks() - start;
        let after = count(&self.lanes);
        Ok(Reading {
            ns: (ticks as f64 * self.time.ns_per_tick()).round() as u64,
            sent: after.0 - before.0,
            received: after.1 - before.1,
        })
    }

    /// Sends the next frames of a way at once, and receives until all are there or lost.
    fn batch(&mut self, way: usize, count: usize) -> Result<()> {
        let (lane, [near, far]) = (&mut self.lanes[way], &mut self.ports);
        let (out, back) = if way == 0 { (near, far) } else { (far, near) };
        let (mut frames, mut last) =
            (Batch::new(), Last { first: lane.next, count, ..Last::default() });
        self.pool.take_batch(&mut frames, count);
        if frames.len() < count {
            return Err("the tester has no frame left".to_owned());
        }
        frames.iter_mut().for_each(|frame| lane.fill(frame));
        while !frames.is_empty() {
            if out.send(&mut frames) == 0 {
                std::thread::yield_now();
            }
        }
        let mut idle = 0;
        while last.missing() > 0 && idle < PATIENCE {
            if back.receive(&mut frames) == 0 {
                match idle < LOOKS_AWAKE {
                    true => std::thread::yield_now(),
                    false => std::thread::sleep(NAP),
                }
                idle += 1;
                continue;
            }
            idle = 0;
            frames.iter().for_each(|frame| lane.take(frame, &mut last));
            self.pool.put(&mut frames);
        }
        lane.checks.lost += u64::from(last.missing());
        Ok(())
    }

    fn total(&self, pass: &mut Pass) {
        for lane in &self.lanes {
            pass.sent += lane.sent;
            pass.received += lane.received;
            pass.flows_seen += lane.seen.iter().filter(|seen| **seen).count() as u64;
            let (all, own) = (&mut pass.checks, &lane.checks);
            all.checked += lane.received;
            all.lost += own.lost;
            all.duplicated += own.duplicated;
            all.reordered += own.reordered;
            all.misrouted += own.misrouted;
            all.bad_ttl += own.bad_ttl;
            all.bad_checksum += own.bad_checksum;
            all.bad_mac += own.bad_mac;
            all.bad_payload += own.bad_payload;
        }
    }
}

impl Lane {
    fn new(
        (flows, turn): (&FlowSet, &[FrameOf]),
        (way, length): (usize, usize),
        (carried, has_mark): (Carried<'_>, bool),
        place: Place,
    ) -> Result<Self> {
        let (flows, turn) = rounds::of_way(flows, turn, way);
        let made = |&own: &FrameOf| {
            let frame = flow_frame(&flows, own, length, (way, carried));
            frame.map(|frame| (own.flow, frame)).ok_or("frames have no room for their headers")
        };
        let frames = turn.iter().map(made).collect::<std::result::Result<_, _>>()?;
        let arrival = match place {
            Place::Cable => Arrival::behind_cable(way, has_mark),
            Place::Device => Arrival::behind_device(way, has_mark),
        };
        Ok(Self {
            frames,
            next: 0,
            arrival,
            sent: 0,
            received: 0,
            seen: vec![false; flows.count() as usize],
            translated: 0,
            checks: Checks::default(),
        })
    }

    /// Writes the next frame.
    fn fill(&mut self, frame: &mut Frame) {
        let (_, bytes) = &self.frames[self.next];
        frame.set_len(bytes.len());
        frame.copy_from_slice(bytes);
        self.next = (self.next + 1) % self.frames.len();
        self.sent += 1;
    }

    /// Counts a frame that arrived.
    fn take(&mut self, got: &[u8], last: &mut Last) {
        let mut is_known = false;
        for place in (last.ahead..last.count).chain(0..last.ahead) {
            let (flow, sent) = &self.frames[(last.first + place) % self.frames.len()];
            let fit = self.arrival.fit(sent, got);
            if fit == Fit::Other {
                continue;
            }
            is_known = true;
            if last.arrived & (1 << place) != 0 {
                continue;
            }
            let checks = &mut self.checks;
            match fit {
                Fit::Whole | Fit::Other => {}
                Fit::Translated => self.translated += 1,
                Fit::WrongMac => checks.bad_mac += 1,
                Fit::WrongTtl => checks.bad_ttl += 1,
                Fit::WrongChecksum => checks.bad_checksum += 1,
                Fit::Changed => checks.bad_payload += 1,
            }
            self.seen[*flow as usize] = true;
            self.received += 1;
            checks.reordered += u64::from(place < last.ahead);
            last.arrived |= 1 << place;
            last.ahead = last.ahead.max(place + 1);
            return;
        }
        // Others are strangers, such as an announcement of the kernel.
        if is_known {
            self.received += 1;
            self.checks.duplicated += 1;
        }
    }
}

/// The frames that were sent last, at most [`BATCH`].
#[derive(Clone, Copy, Default)]
struct Last {
    /// Place of the first among the lane's frames.
    first: usize,
    count: usize,
    /// Which of them is expected.
    ahead: usize,
    /// A bit for each that is there.
    arrived: u64,
}

impl Last {
    fn missing(&self) -> u32 {
        self.count as u32 - self.arrived.count_ones()
    }
}

/// A bit for each frame.
const _: () = assert!(BATCH <= u64::BITS as usize);

fn lives(own: TaskSessions) -> Lives {
    let taken = match own.measure {
        Measure::Insertion => Taken::First,
        Measure::Lookup => Taken::Later,
        Measure::FullTable => Taken::Beyond,
        _ => Taken::All,
    };
    let TaskSessions { is_tcp, lifetime, concurrent, .. } = own;
    Lives { taken, is_tcp, lifetime, concurrent }
}

fn read() -> Result<Tracked> {
    Tracked::read().map_err(|why| format!("cannot read the table of connections: {why}"))
}

/// Empties the table, until the kernel says that it is empty.
fn empty() -> Result<Tracked> {
    for _ in 0..EMPTYINGS {
        tracking::flush().map_err(|why| {
            format!("cannot empty the table of connections: {why}; it needs CONFIG_NF_CT_NETLINK")
        })?;
        let now = read()?;
        if now.entries == 0 {
            return Ok(now);
        }
        std::thread::sleep(QUIET);
    }
    let left = read()?.entries;
    Err(format!("{left} sessions stay in the table however often it is emptied"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_are_missing_late_or_there_twice_are_told_apart() {
        let flows = FlowSet::parse("198.18.10.1-198.18.10.9:7", "198.19.10.1:53").expect("flows");
        let turn: Vec<FrameOf> = (0..9).map(|flow| FrameOf { flow, number: 0 }).collect();
        let carried = (Carried::Datagram { has_mark: false }, false);
        let lane = Lane::new((&flows, &turn), (0, 60), carried, Place::Cable);
        let mut lane = lane.expect("frames have room");
        let sent: Vec<Vec<u8>> = lane.frames.iter().map(|(_, frame)| frame.clone()).collect();
        let mut last = Last { first: 0, count: 5, ..Last::default() };
        for at in [0, 2, 1, 1, 3] {
            lane.take(&sent[at], &mut last);
        }
        let Checks { reordered, duplicated, .. } = lane.checks;
        assert_eq!((lane.received, reordered, duplicated, last.missing()), (5, 1, 1, 1));
        // One that was not sent now, and one of somebody else.
        lane.take(&sent[7], &mut last);
        lane.take(&[0xa5; 60], &mut last);
        assert_eq!((lane.received, last.missing()), (5, 1));
        let mut aged = sent[4].clone();
        aged[22] -= 1;
        lane.take(&aged, &mut last);
        assert_eq!((last.missing(), lane.checks.bad_ttl), (0, 1));
        assert_eq!(lane.seen, [true, true, true, true, true, false, false, false, false]);
    }
}
