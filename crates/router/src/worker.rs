//! A worker: one thread's share of the router. Inhale, process, exhale.

mod house;
mod program;

use std::collections::VecDeque;
use std::sync::Arc;

use fwdlab_port::{Batch, Clock, Frame, Pool, Port, PortError};

use crate::counters::Counters;
use crate::drops::DropReason;
use crate::fate::{HELD, PORT_LIMIT, SPLIT, Split};
use crate::knobs::Knobs;
use crate::plane::Plane;

pub use program::AnyPcapPort;

/// What happens to frames for which the output port has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overflow {
    /// They wait in the port's queue of [`Batch::CAPACITY`] frames; what does not fit there
    /// either is dropped as `output-queue-full`, as a router with a full transmit ring does.
    #[default]
    Drop,
    /// They wait, and the worker receives nothing until they are gone: no loss inside, and the
    /// sender feels the pressure. For closed circuits of frames.
    Wait,
}

/// A port with its output queue.
struct Lane<P> {
    number: u8,
    port: P,
    queue: Batch,
    /// The port's when it was last looked at, bytes.
    mtu: usize,
}

impl<P: Port> Lane<P> {
    fn send(&mut self, counters: &Counters) {
        if !self.queue.is_empty() {
            let sent = self.port.send(&mut self.queue);
            counters.sent.add(sent as u64);
        }
    }

    /// Queues a frame, sending first when the queue is full; gives it back, counted as a drop,
    /// when there is no room.
    #[inline]
    fn enqueue(&mut self, frame: Frame, counters: &Counters) -> Option<Frame> {
        if self.queue.is_full() {
            self.send(counters);
        }
        let unsent = self.queue.push(frame).err();
        if unsent.is_some() {
            counters.count_drop(DropReason::OutputQueueFull);
        }
        unsent
    }
}

/// Forwards frames between the ports that it was given. Made by [`crate::Router::worker`];
/// belongs to one thread.
pub struct Worker<P: Port> {
    lanes: Vec<Lane<P>>,
    /// Index into `lanes` by port number.
    lane_of: Box<[u8; 256]>,
    plane: Plane,
    received: Batch,
    dropped: Batch,
    /// Frames that wait for a MAC address; `plane.waiting` says which, in the same order.
    held: VecDeque<Frame>,
    overflow: Overflow,
    knobs: Arc<Knobs>,
    clock: Clock,
    next_tick_ns: u64,
    next_look_ns: u64,
    /// Why a port is no more.
    fault: Option<PortError>,
    /// Extra time that is still to be burnt; negative after a burn that went on for too long.
    owed_ns: f64,
}

/// Least time that is burnt at once: reading the clock takes a hundredth of it.
const LEAST_BURN_NS: f64 = 2_000.0;

/// In `lane_of`: the worker does not have this port.
const NO_LANE: u8 = 255;

impl<P: Port> Worker<P> {
    pub(crate) fn new(ports: Vec<(u8, P)>, plane: Plane, knobs: Arc<Knobs>, clock: Clock) -> Self {
        let mut lane_of = Box::new([NO_LANE; 256]);
        let mut lanes = Vec::with_capacity(ports.len());
        for (number, port) in ports {
            lane_of[usize::from(number)] = lanes.len() as u8;
            let mtu = port.mtu();
            lanes.push(Lane { number, port, queue: Batch::new(), mtu });
        }
        for (&(parent, _), &number) in &plane.vlans {
            lane_of[usize::from(number)] = lane_of[usize::from(parent)];
        }
        Self {
            lanes,
            lane_of,
            plane,
            received: Batch::new(),
            dropped: Batch::new(),
            held: VecDeque::new(),
            overflow: Overflow::default(),
            knobs,
            clock,
            next_tick_ns: 0,
            next_look_ns: 0,
            fault: None,
            owed_ns: 0.0,
        }
    }

    /// The same worker, giving dropped frames back to `pool` a batch at a time and taking from
    /// it the frames that the router makes itself. Without it each dropped frame goes home
    /// alone, which costs a lock, and the router cannot ask for MAC addresses.
    #[must_use]
    pub fn with_pool(mut self, pool: Pool) -> Self {
        self.plane.pool = Some(pool);
        self
    }

    /// The same worker with another rule for full output ports.
    #[must_use]
    pub fn with_overflow(mut self, overflow: Overflow) -> Self {
        self.overflow = overflow;
        self
    }

    /// The worker's counters, for any thread.
    pub fn counters(&self) -> Arc<Counters> {
        self.plane.counters.clone()
    }

    /// Frames that wait inside: for a MAC address, in output queues, or as fragments to the router
    /// whose packet is not whole.
    pub fn held(&self) -> usize {
        self.fragments()
            + self.held.len()
            + self.lanes.iter().map(|lane| lane.queue.len()).sum::<usize>()
    }

    /// Fragments of packets to the router that are not whole; their frames are back in their pool.
    pub fn fragments(&self) -> usize {
        self.plane.fragments()
    }

    /// The port of this number, if the worker has it.
    pub fn port(&self, number: u16) -> Option<&P> {
        self.lanes.iter().find(|lane| u16::from(lane.number) == number).map(|lane| &lane.port)
    }

    /// The ports of the worker.
    pub fn ports(&self) -> impl Iterator<Item = &P> {
        self.lanes.iter().map(|lane| &lane.port)
    }

    /// Why a port can no longer be used, for example as its interface has gone; `None` while all
    /// is well. The other ports go on.
    pub fn fault(&self) -> Option<&PortError> {
        self.fault.as_ref()
    }

    /// Ends the worker and gives its ports back, as (port number, port). Frames that wait inside
    /// go back to their pools.
    pub fn into_ports(self) -> Vec<(u16, P)> {
        self.lanes.into_iter().map(|lane| (lane.number.into(), lane.port)).collect()
    }

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
        if frames > 0 {
            self.burn(frames);
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

    /// Sends the output queues, and sends dropped frames home.
    fn flush(&mut self) {
        for lane in &mut self.lanes {
            lane.send(&self.plane.counters);
        }
        recycle(&mut self.dropped, &self.plane.pool);
    }

    /// Spins for the time that the control word asks for: not a sleep, as a slower device would
    /// be busy too. What is owed is collected until the clock's grain no longer matters, and what
    /// was burnt beyond it counts for the next frames, so that the time per frame is exact.
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
            self.owed_ns -= burnt as f64 * self.clock.ns_per_tick();
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

/// Queues the fragments of a packet, `first` among them.
#[cold]
fn scatter_split<P: Port>(
    lane: Option<&mut Lane<P>>,
    split: Split,
    first: Frame,
    (dropped, plane): (&mut Batch, &Plane),
) {
    let all = std::iter::once(first).chain(split.rest);
    let Some(lane) = lane else {
        // Their port had no room for a tag, which was counted.
        return all.for_each(|frame| discard(dropped, &plane.pool, frame));
    };
    for frame in all {
        if let Some(frame) = lane.enqueue(frame, &plane.counters) {
            discard(dropped, &plane.pool, frame);
        }
    }
}

/// Puts a frame with the others that go home.
fn discard(dropped: &mut Batch, pool: &Option<Pool>, frame: Frame) {
    if dropped.is_full() {
        recycle(dropped, pool);
    }
    // There is room now; were there none, the frame would go home by itself.
    let _ = dropped.push(frame);
}

fn recycle(dropped: &mut Batch, pool: &Option<Pool>) {
    if dropped.is_empty() {
        return;
    }
    match pool {
        Some(pool) => pool.put(dropped),
        None => dropped.clear(),
    }
}

const _: () = assert!(PORT_LIMIT < NO_LANE as usize);
