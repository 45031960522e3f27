//! Route lookup crates that Rust programs use today.

use std::net::{Ipv4Addr, Ipv6Addr};

use fwdlab_fib::algo::Dump;
use fwdlab_fib::{Family, Inet, Inet6};
use fwdlab_lookups::{Contender, Keys, Origin};
use ip_network::{Ipv4Network, Ipv6Network};
use ip_network_table::IpNetworkTable;
use ipnet::{Ipv4Net, Ipv6Net};
use prefix_trie::PrefixMap;

/// The crate `ip_network_table` (a tree bitmap).
pub struct TreeBitmap(IpNetworkTable<u32>);

impl TreeBitmap {
    /// An IPv4 table.
    pub fn inet(dump: &Dump<Inet>) -> Self {
        let mut table = IpNetworkTable::new();
        for (prefix, nexthop) in dump.routes() {
            if let Ok(network) = Ipv4Network::new(Ipv4Addr::from(prefix.addr()), prefix.len()) {
                table.insert(network, nexthop.0);
            }
        }
        Self(table)
    }

    /// An IPv6 table.
    pub fn inet6(dump: &Dump<Inet6>) -> Self {
        let mut table = IpNetworkTable::new();
        for (prefix, nexthop) in dump.routes() {
            if let Ok(network) = Ipv6Network::new(Ipv6Addr::from(prefix.addr()), prefix.len()) {
                table.insert(network, nexthop.0);
            }
        }
        Self(table)
    }
}

/// The crate `prefix-trie`.
pub struct PrefixTrie<P: prefix_trie::Prefix>(PrefixMap<P, u32>);

impl PrefixTrie<Ipv4Net> {
    /// An IPv4 table.
    pub fn inet(dump: &Dump<Inet>) -> Self {
        let entry = |(prefix, nexthop): &(fwdlab_fib::Prefix<Inet>, fwdlab_fib::NexthopId)| {
            let net = Ipv4Net::new(Ipv4Addr::from(prefix.addr()), prefix.len()).ok()?;
            Some((net, nexthop.0))
        };
        Self(dump.routes().iter().filter_map(entry).collect())
    }
}

impl PrefixTrie<Ipv6Net> {
    /// An IPv6 table.
    pub fn inet6(dump: &Dump<Inet6>) -> Self {
        let entry = |(prefix, nexthop): &(fwdlab_fib::Prefix<Inet6>, fwdlab_fib::NexthopId)| {
            let net = Ipv6Net::new(Ipv6Addr::from(prefix.addr()), prefix.len()).ok()?;
            Some((net, nexthop.0))
        };
        Self(dump.routes().iter().filter_map(entry).collect())
    }
}

/// One address after the other; with `dependent` each waits for the answer before.
fn run<F: Family>(keys: &Keys<F>, dependent: bool, mut lookup: impl FnMut(F::Addr) -> u32) -> u64 {
    if dependent {
        let (nothing, mut last) = (fwdlab_lookups::Nothing::new(), 0);
        let dependent = keys.native().iter().map(|addr| {
            last = lookup(fwdlab_lookups::depend(*addr, last, nothing));
            u64::from(last)
        });
        return dependent.sum();
    }
    keys.native().iter().map(|addr| u64::from(lookup(*addr))).sum()
}

macro_rules! crate_peer {
    ($table:ty, $family:ty, $name:literal, |$map:ident, $addr:ident| $lookup:expr) => {
        impl Contender<$family> for $table {
            fn name(&self) -> &str {
                $name
            }
            fn origin(&self) -> Origin {
                Origin::Peer
            }
            fn nexthop_bits(&self) -> u32 {
                32
            }
            fn memory_bytes(&self) -> usize {
                0
            }
            fn batch(&mut self, keys: &Keys<$family>, _burst: usize) -> u64 {
                self.single(keys, false)
            }
            fn single(&mut self, keys: &Keys<$family>, dependent: bool) -> u64 {
                let $map = &self.0;
                run(keys, dependent, |$addr| $lookup)
            }
        }
    };
}

crate_peer!(TreeBitmap, Inet, "ip_network_table", |map, addr| {
    map.longest_match_ipv4(Ipv4Addr::from(addr)).map_or(0, |(_, nexthop)| *nexthop)
});
crate_peer!(TreeBitmap, Inet6, "ip_network_table", |map, addr| {
    map.longest_match_ipv6(Ipv6Addr::from(addr)).map_or(0, |(_, nexthop)| *nexthop)
});
crate_peer!(PrefixTrie<Ipv4Net>, Inet, "prefix-trie", |map, addr| {
    map.get_lpm(&Ipv4Net::from(Ipv4Addr::from(addr))).map_or(0, |(_, nexthop)| *nexthop)
});
crate_peer!(PrefixTrie<Ipv6Net>, Inet6, "prefix-trie", |map, addr| {
    map.get_lpm(&Ipv6Net::from(Ipv6Addr::from(addr))).map_or(0, |(_, nexthop)| *nexthop)
});
