//! Ports as the router sees them: address, MTU, table.

use std::str::FromStr;

use fwdlab_fib::{Family, Inet, Inet6, Prefix};
use fwdlab_wire::MacAddr;

/// Smallest MTU of a port: what IPv6 asks of every link (RFC 8200, section 5), bytes.
pub const MIN_MTU: usize = 1280;
/// Largest MTU of a port, bytes: jumbo frames of 9216 bytes with header and tag.
pub const MAX_MTU: usize = 9216;

/// An address of a port with the network that it stands in: `198.18.0.1/16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceAddress<F: Family> {
    /// The port's own address.
    pub address: F::Addr,
    /// The network.
    pub network: Prefix<F>,
}

impl InterfaceAddress<Inet6> {
    /// The network's subnet-router anycast address (RFC 4291, section 2.6.1); `None` on links
    /// between two routers, which have none (RFC 6164), and where it is the port's own address.
    pub(crate) fn anycast(&self) -> Option<u128> {
        let address = self.network.addr();
        (self.network.len() < 127 && address != self.address).then_some(address)
    }
}

/// Text that is no interface address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no {family} interface address, write it as address/length")]
pub struct ParseAddressError {
    text: String,
    family: &'static str,
}

impl<F: Family> FromStr for InterfaceAddress<F> {
    type Err = ParseAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (address, len) = text.split_once('/')?;
            let address = F::parse_addr(address)?;
            let network = Prefix::new(address, len.parse().ok()?).ok()?;
            Some(Self { address, network })
        };
        parse().ok_or_else(|| ParseAddressError { text: text.to_owned(), family: F::NAME })
    }
}

/// A VLAN on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vlan {
    /// Number of the port whose frames carry the tags.
    pub parent: u16,
    /// VLAN identifier, 1 to 4094.
    pub identifier: u16,
}

/// A port of the router.
///
/// ```
/// use fwdlab_router::PortConfig;
/// let mac = "02:00:00:00:00:01".parse().expect("a MAC address");
/// let port = PortConfig::new(mac)
///     .address("198.18.0.1/16".parse().expect("an address"))
///     .address6("2001:2::1/64".parse().expect("an address"))
///     .mtu(9000);
/// assert_eq!(port.inet.len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortConfig {
    /// The port's MAC address; not a group.
    pub mac: MacAddr,
    /// Largest IP packet that goes out, bytes; [`MIN_MTU`] to [`MAX_MTU`].
    pub mtu: usize,
    /// The VLAN that the port is, on another port; `None` for a port by itself.
    pub vlan: Option<Vlan>,
    /// Number of the FIB that packets from this port are looked up in.
    pub fib: u16,
    /// IPv4 addresses.
    pub inet: Vec<InterfaceAddress<Inet>>,
    /// IPv6 addresses, without the link-local one, which follows from the MAC address.
    pub inet6: Vec<InterfaceAddress<Inet6>>,
}

impl PortConfig {
    /// A port with this MAC address, an MTU of 1500, FIB 0 and no addresses.
    pub fn new(mac: MacAddr) -> Self {
        Self { mac, mtu: 1500, vlan: None, fib: 0, inet: Vec::new(), inet6: Vec::new() }
    }

    /// The same port with one more IPv4 address.
    #[must_use]
    pub fn address(mut self, address: InterfaceAddress<Inet>) -> Self {
        self.inet.push(address);
        self
    }

    /// The same port with one more IPv6 address.
    #[must_use]
    pub fn address6(mut self, address: InterfaceAddress<Inet6>) -> Self {
        self.inet6.push(address);
        self
    }

    /// The same port with another MTU, bytes.
    #[must_use]
    pub fn mtu(mut self, mtu: usize) -> Self {
        self.mtu = mtu;
        self
    }

    /// The same port as VLAN `identifier` (1 to 4094) on port `parent`, which was added before:
    /// it has no queue of its own, its frames carry a tag and go through its parent's.
    #[must_use]
    pub fn vlan(mut self, parent: u16, identifier: u16) -> Self {
        self.vlan = Some(Vlan { parent, identifier });
        self
    }

    /// The same port in another FIB.
    #[must_use]
    pub fn fib(mut self, fib: u16) -> Self {
        self.fib = fib;
        self
    }

    /// The port's IPv6 link-local address, `fe80::` with the interface identifier of its MAC
    /// address (RFC 4291, appendix A).
    pub fn link_local(&self) -> u128 {
        0xfe80 << 112 | u128::from(self.mac.to_interface_identifier())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_an_address_with_its_network() {
        let address: InterfaceAddress<Inet> = "198.18.0.1/16".parse().unwrap();
        assert_eq!((address.address, address.network.len()), (0xc612_0001, 16));
        assert_eq!(address.network.addr(), 0xc612_0000);
    }

    #[test]
    fn refuses_text_without_length_or_of_the_other_family() {
        for text in ["198.18.0.1", "198.18.0.1/33", "2001:2::1/64", "198.18.0.1/", "/16"] {
            assert!(text.parse::<InterfaceAddress<Inet>>().is_err(), "{text}");
        }
    }
}
