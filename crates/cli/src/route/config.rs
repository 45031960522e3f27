//! The router of a command line: ports, control words, routes, neighbours.

use fwdlab_routes as routes;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::str::FromStr;

use anyhow::{Context, bail};
use fwdlab_fib::{Inet, Inet6, Nexthop, Prefix};
use fwdlab_router::{PortConfig, Router};
use fwdlab_routes::LearnedRoute;
use fwdlab_wire::MacAddr;

use super::Args;

/// The ports of a router that is told none: those of the lab's experiments.
const DEFAULT_PORTS: [&str; 2] = [
    "02:00:00:00:00:10,198.18.0.1/24,2001:2::1/64",
    "02:00:00:00:00:11,198.19.0.1/24,2001:2:0:8000::1/64",
];

/// A port as the command line has it: words with commas between.
#[derive(Debug, Clone)]
pub(super) struct PortSpec {
    config: PortConfig,
    interface: Option<String>,
}

impl PortSpec {
    /// The network interface that it is, if it names one.
    pub(super) fn interface(&self) -> Option<&str> {
        self.interface.as_deref()
    }

    /// Whether it is a VLAN on another port.
    pub(super) fn is_vlan(&self) -> bool {
        self.config.vlan.is_some()
    }
}

/// Whether a word can be the name of a network interface: a letter, then at most 14 characters
/// that are not used otherwise here.
fn is_interface_name(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.len() < 16
        && word.chars().all(is_plain)
}

impl FromStr for PortSpec {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let mut config = PortConfig::new(MacAddr::ZERO);
        let mut interface = None;
        for word in text.split(',') {
            config = if let Ok(mac) = word.parse() {
                PortConfig { mac, ..config }
            } else if let Some(mtu) = word.strip_prefix("mtu=") {
                config.mtu(mtu.parse().with_context(|| format!("`{word}`: bytes after mtu="))?)
            } else if let Some(vlan) = word.strip_prefix("vlan=") {
                let (identifier, parent) = vlan_of(vlan)
                    .with_context(|| format!("`{word}`: write vlan=7@0 for VLAN 7 on port 0"))?;
                config.vlan(parent, identifier)
            } else if let Ok(address) = word.parse() {
                config.address(address)
            } else if let Ok(address) = word.parse() {
                config.address6(address)
            } else if interface.is_none() && is_interface_name(word) {
                interface = Some(word.to_owned());
                config
            } else {
                bail!(
                    "`{word}` is neither a MAC address, nor an IP address with its length \
                     (198.18.0.1/24), nor mtu=N, nor vlan=ID@PORT, nor an interface"
                );
            };
        }
        if let (Some(_), Some(name)) = (config.vlan, &interface) {
            bail!("`{text}`: a VLAN goes through its port's interface, leave out {name}");
        }
        Ok(Self { config, interface })
    }
}

/// Identifier and port of a VLAN, from `7@0`.
fn vlan_of(text: &str) -> Option<(u16, u16)> {
    let (identifier, parent) = text.split_once('@')?;
    Some((identifier.parse().ok()?, parent.parse().ok()?))
}

/// A neighbour as the command line has it: ADDRESS=MAC.
#[derive(Debug, Clone, Copy)]
pub(super) struct NeighbourSpec {
    address: IpAddr,
    mac: MacAddr,
}

impl FromStr for NeighbourSpec {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let parse = || {
            let (address, mac) = text.split_once('=')?;
            Some(Self { address: address.parse().ok()?, mac: mac.parse().ok()? })
        };
        parse().with_context(|| {
            format!("`{text}` is no neighbour: write 198.19.0.203=02:00:00:00:00:fe")
        })
    }
}

/// MAC address and MTU of the interface of a port.
pub(super) type Identity<'a> = &'a dyn Fn(usize) -> Option<(MacAddr, usize)>;

/// The router that the arguments describe.
pub(super) fn router(arguments: &Args, identity: Identity<'_>) -> anyhow::Result<Router> {
    let mut router = Router::new()?;
    for config in ports(arguments, identity)? {
        router.add_port(config)?;
    }
    for setting in &arguments.set {
        let (word, value) = setting
            .split_once('=')
            .with_context(|| format!("`{setting}` is no setting: write WORD=VALUE"))?;
        router.set(word, value)?;
    }
    let table = routes::read(&arguments.routes)?.routes;
    let hops = table
        .iter()
        .filter_map(|route| hop(route, &router, &arguments.via).transpose())
        .collect::<anyhow::Result<Vec<_>>>()?;
    load(&mut router, &hops)?;
    // On interfaces, real neighbours answer.
    if !arguments.resolve && identity(0).is_none() {
        for (port, gateway) in
            hops.iter().map(|hop| (hop.port, hop.gateway)).collect::<BTreeSet<_>>()
        {
            add_neighbour(
                &mut router,
                port,
                NeighbourSpec { address: gateway, mac: made_up(gateway) },
            )?;
        }
    }
    for &neighbour in &arguments.neighbour {
        let port = port_of(&router, neighbour.address).with_context(|| {
            format!("--neighbour {}: the address is in no port's network", neighbour.address)
        })?;
        add_neighbour(&mut router, port, neighbour)?;
    }
    Ok(router)
}

fn ports(arguments: &Args, identity: Identity<'_>) -> anyhow::Result<Vec<PortConfig>> {
    let mut specs = arguments.port.clone();
    if specs.is_empty() {
        specs = DEFAULT_PORTS.iter().map(|text| text.parse()).collect::<anyhow::Result<_>>()?;
    }
    let with_mac = |(number, PortSpec { config, .. }): (u8, PortSpec)| {
        // A VLAN has the addresses of its port.
        let number = config.vlan.map_or(number, |vlan| vlan.parent as u8);
        let of_interface = identity(usize::from(number));
        let config = match of_interface {
            Some((_, mtu)) => config.mtu(mtu),
            None => config,
        };
        match (config.mac, of_interface) {
            (MacAddr::ZERO, Some((mac, _))) => PortConfig { mac, ..config },
            (MacAddr::ZERO, None) => {
                PortConfig { mac: MacAddr([2, 0, 0, 0, 0, number.wrapping_add(0x10)]), ..config }
            }
            _ => config,
        }
    };
    Ok((0..=u8::MAX).zip(specs).map(with_mac).collect())
}

/// A route with its gateway on a port.
struct Hop {
    route: LearnedRoute,
    gateway: IpAddr,
    port: u16,
}

/// Where a route leads; `None` for the network of a port, which the router has by itself.
fn hop(route: &LearnedRoute, router: &Router, via: &[IpAddr]) -> anyhow::Result<Option<Hop>> {
    if is_connected(router, route) {
        return Ok(None);
    }
    let of_family = |address: &&IpAddr| address.is_ipv4() == route.prefix.address().is_ipv4();
    let candidates = route.gateway.iter().chain(via.iter().filter(of_family));
    for &gateway in candidates {
        if let Some(port) = port_of(router, gateway) {
            return Ok(Some(Hop { route: *route, gateway, port }));
        }
    }
    let prefix = route.prefix;
    match route.gateway {
        Some(gateway) => bail!(
            "route {prefix} via {gateway}: the gateway is in no port's network; add a --port with \
             an address there, or name another gateway with --via"
        ),
        None => bail!("route {prefix} names no gateway: name one with --via"),
    }
}

fn is_connected(router: &Router, route: &LearnedRoute) -> bool {
    let (address, length) = (route.prefix.address(), route.prefix.length());
    router.ports().iter().any(|config| match address {
        IpAddr::V4(address) => {
            let prefix = Prefix::<Inet>::covering(address.to_bits(), length);
            config.inet.iter().any(|at| at.network == prefix)
        }
        IpAddr::V6(address) => {
            let prefix = Prefix::<Inet6>::covering(address.to_bits(), length);
            config.inet6.iter().any(|at| at.network == prefix)
        }
    })
}

/// The port in whose network an address is.
fn port_of(router: &Router, address: IpAddr) -> Option<u16> {
    let holds = |config: &PortConfig| match address {
        IpAddr::V4(address) => config.inet.iter().any(|at| at.network.contains(address.to_bits())),
        IpAddr::V6(address) => config.inet6.iter().any(|at| at.network.contains(address.to_bits())),
    };
    (0..).zip(router.ports()).find(|(_, config)| holds(config)).map(|(number, _)| number)
}

/// Loads all routes at once, so that even a full table is built only once.
fn load(router: &mut Router, hops: &[Hop]) -> anyhow::Result<()> {
    let inet = hops.iter().filter_map(|hop| match (hop.route.prefix.address(), hop.gateway) {
        (IpAddr::V4(address), IpAddr::V4(gateway)) => Some((
            Prefix::covering(address.to_bits(), hop.route.prefix.length()),
            Nexthop::via(gateway.to_bits(), hop.port),
        )),
        _ => None,
    });
    router.edit_fib::<Inet>(0, |fib| Ok(fib.load(inet).map(drop)?))?;
    let inet6 = hops.iter().filter_map(|hop| match (hop.route.prefix.address(), hop.gateway) {
        (IpAddr::V6(address), IpAddr::V6(gateway)) => Some((
            Prefix::covering(address.to_bits(), hop.route.prefix.length()),
            Nexthop::via(gateway.to_bits(), hop.port),
        )),
        _ => None,
    });
    router.edit_fib::<Inet6>(0, |fib| Ok(fib.load(inet6).map(drop)?))?;
    Ok(())
}

fn add_neighbour(router: &mut Router, port: u16, neighbour: NeighbourSpec) -> anyhow::Result<()> {
    match neighbour.address {
        IpAddr::V4(address) => {
            router.add_neighbour::<Inet>(port, address.to_bits(), neighbour.mac)?;
        }
        IpAddr::V6(address) => {
            router.add_neighbour::<Inet6>(port, address.to_bits(), neighbour.mac)?;
        }
    }
    Ok(())
}

/// A locally administered MAC address that shows whose it is: 02:01 and the end of the address.
fn made_up(address: IpAddr) -> MacAddr {
    let end = match address {
        IpAddr::V4(address) => address.to_bits(),
        IpAddr::V6(address) => address.to_bits() as u32,
    };
    let [a, b, c, d] = end.to_be_bytes();
    MacAddr([2, 1, a, b, c, d])
}
