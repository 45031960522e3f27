//! Where the tester's frames are between receiving and sending.

use fwdlab_port::{Batch, Frame, Pool};

use crate::error::TrafficError;
use crate::plan::TrafficPlan;
use crate::sender::Sender;

/// Where the tester's frames are.
pub(crate) struct Frames {
    pool: Pool,
    /// Arrived and checked, about to be written again.
    pub(crate) arrived: Batch,
    /// Written, waiting for room on the port.
    pub(crate) ready: Batch,
    /// The rest.
    pub(crate) spare: Vec<Frame>,
    /// Free frames that the pool keeps for the device.
    reserve: usize,
    /// The most that are taken: what is beyond belongs to another lane.
    most: usize,
}

impl Frames {
    pub(crate) fn take(
        plan: &TrafficPlan,
        pool: &Pool,
        sender: &Sender,
    ) -> Result<Self, TrafficError> {
        let (len, capacity) = (plan.longest()?, pool.config().capacity);
        if len > capacity {
            return Err(TrafficError::SlotTooSmall { len, capacity });
        }
        let (available, needed) = (pool.available(), plan.frames_in_flight);
        if needed > available {
            return Err(TrafficError::PoolTooSmall { available, needed });
        }
        let mut frames = Self {
            pool: pool.clone(),
            arrived: Batch::new(),
            ready: Batch::new(),
            spare: Vec::with_capacity(available),
            reserve: available - needed,
            most: needed,
        };
        frames.refill(sender);
        Ok(frames)
    }

    /// Takes frames from the pool down to the reserve.
    pub(crate) fn refill(&mut self, sender: &Sender) {
        let mut batch = Batch::new();
        loop {
            let free = self.pool.available().saturating_sub(self.reserve);
            let free = free.min(self.most.saturating_sub(self.at_hand()));
            if free == 0 || self.pool.take_batch(&mut batch, free) == 0 {
                return;
            }
            for mut frame in batch.drain() {
                sender.adopt(&mut frame);
                self.spare.push(frame);
            }
        }
    }

    /// Leaves as many to the pool as these, which were taken later.
    pub(crate) fn leave_as(&mut self, later: &Self) {
        self.reserve = self.reserve.min(later.reserve);
    }

    pub(crate) fn at_hand(&self) -> usize {
        self.arrived.len() + self.spare.len()
    }

    /// Moves up to `count` frames to `ready`: those just arrived first, for they are in the
    /// cache. What arrived beyond that is set aside.
    #[inline]
    pub(crate) fn load(&mut self, count: usize) {
        self.arrived.move_front(&mut self.ready, count);
        while self.ready.len() < count {
            let Some(frame) = self.spare.pop() else { break };
            if let Err(frame) = self.ready.push(frame) {
                self.spare.push(frame);
                break;
            }
        }
        if count > 0 || self.arrived.is_full() {
            self.set_aside();
        }
    }

    /// Empties `arrived` so that the next frames find room.
    #[inline]
    pub(crate) fn set_aside(&mut self) {
        self.spare.extend(self.arrived.drain());
    }

    /// At the end: frames that were written but never left do not count as sent.
    pub(crate) fn abandon(&mut self, sender: &mut Sender) {
        sender.retract(&self.ready);
        self.spare.extend(self.ready.drain());
    }
}
