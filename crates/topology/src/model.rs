//! What is wanted, as plain data.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use fwdlab_wire::MacAddr;

use fwdlab_routes::Prefix;

/// Network namespaces and the cables between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Namespaces by role, such as `device`. On the system they get a mark of their own in front.
    pub namespaces: BTreeMap<String, Namespace>,
    /// veth pairs.
    pub cables: Vec<Cable>,
}

/// What is set inside one namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Namespace {
    /// Values of sysctls by name (`net.ipv4.ip_forward`). Those that name an interface are set
    /// after it was made, all others before.
    pub sysctls: BTreeMap<String, String>,
    /// Permanent neighbours, so that nothing is ever resolved.
    pub neighbours: BTreeSet<Neighbour>,
    /// Static routes, in ascending order and each once. Shared, because a full table is large.
    pub routes: Arc<Vec<StaticRoute>>,
    /// An nftables rule set, in the language of nft(8).
    pub rules: Option<String>,
}

/// A veth pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cable {
    /// Its two ends, in different namespaces or with different names.
    pub ends: [CableEnd; 2],
    /// One receive and one transmit queue at each end; else as many as the kernel makes by itself.
    pub has_one_queue: bool,
}

/// One end of a cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CableEnd {
    /// The role of the namespace that it lies in.
    pub namespace: String,
    /// Name of the interface, at most 15 characters.
    pub interface: String,
    /// Its MAC address.
    pub mac: MacAddr,
    /// The largest IP packet that it takes, in bytes; without it, the kernel's default (1500).
    pub mtu: Option<u32>,
    /// Its addresses.
    pub addresses: Vec<InterfaceAddress>,
}

/// An address of an interface with the length of its network's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceAddress {
    /// The address.
    pub address: IpAddr,
    /// Length of the prefix that is reached directly.
    pub prefix_length: u8,
}

/// A neighbour whose MAC address is known for good.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Neighbour {
    /// The interface behind which it lies.
    pub interface: String,
    /// Its address.
    pub address: IpAddr,
    /// Its MAC address.
    pub mac: MacAddr,
}

/// A static route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StaticRoute {
    /// Destinations.
    pub prefix: Prefix,
    /// The next router.
    pub gateway: IpAddr,
    /// Number of the port by which it leaves; see [`port_name`].
    pub port: u16,
}

/// The interface that is port `number` of its namespace: `port0`, `port1`.
pub fn port_name(number: u16) -> String {
    format!("port{number}")
}

/// The other end of a cable to port `number`: of two names that of the port's side, and from the third port on its
/// number.
pub fn end_name(names: [&str; 2], number: u16) -> String {
    let name = names[usize::from(number % 2)];
    if number < 2 { name.to_owned() } else { format!("{name}{number}") }
}

impl Topology {
    /// The namespace of a role, made empty if there is none yet.
    pub fn namespace(&mut self, role: &str) -> &mut Namespace {
        self.namespaces.entry(role.to_owned()).or_default()
    }
}

impl Cable {
    /// A cable with one queue each way.
    pub fn new(ends: [CableEnd; 2]) -> Self {
        Self { ends, has_one_queue: true }
    }

    /// Whether an end lies in the namespace of this role.
    pub(super) fn touches(&self, role: &str) -> bool {
        self.ends.iter().any(|end| end.namespace == role)
    }
}
