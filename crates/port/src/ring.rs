//! Two ports joined in memory.

use fwdlab_wire::MacAddr;

use crate::Batch;
use crate::counters::Counters;
use crate::interface::Port;
use crate::sys::link::Link;

/// MTU of a ring port unless it is changed: Ethernet's.
const MTU: usize = 1500;

/// One end of a pair that [`pair`] made. Frames move by handle: their bytes stay where they are.
#[derive(Debug)]
pub struct RingPort {
    link: Link,
    mac: MacAddr,
    mtu: usize,
    counters: Counters,
}

/// Makes two connected ports; each direction holds `capacity` frames, rounded up to a power of
/// two. What is sent on one is received on the other, in order, none lost.
///
/// The MAC addresses are locally administered, 02:00:00:00:00:01 and :02; see
/// [`RingPort::with_mac`].
pub fn pair(capacity: usize) -> (RingPort, RingPort) {
    pair_of(capacity, capacity)
}

/// As [`pair`], with `there` frames from the first port to the second, and `back` the other way.
pub fn pair_of(there: usize, back: usize) -> (RingPort, RingPort) {
    let (one, two) = Link::pair(there, back);
    let port = |link, last| RingPort {
        link,
        mac: MacAddr::numbered(last),
        mtu: MTU,
        counters: Counters::default(),
    };
    (port(one, 1), port(two, 2))
}

impl RingPort {
    /// The same port with another MAC address.
    #[must_use]
    pub fn with_mac(mut self, mac: MacAddr) -> Self {
        self.mac = mac;
        self
    }

    /// The same port with another MTU in bytes.
    #[must_use]
    pub fn with_mtu(mut self, mtu: usize) -> Self {
        self.mtu = mtu;
        self
    }

    /// How many of `wanted` frames there is room for now, so that a sender need not build
    /// frames which do not fit.
    #[inline]
    pub fn room(&mut self, wanted: usize) -> usize {
        self.link.room(wanted)
    }

    /// As [`Port::receive`], at most `most` frames.
    #[inline]
    pub fn receive_most(&mut self, batch: &mut Batch, most: usize) -> usize {
        let before = batch.len();
        let count = self.link.receive(batch, most);
        self.counters.rx_frames += count as u64;
        self.counters.rx_bytes += bytes_of(&batch[before..]);
        count
    }

    /// How many frames the direction out of this port holds.
    pub fn capacity(&self) -> usize {
        self.link.capacity()
    }
}

impl Port for RingPort {
    #[inline]
    fn receive(&mut self, batch: &mut Batch) -> usize {
        self.receive_most(batch, Batch::CAPACITY)
    }

    #[inline]
    fn send(&mut self, batch: &mut Batch) -> usize {
        let offered = batch.len();
        // The other end makes room at any time: what left is known only afterwards.
        let bytes = bytes_of(batch);
        let count = self.link.send(batch);
        self.counters.tx_bytes += bytes - bytes_of(batch);
        self.counters.tx_frames += count as u64;
        self.counters.tx_refused += (offered - count) as u64;
        count
    }

    fn mac(&self) -> MacAddr {
        self.mac
    }

    fn mtu(&self) -> usize {
        self.mtu
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

/// Lengths come from the handles, not from the frames: no cache line of a frame is touched.
#[inline]
fn bytes_of(frames: &[crate::Frame]) -> u64 {
    frames.iter().fold(0, |bytes, frame| bytes + frame.len() as u64)
}
