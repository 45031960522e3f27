//! What the device counts, and what of it can change behind a trial's back: its boot, its links.

use std::collections::BTreeMap;

use fwdlab_results::{FailureKind, Queue, counter};

use super::queues::{self, Queues};
use super::work::{self, Moment, Span, Work};
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
    /// When it was read and how long its processors had been idle, where that is what frames cost.
    pub span: Option<Span>,
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
    /// Frames received, those that it had no room for included; this and what follows where the
    /// system says it.
    pub received: Option<u64>,
    /// Of these, such as it had no room for.
    pub missed: Option<u64>,
    /// Frames sent.
    pub sent: Option<u64>,
    /// Frames that it was to send and could not.
    pub refused: Option<u64>,
    /// Pause frames, which some drivers count.
    pub pauses: Option<u64>,
    /// Frames received by queue, which some drivers count.
    pub queues: Queues,
}

/// What happened between two readings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Frames that the first port received, where that was counted.
    pub received: Option<u64>,
    /// Frames that the second port sent, where that was counted.
    pub sent: Option<u64>,
    /// Frames dropped, by reason; `None` where ports do not count all of theirs.
    pub drops: Option<BTreeMap<String, u64>>,
    /// Pause frames on any port that counts them.
    pub pauses: Option<u64>,
    /// Frames by receive queue of the first port, where they are counted and there are several.
    pub queues: Vec<Queue>,
    /// What its processors did, where that is what frames cost.
    pub work: Option<Work>,
    /// Counters that went backwards, in words.
    pub warnings: Vec<String>,
}

/// Reads everything, by one command.
///
/// # Errors
/// When the connection breaks, or a port is not there.
pub fn read(host: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<Reading> {
    let ports = host.host.ports.clone();
    let asked: Vec<&TestPort> =
        ports.iter().filter(|port| !host.ports_without_statistics.contains(&port.name)).collect();
    let script = match host.host.os {
        System::Linux => linux(&ports, &asked, host.host.is_cost_of_host),
        System::Freebsd | System::Bsdrp => freebsd(&ports),
    };
    let said = host.ask(&script, is_stopped)?;
    match host.host.os {
        System::Linux => {
            let reading = of_linux(&said, &ports);
            // Three processes for each port and reading are saved: a driver does not learn to count.
            let says_nothing = |seen: &PortReading| seen.pauses.is_none() && seen.queues.is_empty();
            let silent = ports.iter().zip(&reading.ports).filter(|(_, seen)| says_nothing(seen));
            host.ports_without_statistics.extend(silent.map(|(port, _)| port.name.clone()));
            Ok(reading)
        }
        System::Freebsd | System::Bsdrp => Ok(of_freebsd(&said, &ports)),
    }
}

/// Lines `key value`, by builtins of the shell: nothing is started for each of them.
fn linux(ports: &[TestPort], with_statistics: &[&TestPort], with_work: bool) -> String {
    let now = |word| format!("read v < /proc/uptime; echo \"{word} $v\"\n");
    let mut script = if with_work { now("first") } else { String::new() };
    script.push_str(
        "read v < /proc/sys/kernel/random/boot_id; echo \"boot $v\"\n\
         read v < /proc/sys/kernel/osrelease; echo \"kernel $v\"\n",
    );
    for port @ TestPort { name, .. } in ports {
        let dir = quoted(&format!("/sys/class/net/{name}"));
        script.push_str(&format!(
            "for c in address carrier speed carrier_changes statistics/rx_packets \
             statistics/rx_dropped statistics/rx_missed_errors statistics/tx_packets \
             statistics/tx_dropped statistics/tx_errors; do v=; \
             {{ read v < {dir}/$c; }} 2>/dev/null; echo \"{name}.$c $v\"; done\n"
        ));
        if !with_statistics.contains(&port) {
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

fn of_linux(said: &str, ports: &[TestPort]) -> Reading {
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
    let port = |TestPort { name, .. }: &TestPort| {
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
            pauses: pauses.get(name.as_str()).copied().flatten(),
            queues: of_queues.get(name.as_str()).cloned().unwrap_or_default(),
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

/// The sum of two counters; `None` without one of them.
fn both(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.zip(b).map(|(a, b)| a.saturating_add(b))
}

/// What was added to a counter; `None` when it was not read before and after, or went backwards.
pub fn added(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    before.zip(after).and_then(|(before, after)| counter::added(before, after))
}

/// The counters that went backwards between two readings, in words.
fn went_back(before: &Reading, after: &Reading) -> Vec<String> {
    let ports = before.ports.iter().zip(&after.ports).zip(["first", "second"]);
    let ports = ports.flat_map(|((then, now), name)| {
        let all = [
            ("received", then.received, now.received),
            ("missed", then.missed, now.missed),
            ("sent", then.sent, now.sent),
            ("refused", then.refused, now.refused),
            ("pauses", then.pauses, now.pauses),
        ];
        all.map(|(what, then, now)| (format!("{what} of the {name} port"), then, now))
    });
    let reasons = before
        .drops
        .iter()
        .map(|(reason, then)| (reason.clone(), Some(*then), after.drops.get(reason).copied()));
    let back = ports.chain(reasons).filter_map(|(name, then, now)| {
        let (then, now) = (then?, now?);
        let is_back = counter::added(then, now).is_none();
        is_back.then(|| {
            format!(
                "the device's counter {name} went back from {then} to {now} in the trial: what it \
                 counted is not known"
            )
        })
    });
    back.collect()
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

/// Ports whose driver counts a frame as sent when it uses its room again, up to 5 s later (vtnet_txq_eof in
/// sys/dev/virtio/network/if_vtnet.c): frames of the warm-up would be counted in the trial.
const LATE: &str = "vtnet";

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
    if ports.iter().any(|port| port.name.starts_with(LATE)) {
        script.push_str(
            "for p in ip ip6; do echo \"forwarded.$p $(netstat -sp $p | grep ' forwarded' | head -1)\"; done\n",
        );
    }
    script
}

fn of_freebsd(said: &str, ports: &[TestPort]) -> Reading {
    let is_late = ports.get(1).is_some_and(|port| port.name.starts_with(LATE));
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
        let number = |at: usize| words.get(at).and_then(|word| word.parse().ok());
        let missed = both(number(5), number(6));
        PortReading {
            mac: after("ether ").unwrap_or_default().to_owned(),
            has_carrier: shown.contains("status: active"),
            speed: speed.unwrap_or_default().to_owned(),
            carrier_changes: None,
            received: both(number(4), missed),
            missed,
            sent: number(8),
            refused: both(number(9), number(12)),
            pauses: None,
            queues: Queues::new(),
        }
    };
    let mut ports: Vec<PortReading> = ports.iter().map(port).collect();
    let forwarded = |family: &str| {
        let said = value(&format!("forwarded.{family}"));
        said.split_whitespace().next()?.parse::<u64>().ok()
    };
    let families = [forwarded("ip"), forwarded("ip6")];
    // A family that is not in the kernel forwards nothing; what a port refused was not forwarded.
    let all = families.iter().flatten().copied().reduce(|a, b| a.saturating_add(b));
    if let (Some(all), Some(second)) = (all, ports.get_mut(1).filter(|_| is_late)) {
        second.sent = Some(all);
    }
    Reading { boot: value("boot"), kernel: value("kernel"), ports, ..Reading::default() }
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
    let work = before.span.zip(after.span).and_then(|(then, now)| work::between(&then, &now));
    let mut change = Change { work, warnings: went_back(before, after), ..Change::default() };
    for (then, now) in before.ports.iter().zip(&after.ports) {
        if !now.has_carrier || then.carrier_changes != now.carrier_changes {
            return Err(RemoteError::failed(
                FailureKind::LinkLost,
                role,
                "a link of the test network went down in the trial",
                "look at cables and speeds",
            ));
        }
        change.pauses = match (change.pauses, added(then.pauses, now.pauses)) {
            (Some(others), Some(pauses)) => Some(others + pauses),
            (others, pauses) => others.or(pauses),
        };
    }
    if let ([first, second], [first_then, second_then]) = (&after.ports[..], &before.ports[..]) {
        change.received = added(first_then.received, first.received);
        change.queues = queues::added(&first_then.queues, &first.queues);
        change.sent = added(second_then.sent, second.sent);
        let missed = added(first_then.missed, first.missed);
        let refused = added(second_then.refused, second.refused);
        change.drops = missed.zip(refused).map(|(missed, refused)| {
            let ports =
                [("no room at the first port", missed), ("no room at the second port", refused)];
            let ports = ports.map(|(reason, count)| (reason.to_owned(), count));
            let ip = after.drops.iter().filter_map(|(reason, count)| {
                let more = added(before.drops.get(reason).copied(), Some(*count))?;
                Some((reason.clone(), more))
            });
            ip.chain(ports).filter(|(_, count)| *count > 0).collect()
        });
        // Of reasons of which one is not known, the sum is not known.
        let is_back = |reason: &String| {
            let (then, now) = (before.drops.get(reason), after.drops.get(reason));
            then.zip(now).is_some_and(|(then, now)| counter::added(*then, *now).is_none())
        };
        if before.drops.keys().any(is_back) {
            change.drops = None;
        }
    }
    if let (Some(received), Some(sent), Some(drops)) =
        (change.received, change.sent, &mut change.drops)
    {
        let known: u64 = drops.values().sum();
        let lost = received.saturating_sub(sent);
        if lost > known {
            drops.insert("elsewhere".to_owned(), lost - known);
        }
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
            igb1.pause 3\nigb1.queue rx_queue_0_packets: 60\nigb1.queue rx_queue_1_packets: 40\n\
            igb1.queue rx_queue_1_xdp_packets: 1\nigb2.carrier \nigb2.statistics/tx_packets 90\n\
            net Ip: Forwarding InHdrErrors\nnet Ip: 1 7\nnet Ip6InNoRoutes \t 9\n";
        let reading = of_linux(said, &ports());
        assert_eq!((reading.boot.as_str(), reading.kernel.as_str()), ("11-22", "6.1.0"));
        let first = &reading.ports[0];
        assert_eq!((first.received, first.missed, first.pauses), (Some(105), Some(7), Some(7)));
        assert_eq!(first.queues, Queues::from([(0, 60), (1, 40)]));
        assert!(first.has_carrier && !reading.ports[1].has_carrier);
        assert_eq!(reading.ports[1].sent, Some(90));
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
        let counted = [port.received, port.missed, port.sent, port.refused];
        assert_eq!(counted, [107, 7, 90, 3].map(Some));
    }

    #[test]
    fn of_a_port_that_counts_late_what_ip_forwarded_is_what_it_sent() {
        let said = "vtnet1.net vtnet1 1500 <Link#2> 02:00:00:00:00:01 100 0 0 6400 1 0 60 0 0\n\
            vtnet2.net vtnet2 1500 <Link#3> 02:00:00:00:00:01 0 0 0 0 40 0 2400 0 2\n\
            forwarded.ip 90 packets forwarded (90 packets fast forwarded)\n";
        let mut both = ports();
        (both[0].name, both[1].name) = ("vtnet1".to_owned(), "vtnet2".to_owned());
        assert!(freebsd(&both).contains("netstat -sp $p") && !freebsd(&ports()).contains("-sp"));
        let sent = |said: &str| of_freebsd(said, &both).ports[1].sent;
        assert_eq!(sent(said), Some(90));
        assert_eq!(sent(&format!("{said}forwarded.ip6 7 packets forwarded\n")), Some(97));
        let (mute, _) = said.split_once("forwarded.").expect("counted");
        assert_eq!(sent(mute), Some(40), "what the port says");
        assert_eq!(of_freebsd(said, &both).ports[0].sent, Some(1));
    }

    #[test]
    fn what_a_port_does_not_say_is_absent_and_not_0() {
        let said = "igb1.carrier 1\nigb1.statistics/rx_packets 100\n\
            igb1.statistics/rx_missed_errors \nigb1.statistics/tx_packets many\nigb1.pause 4\n\
            igb1.pause ?\nigb2.statistics/tx_packets 9\nnet Ip: InHdrErrors InDiscards\n\
            net Ip: - 7\n";
        let reading = of_linux(said, &ports());
        let first = &reading.ports[0];
        let counted = [first.received, first.missed, first.sent, first.refused, first.pauses];
        assert_eq!(counted, [None; 5]);
        assert_eq!(reading.ports[1].sent, Some(9));
        assert_eq!(reading.drops, BTreeMap::from([("Ip.InDiscards".to_owned(), 7)]));
        let said = "igb1.net igb1 1500 <Link#2> 02:00:00:00:00:01 100 3 - 6400 90 1 5760\n";
        let port = &of_freebsd(said, &ports()[..1]).ports[0];
        let counted = [port.received, port.missed, port.sent, port.refused];
        assert_eq!(counted, [None, None, Some(90), None]);
    }

    #[test]
    fn changes_of_absent_counters_are_absent() {
        let reading = |received, sent, missed, drops: &[(&str, u64)]| {
            let port = PortReading { has_carrier: true, ..PortReading::default() };
            Reading {
                ports: vec![
                    PortReading { received, missed, ..port.clone() },
                    PortReading { sent, refused: Some(0), ..port },
                ],
                drops: drops.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
                ..Reading::default()
            }
        };
        let of = |before, after| change("dut", &before, &after).expect("a change");
        let ip = [("Ip.InDiscards", 9)];
        let found =
            of(reading(None, Some(1), None, &ip), reading(Some(100), Some(91), Some(5), &ip));
        assert_eq!((found.received, found.sent, found.drops), (None, Some(90), None));
        assert_eq!(found.pauses, None, "no port counts them");
        // What was not counted before says nothing, and what is unknown is not "elsewhere".
        let found = of(reading(None, Some(1), Some(0), &[]), reading(None, Some(91), Some(5), &ip));
        let drops = BTreeMap::from([("no room at the first port".to_owned(), 5)]);
        assert_eq!(found.drops, Some(drops));
    }

    #[test]
    fn a_counter_that_went_backwards_is_absent_with_a_word_why() {
        let reading = |received, sent, discards| {
            let port = PortReading {
                has_carrier: true,
                missed: Some(0),
                refused: Some(0),
                ..PortReading::default()
            };
            Reading {
                ports: vec![
                    PortReading { received: Some(received), ..port.clone() },
                    PortReading { sent: Some(sent), ..port },
                ],
                drops: [("Ip.InDiscards".to_owned(), discards)].into(),
                ..Reading::default()
            }
        };
        let found = change("dut", &reading(500, 10, 3), &reading(20, 90, 4)).expect("a change");
        assert_eq!((found.received, found.sent), (None, Some(80)));
        let drops = found.drops.expect("counted");
        assert_eq!(drops, BTreeMap::from([("Ip.InDiscards".to_owned(), 1)]), "none elsewhere");
        let [why] = &found.warnings[..] else { panic!("{:?}", found.warnings) };
        assert!(why.contains("received of the first port went back from 500 to 20"), "{why}");
        let found = change("dut", &reading(0, 0, 9), &reading(50, 40, 1)).expect("a change");
        assert_eq!((found.received, found.drops), (Some(50), None), "drops that nobody knows");
        assert!(found.warnings[0].contains("Ip.InDiscards"), "{:?}", found.warnings);
    }

    #[test]
    fn a_boot_or_a_lost_link_in_the_trial_is_noticed_and_losses_have_a_reason() {
        let reading = |boot: &str, received, sent, changes| Reading {
            boot: boot.to_owned(),
            ports: vec![
                PortReading {
                    has_carrier: true,
                    received: Some(received),
                    missed: Some(0),
                    carrier_changes: Some(changes),
                    ..PortReading::default()
                },
                PortReading {
                    has_carrier: true,
                    sent: Some(sent),
                    refused: Some(0),
                    ..PortReading::default()
                },
            ],
            ..Reading::default()
        };
        let before = reading("a", 10, 10, 1);
        let found = change("dut", &before, &reading("a", 110, 100, 1)).expect("a change");
        assert_eq!((found.received, found.sent), (Some(100), Some(90)));
        assert_eq!(found.drops.expect("counted")["elsewhere"], 10);
        let kind = |after: &Reading| change("dut", &before, after).expect_err("broken").kind();
        assert_eq!(kind(&reading("b", 110, 110, 1)), Some(FailureKind::DutRebooted));
        assert_eq!(kind(&reading("a", 110, 110, 3)), Some(FailureKind::LinkLost));
    }
}
