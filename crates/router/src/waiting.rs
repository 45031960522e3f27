//! What is noted of packets that wait for a MAC address.

use fwdlab_fib::NexthopId;

/// A packet that is to wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait<A> {
    pub(crate) input: u8,
    pub(crate) port: u8,
    /// The nexthop whose gateway it needs, or, for [`NexthopId::NONE`], the destination itself.
    pub(crate) gateway: NexthopId,
    pub(crate) destination: A,
    /// The router made it.
    pub(crate) is_own: bool,
}

/// Whose MAC address a packet waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Inet(u32),
    Inet6(u128),
}

/// What is noted of a packet that waits; the frame itself is with the worker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    pub(crate) input: u8,
    pub(crate) port: u8,
    pub(crate) target: Target,
    pub(crate) until_ns: u64,
    /// The router made it: nobody is told when it waits in vain.
    pub(crate) is_own: bool,
    /// A newer packet has taken its place; it is dropped at the end of the poll.
    pub(crate) is_replaced: bool,
}
