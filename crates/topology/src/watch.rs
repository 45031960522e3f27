//! The kernel's routes, as they are and as they change: what routing daemons such as BIRD and FRR
//! leave in the main table of a network namespace.
//!
//! When changes come faster than they are read, the kernel throws notices away and says so; then all
//! routes are read again, between [`RouteNotice::Begin`] and [`RouteNotice::End`]. So they are when a link
//! goes down or up, or an address, a link or a nexthop object goes away: of the routes that vanish with
//! them the kernel tells nothing.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use netlink_packet_core::NetlinkPayload;
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteNextHop, RouteNextHopFlags,
    RouteProtocol, RouteType, RouteVia,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::sys::socket::{MsgFlags, setsockopt, sockopt};

use crate::links;
use crate::netlink::{Messages, Netlink};
use fwdlab_routes::Prefix;

/// Groups of rtnetlink(7) in which changes of routes are told, and of links, of addresses of both
/// families, and of nexthop objects.
const ROUTE_GROUPS: [u32; 2] = [7, 11];
const OTHER_GROUPS: [u32; 4] = [1, 5, 9, 32];
/// Types of messages (linux/rtnetlink.h).
const NEW_LINK: u16 = 16;
const DELETED_LINK: u16 = 17;
const DELETED_ADDRESS: u16 = 21;
const NEW_ROUTE: u16 = 24;
const DELETED_ROUTE: u16 = 25;
const NEW_NEXTHOP: u16 = 104;
const DELETED_NEXTHOP: u16 = 105;
/// Flags of interfaces that routes hang on: up, running, and a carrier.
const LIVE: u32 = 1 | 1 << 6 | 1 << 16;
/// The kernel tells of a link before it has taken the routes away: after so long they are read once more.
const SETTLED: Duration = Duration::from_millis(200);
/// Bytes of notices that may wait to be read: some 100,000 changes.
const WAITING_BYTES: usize = 128 << 20;
/// Notices that are read in one go.
const MOST_AT_ONCE: usize = 4096;

/// One way of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelWay {
    /// The next router; without one, destinations are neighbours themselves.
    pub gateway: Option<IpAddr>,
    /// Number of the interface; 0 when the kernel names none.
    pub interface: u32,
    /// Its share of the flows, from 1.
    pub weight: u32,
}

/// What a route does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelTarget {
    /// Sends packets one of these ways.
    Ways(Vec<KernelWay>),
    /// Drops packets silently.
    Blackhole,
    /// Drops packets and says that the host cannot be reached.
    Unreachable,
    /// Drops packets and says that it is forbidden.
    Prohibit,
}

/// A route of the kernel's main table. One prefix may have several with different metrics, of which
/// the lowest counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelRoute {
    /// Destinations.
    pub prefix: Prefix,
    /// Preference; less is better.
    pub metric: u32,
    /// What it does.
    pub target: KernelTarget,
    /// Whether somebody wrote it down, or it came with an address: no routing protocol's.
    pub is_static: bool,
}

/// What the kernel tells of its routes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RouteNotice {
    /// All routes follow.
    Begin,
    /// A route is there; in place of an equal one of the same metric.
    Set(KernelRoute),
    /// A route is there no more.
    Gone(KernelRoute),
    /// Those were all routes.
    End,
}

/// Reads the kernel's routes in the namespace in which it was opened.
#[derive(Debug)]
pub struct RouteWatch {
    notices: Netlink,
    requests: Netlink,
    must_read_all: bool,
    /// When all routes are to be read once more.
    again: Option<Instant>,
    /// What is [`LIVE`] of each interface, by number.
    links: HashMap<u32, u32>,
    buffer: Vec<u8>,
}

impl RouteWatch {
    /// Opens a watch in the calling thread's network namespace.
    ///
    /// # Errors
    /// When the kernel refuses the sockets.
    pub fn open() -> io::Result<Self> {
        let notices = Netlink::open()?;
        // More than net.core.rmem_max, for those who may; else what they may.
        let _ = setsockopt(notices.socket(), sockopt::RcvBufForce, &WAITING_BYTES)
            .or_else(|_| setsockopt(notices.socket(), sockopt::RcvBuf, &WAITING_BYTES));
        for group in ROUTE_GROUPS {
            notices.socket().add_membership(group)?;
        }
        for group in OTHER_GROUPS {
            // An old kernel has no nexthop objects.
            let _ = notices.socket().add_membership(group);
        }
        let mut requests = Netlink::open()?;
        let mut known = HashMap::new();
        links::each_link(&mut requests, |_, link| {
            known.insert(link.header.index, link.header.flags.bits() & LIVE);
        })?;
        Ok(Self {
            notices,
            requests,
            must_read_all: true,
            again: None,
            links: known,
            buffer: Vec::with_capacity(1 << 16),
        })
    }

    /// Waits for the next notice and hands it over, and those that wait behind it, up to
    /// [`MOST_AT_ONCE`]; at first, and when notices do not tell everything, all routes. May return
    /// without any.
    ///
    /// # Errors
    /// When the kernel cannot be asked.
    pub fn read(&mut self, each: &mut dyn FnMut(RouteNotice)) -> io::Result<()> {
        if std::mem::take(&mut self.must_read_all) {
            return self.read_all(each);
        }
        if self.again.is_some_and(|at| Instant::now() >= at) {
            self.again = None;
            self.wait_at_most(Duration::ZERO)?;
            return self.read_all(each);
        }
        let mut flags = MsgFlags::empty();
        for _ in 0..MOST_AT_ONCE {
            if !self.read_one(flags, each)? {
                break;
            }
            flags = MsgFlags::MSG_DONTWAIT;
        }
        Ok(())
    }

    /// Hands over the notices of one message; false when there is none.
    fn read_one(&mut self, flags: MsgFlags, each: &mut dyn FnMut(RouteNotice)) -> io::Result<bool> {
        self.buffer.clear();
        match self.notices.socket().recv(&mut self.buffer, flags.bits()) {
            Ok(_) => {}
            // "a message could not be delivered": the queue was full.
            Err(error) if error.raw_os_error() == Some(nix::errno::Errno::ENOBUFS as i32) => {
                self.must_read_all = true;
                return Ok(false);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
        let mut is_silent_change = false;
        for (kind, flags, bytes) in raw_messages(&self.buffer) {
            is_silent_change |= match kind {
                NEW_ROUTE | DELETED_ROUTE => {
                    for message in Messages(bytes) {
                        tell(message?.payload, each);
                    }
                    false
                }
                DELETED_LINK | DELETED_ADDRESS | DELETED_NEXTHOP => true,
                NEW_NEXTHOP => flags & netlink_packet_core::NLM_F_REPLACE != 0,
                NEW_LINK => link_flags(bytes).is_some_and(|(index, flags)| {
                    self.links.insert(index, flags & LIVE) != Some(flags & LIVE)
                }),
                _ => false,
            };
        }
        if is_silent_change {
            self.must_read_all = true;
            self.again = Some(Instant::now() + SETTLED);
            self.wait_at_most(SETTLED)?;
        }
        Ok(!is_silent_change)
    }

    /// How long [`RouteWatch::read`] waits for a notice at most; 0 is for ever.
    fn wait_at_most(&self, time: Duration) -> io::Result<()> {
        let time = nix::sys::time::TimeVal::new(
            time.as_secs() as nix::libc::time_t,
            time.subsec_micros() as nix::libc::suseconds_t,
        );
        Ok(setsockopt(self.notices.socket(), sockopt::ReceiveTimeout, &time)?)
    }

    fn read_all(&mut self, each: &mut dyn FnMut(RouteNotice)) -> io::Result<()> {
        each(RouteNotice::Begin);
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            let mut request = RouteMessage::default();
            request.header.address_family = family;
            self.requests.dump(RouteNetlinkMessage::GetRoute(request), &mut |found| {
                if let RouteNetlinkMessage::NewRoute(route) = found
                    && let Some(route) = read_route(&route)
                {
                    each(RouteNotice::Set(route));
                }
            })?;
        }
        each(RouteNotice::End);
        Ok(())
    }

    /// The addresses of an interface with their prefix lengths, without link-local ones.
    ///
    /// # Errors
    /// When the kernel cannot be asked, or has no such interface.
    pub fn addresses(&mut self, interface: &str) -> io::Result<Vec<(IpAddr, u8)>> {
        let index = links::index(&mut self.requests, interface)?;
        let mut addresses = Vec::new();
        let request = RouteNetlinkMessage::GetAddress(AddressMessage::default());
        self.requests.dump(request, &mut |found| {
            let RouteNetlinkMessage::NewAddress(message) = found else { return };
            // `Local` is the interface's own where `Address` is that of the other end.
            let own = |wants_local| {
                message.attributes.iter().find_map(|attribute| match attribute {
                    AddressAttribute::Local(address) if wants_local => Some(*address),
                    AddressAttribute::Address(address) if !wants_local => Some(*address),
                    _ => None,
                })
            };
            let is_global = |address: &IpAddr| match address {
                IpAddr::V4(_) => true,
                IpAddr::V6(address) => !address.is_unicast_link_local(),
            };
            if message.header.index == index
                && let Some(address) = own(true).or(own(false)).filter(is_global)
            {
                addresses.push((address, message.header.prefix_len));
            }
        })?;
        Ok(addresses)
    }

    /// The numbers of all interfaces, by name.
    ///
    /// # Errors
    /// When the kernel cannot be asked.
    pub fn interfaces(&mut self) -> io::Result<Vec<(String, u32)>> {
        let mut found = Vec::new();
        links::each_link(&mut self.requests, |name, link| {
            if !name.is_empty() {
                found.push((name.to_owned(), link.header.index));
            }
        })?;
        Ok(found)
    }
}

/// The messages of a datagram: type, flags and all their bytes.
fn raw_messages(mut bytes: &[u8]) -> impl Iterator<Item = (u16, u16, &[u8])> {
    const HEADER: usize = 16;
    std::iter::from_fn(move || {
        let header = bytes.get(..HEADER)?;
        let len = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let message = bytes.get(..len.max(HEADER))?;
        bytes = bytes.get(message.len().next_multiple_of(4)..).unwrap_or_default();
        let word = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
        Some((word(4), word(6), message))
    })
}

/// Number and flags of the interface that a message is about (`struct ifinfomsg`).
fn link_flags(message: &[u8]) -> Option<(u32, u32)> {
    let word = |at: usize| Some(u32::from_ne_bytes(message.get(at..at + 4)?.try_into().ok()?));
    Some((word(20)?, word(24)?))
}

fn tell(payload: NetlinkPayload<RouteNetlinkMessage>, each: &mut dyn FnMut(RouteNotice)) {
    match payload {
        NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewRoute(route)) => {
            read_route(&route).map(RouteNotice::Set).into_iter().for_each(each);
        }
        NetlinkPayload::InnerMessage(RouteNetlinkMessage::DelRoute(route)) => {
            read_route(&route).map(RouteNotice::Gone).into_iter().for_each(each);
        }
        _ => {}
    }
}

/// Who FRR says it is for its static routes.
const FRR_STATIC: u8 = 196;

/// A route of the main table; `None` for those of other tables, of multicast, for certain types of
/// service, and clones.
fn read_route(message: &RouteMessage) -> Option<KernelRoute> {
    let header = &message.header;
    let table = message.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Table(table) => Some(*table),
        _ => None,
    });
    let is_main = table.unwrap_or(header.table.into()) == u32::from(RouteHeader::RT_TABLE_MAIN);
    let is_clone = header.flags.contains(netlink_packet_route::route::RouteFlags::Cloned);
    if !is_main || is_clone || header.tos != 0 {
        return None;
    }
    let any = match header.address_family {
        AddressFamily::Inet => IpAddr::from([0; 4]),
        AddressFamily::Inet6 => IpAddr::from([0; 16]),
        _ => return None,
    };
    let (mut destination, mut metric) = (any, 0);
    for attribute in &message.attributes {
        match attribute {
            RouteAttribute::Destination(address) => destination = ip(address)?,
            RouteAttribute::Priority(priority) => metric = *priority,
            _ => {}
        }
    }
    let target = match header.kind {
        RouteType::Unicast => KernelTarget::Ways(ways(&message.attributes)),
        RouteType::BlackHole => KernelTarget::Blackhole,
        RouteType::Unreachable => KernelTarget::Unreachable,
        RouteType::Prohibit => KernelTarget::Prohibit,
        _ => return None,
    };
    let prefix = Prefix::covering(destination, header.destination_prefix_length);
    let is_static = matches!(
        header.protocol,
        RouteProtocol::Kernel | RouteProtocol::Boot | RouteProtocol::Static
    ) || header.protocol == RouteProtocol::Other(FRR_STATIC);
    Some(KernelRoute { prefix, metric, target, is_static })
}

fn ways(attributes: &[RouteAttribute]) -> Vec<KernelWay> {
    let several = attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::MultiPath(ways) => Some(ways),
        _ => None,
    });
    match several {
        None => vec![way(attributes, 0, 1)],
        // The kernel does not use those that are dead.
        Some(ways) => {
            let live = ways.iter().filter(|way| !way.flags.contains(RouteNextHopFlags::Dead));
            live.map(way_of_several).collect()
        }
    }
}

fn way_of_several(next: &RouteNextHop) -> KernelWay {
    way(&next.attributes, next.interface_index, u32::from(next.hops) + 1)
}

fn way(attributes: &[RouteAttribute], interface: u32, weight: u32) -> KernelWay {
    let mut way = KernelWay { gateway: None, interface, weight };
    for attribute in attributes {
        match attribute {
            RouteAttribute::Gateway(address) => way.gateway = ip(address),
            RouteAttribute::Via(RouteVia::Inet(address)) => way.gateway = Some((*address).into()),
            RouteAttribute::Via(RouteVia::Inet6(address)) => way.gateway = Some((*address).into()),
            RouteAttribute::Oif(index) => way.interface = *index,
            _ => {}
        }
    }
    way
}

fn ip(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(address) => Some((*address).into()),
        RouteAddress::Inet6(address) => Some((*address).into()),
        _ => None,
    }
}
