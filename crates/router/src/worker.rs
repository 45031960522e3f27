//! A worker: one thread's share of the router. Inhale, process, exhale.

mod house;
mod program;
mod state;

use fwdlab_port::Port;

use crate::drops::DropReason;
use crate::fate::{HELD, PORT_LIMIT, SPLIT};
use state::{NO_LANE, discard, scatter_split};

pub use program::AnyPcapPort;
pub use state::{Overflow, Worker};

/// Least time that is burnt at once: reading the clock takes a hundredth of it.
const LEAST_BURN_NS: f64 = 2_000.0;

impl<P: Port> Worker<P> {
    /// Receives once from each port, processes and sends; returns how many frames were received.
    /// Call it in a loop: it never waits.
    pub fn poll(&mut self) -> usize {
        let begin = self.clock.ticks();
        self.poll_from(begin, self.clock.ticks_to_ns(begin))
    }

    /// As [`Worker::poll`], but timers and rate limits go by `now_ns`, nanoseconds from any
    /// fixed start. Busy time is the clock's all the same.
    pub fn poll_at(&mut self, now_ns: u64) -> usize {
        self.poll_from(self.clock.ticks(), now_ns)
    }

    fn poll_from(&mut self, begin: u64, now_ns: u64) -> usize {
        self.plane.begin(now_ns, &self.knobs);
        let mut frames = 0;
        for lane in 0..self.lanes.len() {
            frames += self.poll_lane(lane);
        }
        let has_made = !self.plane.made.is_empty() || !self.plane.whole.is_empty();
        if now_ns >= self.next_tick_ns || !self.held.is_empty() || has_made {
            self.keep_house(now_ns);
        }
        self.account(frames, begin);
        frames
    }

    fn poll_lane(&mut self, index: usize) -> usize {
        if self.is_blocked() {
            return 0;
        }
        let lane = &mut self.lanes[index];
        let count = lane.port.receive(&mut self.received);
        if count > 0 {
            self.plane.process(lane.number, &mut self.received);
            // Before they leave: what takes longer delays them.
            self.burn(count);
            self.exhale();
        }
        count
    }

    /// Sends what waits in the output queues; true when the worker must not receive.
    fn is_blocked(&mut self) -> bool {
        let mut is_blocked = false;
        for lane in &mut self.lanes {
            if !lane.queue.is_empty() {
                lane.send(&self.plane.counters);
                is_blocked |= self.overflow == Overflow::Wait && !lane.queue.is_empty();
            }
        }
        is_blocked
    }

    /// Hands each received frame on according to its fate.
    fn exhale(&mut self) {
        let fates = &self.plane.fates[..self.received.len()];
        let first = fates[0];
        let all_alike = fates.iter().fold(0, |differences, fate| differences | (fate ^ first)) == 0;
        match self.lane_of[usize::from(first)] {
            lane if all_alike
                && lane != NO_LANE
                && self.lanes[usize::from(lane)].queue.is_empty() =>
            {
                // The usual case: the whole batch leaves through one port, without a copy.
                let sent = self.lanes[usize::from(lane)].port.send(&mut self.received);
                self.plane.counters.sent.add(sent as u64);
                if !self.received.is_empty() {
                    self.enqueue_rest(usize::from(lane));
                }
            }
            _ => self.scatter(),
        }
    }

    /// Queues what a port did not take.
    #[cold]
    fn enqueue_rest(&mut self, lane: usize) {
        let count = self.received.len();
        self.received.move_front(&mut self.lanes[lane].queue, count);
    }

    /// Sorts the frames into the output queues and sends those.
    fn scatter(&mut self) {
        for (frame, &fate) in self.received.drain().zip(&self.plane.fates) {
            let lane = self.lane_of[usize::from(fate)];
            if lane != NO_LANE {
                let unsent = self.lanes[usize::from(lane)].enqueue(frame, &self.plane.counters);
                if let Some(frame) = unsent {
                    discard(&mut self.dropped, &self.plane.pool, frame);
                }
            } else if fate == HELD {
                self.held.push_back(frame);
            } else if fate == SPLIT {
                let Some(split) = self.plane.splits.pop_front() else { continue };
                let lane = self.lanes.get_mut(usize::from(self.lane_of[usize::from(split.port)]));
                scatter_split(lane, split, frame, (&mut self.dropped, &self.plane));
            } else {
                // Dropped or consumed, and counted as such; or for a port of another worker.
                if usize::from(fate) < PORT_LIMIT {
                    self.plane.counters.count_drop(DropReason::NoSuchPort);
                }
                discard(&mut self.dropped, &self.plane.pool, frame);
            }
        }
        self.flush();
    }

    /// Spins for the time that the control word asks for: not a sleep, as a slower device would
    /// be busy too. What is owed is collected until the clock's grain no longer matters, and what
    /// was burnt beyond it counts for the next frames, so that the time per frame is exact. Somebody
    /// else's time on this processor pays for no frame.
    fn burn(&mut self, frames: usize) {
        let extra = self.knobs.extra_ns_per_frame.value();
        if extra <= 0.0 {
            return;
        }
        self.owed_ns += extra * frames as f64;
        if self.owed_ns >= LEAST_BURN_NS {
            let start = self.clock.ticks();
            let owed = (self.owed_ns / self.clock.ns_per_tick()) as u64;
            let mut burnt = 0;
            while burnt < owed {
                burnt = self.clock.ticks().saturating_sub(start);
            }
            self.owed_ns = left(self.owed_ns, burnt as f64 * self.clock.ns_per_tick());
        }
    }

    fn account(&self, frames: usize, begin: u64) {
        let counters = &self.plane.counters;
        let ticks = self.clock.ticks().saturating_sub(begin);
        if frames > 0 {
            counters.received.add(frames as u64);
            counters.busy_ticks.add(ticks);
            counters.busy_frames.add(frames as u64);
            counters.busy_polls.add(1);
        } else {
            counters.idle_ticks.add(ticks);
            counters.idle_polls.add(1);
        }
        for lane in &self.lanes {
            counters.publish_port(lane.number, &lane.port.counters());
        }
    }
}

/// What is owed after so much was burnt. A little more than was owed is the clock's grain; much more is a
/// processor that was somebody else's for a while.
fn left(owed_ns: f64, burnt_ns: f64) -> f64 {
    (owed_ns - burnt_ns).max(-LEAST_BURN_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burn_that_was_interrupted_pays_for_no_other_frame() {
        assert_eq!(left(50_000.0, 50_030.0), -30.0);
        // 3.6 ms: 70 frames of 50 us went without.
        assert!(left(50_000.0, 3_600_000.0) + 50_000.0 >= LEAST_BURN_NS);
    }
}
