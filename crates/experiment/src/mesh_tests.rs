//! A device with many ports, and experiments for it.

use std::net::IpAddr;
use std::path::Path;

use crate::problem::Complaint;
use crate::{Abilities, Experiment, Problems, Schema, network_length};

/// A device with many ports.
struct Many;

impl Schema for Many {
    fn name(&self) -> &'static str {
        "many"
    }

    fn abilities(&self) -> Abilities {
        Abilities { leaves_pairs_out: false, ..Abilities::ALL }
    }

    fn network_length(&self, gateway: IpAddr) -> Option<u8> {
        Some(network_length(gateway))
    }

    fn check_word(&self, _: &str) -> Result<(), Complaint> {
        Ok(())
    }

    fn check_value(&self, _: &str, _: &str) -> Result<(), Complaint> {
        Ok(())
    }
}

/// A mesh of 8 sources and 8 destinations, in trials of 100 ms.
pub(crate) fn mesh(traffic: &str) -> Result<Experiment, Problems> {
    Experiment::parse(Path::new("x.toml"), &text(traffic), &[&Many])
}

fn text(traffic: &str) -> String {
    format!(
        "title = \"t\"\ndevice = \"many\"\nbaseline = \"a\"\nduration = \"100ms\"\n\
         [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
         [[traffic]]\nname = \"t\"\nsource = \"198.18.10.0-198.18.10.7:7\"\n\
         destination = \"198.19.10.0-198.19.10.7:7\"\n{traffic}\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\", \"198.18.0.0/16 via 198.18.0.203\"]\n"
    )
}

/// It had no effect, and nobody said so.
#[test]
fn a_route_in_the_place_of_one_of_the_labs_own_is_refused() {
    let with = |route: &str| {
        let text = text("ports = 4").replace("203\"]", &format!("203\", \"{route}\"]"));
        let read = Experiment::parse(Path::new("x.toml"), &text, &[&Many]);
        let said = read.map_or_else(|problems| problems.to_string(), |_| String::new());
        (said, Experiment::recorded(Path::new("x.toml"), &text).is_ok())
    };
    let (said, is_readable) = with("198.19.10.4/30 via 198.19.0.203");
    let wanted = "routes.static[3]: 198.19.10.4/30 lies behind port 3, to which the lab adds a route of its own \
                  (198.19.10.4/30 via 198.19.103.203)";
    assert!(said.starts_with("x.toml:15:") && said.contains(wanted), "{said}");
    assert!(is_readable, "what has run stays readable");
    // A longer one may lead astray on purpose.
    assert_eq!(with("198.19.10.4/31 via 198.19.0.203").0, "");
}

/// A full mesh has four ports, and there were to be fewer.
#[test]
fn fewer_ports_are_no_remedy_for_a_full_mesh() {
    let remedy = |keys: &str| {
        let text = text(keys).replace("198.18.10.0-198.18.10.7", "198.18.10.7");
        let found = Experiment::parse(Path::new("x.toml"), &text, &[&Many]).expect_err("too few");
        found.list[0].remedy.clone()
    };
    assert_eq!(remedy("ports = 4"), "make the ranges longer, or write fewer ports");
    assert_eq!(remedy("direction = \"mesh\""), "make the ranges longer");
}

/// Of a mesh whose ends lay in the networks of the next routers that the lab takes for it, those of the lower ports
/// were asked for where nobody answers.
#[test]
fn ends_in_the_networks_of_a_mesh_of_its_own_are_refused() {
    let second = |source: &str, destination: &str, keys: &str| {
        let ends = format!("source = \"{source}:7\"\ndestination = \"{destination}:7\"");
        let name = "[[traffic]]\nname = \"two\"";
        mesh(&format!("ports = 4\n{name}\n{ends}\nports = 4\n{keys}"))
    };
    let both = "direction = \"both\"";
    let (sources, destinations) = ("198.18.102.1-198.18.102.20", "198.19.103.1-198.19.103.20");
    for (source, destination, keys, key, address) in [
        (
            "198.18.1.1-198.18.1.9",
            destinations,
            "",
            "destination",
            "198.19.103.1 lies in 198.19.103.0/24",
        ),
        (sources, "198.19.1.1-198.19.1.9", both, "source", "198.18.102.1 lies in 198.18.102.0/24"),
    ] {
        let said = second(source, destination, keys).expect_err("refused").to_string();
        assert!(
            said.contains(&format!("traffic[2].{key}: {address}, which the lab takes")),
            "{said}"
        );
        assert!(said.contains("outside of 198.1"), "{said}");
    }
    // Nobody sends to sources one way.
    assert!(second(sources, "198.19.1.1-198.19.1.9", "").is_ok());
}
