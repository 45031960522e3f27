//! The router of one trial: ports, routes, neighbours and control words of a variant.

use std::collections::BTreeMap;
use std::net::IpAddr;

use fwdlab_fib::{Inet, Inet6, Nexthop, Prefix};
use fwdlab_router::{PortConfig, Router, RouterError};
use fwdlab_wire::MacAddr;

use crate::experiment::{Experiment, Route, Variant};

/// MAC addresses of the device's ports 0 and 1.
pub(super) const DEVICE_MACS: [MacAddr; 2] =
    [MacAddr([2, 0, 0, 0, 0, 0x10]), MacAddr([2, 0, 0, 0, 0, 0x11])];

/// MAC addresses of the tester's ports A and B, which hold all gateways of their side.
pub(super) const TESTER_MACS: [MacAddr; 2] =
    [MacAddr([2, 0, 0, 0, 0, 0xa0]), MacAddr([2, 0, 0, 0, 0, 0xb0])];

/// A router with two ports, the experiment's routes and the variant's settings.
pub(super) fn router(experiment: &Experiment, variant: &Variant) -> Result<Router, RouterError> {
    let mut router = Router::new()?;
    for port in 0..2_u16 {
        router.add_port(port_config(&experiment.routes.fixed, port)?)?;
    }
    for route in &experiment.routes.fixed {
        add_route(&mut router, route)?;
    }
    for (word, value) in &variant.set {
        router.set(word, value)?;
    }
    Ok(router)
}

/// What the router answers when asked for each word that the variant set.
pub(super) fn proof(router: &Router, variant: &Variant) -> BTreeMap<String, String> {
    let answer = |word: &String| router.get(word).ok().map(|value| (word.clone(), value));
    variant.set.keys().filter_map(answer).collect()
}

/// A port with an address in the network of each gateway on its side: the last address of the
/// gateway's /24, or of its /64, that is not the gateway itself.
fn port_config(routes: &[Route], port: u16) -> Result<PortConfig, RouterError> {
    let mut config = PortConfig::new(DEVICE_MACS[usize::from(port)]);
    let (mut networks, mut networks6) = (Vec::new(), Vec::new());
    for route in routes.iter().filter(|route| route.port == port) {
        match route.gateway {
            IpAddr::V4(gateway) => {
                let gateway = gateway.to_bits();
                let network = Prefix::<Inet>::covering(gateway, 24);
                if !networks.contains(&network) {
                    networks.push(network);
                    let address = own_address(network.last_addr().into(), gateway.into()) as u32;
                    config.inet.push(fwdlab_router::InterfaceAddress { address, network });
                }
            }
            IpAddr::V6(gateway) => {
                let gateway = gateway.to_bits();
                let network = Prefix::<Inet6>::covering(gateway, 64);
                if !networks6.contains(&network) {
                    networks6.push(network);
                    let address = own_address(network.last_addr(), gateway);
                    config.inet6.push(fwdlab_router::InterfaceAddress { address, network });
                }
            }
        }
    }
    Ok(config)
}

/// An address below the last one (which is the broadcast address in IPv4), not the gateway's.
fn own_address(last: u128, gateway: u128) -> u128 {
    if last - 1 == gateway { last - 2 } else { last - 1 }
}

fn add_route(router: &mut Router, route: &Route) -> Result<(), RouterError> {
    let mac = TESTER_MACS[usize::from(route.port)];
    let (address, length) = (route.prefix.address(), route.prefix.length());
    match (address, route.gateway) {
        (IpAddr::V4(address), IpAddr::V4(gateway)) => {
            let prefix = Prefix::<Inet>::covering(address.to_bits(), length);
            router.add_route(prefix, Nexthop::via(gateway.to_bits(), route.port))?;
            router.add_neighbour::<Inet>(route.port, gateway.to_bits(), mac)
        }
        (IpAddr::V6(address), IpAddr::V6(gateway)) => {
            let prefix = Prefix::<Inet6>::covering(address.to_bits(), length);
            router.add_route(prefix, Nexthop::via(gateway.to_bits(), route.port))?;
            router.add_neighbour::<Inet6>(route.port, gateway.to_bits(), mac)
        }
        // A validated experiment holds no route with a gateway of the other family.
        _ => Ok(()),
    }
}
