//! Meshes of several traffics (RFC 2285, section 3.3): each deals its addresses to the ports of the one device, and
//! they have to do so alike.

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
        !self.port.is_multiple_of(2) || self.traffic.direction.is_both()
    }

    /// The first address that both hold, if they lie behind different ports and anybody sends there.
    fn meets(&self, other: &Self) -> Option<IpAddr> {
        let is_alike = self.port == other.port || self.ends.family() != other.ends.family();
        if is_alike || !(self.is_sent_to() || other.is_sent_to()) {
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
    let meshed = placed.iter().filter(|(traffic, _)| traffic.ports > USUAL);
    let dealt: Vec<Dealt<'_>> =
        meshed.flat_map(|(traffic, place)| Dealt::of(traffic, place)).collect();
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

#[cfg(test)]
mod tests {
    use crate::mesh_tests::mesh;

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
