//! Which flows the tester sends: every source with every destination.
//!
//! A flow is one combination of source address, source port, destination address and destination
//! port. Flows have numbers; the source varies fastest, as in netmap's pkt-gen, whose published
//! results the default experiment repeats.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::error::TrafficError;

/// IPv4 or IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// IPv4.
    Inet,
    /// IPv6.
    Inet6,
}

impl Family {
    /// "IPv4" or "IPv6".
    pub fn name(self) -> &'static str {
        match self {
            Self::Inet => "IPv4",
            Self::Inet6 => "IPv6",
        }
    }
}

/// One side of the flows: a range of addresses, each with a range of UDP ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoints {
    family: Family,
    first: u128,
    addresses: u32,
    first_port: u16,
    ports: u32,
}

const EXAMPLE_INET: &str = "198.18.10.1-198.18.10.20:2000";
const EXAMPLE_INET6: &str = "[2001:2:0:10::1]-[2001:2:0:10::14]:2000";
/// The port when none is given.
const DEFAULT_PORT: u16 = 2000;

impl Endpoints {
    /// IPv4 or IPv6.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The first address as a number in host order.
    pub fn first(&self) -> u128 {
        self.first
    }

    /// The last address.
    pub fn last(&self) -> u128 {
        self.first + u128::from(self.addresses - 1)
    }

    /// How many addresses.
    pub fn addresses(&self) -> u32 {
        self.addresses
    }

    /// The first UDP port.
    pub fn first_port(&self) -> u16 {
        self.first_port
    }

    /// How many ports each address has.
    pub fn ports(&self) -> u32 {
        self.ports
    }

    /// Addresses times ports.
    pub fn count(&self) -> u64 {
        u64::from(self.addresses) * u64::from(self.ports)
    }
}

impl std::str::FromStr for Endpoints {
    type Err = TrafficError;

    /// Reads `A-B:PORT`, where B and PORT may be missing and PORT may be a range `P-Q`. IPv6
    /// addresses stand in brackets when a port follows: `[A]-[B]:PORT` or `[A-B]:PORT`.
    fn from_str(text: &str) -> Result<Self, TrafficError> {
        let is_inet6 = text.contains('[') || text.matches(':').count() > 1;
        let (family, example) = match is_inet6 {
            true => (Family::Inet6, EXAMPLE_INET6),
            false => (Family::Inet, EXAMPLE_INET),
        };
        let wrong = |reason| TrafficError::Range { text: text.to_owned(), reason, example };
        if text.matches('[').count() != text.matches(']').count() {
            return Err(wrong("a bracket is missing"));
        }
        let (addresses, ports) = split_ports(text, family);
        let (first, last) = addresses.split_once('-').unwrap_or((addresses, addresses));
        let address = |text: &str| parse_address(text.trim(), family);
        let first = address(first).ok_or_else(|| wrong("the first address cannot be read"))?;
        let last = address(last).ok_or_else(|| wrong("the last address cannot be read"))?;
        if last < first {
            return Err(wrong("the range runs backwards"));
        }
        if last - first >= 1 << 24 {
            return Err(wrong("more than 16777216 addresses"));
        }
        if first >> 64 != last >> 64 {
            return Err(wrong("the upper 64 bits must be the same"));
        }
        let (first_port, last_port) = match ports {
            None => (DEFAULT_PORT, DEFAULT_PORT),
            Some(ports) => {
                let (low, high) = ports.split_once('-').unwrap_or((ports, ports));
                let port = |text: &str| text.trim().parse::<u16>().ok();
                port(low).zip(port(high)).ok_or_else(|| wrong("the port cannot be read"))?
            }
        };
        if last_port < first_port {
            return Err(wrong("the ports run backwards"));
        }
        let addresses = (last - first) as u32 + 1;
        let ports = u32::from(last_port - first_port) + 1;
        Ok(Self { family, first, addresses, first_port, ports })
    }
}

/// The part with the addresses, and the part with the ports if there is one.
fn split_ports(text: &str, family: Family) -> (&str, Option<&str>) {
    match family {
        Family::Inet => match text.split_once(':') {
            Some((addresses, ports)) => (addresses, Some(ports)),
            None => (text, None),
        },
        Family::Inet6 => match text.rfind(']') {
            Some(end) => match text[end..].split_once(':') {
                Some((_, ports)) => (&text[..=end], Some(ports)),
                None => (text, None),
            },
            None => (text, None),
        },
    }
}

fn parse_address(text: &str, family: Family) -> Option<u128> {
    let text = text.trim_start_matches('[').trim_end_matches(']');
    match family {
        Family::Inet => text.parse::<Ipv4Addr>().ok().map(|address| u128::from(address.to_bits())),
        Family::Inet6 => text.parse::<Ipv6Addr>().ok().map(Ipv6Addr::to_bits),
    }
}

impl fmt::Display for Endpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.family {
            Family::Inet => {
                let address = |value: u128| Ipv4Addr::from_bits(value as u32);
                write!(f, "{}-{}:{}", address(self.first), address(self.last()), self.first_port)?;
            }
            Family::Inet6 => {
                let (first, last) =
                    (Ipv6Addr::from_bits(self.first), Ipv6Addr::from_bits(self.last()));
                write!(f, "[{first}]-[{last}]:{}", self.first_port)?;
            }
        }
        match self.ports {
            1 => Ok(()),
            ports => write!(f, "-{}", u32::from(self.first_port) + ports - 1),
        }
    }
}

/// All flows of one family between two ranges.
///
/// ```
/// use fwdlab_traffic::FlowSet;
/// let flows = FlowSet::parse("198.18.10.1-198.18.10.20:2000", "198.19.10.1-198.19.10.100:2000")?;
/// assert_eq!(flows.count(), 2000);
/// let inet6 = FlowSet::parse(
///     "[2001:2:0:10::1]-[2001:2:0:10::14]:2000",
///     "[2001:2:0:8010::1]-[2001:2:0:8010::64]:2000",
/// )?;
/// assert_eq!(inet6.count(), 2000);
/// # Ok::<(), fwdlab_traffic::TrafficError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSet {
    source: Endpoints,
    destination: Endpoints,
}

impl FlowSet {
    /// The largest number of flows: sender and receiver keep 4 bytes of each, and 20 more from the first fault on.
    pub const MAX_FLOWS: u64 = 1 << 24;

    /// Reads both ranges; see [`Endpoints`] for their form.
    ///
    /// # Errors
    /// A range cannot be read, the families differ, or there are too many flows.
    pub fn parse(source: &str, destination: &str) -> Result<Self, TrafficError> {
        Self::new(source.parse()?, destination.parse()?)
    }

    /// Every source with every destination.
    ///
    /// # Errors
    /// The families differ, or there are too many flows.
    pub fn new(source: Endpoints, destination: Endpoints) -> Result<Self, TrafficError> {
        if source.family != destination.family {
            let (from, to) = (source.to_string(), destination.to_string());
            return Err(TrafficError::Families { from, to });
        }
        let flows = source.count().saturating_mul(destination.count());
        if flows > Self::MAX_FLOWS {
            return Err(TrafficError::TooManyFlows { flows, limit: Self::MAX_FLOWS });
        }
        Ok(Self { source, destination })
    }

    /// IPv4 or IPv6.
    pub fn family(&self) -> Family {
        self.source.family
    }

    /// The sources.
    pub fn source(&self) -> &Endpoints {
        &self.source
    }

    /// The destinations.
    pub fn destination(&self) -> &Endpoints {
        &self.destination
    }

    /// The way back: every destination with every source.
    #[must_use]
    pub fn turned(&self) -> Self {
        Self { source: self.destination, destination: self.source }
    }

    /// How many flows.
    pub fn count(&self) -> u32 {
        (self.source.count() * self.destination.count()) as u32
    }
}
