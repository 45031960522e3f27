//! The router of a command line: ports, control words, routes, neighbours.

use std::net::IpAddr;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use fwdlab_fib::{Inet, Inet6};
use fwdlab_router::{PortConfig, Routed, Router};
use fwdlab_routes::{self as routes, RouteTable};
use fwdlab_wire::MacAddr;
use fwdlab_wire::lab::DEVICE_MACS;

use super::Args;
use super::spec::{NeighbourSpec, PortSpec};
use super::ways::{self, Ports};
use crate::family::Picked;

/// The ports of a router that is told none: those of the lab's experiments.
const DEFAULT_PORTS: [(MacAddr, &str); 2] = [
    (DEVICE_MACS[0], "198.18.0.1/24,2001:2::1/64"),
    (DEVICE_MACS[1], "198.19.0.1/24,2001:2:0:8000::1/64"),
];

impl Ports<'_> {
    /// The port of a neighbour.
    pub(super) fn port_of(&self, neighbour: &NeighbourSpec) -> anyhow::Result<u16> {
        let NeighbourSpec { address, on, .. } = neighbour;
        match on {
            Some(name) => {
                self.named(name).with_context(|| format!("neighbour {address}: no port is {name}"))
            }
            None => self.holding(*address).with_context(|| {
                format!(
                    "neighbour {address}: the address is in no port's network; write \
                     {address}%PORT=MAC"
                )
            }),
        }
    }
}

/// What the interface of a port has.
pub(super) struct Identified {
    pub(super) mac: MacAddr,
    pub(super) mtu: usize,
    /// Addresses that the port takes unless it names some, with their lengths.
    pub(super) addresses: Vec<(IpAddr, u8)>,
}

/// Asks what the interface of a port has.
pub(super) type Identity<'a> = &'a dyn Fn(usize) -> Option<Identified>;

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
    let names = names(arguments);
    let neighbours = load(&mut router, arguments, &names)?;
    // On interfaces, real neighbours answer.
    if !arguments.resolve && identity(0).is_none() {
        for (port, address) in neighbours {
            let neighbour = NeighbourSpec { address, mac: made_up(address), on: None };
            add_neighbour(&mut router, port, &neighbour)?;
        }
    }
    for neighbour in &arguments.neighbour {
        let port = places(&router, arguments, &names).port_of(neighbour)?;
        add_neighbour(&mut router, port, neighbour)?;
    }
    Ok(router)
}

/// The interfaces of the ports.
pub(super) fn names(arguments: &Args) -> Vec<Option<String>> {
    arguments.port.iter().map(|port| port.interface().map(str::to_owned)).collect()
}

/// Where routes may lead.
pub(super) fn places<'a>(
    router: &'a Router,
    arguments: &'a Args,
    names: &'a [Option<String>],
) -> Ports<'a> {
    Ports { configs: router.ports(), names, via: &arguments.via }
}

/// Loads the routes of the file, if there is one, all at once, so that even a full table is built only
/// once; returns its gateways with their ports.
fn load(
    router: &mut Router,
    arguments: &Args,
    names: &[Option<String>],
) -> anyhow::Result<Vec<(u16, IpAddr)>> {
    let Some(path) = &arguments.routes else { return Ok(Vec::new()) };
    let table = routes::read(path)?;
    if table.repeated > 0 {
        fwdlab_guard::say!(
            "note: {}: of several routes to one prefix the first counts; {} are left out",
            path.display(),
            table.repeated
        );
    }
    let mut neighbours = load_family::<Inet>(router, (arguments, names), (path, &table))?;
    neighbours.extend(load_family::<Inet6>(router, (arguments, names), (path, &table))?);
    Ok(neighbours)
}

fn load_family<F: Routed + Picked>(
    router: &mut Router,
    (arguments, names): (&Args, &[Option<String>]),
    (path, table): (&Path, &RouteTable),
) -> anyhow::Result<Vec<(u16, IpAddr)>> {
    let targets = places(router, arguments, names)
        .targets::<F>(table)
        .map_err(|astray| anyhow!("{}:{}: {astray}", path.display(), astray.line))?;
    let neighbours =
        ways::gateways(&targets).into_iter().map(|(port, gateway)| (port, F::ip(gateway)));
    let neighbours = neighbours.collect();
    router.edit_fib::<F>(0, |fib| Ok(fib.load(targets).map(drop)?))?;
    Ok(neighbours)
}

fn ports(arguments: &Args, identity: Identity<'_>) -> anyhow::Result<Vec<PortConfig>> {
    let mut specs = arguments.port.clone();
    if specs.is_empty() {
        let parsed = DEFAULT_PORTS.iter().map(|(mac, text)| format!("{mac},{text}").parse());
        specs = parsed.collect::<anyhow::Result<_>>()?;
    }
    let with_mac = |(number, PortSpec { config, .. }): (u8, PortSpec)| {
        // A VLAN has the addresses of its port.
        let number = config.vlan.map_or(number, |vlan| vlan.parent as u8);
        let of_interface = identity(usize::from(number));
        let config = match &of_interface {
            Some(Identified { mtu, addresses, .. }) => with_addresses(config.mtu(*mtu), addresses),
            None => config,
        };
        match (config.mac, of_interface) {
            (MacAddr::ZERO, Some(Identified { mac, .. })) => PortConfig { mac, ..config },
            (MacAddr::ZERO, None) => PortConfig {
                mac: MacAddr::numbered(number.wrapping_add(DEVICE_MACS[0].0[5])),
                ..config
            },
            _ => config,
        }
    };
    Ok((0..=u8::MAX).zip(specs).map(with_mac).collect())
}

/// The port with the addresses of its interface, unless it names some or is a VLAN.
fn with_addresses(config: PortConfig, addresses: &[(IpAddr, u8)]) -> PortConfig {
    if config.vlan.is_some() || !(config.inet.is_empty() && config.inet6.is_empty()) {
        return config;
    }
    addresses.iter().fold(config, |config, (address, length)| {
        let text = format!("{address}/{length}");
        match address {
            IpAddr::V4(_) => text.parse().map(|at| config.clone().address(at)),
            IpAddr::V6(_) => text.parse().map(|at| config.clone().address6(at)),
        }
        .unwrap_or(config)
    })
}

pub(super) fn add_neighbour(
    router: &mut Router,
    port: u16,
    neighbour: &NeighbourSpec,
) -> anyhow::Result<()> {
    let is_own = |config: &PortConfig| match neighbour.address {
        IpAddr::V4(own) => config.inet.iter().any(|at| at.address == own.to_bits()),
        IpAddr::V6(own) => config.inet6.iter().any(|at| at.address == own.to_bits()),
    };
    if router.ports().iter().any(is_own) {
        bail!("neighbour {}: that is an address of the router itself", neighbour.address);
    }
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
