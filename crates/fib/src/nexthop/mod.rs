//! Nexthops: where a route sends its packets, and the dense numbers that lookups answer with.

mod group;
mod numbered;
mod table;

pub(crate) use group::NexthopGroups;
pub use group::{NexthopGroup, NexthopGroupError};
pub use numbered::{NumberSink, Numbered};
pub use table::NexthopTable;

use crate::family::Family;

/// Number of a nexthop or nexthop group in its table. Numbers are dense from 1, so that a router
/// can index an array with them; 0 means "no route".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct NexthopId(pub u32);

impl NexthopId {
    /// No route.
    pub const NONE: Self = Self(0);

    /// Whether there is no route.
    #[inline]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The number as an array index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What happens to packets that follow a nexthop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum NexthopKind {
    /// Sent on: to the gateway, or straight to the destination on the port's network.
    #[default]
    Unicast,
    /// For this machine.
    Local,
    /// Dropped silently.
    Blackhole,
    /// Dropped with an ICMP error: the destination cannot be reached.
    Reject,
    /// Dropped with an ICMP error: it is forbidden.
    Prohibit,
}

/// Where a route sends its packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Nexthop<F: Family> {
    /// The next router, or `None` when destinations are on the port's own network.
    pub gateway: Option<F::Addr>,
    /// Number of the port that packets leave through.
    pub port: u16,
    /// What happens to the packets.
    pub kind: NexthopKind,
}

impl<F: Family> Nexthop<F> {
    /// A nexthop that sends through `gateway` on `port`.
    pub fn via(gateway: F::Addr, port: u16) -> Self {
        Self { gateway: Some(gateway), port, kind: NexthopKind::Unicast }
    }

    /// Like [`Nexthop::via`], with an address of the standard library.
    pub fn through(gateway: F::Ip, port: u16) -> Self {
        Self::via(gateway.into(), port)
    }

    /// The next router, as the standard library has its address.
    pub fn gateway_ip(&self) -> Option<F::Ip> {
        self.gateway.map(F::Ip::from)
    }

    /// A nexthop whose destinations are on the network of `port`.
    pub fn connected(port: u16) -> Self {
        Self { gateway: None, port, kind: NexthopKind::Unicast }
    }

    /// A nexthop of a kind that needs no gateway.
    pub fn special(kind: NexthopKind) -> Self {
        Self { gateway: None, port: 0, kind }
    }
}

/// What a route points to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target<F: Family> {
    /// One nexthop.
    Nexthop(Nexthop<F>),
    /// Several nexthops with their weights; each flow takes one of them.
    Group(Vec<(Nexthop<F>, u32)>),
    /// A nexthop or group that the table knows already.
    Known(NexthopId),
}

impl<F: Family> From<Nexthop<F>> for Target<F> {
    fn from(nexthop: Nexthop<F>) -> Self {
        Self::Nexthop(nexthop)
    }
}

impl<F: Family> From<NexthopId> for Target<F> {
    fn from(id: NexthopId) -> Self {
        Self::Known(id)
    }
}

impl<F: Family> From<Vec<(Nexthop<F>, u32)>> for Target<F> {
    fn from(members: Vec<(Nexthop<F>, u32)>) -> Self {
        Self::Group(members)
    }
}
