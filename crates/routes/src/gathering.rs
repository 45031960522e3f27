//! Gathers the routes of a file, some of which go on over several lines.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv6Addr};

use crate::fault::Fault;
use crate::{
    Interface, LearnedRoute, MOST_ROUTES, Prefix, Refusal, RefusingRoute, RouteHop, RouteTable,
};

/// One way of a route, as a line names it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hop<'w> {
    pub(crate) gateway: Option<IpAddr>,
    pub(crate) interface: Option<&'w str>,
    pub(crate) weight: Option<u32>,
    /// The line says the gateway's family, as the route has the other one.
    pub(crate) is_other_family: bool,
}

impl Hop<'_> {
    /// Whether nothing is known of it.
    pub(crate) fn is_empty(&self) -> bool {
        self.gateway.is_none() && self.interface.is_none()
    }
}

/// Whether further lines may add ways to the last route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Open {
    #[default]
    No,
    /// They may.
    Yes,
    /// They may, and the first says whether `default` is one of IPv6.
    FamilyUnknown,
}

/// Gathers the routes of a file.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    pub(crate) table: RouteTable,
    /// The line that is being read.
    pub(crate) line: u32,
    seen: HashSet<Prefix>,
    interfaces: HashMap<String, Interface>,
    open: Open,
}

impl Gathering {
    /// Adds one route with the ways that are known so far.
    pub(crate) fn add(&mut self, prefix: Prefix, hops: &[Hop<'_>]) -> Result<(), Fault> {
        if !self.is_wanted(prefix)? {
            return Ok(());
        }
        let line = self.line;
        let route =
            LearnedRoute { prefix, gateway: None, interface: None, nexthop_group: None, line };
        self.table.routes.push(route);
        self.open = Open::Yes;
        hops.iter().try_for_each(|hop| self.continue_with(hop))
    }

    /// Adds a default route whose family the next line says; IPv4 if there is none.
    pub(crate) fn add_default(&mut self, any: Prefix) -> Result<(), Fault> {
        let before = self.table.routes.len();
        self.add(any, &[])?;
        if self.table.routes.len() > before {
            self.open = Open::FamilyUnknown;
        }
        Ok(())
    }

    /// Adds a route that refuses packets.
    pub(crate) fn refuse(&mut self, prefix: Prefix, refusal: Refusal) -> Result<(), Fault> {
        if self.is_wanted(prefix)? {
            self.table.refusing.push(RefusingRoute { prefix, refusal, line: self.line });
        }
        Ok(())
    }

    /// Gives the last route one way more, unless it was not taken.
    pub(crate) fn continue_with(&mut self, hop: &Hop<'_>) -> Result<(), Fault> {
        if self.open == Open::No || hop.is_empty() {
            return Ok(());
        }
        self.settle_family(hop);
        if self.open == Open::No {
            return Ok(());
        }
        let interface = hop.interface.map(|name| self.interface(name)).transpose()?;
        let Some(route) = self.table.routes.last_mut() else { return Ok(()) };
        let way = RouteHop { gateway: hop.gateway, interface, weight: hop.weight.unwrap_or(1) };
        let is_first = route.gateway.is_none() && route.interface.is_none();
        if is_first {
            (route.gateway, route.interface) = (way.gateway, way.interface);
            // Its weight counts only beside others.
            if way.weight == 1 {
                return Ok(());
            }
        }
        let nexthop_groups = &mut self.table.nexthop_groups;
        let group = *route.nexthop_group.get_or_insert_with(|| {
            let LearnedRoute { gateway, interface, .. } = *route;
            let first = RouteHop { gateway, interface, weight: 1 };
            nexthop_groups.push(if is_first { Vec::new() } else { vec![first] });
            nexthop_groups.len() as u32 - 1
        });
        nexthop_groups[group as usize].push(way);
        Ok(())
    }

    /// Ends the last route: what follows is not part of it.
    pub(crate) fn close(&mut self) {
        self.open = Open::No;
    }

    /// Notes a route that is none for forwarding.
    pub(crate) fn leave_out(&mut self) {
        self.table.left_out += 1;
        self.open = Open::No;
    }

    /// Whether a route to this prefix is taken up; counts it if it is not.
    fn is_wanted(&mut self, prefix: Prefix) -> Result<bool, Fault> {
        self.open = Open::No;
        if !prefix.is_forwarded() {
            self.table.left_out += 1;
            return Ok(false);
        }
        if !self.seen.insert(prefix) {
            self.table.repeated += 1;
            return Ok(false);
        }
        if self.table.routes.len() + self.table.refusing.len() == MOST_ROUTES {
            return Err(Fault {
                what: format!("more than {MOST_ROUTES} routes"),
                wanted: "a routing table of this planet",
                remedy: "cut the file",
            });
        }
        Ok(true)
    }

    fn settle_family(&mut self, hop: &Hop<'_>) {
        if self.open != Open::FamilyUnknown {
            return;
        }
        self.open = Open::Yes;
        let is_v6 = hop.gateway.is_some_and(|gateway| gateway.is_ipv6()) && !hop.is_other_family;
        let Some(route) = self.table.routes.last_mut().filter(|_| is_v6) else { return };
        self.seen.remove(&route.prefix);
        route.prefix = Prefix::everything(Ipv6Addr::UNSPECIFIED.into());
        if !self.seen.insert(route.prefix) {
            self.table.repeated += 1;
            self.table.routes.pop();
            self.open = Open::No;
        }
    }

    fn interface(&mut self, name: &str) -> Result<Interface, Fault> {
        if let Some(&known) = self.interfaces.get(name) {
            return Ok(known);
        }
        let number = u16::try_from(self.interfaces.len()).map_err(|_| Fault {
            what: "more than 65535 interfaces".to_owned(),
            wanted: "the routing table of one router",
            remedy: "check that it is the right file",
        })?;
        self.table.interfaces.push(name.to_owned());
        self.interfaces.insert(name.to_owned(), Interface(number));
        Ok(Interface(number))
    }
}
