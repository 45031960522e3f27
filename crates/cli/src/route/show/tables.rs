//! Tables and neighbours, for `fwdlab ctl show`.

use std::fmt::Write as _;
use std::net::IpAddr;

use anyhow::Context;
use fwdlab_fib::{Fib, Inet, Inet6, Nexthop, NexthopId, Prefix, Stats};
use fwdlab_router::{NeighbourState, Routed, Router};
use fwdlab_stats::plural;
use serde_json::{Value, json};

use super::{Shown, append, object, text, to};
use crate::family::Picked;
use crate::route::ways::of_family;

/// Figures of both tables.
pub(in crate::route) fn tables(router: &Router) -> anyhow::Result<Shown> {
    let mut shown = Shown { text: String::new(), json: json!([]) };
    figures(&router.fib::<Inet>(0)?.stats(), "inet", &mut shown);
    figures(&router.fib::<Inet6>(0)?.stats(), "inet6", &mut shown);
    Ok(shown)
}

fn figures(stats: &Stats, family: &str, shown: &mut Shown) {
    let waiting = stats.generation - stats.visible_generation;
    let _ = writeln!(
        shown.text,
        "{family}.0: {}, {}, {}; algorithm {}, {} bytes; {}, {waiting} of them not visible yet; built {}",
        plural(stats.routes, "route"),
        plural(stats.nexthops, "nexthop"),
        plural(stats.groups, "group"),
        stats.algorithm,
        stats.lookup_bytes,
        plural(stats.generation, "change"),
        plural(stats.builds, "time"),
    );
    let figures = json!({
        "family": family, "fib": 0, "routes": stats.routes, "nexthops": stats.nexthops,
        "groups": stats.groups, "algorithm": stats.algorithm, "lookup_bytes": stats.lookup_bytes,
        "builder_bytes": stats.builder_bytes, "rib_bytes": stats.rib_bytes,
        "changes": stats.generation, "visible_changes": stats.visible_generation,
        "builds": stats.builds,
    });
    if let Value::Array(all) = &mut shown.json {
        all.push(figures);
    }
}

/// All routes, or those within a prefix.
pub(in crate::route) fn routes(
    router: &Router,
    within: Option<fwdlab_routes::Prefix>,
) -> anyhow::Result<Shown> {
    let mut shown = Shown { text: String::new(), json: Value::Null };
    let mut all = Vec::new();
    routes_of::<Inet>(router, within, (&mut shown.text, &mut all))?;
    routes_of::<Inet6>(router, within, (&mut shown.text, &mut all))?;
    shown.json = Value::Array(all);
    Ok(shown)
}

fn routes_of<F: Routed + Picked>(
    router: &Router,
    within: Option<fwdlab_routes::Prefix>,
    (text, all): (&mut String, &mut Vec<Value>),
) -> anyhow::Result<()> {
    let fib = router.fib::<F>(0)?;
    let mut add = |prefix: Prefix<F>, id| {
        let _ = writeln!(text, "{prefix} {}", target(fib, id));
        all.push(json!({ "prefix": prefix.to_string(), "to": target(fib, id), "nexthop": id.0 }));
    };
    match within {
        None => fib.rib().iter().for_each(|(prefix, id)| add(prefix, id)),
        Some(within) => {
            if let Some(prefix) = of_family::<F>(within) {
                fib.rib().covered(prefix).for_each(|(prefix, id)| add(prefix, id));
            }
        }
    }
    Ok(())
}

/// The route that an address takes.
pub(in crate::route) fn route(router: &Router, address: IpAddr) -> anyhow::Result<Shown> {
    match address {
        IpAddr::V4(address) => route_of::<Inet>(router, address.to_bits()),
        IpAddr::V6(address) => route_of::<Inet6>(router, address.to_bits()),
    }
}

fn route_of<F: Routed + Picked>(router: &Router, address: F::Addr) -> anyhow::Result<Shown> {
    let fib = router.fib::<F>(0)?;
    let found = fib.rib().longest_match(address);
    let (prefix, id) = found.with_context(|| format!("no route to {}", F::ip(address)))?;
    // What packets meet, which may be older.
    let now = fib.reader().lookup(address);
    let mut text = format!("{} takes {prefix} {}\n", F::ip(address), target(fib, id));
    if now != id {
        let _ = writeln!(text, "packets still go {}", target(fib, now));
    }
    let json = json!({
        "prefix": prefix.to_string(), "to": target(fib, id), "nexthop": id.0, "visible": now == id,
    });
    Ok(Shown { text, json })
}

/// Where a nexthop or group leads.
fn target<F: Routed + Picked>(fib: &Fib<F>, id: NexthopId) -> String {
    let way = |nexthop: &Nexthop<F>| {
        let to = to(*nexthop, F::ip);
        match nexthop.kind {
            fwdlab_fib::NexthopKind::Unicast => format!("{to} port {}", nexthop.port),
            _ => to,
        }
    };
    if let Some(nexthop) = fib.nexthop(id) {
        return way(nexthop);
    }
    let members = fib.nexthop_group(id).map_or(&[][..], |group| group.members());
    let ways = members.iter().filter_map(|(member, weight)| {
        Some(format!("nexthop {} weight {weight}", way(fib.nexthop(*member)?)))
    });
    let ways: Vec<String> = ways.collect();
    if ways.is_empty() { "nowhere".to_owned() } else { ways.join(" ") }
}

/// The neighbours of both families.
pub(in crate::route) fn neighbours(router: &Router) -> Shown {
    let mut table = vec![["address", "port", "MAC address", "state"].map(str::to_owned)];
    let mut all = Vec::new();
    neighbours_of::<Inet>(router, (&mut table, &mut all));
    neighbours_of::<Inet6>(router, (&mut table, &mut all));
    let mut text = String::new();
    append(&mut text, &table);
    Shown { text: format!("{}\n", text.trim_end()), json: Value::Array(all) }
}

fn neighbours_of<F: Routed + Picked>(
    router: &Router,
    (table, all): (&mut Vec<[String; 4]>, &mut Vec<Value>),
) {
    for (port, address, mac, state) in router.neighbours::<F>() {
        let mac = mac.map(|mac| mac.to_string());
        let state = state_name(state);
        let address = F::ip(address).to_string();
        all.push(json!({ "address": address, "port": port, "mac": mac, "state": state }));
        let shown_mac = mac.unwrap_or_else(|| "-".to_owned());
        table.push([address, port.to_string(), shown_mac, state.to_owned()]);
    }
}

fn state_name(state: NeighbourState) -> &'static str {
    match state {
        NeighbourState::Incomplete => "incomplete",
        NeighbourState::Reachable => "reachable",
        NeighbourState::Stale => "stale",
        NeighbourState::Probe => "probe",
        NeighbourState::Static => "static",
        _ => "unknown",
    }
}

/// Frames dropped so far, by reason.
pub(in crate::route) fn drops(router: &Router) -> Shown {
    let now = router.counters();
    let mut table = vec![["drop reason", "frames"].map(str::to_owned)];
    table.extend(
        now.drop_counts().map(|(reason, count)| [reason.name().to_owned(), count.to_string()]),
    );
    let mut text = String::new();
    append(&mut text, &table);
    if text.is_empty() {
        text.push_str("no frame was dropped");
    }
    Shown { text: format!("{}\n", text.trim_end()), json: object(router, None)["drops"].take() }
}

/// All counters.
pub(in crate::route) fn all(router: &Router) -> Shown {
    Shown { text: text(router, None), json: object(router, None) }
}

/// All control words with their values.
pub(in crate::route) fn words(router: &Router) -> anyhow::Result<Shown> {
    let mut shown = Shown { text: String::new(), json: json!({}) };
    for word in router.control_words() {
        let value = router.get(word)?;
        let _ = writeln!(shown.text, "{word}: {value}");
        shown.json[word] = value.into();
    }
    Ok(shown)
}
