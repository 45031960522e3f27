//! Devices with more than two ports (RFC 2285, section 3.3): what a file says of them, and routes to what lies
//! behind them.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fwdlab_results::Measure;
use fwdlab_results::units::plural;
use fwdlab_routes::Prefix;

use super::addresses::Endpoint;
use super::fields::{Found, Section};
use super::model::{Direction, Experiment, Route, Traffic};
use super::problem::{Complaint, Complaints};
use super::schema::{MOST_PORTS, TrafficPlace};

/// Ports of a device where a traffic asks for no others.
pub(super) const USUAL: u16 = 2;
/// Ports of a full mesh: more would be more streams than a tester has.
const FULL: u16 = 4;

impl Experiment {
    /// How many ports the device has.
    pub fn ports(&self) -> u16 {
        self.traffics.iter().map(|traffic| traffic.ports).max().unwrap_or(USUAL)
    }

    /// Adds a route to the addresses behind each port beyond the first two, which stand in the file.
    pub(super) fn route_to_ports(&mut self) {
        let own = routes_to_ports(self.traffics.iter());
        // Once over the others, which may be a million.
        let named: HashSet<Prefix> = own.iter().map(|route| route.prefix).collect();
        let fixed = &mut self.routes.fixed;
        fixed.retain(|route| !named.contains(&route.prefix));
        fixed.extend(own);
    }
}

/// A route to the addresses behind each port beyond the first two, by a next router of its own.
pub(super) fn routes_to_ports<'a>(traffics: impl Iterator<Item = &'a Traffic>) -> Vec<Route> {
    let groups = traffics.flat_map(Traffic::groups).filter(|(port, _)| *port > 1);
    let mut own: Vec<Route> = Vec::new();
    for (port, ends) in groups {
        let gateway = gateway(port, ends.first());
        for prefix in covering(&ends) {
            own.retain(|route| route.prefix != prefix);
            own.push(Route { prefix, gateway, port });
        }
    }
    own
}

/// A next router behind a port that the file does not know: in a network of the port's own among those for
/// benchmarks (RFC 2544, appendix C; RFC 5180).
pub(super) fn gateway(port: u16, like: IpAddr) -> IpAddr {
    let (side, third) = (port % 2, 100 + port);
    match like {
        IpAddr::V4(_) => Ipv4Addr::new(198, 18 + side as u8, third as u8, 203).into(),
        IpAddr::V6(_) => {
            Ipv6Addr::new(0x2001, 2, 0, 0x8000 * side + 0x6400 + port, 0, 0, 0, 0x203).into()
        }
    }
}

/// The fewest prefixes that hold the addresses of a range and no other.
pub(super) fn covering(ends: &Endpoint) -> Vec<Prefix> {
    let bits: u32 = if ends.first().is_ipv4() { 32 } else { 128 };
    let (mut next, last) = ends.bounds();
    let mut found = Vec::new();
    loop {
        let room = next.trailing_zeros().min(bits);
        let fits = |free: &u32| match 1_u128.checked_shl(*free) {
            Some(count) => last - next >= count - 1,
            None => next == 0 && last == u128::MAX,
        };
        let free = (0..=room).rev().find(fits).unwrap_or(0);
        let address = match ends.first() {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from_bits(next as u32)),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::from_bits(next)),
        };
        found.push(Prefix::covering(address, (bits - free) as u8));
        let count = 1_u128.checked_shl(free).unwrap_or(0);
        match next.checked_add(count) {
            Some(after) if after <= last && count > 0 => next = after,
            _ => return found,
        }
    }
}

/// Reads `ports` of a traffic.
pub(super) fn read(
    section: &mut Section<'_>,
    complaints: &mut Complaints<'_>,
) -> Option<Found<u64>> {
    section.integer("ports", u64::from(USUAL)..=u64::from(MOST_PORTS), complaints)
}

/// The ports of a traffic; a full mesh has four where the file names none.
pub(super) fn settled(
    found: Option<Found<u64>>,
    direction: Direction,
    complaints: &mut Complaints<'_>,
) -> u16 {
    let usual = if direction == Direction::Mesh { FULL } else { USUAL };
    let Some(Found { field, at, value }) = found else { return usual };
    let ports = value as u16;
    if !ports.is_multiple_of(2) {
        let complaint = Complaint::new(
            format!("{} cannot make two sides of as many", plural(ports, "port")),
            "2, 4, 6 or 8: half of them towards the sources",
            format!("write ports = {}", ports + 1),
        );
        complaints.add(&at, &field, complaint);
    } else if direction == Direction::Mesh && ports != FULL {
        let complaint = Complaint::new(
            format!("a full mesh of {}", plural(ports, "port")),
            format!("ports = {FULL} beside direction = \"mesh\""),
            "remove ports, or write direction = \"both\": from each side to all ports of the other",
        );
        complaints.add(&at, &field, complaint);
    }
    ports
}

/// A route of the file that has the prefix of one of the lab's own would have no effect.
pub(super) fn check_routes(
    placed: &[(Traffic, TrafficPlace)],
    fixed: &[Found<(Route, Option<u16>)>],
    complaints: &mut Complaints<'_>,
) {
    let own = routes_to_ports(placed.iter().map(|(traffic, _)| traffic));
    for Found { field, at, value: (route, _) } in fixed {
        let Some(Route { prefix, port, gateway }) =
            own.iter().find(|own| own.prefix == route.prefix).copied()
        else {
            continue;
        };
        let complaint = Complaint::new(
            format!(
                "{prefix} lies behind port {port}, to which the lab adds a route of its own ({prefix} via {gateway}): \
                 this one would have no effect"
            ),
            "routes to other prefixes, of which longer ones take the place of the lab's",
            "remove it",
        );
        complaints.add(at, field, complaint);
    }
}

/// What cannot be asked of a device with more than two ports.
pub(super) fn check(
    placed: &[(Traffic, TrafficPlace)],
    changes_routes: bool,
    complaints: &mut Complaints<'_>,
) {
    let most = placed.iter().map(|(traffic, _)| traffic.ports).max().unwrap_or(USUAL);
    // An odd number is refused where it stands.
    if most == USUAL || placed.iter().any(|(traffic, _)| !traffic.ports.is_multiple_of(2)) {
        return;
    }
    for (traffic, place) in placed {
        let is_full = traffic.direction == Direction::Mesh;
        let asked = place.key("ports").or_else(|| place.key("direction").filter(|_| is_full));
        // A traffic that says nothing of ports has the usual two.
        let (at, field) = asked.unwrap_or_else(|| place.key_or_ends("name"));
        let mut refuse = |what: String, wanted: String, remedy: &str| {
            complaints.add(at, field, Complaint::new(what, wanted, remedy.to_owned()));
        };
        let beside = match traffic.measure {
            _ if traffic.capture.is_some() => {
                Some("a capture, whose frames have one port each way")
            }
            _ if traffic.sessions.is_some() || traffic.streams.is_some() => {
                Some("a kind of its own, which has one port each way")
            }
            _ if changes_routes => Some("[churn], which changes the routes of one port"),
            Measure::BackToBack | Measure::Reset | Measure::Convergence => {
                Some("a measure that is taken between two ports")
            }
            _ => None,
        };
        let name = &traffic.name;
        if traffic.ports != most {
            refuse(
                format!("traffic {name:?} has {} ports, another one {most}", traffic.ports),
                "one number of ports in all traffics: the device is one".to_owned(),
                "write the same number in each of them",
            );
        } else if let Some(beside) = beside {
            refuse(
                format!("traffic {name:?} has {most} ports beside {beside}"),
                "more than two ports beside rates, searches, loss curves, recoveries and soaks"
                    .to_owned(),
                match (is_full, place.key("ports")) {
                    (false, _) => "remove ports, or what stands beside it",
                    (true, None) => "remove direction, or what stands beside it",
                    (true, Some(_)) => "remove direction and ports, or what stands beside it",
                },
            );
        } else if is_full && traffic.inet6.is_some() {
            refuse(
                format!("traffic {name:?} is a full mesh of both families"),
                "one family in a full mesh".to_owned(),
                "make two traffics of it, one of each family",
            );
        } else if traffic.groups().len() < usize::from(most) {
            refuse(
                format!("there are fewer addresses on a side of traffic {name:?} than ports"),
                format!("{} addresses or more on each side", most / 2),
                match is_full || placed.len() > 1 {
                    // A full mesh has four, and all traffics have as many.
                    true => "make the ranges longer",
                    false => "make the ranges longer, or write fewer ports",
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(text: &str) -> Endpoint {
        Endpoint::parse(text).expect("ends")
    }

    #[test]
    fn addresses_are_dealt_in_runs_of_equal_length_and_none_is_left_out() {
        for (text, parts) in [
            ("198.18.10.1-198.18.10.20:7", 2),
            ("198.18.10.0-198.18.10.7:7", 3),
            ("198.18.10.0-198.18.10.2:7", 3),
            ("198.18.0.0-198.18.255.255:7", 4),
            ("[2001:2::1]-[2001:2::14]:7-9", 4),
        ] {
            let whole = ends(text);
            let (mut next, last) = whole.bounds();
            for number in 0..parts {
                let part = whole.part(number, parts).expect("a part");
                let (low, high) = part.bounds();
                assert_eq!(low, next, "{text} {number}");
                let spare =
                    (high - low + 1).abs_diff((last + 1 - whole.bounds().0) / u128::from(parts));
                assert!(spare <= 1, "{text} {number}");
                assert_eq!((part.port(), part.last_port()), (whole.port(), whole.last_port()));
                next = high + 1;
            }
            assert_eq!(next, last + 1, "{text}");
        }
        assert_eq!(ends("198.18.10.1-198.18.10.2:7").part(2, 3), None);
    }

    #[test]
    fn prefixes_hold_a_range_and_nothing_else() {
        let of =
            |text: &str| covering(&ends(text)).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(of("198.18.10.11:7"), ["198.18.10.11/32"]);
        assert_eq!(
            of("198.18.10.11-198.18.10.20:7"),
            ["198.18.10.11/32", "198.18.10.12/30", "198.18.10.16/30", "198.18.10.20/32"]
        );
        assert_eq!(of("198.18.0.0-198.18.255.255:7"), ["198.18.0.0/16"]);
        assert_eq!(of("[2001:2::4]-[2001:2::7]:7"), ["2001:2::4/126"]);
        for text in ["198.18.10.1-198.18.13.255:7", "[2001:2::1]-[2001:2::ffff]:9"] {
            let (mut next, last) = ends(text).bounds();
            for prefix in covering(&ends(text)) {
                let (low, high) = prefix.bounds();
                assert_eq!(low, next, "{text}");
                next = high + 1;
            }
            assert_eq!(next, last + 1, "{text}");
        }
    }
}
