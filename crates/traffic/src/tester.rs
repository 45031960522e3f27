//! The tester's loop: receive, check, rewrite, send, on one thread.

use std::sync::atomic::{AtomicBool, Ordering};

use fwdlab_port::{Clock, Pool, Port};

use crate::error::TrafficError;
use crate::lane::Lane;
use crate::outcome::{IntervalCounts, Outcome};
use crate::plan::TrafficPlan;
use crate::time::TimeSource;

/// Generator and receiver of one trial, between two ports of a device.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use fwdlab_port::{Batch, Pool, Port, ring};
/// use fwdlab_traffic::{FlowSet, TrafficPlan, Stream, Tester};
///
/// let flows = FlowSet::parse("198.18.10.1-198.18.10.20:2000", "198.19.10.1-198.19.10.100:2000")?;
/// let mut plan = TrafficPlan::new(vec![Stream::new(flows)]);
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
    lane: Lane,
}

impl<A: Port, B: Port> Tester<A, B> {
    /// A tester that sends on `out`, receives on `back`, and takes its frames from `pool`.
    ///
    /// # Errors
    /// A field of the plan is out of range, or the pool has too few or too small frames.
    pub fn new(plan: &TrafficPlan, pool: &Pool, out: A, back: B) -> Result<Self, TrafficError> {
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
        on_interval: &mut dyn FnMut(&IntervalCounts),
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
        plan: &TrafficPlan,
        pool: &Pool,
        (out, back): (A, B),
        time: T,
    ) -> Result<Self, TrafficError> {
        if plan.way_back.is_some() {
            let wanted = "nothing: one tester sends one way";
            return Err(TrafficError::Plan { field: "way_back", got: 1, wanted });
        }
        Ok(Self { out, back, time, lane: Lane::new(plan, pool)? })
    }

    /// Sends for the plan's duration or until `stop` is set, then receives what is still on its
    /// way. Calls `on_interval` at the end of every interval, on this thread: it must be quick.
    pub fn run(
        &mut self,
        stop: &AtomicBool,
        on_interval: &mut dyn FnMut(&IntervalCounts),
    ) -> Outcome {
        let Self { out, back, time, lane } = self;
        let mut run = lane.start(time.ticks(), time.ns_per_tick());
        let mut last = run.start();
        loop {
            let now = time.ticks();
            if run.is_interval_over(now) {
                on_interval(&run.close_interval(now, lane.received()));
            }
            run.keep_load(now);
            if run.is_over(now) || stop.load(Ordering::Relaxed) {
                if let Some(interval) = run.finish(now, lane.received()) {
                    on_interval(&interval);
                }
                break;
            }
            if !lane.step(&mut run, out, back, now) {
                run.waited(now - last);
            }
            last = now;
        }
        lane.abandon();
        let drain_ns = self.drain();
        self.lane.outcome(run, drain_ns)
    }

    /// The ports and the pool's frames are free again.
    pub fn into_ports(self) -> (A, B) {
        (self.out, self.back)
    }

    /// Receives until everything sent has arrived, or nothing has come for the plan's time.
    fn drain(&mut self) -> u64 {
        let Self { out, back, time, lane } = self;
        let start = time.ticks();
        let mut drain = lane.draining(start, time.ns_per_tick());
        let mut now = start;
        while drain.goes_on(lane, now) {
            now = time.ticks();
            drain.step(lane, back, now);
        }
        lane.look_around(out, true);
        ((now - start) as f64 * time.ns_per_tick()) as u64
    }
}
