//! By which of two paths frames come to each destination, while the device's routes change (RFC 6413, RFC
//! 7747). Paths differ by the MAC address to which the device sends: that of the next router.

use std::time::{Duration, Instant};

use fwdlab_port::{Batch, Frame, Pool, Port};
use fwdlab_wire::MacAddr;

use crate::error::TrafficError;
use crate::flows::Family;
use crate::inspect::ends_of;
use crate::layout::{INET_PAYLOAD, LINE};
use crate::load::Load;
use crate::plan::TrafficPlan;
use crate::sender::Sender;

/// Frames flow for at least so long before a change: all are on the old path.
const LEAD: Duration = Duration::from_millis(5);
/// A path is left when no frame came by it for so long.
const TAIL: Duration = Duration::from_millis(5);
/// Frames that are written at once.
const PIECE: u64 = 32;

/// A tester that sends on `out`, and watches by which path frames come back on `back`.
pub struct PathWatch<A, B> {
    out: A,
    back: B,
    sender: Sender,
    pool: Pool,
    spare: Vec<Frame>,
    pending: Batch,
    macs: [MacAddr; 2],
    pps: f64,
    family: Family,
    /// Flows of one destination address.
    flows_of_one: u32,
    destinations: usize,
    /// How long the last frames may take.
    patience: Duration,
    /// Changes so far.
    turns: u32,
}

/// What was seen of the frames to one destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathSeen {
    /// The first by the new path.
    pub first_new: Option<Instant>,
    /// The last by the old path.
    pub last_old: Option<Instant>,
    /// Frames sent.
    pub sent: u64,
    /// Frames received, by either path.
    pub received: u64,
}

/// What was seen of a change of paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathsSeen {
    /// Each destination, in order.
    pub destinations: Vec<PathSeen>,
    /// Frames of the change before that came only now, by destination: nobody waited any longer for them, and
    /// they were not lost.
    pub late: Vec<u64>,
}

/// A tester of paths between ports that are chosen while the program runs.
pub type AnyPathWatch = PathWatch<Box<dyn Port>, Box<dyn Port>>;

impl AnyPathWatch {
    /// As [`PathWatch::observe`], compiled with this crate's optimisation.
    pub fn observe_any(
        &mut self,
        old: usize,
        limit: Duration,
        change: &mut dyn FnMut(),
    ) -> PathsSeen {
        self.observe(old, limit, change)
    }

    /// As [`PathWatch::late`], compiled with this crate's optimisation.
    pub fn late_any(&mut self) -> Vec<u64> {
        self.late()
    }
}

impl<A: Port, B: Port> PathWatch<A, B> {
    /// Sends frames of `plan`'s one stream at its load, which is a rate; the next routers of both paths have
    /// these addresses.
    ///
    /// # Errors
    /// A field of the plan is out of range, or the pool's frames are too small.
    pub fn new(
        plan: &TrafficPlan,
        pool: &Pool,
        (out, back): (A, B),
        macs: [MacAddr; 2],
    ) -> Result<Self, TrafficError> {
        let (len, capacity) = (plan.longest()?, pool.config().capacity);
        if len > capacity {
            return Err(TrafficError::SlotTooSmall { len, capacity });
        }
        let (Load::Pps(pps), [stream]) = (plan.load, &plan.streams[..]) else {
            let wanted = "one stream, at a rate";
            return Err(TrafficError::Plan {
                field: "load",
                got: plan.streams.len() as u64,
                wanted,
            });
        };
        let sender = Sender::new(plan, pool.config().headroom.next_multiple_of(64))?;
        let destination = stream.flows.destination();
        let mut own = Self {
            out,
            back,
            sender,
            pool: pool.clone(),
            spare: Vec::new(),
            pending: Batch::new(),
            macs,
            pps,
            family: stream.flows.family(),
            flows_of_one: stream.flows.source().count() as u32 * destination.ports(),
            destinations: destination.addresses() as usize,
            patience: Duration::from_nanos(plan.drain_ns),
            turns: 0,
        };
        own.refill();
        Ok(own)
    }

    /// Takes what the pool has: all frames at first, and later those that were lost, which went back to it.
    fn refill(&mut self) {
        let mut batch = Batch::new();
        while self.pool.take_batch(&mut batch, Batch::CAPACITY) > 0 {
            self.keep(&mut batch);
        }
    }

    /// Lets frames flow by path `old`, calls `change`, which is not to wait, and watches until frames to
    /// every destination come by the other path and none by the old one, no longer than `limit`.
    pub fn observe(&mut self, old: usize, limit: Duration, change: &mut dyn FnMut()) -> PathsSeen {
        let mut seen = vec![PathSeen::default(); self.destinations];
        let macs = [self.macs[old % 2].to_u64(), self.macs[(old + 1) % 2].to_u64()];
        let late = self.late();
        let between = Duration::try_from_secs_f64(self.destinations as f64 / self.pps);
        let lead = LEAD + phase(self.turns, between.unwrap_or_default());
        self.turns = self.turns.wrapping_add(1);
        let start = Instant::now();
        let mut changed: Option<Instant> = None;
        let (mut sent, mut missing, mut last_old) = (0, self.destinations, start);
        loop {
            let now = Instant::now();
            match changed {
                None if now - start >= lead => {
                    change();
                    changed = Some(now);
                }
                Some(at) => {
                    let is_left = now.saturating_duration_since(last_old.max(at)) >= TAIL;
                    if (missing == 0 && is_left) || now - at >= limit {
                        break;
                    }
                }
                None => {}
            }
            let due = ((now - start).as_secs_f64() * self.pps) as u64;
            sent += self.send(due.saturating_sub(sent).min(PIECE), &mut seen);
            self.receive(&mut seen, macs, (&mut missing, &mut last_old));
        }
        self.drain(&mut seen, macs, (&mut missing, &mut last_old));
        PathsSeen { destinations: seen, late }
    }

    /// Frames that have come since nobody waits for them, by destination.
    pub fn late(&mut self) -> Vec<u64> {
        let mut late = vec![0; self.destinations];
        let mut batch = Batch::new();
        while self.back.receive(&mut batch) > 0 {
            for frame in batch.iter_mut() {
                if let Some(own) = self.place_of(frame).and_then(|at| late.get_mut(at)) {
                    *own += 1;
                }
            }
            self.keep(&mut batch);
        }
        late
    }

    /// The ports and the pool's frames are free again.
    pub fn into_ports(self) -> (A, B) {
        (self.out, self.back)
    }

    /// Sends what the port has not taken yet, and then so many new frames; how many of these were written.
    fn send(&mut self, count: u64, seen: &mut [PathSeen]) -> u64 {
        let mut written = 0;
        if self.pending.is_empty() && count > self.spare.len() as u64 {
            self.refill();
        }
        if self.pending.is_empty() && count > 0 {
            let from = self.spare.len().saturating_sub(count as usize);
            let mut frames = self.spare.split_off(from);
            self.sender.write(&mut frames, 0);
            for frame in frames {
                if let Some(own) = self.place_of(&frame).and_then(|at| seen.get_mut(at)) {
                    own.sent += 1;
                }
                written += 1;
                if let Err(frame) = self.pending.push(frame) {
                    self.spare.push(frame);
                }
            }
        }
        if !self.pending.is_empty() {
            self.out.send(&mut self.pending);
        }
        written
    }

    fn receive(
        &mut self,
        seen: &mut [PathSeen],
        [old, new]: [u64; 2],
        (missing, last_old): (&mut usize, &mut Instant),
    ) -> usize {
        let mut batch = Batch::new();
        // What the device sent back to where it came from is lost, and its frame used again.
        while self.out.receive(&mut batch) > 0 {
            self.keep(&mut batch);
        }
        let count = self.back.receive(&mut batch);
        let now = Instant::now();
        for frame in batch.iter_mut() {
            let Some(own) = self.place_of(frame).and_then(|at| seen.get_mut(at)) else { continue };
            let mac =
                frame.head::<LINE>().first_chunk::<8>().map_or(0, |b| u64::from_be_bytes(*b) >> 16);
            own.received += 1;
            if mac == old {
                own.last_old = Some(now);
                *last_old = now;
            } else if mac == new && own.first_new.is_none() {
                own.first_new = Some(now);
                *missing -= 1;
            }
        }
        self.keep(&mut batch);
        count
    }

    /// Receives until all that was sent has come, or nothing comes any more.
    fn drain(
        &mut self,
        seen: &mut [PathSeen],
        macs: [u64; 2],
        (missing, last_old): (&mut usize, &mut Instant),
    ) {
        let mut last = Instant::now();
        while last.elapsed() < self.patience {
            self.send(0, seen);
            if self.receive(seen, macs, (missing, last_old)) > 0 {
                last = Instant::now();
            }
            let (sent, received) =
                seen.iter().fold((0, 0), |sum, own| (sum.0 + own.sent, sum.1 + own.received));
            if received >= sent && self.pending.is_empty() {
                break;
            }
        }
    }

    /// The number of a frame's destination; nothing when it is none of ours.
    fn place_of(&self, frame: &Frame) -> Option<usize> {
        if frame.len() < INET_PAYLOAD {
            return None;
        }
        let (ends, _) = ends_of(frame.head::<LINE>(), self.family);
        let prepared = self.sender.prepared().next()?;
        let (flow, is_known) = prepared.numbering.flow(ends);
        is_known.then_some((flow / self.flows_of_one.max(1)) as usize)
    }

    fn keep(&mut self, batch: &mut Batch) {
        for mut frame in batch.drain() {
            self.sender.adopt(&mut frame);
            self.spare.push(frame);
        }
    }
}

/// How long after a frame to a destination a change comes, of the time `between` two of them: at another place each
/// turn, spread evenly by the golden section. At the same place each time all of a trial's changes would be seen as
/// late as the first, by up to that time.
fn phase(turn: u32, between: Duration) -> Duration {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    between.mul_f64((f64::from(turn) * GOLDEN).fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of 84 changes came 1.9 ms before the last prefix was seen, where each was seen once in a millisecond.
    #[test]
    fn changes_come_at_all_places_between_two_frames_alike() {
        let between = Duration::from_millis(1);
        let mut places: Vec<Duration> = (0..21).map(|turn| phase(turn, between)).collect();
        places.sort();
        assert!(places.iter().all(|place| *place < between));
        let ends = [Duration::ZERO, between];
        let all: Vec<Duration> =
            ends[..1].iter().chain(&places).chain(&ends[1..]).copied().collect();
        let widest = all.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        assert!(widest < 2 * between / 21, "{widest:?}");
        assert_eq!(phase(7, Duration::ZERO), Duration::ZERO);
    }
}
