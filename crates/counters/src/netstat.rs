//! Counters of FreeBSD, as netstat(1) and ifconfig(8) say them. Names of ports are plain words.

use crate::queues::Queues;
use crate::reading::{PortReading, Reading};
use crate::sums::both;

/// Ports whose driver counts a frame as sent when it uses its room again, up to 5 s later (vtnet_txq_eof in
/// sys/dev/virtio/network/if_vtnet.c): frames of the warm-up would be counted in the trial.
const LATE: &str = "vtnet";

/// What netstat(1) and ifconfig(8) say, a line with a key before each.
pub fn script(ports: &[&str]) -> String {
    let mut script =
        String::from("echo \"boot $(sysctl -n kern.boottime)\"; echo \"kernel $(uname -r)\"\n");
    for name in ports {
        script.push_str(&format!(
            "echo \"{name}.if $(ifconfig {name} | tr '\\n\\t' '  ')\"\n\
             echo \"{name}.net $(netstat -I {name} -bdn | grep '<Link' | head -1)\"\n"
        ));
    }
    if ports.iter().any(|name| name.starts_with(LATE)) {
        script.push_str(
            "for p in ip ip6; do echo \"forwarded.$p $(netstat -sp $p | grep ' forwarded' | head -1)\"; done\n",
        );
    }
    script
}

/// What the host answered.
pub fn answers(said: &str, ports: &[&str]) -> Reading {
    let is_late = ports.get(1).is_some_and(|name| name.starts_with(LATE));
    let value = |key: &str| {
        let found = said.lines().find_map(|line| line.strip_prefix(&format!("{key} ")));
        found.unwrap_or_default().to_owned()
    };
    let port = |name: &&str| {
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
