//! What a port on a network interface keeps, by whichever socket it works: frames to receive into, what
//! was counted, and what the interface said last.

use fwdlab_wire::MacAddr;

use crate::counters::Counters;
use crate::error::PortError;
use crate::sys::interface::{Interface, InterfaceInfo};
use crate::{Batch, Pool};

/// The own part of a port.
#[derive(Debug)]
pub(crate) struct End {
    name: String,
    pub(crate) pool: Pool,
    /// Frames taken from the pool to receive into.
    pub(crate) empty: Batch,
    pub(crate) mac: MacAddr,
    pub(crate) mtu: usize,
    pub(crate) counters: Counters,
}

impl End {
    pub(crate) fn new(name: &str, info: InterfaceInfo, pool: Pool) -> Self {
        Self {
            name: name.to_owned(),
            pool,
            empty: Batch::new(),
            mac: MacAddr(info.mac),
            mtu: info.mtu,
            counters: Counters::default(),
        }
    }

    /// Asks the interface again.
    pub(crate) fn look(&mut self, interface: &Interface) -> Result<(), PortError> {
        match interface.look() {
            Ok(info) => self.mtu = info.mtu,
            Err(source) => return Err(PortError::Gone { interface: self.name.clone(), source }),
        }
        Ok(())
    }

    /// Begins to send a batch.
    #[inline]
    pub(crate) fn sending(&mut self, batch: &Batch) -> Sending<'_> {
        Sending { offered: batch.len(), gone: Batch::new(), end: self }
    }
}

/// A batch that is being sent.
pub(crate) struct Sending<'e> {
    offered: usize,
    gone: Batch,
    end: &'e mut End,
}

impl Sending<'_> {
    /// The first `count` frames were sent.
    #[inline]
    pub(crate) fn sent(&mut self, batch: &mut Batch, count: usize) {
        let bytes = batch[..count].iter().map(|frame| frame.len() as u64).sum::<u64>();
        self.end.counters.tx_bytes += bytes;
        self.end.counters.tx_frames += count as u64;
        batch.move_front(&mut self.gone, count);
    }

    /// The first frame cannot be sent, now or later.
    #[inline]
    pub(crate) fn dropped(&mut self, batch: &mut Batch) {
        self.end.counters.tx_dropped += 1;
        batch.move_front(&mut self.gone, 1);
    }

    /// What is left of the batch was refused. Frames that left it go back to the pool; their number.
    #[inline]
    pub(crate) fn end(mut self) -> usize {
        let left = self.gone.len();
        self.end.counters.tx_refused += (self.offered - left) as u64;
        self.end.pool.put(&mut self.gone);
        left
    }
}
