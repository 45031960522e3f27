//! Devices with more than two ports (RFC 2285, section 3.3): what a file says of them, and routes to what lies
//! behind them.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use fwdlab_results::Measure;
use fwdlab_routes::Prefix;
use fwdlab_traffic::Order;

use super::addresses::Endpoint;
use super::fields::{Found, Section};
use super::model::{Direction, Experiment, Route, Traffic};
use super::problem::{Complaint, Complaints};
use super::schema::{MOST_PORTS, Schema, TrafficPlace};

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
        let groups: Vec<(u16, Endpoint)> =
            self.traffics.iter().flat_map(Traffic::groups).filter(|(port, _)| *port > 1).collect();
        let mut own: Vec<Route> = Vec::new();
        for (port, ends) in groups {
            let gateway = gateway(port, ends.first());
            for prefix in covering(&ends) {
                own.retain(|route| route.prefix != prefix);
                own.push(Route { prefix, gateway, port });
            }
        }
        // Once over the others, which may be a million.
        let named: HashSet<Prefix> = own.iter().map(|route| route.prefix).collect();
        let fixed = &mut self.routes.fixed;
        fixed.retain(|route| !named.contains(&route.prefix));
        fixed.extend(own);
    }
}

/// A next router behind a port that the file does not know: in a network of the port's own among those for
/// benchmarks (RFC 2544, appendix C; RFC 5180).
fn gateway(port: u16, like: IpAddr) -> IpAddr {
    let (side, third) = (port % 2, 100 + port);
    match like {
        IpAddr::V4(_) => Ipv4Addr::new(198, 18 + side as u8, third as u8, 203).into(),
        IpAddr::V6(_) => {
            Ipv6Addr::new(0x2001, 2, 0, 0x8000 * side + 0x6400 + port, 0, 0, 0, 0x203).into()
        }
    }
}

/// The fewest prefixes that hold the addresses of a range and no other.
fn covering(ends: &Endpoint) -> Vec<Prefix> {
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
            format!("{ports} ports do not make two sides of as many"),
            "2, 4, 6 or 8: half of them towards the sources",
            format!("write ports = {}", ports + 1),
        );
        complaints.add(&at, &field, complaint);
    } else if direction == Direction::Mesh && ports != FULL {
        let complaint = Complaint::new(
            format!("a full mesh of {ports} ports"),
            format!("ports = {FULL} beside direction = \"mesh\""),
            "remove ports, or write direction = \"both\": from each side to all ports of the other",
        );
        complaints.add(&at, &field, complaint);
    }
    ports
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
        let (at, field) = place.key("ports").unwrap_or_else(|| place.key_or_ends("direction"));
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
                "remove ports, or what stands beside it",
            );
        } else if traffic.direction == Direction::Mesh && traffic.inet6.is_some() {
            refuse(
                format!("traffic {name:?} is a full mesh of both families"),
                "one family in a full mesh".to_owned(),
                "make two traffics of it, one of each family",
            );
        } else if traffic.groups().len() < usize::from(most) {
            refuse(
                format!("there are fewer addresses on a side of traffic {name:?} than ports"),
                format!("{} addresses or more on each side", most / 2),
                "make the ranges longer, or write fewer ports",
            );
        }
    }
}

/// Frames of each pair of ports at least where flows are drawn: then hardly a pair has none.
const DRAWN: u64 = 16;

/// A mesh some of whose pairs of ports have no frame in a trial is another than was asked for.
pub(super) fn every_pair_sends(
    placed: &[(Traffic, TrafficPlace)],
    duration: Option<Duration>,
    device: Option<&dyn Schema>,
    complaints: &mut Complaints<'_>,
) {
    let is_told = device.is_some_and(|device| !device.abilities().leaves_pairs_out);
    let Some(duration) = duration.filter(|_| is_told) else { return };
    for (traffic, place) in placed.iter().filter(|(traffic, _)| traffic.ports > USUAL) {
        let ways = if traffic.direction == Direction::Both { 2.0 } else { 1.0 };
        let Some(pps) = traffic.offered_pps().map(|pps| pps / ways) else { continue };
        let sent = (pps * duration.as_secs_f64()).floor();
        let fewest = fewest(traffic);
        if sent >= fewest as f64 {
            continue;
        }
        // The load of a full mesh is that of each port.
        let each = if traffic.direction == Direction::Mesh { traffic.ports } else { 1 };
        let load = (fewest as f64 / duration.as_secs_f64() / f64::from(each)).ceil();
        let (at, field) = place.key_or_ends("load");
        let complaint = Complaint::new(
            format!(
                "traffic {:?} sends {sent} frames in a trial of {duration:?}, so few that some pair of its {} ports has \
                 none",
                traffic.name, traffic.ports
            ),
            format!("{fewest} frames or more in a trial"),
            format!("write load = \"{load}pps\" or more, a longer duration, or fewer ports"),
        );
        complaints.add(at, field, complaint);
    }
}

/// The fewest frames of a way, in a full mesh of all ports, until each pair of ports has one.
fn fewest(traffic: &Traffic) -> u64 {
    if traffic.direction == Direction::Mesh {
        // They take turns.
        return traffic.meshed().len() as u64;
    }
    let half = traffic.ports / 2;
    let pairs = u64::from(half) * u64::from(half);
    let before = |end: &Endpoint| {
        end.part(half - 1, half).map_or(0, |last| end.count().saturating_sub(last.count()))
    };
    let of_way = |from: &Endpoint, to: &Endpoint| match traffic.order {
        // The source fastest: the last pair begins with the first of the last run on either side.
        Order::Sequential => {
            before(to).saturating_mul(from.count()).saturating_add(before(from) + 1)
        }
        _ => from.count().saturating_mul(to.count()).min(DRAWN * pairs),
    };
    let families = traffic.ends().count() as u64;
    let of = |(source, destination): (Endpoint, Endpoint)| {
        let back = traffic.direction.is_both().then(|| of_way(&destination, &source));
        of_way(&source, &destination).max(back.unwrap_or(0)).saturating_mul(families)
    };
    traffic.ends().map(of).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Abilities, Problems};

    /// A device with many ports.
    struct Many;

    impl Schema for Many {
        fn name(&self) -> &'static str {
            "many"
        }

        fn abilities(&self) -> Abilities {
            Abilities { leaves_pairs_out: false, ..Abilities::ALL }
        }

        fn check_word(&self, _: &str) -> Result<(), Complaint> {
            Ok(())
        }

        fn check_value(&self, _: &str, _: &str) -> Result<(), Complaint> {
            Ok(())
        }
    }

    /// A mesh of 8 sources and 8 destinations, in trials of 100 ms.
    fn mesh(traffic: &str) -> Result<Experiment, Problems> {
        let text = format!(
            "title = \"t\"\ndevice = \"many\"\nbaseline = \"a\"\nduration = \"100ms\"\n\
             [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
             [[traffic]]\nname = \"t\"\nsource = \"198.18.10.0-198.18.10.7:7\"\n\
             destination = \"198.19.10.0-198.19.10.7:7\"\n{traffic}\n\
             [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\", \"198.18.0.0/16 via 198.18.0.203\"]\n"
        );
        Experiment::parse(Path::new("x.toml"), &text, &[&Many])
    }

    #[test]
    fn a_mesh_with_too_few_frames_for_all_its_pairs_is_refused_with_the_load_that_helps() {
        for (traffic, line, few, fewest, load) in [
            // Of sequential flows the 37th is the first from behind port 2 to what lies behind port 3.
            ("ports = 4\n", 14, 360, 37, 370),
            ("ports = 4\ndirection = \"both\"\n", 15, 360, 37, 370),
            ("ports = 8\norder = \"random\"\n", 15, 630, 64, 640),
            ("direction = \"mesh\"\n", 14, 20, 12, 30),
        ] {
            let said = mesh(&format!("{traffic}load = \"{few}pps\"")).unwrap_err().to_string();
            let place = format!("x.toml:{line}:8: traffic[1].load: traffic \"t\" sends ");
            assert!(said.starts_with(&place), "{said}");
            assert!(said.contains(&format!("wanted {fewest} frames or more")), "{said}");
            assert!(said.contains(&format!("write load = \"{load}pps\" or more")), "{said}");
            assert!(mesh(&format!("{traffic}load = \"{load}pps\"")).is_ok(), "{traffic}");
            assert!(mesh(traffic).is_ok(), "at load max nobody knows");
        }
    }

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
