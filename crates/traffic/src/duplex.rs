//! The tester of frames that go both ways at once (RFC 2285, section 3.2.2, bidirectional traffic).

use std::sync::atomic::{AtomicBool, Ordering};

use fwdlab_port::{Clock, Pool, Port};

use crate::error::TrafficError;
use crate::lane::{Lane, Run};
use crate::outcome::{IntervalCounts, Outcome};
use crate::plan::TrafficPlan;
use crate::time::TimeSource;

/// Two lanes on one thread, in turns: what one sends on a port, the other receives on the other port.
pub struct Duplex<A, B, T = Clock> {
    near: A,
    far: B,
    time: T,
    lanes: [Lane; 2],
}

impl<A: Port, B: Port> Duplex<A, B> {
    /// A tester with `near` on the side of the sources and `far` on that of the destinations, both
    /// of which send and receive; it takes its frames from `pool`.
    ///
    /// # Errors
    /// The plan has no way back or a field out of range, or the pool has too few or too small frames.
    pub fn new(plan: &TrafficPlan, pool: &Pool, near: A, far: B) -> Result<Self, TrafficError> {
        Self::with_time(plan, pool, (near, far), Clock::new())
    }
}

/// A tester of both ways between ports that are chosen while the program runs.
pub type AnyDuplex = Duplex<Box<dyn Port>, Box<dyn Port>>;

impl AnyDuplex {
    /// As [`Duplex::run`], compiled with this crate's optimisation.
    pub fn run_any(
        &mut self,
        stop: &AtomicBool,
        on_interval: &mut dyn FnMut(&IntervalCounts),
    ) -> Outcome {
        self.run(stop, on_interval)
    }
}

impl<A: Port, B: Port, T: TimeSource> Duplex<A, B, T> {
    /// As [`new`](Duplex::new), with another clock.
    ///
    /// # Errors
    /// As [`new`](Duplex::new).
    pub fn with_time(
        plan: &TrafficPlan,
        pool: &Pool,
        (near, far): (A, B),
        time: T,
    ) -> Result<Self, TrafficError> {
        let wanted = "a way back: frames go both ways";
        let ways = plan.ways()?.ok_or(TrafficError::Plan { field: "way_back", got: 0, wanted })?;
        let [mut ahead, back] = [Lane::new(&ways[0], pool)?, Lane::new(&ways[1], pool)?];
        ahead.leave_as(&back);
        Ok(Self { near, far, time, lanes: [ahead, back] })
    }

    /// As [`Tester::run`](crate::Tester::run); intervals are the sum of both ways.
    pub fn run(
        &mut self,
        stop: &AtomicBool,
        on_interval: &mut dyn FnMut(&IntervalCounts),
    ) -> Outcome {
        let Self { near, far, time, lanes: [ahead, back] } = self;
        let (start, ns_per_tick) = (time.ticks(), time.ns_per_tick());
        let mut runs = [ahead.start(start, ns_per_tick), back.start(start, ns_per_tick)];
        let mut last = start;
        loop {
            let now = time.ticks();
            let [run_ahead, run_back] = &mut runs;
            // Both began together, and so do their intervals.
            if run_ahead.is_interval_over(now) {
                let [one, two] = [(run_ahead, &*ahead), (run_back, &*back)]
                    .map(|(run, lane): (&mut Run, &Lane)| run.close_interval(now, lane.received()));
                on_interval(&one.beside(&two));
            }
            let [run_ahead, run_back] = &mut runs;
            run_ahead.keep_load(now);
            run_back.keep_load(now);
            if run_ahead.is_over(now) || stop.load(Ordering::Relaxed) {
                let one = run_ahead.finish(now, ahead.received());
                let two = run_back.finish(now, back.received());
                if let Some((one, two)) = one.zip(two) {
                    on_interval(&one.beside(&two));
                }
                break;
            }
            let moved = ahead.step_beside(run_ahead, (near, far), now);
            let moved_back = back.step_beside(run_back, (far, near), now);
            if !moved && !moved_back {
                run_ahead.waited(now - last);
                run_back.waited(now - last);
            }
            last = now;
        }
        ahead.abandon();
        back.abandon();
        let drain_ns = self.drain();
        let [ahead, back] = &self.lanes;
        let latency = ahead.latency().zip(back.latency()).map(|(one, two)| {
            let mut both = one.clone();
            both.add(two);
            both.summary(|ticks| (ticks as f64 * ns_per_tick) as u64)
        });
        let [run_ahead, run_back] = runs;
        let turned = [ahead.turned(), back.turned()];
        let mut ahead = ahead.outcome(run_ahead, drain_ns);
        let mut back = back.outcome(run_back, drain_ns);
        // What one way's receiver saw of the other's frames has come back to its senders.
        ahead.checks.give(turned[0], &mut back.checks);
        back.checks.give(turned[1], &mut ahead.checks);
        Outcome::beside(ahead, back, latency)
    }

    /// The ports and the pool's frames are free again.
    pub fn into_ports(self) -> (A, B) {
        (self.near, self.far)
    }

    /// Receives until everything sent has arrived, or nothing has come for the plan's time.
    fn drain(&mut self) -> u64 {
        let Self { near, far, time, lanes: [ahead, back] } = self;
        let (start, ns_per_tick) = (time.ticks(), time.ns_per_tick());
        let mut drains = [ahead.draining(start, ns_per_tick), back.draining(start, ns_per_tick)];
        let mut now = start;
        while drains[0].goes_on(ahead, now) || drains[1].goes_on(back, now) {
            now = time.ticks();
            drains[0].step(ahead, far, now);
            drains[1].step(back, near, now);
        }
        ahead.refill();
        back.refill();
        ((now - start) as f64 * ns_per_tick) as u64
    }
}
