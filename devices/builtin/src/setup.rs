//! The router of one trial: ports, routes, neighbours and control words of a variant.

use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;

use fwdlab_fib::{Inet, Inet6, Nexthop, Prefix};
use fwdlab_router::{PortConfig, Router, RouterError};
use fwdlab_traffic::{DEVICE_MACS, TESTER_MACS, mac_of};
use fwdlab_wire::MacAddr;

use crate::control::{BUFFER_FRAMES, USUAL_BUFFER, check_buffer};
use fwdlab_experiment::{Experiment, Route, Variant, network_length};
use fwdlab_results::Measured;

/// MTU of the device's ports unless longer frames are sent, bytes.
const USUAL_MTU: usize = 1500;

/// The longest frame of an experiment, FCS included, bytes.
pub(super) fn longest_frame(experiment: &Experiment) -> usize {
    let traffics = experiment.traffics.iter();
    traffics.map(|traffic| traffic.sizes.longest()).max().unwrap_or(0)
}

/// A router with the experiment's ports, the variant's settings and the experiment's routes. The routes come
/// last and all at once, so that even a full table is built only once.
pub fn router(experiment: &Experiment, variant: &Variant) -> Result<Router, RouterError> {
    let mut router = Router::new()?;
    for port in 0..experiment.ports() {
        let mtu = fwdlab_traffic::size::mtu_of(longest_frame(experiment)).max(USUAL_MTU);
        let mac = DEVICE_MACS[mac_of(experiment.ports(), port)];
        router.add_port(port_config(&experiment.routes.fixed, (port, mac))?.mtu(mtu))?;
    }
    // The buffer in front of it is the device's, not the router's.
    for (word, value) in variant.set.iter().filter(|(word, _)| *word != BUFFER_FRAMES) {
        router.set(word, value)?;
    }
    let (routes, routes6) = by_family(&experiment.routes.fixed);
    router.edit_fib::<Inet>(0, |fib| fib.load(routes).map(drop).map_err(RouterError::from))?;
    router.edit_fib::<Inet6>(0, |fib| fib.load(routes6).map(drop).map_err(RouterError::from))?;
    let gateways: HashSet<(u16, IpAddr)> =
        experiment.routes.fixed.iter().map(|route| (route.port, route.gateway)).collect();
    for (port, gateway) in gateways {
        let mac = TESTER_MACS[mac_of(experiment.ports(), port)];
        match gateway {
            IpAddr::V4(gateway) => router.add_neighbour::<Inet>(port, gateway.to_bits(), mac)?,
            IpAddr::V6(gateway) => router.add_neighbour::<Inet6>(port, gateway.to_bits(), mac)?,
        }
    }
    Ok(router)
}

/// Frames that wait in front of the device.
pub(super) fn buffer(variant: &Variant) -> usize {
    let asked = variant.set.get(BUFFER_FRAMES).and_then(|value| check_buffer(value).ok());
    asked.unwrap_or(USUAL_BUFFER)
}

/// What the router answers when asked for each word that this variant, or another, sets.
pub(super) fn proof(
    router: &Router,
    experiment: &Experiment,
    variant: &Variant,
) -> BTreeMap<String, String> {
    let own = variant.set.keys().map(String::as_str);
    answers(router, own.chain(experiment.words_of_others(variant)))
}

/// What a router answers when asked for words; those that it does not know are left out.
pub fn answers<'a>(
    router: &Router,
    words: impl Iterator<Item = &'a str>,
) -> BTreeMap<String, String> {
    let answer =
        |word| Some(Measured::answers(word, router.get(word).ok()?, router.is_automatic(word)));
    words.filter_map(answer).flatten().collect()
}

/// A port with an address in the network of each gateway on its side: the last address of the
/// gateway's /24, or of its /64, that is not the gateway itself.
fn port_config(routes: &[Route], (port, mac): (u16, MacAddr)) -> Result<PortConfig, RouterError> {
    let mut config = PortConfig::new(mac);
    let (mut networks, mut networks6) = (Vec::new(), Vec::new());
    for route in routes.iter().filter(|route| route.port == port) {
        let length = network_length(route.gateway);
        match route.gateway {
            IpAddr::V4(gateway) => {
                let gateway = gateway.to_bits();
                let network = Prefix::<Inet>::covering(gateway, length);
                if !networks.contains(&network) {
                    networks.push(network);
                    let address = own_address(network.last_addr().into(), gateway.into()) as u32;
                    config.inet.push(fwdlab_router::InterfaceAddress { address, network });
                }
            }
            IpAddr::V6(gateway) => {
                let gateway = gateway.to_bits();
                let network = Prefix::<Inet6>::covering(gateway, length);
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

type RoutesOf<F> = Vec<(Prefix<F>, Nexthop<F>)>;

/// The routes as the two FIBs take them.
fn by_family(routes: &[Route]) -> (RoutesOf<Inet>, RoutesOf<Inet6>) {
    let (mut inet, mut inet6) = (Vec::new(), Vec::new());
    for route in routes {
        let length = route.prefix.length();
        match (route.prefix.address(), route.gateway) {
            (IpAddr::V4(address), IpAddr::V4(gateway)) => inet.push((
                Prefix::covering(address.to_bits(), length),
                Nexthop::via(gateway.to_bits(), route.port),
            )),
            (IpAddr::V6(address), IpAddr::V6(gateway)) => inet6.push((
                Prefix::covering(address.to_bits(), length),
                Nexthop::via(gateway.to_bits(), route.port),
            )),
            // A validated experiment holds no route with a gateway of the other family.
            _ => {}
        }
    }
    (inet, inet6)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Builtin;

    #[test]
    fn what_a_variant_leaves_alone_is_read_back_too() {
        let text = "title = \"t\"\nbaseline = \"a\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
                    set = { \"net.inet.ip.redirect\" = 1, \"net.route.algo.inet.algo\" = \"dxr\" }\n\
                    [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1:7\"\n\
                    destination = \"198.19.10.1:7\"\n\
                    [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n";
        let experiment = Experiment::of_text(Path::new("t.toml"), text, &[&Builtin]);
        let experiment = experiment.expect("a right experiment");
        let answers = |at: usize| {
            let variant = &experiment.variants[at];
            let router = router(&experiment, variant).expect("a router");
            proof(&router, &experiment, variant).into_iter().collect::<Vec<_>>()
        };
        let told = |redirect: &str, algorithm: &[(&str, &str)]| {
            let told =
                [("net.inet.ip.redirect", redirect)].into_iter().chain(algorithm.iter().copied());
            told.map(|(word, value)| (word.to_owned(), value.to_owned())).collect::<Vec<_>>()
        };
        let word = "net.route.algo.inet.algo";
        let chosen = [(word, "vector4"), ("net.route.algo.inet.algo as set", "auto")];
        assert_eq!(answers(0), told("0", &chosen));
        assert_eq!(answers(1), told("1", &[(word, "dxr")]));
    }
}
