//! How many frames a mesh needs until each pair of its ports has one.

use std::collections::HashSet;
use std::time::Duration;

use fwdlab_traffic::{Load, Order, TrafficPlan};

use super::addresses::{Endpoint, MOST_FLOWS};
use super::load;
use super::mesh::USUAL;
use super::model::{Direction, Traffic};
use super::problem::{Complaint, Complaints};
use super::schema::{Schema, TrafficPlace};

/// A mesh some of whose pairs of ports have no frame in a trial is another than was asked for.
pub(super) fn check(
    placed: &[(Traffic, TrafficPlace)],
    duration: Option<Duration>,
    device: Option<&dyn Schema>,
    complaints: &mut Complaints<'_>,
) {
    let is_told = device.is_some_and(|device| !device.abilities().leaves_pairs_out);
    let Some(duration) = duration.filter(|_| is_told) else { return };
    // Of ports without an address it is said elsewhere.
    let is_whole = |traffic: &Traffic| {
        traffic.groups().len() >= usize::from(traffic.ports) * traffic.ends().count()
    };
    let meshed = placed.iter().filter(|(traffic, _)| traffic.ports > USUAL && is_whole(traffic));
    let is_only = placed.len() == 1;
    for (traffic, place) in meshed {
        let own = (traffic, is_only);
        let said = match fewest(traffic) {
            Some(fewest) => too_few(own, duration, fewest).map(|said| ("load", said)),
            None => Some(("order", never(own))),
        };
        let Some((key, complaint)) = said else { continue };
        let (at, field) = place.key_or_ends(key);
        complaints.add(at, field, complaint);
    }
}

/// What is wrong with a load that sends fewer frames in a trial; nothing of load max, of which nobody knows.
fn too_few(
    (traffic, is_only): (&Traffic, bool),
    duration: Duration,
    fewest: u64,
) -> Option<Complaint> {
    let ways = if traffic.direction == Direction::Both { 2.0 } else { 1.0 };
    let pps = traffic.offered_pps()? / ways;
    let sent = (pps * duration.as_secs_f64()).floor();
    if sent >= fewest as f64 {
        return None;
    }
    // The load of a full mesh is that of each port.
    let each = if traffic.direction == Direction::Mesh { traffic.ports } else { 1 };
    let needed = (fewest as f64 / duration.as_secs_f64() / f64::from(each)).ceil();
    let is_drawn = matches!(traffic.order, Order::Zipf { .. } | Order::Elephants { .. });
    let other = if is_drawn { ", order = \"random\"" } else { "" };
    // No line may be fast enough for flows that are drawn seldom.
    let fewer = fewer_ports(traffic, is_only);
    let remedy = match load::check(Load::Pps(needed), traffic.frame_bytes, false) {
        Ok(()) => format!(
            "write load = \"{needed}pps\" or more{other}{}a longer duration{fewer}",
            if fewer.is_empty() { ", or " } else { ", " }
        ),
        Err(_) => format!("write order = \"random\", or a longer duration{fewer}"),
    };
    Some(Complaint::new(
        format!(
            "traffic {:?} sends {sent} frames in a trial of {duration:?}, so few that some pair of its {} ports has \
             none",
            traffic.name, traffic.ports
        ),
        format!("{fewest} frames or more in a trial"),
        remedy,
    ))
}

/// Fewer ports as what helps, too: a full mesh has four, and all traffics have as many.
fn fewer_ports(traffic: &Traffic, is_only: bool) -> &'static str {
    let helps = is_only && traffic.direction != Direction::Mesh;
    if helps { ", or fewer ports" } else { "" }
}

/// What is wrong with an order in which some pair of ports has no frame at all.
fn never((traffic, is_only): (&Traffic, bool)) -> Complaint {
    Complaint::new(
        format!(
            "order = \"{}\" draws no frame for some pair of the {} ports of traffic {:?}, however many it sends",
            traffic.order, traffic.ports, traffic.name
        ),
        "an order in which every pair of ports has frames",
        format!(
            "write order = \"random\", or an order that is less skewed{}",
            fewer_ports(traffic, is_only)
        ),
    )
}

/// The fewest frames of a way, in a full mesh of all ports, until each pair of ports has one; nothing where one never
/// has.
fn fewest(traffic: &Traffic) -> Option<u64> {
    if traffic.direction == Direction::Mesh {
        // They take turns.
        return Some(traffic.meshed().len() as u64);
    }
    let half = traffic.ports / 2;
    let before = |end: &Endpoint| {
        end.part(half - 1, half).map_or(0, |last| end.count().saturating_sub(last.count()))
    };
    let of_way = |seed: u64, from: &Endpoint, to: &Endpoint| match traffic.order {
        // The source fastest: the last pair begins with the first of the last run on either side.
        Order::Sequential => {
            Some(before(to).saturating_mul(from.count()).saturating_add(before(from) + 1))
        }
        order => drawn(order, seed, [from, to], half),
    };
    let families = traffic.ends().count() as u64;
    let mut most = 0;
    // A tester draws the flows of each family with a seed of its own.
    for (seed, (source, destination)) in (TrafficPlan::SEED..).zip(traffic.ends()) {
        most = most.max(of_way(seed, &source, &destination)?);
        if traffic.direction.is_both() {
            most = most.max(of_way(seed, &destination, &source)?);
        }
    }
    Some(most.saturating_mul(families))
}

/// How many frames of flows in this order it takes until each pair of so many ports on either side has had one.
fn drawn(order: Order, seed: u64, [from, to]: [&Endpoint; 2], half: u16) -> Option<u64> {
    // Behind the last number of each port's ends.
    let ends = |end: &Endpoint| -> Vec<u64> {
        let mut sum = 0;
        let counts = (0..half).map(|at| end.part(at, half).map_or(0, |own| own.count()));
        let upto = counts.map(|count| {
            sum += count;
            sum
        });
        upto.collect()
    };
    let [sources, destinations] = [ends(from), ends(to)];
    // More flows are refused elsewhere.
    let flows = from.count().saturating_mul(to.count()).min(MOST_FLOWS) as u32;
    let ports = || 0..usize::from(half);
    let mut left: HashSet<(usize, usize)> =
        ports().flat_map(|source| ports().map(move |destination| (source, destination))).collect();
    let behind = |ends: &[u64], number: u64| ends.partition_point(|end| *end <= number);
    (1..).zip(order.turn(flows, seed)).find_map(|(sent, flow)| {
        let (source, destination) =
            (u64::from(flow) % from.count(), u64::from(flow) / from.count());
        left.remove(&(behind(&sources, source), behind(&destinations, destination)));
        left.is_empty().then_some(sent)
    })
}

#[cfg(test)]
mod tests {
    use crate::mesh_tests::mesh;

    #[test]
    fn a_mesh_with_too_few_frames_for_all_its_pairs_is_refused_with_the_load_that_helps() {
        for (traffic, line, few, fewest, load) in [
            // Of sequential flows the 37th is the first from behind port 2 to what lies behind port 3.
            ("ports = 4\n", 14, 360, 37, 370),
            ("ports = 4\ndirection = \"both\"\n", 15, 360, 37, 370),
            ("direction = \"mesh\"\n", 14, 20, 12, 30),
        ] {
            let said = mesh(&format!("{traffic}load = \"{few}pps\"")).unwrap_err().to_string();
            let place = format!("x.toml:{line}:8: traffic[1].load: traffic \"t\" sends ");
            assert!(said.starts_with(&place), "{said}");
            assert!(said.contains(&format!("wanted {fewest} frames or more")), "{said}");
            assert!(said.contains(&format!("write load = \"{load}pps\" or more")), "{said}");
            // A full mesh has four ports.
            assert_eq!(said.contains("fewer ports"), !traffic.contains("mesh"), "{said}");
            assert!(mesh(&format!("{traffic}load = \"{load}pps\"")).is_ok(), "{traffic}");
            assert!(mesh(traffic).is_ok(), "at load max nobody knows");
        }
    }

    /// The load that was told had nothing to do with flows of which few are drawn: the mesh had idle pairs.
    #[test]
    fn the_load_that_is_told_of_drawn_flows_is_the_least_that_helps() {
        for order in ["random", "zipf(1)", "zipf(2.5)", "elephants(1, 99%)", "elephants(3, 90%)"] {
            for keys in ["ports = 4", "ports = 8", "ports = 4\ndirection = \"both\""] {
                let with =
                    |pps: f64| mesh(&format!("{keys}\norder = \"{order}\"\nload = \"{pps}pps\""));
                let said = with(20.0).expect_err("too few").to_string();
                let (_, told) = said.split_once("write load = \"").expect("a load");
                let load: f64 =
                    told.split_once("pps\"").expect("a load").0.parse().expect("a number");
                assert!(with(load).is_ok(), "{order} {keys}: {said}");
                assert!(with(load - 10.0).is_err(), "{order} {keys}: {load}");
                assert_eq!(
                    said.contains("order = \"random\", a longer"),
                    order != "random",
                    "{said}"
                );
            }
        }
    }

    #[test]
    fn an_order_in_which_some_pair_of_ports_never_has_a_frame_is_refused() {
        let said = mesh("ports = 8\norder = \"elephants(1, 99.99999%)\"").unwrap_err().to_string();
        assert!(
            said.starts_with("x.toml:14:9: traffic[1].order: order = \"elephants(1, "),
            "{said}"
        );
        assert!(said.contains("write order = \"random\""), "{said}");
        assert!(mesh("ports = 8\norder = \"random\"").is_ok());
    }
}
