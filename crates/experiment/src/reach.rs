//! Where the routes of an experiment lead: which addresses of its traffics have none, and which leave by a port behind
//! which they do not lie. So what the first frame would show is said before there is one.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fwdlab_results::Family;
use fwdlab_routes::{Prefix, RouteTable, number};

use super::model::{Route, Traffic};
use super::parts::DraftRoutes;
use super::problem::{Complaint, Complaints};
use super::schema::TrafficPlace;
use super::{Allowance, Endpoint, Experiment, Result, mesh};

/// Routes that do not stand in the experiment file.
pub(super) struct Learned {
    pub(super) table: RouteTable,
    /// What they are called.
    pub(super) from: String,
    /// Whether that is a file, whose lines have numbers.
    pub(super) is_file: bool,
}

/// Routes, and what may be wrong with them.
struct Ground<'a> {
    routes: Vec<&'a Route>,
    learned: Option<&'a Learned>,
    allows_no_route: bool,
    /// What frames go to, with the port behind which it lies.
    sides: Vec<(u16, Endpoint)>,
}

/// How the frames of a traffic go.
#[derive(Clone, Copy, Default)]
struct Manner {
    /// Between more than two ports, where a static route may lead astray on purpose.
    is_meshed: bool,
    /// As streams, of which none begins where a frame of either way is dropped.
    has_streams: bool,
}

impl Manner {
    fn of(traffic: &Traffic, is_meshed: bool) -> Self {
        Self { is_meshed, has_streams: traffic.streams.is_some() }
    }
}

/// An address that the routes do not lead to.
#[derive(Debug, PartialEq)]
struct Stray<'a> {
    address: IpAddr,
    /// Its longest route, which leaves by another port; nothing when it has none.
    route: Option<&'a Route>,
}

/// Every destination must have a route that leaves by port 1, and where frames go both ways every source one that
/// leaves by port 0. What a table beside those routes changes is seen when it has been read: see [`check`].
pub(super) fn reachable(
    placed: &[(Traffic, TrafficPlace)],
    routes: &DraftRoutes,
    allows_no_route: bool,
    complaints: &mut Complaints<'_>,
) {
    if routes.source.is_some() {
        return;
    }
    let fixed = &routes.fixed;
    let routes = fixed.iter().map(|found| &found.value.0).collect();
    let sides = placed.iter().flat_map(|(traffic, _)| sides(traffic)).collect();
    let ground = Ground { routes, learned: None, allows_no_route, sides };
    for (traffic, place) in placed {
        for (pair, places) in traffic.ends().zip(&place.ends) {
            for (port, end) in sides_of(traffic, pair) {
                let manner = Manner::of(traffic, false);
                let Some(stray) = ground.first_stray(&end, port, manner) else { continue };
                // What leads astray is at fault, or else who goes where no route leads.
                let own =
                    |route: &Route| fixed.iter().find(|found| std::ptr::eq(&found.value.0, route));
                let (field, at) = match stray.route.and_then(own) {
                    Some(found) => (&found.field, &found.at),
                    None => {
                        let (field, at) = &places[usize::from(port)];
                        (field, at)
                    }
                };
                complaints.add(at, field, ground.complaint(stray, (port, &end), manner));
            }
        }
    }
}

/// Most addresses of a traffic in a port's own network that are looked at: more are not all gateways.
const MOST_NEIGHBOURS: usize = 1 << 12;

/// The length of the network that the ports of the lab's own devices have around a gateway.
pub const fn network_length(gateway: IpAddr) -> u8 {
    if gateway.is_ipv4() { 24 } else { 64 }
}

/// No frame may go to an address in the network of a port but to a gateway: a device looks for its owner there instead
/// of taking the route, and nobody answers. What a table beside those routes changes is not looked into.
pub(super) fn beyond_gateways(
    placed: &[(Traffic, TrafficPlace)],
    routes: &DraftRoutes,
    length: &dyn Fn(IpAddr) -> Option<u8>,
    complaints: &mut Complaints<'_>,
) {
    if routes.source.is_some() {
        return;
    }
    let own = mesh::routes_to_ports(placed.iter().map(|(traffic, _)| traffic));
    let routes: Vec<&Route> =
        own.iter().chain(routes.fixed.iter().map(|found| &found.value.0)).collect();
    let is_own = |network: &Prefix| {
        let (low, high) = network.bounds();
        let lies_in = |route: &Route| (low..=high).contains(&number(route.gateway));
        own.iter().any(|route| network.is_ipv4() == route.gateway.is_ipv4() && lies_in(route))
    };
    let around = |route: &&Route| Some(Prefix::covering(route.gateway, length(route.gateway)?));
    let networks: BTreeSet<Prefix> = routes.iter().filter_map(around).collect();
    for (traffic, place) in placed {
        for (pair, places) in traffic.ends().zip(&place.ends) {
            for (port, end) in sides_of(traffic, pair) {
                let found =
                    networks.iter().find_map(|own| Some((neighbour(&end, own, &routes)?, own)));
                let Some((address, network)) = found else { continue };
                let (field, at) = &places[usize::from(port)];
                let complaint = match is_own(network) {
                    true => in_network_of_lab(address, network, port),
                    false => no_neighbour(address, network, port, &routes),
                };
                complaints.add(at, field, complaint);
            }
        }
    }
}

/// Of the network of a next router that the file does not name.
fn in_network_of_lab(address: IpAddr, network: &Prefix, port: u16) -> Complaint {
    let what = if port.is_multiple_of(2) { "sources" } else { "destinations" };
    Complaint::new(
        format!(
            "{address} lies in {network}, which the lab takes for the next router behind one of the ports beyond the \
             first two"
        ),
        format!("{what} behind that router"),
        format!("take {what} outside of {network}"),
    )
}

fn no_neighbour(address: IpAddr, network: &Prefix, port: u16, routes: &[&Route]) -> Complaint {
    let gateway = routes.iter().map(|route| route.gateway);
    let (low, high) = network.bounds();
    let gateway = gateway
        .into_iter()
        .find(|own| own.is_ipv4() == address.is_ipv4() && (low..=high).contains(&number(*own)));
    let gateway = gateway.map_or_else(String::new, |own| format!(" of gateway {own}"));
    let what = match port.is_multiple_of(2) {
        true => "sources",
        false => "destinations",
    };
    Complaint::new(
        format!(
            "{address} lies in {network}, the network{gateway}, where nobody but gateways answers"
        ),
        format!("{what} behind the gateway"),
        format!("take {what} outside of {network}, or a gateway in another network"),
    )
}

/// The first of some addresses that lies in a network, is no gateway, and has no longer route.
fn neighbour(end: &Endpoint, network: &Prefix, routes: &[&Route]) -> Option<IpAddr> {
    if network.is_ipv4() != (end.family() == Family::Inet) {
        return None;
    }
    let ((first, last), (low, high)) = (end.bounds(), network.bounds());
    let covers = |route: &&&Route, at: u128| {
        let (low, high) = route.prefix.bounds();
        route.prefix.is_ipv4() == network.is_ipv4()
            && route.prefix.length() > network.length()
            && (low..=high).contains(&at)
    };
    let found = (first.max(low)..=last.min(high)).take(MOST_NEIGHBOURS).find(|at| {
        let at = *at;
        !routes.iter().any(|route| route.gateway == address(at, end.family()))
            && !routes.iter().any(|route| covers(&route, at))
    })?;
    Some(address(found, end.family()))
}

/// The same of all routes of an experiment, with those that it has learned.
///
/// # Errors
/// An address has no route, or its longest one leads astray; the error names the traffic's line and the route's.
pub(super) fn check(experiment: &Experiment, learned: &Learned) -> Result<()> {
    let ground = Ground {
        routes: experiment.routes.fixed.iter().collect(),
        learned: Some(learned),
        allows_no_route: experiment.allow.contains(&Allowance::NoRoute),
        sides: experiment.traffics.iter().flat_map(sides).collect(),
    };
    let problems = experiment.complaints_about_traffics(|traffic| {
        let manner = Manner::of(traffic, traffic.ports > 2);
        let ends = if manner.is_meshed { behind_ports(traffic) } else { sides(traffic) };
        ends.into_iter()
            .find_map(|(port, end)| Some((key_of(port), ground.fault(&end, port, manner)?)))
    });
    problems.map_or(Ok(()), |problems| Err(problems.into()))
}

/// Where frames of a traffic go between two ports: to its destinations, and where they are answered to its sources.
fn sides(traffic: &Traffic) -> Vec<(u16, Endpoint)> {
    traffic.ends().flat_map(|pair| sides_of(traffic, pair)).collect()
}

/// The same of one family's addresses.
fn sides_of(
    traffic: &Traffic,
    (source, destination): (Endpoint, Endpoint),
) -> impl Iterator<Item = (u16, Endpoint)> {
    // The acknowledgements of streams come back.
    let is_both = traffic.direction.is_both() || traffic.streams.is_some();
    std::iter::once((1, destination)).chain(is_both.then_some((0, source)))
}

/// The same between more ports.
fn behind_ports(traffic: &Traffic) -> Vec<(u16, Endpoint)> {
    let is_both = traffic.direction.is_both();
    let groups = traffic.groups().into_iter();
    groups.filter(|(port, _)| is_both || !port.is_multiple_of(2)).collect()
}

/// Where a traffic says what lies behind a port.
const fn key_of(port: u16) -> &'static str {
    if port.is_multiple_of(2) { "source" } else { "destination" }
}

impl Ground<'_> {
    /// What is wrong with the routes to some addresses behind a port.
    fn fault(&self, end: &Endpoint, port: u16, manner: Manner) -> Option<Complaint> {
        let stray = self.first_stray(end, port, manner)?;
        Some(self.complaint(stray, (port, end), manner))
    }

    /// `to` is the port behind which the address lies, with all addresses of its side.
    fn complaint(&self, stray: Stray<'_>, to: (u16, &Endpoint), manner: Manner) -> Complaint {
        let Stray { address, route } = stray;
        match route {
            None => self.missing(address, to, manner),
            Some(route) => self.astray((address, route), to, manner.is_meshed),
        }
    }

    fn missing(&self, address: IpAddr, to: (u16, &Endpoint), manner: Manner) -> Complaint {
        let (port, _) = to;
        let beside = self.learned.map_or_else(String::new, |learned| {
            format!(", neither in [routes] static nor in {}", learned.from)
        });
        let wanted = match port.is_multiple_of(2) {
            false => "a route for every destination",
            true => {
                "a route for every source, to which frames go with direction = \"both\" or kind = \"tcp\""
            }
        };
        let table =
            if beside.is_empty() { ", name a table there with file = \"FILE\"" } else { "" };
        let remedy = match (manner.has_streams, self.routes_to(to)) {
            // a stream whose frames are dropped never begins
            (true, Some(own)) => format!("add {own} to [routes] static"),
            (true, None) => "add one to [routes] static".to_owned(),
            (false, _) => format!(
                "add one to [routes] static{table}, or if drops are wanted {}",
                Allowance::NoRoute.remedy()
            ),
        };
        Complaint::new(format!("no route covers {address}{beside}"), wanted, remedy)
    }

    fn astray(
        &self,
        (address, route): (IpAddr, &Route),
        (port, end): (u16, &Endpoint),
        is_meshed: bool,
    ) -> Complaint {
        let Route { prefix, port: by, .. } = *route;
        let learned = self.line_of(route);
        let place = learned.as_deref().unwrap_or_default();
        let what = match (is_meshed, port) {
            (true, _) => format!("leaves by port {by}, and it lies behind port {port}"),
            (false, 0) => "leads to the destinations".to_owned(),
            (false, _) => "leads back to the sources".to_owned(),
        };
        let side = if port.is_multiple_of(2) { "sources" } else { "destinations" };
        let remedy = match &learned {
            Some(_) if is_meshed => {
                format!("take {prefix} out of the table: it is longer than the routes to that port")
            }
            Some(_) => {
                let gateway = self.gateway_behind(port, address);
                let gateway = gateway.map_or_else(|| "GATEWAY".to_owned(), |at| at.to_string());
                format!(
                    "add \"{prefix} via {gateway} port {port}\" to [routes] static, in whose place no learned \
                     route comes: all of those leave by port 1"
                )
            }
            None if !is_meshed && self.leads_to_others(route) => {
                self.routes_of_their_own(route, (port, end), side)
            }
            None => format!("name a gateway near the {side}, or add \"port {port}\" to the route"),
        };
        Complaint::new(
            format!("the route to {address} ({prefix}{place}) {what}"),
            format!("a route that leaves by port {port}, the side of the {side}"),
            remedy,
        )
    }

    /// Whether a route also leads to addresses that lie behind its port.
    fn leads_to_others(&self, route: &Route) -> bool {
        let (low, high) = route.prefix.bounds();
        self.sides.iter().any(|(port, end)| {
            let (first, last) = end.bounds();
            let is_alike = end.first().is_ipv4() == route.prefix.is_ipv4();
            is_alike && *port == route.port && first <= high && low <= last
        })
    }

    /// What to do where one route leads to both sides, and no port of it would be right.
    fn routes_of_their_own(
        &self,
        route: &Route,
        (port, end): (u16, &Endpoint),
        side: &str,
    ) -> String {
        match self.routes_to((port, end)) {
            None => format!(
                "take {side} outside of {}, and a route to them that leaves by port {port}: one route cannot lead \
                 to both sides",
                route.prefix
            ),
            Some(own) => {
                format!("add {own} to [routes] static: one route cannot lead to both sides")
            }
        }
    }

    /// The static routes that lead to some addresses behind a port and to no others; nothing where they are more than
    /// anybody writes into a file.
    fn routes_to(&self, (port, end): (u16, &Endpoint)) -> Option<String> {
        const MOST: usize = 8;
        let prefixes = mesh::covering(end);
        if prefixes.len() > MOST {
            return None;
        }
        let gateway = self.gateway_behind(port, end.first());
        let gateway = gateway.unwrap_or_else(|| mesh::gateway(port, end.first()));
        let one = |own: &Prefix| format!("\"{own} via {gateway} port {port}\"");
        Some(prefixes.iter().map(one).collect::<Vec<_>>().join(", "))
    }

    /// Where a learned route stands; nothing of one in the experiment file.
    fn line_of(&self, route: &Route) -> Option<String> {
        let Learned { table, from, is_file } = self.learned?;
        let own = table.routes.iter().find(|learned| learned.prefix == route.prefix)?;
        // A static route takes the place of a learned one to the same prefix, and may leave by another port.
        (route.port == 1).then(|| match is_file {
            true => format!(", {from}:{}", own.line),
            false => format!(", one of {from}"),
        })
    }

    fn gateway_behind(&self, port: u16, like: IpAddr) -> Option<IpAddr> {
        let is_it =
            |route: &&&Route| route.port == port && Family::of(route.gateway) == Family::of(like);
        self.routes.iter().find(is_it).map(|route| route.gateway)
    }

    /// The first of some addresses whose longest match is missing, or leads to another port than this one; in a mesh
    /// only where it was learned.
    fn first_stray(&self, end: &Endpoint, port: u16, manner: Manner) -> Option<Stray<'_>> {
        let Manner { is_meshed, has_streams } = manner;
        let (first, last) = end.bounds();
        let of_family =
            self.routes.iter().filter(|route| Family::of(route.gateway) == end.family());
        let mut found: Vec<(u128, u128, &Route)> = of_family
            .map(|route| {
                let (low, high) = route.prefix.bounds();
                (low, high, *route)
            })
            .filter(|(low, high, _)| *low <= last && first <= *high)
            .collect();
        // Prefixes before those that lie in them.
        found.sort_unstable_by_key(|(low, _, route)| (*low, route.prefix.length()));
        // The longest match changes only where a prefix begins or ends.
        let ends = |(low, high, _): &(u128, u128, &Route)| [Some(*low), high.checked_add(1)];
        let mut starts: Vec<u128> = found.iter().flat_map(ends).flatten().chain([first]).collect();
        starts.retain(|start| (first..=last).contains(start));
        starts.sort_unstable();
        starts.dedup();
        let mut found = found.into_iter().peekable();
        // Those in which the address lies, the longest last.
        let mut within: Vec<(u128, &Route)> = Vec::new();
        starts.into_iter().find_map(|start| {
            while within.pop_if(|(high, _)| *high < start).is_some() {}
            while let Some((_, high, route)) = found.next_if(|(low, ..)| *low <= start) {
                within.push((high, route));
            }
            let route = within.last().map(|(_, route)| *route);
            let is_wrong = match route {
                None => has_streams || !self.allows_no_route,
                Some(own) => own.port != port && (!is_meshed || self.line_of(own).is_some()),
            };
            is_wrong.then(|| Stray { address: address(start, end.family()), route })
        })
    }
}

fn address(number: u128, family: Family) -> IpAddr {
    match family {
        Family::Inet => Ipv4Addr::from_bits(number as u32).into(),
        Family::Inet6 | Family::Dual => Ipv6Addr::from_bits(number).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes(list: &[(&str, u16)]) -> Vec<Route> {
        let gateway = IpAddr::V4(Ipv4Addr::new(198, 18, 0, 203));
        let one = |(prefix, port): &(&str, u16)| {
            let prefix = prefix.parse().map_err(|why| format!("{why:?}")).expect("a prefix");
            Route { prefix, gateway, port: *port }
        };
        list.iter().map(one).collect()
    }

    /// As slow as it is plain: every address, every route.
    fn plain(end: &Endpoint, port: u16, routes: &[Route]) -> Option<(u128, Option<u8>)> {
        let (first, last) = end.bounds();
        (first..=last).find_map(|address| {
            let covers = |route: &&Route| {
                let (low, high) = route.prefix.bounds();
                (low..=high).contains(&address)
            };
            let best = routes.iter().filter(covers).max_by_key(|route| route.prefix.length());
            match best {
                Some(route) if route.port == port => None,
                other => Some((address, other.map(|route| route.prefix.length()))),
            }
        })
    }

    /// Nested prefixes, siblings and gaps, drawn from a fixed seed.
    #[test]
    fn the_first_stray_is_that_of_a_search_through_all_addresses() {
        let mut state = 7_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let end = Endpoint::parse("198.18.0.3-198.18.0.250:7").expect("ends");
        let (mut strays, mut gaps) = (0, 0);
        for _ in 0..2_000 {
            let mut list: Vec<Route> = Vec::new();
            for _ in 0..draw(12) {
                let length = 23 + draw(10) as u8;
                let at = Ipv4Addr::from_bits(0xc612_0000 + draw(256) as u32);
                let prefix = fwdlab_routes::Prefix::covering(at.into(), length);
                // Most of them to the right port.
                let port = u16::from(draw(4) > 0);
                if list.iter().all(|other| other.prefix != prefix) {
                    list.push(Route { prefix, port, ..routes(&[("198.18.0.0/16", 1)])[0] });
                }
            }
            if draw(3) > 0 {
                list.extend(routes(&[("198.18.0.0/16", 1)]));
            }
            let ground = Ground {
                routes: list.iter().collect(),
                learned: None,
                allows_no_route: false,
                sides: Vec::new(),
            };
            let found = ground.first_stray(&end, 1, Manner::default());
            let shown = found.map(|stray| {
                let length = stray.route.map(|route| route.prefix.length());
                (fwdlab_routes::number(stray.address), length)
            });
            assert_eq!(shown, plain(&end, 1, &list), "{list:?}");
            strays += usize::from(shown.is_some_and(|(_, length)| length.is_some()));
            gaps += usize::from(shown.is_some_and(|(_, length)| length.is_none()));
        }
        assert!(strays > 100 && gaps > 100, "{strays} {gaps}");
    }
}
