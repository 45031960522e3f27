//! `measure = "convergence"`: whose routes change, and between which next routers.

use std::net::IpAddr;

use fwdlab_results::{Family, Measure};
use fwdlab_routes::Prefix;
use fwdlab_traffic::Order;

use super::model::{Experiment, Route, Traffic};
use super::parts::DraftRoutes;
use super::problem::{Complaint, Complaints};
use super::schema::TrafficPlace;
use super::{Endpoint, Load};

/// Most destinations: what is seen of each stands in the journal, for each change.
const MOST: u128 = 1_000;

/// Longest time in s between two frames to a destination: a fiftieth of what is waited for a change.
const LONGEST_S: f64 = 0.1;

/// Routes that change between two next routers, both on the side of the destinations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converging {
    /// A prefix for each destination address, in order.
    pub prefixes: Vec<Prefix>,
    /// The next router before a change, which is that of the experiment's route, and the one after it.
    pub gateways: [IpAddr; 2],
}

impl Converging {
    /// Those of a traffic; nothing when its destinations have no route in common.
    pub fn of(experiment: &Experiment, traffic: &Traffic) -> Option<Self> {
        let route = *common(experiment.routes.fixed.iter(), &traffic.destination)?;
        let (first, last) = traffic.destination.bounds();
        let host = |address: u128| match route.gateway {
            IpAddr::V4(_) => Prefix::covering(IpAddr::V4((address as u32).into()), 32),
            IpAddr::V6(_) => Prefix::covering(IpAddr::V6(address.into()), 128),
        };
        let gateways = [route.gateway, beside(route.gateway)];
        Some(Self { prefixes: (first..=last).map(host).collect(), gateways })
    }

    /// The routes by the second next router; without them the experiment's route leads to the first.
    pub fn routes(&self) -> Vec<Route> {
        let gateway = self.gateways[1];
        self.prefixes.iter().map(|&prefix| Route { prefix, gateway, port: 1 }).collect()
    }
}

/// The longest route that overlaps these destinations, if it takes all of them.
fn common<'r>(
    routes: impl Iterator<Item = &'r Route>,
    destination: &Endpoint,
) -> Option<&'r Route> {
    let (first, last) = destination.bounds();
    let is_ipv4 = destination.family() == Family::Inet;
    let overlapping = routes.filter(|route| {
        let (low, high) = route.prefix.bounds();
        route.prefix.is_ipv4() == is_ipv4 && low <= last && first <= high
    });
    let longest = overlapping.max_by_key(|route| route.prefix.length())?;
    let (low, high) = longest.prefix.bounds();
    (low <= first && last <= high).then_some(longest)
}

/// Another next router in the same network, which no table has: learned ones have the first 200 addresses,
/// the device one of the last.
fn beside(gateway: IpAddr) -> IpAddr {
    let (own, other) = (251, 252);
    match gateway {
        IpAddr::V4(gateway) => {
            let bits = gateway.to_bits();
            let last = if bits & 0xff == own { other } else { own };
            IpAddr::V4((bits & !0xff | last).into())
        }
        IpAddr::V6(gateway) => IpAddr::V6((gateway.to_bits() >> 64 << 64 | 0xfbfb).into()),
    }
}

/// Refuses what cannot converge.
pub(super) fn check(
    placed: &[(Traffic, TrafficPlace)],
    routes: &DraftRoutes,
    complaints: &mut Complaints<'_>,
) {
    for (traffic, place) in placed.iter().filter(|(own, _)| own.measure == Measure::Convergence) {
        let (first, last) = traffic.destination.bounds();
        let fixed = || routes.fixed.iter().map(|found| &found.value.0);
        let count = last.saturating_sub(first).saturating_add(1);
        let seldom_s = traffic.offered_pps().map_or(0.0, |pps| count as f64 / pps.max(1e-9));
        let between = format!(
            "each of its {count} destinations has a frame every {seldom_s:.1} s only, and a change is given \
             up after 5 s"
        );
        let (key, what) = if traffic.load == Load::Max {
            (
                "load",
                "its load is as much as the tester can send, and the time between frames is the resolution",
            )
        } else if matches!(traffic.order, Order::Zipf { .. } | Order::Elephants { .. }) {
            (
                "order",
                "some of its destinations have a frame far more seldom than others, and the time between \
                 frames is the resolution",
            )
        } else if seldom_s > LONGEST_S {
            ("load", between.as_str())
        } else if last - first >= MOST {
            ("destination", "it has more than 1000 destinations")
        } else if traffic.inet6.is_some() || traffic.capture.is_some() || traffic.sizes.is_mixed() {
            ("load", "it is of two families, of a capture or of several lengths")
        } else if traffic.direction.is_both() {
            ("direction", "its frames go both ways")
        } else if common(fixed(), &traffic.destination).is_none() {
            ("destination", "its destinations have no route in common, which could change")
        } else {
            continue;
        };
        let complaint = Complaint::new(
            format!("traffic {:?} cannot show convergence: {what}", traffic.name),
            "a load such as \"100kpps\" one way to at most 1000 destinations of one route in static",
            "change the traffic, or leave out measure = \"convergence\"",
        );
        let (at, field) = place.key_or_ends(key);
        complaints.add(at, field, complaint);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{Anything, Converging, Experiment, Problems};

    fn with(traffic: &str, routes: &str) -> Result<Experiment, Problems> {
        let text = format!(
            "title = \"t\"\nbaseline = \"a\"\nmeasure = \"convergence\"\n[[variant]]\nname = \"a\"\n\
             [[variant]]\nname = \"b\"\n[[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1:7\"\n\
             destination = \"198.19.0.1-198.19.0.3:7-8\"\n{traffic}\n[routes]\nstatic = [{routes}]\n"
        );
        Experiment::parse(Path::new("lab/turn.toml"), &text, &[&Anything])
    }

    const ROUTES: &str = "\"198.19.0.0/16 via 198.19.0.251\", \"198.18.0.0/16 via 198.18.0.9\"";

    #[test]
    fn each_destination_has_a_prefix_and_two_next_routers() {
        let experiment = with("load = \"100kpps\"", ROUTES).unwrap();
        let own = Converging::of(&experiment, &experiment.traffics[0]).unwrap();
        let shown: Vec<_> = own.prefixes.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["198.19.0.1/32", "198.19.0.2/32", "198.19.0.3/32"]);
        assert_eq!(own.gateways.map(|at| at.to_string()), ["198.19.0.251", "198.19.0.252"]);
        assert_eq!(own.routes()[2].gateway, own.gateways[1]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let halves = "\"198.19.0.0/31 via 198.19.0.251\", \"198.19.0.2/31 via 198.19.0.251\"";
        let load = "load = \"1kpps\"";
        for (traffic, routes, wanted) in [
            ("", ROUTES, "as much as the tester can send"),
            ("load = \"1kpps\"\ndirection = \"both\"", ROUTES, "go both ways"),
            ("load = \"1kpps\"\nframe = \"imix\"", ROUTES, "several lengths"),
            (load, halves, "no route in common"),
            ("load = \"10pps\"", ROUTES, "has a frame every 0.3 s only"),
            ("load = \"1kpps\"\norder = \"zipf(1)\"", ROUTES, "far more seldom"),
        ] {
            let said = with(traffic, routes).unwrap_err().to_string();
            assert!(said.contains(wanted) && said.contains("turn.toml:1"), "{traffic}: {said}");
        }
    }
}
