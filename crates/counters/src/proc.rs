//! Counters of Linux: /proc, /sys, and what drivers say by `ethtool -S`. Names of ports are plain words.

use std::collections::BTreeMap;

use crate::queues::{self, Queues};
use crate::reading::{PortReading, Reading};
use crate::sums::both;
use crate::work::{Moment, Span};

/// Counters of IP that tell why packets were dropped.
const DROPS: [&str; 14] = [
    "Ip.InHdrErrors",
    "Ip.InAddrErrors",
    "Ip.InDiscards",
    "Ip.OutDiscards",
    "Ip.OutNoRoutes",
    "IpExt.InNoRoutes",
    "TcpExt.IPReversePathFilter",
    "Ip6InHdrErrors",
    "Ip6InNoRoutes",
    "Ip6InAddrErrors",
    "Ip6InTooBigErrors",
    "Ip6InDiscards",
    "Ip6OutDiscards",
    "Ip6OutNoRoutes",
];

/// What asks for addresses, links and speeds alone.
pub fn links(ports: &[&str]) -> String {
    let of_port = |name: &&str| {
        format!(
            "for c in address carrier speed; do v=; {{ read v < /sys/class/net/{name}/$c; }} \
             2>/dev/null; echo \"{name}.$c $v\"; done\n"
        )
    };
    ports.iter().map(of_port).collect::<String>() + ":\n"
}

/// What asks for everything: lines `key value`, by builtins of the shell: nothing is started for each of them.
pub fn script(ports: &[&str], with_statistics: &[&str], with_work: bool) -> String {
    let now = |word| format!("read v < /proc/uptime; echo \"{word} $v\"\n");
    let mut script = if with_work { now("first") } else { String::new() };
    script.push_str(
        "read v < /proc/sys/kernel/random/boot_id; echo \"boot $v\"\n\
         read v < /proc/sys/kernel/osrelease; echo \"kernel $v\"\n",
    );
    for name in ports {
        let dir = format!("/sys/class/net/{name}");
        script.push_str(&format!(
            "for c in address carrier speed carrier_changes statistics/rx_packets \
             statistics/rx_dropped statistics/rx_missed_errors statistics/tx_packets \
             statistics/tx_dropped statistics/tx_errors; do v=; \
             {{ read v < {dir}/$c; }} 2>/dev/null; echo \"{name}.$c $v\"; done\n"
        ));
        if !with_statistics.contains(name) {
            continue;
        }
        script.push_str(&format!(
            "if command -v ethtool >/dev/null; then ethtool -S {name} 2>/dev/null | \
             while read -r k v; do case $k in *pause*|*flow_control*|*xoff*) \
             echo \"{name}.pause $v\";; {PATTERNS}) echo \"{name}.queue $k $v\";; esac; done; fi\n",
            PATTERNS = queues::PATTERNS
        ));
    }
    script.push_str(
        "for f in snmp netstat snmp6; do { while read -r l; do echo \"net $l\"; done \
         < /proc/net/$f; } 2>/dev/null; done\n",
    );
    if with_work {
        script.push_str("echo \"processors $(grep -c '^cpu[0-9]' /proc/stat)\"\n");
        script.push_str(&now("last"));
    }
    script.push_str(":\n");
    script
}

pub fn answers(said: &str, ports: &[&str]) -> Reading {
    let mut values: BTreeMap<&str, &str> = BTreeMap::new();
    let mut pauses: BTreeMap<&str, Option<u64>> = BTreeMap::new();
    let mut of_queues: BTreeMap<&str, Queues> = BTreeMap::new();
    let mut net = Vec::new();
    for line in said.lines() {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        if let Some(port) = key.strip_suffix(".queue") {
            of_queues.entry(port).or_default().extend(queues::counted(value));
            continue;
        }
        match key.strip_suffix(".pause") {
            _ if key == "net" => net.push(value),
            Some(port) => {
                let sum = pauses.entry(port).or_insert(Some(0));
                *sum = both(*sum, value.trim().parse().ok());
            }
            None => drop(values.insert(key, value.trim())),
        }
    }
    let text = |key: &str| values.get(key).copied().unwrap_or_default().to_owned();
    let port = |name: &&str| {
        let value = |key: &str| text(&format!("{name}.{key}"));
        let number = |key: &str| value(&format!("statistics/{key}")).parse::<u64>().ok();
        PortReading {
            mac: value("address"),
            has_carrier: value("carrier") == "1",
            speed: value("speed"),
            carrier_changes: value("carrier_changes").parse().ok(),
            received: both(number("rx_packets"), number("rx_missed_errors")),
            missed: both(number("rx_dropped"), number("rx_missed_errors")),
            sent: number("tx_packets"),
            refused: both(number("tx_dropped"), number("tx_errors")),
            pauses: pauses.get(name).copied().flatten(),
            queues: of_queues.get(name).cloned().unwrap_or_default(),
        }
    };
    let ports = ports.iter().map(port).collect();
    let moment = |key: &str| Moment::parse(values.get(key)?);
    let span = || {
        let processors = text("processors").parse().ok()?;
        Some(Span { processors, first: moment("first")?, last: moment("last")? })
    };
    let (boot, kernel) = (text("boot"), text("kernel"));
    Reading { boot, kernel, ports, drops: drops(&net), span: span() }
}

/// Counters of /proc/net/snmp and netstat, which hold a line of names and one of numbers for each
/// protocol, and of snmp6, which has a name and a number on each line.
fn drops(lines: &[&str]) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let mut keep = |name: String, value: &str| {
        if DROPS.contains(&name.as_str()) {
            found.extend(value.parse().ok().map(|value| (name, value)));
        }
    };
    let mut names: Option<(&str, Vec<&str>)> = None;
    for line in lines {
        let Some((protocol, rest)) = line.split_once(": ") else {
            if let Some((name, value)) = line.split_once(char::is_whitespace) {
                keep(name.to_owned(), value.trim());
            }
            continue;
        };
        let words: Vec<&str> = rest.split_whitespace().collect();
        match names.take() {
            Some((of, names)) if of == protocol => {
                for (name, value) in names.into_iter().zip(words) {
                    keep(format!("{protocol}.{name}"), value);
                }
            }
            _ => names = Some((protocol, words)),
        }
    }
    found
}
