//! The [`Port`] trait.

#[cfg(unix)]
use std::os::fd::BorrowedFd;

use fwdlab_wire::MacAddr;

use crate::{Batch, Counters, PortError};

/// Where frames come in and go out. A port belongs to one thread at a time.
///
/// Neither method waits: a port that has nothing, or no room, returns 0.
pub trait Port: Send {
    /// Appends the frames that have arrived to the batch, as many as fit; returns how many.
    fn receive(&mut self, batch: &mut Batch) -> usize;

    /// Sends from the front of the batch, as many frames as there is room for; returns how many
    /// have left it. The others stay in the batch, in order. A frame that can never be sent leaves
    /// the batch, too, and is counted as `tx_dropped`: no frame stops those behind it.
    fn send(&mut self, batch: &mut Batch) -> usize;

    /// The port's own MAC address.
    fn mac(&self) -> MacAddr;

    /// The largest IP packet in bytes that the port takes (frame without Ethernet header and FCS).
    fn mtu(&self) -> usize;

    /// What the port has moved so far.
    fn counters(&self) -> Counters;

    /// Looks at what may have changed outside: the MTU, or whether the interface is still there.
    /// A system call or a few; call it some times a second.
    ///
    /// # Errors
    /// The port is no more.
    fn look(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    /// What becomes readable when frames arrive, where the system has such a thing: see
    /// [`wait`](crate::wait).
    #[cfg(unix)]
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
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

    fn look(&mut self) -> Result<(), PortError> {
        (**self).look()
    }

    #[cfg(unix)]
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        (**self).descriptor()
    }
}
