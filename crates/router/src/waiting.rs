//! What is noted of packets that wait for a MAC address.

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
}
