//! What becomes of a frame: the fates that fit into a byte, and what the general path decides on
//! its way to one.

use fwdlab_fib::NexthopId;
use fwdlab_port::Frame;
use fwdlab_wire::MacAddr;

use crate::drops::DropReason;

/// Most ports of a router; the numbers above are fates.
pub(crate) const MAX_PORTS: usize = 256;
/// Port numbers are below this, so that a fate is one byte.
pub(crate) const PORT_LIMIT: usize = 250;
/// Fate: not decided by the fast path.
pub(crate) const GENERAL: u8 = 253;
/// Fate: kept until a MAC address is known; noted in the plane's waiting queue in order.
pub(crate) const HELD: u8 = 254;
/// Fate: has become several fragments; noted in the plane's splits in order.
pub(crate) const SPLIT: u8 = 251;
/// Fate: was for the router and is done with; the frame goes back to its pool.
pub(crate) const CONSUMED: u8 = 252;
/// Fate: dropped and counted; the frame goes back to its pool.
pub(crate) const DROPPED: u8 = 255;

/// Where a packet goes: out of this port to this MAC address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) port: u8,
    pub(crate) mac: MacAddr,
}

/// What a route says to do with a packet.
pub(crate) enum Decision {
    /// By this nexthop, or, for [`NexthopId::NONE`], to the destination itself.
    Send(Hop, NexthopId),
    /// Send once the MAC address of the nexthop's gateway is known, or, for
    /// [`NexthopId::NONE`], of the destination itself.
    Resolve {
        port: u8,
        gateway: NexthopId,
    },
    Local,
}

impl Decision {
    /// The port that the packet leaves through.
    pub(crate) fn port(&self) -> Option<u8> {
        match *self {
            Decision::Send(Hop { port, .. }, _) | Decision::Resolve { port, .. } => Some(port),
            Decision::Local => None,
        }
    }
}

/// Why a packet is not forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: DropReason,
    /// Of the output port, when the packet is too big for it.
    pub(crate) mtu: usize,
    /// What is wrong with a header that the sender is told of.
    pub(crate) problem: Problem,
}

/// What an ICMP error says of a header: a code, and where in the packet the fault is, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Problem {
    pub(crate) code: u8,
    pub(crate) pointer: u32,
}

impl From<DropReason> for Refusal {
    fn from(reason: DropReason) -> Self {
        Self { reason, mtu: 0, problem: Problem::default() }
    }
}

/// The fate of a frame, or why it is dropped.
pub(crate) type Ruling = Result<u8, Refusal>;

/// The fragments of a packet but its first, and the port that all leave through.
pub(crate) struct Split {
    pub(crate) port: u8,
    pub(crate) rest: Vec<Frame>,
}
