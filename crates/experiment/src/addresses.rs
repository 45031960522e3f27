//! The addresses of a traffic: a range, and a UDP port or a range of them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::problem::Complaint;
use fwdlab_results::Family;
use fwdlab_routes::number;

/// A range of addresses of one family with a UDP port or a range of them:
/// `198.18.10.1-198.18.10.20:2000` or `[2001:2::1]-[2001:2::14]:2000-2009`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    first: IpAddr,
    last: IpAddr,
    port: u16,
    last_port: u16,
}

/// Most flows of one traffic.
pub(super) const MOST_FLOWS: u64 = 1 << 24;

const WANTED: &str = "first-last:port, IPv6 addresses in brackets";
const EXAMPLE_4: &str = "write for instance \"198.18.10.1-198.18.10.20:2000\"";
const EXAMPLE_6: &str = "write for instance \"[2001:2::1]-[2001:2::14]:2000\"";

impl Endpoint {
    /// First address.
    pub fn first(&self) -> IpAddr {
        self.first
    }

    /// Last address, not before the first and of the same family.
    pub fn last(&self) -> IpAddr {
        self.last
    }

    /// UDP port, the first if there are several; 0 beside a capture, whose ports stay.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Last UDP port, not before the first.
    pub fn last_port(&self) -> u16 {
        self.last_port
    }

    /// The address family.
    pub fn family(&self) -> Family {
        Family::of(self.first)
    }

    /// Number of addresses times number of ports, at least 1; saturates at
    /// `u64::MAX`.
    pub fn count(&self) -> u64 {
        let (first, last) = self.bounds();
        let addresses = u64::try_from(last - first).unwrap_or(u64::MAX).saturating_add(1);
        addresses.saturating_mul(u64::from(self.last_port - self.port) + 1)
    }

    /// First and last address as numbers; IPv4 uses the low 32 bits.
    pub fn bounds(&self) -> (u128, u128) {
        (number(self.first), number(self.last))
    }

    /// The addresses of part `number` of `parts` of equal length, with the same UDP ports; nothing where
    /// there are fewer addresses than parts.
    pub(super) fn part(&self, number: u16, parts: u16) -> Option<Self> {
        let (first, last) = self.bounds();
        let (number, parts) = (u128::from(number), u128::from(parts.max(1)));
        // One less than there are: all of IPv6 has no number of its own.
        let (each, more) = ((last - first) / parts, (last - first) % parts + 1);
        let (each, more) = if more == parts { (each + 1, 0) } else { (each, more) };
        let begin = |number: u128| first + number * each + number.min(more);
        let end = if number + 1 == parts { last } else { begin(number + 1).checked_sub(1)? };
        let begin = begin(number);
        let address = |number: u128| match self.first {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from_bits(number as u32)),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::from_bits(number)),
        };
        let is_there = begin <= end && end <= last;
        is_there.then(|| Self { first: address(begin), last: address(end), ..*self })
    }

    /// Reads `A` or `A-B`, without a port: that of a capture's packets stays.
    pub(super) fn parse_addresses(text: &str) -> Result<Self, Complaint> {
        if let Ok(with_port) = Self::parse(text) {
            let bare = Self { port: 0, last_port: 0, ..with_port };
            return Err(Complaint::new(
                format!("{text:?} names a port, and those of the capture stay as they are"),
                "addresses without a port beside capture",
                format!("write \"{bare}\""),
            ));
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = (address(first, text)?, address(last, text)?);
        Self { first, last, port: 0, last_port: 0 }.checked()
    }

    /// Reads `A:port` or `A-B:port`; the port may be a range `P-Q`.
    pub(super) fn parse(text: &str) -> Result<Self, Complaint> {
        let (addresses, port) = text
            .rsplit_once(':')
            .filter(|(addresses, _)| addresses.contains('[') == addresses.contains(':'))
            .ok_or_else(|| unreadable(text))?;
        let (port, last_port) = ports(port).ok_or_else(|| {
            Complaint::new(
                format!("{port:?} is no UDP port"),
                "a port from 1 to 65535 after the addresses, or a range of them",
                if text.contains('[') { EXAMPLE_6 } else { EXAMPLE_4 },
            )
        })?;
        let (first, last) = addresses.split_once('-').unwrap_or((addresses, addresses));
        let (first, last) = (address(first, text)?, address(last, text)?);
        Self { first, last, port, last_port }.checked()
    }

    fn checked(self) -> Result<Self, Complaint> {
        let Self { first, last, .. } = self;
        if Family::of(first) != Family::of(last) {
            return Err(Complaint::new(
                format!("the range mixes families: {first} and {last}"),
                "two addresses of one family",
                "use one [[traffic]] for each family",
            ));
        }
        if number(first) > number(last) {
            let swapped = Self { first: last, last: first, ..self };
            return Err(Complaint::new(
                format!("the range runs backwards: {first} comes after {last}"),
                "the smaller address first",
                format!("write \"{swapped}\""),
            ));
        }
        for end in [first, last] {
            if let Some(kind) = not_forwarded(end) {
                return Err(Complaint::new(
                    format!("{end} is {kind}, which a router must not forward"),
                    "unicast addresses",
                    "use the benchmarking ranges 198.18.0.0/15 or 2001:2::/48",
                ));
            }
        }
        Ok(self)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last, port, last_port } = self;
        if *port == 0 {
            return match (first == last, first.is_ipv4()) {
                (true, true) => write!(f, "{first}"),
                (true, false) => write!(f, "[{first}]"),
                (false, true) => write!(f, "{first}-{last}"),
                (false, false) => write!(f, "[{first}]-[{last}]"),
            };
        }
        match (first == last, first.is_ipv4()) {
            (true, true) => write!(f, "{first}:{port}"),
            (true, false) => write!(f, "[{first}]:{port}"),
            (false, true) => write!(f, "{first}-{last}:{port}"),
            (false, false) => write!(f, "[{first}]-[{last}]:{port}"),
        }?;
        if port == last_port { Ok(()) } else { write!(f, "-{last_port}") }
    }
}

/// Reads a port, or a range of them that runs forwards.
fn ports(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let port = |text: &str| text.parse().ok().filter(|&port: &u16| port > 0);
    let (first, last) = (port(first)?, port(last)?);
    (first <= last).then_some((first, last))
}

fn address(part: &str, text: &str) -> Result<IpAddr, Complaint> {
    let bare = part.trim().trim_start_matches('[').trim_end_matches(']');
    bare.parse().map_err(|_| unreadable(text))
}

fn unreadable(text: &str) -> Complaint {
    let is_v6 = text.contains('[') || text.matches(':').count() > 1;
    let example = if is_v6 { EXAMPLE_6 } else { EXAMPLE_4 };
    let remedy =
        meant(text).map_or_else(|| example.to_owned(), |meant| format!("write \"{meant}\""));
    Complaint::new(format!("{text:?} is no range of addresses"), WANTED, remedy)
}

/// What the text of somebody who knows other ways of writing IPv4 ranges says: `198.18.10.0/24:2000`,
/// `198.18.10.1-20:2000`, or a range whose port lacks.
fn meant(text: &str) -> Option<Endpoint> {
    const PORT: &str = "2000";
    let (addresses, port) = text.split_once(':').unwrap_or((text, PORT));
    let range = if let Some((address, length)) = addresses.split_once('/') {
        let (address, length): (Ipv4Addr, u32) = (address.parse().ok()?, length.parse().ok()?);
        let hosts = u32::MAX.checked_shr(length).filter(|hosts| *hosts > 1)?;
        let network = address.to_bits() & !hosts;
        let ends = [network + 1, network + hosts - 1].map(Ipv4Addr::from_bits);
        format!("{}-{}", ends[0], ends[1])
    } else if let Some((first, last)) = addresses.split_once('-')
        && last.parse::<u8>().is_ok()
    {
        let (network, _) = first.rsplit_once('.')?;
        format!("{first}-{network}.{last}")
    } else {
        addresses.to_owned()
    };
    let asked = format!("{range}:{port}");
    // Only what is a range then; what is none there would come back here.
    let is_range = range.split('-').all(|end| end.parse::<Ipv4Addr>().is_ok());
    if !is_range || asked == text { None } else { Endpoint::parse(&asked).ok() }
}

/// The kind of an address that RFC 1812 section 5.3.7 and RFC 4291 keep from
/// being forwarded; `None` for one that is.
fn not_forwarded(address: IpAddr) -> Option<&'static str> {
    let any = [
        (address.is_unspecified(), "the unspecified address"),
        (address.is_loopback(), "a loopback address"),
        (address.is_multicast(), "a multicast address"),
        (is_link_local(address), "a link-local address"),
        (is_reserved(address), "a reserved address"),
    ];
    any.into_iter().find(|(is_so, _)| *is_so).map(|(_, kind)| kind)
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn is_reserved(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4 == Ipv4Addr::BROADCAST || v4.octets()[0] >= 240 || v4.octets()[0] == 0,
        IpAddr::V6(v6) => Ipv6Addr::to_ipv4_mapped(&v6).is_some(),
    }
}
