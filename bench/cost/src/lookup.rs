//! Lookups alone, as another crate calls them: one address at a time and in batches, in tables of the
//! sizes for which the algorithms are made.

use std::hint::black_box;

use fwdlab_fib::{Choice, Family, Fib, Inet, Inet6, Nexthop, NexthopId, Prefix, Random, Reader};

use crate::case::{AnyError, Case, Loop};

/// Addresses, three in four of them within routes; looked up in turn.
const ADDRESSES: usize = 1 << 12;
/// Addresses of one batch.
const BATCH: usize = 256;
/// Nexthops of the routes.
const NEXTHOPS: u64 = 200;

/// An algorithm with the number of its routes.
type Table = (&'static str, usize);

const INET: [Table; 7] = [
    ("bsearch4", 10),
    ("vector4", 10),
    ("bitruns4", 20_000),
    ("direct4", 20_000),
    ("poptrie4", 20_000),
    ("dxr", 20_000),
    ("dpdk_lpm4", 20_000),
];
/// Larger ones take minutes to build under callgrind.
const INET6: [Table; 7] = [
    ("vector6", 10),
    ("tree6", 1000),
    ("direct6", 50_000),
    ("bitruns6", 1000),
    ("poptrie6", 1000),
    ("planb6", 1000),
    ("dpdk_lpm6", 1000),
];

/// All loops of lookups.
pub(crate) fn cases() -> impl Iterator<Item = Case> {
    of::<Inet, _>(INET, 16..=24).chain(of::<Inet6, _>(INET6, 32..=48))
}

fn of<F: Family, const N: usize>(
    tables: [Table; N],
    lengths: std::ops::RangeInclusive<u8>,
) -> impl Iterator<Item = Case> {
    let modes = [("single", false), ("batch", true)];
    tables.into_iter().flat_map(move |table| {
        let lengths = lengths.clone();
        modes.map(|(mode, is_batch)| {
            let lengths = lengths.clone();
            Case {
                name: format!("fib {} {mode}", table.0),
                make: Box::new(move || looking_up::<F>(table, lengths.clone(), is_batch)),
            }
        })
    })
}

fn looking_up<F: Family>(
    (algorithm, routes): Table,
    lengths: std::ops::RangeInclusive<u8>,
    is_batch: bool,
) -> Result<Loop, AnyError> {
    let mut random = Random::new(1);
    let kinds = u64::from(lengths.end() - lengths.start() + 1);
    let mut prefix = || {
        let length = lengths.start() + random.below(kinds) as u8;
        (Prefix::<F>::covering(random.addr::<F>(), length), random.below(NEXTHOPS) as u16)
    };
    let table: Vec<(Prefix<F>, u16)> = (0..routes).map(|_| prefix()).collect();
    let mut fib = Fib::<F>::new(0)?;
    fib.load(table.iter().map(|&(prefix, port)| (prefix, Nexthop::connected(port))))?;
    fib.set_algorithm(Choice::Fixed(algorithm.into()))?;
    let mut address = || match random.below(4) {
        0 => random.addr::<F>(),
        _ => {
            let at = random.below(table.len() as u64) as usize;
            random.addr_in(&table[at].0)
        }
    };
    let addresses: Vec<F::Addr> = (0..ADDRESSES).map(|_| address()).collect();
    let mut reader = fib.reader();
    Ok(Box::new(move |lookups| {
        let mut done = 0;
        while done < lookups {
            black_box(round(&mut reader, &addresses, is_batch));
            done += addresses.len();
        }
        done
    }))
}

/// Looks all addresses up; the sum of what was found.
fn round<F: Family>(reader: &mut Reader<F>, addresses: &[F::Addr], is_batch: bool) -> u64 {
    let mut answers = [NexthopId::NONE; BATCH];
    let mut sum = 0;
    for addresses in addresses.chunks(BATCH) {
        if is_batch {
            reader.lookup_batch(addresses, &mut answers);
            sum += u64::from(black_box(&answers)[0].0);
        } else {
            let pinned = reader.pin();
            for &address in addresses {
                sum += u64::from(pinned.lookup(address).0);
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use fwdlab_fib::Registry;

    use super::*;

    /// Too slow, or not held to the limit; crates/fib/README.md names them.
    const NOT_HELD: [&str; 6] =
        ["bsearch6", "linear", "radix4", "radix4_lockless", "radix6", "radix6_lockless"];

    fn missing<F: Family>(tables: &[Table]) -> Vec<&'static str> {
        let is_held = |name: &str| tables.iter().any(|(held, _)| *held == name);
        let names = Registry::<F>::standard().names();
        names.filter(|name| !is_held(name) && !NOT_HELD.contains(name)).collect()
    }

    #[test]
    fn every_algorithm_is_held_or_named_as_not() {
        assert_eq!(missing::<Inet>(&INET), [""; 0], "add it to INET with a number of routes");
        assert_eq!(missing::<Inet6>(&INET6), [""; 0], "add it to INET6 with a number of routes");
    }
}
