//! What a worker does besides forwarding: neighbours, ports that change, packets that wait.

use fwdlab_port::{Frame, Port};

use super::state::{NO_LANE, Worker, discard, scatter_split};
use crate::drops::DropReason;
use crate::fate::{DROPPED, HELD, PORT_LIMIT, SPLIT};

/// How often the neighbours are looked after, ns.
const TICK_NS: u64 = 10_000_000;

/// How often the ports are looked at: has an MTU changed, has an interface gone? ns.
const LOOK_NS: u64 = 100_000_000;

impl<P: Port> Worker<P> {
    /// What is not forwarding: queries and timers of neighbours, and packets that wait for them.
    #[cold]
    pub(super) fn keep_house(&mut self, now_ns: u64) {
        if now_ns >= self.next_tick_ns {
            self.next_tick_ns = now_ns + TICK_NS;
            self.plane.tick_neighbours();
        }
        if now_ns >= self.next_look_ns {
            self.next_look_ns = now_ns + LOOK_NS;
            self.look_at_ports();
        }
        for (fate, frame) in self.plane.keep_fragments() {
            match fate {
                HELD => self.held.push_back(frame),
                _ => self.enqueue(fate, frame),
            }
        }
        self.release_held(now_ns);
        for (port, frame) in std::mem::take(&mut self.plane.made) {
            self.enqueue(port, frame);
        }
        self.flush();
    }

    /// Takes up what has changed outside.
    fn look_at_ports(&mut self) {
        for lane in &mut self.lanes {
            match lane.port.look() {
                Ok(()) if lane.port.mtu() == lane.mtu => {}
                Ok(()) => {
                    lane.mtu = lane.port.mtu();
                    self.plane.set_mtu(lane.number, lane.mtu);
                }
                Err(error) => self.fault = Some(error),
            }
        }
    }

    /// Sends held frames whose next hop has answered, and refuses those that waited in vain.
    fn release_held(&mut self, now_ns: u64) {
        for _ in 0..self.held.len() {
            let (Some(mut frame), Some(waiting)) =
                (self.held.pop_front(), self.plane.waiting.pop_front())
            else {
                return;
            };
            if waiting.is_replaced {
                self.plane.counters.count_drop(DropReason::Unresolved);
                self.enqueue(DROPPED, frame);
                continue;
            }
            let fate = match self.plane.found(&waiting) {
                _ if waiting.target.is_table() => self.plane.take_up(&mut frame, &waiting),
                Some(hop) => self.plane.leave_held(&mut frame, hop, &waiting),
                None if now_ns < waiting.until_ns => {
                    self.held.push_back(frame);
                    self.plane.waiting.push_back(waiting);
                    continue;
                }
                None if waiting.is_own => {
                    self.plane.counters.count_drop(DropReason::Unresolved);
                    DROPPED
                }
                None => self.plane.refuse(waiting.input, &mut frame, DropReason::Unresolved.into()),
            };
            match fate {
                HELD => self.held.push_back(frame),
                _ => self.enqueue(fate, frame),
            }
        }
    }

    /// Queues a frame with this fate, which is not `HELD`.
    fn enqueue(&mut self, fate: u8, frame: Frame) {
        if fate == SPLIT
            && let Some(split) = self.plane.splits.pop_front()
        {
            let lane = self.lanes.get_mut(usize::from(self.lane_of[usize::from(split.port)]));
            return scatter_split(lane, split, frame, (&mut self.dropped, &self.plane));
        }
        let unsent = match self.lane_of[usize::from(fate)] {
            NO_LANE => {
                if usize::from(fate) < PORT_LIMIT {
                    self.plane.counters.count_drop(DropReason::NoSuchPort);
                }
                Some(frame)
            }
            lane => self.lanes[usize::from(lane)].enqueue(frame, &self.plane.counters),
        };
        if let Some(frame) = unsent {
            discard(&mut self.dropped, &self.plane.pool, frame);
        }
    }
}

#[cfg(test)]
mod tests;
