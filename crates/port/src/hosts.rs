//! What the host itself does with an interface, so that a tester does not disturb it.

use std::io;
use std::net::IpAddr;

/// Why frames on this interface would meet the host's own traffic: it carries a default route, or
/// an address other than a link-local one. `None` when nothing speaks against it.
///
/// # Errors
/// The addresses cannot be read.
pub fn is_in_use(interface: &str) -> io::Result<Option<String>> {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let has_default = default_inet(&read("/proc/net/route"), interface)
        || default_inet6(&read("/proc/net/ipv6_route"), interface);
    if has_default {
        return Ok(Some("the host's default route leads through it".to_owned()));
    }
    let addresses = crate::sys::addresses::of(interface)?;
    let is_own = |address: &&IpAddr| match address {
        IpAddr::V4(address) => !address.is_link_local(),
        IpAddr::V6(address) => !address.is_unicast_link_local(),
    };
    Ok(addresses
        .iter()
        .find(is_own)
        .map(|address| format!("the host has the address {address} on it")))
}

/// /proc/net/route: interface, destination, gateway, flags, ..., mask as the eighth word.
fn default_inet(table: &str, interface: &str) -> bool {
    table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).any(|words| {
        words.first() == Some(&interface)
            && words.get(1) == Some(&"00000000")
            && words.get(7) == Some(&"00000000")
    })
}

/// /proc/net/ipv6_route: destination, its length, ..., the interface last. The default route of the
/// loopback interface stands for "unreachable".
fn default_inet6(table: &str, interface: &str) -> bool {
    table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).any(|words| {
        let is_default = words.first().is_some_and(|to| to.bytes().all(|digit| digit == b'0'))
            && words.get(1) == Some(&"00");
        is_default && words.last() == Some(&interface) && interface != "lo"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_routes_are_found_by_their_interface() {
        let table = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n\
                     eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
                     eth1\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0\n";
        assert!(default_inet(table, "eth0"));
        assert!(!default_inet(table, "eth1") && !default_inet(table, "eth"));
        let zeros = "0".repeat(32);
        let table = format!(
            "{zeros} 00 {zeros} 00 fe800000000000000000000000000001 00000400 0 0 00450003 eth0\n\
             {zeros} 00 {zeros} 00 {zeros} ffffffff 00000001 00000000 00200200 lo\n\
             {zeros} 40 {zeros} 00 {zeros} 00000100 0 0 00000001 eth1\n"
        );
        assert!(default_inet6(&table, "eth0"));
        assert!(!default_inet6(&table, "eth1") && !default_inet6(&table, "lo"));
    }

    #[test]
    fn the_loopback_interface_carries_an_address() {
        let reason = is_in_use("lo").unwrap();
        let addresses = crate::sys::addresses::of("lo").unwrap();
        assert_eq!(reason.is_some(), !addresses.is_empty(), "{reason:?} {addresses:?}");
        assert_eq!(is_in_use("nosuch0").unwrap(), None);
    }
}
