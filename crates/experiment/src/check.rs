//! Checks between the parts of an experiment.

use std::collections::HashSet;
use std::net::IpAddr;
use std::ops::Range;

use super::fields::{Found, nearest};
use super::parts::DraftRoutes;
use super::problem::{Complaint, Complaints};
use super::schema::TrafficPlace;
use super::{Churn, ChurnSource, Endpoint, Load, Traffic, Variant};
use fwdlab_results::{Family, Measure};
use fwdlab_routes::{Prefix, number};

/// What follows the name of a traffic with several measures counts, too, in the journal.
const LONGEST_NAME: usize = 64;

/// The baseline must be a variant.
pub(super) fn baseline(
    baseline: Option<&Found<&str>>,
    variants: &[Found<Variant>],
    complaints: &mut Complaints<'_>,
) {
    let Some(Found { field, at, value }) = baseline else { return };
    let names = || variants.iter().map(|v| v.value.name.as_str());
    if variants.is_empty() || names().any(|name| name == *value) {
        return; // that there is no variant at all is said by `counts`
    }
    let complaint = Complaint::new(
        format!("there is no variant {value:?}"),
        format!("one of {}", names().collect::<Vec<_>>().join(", ")),
        match nearest(value, names()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("name one of them, or add a [[variant]] named {value:?}"),
        },
    );
    complaints.add(at, field, complaint);
}

/// A load that is found cannot be asked for.
pub(super) fn load_of_measure(placed: &[(Traffic, TrafficPlace)], complaints: &mut Complaints<'_>) {
    let asked = |traffic: &Traffic| {
        let is_free = matches!(traffic.measure, Measure::Rate | Measure::Convergence)
            || traffic.measure.is_of_sessions();
        traffic.load != Load::Max && !is_free
    };
    for (traffic, place) in placed.iter().filter(|(traffic, _)| asked(traffic)) {
        let complaint = Complaint::new(
            format!("traffic {:?} asks for a load of {}", traffic.name, traffic.load),
            format!("load = \"max\" with measure = \"{}\", which finds the load", traffic.measure),
            "remove the load, or the measure",
        );
        let (at, field) = place.key_or_ends("load");
        complaints.add(at, field, complaint);
    }
}

/// A gateway may not be the last address of the network that a port of the device has around it, which is all hosts'.
pub(super) fn gateways(
    routes: &DraftRoutes,
    length: &dyn Fn(IpAddr) -> Option<u8>,
    complaints: &mut Complaints<'_>,
) {
    for found in &routes.fixed {
        let gateway = found.value.0.gateway;
        let Some(length) = length(gateway).filter(|_| gateway.is_ipv4()) else { continue };
        let network = Prefix::covering(gateway, length);
        if Prefix::covering(gateway, 32).bounds().1 == network.bounds().1 {
            let complaint = Complaint::new(
                format!("{gateway} is no host's address: in {network} it is the broadcast address"),
                "the address of a router beside the device",
                "name another address of that network as gateway",
            );
            complaints.add(&found.at, &found.field, complaint);
        }
    }
}

/// Routes can change only beside a rate that is measured, and those that flap must be there.
pub(super) fn churn(
    churn: Option<&Found<Churn>>,
    measures: &[Measure],
    routes: &DraftRoutes,
    complaints: &mut Complaints<'_>,
) {
    let Some(Found { field, at, value }) = churn else { return };
    if let Some(measure) = measures.iter().find(|measure| **measure != Measure::Rate) {
        let does = if measure.loss_ratio().is_some() { "searches for a rate" } else { "is taken" };
        let complaint = Complaint::new(
            format!("routes change while measure = {:?} {does}", measure.name()),
            "changes of routes beside the forwarding rate",
            "remove the measure, or [churn]",
        );
        complaints.add(at, field, complaint);
    }
    if matches!(value.source, ChurnSource::Flap(_)) && routes.source.is_none() {
        let complaint = Complaint::new(
            "there are no learned routes that could flap",
            "file or generate in [routes]",
            "write for instance generate = 100000 in [routes]",
        );
        complaints.add(at, field, complaint);
    }
}

/// A comparison needs two variants and a traffic.
pub(super) fn counts(
    variants: &[Found<Variant>],
    traffics: &[Traffic],
    end: Range<usize>,
    complaints: &mut Complaints<'_>,
) {
    if variants.len() < 2 && complaints.is_empty() {
        let complaint = Complaint::new(
            match variants.len() {
                0 => "there is no variant".to_owned(),
                _ => format!("{:?} is the only variant", variants[0].value.name),
            },
            "two variants at least: a baseline and one to compare with it",
            "add a [[variant]] with a name and what it sets",
        );
        complaints.add(&end, "variant", complaint);
    }
    if traffics.is_empty() && complaints.is_empty() {
        let complaint = Complaint::new(
            "there is no traffic",
            "one traffic at least",
            "add a [[traffic]] with name, source and destination",
        );
        complaints.add(&end, "traffic", complaint);
    }
}

/// Trial ids and files' names are made of a traffic's and a variant's name; no two may be alike
/// (`a-b` with `c` would meet `a` with `b-c`, and `a.b` with `c` `a` with `b.c`).
pub(super) fn distinct_ids(
    variants: &[Found<Variant>],
    traffics: &[Traffic],
    complaints: &mut Complaints<'_>,
) {
    let mut seen = HashSet::new();
    for traffic in traffics {
        for Found { field, at, value } in variants {
            let id = format!("{}-{}", traffic.name, value.name);
            let file = format!("{}.{}", value.name, traffic.name);
            for (joint, name) in [('-', id), ('.', file)] {
                if !seen.insert((joint, name.clone())) {
                    let complaint = Complaint::new(
                        format!("two pairs of traffic and variant would be called {name:?}"),
                        format!("names that differ when joined by '{joint}'"),
                        format!("name variants without '{joint}'"),
                    );
                    complaints.add(at, field, complaint);
                }
            }
        }
    }
}

/// A traffic is named after the measure and the rate of changes with which it runs, and the journal has room for
/// names as long as those of the file.
pub(super) fn joined_names(placed: &[(Traffic, TrafficPlace)], complaints: &mut Complaints<'_>) {
    let mut said = HashSet::new();
    for (traffic, place) in placed {
        let beyond = traffic.name.chars().count().saturating_sub(LONGEST_NAME);
        let (at, field) = place.key_or_ends("name");
        if beyond > 0 && said.insert(at.start) {
            let complaint = Complaint::new(
                format!(
                    "with its measure, and its rate of changes, this traffic is called {:?}",
                    traffic.name
                ),
                format!("at most {LONGEST_NAME} characters of all of that"),
                format!("shorten name by {beyond} or more"),
            );
            complaints.add(at, field, complaint);
        }
    }
}

/// Settles the egress port of every route: the one that the file names, else
/// the side on which the gateway lies. A gateway lies on the side (0: sources,
/// 1: destinations) with whose addresses it shares the longer prefix; when
/// both are alike it is side 1.
pub(super) fn resolve_ports(routes: &mut DraftRoutes, traffics: &[Traffic]) {
    for Found { value: (route, named), .. } in &mut routes.fixed {
        let family = Family::of(route.prefix.address());
        let shared = |side: fn((Endpoint, Endpoint)) -> u128| {
            let alike = |ends| (number(route.gateway) ^ side(ends)).leading_zeros();
            let ends = traffics.iter().flat_map(Traffic::ends);
            ends.filter(|ends| ends.0.family() == family).map(alike).max()
        };
        let to_sources = shared(|ends| ends.0.bounds().0);
        let to_destinations = shared(|ends| ends.1.bounds().0);
        route.port = named.unwrap_or(u16::from(to_sources <= to_destinations));
    }
}

/// What cannot be asked of frames that go both ways.
pub(super) fn both_ways(
    placed: &[(Traffic, TrafficPlace)],
    changes_routes: bool,
    complaints: &mut Complaints<'_>,
) {
    let both = placed.iter().filter(|(traffic, _)| traffic.direction.is_both());
    for (traffic, place) in both {
        let beside = if traffic.capture.is_some() {
            "a capture, whose frames go one way".to_owned()
        } else if changes_routes {
            "[churn], which changes the routes of one way".to_owned()
        } else if matches!(traffic.measure, Measure::BackToBack | Measure::Reset) {
            format!("measure = {:?}, which is taken one way", traffic.measure.name())
        } else {
            continue;
        };
        let complaint = Complaint::new(
            format!("the frames of traffic {:?} go both ways beside {beside}", traffic.name),
            "direction = \"both\" beside rates, searches, loss curves, recoveries and soaks",
            "remove direction, or what stands beside it",
        );
        let (at, field) = place.key_or_ends("direction");
        complaints.add(at, field, complaint);
    }
}
