//! What the device counts, and what of it can change behind a trial's back: its boot, its links.

use std::collections::BTreeMap;

use fwdlab_results::FailureKind;

use crate::host::Connected;
use crate::ssh::quoted;
use crate::testbed::{System, TestPort};
use crate::{RemoteError, Result};

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

/// What the device answers at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// What is another one after each boot.
    pub boot: String,
    /// `uname -r`.
    pub kernel: String,
    /// Each port.
    pub ports: Vec<PortReading>,
    /// Packets that IP dropped, by reason.
    pub drops: BTreeMap<String, u64>,
}

/// What the device answers about one port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortReading {
    /// Its MAC address.
    pub mac: String,
    /// Whether its link is up.
    pub has_carrier: bool,
    /// Its speed, in the words of its system.
    pub speed: String,
    /// How often its link changed, where the system counts that.
    pub carrier_changes: Option<u64>,
    /// Frames received, those that it had no room for included.
    pub received: u64,
    /// Of these, such as it had no room for.
    pub missed: u64,
    /// Frames sent.
    pub sent: u64,
    /// Frames that it was to send and could not.
    pub refused: u64,
    /// Pause frames, where the driver counts them.
    pub pauses: Option<u64>,
}

/// What happened between two readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Frames that the first port received.
    pub received: u64,
    /// Frames that the second port sent.
    pub sent: u64,
    /// Frames dropped, by reason.
    pub drops: BTreeMap<String, u64>,
    /// Pause frames on any port.
    pub pauses: u64,
}

/// Reads everything, by one command.
///
/// # Errors
/// When the connection breaks, or a port is not there.
pub fn read(host: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<Reading> {
    let ports = host.host.ports.clone();
    let script = match host.host.os {
        System::Linux => linux(&ports),
        System::Freebsd | System::Bsdrp => freebsd(&ports),
    };
    let said = host.ask(&script, is_stopped)?;
    match host.host.os {
        System::Linux => Ok(of_linux(&said, &ports)),
        System::Freebsd | System::Bsdrp => Ok(of_freebsd(&said, &ports)),
    }
}

/// Lines `key value`, by builtins of the shell: nothing is started for each of them.
fn linux(ports: &[TestPort]) -> String {
    let mut script = String::from(
        "read v < /proc/sys/kernel/random/boot_id; echo \"boot $v\"\n\
         read v < /proc/sys/kernel/osrelease; echo \"kernel $v\"\n",
    );
    for TestPort { name, .. } in ports {
        let dir = quoted(&format!("/sys/class/net/{name}"));
        script.push_str(&format!(
            "for c in address carrier speed carrier_changes statistics/rx_packets \
             statistics/rx_dropped statistics/rx_missed_errors statistics/tx_packets \
             statistics/tx_dropped statistics/tx_errors; do v=; \
             {{ read v < {dir}/$c; }} 2>/dev/null; echo \"{name}.$c $v\"; done\n\
             if command -v ethtool >/dev/null; then ethtool -S {name} 2>/dev/null | \
             while read -r k v; do case $k in *pause*|*flow_control*|*xoff*) \
             echo \"{name}.pause $v\";; esac; done; fi\n"
        ));
    }
    script.push_str(
        "for f in snmp netstat snmp6; do { while read -r l; do echo \"net $l\"; done \
         < /proc/net/$f; } 2>/dev/null; done; :\n",
    );
    script
}

fn of_linux(said: &str, ports: &[TestPort]) -> Reading {
    let mut values: BTreeMap<&str, &str> = BTreeMap::new();
    let mut pauses: BTreeMap<&str, u64> = BTreeMap::new();
    let mut net = Vec::new();
    for line in said.lines() {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        match key.strip_suffix(".pause") {
            _ if key == "net" => net.push(value),
            Some(port) => *pauses.entry(port).or_default() += value.trim().parse().unwrap_or(0),
            None => drop(values.insert(key, value.trim())),
        }
    }
    let text = |key: &str| values.get(key).copied().unwrap_or_default().to_owned();
    let port = |TestPort { name, .. }: &TestPort| {
        let value = |key: &str| text(&format!("{name}.{key}"));
        let number = |key: &str| value(&format!("statistics/{key}")).parse::<u64>().unwrap_or(0);
        let missed = number("rx_dropped") + number("rx_missed_errors");
        PortReading {
            mac: value("address"),
            has_carrier: value("carrier") == "1",
            speed: value("speed"),
            carrier_changes: value("carrier_changes").parse().ok(),
            received: number("rx_packets") + number("rx_missed_errors"),
            missed,
            sent: number("tx_packets"),
            refused: number("tx_dropped") + number("tx_errors"),
            pauses: pauses.get(name.as_str()).copied(),
        }
    };
    let ports = ports.iter().map(port).collect();
    Reading { boot: text("boot"), kernel: text("kernel"), ports, drops: drops(&net) }
}

/// Counters of /proc/net/snmp and netstat, which hold a line of names and one of numbers for each
/// protocol, and of snmp6, which has a name and a number on each line.
fn drops(lines: &[&str]) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let mut keep = |name: String, value: &str| {
        if DROPS.contains(&name.as_str()) {
            found.insert(name, value.parse().unwrap_or(0));
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

/// What netstat(1) and ifconfig(8) say, a line with a key before each.
fn freebsd(ports: &[TestPort]) -> String {
    let mut script =
        String::from("echo \"boot $(sysctl -n kern.boottime)\"; echo \"kernel $(uname -r)\"\n");
    for TestPort { name, .. } in ports {
        script.push_str(&format!(
            "echo \"{name}.if $(ifconfig {name} | tr '\\n\\t' '  ')\"\n\
             echo \"{name}.net $(netstat -I {name} -bdn | grep '<Link' | head -1)\"\n"
        ));
    }
    script
}

fn of_freebsd(said: &str, ports: &[TestPort]) -> Reading {
    let value = |key: &str| {
        let found = said.lines().find_map(|line| line.strip_prefix(&format!("{key} ")));
        found.unwrap_or_default().to_owned()
    };
    let port = |TestPort { name, .. }: &TestPort| {
        let shown = value(&format!("{name}.if"));
        let after = |word: &str| {
            shown.split_once(word).and_then(|(_, rest)| rest.split_whitespace().next())
        };
        let media = shown.split_once("media: ").map_or("", |(_, rest)| rest);
        let speed = media.split_once('(').and_then(|(_, rest)| rest.split([')', ' ']).next());
        let counts = value(&format!("{name}.net"));
        let words: Vec<&str> = counts.split_whitespace().collect();
        // Name Mtu Network Address Ipkts Ierrs Idrop Ibytes Opkts Oerrs Obytes Coll Drop
        let number = |at: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(0);
        let missed = number(5) + number(6);
        PortReading {
            mac: after("ether ").unwrap_or_default().to_owned(),
            has_carrier: shown.contains("status: active"),
            speed: speed.unwrap_or_default().to_owned(),
            carrier_changes: None,
            received: number(4) + missed,
            missed,
            sent: number(8),
            refused: number(9) + number(12),
            pauses: None,
        }
    };
    let ports = ports.iter().map(port).collect();
    Reading { boot: value("boot"), kernel: value("kernel"), ports, drops: BTreeMap::new() }
}

/// What happened between two readings.
///
/// # Errors
/// When the device booted or lost a link in between.
pub fn change(role: &'static str, before: &Reading, after: &Reading) -> Result<Change> {
    if before.boot != after.boot {
        return Err(RemoteError::failed(
            FailureKind::DutRebooted,
            role,
            "it booted in the middle of the trial",
            "look at its console",
        ));
    }
    let mut change = Change::default();
    for (then, now) in before.ports.iter().zip(&after.ports) {
        if !now.has_carrier || then.carrier_changes != now.carrier_changes {
            return Err(RemoteError::failed(
                FailureKind::LinkLost,
                role,
                "a link of the test network went down in the trial",
                "look at cables and speeds",
            ));
        }
        let pauses = now.pauses.zip(then.pauses).map(|(now, then)| now.saturating_sub(then));
        change.pauses += pauses.unwrap_or(0);
    }
    for (reason, count) in &after.drops {
        let more = count.saturating_sub(before.drops.get(reason).copied().unwrap_or(0));
        if more > 0 {
            change.drops.insert(reason.clone(), more);
        }
    }
    if let ([first, second], [first_then, second_then]) = (&after.ports[..], &before.ports[..]) {
        change.received = first.received.saturating_sub(first_then.received);
        change.sent = second.sent.saturating_sub(second_then.sent);
        let missed = first.missed.saturating_sub(first_then.missed);
        let refused = second.refused.saturating_sub(second_then.refused);
        for (reason, count) in
            [("no room at the first port", missed), ("no room at the second port", refused)]
        {
            if count > 0 {
                change.drops.insert(reason.to_owned(), count);
            }
        }
    }
    let known: u64 = change.drops.values().sum();
    let lost = change.received.saturating_sub(change.sent);
    if lost > known {
        change.drops.insert("elsewhere".to_owned(), lost - known);
    }
    Ok(change)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports() -> Vec<TestPort> {
        let port = |name: &str| TestPort {
            name: name.to_owned(),
            mac: "02:00:00:00:00:01".parse().expect("an address"),
        };
        vec![port("igb1"), port("igb2")]
    }

    #[test]
    fn answers_of_linux_are_read() {
        let said = "boot 11-22\nkernel 6.1.0\nigb1.address 02:00:00:00:00:01\nigb1.carrier 1\n\
            igb1.speed 1000\nigb1.carrier_changes 3\nigb1.statistics/rx_packets 100\n\
            igb1.statistics/rx_dropped 2\nigb1.statistics/rx_missed_errors 5\nigb1.pause 4\n\
            igb1.pause 3\nigb2.carrier \nigb2.statistics/tx_packets 90\n\
            net Ip: Forwarding InHdrErrors\nnet Ip: 1 7\nnet Ip6InNoRoutes \t 9\n";
        let reading = of_linux(said, &ports());
        assert_eq!((reading.boot.as_str(), reading.kernel.as_str()), ("11-22", "6.1.0"));
        let first = &reading.ports[0];
        assert_eq!((first.received, first.missed, first.pauses), (105, 7, Some(7)));
        assert!(first.has_carrier && !reading.ports[1].has_carrier);
        assert_eq!(reading.ports[1].sent, 90);
        assert_eq!(reading.drops["Ip.InHdrErrors"], 7);
        assert_eq!(reading.drops["Ip6InNoRoutes"], 9);
    }

    #[test]
    fn answers_of_freebsd_are_read() {
        let said = "boot { sec = 1700000000, usec = 1 } Sat Nov 18\nkernel 14.1-RELEASE\n\
            igb1.if igb1: flags=8863<UP> metric 0 mtu 1500  ether 02:00:00:00:00:01  \
            media: Ethernet autoselect (1000baseT <full-duplex>)  status: active\n\
            igb1.net igb1 1500 <Link#2> 02:00:00:00:00:01 100 3 4 6400 90 1 5760 0 2\n";
        let reading = of_freebsd(said, &ports()[..1]);
        let port = &reading.ports[0];
        assert_eq!(port.mac, "02:00:00:00:00:01");
        assert_eq!((port.speed.as_str(), port.has_carrier), ("1000baseT", true));
        assert_eq!((port.received, port.missed, port.sent, port.refused), (107, 7, 90, 3));
    }

    #[test]
    fn a_boot_or_a_lost_link_in_the_trial_is_noticed_and_losses_have_a_reason() {
        let reading = |boot: &str, received, sent, changes| Reading {
            boot: boot.to_owned(),
            ports: vec![
                PortReading {
                    has_carrier: true,
                    received,
                    carrier_changes: Some(changes),
                    ..PortReading::default()
                },
                PortReading { has_carrier: true, sent, ..PortReading::default() },
            ],
            ..Reading::default()
        };
        let before = reading("a", 10, 10, 1);
        let found = change("dut", &before, &reading("a", 110, 100, 1)).expect("a change");
        assert_eq!((found.received, found.sent, found.drops["elsewhere"]), (100, 90, 10));
        let kind = |after: &Reading| change("dut", &before, after).expect_err("broken").kind();
        assert_eq!(kind(&reading("b", 110, 110, 1)), Some(FailureKind::DutRebooted));
        assert_eq!(kind(&reading("a", 110, 110, 3)), Some(FailureKind::LinkLost));
    }
}
