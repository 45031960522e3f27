//! What a worker consists of: its ports with their queues, its plane, and the frames inside.

use std::collections::VecDeque;
use std::sync::Arc;

use fwdlab_port::{Batch, Clock, Frame, Pool, Port, PortError};

use crate::counters::Counters;
use crate::drops::DropReason;
use crate::fate::{PORT_LIMIT, Split};
use crate::knobs::Knobs;
use crate::plane::Plane;

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
pub(super) struct Lane<P> {
    pub(super) number: u8,
    pub(super) port: P,
    pub(super) queue: Batch,
    /// The port's when it was last looked at, bytes.
    pub(super) mtu: usize,
}

impl<P: Port> Lane<P> {
    pub(super) fn send(&mut self, counters: &Counters) {
        if !self.queue.is_empty() {
            let sent = self.port.send(&mut self.queue);
            counters.sent.add(sent as u64);
        }
    }

    /// Queues a frame, sending first when the queue is full; gives it back, counted as a drop,
    /// when there is no room.
    #[inline]
    pub(super) fn enqueue(&mut self, frame: Frame, counters: &Counters) -> Option<Frame> {
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
    pub(super) lanes: Vec<Lane<P>>,
    /// Index into `lanes` by port number.
    pub(super) lane_of: Box<[u8; 256]>,
    pub(super) plane: Plane,
    pub(super) received: Batch,
    pub(super) dropped: Batch,
    /// Frames that wait for a MAC address; `plane.waiting` says which, in the same order.
    pub(super) held: VecDeque<Frame>,
    pub(super) overflow: Overflow,
    pub(super) knobs: Arc<Knobs>,
    pub(super) clock: Clock,
    pub(super) next_tick_ns: u64,
    pub(super) next_look_ns: u64,
    /// Why a port is no more.
    pub(super) fault: Option<PortError>,
    /// Extra time that is still to be burnt; negative after a burn that went on for too long.
    pub(super) owed_ns: f64,
}

/// In `lane_of`: the worker does not have this port.
pub(super) const NO_LANE: u8 = 255;

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

    /// The same, to put frames in or take them out between polls.
    pub fn port_mut(&mut self, number: u16) -> Option<&mut P> {
        let lane = self.lanes.iter_mut().find(|lane| u16::from(lane.number) == number);
        lane.map(|lane| &mut lane.port)
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

    /// Sends the output queues, and sends dropped frames home.
    pub(super) fn flush(&mut self) {
        for lane in &mut self.lanes {
            lane.send(&self.plane.counters);
        }
        recycle(&mut self.dropped, &self.plane.pool);
    }
}

/// Queues the fragments of a packet, `first` among them.
#[cold]
pub(super) fn scatter_split<P: Port>(
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
pub(super) fn discard(dropped: &mut Batch, pool: &Option<Pool>, frame: Frame) {
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
