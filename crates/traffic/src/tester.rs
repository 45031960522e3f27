//! The tester's loop: receive, check, rewrite, send, on one thread.

use std::sync::atomic::{AtomicBool, Ordering};

use fwdlab_port::{Batch, Clock, Pool, Port};

use crate::error::TrafficError;
use crate::frames::Frames;
use crate::load::Load;
use crate::outcome::{FaultyFlow, Gap, Interval, Outcome, StreamOutcome};
use crate::pacer::Pacer;
use crate::plan::Plan;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::time::TimeSource;

/// Generator and receiver of one trial, between two ports of a device.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use fwdlab_port::{Batch, Pool, Port, ring};
/// use fwdlab_traffic::{FlowSet, Plan, Stream, Tester};
///
/// let flows = FlowSet::parse("198.18.10.1-198.18.10.20:2000", "198.19.10.1-198.19.10.100:2000")?;
/// let mut plan = Plan::new(vec![Stream::new(flows)]);
/// plan.duration_ns = 20_000_000;
/// plan.interval_ns = 5_000_000;
///
/// let pool = Pool::with_frames(4096)?;
/// let (tester_a, mut device_0) = ring::pair(2048);
/// let (mut device_1, tester_b) = ring::pair(2048);
/// let stop = AtomicBool::new(false);
/// let outcome = std::thread::scope(|scope| {
///     // The device under test: here a thread that takes one off the TTL and corrects the
///     // checksum (RFC 1624), and nothing else.
///     scope.spawn(|| {
///         let mut batch = Batch::new();
///         while !stop.load(Ordering::Relaxed) {
///             device_0.receive(&mut batch);
///             for frame in batch.iter_mut() {
///                 frame[0..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
///                 frame[22] -= 1;
///                 let sum = u16::from_be_bytes([frame[24], frame[25]]);
///                 let sum = fwdlab_wire::checksum::update_u16(sum, 0x0100, 0x0000);
///                 frame[24..26].copy_from_slice(&sum.to_be_bytes());
///             }
///             while !batch.is_empty() && !stop.load(Ordering::Relaxed) {
///                 device_1.send(&mut batch);
///             }
///         }
///     });
///     let mut tester = Tester::new(&plan, &pool, tester_a, tester_b)?;
///     let outcome = tester.run(&AtomicBool::new(false), &mut |interval| {
///         eprintln!("{:.1} Mframes/s", interval.received_pps() / 1e6);
///     });
///     stop.store(true, Ordering::Relaxed);
///     Ok::<_, fwdlab_traffic::TrafficError>(outcome)
/// })?;
/// assert!(outcome.checks.is_clean(), "{:?}", outcome.checks);
/// assert_eq!(outcome.flows_seen(), 2000);
/// assert_eq!(outcome.sent(), outcome.received() + outcome.lost());
/// assert_eq!(outcome.lost(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Tester<A, B, T = Clock> {
    out: A,
    back: B,
    time: T,
    plan: Plan,
    sender: Sender,
    receiver: Receiver,
    frames: Frames,
    /// Positions in the batch just arrived; empty in between.
    strangers: Vec<usize>,
    rate: Option<f64>,
}

/// One run of the loop.
struct Run<'a> {
    start: u64,
    end: u64,
    interval_end: u64,
    interval_ticks: u64,
    interval_start: u64,
    waiting_ticks: u64,
    ns_per_tick: f64,
    intervals: Vec<Interval>,
    on_interval: &'a mut dyn FnMut(&Interval),
    pacer: Option<Pacer>,
    /// When the load changes, and to what; never after it has.
    change: Option<(u64, f64)>,
    /// The last arrival, and the longest times without one, in ticks.
    arrival: Option<u64>,
    gaps: Vec<(u64, u64)>,
    /// Shorter gaps are not kept.
    least_gap: u64,
    sent: u64,
    refused: u64,
    polls: u32,
    idle_polls: u32,
}

/// After so many polls without a frame the tester publishes what it has, however little, and
/// looks for frames that the device gave back to the pool.
const PATIENCE: u32 = 64;

impl<A: Port, B: Port> Tester<A, B> {
    /// A tester that sends on `out`, receives on `back`, and takes its frames from `pool`.
    ///
    /// # Errors
    /// A field of the plan is out of range, or the pool has too few or too small frames.
    pub fn new(plan: &Plan, pool: &Pool, out: A, back: B) -> Result<Self, TrafficError> {
        Self::with_time(plan, pool, (out, back), Clock::new())
    }
}

/// A tester between ports that are chosen while the program runs.
pub type AnyTester = Tester<Box<dyn Port>, Box<dyn Port>>;

impl AnyTester {
    /// As [`Tester::run`]. It is a function of one type, so that it is compiled here, with this
    /// crate's optimisation, and not anew in every program that calls it.
    pub fn run_any(
        &mut self,
        stop: &AtomicBool,
        on_interval: &mut dyn FnMut(&Interval),
    ) -> Outcome {
        self.run(stop, on_interval)
    }
}

impl<A: Port, B: Port, T: TimeSource> Tester<A, B, T> {
    /// As [`new`](Tester::new), with another clock.
    ///
    /// # Errors
    /// As [`new`](Tester::new).
    pub fn with_time(
        plan: &Plan,
        pool: &Pool,
        (out, back): (A, B),
        time: T,
    ) -> Result<Self, TrafficError> {
        let headroom = pool.config().headroom.next_multiple_of(64);
        let sender = Sender::new(plan, headroom)?;
        let receiver = Receiver::new(plan, &sender)?;
        let rate = plan.frames_per_second()?;
        let frames = Frames::take(plan, pool, &sender)?;
        let (plan, strangers) = (plan.clone(), Vec::new());
        Ok(Self { out, back, time, plan, sender, receiver, frames, strangers, rate })
    }

    /// Sends for the plan's duration or until `stop` is set, then receives what is still on its
    /// way. Calls `on_interval` at the end of every interval, on this thread: it must be quick.
    pub fn run(&mut self, stop: &AtomicBool, on_interval: &mut dyn FnMut(&Interval)) -> Outcome {
        let mut run = self.start(on_interval);
        let mut last = run.start;
        loop {
            let now = self.time.ticks();
            if now >= run.interval_end {
                run.close_interval(now, self.receiver.received());
            }
            if let Some((at, pps)) = run.change
                && now >= at
            {
                run.change_load(now, pps);
            }
            if now >= run.end || stop.load(Ordering::Relaxed) {
                run.finish(now, self.receiver.received());
                break;
            }
            let received = self.inhale(now);
            if received > 0 {
                run.arrived(now);
            }
            let sent = self.exhale(&mut run, now, received);
            run.idle_polls = if received == 0 { run.idle_polls.saturating_add(1) } else { 0 };
            if received == 0 && sent == 0 {
                run.waiting_ticks += now - last;
            }
            last = now;
        }
        self.frames.abandon(&mut self.sender);
        let drain_ns = self.drain();
        self.outcome(run, drain_ns)
    }

    /// The ports and the pool's frames are free again.
    pub fn into_ports(self) -> (A, B) {
        (self.out, self.back)
    }

    fn start<'a>(&mut self, on_interval: &'a mut dyn FnMut(&Interval)) -> Run<'a> {
        let ns_per_tick = self.time.ns_per_tick();
        let ticks = |ns: u64| (ns as f64 / ns_per_tick) as u64;
        let planned = self.plan.duration_ns / self.plan.interval_ns + 2;
        let start = self.time.ticks();
        Run {
            start,
            end: start + ticks(self.plan.duration_ns),
            interval_end: start + ticks(self.plan.interval_ns),
            interval_ticks: ticks(self.plan.interval_ns).max(1),
            interval_start: start,
            waiting_ticks: 0,
            ns_per_tick,
            intervals: Vec::with_capacity(planned.min(1 << 20) as usize),
            on_interval,
            pacer: self.pacer(ns_per_tick, start),
            change: self.plan.change.map(|change| (start + ticks(change.after_ns), change.pps)),
            arrival: None,
            gaps: Vec::with_capacity(Outcome::MOST_GAPS),
            least_gap: 0,
            sent: 0,
            refused: 0,
            polls: 0,
            idle_polls: 0,
        }
    }

    fn pacer(&self, ns_per_tick: f64, start: u64) -> Option<Pacer> {
        match (&self.plan.recording, self.plan.load) {
            (Some(recording), Load::Recorded) => {
                Some(Pacer::recorded(recording.schedule(), ns_per_tick, start))
            }
            _ => self.rate.map(|rate| Pacer::new(rate, ns_per_tick, start)),
        }
    }

    /// Receives and checks; returns how many frames came.
    #[inline]
    fn inhale(&mut self, now: u64) -> usize {
        let arrived = &mut self.frames.arrived;
        let before = arrived.len();
        let count = self.back.receive(arrived);
        if count > 0 {
            let strangers = &mut self.strangers;
            self.receiver.check(&arrived[before..], now, |at| strangers.push(before + at));
            if !strangers.is_empty() {
                self.readopt();
            }
        }
        count
    }

    /// Frames came that are not as we wrote them: they get their pattern back.
    #[cold]
    fn readopt(&mut self) {
        for at in self.strangers.drain(..) {
            if let Some(frame) = self.frames.arrived.get_mut(at) {
                self.sender.adopt(frame);
            }
        }
    }

    /// Writes and sends what is allowed now; returns how many frames left.
    #[inline]
    fn exhale(&mut self, run: &mut Run<'_>, now: u64, received: usize) -> usize {
        run.polls = run.polls.wrapping_add(1);
        if run.polls.is_multiple_of(PATIENCE) {
            self.look_around(run.idle_polls >= PATIENCE);
        }
        if self.frames.ready.is_empty() {
            let allowed = match &mut run.pacer {
                Some(pacer) => pacer.due(now).min(Batch::CAPACITY),
                None if self.frames.at_hand() >= self.plan.batch => Batch::CAPACITY,
                None if run.idle_polls >= PATIENCE => Batch::CAPACITY,
                None => 0,
            };
            self.frames.load(allowed);
            self.sender.write(&mut self.frames.ready, now);
        }
        let offered = self.frames.ready.len();
        let sent = if offered > 0 { self.out.send(&mut self.frames.ready) } else { 0 };
        if sent < offered && received > 0 {
            self.frames.set_aside();
        }
        run.sent += sent as u64;
        run.refused += (offered - sent) as u64;
        if let (Some(pacer), true) = (&mut run.pacer, sent > 0) {
            pacer.left(sent, now);
        }
        sent
    }

    /// Frames may have come back on the sending side; and when nothing has come for a while,
    /// they may have gone back to the pool.
    #[cold]
    fn look_around(&mut self, is_starving: bool) {
        let mut returned = Batch::new();
        if self.out.receive(&mut returned) > 0 {
            for mut frame in returned.drain() {
                self.receiver.check_returned(&frame);
                self.sender.adopt(&mut frame);
                self.frames.spare.push(frame);
            }
        }
        if is_starving {
            self.frames.refill(&self.sender);
        }
    }

    /// Receives until everything sent has arrived, or nothing has come for `drain_ns`.
    fn drain(&mut self) -> u64 {
        let ns_per_tick = self.time.ns_per_tick();
        let silence = (self.plan.drain_ns as f64 / ns_per_tick) as u64;
        let start = self.time.ticks();
        let mut last_frame = start;
        let mut now = start;
        while now - last_frame < silence && self.is_waiting() {
            now = self.time.ticks();
            if self.inhale(now) > 0 {
                last_frame = now;
            }
            self.frames.set_aside();
        }
        self.look_around(true);
        ((now - start) as f64 * ns_per_tick) as u64
    }

    fn is_waiting(&self) -> bool {
        let duplicated = self.receiver.checks().duplicated;
        self.sender.sent().sum::<u64>() + duplicated > self.receiver.received()
    }

    fn outcome(&mut self, run: Run<'_>, drain_ns: u64) -> Outcome {
        let ns_per_tick = run.ns_per_tick;
        let duration_ns = run.intervals.iter().map(|interval| interval.length_ns).sum();
        let mut outcome = Outcome {
            streams: self.stream_outcomes(),
            checks: self.receiver.checks(),
            sent_bytes: self.sender.bytes(),
            refused: run.refused,
            duration_ns,
            drain_ns,
            pacing: run.pacer.as_ref().map(|pacer| pacer.summary(ns_per_tick)),
            latency: self
                .receiver
                .latency()
                .map(|latency| latency.summary(|ticks| (ticks as f64 * ns_per_tick) as u64)),
            lapses: run
                .pacer
                .as_ref()
                .map(|pacer| pacer.lapses(run.start, ns_per_tick))
                .unwrap_or_default(),
            gaps: run.gaps(),
            intervals: run.intervals,
            ..Outcome::default()
        };
        self.list_faulty_flows(&mut outcome);
        outcome
    }

    fn stream_outcomes(&self) -> Vec<StreamOutcome> {
        let sent = self.sender.sent().zip(self.sender.distinct_flows());
        let received = self.receiver.received_by_stream().zip(self.receiver.flows_seen());
        let recorded = self.plan.recording.iter().map(|recording| recording.flows());
        let planned = recorded.chain(self.plan.streams.iter().map(|stream| stream.flows.count()));
        let both = planned.zip(sent.zip(received));
        let outcome =
            |(flows_planned, ((sent, flows_sent), ((received, duplicated), flows_seen)))| {
                StreamOutcome { sent, received, duplicated, flows_planned, flows_sent, flows_seen }
            };
        both.map(outcome).collect()
    }

    fn list_faulty_flows(&self, outcome: &mut Outcome) {
        if outcome.lost() == 0 && outcome.checks.duplicated + outcome.checks.reordered == 0 {
            return;
        }
        for (stream, totals) in outcome.streams.iter().enumerate() {
            for flow in 0..totals.flows_planned {
                let sent = self.sender.sent_of(stream, flow as usize);
                let faults = self.receiver.faults_of(stream, flow as usize, sent);
                if faults != crate::sequence::FlowFaults::default() {
                    outcome.faulty_flows += 1;
                    if outcome.worst_flows.len() < Outcome::WORST_FLOWS {
                        outcome.worst_flows.push(FaultyFlow { stream, flow, faults });
                    }
                }
            }
        }
    }
}

impl Run<'_> {
    #[cold]
    fn change_load(&mut self, now: u64, pps: f64) {
        self.change = None;
        if let Some(pacer) = &mut self.pacer {
            pacer.change(pps, self.ns_per_tick, now);
        }
    }

    #[inline]
    fn arrived(&mut self, now: u64) {
        let before = self.arrival.replace(now).unwrap_or(now);
        if now - before > self.least_gap {
            self.keep_gap(before, now - before);
        }
    }

    /// Keeps the gap if it is one of the longest.
    #[cold]
    fn keep_gap(&mut self, at: u64, length: u64) {
        if self.gaps.len() < Outcome::MOST_GAPS {
            self.gaps.push((at, length));
            return;
        }
        if let Some(shortest) = self.gaps.iter_mut().min_by_key(|(_, length)| *length) {
            *shortest = (at, length);
        }
        self.least_gap = self.gaps.iter().map(|(_, length)| *length).min().unwrap_or(0);
    }

    fn gaps(&self) -> Vec<Gap> {
        let ns = |ticks: u64| (ticks as f64 * self.ns_per_tick) as u64;
        self.gaps
            .iter()
            .map(|&(at, length)| Gap { at_ns: ns(at - self.start), ns: ns(length) })
            .collect()
    }

    fn close_interval(&mut self, now: u64, received: u64) {
        let ns = |ticks: u64| (ticks as f64 * self.ns_per_tick) as u64;
        let before = |field: fn(&Interval) -> u64| self.intervals.iter().map(field).sum::<u64>();
        let interval = Interval {
            index: self.intervals.len(),
            start_ns: ns(self.interval_start - self.start),
            length_ns: ns(now - self.start) - ns(self.interval_start - self.start),
            sent: self.sent - before(|interval| interval.sent),
            received: received - before(|interval| interval.received),
            waiting_ns: ns(self.waiting_ticks),
        };
        self.intervals.push(interval);
        (self.on_interval)(&interval);
        self.waiting_ticks = 0;
        self.interval_start = now;
        // On the planned grid, however late this reading was.
        let behind = (now - self.interval_end) / self.interval_ticks;
        self.interval_end += (behind + 1) * self.interval_ticks;
    }

    fn finish(&mut self, now: u64, received: u64) {
        if now > self.interval_start {
            self.interval_end = self.interval_end.min(now);
            self.close_interval(now, received);
        }
    }
}
