//! What the stages must know of a port, in a few words.

use crate::adjacency::pack_mac;
use crate::interface::PortConfig;

/// What the stages must know of a port.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PortFacts {
    /// As [`pack_mac`] packs it.
    mac: u64,
    /// Bytes; 0 where there is no port, so that nothing fits it.
    mtu: u32,
    /// As the fast path has it, which leaves to the general path what does not fit: 0 for a
    /// port whose frames carry tags, and for the input port while redirects are sent.
    fast_mtu: u32,
    fib: u16,
    /// VLAN identifier, 0 for none.
    vlan: u16,
}

impl PortFacts {
    pub(crate) const ABSENT: PortFacts = PortFacts { mac: 0, mtu: 0, fast_mtu: 0, fib: 0, vlan: 0 };

    pub(crate) fn new(config: &PortConfig) -> Self {
        let mtu = config.mtu as u32;
        Self {
            mac: pack_mac(config.mac),
            mtu,
            fast_mtu: if config.vlan.is_some() { 0 } else { mtu },
            fib: config.fib,
            vlan: config.vlan.map_or(0, |vlan| vlan.identifier),
        }
    }

    #[inline(always)]
    pub(crate) fn packed_mac(&self) -> u64 {
        self.mac
    }

    pub(crate) fn mtu(&self) -> u32 {
        self.mtu
    }

    #[inline(always)]
    pub(crate) fn fast_mtu(&self) -> u32 {
        self.fast_mtu
    }

    /// Takes up another MTU.
    pub(crate) fn set_mtu(&mut self, bytes: usize) {
        self.mtu = bytes as u32;
        self.fast_mtu = if self.vlan == 0 { self.mtu } else { 0 };
    }

    #[inline(always)]
    pub(crate) fn set_fast_mtu(&mut self, bytes: u32) {
        self.fast_mtu = bytes;
    }

    #[inline(always)]
    pub(crate) fn fib(&self) -> u16 {
        self.fib
    }

    pub(crate) fn vlan(&self) -> Option<u16> {
        (self.vlan != 0).then_some(self.vlan)
    }

    pub(crate) fn is_present(&self) -> bool {
        self.mtu > 0
    }
}
