//! Bursts: frames that are written beforehand and handed over with no gap between them (RFC 2544,
//! section 26.4; RFC 9004).
//!
//! Written one by one as they leave, frames come as fast as the tester makes them; out of memory
//! they come as fast as the port takes them, which is what a full link is.

use std::convert::Infallible;

use fwdlab_port::{Batch, Clock, Frame, Pool, Port};

use crate::error::TrafficError;
use crate::plan::TrafficPlan;
use crate::sender::Sender;
use crate::time::TimeSource;

/// Frames that the port gets at once: the device sees a burst arrive in pieces of this size.
const PIECE: usize = 32;
/// The burst that a search tries first.
const FIRST: u64 = 64;
/// A search ends when its bounds are no further apart than this part of the burst.
const RESOLUTION: u64 = 256;

/// A tester that sends bursts on `out` and counts what comes back on `back`.
pub struct Burster<A, B, T = Clock> {
    out: A,
    back: B,
    time: T,
    sender: Sender,
    pool: Pool,
    spare: Vec<Frame>,
    drain_ns: u64,
    most: usize,
}

/// What became of a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BurstOutcome {
    /// Frames in it.
    pub frames: u64,
    /// Frames that the port took before it was full.
    pub taken: u64,
    /// Frames that came back.
    pub received: u64,
    /// From the first to the last frame, in ns.
    pub ns: u64,
}

impl BurstOutcome {
    /// Whether every frame came back.
    pub const fn is_whole(&self) -> bool {
        self.received >= self.frames
    }
}

/// The longest burst of at most `most` frames of which every one comes back, to 1/256:
/// doubled until one does not, then halved in between. A burst of no frame when not even one comes back.
///
/// # Errors
/// What `send` returns.
pub fn longest_burst<E>(
    most: u64,
    send: &mut dyn FnMut(u64) -> Result<BurstOutcome, E>,
) -> Result<BurstOutcome, E> {
    let mut held = BurstOutcome::default();
    let mut failed = most + 1;
    let mut next = FIRST.min(most);
    while failed - held.frames > 1 + held.frames / RESOLUTION {
        let outcome = send(next)?;
        if outcome.is_whole() && outcome.frames == next {
            held = outcome;
        } else {
            failed = next;
        }
        next = match failed > most {
            true => (2 * held.frames).min(most),
            false => u64::midpoint(held.frames, failed),
        };
    }
    Ok(held)
}

impl<A: Port, B: Port> Burster<A, B> {
    /// Sends frames of `plan`'s streams, out of all of the pool's.
    ///
    /// # Errors
    /// A field of the plan is out of range, or the pool's frames are too small.
    pub fn new(plan: &TrafficPlan, pool: &Pool, ports: (A, B)) -> Result<Self, TrafficError> {
        Self::with_time(plan, pool, ports, Clock::new())
    }
}

impl<A: Port, B: Port, T: TimeSource> Burster<A, B, T> {
    /// As [`new`](Burster::new), with another clock.
    ///
    /// # Errors
    /// As [`new`](Burster::new).
    pub fn with_time(
        plan: &TrafficPlan,
        pool: &Pool,
        (out, back): (A, B),
        time: T,
    ) -> Result<Self, TrafficError> {
        let (len, capacity) = (plan.longest()?, pool.config().capacity);
        if len > capacity {
            return Err(TrafficError::SlotTooSmall { len, capacity });
        }
        let sender = Sender::new(plan, pool.config().headroom.next_multiple_of(64))?;
        let (pool, spare, drain_ns) = (pool.clone(), Vec::new(), plan.drain_ns);
        let mut own = Self { out, back, time, sender, pool, spare, drain_ns, most: 0 };
        own.refill();
        own.most = own.spare.len();
        Ok(own)
    }

    /// The longest burst that can be sent, in frames.
    pub const fn most(&self) -> usize {
        self.most
    }

    /// Sends so many frames, at most [`most`](Self::most), or as many as the port takes; then waits
    /// until all that it took have come back, or none has for the plan's time.
    pub fn send(&mut self, frames: usize) -> BurstOutcome {
        self.refill();
        let count = frames.min(self.spare.len());
        let mut burst = self.spare.split_off(self.spare.len() - count);
        self.sender.write(&mut burst, 0);
        let mut outcome = BurstOutcome { frames: count as u64, ..BurstOutcome::default() };
        let mut batch = Batch::new();
        let start = self.time.ticks();
        // The last first, as a vector gives them out.
        while batch.is_empty() && !burst.is_empty() {
            while batch.len() < PIECE
                && let Some(frame) = burst.pop()
            {
                if let Err(frame) = batch.push(frame) {
                    burst.push(frame);
                    break;
                }
            }
            outcome.taken += self.out.send(&mut batch) as u64;
        }
        let end = self.time.ticks();
        outcome.ns = self.ns(end - start);
        self.spare.extend(batch.drain());
        self.spare.append(&mut burst);
        outcome.received = self.collect(outcome.taken);
        outcome
    }

    /// As [`longest_burst`], of those that can be sent.
    pub fn longest(&mut self) -> BurstOutcome {
        let most = self.most as u64;
        let found: Result<_, Infallible> =
            longest_burst(most, &mut |frames| Ok(self.send(frames as usize)));
        let Ok(found) = found;
        found
    }

    fn ns(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.time.ns_per_tick()) as u64
    }

    /// Receives until so many frames have come, or none for long.
    fn collect(&mut self, wanted: u64) -> u64 {
        let mut received = 0;
        let mut batch = Batch::new();
        let mut last = self.time.ticks();
        while received < wanted {
            let now = self.time.ticks();
            let count = self.back.receive(&mut batch);
            if count > 0 {
                received += count as u64;
                last = now;
                self.keep(&mut batch);
            } else if self.ns(now - last) > self.drain_ns {
                break;
            }
        }
        // What the device sent back to where it came from is lost, and its frame used again.
        while self.out.receive(&mut batch) > 0 {
            self.keep(&mut batch);
        }
        received
    }

    fn keep(&mut self, batch: &mut Batch) {
        for mut frame in batch.drain() {
            self.sender.adopt(&mut frame);
            self.spare.push(frame);
        }
    }

    /// Frames that the device dropped are in the pool again.
    fn refill(&mut self) {
        let mut batch = Batch::new();
        while self.pool.take_batch(&mut batch, Batch::CAPACITY) > 0 {
            self.keep(&mut batch);
        }
    }
}
