//! The [`Port`] trait.

use fwdlab_wire::MacAddr;

use crate::{Batch, Counters};

/// Where frames come in and go out. A port belongs to one thread at a time.
///
/// Neither method waits: a port that has nothing, or no room, returns 0.
pub trait Port: Send {
    /// Appends the frames that have arrived to the batch, as many as fit; returns how many.
    fn receive(&mut self, batch: &mut Batch) -> usize;

    /// Sends from the front of the batch, as many frames as there is room for; returns how many.
    /// The others stay in the batch, in order.
    fn send(&mut self, batch: &mut Batch) -> usize;

    /// The port's own MAC address.
    fn mac(&self) -> MacAddr;

    /// The largest IP packet in bytes that the port takes (frame without Ethernet header and FCS).
    fn mtu(&self) -> usize;

    /// What the port has moved so far.
    fn counters(&self) -> Counters;
}

impl<P: Port + ?Sized> Port for Box<P> {
    #[inline]
    fn receive(&mut self, batch: &mut Batch) -> usize {
        (**self).receive(batch)
    }

    #[inline]
    fn send(&mut self, batch: &mut Batch) -> usize {
        (**self).send(batch)
    }

    fn mac(&self) -> MacAddr {
        (**self).mac()
    }

    fn mtu(&self) -> usize {
        (**self).mtu()
    }

    fn counters(&self) -> Counters {
        (**self).counters()
    }
}
