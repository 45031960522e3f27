//! Hosts beside a router: namespaces whose own stack sends and receives, with addresses that lie on no
//! interface, so that none of them is ever announced.

use std::net::IpAddr;

use fwdlab_routes::Prefix;
use fwdlab_wire::MacAddr;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{
    RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};

use super::links::{self, family};
use super::model::Neighbour;
use super::netlink::{Netlink, Refused};
use super::routes::address;

/// RT_TABLE_LOCAL of linux/rtnetlink.h: addresses that are the host's own.
const LOCAL_TABLE: u8 = 255;

/// What a host is, and what lies behind one of its interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its interface.
    pub interface: String,
    /// Addresses that its stack takes as its own.
    pub own: Vec<IpAddr>,
    /// What it reaches by the interface.
    pub others: Vec<Prefix>,
    /// The next router towards them, or they themselves, if one gateway suffices; directly behind the
    /// interface, whatever its addresses are.
    pub gateway: IpAddr,
    /// The gateway's MAC address.
    pub mac: MacAddr,
}

/// Makes a host of a namespace. What is there already is replaced.
pub(super) fn make(netlink: &mut Netlink, host: &Host) -> Result<(), Refused> {
    let refused = |source| Refused { index: 0, source };
    let own = links::index(netlink, "lo").map_err(refused)?;
    let far = links::index(netlink, &host.interface).map_err(refused)?;
    let neighbour =
        Neighbour { interface: host.interface.clone(), address: host.gateway, mac: host.mac };
    links::add_neighbour(netlink, far, &neighbour).map_err(refused)?;
    let local = host.own.iter().map(|own_address| {
        let mut message = to(Prefix::covering(*own_address, u8::MAX), LOCAL_TABLE, own);
        message.header.kind = RouteType::Local;
        message.header.scope = RouteScope::Host;
        message
    });
    let routed = host.others.iter().map(|other| {
        let mut message = to(*other, RouteHeader::RT_TABLE_MAIN, far);
        message.header.flags = RouteFlags::Onlink;
        message.attributes.push(RouteAttribute::Gateway(address(host.gateway)));
        message
    });
    let put = |message| (RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_REPLACE);
    netlink.batch(local.chain(routed).map(put))
}

/// A route.
fn to(prefix: Prefix, table: u8, interface: u32) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(prefix.address());
    message.header.destination_prefix_length = prefix.length();
    message.header.table = table;
    message.header.protocol = RouteProtocol::Static;
    message.header.scope = RouteScope::Universe;
    message.header.kind = RouteType::Unicast;
    if prefix.length() > 0 {
        message.attributes.push(RouteAttribute::Destination(address(prefix.address())));
    }
    message.attributes.push(RouteAttribute::Oif(interface));
    message
}
