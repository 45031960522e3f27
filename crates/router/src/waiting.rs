//! What is noted of packets that wait for a MAC address, or for the table in which it is looked up.

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

/// What a packet waits for: a neighbour's MAC address, or the table of neighbours, which somebody
/// else had when the packet came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Inet(u32),
    Inet6(u128),
    /// The table, to be asked for the way to this destination.
    Unasked(u32),
    Unasked6(u128),
    /// The table, which is to take up what a neighbour says in this frame.
    Unread,
}

impl Target {
    /// The packet waits for the table.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Target::Unasked(_) | Target::Unasked6(_) | Target::Unread)
    }
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
