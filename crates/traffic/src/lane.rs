//! One way of the tester's frames: sent on one port, received on another, on the tester's thread.

use fwdlab_port::{Batch, Pool, Port};

use crate::error::TrafficError;
use crate::frames::Frames;
use crate::latency::Latency;
use crate::load::Load;
use crate::outcome::{FaultyFlow, Gap, IntervalCounts, Outcome, StreamOutcome};
use crate::pacer::Pacer;
use crate::plan::TrafficPlan;
use crate::receiver::Receiver;
use crate::sender::Sender;

/// Sender and receiver of one way, and the frames between them.
pub(crate) struct Lane {
    plan: TrafficPlan,
    sender: Sender,
    receiver: Receiver,
    frames: Frames,
    /// Positions in the batch just arrived; empty in between.
    strangers: Vec<usize>,
    rate: Option<f64>,
}

/// One run of the loop.
pub(crate) struct Run {
    start: u64,
    end: u64,
    interval_end: u64,
    interval_ticks: u64,
    interval_start: u64,
    waiting_ticks: u64,
    ns_per_tick: f64,
    intervals: Vec<IntervalCounts>,
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

/// Polls between two looks at the sending side.
const POLLS: u32 = 64;

impl Lane {
    /// A lane for a plan of one way.
    ///
    /// # Errors
    /// A field of the plan is out of range, or the pool has too few or too small frames.
    pub(crate) fn new(plan: &TrafficPlan, pool: &Pool) -> Result<Self, TrafficError> {
        let headroom = pool.config().headroom.next_multiple_of(64);
        let sender = Sender::new(plan, headroom)?;
        let receiver = Receiver::new(plan, &sender)?;
        let rate = plan.frames_per_second()?;
        let frames = Frames::take(plan, pool, &sender)?;
        let (plan, strangers) = (plan.clone(), Vec::new());
        Ok(Self { plan, sender, receiver, frames, strangers, rate })
    }

    /// Sending begins at `start` (ticks).
    pub(crate) fn start(&self, start: u64, ns_per_tick: f64) -> Run {
        let ticks = |ns: u64| (ns as f64 / ns_per_tick) as u64;
        let planned = self.plan.duration_ns / self.plan.interval_ns + 2;
        Run {
            start,
            end: start + ticks(self.plan.duration_ns),
            interval_end: start + ticks(self.plan.interval_ns),
            interval_ticks: ticks(self.plan.interval_ns).max(1),
            interval_start: start,
            waiting_ticks: 0,
            ns_per_tick,
            intervals: Vec::with_capacity(planned.min(1 << 20) as usize),
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

    /// Frames of test traffic received so far.
    pub(crate) fn received(&self) -> u64 {
        self.receiver.received()
    }

    /// Receives what has come on `back` and sends on `out` what is allowed now; returns whether any
    /// frame moved.
    #[inline(always)]
    pub(crate) fn step<A: Port, B: Port>(
        &mut self,
        run: &mut Run,
        out: &mut A,
        back: &mut B,
        now: u64,
    ) -> bool {
        run.polls = run.polls.wrapping_add(1);
        if run.polls.is_multiple_of(POLLS) {
            self.look_around(out, false);
        }
        if self.is_starving(run) {
            self.refill();
        }
        self.step_ahead(run, out, back, now)
    }

    /// As [`step`](Self::step), where what comes on `out` is for another lane.
    #[inline(always)]
    pub(crate) fn step_beside<A: Port, B: Port>(
        &mut self,
        run: &mut Run,
        (out, back): (&mut A, &mut B),
        now: u64,
    ) -> bool {
        run.polls = run.polls.wrapping_add(1);
        if self.is_starving(run) {
            self.refill();
        }
        self.step_ahead(run, out, back, now)
    }

    /// Whether it is time, once more, to take frames for lost that have not come.
    #[inline(always)]
    fn is_starving(&self, run: &Run) -> bool {
        let patience = self.plan.patience;
        run.idle_polls >= patience && run.idle_polls.is_multiple_of(patience)
    }

    #[inline(always)]
    fn step_ahead<A: Port, B: Port>(
        &mut self,
        run: &mut Run,
        out: &mut A,
        back: &mut B,
        now: u64,
    ) -> bool {
        let received = self.inhale(back, now);
        if received > 0 {
            run.arrived(now);
        }
        let sent = self.exhale(run, out, now, received);
        run.idle_polls = if received == 0 { run.idle_polls.saturating_add(1) } else { 0 };
        received > 0 || sent > 0
    }

    /// Receives and checks; returns how many frames came.
    #[inline]
    fn inhale<B: Port>(&mut self, back: &mut B, now: u64) -> usize {
        let arrived = &mut self.frames.arrived;
        let before = arrived.len();
        let count = back.receive(arrived);
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
    fn exhale<A: Port>(&mut self, run: &mut Run, out: &mut A, now: u64, received: usize) -> usize {
        if self.frames.ready.is_empty() {
            let allowed = match &mut run.pacer {
                Some(pacer) => pacer.due(now).min(Batch::CAPACITY),
                None if self.frames.at_hand() >= self.plan.batch => Batch::CAPACITY,
                None if run.idle_polls >= self.plan.patience => Batch::CAPACITY,
                None => 0,
            };
            self.frames.load(allowed);
            self.sender.write(&mut self.frames.ready, now);
        }
        let offered = self.frames.ready.len();
        let sent = if offered > 0 { out.send(&mut self.frames.ready) } else { 0 };
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
    pub(crate) fn look_around<A: Port>(&mut self, out: &mut A, is_starving: bool) {
        let mut returned = Batch::new();
        while out.receive(&mut returned) > 0 {
            for mut frame in returned.drain() {
                self.receiver.check_returned(&frame);
                self.sender.adopt(&mut frame);
                self.frames.spare.push(frame);
            }
        }
        if is_starving {
            self.refill();
        }
    }

    /// Takes frames that the device gave back to the pool.
    #[cold]
    pub(crate) fn refill(&mut self) {
        self.frames.refill(&self.sender);
    }

    /// Leaves as many frames to the pool as another lane does, which took its own later.
    pub(crate) fn leave_as(&mut self, later: &Self) {
        self.frames.leave_as(&later.frames);
    }

    /// At the end: frames that were written but never left do not count as sent.
    pub(crate) fn abandon(&mut self) {
        self.frames.abandon(&mut self.sender);
    }

    /// From `now` on (ticks) nothing is sent, and what is still on its way is received.
    pub(crate) fn draining(&self, now: u64, ns_per_tick: f64) -> Drain {
        Drain { silence: (self.plan.drain_ns as f64 / ns_per_tick) as u64, last_frame: now }
    }

    /// The latencies so far.
    pub(crate) fn latency(&self) -> Option<&Latency> {
        self.receiver.latency()
    }

    fn is_waiting(&self) -> bool {
        let duplicated = self.receiver.checks().duplicated;
        self.sender.sent().sum::<u64>() + duplicated > self.receiver.received()
    }

    /// Of the frames of unknown flows that this lane received, those of its own flows turned round.
    pub(crate) fn turned(&self) -> u64 {
        self.receiver.turned()
    }

    pub(crate) fn outcome(&self, run: Run, drain_ns: u64) -> Outcome {
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

impl Run {
    /// When sending began, in ticks.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Whether sending ends.
    pub(crate) fn is_over(&self, now: u64) -> bool {
        now >= self.end
    }

    pub(crate) fn is_interval_over(&self, now: u64) -> bool {
        now >= self.interval_end
    }

    /// Another load, once it is due.
    #[inline]
    pub(crate) fn keep_load(&mut self, now: u64) {
        if let Some((at, pps)) = self.change
            && now >= at
        {
            self.change_load(now, pps);
        }
    }

    /// So many ticks in which no frame moved.
    #[inline]
    pub(crate) fn waited(&mut self, ticks: u64) {
        self.waiting_ticks += ticks;
    }

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

    /// Ends the interval; `received` counts from the start.
    pub(crate) fn close_interval(&mut self, now: u64, received: u64) -> IntervalCounts {
        let ns = |ticks: u64| (ticks as f64 * self.ns_per_tick) as u64;
        let before =
            |field: fn(&IntervalCounts) -> u64| self.intervals.iter().map(field).sum::<u64>();
        let interval = IntervalCounts {
            index: self.intervals.len(),
            start_ns: ns(self.interval_start - self.start),
            length_ns: ns(now - self.start) - ns(self.interval_start - self.start),
            sent: self.sent - before(|interval| interval.sent),
            received: received - before(|interval| interval.received),
            waiting_ns: ns(self.waiting_ticks),
        };
        self.intervals.push(interval);
        self.waiting_ticks = 0;
        self.interval_start = now;
        // On the planned grid, however late this reading was.
        let behind = (now - self.interval_end) / self.interval_ticks;
        self.interval_end += (behind + 1) * self.interval_ticks;
        interval
    }

    /// Ends the last interval, if it has begun.
    pub(crate) fn finish(&mut self, now: u64, received: u64) -> Option<IntervalCounts> {
        (now > self.interval_start).then(|| {
            self.interval_end = self.interval_end.min(now);
            self.close_interval(now, received)
        })
    }
}

/// The time after sending.
pub(crate) struct Drain {
    /// It ends when nothing has come for so long, in ticks.
    silence: u64,
    last_frame: u64,
}

impl Drain {
    pub(crate) fn goes_on(&self, lane: &Lane, now: u64) -> bool {
        now - self.last_frame < self.silence && lane.is_waiting()
    }

    pub(crate) fn step<B: Port>(&mut self, lane: &mut Lane, back: &mut B, now: u64) {
        if lane.inhale(back, now) > 0 {
            self.last_frame = now;
        }
        lane.frames.set_aside();
    }
}
