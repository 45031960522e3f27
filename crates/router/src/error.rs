//! What can go wrong when a router is set up. Nothing here concerns single packets.

use fwdlab_fib::FibError;
use fwdlab_fib::control::ControlError;

/// An error of the router's control side.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RouterError {
    /// A table refused a route or an algorithm.
    #[error(transparent)]
    Fib(#[from] FibError),
    /// A port number that was never added.
    #[error("no port {port}: the router has ports 0 to {last}", last = .ports.saturating_sub(1))]
    NoSuchPort {
        /// What was asked for.
        port: u16,
        /// How many ports there are.
        ports: usize,
    },
    /// A FIB number that was never added.
    #[error("no FIB {fib}: the router has FIBs 0 to {last}", last = .fibs.saturating_sub(1))]
    NoSuchFib {
        /// What was asked for.
        fib: u16,
        /// How many FIBs there are.
        fibs: usize,
    },
    /// More ports than the adjacency word can number.
    #[error("a router has at most {limit} ports")]
    TooManyPorts {
        /// The limit.
        limit: usize,
    },
    /// An MTU that IP does not allow.
    #[error("mtu {mtu} of port {port} is out of range, choose 1280 to 9216 bytes")]
    Mtu {
        /// The port.
        port: u16,
        /// What was asked for.
        mtu: usize,
    },
    /// A VLAN that there cannot be.
    #[error("port {port} cannot be VLAN {identifier} on port {parent}: {why}")]
    Vlan {
        /// The port.
        port: u16,
        /// On which port.
        parent: u16,
        /// Its identifier.
        identifier: u16,
        /// What is in the way.
        why: &'static str,
    },
    /// A MAC address of a group, or of nobody.
    #[error(
        "port {port} or its neighbour cannot have the address {mac}, which is a group's or nobody's"
    )]
    GroupMac {
        /// The port.
        port: u16,
        /// The address.
        mac: fwdlab_wire::MacAddr,
    },
    /// A control word that the router does not have.
    #[error("unknown control word `{name}`, known are: {known}")]
    UnknownWord {
        /// The word.
        name: String,
        /// The words that there are.
        known: String,
    },
    /// A control word of the lookup framework was refused.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A value that a control word does not take.
    #[error("control word `{name}` cannot be `{value}`, it takes {wanted}")]
    BadValue {
        /// The word.
        name: String,
        /// What was asked for.
        value: String,
        /// What it takes.
        wanted: &'static str,
    },
}
