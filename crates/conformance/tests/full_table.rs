//! Every algorithm on the real full table: millions of lookups against the ranges of the table, and
//! changes. Needs `../shared/data/bgp-table.txt.gz` beside the checkout.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![allow(clippy::unwrap_used, reason = "a test; what it reads was made for it")]

use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use fwdlab_conformance::edges;
use fwdlab_fib::algo::{Dump, ranges};
use fwdlab_fib::{
    Address, Choice, Family, Fib, Inet, Inet6, Nexthop, NexthopId, Prefix, Random, Reader,
};

/// Lookups for each algorithm in every test run, and in the long one.
const PROBES: usize = 1_000_000;
const ALL: usize = 10_000_000;
const SEED: u64 = 7;

/// The prefixes of a family, or nothing after saying why.
fn table<F: Family>(test: &str) -> Option<Vec<Prefix<F>>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/bgp-table.txt.gz");
    let Ok(file) = std::fs::File::open(&path) else {
        eprintln!("SKIPPED {test}: no {}", path.display());
        return None;
    };
    let lines = BufReader::new(GzDecoder::new(file)).lines();
    let is_of_family = |line: &String| line.contains(':') == (F::BITS == 128);
    let prefixes = lines.map(Result::unwrap).filter(is_of_family);
    Some(prefixes.map(|line| Prefix::parse_lenient(&line).unwrap()).collect())
}

/// Addresses of all kinds with their right answers.
fn questions<F: Family>(
    fib: &Fib<F>,
    lookups: usize,
    random: &mut Random,
) -> (Vec<F::Addr>, Vec<NexthopId>) {
    let dump: Dump<F> = fib.rib().dump();
    let ranges = ranges(&dump);
    let mut addrs: Vec<F::Addr> = Vec::with_capacity(lookups + 16);
    while addrs.len() < lookups {
        let prefix = dump.routes()[random.below(dump.len() as u64) as usize].0;
        addrs.extend(edges(&prefix, random));
        addrs.extend([random.addr_in(&prefix), random.addr_in(&prefix), random.addr::<F>()]);
    }
    let right = |addr: &F::Addr| ranges[ranges.partition_point(|range| range.0 <= *addr) - 1].1;
    let answers = addrs.iter().map(right).collect();
    (addrs, answers)
}

fn compare<F: Family>(reader: &mut Reader<F>, addrs: &[F::Addr], want: &[NexthopId], name: &str) {
    let mut got = vec![NexthopId::NONE; 256];
    for (addrs, want) in addrs.chunks(256).zip(want.chunks(256)) {
        reader.lookup_batch(addrs, &mut got);
        for ((addr, want), got) in addrs.iter().zip(want).zip(&got) {
            let host = Prefix::<F>::host(*addr);
            assert_eq!(got, want, "{name}, batch, {host}, seed {SEED}");
        }
        let single = reader.lookup(addrs[0]);
        assert_eq!(single, want[0], "{name}, single, {}", Prefix::<F>::host(addrs[0]));
    }
}

fn agrees<F: Family>(test: &str, lookups: usize) {
    let Some(prefixes) = table::<F>(test) else { return };
    let mut random = Random::new(SEED);
    let mut fib = Fib::<F>::new(0).unwrap();
    // Through gateways: routes to connected networks lead to a rebuild each.
    let nexthop = |random: &mut Random| {
        let port = random.below(500) as u16;
        Nexthop::via(F::Addr::truncate(port.into()), port)
    };
    fib.load(prefixes.iter().map(|&prefix| (prefix, nexthop(&mut random)))).unwrap();
    let mut reader = fib.reader();
    let (addrs, answers) = questions(&fib, lookups, &mut random);
    // Those that compare an address with every route would take days.
    let is_slow = |name: &str| name == "linear" || name.starts_with("vector");
    let names: Vec<_> = fib.algorithms().filter(|name| !is_slow(name)).collect();
    for name in names {
        if let Err(error) = fib.set_algorithm(Choice::Fixed(name.into())) {
            eprintln!("{test}: {error}");
            continue;
        }
        compare(&mut reader, &addrs, &answers, name);
        let deleted: Vec<_> =
            (0..500).map(|_| prefixes[random.below(prefixes.len() as u64) as usize]).collect();
        let before: Vec<_> = deleted.iter().map(|&prefix| fib.rib().exact(prefix)).collect();
        for &prefix in &deleted {
            let _deleted_twice = fib.delete(prefix);
        }
        fib.flush();
        for &prefix in &deleted {
            for addr in edges(&prefix, &mut random) {
                let want = fib.rib().longest_match(addr).map_or(NexthopId::NONE, |route| route.1);
                assert_eq!(reader.lookup(addr), want, "{name} after deleting {prefix}");
            }
        }
        for (&prefix, &id) in deleted.iter().zip(&before) {
            let _added_twice = fib.add(prefix, id);
        }
        fib.flush();
        compare(&mut reader, &addrs[..10_000], &answers[..10_000], name);
    }
}

#[test]
fn every_inet_algorithm_agrees_on_the_full_table() {
    agrees::<Inet>("every_inet_algorithm_agrees_on_the_full_table", PROBES);
}

#[test]
fn every_inet6_algorithm_agrees_on_the_full_table() {
    agrees::<Inet6>("every_inet6_algorithm_agrees_on_the_full_table", PROBES);
}

#[test]
#[ignore = "a minute: ten million lookups with each algorithm; run it with --release -- --ignored"]
fn every_inet_algorithm_agrees_in_ten_million_lookups() {
    agrees::<Inet>("every_inet_algorithm_agrees_in_ten_million_lookups", ALL);
}

#[test]
#[ignore = "a minute: ten million lookups with each algorithm; run it with --release -- --ignored"]
fn every_inet6_algorithm_agrees_in_ten_million_lookups() {
    agrees::<Inet6>("every_inet6_algorithm_agrees_in_ten_million_lookups", ALL);
}
