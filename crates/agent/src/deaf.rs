//! The receiving side of a tester whose frames come back elsewhere.

use fwdlab_port::{Batch, Counters, Port};
use fwdlab_wire::MacAddr;

/// A port by which nothing ever comes.
pub(super) struct Deaf {
    /// The address that it would have.
    pub(super) mac: MacAddr,
}

impl Port for Deaf {
    fn receive(&mut self, _: &mut Batch) -> usize {
        0
    }

    fn send(&mut self, _: &mut Batch) -> usize {
        0
    }

    fn mac(&self) -> MacAddr {
        self.mac
    }

    fn mtu(&self) -> usize {
        1500
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }
}
