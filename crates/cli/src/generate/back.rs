//! Where frames come back, and the memory that they are in.

use fwdlab_port::{Batch, Counters, Pool, PoolConfig, Port, packet};
use fwdlab_router::MAX_MTU;
use fwdlab_wire::MacAddr;
use fwdlab_wire::ethernet::HEADER_LEN;

use super::arguments::GenArgs;

/// Frames that the sender has at hand.
pub(super) const FRAMES: usize = 4096;

/// Bytes around a packet: Ethernet header and a VLAN tag.
pub(super) const HEADER_AND_TAG: usize = HEADER_LEN + 4;

/// Frames of the sender, as long as the interfaces take them.
pub(super) fn pool_for(arguments: &GenArgs) -> anyhow::Result<Pool> {
    let names = std::iter::once(&arguments.interface).chain(&arguments.back);
    let mtus = names.map(|name| packet::mtu(name)).collect::<Result<Vec<_>, _>>()?;
    let usual = PoolConfig { frames: 2 * FRAMES, ..PoolConfig::default() };
    let longest = mtus.into_iter().max().unwrap_or(0).min(MAX_MTU) + HEADER_AND_TAG;
    Ok(Pool::new(PoolConfig { capacity: usual.capacity.max(longest), ..usual })?)
}

/// Where frames come back.
pub(super) enum Back {
    Interface(Box<dyn Port>),
    /// Nowhere.
    Nothing(MacAddr),
}

impl Back {
    /// The interface that was asked for, or nothing, which has the MAC address of the sender.
    pub(super) fn open(arguments: &GenArgs, pool: &Pool, mac: MacAddr) -> anyhow::Result<Self> {
        Ok(match &arguments.back {
            Some(name) => Self::Interface(arguments.socket.open(name, pool.clone())?),
            None => Self::Nothing(mac),
        })
    }

    pub(super) fn is_deaf(&self) -> bool {
        matches!(self, Self::Nothing(_))
    }
}

impl Port for Back {
    fn receive(&mut self, batch: &mut Batch) -> usize {
        match self {
            Self::Interface(port) => port.receive(batch),
            Self::Nothing(_) => 0,
        }
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        match self {
            Self::Interface(port) => port.send(batch),
            Self::Nothing(_) => 0,
        }
    }

    fn mac(&self) -> MacAddr {
        match self {
            Self::Interface(port) => port.mac(),
            Self::Nothing(mac) => *mac,
        }
    }

    fn mtu(&self) -> usize {
        match self {
            Self::Interface(port) => port.mtu(),
            Self::Nothing(_) => 1500,
        }
    }

    fn counters(&self) -> Counters {
        match self {
            Self::Interface(port) => port.counters(),
            Self::Nothing(_) => Counters::default(),
        }
    }
}
