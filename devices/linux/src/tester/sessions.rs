//! The tester of devices that track sessions: XDP live frames put into the device's stack, in rounds.
//! Each round begins with an empty table, which is proven by reading it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use fwdlab_device::Watch;
use fwdlab_device::pulse::Pulse;
use fwdlab_experiment::{Experiment, SessionProtocol, SessionsOf, Traffic, Variant};
use fwdlab_port::affinity::{self, CoreShare};
use fwdlab_port::bpf::{LiveFrames, Program, XdpLink};
use fwdlab_results::{Benchmark, Busy, Checks, Interval, Measure, SessionRound, Sessions};
use fwdlab_topology::tracking::{self, Tracked};
use fwdlab_topology::{Testbed, TopologyError, port_name};
use fwdlab_traffic::rounds::{self, Lives, Part, Round, Run, Taken};
use fwdlab_traffic::{Carried, FlowSet, FrameOf, Segments, tcp_data_bytes};
use fwdlab_wire::{tcp, udp};

use super::super::setup::{self, BACK, DEVICE, OUT, RECEIVER, SENDER, place_of};
use super::live::INJECTED_AT_ONCE;
use super::sent::{Receiving, Sent, Tracking, expected, lay_down, receive};
use crate::LinuxError;
use fwdlab_xdp::receiver::Expected;
use fwdlab_xdp::tester::{self, Outlet, Pace, Written};
use fwdlab_xdp::{Headers, Shared, word};

/// Fewest rounds that are counted, and most.
const ROUNDS: std::ops::Range<usize> = 3..2_000;

/// A trial goes on for so many times its length when the processor is slow, or most is not counted.
const LONGEST: u32 = 4;

/// How long the last frames of a run may take.
const PATIENCE: Duration = Duration::from_millis(100);

/// How often a table is emptied before it counts as one that cannot be.
const EMPTYINGS: u32 = 20;

/// Turns of one call of the kernel.
const MOST_TURNS: u32 = 1 << 22;

/// A turn of the program in which no frame is due, as long as none was timed: rather too long, since a call is not over
/// before all of its turns are, whether or not frames are left.
const TURN_NS: f64 = 1_000.0;

/// A tester that is ready to send.
pub(in super::super) struct SessionTester {
    measure: Measure,
    own: SessionsOf,
    /// How many there are.
    sessions: u64,
    room: u64,
    round: Round,
    lanes: Vec<Lane>,
    pps: Option<f64>,
    /// The device is to give its frames other addresses.
    is_translated: bool,
}

/// What a run of all rounds ended with.
struct Ended {
    pinned: bool,
    core_share: Option<f64>,
    /// Frames for whose sessions there was no room.
    refused: u64,
    /// The states of TCP that the table held after the last round.
    states: String,
}

/// What sends one way and receives at its end.
struct Lane {
    shared: Shared,
    headers: Headers,
    sender: Program,
    /// Number of the device's port.
    interface: u32,
    _receiver: Receiving,
    /// So that the sender begins at once.
    _known: Option<XdpLink>,
}

/// Where a pace stands between two runs: words of the sender's program.
#[derive(Clone, Copy, Debug)]
struct Standing {
    due: u64,
    burst_left: u64,
    /// What a turn takes.
    turn_ns: f64,
}

impl Default for Standing {
    fn default() -> Self {
        Self { due: 0, burst_left: 0, turn_ns: TURN_NS }
    }
}

impl Standing {
    /// Turns of a call, whole batches, of which few or none are left when the frames that fall due in `ns` are sent.
    fn turns(&self, ns: f64) -> u32 {
        let turns = (0.9 * ns / self.turn_ns).clamp(256.0, f64::from(MOST_TURNS)) as u32;
        turns.next_multiple_of(INJECTED_AT_ONCE)
    }

    /// So many turns took so long, what a call takes for itself included: of short ones a turn is said to take longer, and
    /// the next call has fewer.
    fn took(&mut self, turns: u32, took: Duration) {
        self.turn_ns = (took.as_secs_f64() * 1e9 / f64::from(turns)).clamp(10.0, 10_000.0);
    }
}

/// What the sender's thread tells.
struct Told {
    interval: Interval,
    beats: Vec<u32>,
    round: SessionRound,
    is_warm: bool,
}

impl SessionTester {
    /// Makes the frames and puts the receivers into place.
    ///
    /// # Errors
    /// The kernel cannot do it, tracks no connections, or there are too few sessions.
    pub(super) fn new(
        testbed: &mut Testbed,
        experiment: &Experiment,
        variant: &Variant,
        (traffic, own): (&Traffic, SessionsOf),
    ) -> Result<Self, LinuxError> {
        // Alike in all variants, so that their frames are.
        let translates = |variant: &Variant| setup::has_translation(experiment, variant);
        let has_mark = experiment.variants.iter().any(translates);
        let is_translated = translates(variant);
        let flows = FlowSet::parse(&traffic.source.to_string(), &traffic.destination.to_string())?;
        let room = testbed.namespace(DEVICE)?.run(tracking::room).and_then(|room| room).map_err(
            TopologyError::kernel("look for the table of connections (nf_conntrack; doctor)"),
        )?;
        let order = fwdlab_xdp::turn(&flows, traffic.order);
        let ways = traffic.direction.ways() as usize;
        let measure = traffic.measure;
        let round = Round::new(lives(measure, own), &order, ways, room)
            .map_err(|least| too_few(experiment, traffic, room, least))?;
        let pps = traffic.load.frames_per_second(f64::from(traffic.frame_bytes));
        let data = tcp_data_bytes(&flows, traffic.frame_bytes);
        // Known sessions stay so; those that come and go are closed too.
        let script = Segments::new(own.lifetime as usize, data, measure == Measure::Rate);
        let carried = match own.protocol {
            SessionProtocol::Udp => Carried::Datagram { has_mark },
            SessionProtocol::Tcp => Carried::Segment(&script),
        };
        let lanes = (0..ways)
            .map(|way| Lane::new(testbed, (&flows, &round.turns[way]), (way, carried), traffic))
            .collect::<Result<_, _>>()?;
        let sessions = order.len() as u64;
        Ok(Self { measure, own, sessions, room, round, lanes, pps, is_translated })
    }

    /// Sends rounds for as long as the experiment says, on the processor `core`.
    ///
    /// # Errors
    /// The kernel cannot run the sender, the table cannot be emptied, or the campaign was stopped.
    pub(super) fn run(
        &self,
        testbed: &Testbed,
        experiment: &Experiment,
        core: Option<usize>,
        pulse: &mut Pulse,
        watch: &mut Watch<'_>,
    ) -> Result<Sent, LinuxError> {
        let namespace = testbed.namespace(DEVICE)?;
        let strays = self.sum(word::STRAYS);
        let is_over = AtomicBool::new(false);
        let (mut intervals, mut rounds) = (Vec::new(), Vec::new());
        let (tell, told) = mpsc::channel();
        let result = std::thread::scope(|scope| {
            let is_over = &is_over;
            let sender = std::thread::Builder::new().name("tester".to_owned()).spawn_scoped(
                scope,
                move || {
                    namespace.enter()?;
                    let pinned = core.is_some_and(|c| affinity::pin_current_thread(c).is_ok());
                    let share = CoreShare::begin();
                    let before = Tracked::read()?;
                    let states = self.rounds(experiment, is_over, &tell)?;
                    let refused = Tracked::read()?.refused - before.refused;
                    Ok(Ended { pinned, core_share: share.so_far(), refused, states })
                },
            );
            let sender = sender.map_err(|source| fwdlab_port::PortError::Thread { source })?;
            loop {
                match told.recv_timeout(Duration::from_millis(50)) {
                    Ok(Told { mut interval, beats, mut round, is_warm }) => {
                        pulse.note(&beats, &mut interval);
                        round.is_slow = interval.is_slow();
                        (watch.on_interval)(&interval);
                        intervals.push(interval);
                        rounds.extend(is_warm.then_some(round));
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if watch.is_stopped() {
                    is_over.store(true, Ordering::Relaxed);
                    self.lanes.iter().for_each(|lane| lane.shared.set(word::STOP, 1));
                }
            }
            Ok::<_, LinuxError>(
                sender.join().unwrap_or_else(|_| Err(io::Error::other("it panicked"))),
            )
        });
        if watch.is_stopped() {
            return Err(LinuxError::Stopped);
        }
        let sent = result?.map_err(TopologyError::kernel("send sessions by XDP live frames"))?;
        let Ended { pinned, core_share, refused, states } = sent;
        let own = Sessions {
            sessions: self.sessions,
            lifetime: self.own.lifetime,
            room: self.room,
            rounds,
        };
        let busy = intervals.iter().filter_map(|interval: &Interval| interval.busy);
        let busy = busy.fold(Busy::default(), |sum, own| Busy {
            ns: sum.ns + own.ns,
            frames: sum.frames + own.frames,
        });
        Ok(Sent {
            intervals,
            pinned,
            sent: self.sum(word::SENT),
            received: self.sum(word::RECEIVED),
            strays: self.sum(word::STRAYS).saturating_sub(strays),
            flows_seen: self.sum(word::FLOWS_SEEN),
            checks: self.checks(),
            ways: Vec::new(),
            waiting_share: self.waiting_share(),
            core_share,
            pacing: None,
            unread: 0,
            by_pair: Vec::new(),
            tracking: Some(self.tracking(own, busy, (refused, states))),
            latency: None,
        })
    }

    /// What is known of the table, in the words of the proof too.
    fn tracking(&self, own: Sessions, busy: Busy, (refused, states): (u64, String)) -> Tracking {
        let most = |of: fn(&SessionRound) -> u64| own.rounds.iter().map(of).max().unwrap_or(0);
        let proof = [
            ("sessions in the table, emptied", most(|round| round.emptied)),
            ("sessions in the table, most", most(|round| round.after)),
            ("sessions the table has room for", own.room),
        ];
        let proof = proof.map(|(word, count)| (word.to_owned(), count.to_string()));
        let translated =
            ("frames with other addresses".to_owned(), self.sum(word::TRANSLATED).to_string());
        let is_tcp = self.own.protocol == SessionProtocol::Tcp;
        let states = is_tcp.then(|| ("sessions in the table, states".to_owned(), states));
        let translated = self.is_translated.then_some(translated);
        let proof = proof.into_iter().chain(translated).chain(states).collect();
        let warning = (!own.is_tracked()).then(|| {
            "the device tracked no session: nothing in its rules asks for connection tracking"
                .to_owned()
        });
        let benchmark = match self.measure {
            Measure::Insertion => Some(Benchmark::Insertion(own)),
            Measure::Lookup => Some(Benchmark::Lookup(own)),
            Measure::FullTable => Some(Benchmark::FullTable(own)),
            _ => None,
        };
        Tracking { busy, benchmark, refused, proof, warning }
    }

    /// Sends one round after the other until enough was counted; the states of the last round's sessions.
    fn rounds(
        &self,
        experiment: &Experiment,
        is_over: &AtomicBool,
        tell: &Sender<Told>,
    ) -> io::Result<String> {
        let &Experiment { warmup, duration, .. } = experiment;
        let start = Instant::now();
        let (mut counted, mut count) = (Duration::ZERO, 0);
        let is_enough = |counted, count: usize| {
            let is_late = start.elapsed() > (warmup + duration) * LONGEST;
            count >= ROUNDS.start && (counted >= duration || is_late || count >= ROUNDS.end)
        };
        while !is_enough(counted, count) && !is_over.load(Ordering::Relaxed) {
            let is_warm = start.elapsed() >= warmup;
            let Some((interval, round, beats)) = self.one_round(is_over)? else { break };
            if is_warm {
                counted += Duration::from_nanos(round.ns);
                count += 1;
            }
            if tell.send(Told { interval, beats, round, is_warm }).is_err() {
                break;
            }
        }
        let states = match self.own.protocol {
            SessionProtocol::Tcp => tracking::states(),
            SessionProtocol::Udp => String::new(),
        };
        self.empty().map(|_| states)
    }

    /// Nothing when the campaign was stopped meanwhile.
    fn one_round(
        &self,
        is_over: &AtomicBool,
    ) -> io::Result<Option<(Interval, SessionRound, Vec<u32>)>> {
        let emptied = self.empty()?;
        for lane in &self.lanes {
            lane.shared.set(word::NEXT, 0);
        }
        let mut own = SessionRound { emptied: emptied.entries, ..SessionRound::default() };
        let mut interval = Interval::default();
        let mut all_beats = Vec::new();
        for part in &self.round.parts {
            let before = Tracked::read()?;
            let beats: Vec<u64> = self.each(word::BEATS);
            let Some((seen, ns)) = self.part(part, is_over)? else { return Ok(None) };
            let after = Tracked::read()?;
            if part.is_counted {
                (own.before, own.after) = (before.entries, after.entries);
                (own.sent, own.received) = (seen.tx.unwrap_or(0), seen.rx);
                (own.ns, own.busy_ns) = (ns, seen.busy.map_or(0, |busy| busy.ns));
            }
            // What fills a table is part of the frames that come through; else only what is counted is.
            if part.is_counted || self.measure == Measure::FullTable {
                interval.ms += seen.ms;
                interval.rx += seen.rx;
                interval.tx = Some(interval.tx.unwrap_or(0) + seen.tx.unwrap_or(0));
                interval.busy = seen.busy;
                let new = |(lane, from): (&Lane, u64)| lane.shared.beats(from);
                all_beats.extend(self.lanes.iter().zip(beats).flat_map(new));
            }
            own.refused = after.refused.saturating_sub(emptied.refused);
            own.evicted = after.evicted.saturating_sub(emptied.evicted);
        }
        Ok(Some((interval, own, all_beats)))
    }

    /// Sends a part; what was counted, and how long it took in ns.
    fn part(&self, part: &Part, is_over: &AtomicBool) -> io::Result<Option<(Interval, u64)>> {
        let words = [word::SENT, word::RECEIVED, word::BUSY_NS, word::BUSY_FRAMES];
        let read = || words.map(|at| self.sum(at));
        let (start, before) = (Instant::now(), read());
        let mut pace = Standing::default();
        for run in &part.runs {
            if !self.lanes[run.way].run(*run, (self.pps, &mut pace), is_over)? {
                return Ok(None);
            }
        }
        let took = start.elapsed();
        self.drain();
        let after = read();
        let [tx, rx, ns, stamped] = std::array::from_fn(|at| after[at] - before[at]);
        // Of a batch that is not full nobody takes the time, nor of one that was dropped whole.
        let all = |ns: u64| (u128::from(ns) * u128::from(tx) / u128::from(stamped.max(1))) as u64;
        let busy = (stamped > 0).then(|| Busy { ns: all(ns), frames: tx });
        let ms = took.as_secs_f64() * 1e3;
        let interval = Interval { ms, tx: Some(tx), rx, busy, ..Interval::default() };
        Ok(Some((interval, took.as_nanos() as u64)))
    }

    /// Empties the table, until the kernel says that it is empty.
    fn empty(&self) -> io::Result<Tracked> {
        for _ in 0..EMPTYINGS {
            tracking::flush()?;
            let now = Tracked::read()?;
            if now.entries == 0 {
                return Ok(now);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let left = Tracked::read()?.entries;
        let what = format!("the table cannot be emptied: sessions that stay in it: {left}");
        Err(io::Error::other(what))
    }

    /// Waits until nothing arrives any more.
    fn drain(&self) {
        let start = Instant::now();
        let mut before = self.sum(word::RECEIVED);
        while before < self.sum(word::SENT) && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
            let now = self.sum(word::RECEIVED);
            if now == before {
                break;
            }
            before = now;
        }
    }

    fn each(&self, at: usize) -> Vec<u64> {
        self.lanes.iter().map(|lane| lane.shared.get(at)).collect()
    }

    fn sum(&self, at: usize) -> u64 {
        self.each(at).iter().sum()
    }

    fn checks(&self) -> Checks {
        Checks {
            checked: self.sum(word::CHECKED),
            lost: self.sum(word::SENT).saturating_sub(self.sum(word::RECEIVED)),
            misrouted: self.sum(word::UNKNOWN_FLOW)
                + if self.is_translated { 0 } else { self.sum(word::TRANSLATED) },
            bad_ttl: self.sum(word::BAD_TTL),
            bad_checksum: self.sum(word::BAD_CHECKSUM),
            bad_mac: self.sum(word::BAD_MAC),
            ..Checks::default()
        }
    }

    fn waiting_share(&self) -> f64 {
        let (waited, sent) = (self.sum(word::WAITED), self.sum(word::SENT));
        if waited == 0 { 0.0 } else { waited as f64 / (waited + sent) as f64 }
    }
}

fn lives(measure: Measure, own: SessionsOf) -> Lives {
    let taken = match measure {
        Measure::Insertion => Taken::First,
        Measure::Lookup => Taken::Later,
        Measure::FullTable => Taken::Beyond,
        _ => Taken::All,
    };
    let SessionsOf { protocol, lifetime, concurrent } = own;
    Lives { taken, is_tcp: protocol == SessionProtocol::Tcp, lifetime, concurrent }
}

/// Refuses traffics whose sessions do not fill the device's table where they have to.
///
/// # Errors
/// What to do about it.
pub(in super::super) fn check(experiment: &Experiment) -> Result<(), LinuxError> {
    let is_full = |traffic: &&Traffic| traffic.measure == Measure::FullTable;
    for traffic in experiment.traffics.iter().filter(is_full) {
        // The room is that of the whole kernel; where there is none, the trial says so.
        let Ok(room) = tracking::room() else { continue };
        let least = rounds::least_to_fill(room);
        if traffic.flows() < least {
            return Err(too_few(experiment, traffic, room, least));
        }
    }
    Ok(())
}

fn too_few(experiment: &Experiment, traffic: &Traffic, room: u64, least: u64) -> LinuxError {
    let what = format!(
        "{}: traffic {}: its flows do not fill a table of {room} sessions: widen source or destination \
         until there are {least} of them, or leave out measure = \"{}\"",
        place_of(experiment, "measure", traffic.measure.name()),
        traffic.name,
        traffic.measure
    );
    LinuxError::Setup { what }
}

impl Lane {
    fn new(
        testbed: &mut Testbed,
        (flows, turn): (&FlowSet, &[FrameOf]),
        (way, carried): (usize, Carried<'_>),
        traffic: &Traffic,
    ) -> Result<Self, LinuxError> {
        let far = 1 - way;
        let (role, end) = [(RECEIVER, BACK), (SENDER, OUT)][way];
        let (flows, turn) = &rounds::of_way(flows, turn, way);
        let interface = testbed.interface_index(DEVICE, &port_name(way as u16))?;
        let (protocol, has_mark) = match carried {
            Carried::Datagram { has_mark } => (udp::PROTOCOL, has_mark),
            Carried::Segment(_) => (tcp::PROTOCOL, false),
        };
        let pps = traffic.load.frames_per_second(f64::from(traffic.frame_bytes));
        let pace = pps.map(|pps| Pace { is_counted: true, ..Pace::new(pps) });
        let load = || {
            let shared = Shared::new()?;
            let headers = Headers::of_turn(flows, turn, traffic.frame_bytes, (way, carried))?;
            let in_stack = Outlet::Stack { batch: INJECTED_AT_ONCE };
            let sender = tester::load(&shared, Written::of(&headers), pace, in_stack)?;
            Ok((shared, headers, sender))
        };
        let refused = TopologyError::kernel("set up the tester of sessions (XDP live frames)");
        let (shared, headers, sender) = load().map_err(refused)?;
        let expected = Expected { protocol, has_mark, ..expected(flows, far, None) };
        let _receiver = receive(testbed, (role, end), &shared, &expected)?;
        let _known = lay_down(testbed, [SENDER, RECEIVER][way], &sender);
        Ok(Self { shared, headers, sender, interface, _receiver, _known })
    }

    /// Sends so many frames; false when the campaign was stopped meanwhile.
    fn run(
        &self,
        run: Run,
        (pps, pace): (Option<f64>, &mut Standing),
        is_over: &AtomicBool,
    ) -> io::Result<bool> {
        // A pace goes on where the last run left it, whichever way that went.
        self.shared.set(word::DUE, pace.due);
        self.shared.set(word::BURST_LEFT, pace.burst_left);
        self.shared.set(word::LEFT, u64::from(run.frames));
        let end = self.shared.get(word::SENT) + u64::from(run.frames);
        loop {
            let left = end.saturating_sub(self.shared.get(word::SENT));
            if left == 0 {
                pace.due = self.shared.get(word::DUE);
                pace.burst_left = self.shared.get(word::BURST_LEFT);
                return Ok(true);
            }
            if is_over.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let turns = match pps {
                None => left.min(u64::from(MOST_TURNS)) as u32,
                Some(pps) => pace.turns(left as f64 * 1e9 / pps),
            };
            let live = LiveFrames {
                frame: &self.headers.frame,
                interface: self.interface,
                repeat: turns,
                batch: INJECTED_AT_ONCE,
            };
            // Batches begin anew: what the last one left has no stamp.
            self.shared.set(word::TURNS, 0);
            self.shared.set(word::HANDED, self.shared.get(word::SENT));
            self.shared.set(word::IS_BUSY, 0);
            let start = Instant::now();
            match self.sender.run_live(&live) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => pace.took(turns, start.elapsed()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A load of 200,000 frames/s was 125,000: a call went on for 80 ns a turn when its frames had long been sent.
    #[test]
    fn calls_of_a_pace_are_over_when_their_frames_are_sent() {
        for turn_ns in [15.0, 50.0, 80.0, 190.0, 700.0] {
            for due_ns in [1e6, 17e6, 67e6, 700e6] {
                let (mut pace, mut now, mut calls) = (Standing::default(), 0.0, 0);
                while now < due_ns {
                    let turns = pace.turns(due_ns - now);
                    assert_eq!(turns % INJECTED_AT_ONCE, 0);
                    let took = f64::from(turns) * turn_ns;
                    pace.took(turns, Duration::from_nanos(took as u64));
                    (now, calls) = (now + took, calls + 1);
                }
                let beyond = now - due_ns;
                assert!(beyond <= 256.0 * turn_ns, "{turn_ns} {due_ns}: {beyond}");
                assert!(calls < 200, "{turn_ns} {due_ns}: {calls}");
            }
        }
    }
}
