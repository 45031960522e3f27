//! Where the addresses of traffics lie: behind one port of the one device each, as it has one route to each. Meshes of
//! several traffics (RFC 2285, section 3.3) deal theirs to many ports, and have to do so alike; between two ports
//! nothing to which frames go may lie on both sides.

use std::collections::HashSet;
use std::net::IpAddr;
use std::ops::Range;

use super::addresses::Endpoint;
use super::groups;
use super::mesh::USUAL;
use super::model::Traffic;
use super::problem::{Complaint, Complaints};
use super::schema::TrafficPlace;

/// Addresses that a traffic deals to one port, and the key that names them.
struct Dealt<'a> {
    traffic: &'a Traffic,
    port: u16,
    ends: Endpoint,
    /// All of the same key.
    range: Endpoint,
    key: &'a (String, Range<usize>),
}

impl<'a> Dealt<'a> {
    fn of(traffic: &'a Traffic, place: &'a TrafficPlace) -> impl Iterator<Item = Self> {
        traffic.ends().zip(&place.ends).flat_map(move |(pair, keys)| {
            let groups = groups::groups(traffic.ports, std::iter::once(pair));
            groups.into_iter().map(move |(port, ends)| {
                let side = usize::from(port % 2);
                let range = [pair.0, pair.1][side];
                Self { traffic, port, ends, range, key: &keys[side] }
            })
        })
    }

    /// Whether frames of this traffic go there.
    fn is_sent_to(&self) -> bool {
        // The acknowledgements of streams come back.
        let is_both = self.traffic.direction.is_both() || self.traffic.streams.is_some();
        !self.port.is_multiple_of(2) || is_both
    }

    /// The first address that both hold, if they lie behind different ports and anybody sends there: between two
    /// ports to both, as nobody asks there by which port a frame comes.
    fn meets(&self, other: &Self) -> Option<IpAddr> {
        let is_alike = self.port == other.port || self.ends.family() != other.ends.family();
        let are_sent_to = [self.is_sent_to(), other.is_sent_to()];
        let is_led_astray = match self.traffic.ports {
            0..=USUAL => are_sent_to == [true, true],
            _ => are_sent_to.contains(&true),
        };
        if is_alike || !is_led_astray {
            return None;
        }
        let ((first, last), (low, high)) = (self.ends.bounds(), other.ends.bounds());
        let shared = first.max(low);
        let at = if first < low { other.ends.first() } else { self.ends.first() };
        (shared <= last.min(high)).then_some(at)
    }
}

/// An address has one route: where two traffics deal it to different ports, what one of them sends there goes astray,
/// or comes by a port behind which its source does not lie.
pub(super) fn check(placed: &[(Traffic, TrafficPlace)], complaints: &mut Complaints<'_>) {
    let dealt: Vec<Dealt<'_>> =
        placed.iter().flat_map(|(traffic, place)| Dealt::of(traffic, place)).collect();
    let mut said = HashSet::new();
    for (at, later) in dealt.iter().enumerate() {
        let meeting = |earlier: &&Dealt<'_>| later.meets(earlier).is_some();
        let Some(earlier) = dealt[..at].iter().find(meeting) else { continue };
        let (field, place) = later.key;
        if !said.insert(place.start) {
            continue;
        }
        let address = later.meets(earlier).unwrap_or_else(|| later.ends.first());
        let name = &earlier.traffic.name;
        let is_one_side = later.port % 2 == earlier.port % 2;
        if later.traffic.ports <= USUAL {
            complaints.add(place, field, on_both_sides(later, earlier, address));
            continue;
        }
        let complaint = Complaint::new(
            format!(
                "{address} lies behind port {} here, and behind port {} in traffic {name:?}: each deals its own \
                 addresses to the ports, and the device has one route to each",
                later.port, earlier.port
            ),
            match is_one_side {
                true => format!("the range of traffic {name:?}, or one without an address of it"),
                false => "addresses that lie on one side of the device in all traffics".to_owned(),
            },
            match is_one_side {
                true => format!("write \"{}\", or addresses outside of it", earlier.range),
                false => format!("take addresses outside of \"{}\"", earlier.range),
            },
        );
        complaints.add(place, field, complaint);
    }
}

/// Of an address between two ports to which frames go on either side.
fn on_both_sides(later: &Dealt<'_>, earlier: &Dealt<'_>, address: IpAddr) -> Complaint {
    let what = |own: &Dealt<'_>| if own.port == 0 { "a source" } else { "a destination" };
    let name = &earlier.traffic.name;
    Complaint::new(
        format!(
            "{address} is {} here and {} of traffic {name:?}, and frames go to both: the device has one route to it, \
             which leaves on one side",
            what(later),
            what(earlier)
        ),
        "sources and destinations that share no address, where frames go both ways",
        format!("take addresses outside of \"{}\"", earlier.range),
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::mesh_tests::mesh;
    use crate::{Anything, Experiment};

    fn between_two_ports(source: &str, destination: &str, keys: &str, routes: &str) -> String {
        let text = format!(
            "title = \"t\"\nbaseline = \"a\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
             [[traffic]]\nname = \"t\"\nsource = \"{source}:7\"\ndestination = \"{destination}:7\"\n{keys}\n\
             [routes]\nstatic = [{routes}]\n"
        );
        match Experiment::parse(Path::new("x.toml"), &text, &[&Anything]) {
            Ok(_) => String::new(),
            Err(problems) => problems.to_string(),
        }
    }

    /// A route "port 1" was asked for, and with it a route "port 0".
    #[test]
    fn what_lies_on_both_sides_and_is_sent_to_is_refused_with_a_remedy_that_helps() {
        let one = "\"198.18.0.0/16 via 198.18.0.203\"";
        let (source, overlapping) = ("198.18.10.1-198.18.10.20", "198.18.10.10-198.18.10.30");
        let both = "direction = \"both\"";
        let said = between_two_ports(source, overlapping, both, one);
        assert!(
            said.starts_with("x.toml:10:15: traffic[1].destination: 198.18.10.10 is a des"),
            "{said}"
        );
        assert!(
            said.contains("take addresses outside of \"198.18.10.1-198.18.10.20:7\""),
            "{said}"
        );
        assert!(!said.contains("port 0") && said.matches("x.toml").count() == 1, "{said}");
        // One way nobody sends to sources.
        let ahead = "\"198.18.0.0/16 via 198.19.0.203 port 1\"";
        assert_eq!(between_two_ports(source, overlapping, "", ahead), "");
        // Outside of them the one route leads to one side only: routes of their own are told, and help.
        let apart = "198.18.10.21-198.18.10.30";
        let said = between_two_ports(source, apart, both, one);
        let (_, told) = said.split_once("add ").expect("routes to add");
        let (told, _) = told.split_once(" to [routes] static").expect("routes to add");
        assert!(told.contains("\"198.18.10.1/32 via 198.18.100.203 port 0\""), "{said}");
        let routes = format!("{one}, {told}");
        assert_eq!(between_two_ports(source, apart, both, &routes), "", "{routes}");
    }

    /// A source of one traffic is a destination of another.
    #[test]
    fn two_traffics_that_send_to_an_address_on_either_side_are_refused() {
        let routes = "\"198.19.0.0/16 via 198.19.0.203\", \"198.18.0.0/16 via 198.18.0.203\"";
        let second = |keys: &str| {
            let ends = "source = \"198.19.10.1:7\"\ndestination = \"198.18.10.1:7\"";
            let keys = format!("direction = \"both\"\n[[traffic]]\nname = \"two\"\n{ends}\n{keys}");
            between_two_ports("198.18.10.1", "198.19.10.1", &keys, routes)
        };
        let said = second("");
        assert!(
            said.contains("traffic[2].destination: 198.18.10.1 is a destination here"),
            "{said}"
        );
        assert!(said.contains("a source of traffic \"t\""), "{said}");
    }

    #[test]
    fn traffics_that_deal_an_address_to_different_ports_are_refused() {
        let other = |source: &str, destination: &str, keys: &str| {
            let (first, second) = ("ports = 4\n", "[[traffic]]\nname = \"two\"");
            let ends = format!("source = \"{source}:7\"\ndestination = \"{destination}:7\"");
            mesh(&format!("{first}{keys}\n{second}\n{ends}\nports = 4\n{keys}"))
        };
        let both = "direction = \"both\"";
        let (sources, destinations) = ("198.18.10.0-198.18.10.7", "198.19.10.0-198.19.10.7");
        // Half of the first one's destinations; sources of frames that go back; those of another side.
        for (source, destination, keys, place, said) in [
            (
                sources,
                "198.19.10.0-198.19.10.3",
                "",
                "18:15: traffic[2].destination",
                "198.19.10.2 lies behind port 3 here, and behind port 1",
            ),
            (
                "198.18.10.4-198.18.10.11",
                destinations,
                both,
                "17:10: traffic[2].source",
                "198.18.10.4 lies behind port 0 here, and behind port 2",
            ),
            (
                "198.19.10.0-198.19.10.3",
                "198.19.20.0-198.19.20.3",
                "",
                "17:10: traffic[2].source",
                "198.19.10.0 lies behind port 0 here, and behind port 1",
            ),
        ] {
            let problems = other(source, destination, keys).unwrap_err().to_string();
            assert!(problems.contains(place) && problems.contains(said), "{problems}");
            assert!(problems.contains("in traffic \"t\": each deals its own"), "{problems}");
        }
        for (source, destination, keys) in [
            (sources, destinations, both),
            ("198.18.11.0-198.18.11.3", "198.19.11.0-198.19.11.9", both),
            // Nobody sends to sources one way.
            ("198.18.10.4-198.18.10.11", destinations, ""),
            // Dealt alike, as it happens.
            (sources, "198.19.10.2-198.19.10.5", both),
        ] {
            let read = other(source, destination, keys).map(drop);
            assert!(
                read.is_ok(),
                "{source} {destination} {keys}: {:?}",
                read.map_err(|why| why.to_string())
            );
        }
    }
}
