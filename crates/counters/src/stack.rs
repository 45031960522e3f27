//! What the network stack of a namespace counts, and what processors take, in the files of /proc/net.

use std::collections::BTreeMap;
use std::fs;

/// Counters of dropped packets in /proc/net/snmp and /proc/net/netstat, which hold a line of
/// names and a line of numbers for each protocol.
const PAIRED: [(&str, &str); 7] = [
    ("Ip", "InHdrErrors"),
    ("Ip", "InAddrErrors"),
    ("Ip", "InDiscards"),
    ("Ip", "OutDiscards"),
    ("Ip", "OutNoRoutes"),
    ("IpExt", "InNoRoutes"),
    ("TcpExt", "IPReversePathFilter"),
];

/// The same of IPv6 in /proc/net/snmp6, a name and a number on each line.
const SINGLE: [&str; 7] = [
    "Ip6InHdrErrors",
    "Ip6InNoRoutes",
    "Ip6InAddrErrors",
    "Ip6InTooBigErrors",
    "Ip6InDiscards",
    "Ip6OutDiscards",
    "Ip6OutNoRoutes",
];

/// What a namespace sends of its own accord, as it reports multicast listeners and looks for neighbours.
const OWN: [&str; 5] = [
    "Icmp6OutGroupMembReports",
    "Icmp6OutMLDv2Reports",
    "Icmp6OutRouterSolicits",
    "Icmp6OutNeighborSolicits",
    "Icmp6OutNeighborAdvertisements",
];

/// The texts of snmp, netstat and snmp6 of one namespace, as far as they can be read.
#[derive(Clone, Debug)]
pub struct StackCounters(pub [Option<String>; 3]);

impl StackCounters {
    /// Those of the calling thread's namespace.
    pub fn read() -> Self {
        // Below /proc/net are the counters of the process's first thread.
        let read = |name| fs::read_to_string(format!("/proc/thread-self/net/{name}")).ok();
        Self(["snmp", "netstat", "snmp6"].map(read))
    }

    /// The counters of drops that they hold; a kernel may lack some, and IPv6. `None` where those of IPv4
    /// cannot be read.
    pub fn drops(&self) -> Option<BTreeMap<String, u64>> {
        let [Some(snmp), Some(netstat), snmp6] = &self.0 else { return None };
        let (files, snmp6) = ([snmp, netstat], snmp6.as_deref().unwrap_or_default());
        let paired = PAIRED.iter().filter_map(|(protocol, name)| {
            let number = files.iter().find_map(|text| paired(text, protocol, name))?;
            Some((format!("{protocol}.{name}"), number))
        });
        let singles = SINGLE.iter();
        let singles = singles.filter_map(|name| Some(((*name).to_owned(), single(snmp6, name)?)));
        Some(paired.chain(singles).collect())
    }

    /// Messages of IPv6 that the namespace sent of its own accord, by any of its ports; 0 where the kernel does not
    /// say.
    pub fn own(&self) -> u64 {
        let snmp6 = self.0[2].as_deref().unwrap_or_default();
        OWN.iter().filter_map(|name| single(snmp6, name)).sum()
    }

    /// Packets that reached IP of either family, of which a kernel may lack one.
    pub fn packets(&self) -> Option<u64> {
        let [snmp, _, snmp6] = &self.0;
        let (snmp, snmp6) = (snmp.as_deref()?, snmp6.as_deref().unwrap_or_default());
        match (paired(snmp, "Ip", "InReceives"), single(snmp6, "Ip6InReceives")) {
            (Some(inet), Some(inet6)) => Some(inet + inet6),
            (inet, inet6) => inet.or(inet6),
        }
    }
}

/// A number of /proc/net/snmp or netstat.
fn paired(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let prefix = format!("{protocol}: ");
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(&prefix));
    let place = lines.next()?.split(' ').position(|other| other == name)?;
    lines.next()?.split(' ').nth(place)?.parse().ok()
}

/// The second hexadecimal number of each processor's line in /proc/net/softnet_stat.
pub fn backlog_drops(text: &str) -> u64 {
    let second = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok();
    text.lines().filter_map(second).sum()
}

/// The first hexadecimal number of each processor's line, by its number: the thirteenth of the line,
/// since Linux 5.10, before which lines stand in the order of processors.
pub fn processed(text: &str) -> Vec<(u32, u64)> {
    let of = |(at, line): (usize, &str)| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let frames = u64::from_str_radix(words.first()?, 16).ok()?;
        let cpu = words.get(12).and_then(|word| u32::from_str_radix(word, 16).ok());
        Some((cpu.unwrap_or(at as u32), frames))
    };
    text.lines().enumerate().filter_map(of).collect()
}

/// A number of /proc/net/snmp6.
fn single(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next()? == name).then(|| words.next()?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_below_or_beside_their_names() {
        let snmp = "Ip: Forwarding InHdrErrors\nIp: 1 42\nIcmp: InMsgs\nIcmp: 3\n";
        assert_eq!(paired(snmp, "Ip", "InHdrErrors"), Some(42));
        assert_eq!(paired(snmp, "Ip", "Missing"), None);
        let lines = "0000000a 0 0 0 0 0 0 0 0 0 0 0 00000002 0 0\n000000ff 0 0\n";
        assert_eq!(processed(lines), [(2, 10), (1, 255)]);
        assert_eq!(backlog_drops("00ff 0000000a 0\n01 00000001 0\n"), 11);
        let snmp6 = "Icmp6OutMsgs 9\nIcmp6OutMLDv2Reports 2\nIcmp6OutNeighborSolicits 1\n";
        assert_eq!(StackCounters([None, None, Some(snmp6.to_owned())]).own(), 3);
        assert_eq!(single("Ip6InReceives  \t 7\nIp6InNoRoutes 9\n", "Ip6InNoRoutes"), Some(9));
    }
}
