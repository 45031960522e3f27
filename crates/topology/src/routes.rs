//! Static routes, many in one system call.

use std::io;
use std::net::IpAddr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};

use super::error::TopologyError;
use super::links::family;
use super::model::{StaticRoute, port_name};
use super::netlink::{Netlink, Refused};

/// An address as netlink has it.
pub(super) fn address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    }
}

fn message(route: &StaticRoute, index: u32) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(route.gateway);
    message.header.destination_prefix_length = route.prefix.length();
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Static;
    message.header.scope = RouteScope::Universe;
    message.header.kind = RouteType::Unicast;
    if route.prefix.length() > 0 {
        message.attributes.push(RouteAttribute::Destination(address(route.prefix.address())));
    }
    message.attributes.push(RouteAttribute::Gateway(address(route.gateway)));
    message.attributes.push(RouteAttribute::Oif(index));
    message
}

/// Adds routes; `indices` holds the interface of each port.
pub(super) fn add(
    netlink: &mut Netlink,
    routes: &[StaticRoute],
    indices: &[u32],
) -> Result<(), Refused> {
    netlink.batch(routes.iter().map(|route| {
        let message = message(route, index_of(route, indices));
        (RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }))
}

/// Adds routes in the place of those of the same prefix; `indices` holds the interface of each port.
pub(super) fn replace(
    netlink: &mut Netlink,
    routes: &[StaticRoute],
    indices: &[u32],
) -> Result<(), Refused> {
    netlink.batch(routes.iter().map(|route| {
        let message = message(route, index_of(route, indices));
        (RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_REPLACE)
    }))
}

/// Removes routes; `indices` holds the interface of each port.
pub(super) fn remove(
    netlink: &mut Netlink,
    routes: &[StaticRoute],
    indices: &[u32],
) -> Result<(), Refused> {
    netlink.batch(routes.iter().map(|route| {
        let message = message(route, index_of(route, indices));
        (RouteNetlinkMessage::DelRoute(message), 0)
    }))
}

/// The interface of a route; 0, which the kernel refuses, for a port that is not there.
fn index_of(route: &StaticRoute, indices: &[u32]) -> u32 {
    indices.get(usize::from(route.port)).copied().unwrap_or(0)
}

/// Counts the static routes that the kernel has: IPv4, IPv6.
pub(super) fn count(netlink: &mut Netlink) -> io::Result<(usize, usize)> {
    let (mut inet, mut inet6) = (0, 0);
    for any in [IpAddr::from([0; 4]), IpAddr::from([0; 16])] {
        let mut request = RouteMessage::default();
        request.header.address_family = family(any);
        netlink.dump(RouteNetlinkMessage::GetRoute(request), &mut |found| {
            let RouteNetlinkMessage::NewRoute(route) = found else { return };
            if route.header.protocol == RouteProtocol::Static {
                *(if any.is_ipv4() { &mut inet } else { &mut inet6 }) += 1;
            }
        })?;
    }
    Ok((inet, inet6))
}

/// The error of a batch in which the kernel refused one.
pub(super) fn refused_route(
    doing: &str,
    routes: &[StaticRoute],
    refused: Refused,
) -> TopologyError {
    let what = match routes.get(refused.index) {
        Some(StaticRoute { prefix, gateway, port }) => {
            format!("{doing} route {prefix} via {gateway} at {}", port_name(*port))
        }
        None => format!("{doing} routes"),
    };
    TopologyError::kernel(what)(refused.source)
}
