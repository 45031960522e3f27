//! The router's counters, as tables or as JSON.

#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::IpAddr;

use fwdlab_fib::{Family, Inet, Inet6, Nexthop, NexthopKind};
use fwdlab_port::Counters;
use fwdlab_router::{DropReason, NexthopCount, PortConfig, Routed, Router};
use fwdlab_stats::plural;
use serde_json::{Value, json};

use super::Format;
use crate::family::Picked;

#[cfg(target_os = "linux")]
mod tables;
#[cfg(target_os = "linux")]
pub(super) use tables::{all, drops, neighbours, route, routes, tables, words};

/// Something shown, for people and for programs.
#[cfg(target_os = "linux")]
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) json: Value,
}

/// The counters now; `held` is how many frames are left inside at the end, `None` before it.
pub(super) fn counters(router: &Router, held: Option<usize>, format: Format) -> String {
    match format {
        Format::Text => text(router, held),
        Format::Json => format!("{}\n", object(router, held)),
    }
}

/// Says what a user has probably not meant.
pub(super) fn warn(router: &Router) {
    let now = router.counters();
    let strangers = now.drops(DropReason::WrongMac);
    if strangers > 0 {
        let macs: Vec<_> = router.ports().iter().map(|port| port.mac.to_string()).collect();
        fwdlab_guard::say!(
            "warning: wrong-mac: for other MAC addresses than the router's ({}): {strangers} of {}; give it those \
             of the capture: --port MAC,ADDRESS/LENGTH",
            macs.join(", "),
            plural(now.received, "frame")
        );
    }
}

/// One nexthop with what followed it.
struct Row {
    family: &'static str,
    number: u32,
    to: String,
    port: Option<u16>,
    packets: u64,
}

fn rows(router: &Router) -> Vec<Row> {
    let mut rows = rows_of::<Inet>(router);
    rows.extend(rows_of::<Inet6>(router));
    rows
}

fn rows_of<F: Routed + Picked>(router: &Router) -> Vec<Row> {
    let row = |count: NexthopCount<F>| Row {
        family: F::NAME,
        number: count.id.0,
        to: count.nexthop.map_or_else(|| "gone".to_owned(), |nexthop| to(nexthop, F::ip)),
        port: count.nexthop.map(|nexthop| nexthop.port),
        packets: count.packets,
    };
    router.nexthop_counts::<F>(0).into_iter().map(row).collect()
}

fn to<F: Family>(nexthop: Nexthop<F>, address: impl Fn(F::Addr) -> IpAddr) -> String {
    match (nexthop.kind, nexthop.gateway) {
        (NexthopKind::Unicast, Some(gateway)) => format!("via {}", address(gateway)),
        (NexthopKind::Unicast, None) => "connected".to_owned(),
        (NexthopKind::Local, _) => "local".to_owned(),
        (NexthopKind::Reject, _) => "unreachable".to_owned(),
        (NexthopKind::Prohibit, _) => "prohibit".to_owned(),
        // The router's own routes for broadcast addresses are black holes with a gateway.
        (_, Some(_)) => "broadcast".to_owned(),
        _ => "blackhole".to_owned(),
    }
}

fn object(router: &Router, held: Option<usize>) -> Value {
    let now = router.counters();
    let ports = (0..).zip(router.ports()).map(|(number, config)| {
        let moved = router.port_counters(number);
        json!({
            "port": number, "mac": config.mac.to_string(),
            "rx_frames": moved.rx_frames, "rx_bytes": moved.rx_bytes, "rx_dropped": moved.rx_dropped,
            "rx_too_long": moved.rx_too_long,
            "tx_frames": moved.tx_frames, "tx_bytes": moved.tx_bytes, "tx_refused": moved.tx_refused,
            "tx_dropped": moved.tx_dropped,
        })
    });
    let drops: serde_json::Map<_, _> =
        now.drop_counts().map(|(reason, count)| (reason.name().to_owned(), count.into())).collect();
    let nexthops: Vec<_> = rows(router)
        .into_iter()
        .map(|row| {
            json!({
                "fib": 0, "family": row.family, "nexthop": row.number, "to": row.to,
                "port": row.port, "packets": row.packets,
            })
        })
        .collect();
    json!({
        "is_final": held.is_some(),
        "received": now.received, "sent": now.sent, "dropped": now.dropped(),
        "consumed": now.consumed, "originated": now.originated, "held": held,
        "ports": ports.collect::<Vec<_>>(), "drops": drops, "nexthops": nexthops,
    })
}

fn text(router: &Router, held: Option<usize>) -> String {
    let now = router.counters();
    let mut text = format!(
        "{} received, {} sent, {} dropped, {} for the router itself, {} made by it",
        plural(now.received, "frame"),
        now.sent,
        now.dropped(),
        now.consumed,
        now.originated
    );
    if let Some(held) = held.filter(|&held| held > 0) {
        let _ = write!(text, ", {held} left inside");
    }
    text.push_str(&lost_at_ports(router));
    text.push_str("\n\n");
    append(&mut text, &ports(router));
    let mut table = vec![["drop reason", "frames"].map(str::to_owned)];
    table.extend(
        now.drop_counts().map(|(reason, count)| [reason.name().to_owned(), count.to_string()]),
    );
    append(&mut text, &table);
    let mut table = vec![["family", "nexthop", "to", "port", "packets"].map(str::to_owned)];
    table.extend(rows(router).into_iter().map(|row| {
        let port = row.port.map_or_else(|| "-".to_owned(), |port| port.to_string());
        [row.family.to_owned(), row.number.to_string(), row.to, port, row.packets.to_string()]
    }));
    append(&mut text, &table);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// What the ports have moved, and what they have not.
fn ports(router: &Router) -> Vec<[String; 10]> {
    let head = [
        "port",
        "MAC address",
        "rx frames",
        "rx bytes",
        "rx dropped",
        "rx too long",
        "tx frames",
        "tx bytes",
        "tx refused",
        "tx dropped",
    ];
    let row = |(number, config): (u16, &PortConfig)| {
        let moved = router.port_counters(number);
        let [a, b, c, d, e, f, g, h] = [
            moved.rx_frames,
            moved.rx_bytes,
            moved.rx_dropped,
            moved.rx_too_long,
            moved.tx_frames,
            moved.tx_bytes,
            moved.tx_refused,
            moved.tx_dropped,
        ]
        .map(|count| count.to_string());
        [number.to_string(), config.mac.to_string(), a, b, c, d, e, f, g, h]
    };
    let rows = (0..).zip(router.ports()).map(row);
    std::iter::once(head.map(str::to_owned)).chain(rows).collect()
}

/// The part of the sum that the ports account for: what never came to the router, and what never
/// left.
fn lost_at_ports(router: &Router) -> String {
    let all = (0..).take(router.ports().len()).map(|number| router.port_counters(number));
    let sum = all.fold(Counters::default(), |sum, one| sum.plus(&one));
    let mut text = String::new();
    for (count, what) in [
        (sum.rx_dropped + sum.rx_too_long, "lost before the router had them"),
        (sum.tx_dropped, "refused by the system after it had sent them"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    if sum.tx_refused > 0 {
        let _ = write!(text, ", {} no room to send one", plural(sum.tx_refused, "time"));
    }
    text
}

/// Names the command that helps as soon as frames arrive merged or too long, once for each port; `said` are
/// the ports of which it has been said. Where the host goes on answering, such frames are its as well.
#[cfg(target_os = "linux")]
pub(super) fn warn_of_offloads(
    router: &Router,
    interfaces: &[Option<String>],
    has_host: bool,
    said: &mut BTreeSet<u16>,
) {
    for (number, name) in (0..).zip(interfaces) {
        let Some(name) = name else { continue };
        if router.port_counters(number).rx_too_long == 0 || !said.insert(number) {
            continue;
        }
        let hosts = match has_host {
            true => "; those for this host reach it all the same",
            false => "",
        };
        fwdlab_guard::say!(
            "warning: frames on {name} are merged by an offload or longer than its MTU, and cannot \
             be sent on{hosts}; ethtool -K {name} gro off lro off, and where they come from: \
             ethtool -K INTERFACE tso off gso off"
        );
    }
}

/// Appends a table and an empty line, unless it is only a heading. Numbers stand right.
fn append<const N: usize>(text: &mut String, table: &[[String; N]]) {
    if table.len() < 2 {
        return;
    }
    let width = |column: usize| table.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let is_number = |column: usize| {
        table[1..].iter().all(|row| row[column].bytes().all(|b| b.is_ascii_digit()))
    };
    for row in table {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let _ = match is_number(column) {
                true => write!(line, "{cell:>width$}  ", width = widths[column]),
                false => write!(line, "{cell:<width$}  ", width = widths[column]),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push('\n');
}
