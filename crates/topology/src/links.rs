//! veth pairs, their addresses, counters and neighbours.

use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::address::{
    AddressAttribute, AddressFlags, AddressHeaderFlags, AddressMessage,
};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage, LinkXdp, State,
};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcStats2};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::model::{Cable, CableEnd, InterfaceAddress, Neighbour};
use super::namespace::NetNamespace;
use super::netlink::Netlink;

/// Frames that an interface has moved, as the kernel counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Frames received.
    pub rx_frames: u64,
    /// Frames sent.
    pub tx_frames: u64,
    /// Frames received and dropped by the interface.
    pub rx_dropped: u64,
    /// Frames that were to be sent and were dropped by the interface.
    pub tx_dropped: u64,
    /// Frames received and dropped by the queueing discipline of its input: a policer.
    pub rx_queue_dropped: u64,
    /// Frames that were to be sent and were dropped by that of its output: a shaper, or a queue that was full.
    pub tx_queue_dropped: u64,
}

pub(super) fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

/// Makes both ends of a cable, each at once in its own namespace.
pub(super) fn add_cable(
    netlink: &mut Netlink,
    cable: &Cable,
    namespaces: [&NetNamespace; 2],
) -> io::Result<()> {
    let [near, far] = &cable.ends;
    let mut peer = LinkMessage::default();
    peer.attributes = end_attributes(far, namespaces[1], cable.has_one_queue);
    let mut message = LinkMessage::default();
    message.attributes = end_attributes(near, namespaces[0], cable.has_one_queue);
    message.attributes.push(LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(InfoKind::Veth),
        LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
    ]));
    netlink.request(RouteNetlinkMessage::NewLink(message), NLM_F_CREATE | NLM_F_EXCL)
}

fn end_attributes(
    end: &CableEnd,
    namespace: &NetNamespace,
    has_one_queue: bool,
) -> Vec<LinkAttribute> {
    let mut attributes = vec![
        LinkAttribute::IfName(end.interface.clone()),
        LinkAttribute::Address(end.mac.0.to_vec()),
        LinkAttribute::NetNsFd(namespace.file().as_raw_fd()),
    ];
    if has_one_queue {
        // With more, the kernel looks into every frame to choose one.
        attributes.extend([LinkAttribute::NumTxQueues(1), LinkAttribute::NumRxQueues(1)]);
    }
    attributes.extend(end.mtu.map(LinkAttribute::Mtu));
    attributes
}

/// Removes an interface, and with it the other end of its cable.
pub(super) fn remove(netlink: &mut Netlink, interface: &str) -> io::Result<()> {
    let mut message = LinkMessage::default();
    message.header.index = index(netlink, interface)?;
    netlink.request(RouteNetlinkMessage::DelLink(message), 0)
}

/// Puts an interface into service.
pub(super) fn set_up(netlink: &mut Netlink, index: u32) -> io::Result<()> {
    set(netlink, index, LinkFlags::Up)
}

/// Takes an interface out of service.
pub(super) fn set_down(netlink: &mut Netlink, index: u32) -> io::Result<()> {
    set(netlink, index, LinkFlags::empty())
}

fn set(netlink: &mut Netlink, index: u32, flags: LinkFlags) -> io::Result<()> {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message.header.flags = flags;
    message.header.change_mask = LinkFlags::Up;
    netlink.request(RouteNetlinkMessage::SetLink(message), 0)
}

/// The number of an interface.
pub(super) fn index(netlink: &mut Netlink, interface: &str) -> io::Result<u32> {
    let mut found = None;
    each_link(netlink, |name, link| {
        if name == interface {
            found = Some(link.header.index);
        }
    })?;
    found
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("no interface {interface}")))
}

/// Waits until an interface is in service: until then, it throws away what it is to send.
pub(super) fn wait_until_up(netlink: &mut Netlink, interface: &str) -> io::Result<()> {
    wait_until(netlink, interface, |link| {
        link.attributes.contains(&LinkAttribute::OperState(State::Up))
    })
}

/// Waits until an interface has a carrier. It sends from then on; that it is in service is noted up to a second
/// later, when the kernel looks next.
pub(super) fn wait_for_carrier(netlink: &mut Netlink, interface: &str) -> io::Result<()> {
    wait_until(netlink, interface, |link| link.header.flags.contains(LinkFlags::LowerUp))
}

fn wait_until(
    netlink: &mut Netlink,
    interface: &str,
    is_ready: impl Fn(&LinkMessage) -> bool,
) -> io::Result<()> {
    // The kernel looks at most once a second, later on a busy machine.
    const PATIENCE: Duration = Duration::from_secs(10);
    let start = Instant::now();
    loop {
        let mut is_up = false;
        each_link(netlink, |name, link| is_up |= name == interface && is_ready(link))?;
        if is_up {
            return Ok(());
        }
        if start.elapsed() > PATIENCE {
            let what = format!("interface {interface} does not come into service");
            return Err(io::Error::new(io::ErrorKind::TimedOut, what));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The number of the XDP program on an interface, if there is one.
pub(super) fn xdp_program(netlink: &mut Netlink, interface: &str) -> io::Result<Option<u32>> {
    let mut found = None;
    each_link(netlink, |name, link| {
        let parts = link.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::Xdp(parts) => Some(parts),
            _ => None,
        });
        let number = parts.and_then(|parts| {
            parts.iter().find_map(|part| match part {
                LinkXdp::ProgId(number) => Some(*number),
                _ => None,
            })
        });
        if name == interface {
            found = number;
        }
    })?;
    Ok(found)
}

/// What an interface has counted.
pub(super) fn counters(netlink: &mut Netlink, interface: &str) -> io::Result<LinkCounters> {
    let mut found = None;
    let mut index = 0;
    each_link(netlink, |name, link| {
        let stats = link.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::Stats64(stats) => Some(*stats),
            _ => None,
        });
        if let (true, Some(stats)) = (name == interface, stats) {
            index = link.header.index;
            found = Some(LinkCounters {
                rx_frames: stats.rx_packets,
                tx_frames: stats.tx_packets,
                rx_dropped: stats.rx_dropped,
                tx_dropped: stats.tx_dropped,
                ..LinkCounters::default()
            });
        }
    })?;
    if let Some(found) = &mut found {
        // Of one that cannot be read nothing is known, and the frames are missing.
        let dropped = queue_drops(netlink, index).unwrap_or_default();
        [found.rx_queue_dropped, found.tx_queue_dropped] = dropped;
    }
    found
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("no interface {interface}")))
}

/// What the queueing disciplines of an interface dropped, those of its input and of its output: a discipline counts
/// what those below it drop, too.
fn queue_drops(netlink: &mut Netlink, index: u32) -> io::Result<[u64; 2]> {
    let mut drops = [0; 2];
    netlink.dump(
        RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default()),
        &mut |message| {
            let RouteNetlinkMessage::NewQueueDiscipline(own) = message else { return };
            let side = match own.header.parent {
                TcHandle::INGRESS => 0,
                TcHandle::ROOT => 1,
                _ => return,
            };
            if u32::try_from(own.header.index) != Ok(index) {
                return;
            }
            let of = |attribute: &TcAttribute| match attribute {
                TcAttribute::Stats2(all) => all.iter().find_map(|stats| match stats {
                    TcStats2::Queue(queue) => Some(u64::from(queue.drops)),
                    _ => None,
                }),
                _ => None,
            };
            drops[side] += own.attributes.iter().find_map(of).unwrap_or(0);
        },
    )?;
    Ok(drops)
}

/// Every interface of a namespace, by name.
pub(super) fn each_link(
    netlink: &mut Netlink,
    mut each: impl FnMut(&str, &LinkMessage),
) -> io::Result<()> {
    netlink.dump(RouteNetlinkMessage::GetLink(LinkMessage::default()), &mut |message| {
        let RouteNetlinkMessage::NewLink(link) = message else { return };
        let name = link.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::IfName(name) => Some(name.clone()),
            _ => None,
        });
        each(&name.unwrap_or_default(), &link);
    })
}

/// Gives an interface an address that is usable at once: no duplicate address detection, which
/// would take two seconds.
pub(super) fn add_address(
    netlink: &mut Netlink,
    index: u32,
    address: &InterfaceAddress,
) -> io::Result<()> {
    let mut message = AddressMessage::default();
    message.header.family = family(address.address);
    message.header.prefix_len = address.prefix_length;
    message.header.index = index;
    message.header.flags = AddressHeaderFlags::Nodad;
    message.attributes = vec![
        AddressAttribute::Local(address.address),
        AddressAttribute::Address(address.address),
        AddressAttribute::Flags(AddressFlags::Nodad),
    ];
    netlink.request(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
}

/// The message that names a permanent neighbour.
fn neighbour_message(index: u32, neighbour: &Neighbour) -> NeighbourMessage {
    let mut message = NeighbourMessage::default();
    message.header.family = family(neighbour.address);
    message.header.ifindex = index;
    message.header.state = NeighbourState::Permanent;
    message.attributes = vec![
        NeighbourAttribute::Destination(match neighbour.address {
            IpAddr::V4(address) => NeighbourAddress::Inet(address),
            IpAddr::V6(address) => NeighbourAddress::Inet6(address),
        }),
        NeighbourAttribute::LinkLayerAddress(neighbour.mac.0.to_vec()),
    ];
    message
}

pub(super) fn add_neighbour(
    netlink: &mut Netlink,
    index: u32,
    neighbour: &Neighbour,
) -> io::Result<()> {
    let message = RouteNetlinkMessage::NewNeighbour(neighbour_message(index, neighbour));
    netlink.request(message, NLM_F_CREATE | NLM_F_REPLACE)
}

pub(super) fn remove_neighbour(
    netlink: &mut Netlink,
    index: u32,
    neighbour: &Neighbour,
) -> io::Result<()> {
    netlink.request(RouteNetlinkMessage::DelNeighbour(neighbour_message(index, neighbour)), 0)
}
