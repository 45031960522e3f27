//! The peers of the comparison, built from the same table as our algorithms.

mod authors;
mod crates;
#[cfg(dpdk)]
pub mod dpdk;

use fwdlab_fib::algo::Dump;
use fwdlab_fib::{Inet, Inet6};
use fwdlab_lookups::{Contender, Recipe};

/// What can be measured here, in one sentence.
pub fn describe() -> String {
    let version = option_env!("FWDLAB_DPDK_VERSION");
    let dpdk = version.map_or("no DPDK (install libdpdk-dev)".into(), |v| format!("DPDK {v}"));
    let authors = authors::describe();
    let authors = match authors.is_empty() {
        true => "nobody's own lookup code (name directories with --peer)".into(),
        false => authors.join(", "),
    };
    format!("{dpdk}; {authors}; crates ip_network_table 0.2 and prefix-trie 0.10")
}

/// Recipes of the IPv4 peers for a table of `routes` routes.
pub fn inet(routes: usize, cpu: u32) -> Vec<Recipe<Inet>> {
    let mut all: Vec<Recipe<Inet>> = Vec::new();
    #[cfg(dpdk)]
    if dpdk::start(cpu) {
        for &variant in dpdk::INET.iter().filter(|v| !v.is_too_slow_for(routes)) {
            let build = move |dump: &Dump<Inet>| {
                let fits = dump.highest_nexthop() >> variant.nexthop_bits() == 0;
                let table = fits.then(|| dpdk::Dpdk::inet(variant, dump))??;
                Some(Box::new(table) as Box<dyn Contender<Inet>>)
            };
            all.push((variant.name(), Box::new(build)));
        }
    }
    let _ = (routes, cpu);
    all.extend(authors::inet());
    all.push(("ip_network_table", Box::new(|dump| Some(Box::new(crates::TreeBitmap::inet(dump))))));
    all.push(("prefix-trie", Box::new(|dump| Some(Box::new(crates::PrefixTrie::inet(dump))))));
    all
}

/// Recipes of the IPv6 peers for a table of `routes` routes.
pub fn inet6(routes: usize, cpu: u32) -> Vec<Recipe<Inet6>> {
    let mut all: Vec<Recipe<Inet6>> = Vec::new();
    #[cfg(dpdk)]
    if dpdk::start(cpu) {
        for &variant in dpdk::INET6.iter().filter(|v| !v.is_too_slow_for(routes)) {
            let build = move |dump: &Dump<Inet6>| {
                let fits = dump.highest_nexthop() >> variant.nexthop_bits() == 0;
                let table = fits.then(|| dpdk::Dpdk::inet6(variant, dump))??;
                Some(Box::new(table) as Box<dyn Contender<Inet6>>)
            };
            all.push((variant.name(), Box::new(build)));
        }
    }
    let _ = (routes, cpu);
    all.extend(authors::inet6());
    all.push((
        "ip_network_table",
        Box::new(|dump| Some(Box::new(crates::TreeBitmap::inet6(dump)))),
    ));
    all.push(("prefix-trie", Box::new(|dump| Some(Box::new(crates::PrefixTrie::inet6(dump))))));
    all
}
