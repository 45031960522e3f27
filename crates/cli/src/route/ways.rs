//! Where routes lead: from what files and orders say to nexthops on the router's ports.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use fwdlab_fib::{Family, Inet, Inet6, Nexthop, NexthopKind, Prefix, Target};
use fwdlab_router::{PortConfig, Routed};
use fwdlab_routes::{LearnedRoute, Refusal, RouteHop, RouteTable};

use crate::family::Picked;

/// The ports of a router, and the interfaces that they stand on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ports<'a> {
    pub(super) configs: &'a [PortConfig],
    /// By port number; those of captures and VLANs have none.
    pub(super) names: &'a [Option<String>],
    /// Gateways for routes that name none, or one that is in no port's network.
    pub(super) via: &'a [IpAddr],
}

/// A route that leads nowhere.
#[derive(Debug)]
pub(super) struct Astray {
    pub(super) prefix: fwdlab_routes::Prefix,
    gateway: Option<IpAddr>,
    what: &'static str,
    /// Its line in the file.
    pub(super) line: u32,
}

impl fmt::Display for Astray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "route {}", self.prefix)?;
        if let Some(gateway) = self.gateway {
            write!(f, " via {gateway}")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// The routes of one family, with their targets.
pub(super) type Targets<F> = Vec<(Prefix<F>, Target<F>)>;

impl Ports<'_> {
    /// The routes of one family in a table. The ports' own networks are left out: the router has them
    /// by itself.
    ///
    /// # Errors
    /// A route that leads nowhere.
    pub(super) fn targets<F: Routed + Picked>(
        &self,
        table: &RouteTable,
    ) -> Result<Targets<F>, Astray> {
        let mut targets = Vec::new();
        for route in &table.routes {
            let Some(prefix) = of_family::<F>(route.prefix) else { continue };
            if !self.is_connected(route.prefix) {
                targets.push((prefix, self.target::<F>(route, &table.ways(route), table)?));
            }
        }
        for route in &table.refusing {
            if let Some(prefix) = of_family::<F>(route.prefix) {
                targets.push((prefix, Nexthop::special(kind(route.refusal)).into()));
            }
        }
        Ok(targets)
    }

    fn target<F: Picked>(
        &self,
        route: &LearnedRoute,
        ways: &[RouteHop],
        table: &RouteTable,
    ) -> Result<Target<F>, Astray> {
        let nexthop = |way: &RouteHop| {
            let port = way.interface.and_then(|interface| self.named(table.interface(interface)));
            self.nexthop::<F>(way.gateway, port).map_err(|what| Astray {
                prefix: route.prefix,
                gateway: way.gateway,
                what,
                line: route.line,
            })
        };
        match ways {
            [way] => Ok(nexthop(way)?.into()),
            ways => {
                let members = ways.iter().map(|way| Ok((nexthop(way)?, way.weight)));
                Ok(Target::Group(members.collect::<Result<_, Astray>>()?))
            }
        }
    }

    /// The nexthop for a gateway, on a port if that is known.
    fn nexthop<F: Picked>(
        &self,
        gateway: Option<IpAddr>,
        port: Option<u16>,
    ) -> Result<Nexthop<F>, &'static str> {
        if let Some(gateway) = gateway {
            self.check_gateway(gateway, port)?;
        }
        match (gateway.and_then(F::of_ip), port) {
            // What is on this network, be it in the port's own one or not.
            (Some(gateway), Some(port)) => return Ok(Nexthop::via(gateway, port)),
            (None, Some(port)) if gateway.is_none() => return Ok(Nexthop::connected(port)),
            _ => {}
        }
        let candidates = gateway.into_iter().chain(self.via.iter().copied());
        for (address, gateway) in
            candidates.filter_map(|address| Some((address, F::of_ip(address)?)))
        {
            if let Some(port) = self.holding(address) {
                return Ok(Nexthop::via(gateway, port));
            }
        }
        Err(match gateway {
            Some(IpAddr::V6(_)) if F::BITS == Inet::BITS => {
                "a gateway of IPv6 for IPv4 is not supported; name one of IPv4, or one for all such \
                 routes with --via"
            }
            Some(IpAddr::V6(gateway)) if is_link_local(gateway) => {
                "a link-local gateway needs the interface or number of a port: fe80::1%veth0 or \
                 fe80::1%0"
            }
            Some(_) => {
                "the gateway is in no port's network; add a --port with an address there, or name \
                 another gateway with --via"
            }
            None => "it names no gateway: name one with --via",
        })
    }

    /// Refuses what can be no next router.
    fn check_gateway(&self, gateway: IpAddr, port: Option<u16>) -> Result<(), &'static str> {
        let of = |config: &PortConfig| match gateway {
            IpAddr::V4(gateway) => {
                let gateway = gateway.to_bits();
                config.inet.iter().find_map(|at| {
                    let (first, last) = (at.network.addr(), at.network.last_addr());
                    // A network of two addresses has neither (RFC 3021).
                    let is_edge = last - first > 1 && [first, last].contains(&gateway);
                    match at.address == gateway {
                        true => Some("the gateway is an address of the router itself"),
                        false => is_edge.then_some("the gateway is the address of a whole network"),
                    }
                })
            }
            IpAddr::V6(gateway) => config
                .inet6
                .iter()
                .any(|at| at.address == gateway.to_bits())
                .then_some("the gateway is an address of the router itself"),
        };
        if let Some(fault) = self.configs.iter().find_map(of) {
            return Err(fault);
        }
        match (port, self.holding(gateway)) {
            (Some(port), Some(other)) if port != other => {
                Err("the gateway is in the network of another port than the route names")
            }
            _ => Ok(()),
        }
    }

    /// The port of an interface's name, or of a number.
    pub(super) fn named(&self, name: &str) -> Option<u16> {
        let of_interface = self.names.iter().position(|own| own.as_deref() == Some(name));
        let number = of_interface.or_else(|| name.parse().ok());
        number.filter(|&number| number < self.configs.len()).map(|number| number as u16)
    }

    /// The port in whose network an address is.
    pub(super) fn holding(&self, address: IpAddr) -> Option<u16> {
        let holds = |config: &PortConfig| match address {
            IpAddr::V4(address) => {
                config.inet.iter().any(|at| at.network.contains(address.to_bits()))
            }
            IpAddr::V6(address) => {
                config.inet6.iter().any(|at| at.network.contains(address.to_bits()))
            }
        };
        (0..).zip(self.configs).find(|(_, config)| holds(config)).map(|(number, _)| number)
    }

    /// Whether this is the network of a port.
    pub(super) fn is_connected(&self, prefix: fwdlab_routes::Prefix) -> bool {
        is_network(self.configs, prefix)
    }
}

/// Whether this is the network of a port.
pub(super) fn is_network(configs: &[PortConfig], prefix: fwdlab_routes::Prefix) -> bool {
    configs.iter().any(|config| match prefix.address() {
        IpAddr::V4(address) => {
            let prefix = Prefix::<Inet>::covering(address.to_bits(), prefix.length());
            config.inet.iter().any(|at| at.network == prefix)
        }
        IpAddr::V6(address) => {
            let prefix = Prefix::<Inet6>::covering(address.to_bits(), prefix.length());
            config.inet6.iter().any(|at| at.network == prefix)
        }
    })
}

/// The prefix, if it is one of this family.
pub(super) fn of_family<F: Picked>(prefix: fwdlab_routes::Prefix) -> Option<Prefix<F>> {
    Some(Prefix::covering(F::of_ip(prefix.address())?, prefix.length()))
}

fn kind(refusal: Refusal) -> NexthopKind {
    match refusal {
        Refusal::Blackhole => NexthopKind::Blackhole,
        Refusal::Unreachable => NexthopKind::Reject,
        Refusal::Prohibit => NexthopKind::Prohibit,
    }
}

fn is_link_local(address: Ipv6Addr) -> bool {
    address.segments()[0] & 0xffc0 == 0xfe80
}

/// The gateways of targets, with their ports.
pub(super) fn gateways<F: Picked>(targets: &Targets<F>) -> Vec<(u16, F::Addr)> {
    let mut gateways = Vec::new();
    let mut note = |nexthop: &Nexthop<F>| {
        if let Some(gateway) = nexthop.gateway {
            gateways.push((nexthop.port, gateway));
        }
    };
    for (_, target) in targets {
        match target {
            Target::Nexthop(nexthop) => note(nexthop),
            Target::Group(members) => members.iter().for_each(|(nexthop, _)| note(nexthop)),
            _ => {}
        }
    }
    gateways.sort_unstable();
    gateways.dedup();
    gateways
}
