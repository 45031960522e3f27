//! What one lookup costs through a [`Reader`], as another crate calls it.
//!
//! Without arguments: ns for each lookup of some algorithms, one address at a time and in batches, and of
//! a pin and its end.
//! With `<algorithm> <single|batch>` one of them for a counter of instructions: everything outside
//! `measured` is set-up.
//!
//! With `pin`, a pin and its end alone. With `nexthops`, full tables with 60,000 and with 100,000 nexthops, the same routes and addresses, in
//! turns, by the algorithms that the framework chooses; with `nexthops <inet|inet6> <stream> <number>` one
//! of them for a counter.
//!
//! ```text
//! cargo bench -p fwdlab-lookups --bench lookups
//! cargo bench -p fwdlab-lookups --bench lookups -- nexthops
//! valgrind --tool=callgrind --collect-atstart=no --toggle-collect='*measured*' \
//!     target/release/deps/lookups-<hash> direct4 batch
//! ```
#![allow(clippy::unwrap_used, reason = "a bench; what it reads was made for it")]

use std::hint::black_box;
use std::time::Instant;

use fwdlab_fib::{
    Address, Choice, Family, Fib, Inet, Inet6, Nexthop, NexthopId, Prefix, Random, Reader,
};
use fwdlab_lookups::{BenchFamily, Stream, spread_nexthop};
use fwdlab_routes::synth::{FULL_INET, FULL_INET6, Synth};

/// Lookups of one run.
const LOOKUPS: usize = 1 << 16;
/// Addresses of one batch.
const BATCH: usize = 256;
/// Algorithms that are measured by themselves, with the number of their routes.
const CASES: [(&str, usize); 7] = [
    ("vector4", 10),
    ("bsearch4", 10),
    ("bitruns4", 100_000),
    ("direct4", 100_000),
    ("tree6", 1000),
    ("bitruns6", 50_000),
    ("direct6", 50_000),
];

#[inline(never)]
fn measured<F: Family>(reader: &mut Reader<F>, addrs: &[F::Addr], is_batch: bool) -> u64 {
    let mut answers = [NexthopId::NONE; BATCH];
    let mut sum = 0;
    if is_batch {
        for addrs in addrs.chunks(BATCH) {
            reader.lookup_batch(addrs, &mut answers);
            sum += u64::from(black_box(&answers)[0].0);
        }
    } else {
        for addrs in addrs.chunks(BATCH) {
            let pinned = reader.pin();
            for &addr in addrs {
                sum += u64::from(pinned.lookup(addr).0);
            }
        }
    }
    sum
}

/// A table of that many routes, served by that algorithm, and addresses: three in four within routes.
fn prepared<F: Family>(algorithm: &str, routes: usize) -> (Reader<F>, Vec<F::Addr>) {
    let table = Synth::new(routes, 200, 1).table::<F>();
    let mut fib = Fib::<F>::new(0).unwrap();
    fib.load(table.iter().map(|(prefix, id)| (*prefix, Nexthop::connected(id.0 as u16)))).unwrap();
    fib.set_algorithm(Choice::Fixed(algorithm.into())).unwrap();
    let mut random = Random::new(2);
    let prefix = |random: &mut Random| table[random.below(table.len() as u64) as usize].0;
    let mut addr = || match random.below(4) {
        0 => random.addr::<F>(),
        _ => {
            let prefix: Prefix<F> = prefix(&mut random);
            random.addr_in(&prefix)
        }
    };
    let addrs = (0..LOOKUPS).map(|_| addr()).collect();
    (fib.reader(), addrs)
}

fn run<F: Family>(algorithm: &str, routes: usize, mode: Option<&str>) {
    let (mut reader, addrs) = prepared::<F>(algorithm, routes);
    if let Some(mode) = mode {
        black_box(measured(&mut reader, &addrs, mode == "batch"));
        return;
    }
    let ns = [false, true].map(|is_batch| {
        let rounds = (0..20).map(|_| {
            let start = Instant::now();
            black_box(measured(&mut reader, &addrs, is_batch));
            start.elapsed().as_nanos() as f64 / LOOKUPS as f64
        });
        rounds.fold(f64::MAX, f64::min)
    });
    println!("{algorithm:10} {routes:7} routes  single {:6.2} ns  batch {:6.2} ns", ns[0], ns[1]);
}

/// A pin and its end, and a lookup that pins for itself: the fastest of many rounds.
fn pins() {
    let (mut reader, addrs) = prepared::<Inet>("vector4", 10);
    let mut least = [f64::MAX; 2];
    for _ in 0..100 {
        let start = Instant::now();
        for _ in 0..addrs.len() {
            black_box(reader.pin().generation());
        }
        least[0] = least[0].min(start.elapsed().as_nanos() as f64 / addrs.len() as f64);
        let start = Instant::now();
        for &addr in &addrs {
            black_box(reader.lookup(addr));
        }
        least[1] = least[1].min(start.elapsed().as_nanos() as f64 / addrs.len() as f64);
    }
    println!(
        "pin and its end {:.2} ns  vector4, a pin for each lookup {:.2} ns",
        least[0], least[1]
    );
}

/// A full table whose routes have so many nexthops.
fn full<F: Family>(routes: usize, nexthops: u64) -> Fib<F> {
    let mut fib = Fib::<F>::new(0).unwrap();
    let table = Synth::new(routes, 1, 1).table::<F>();
    let gateway = |prefix: Prefix<F>| {
        Nexthop::via(F::Addr::truncate(u128::from(spread_nexthop(prefix, nexthops))), 0)
    };
    fib.load(table.iter().map(|(prefix, _)| (*prefix, gateway(*prefix)))).unwrap();
    fib
}

/// What more nexthops than 16 bits can say cost, on each stream of addresses: the fastest of many
/// rounds in turns, which what else the machine does has disturbed least.
fn more_nexthops<F: BenchFamily>(routes: usize) {
    let fibs = [60_000, 100_000].map(|nexthops| full::<F>(routes, nexthops));
    let mut readers = fibs.each_ref().map(Fib::reader);
    for stream in Stream::ALL {
        let keys = stream.draw::<F>(&fibs[0].rib().dump(), 1 << 20);
        let mut ns = [f64::MAX; 2];
        for _ in 0..100 {
            for (reader, least) in readers.iter_mut().zip(&mut ns) {
                let start = Instant::now();
                black_box(measured(reader, keys.native(), true));
                *least = least.min(start.elapsed().as_nanos() as f64 / keys.native().len() as f64);
            }
        }
        println!(
            "{:6} {:12} 60,000 nexthops {:9} {:6.1} M/s  100,000 nexthops {:9} {:6.1} M/s  ratio {:.2}",
            F::NAME,
            stream.name(),
            fibs[0].algorithm_name(),
            1e3 / ns[0],
            fibs[1].algorithm_name(),
            1e3 / ns[1],
            ns[0] / ns[1],
        );
    }
}

/// One of [`more_nexthops`], for a counter of instructions.
fn one_of_many<F: BenchFamily>(routes: usize, stream: &str, nexthops: &str) {
    let fib = full::<F>(routes, nexthops.parse().expect("a number of nexthops"));
    let stream = Stream::ALL.into_iter().find(|known| known.name() == stream).expect("a stream");
    let keys = stream.draw::<F>(&fib.rib().dump(), LOOKUPS);
    black_box(measured(&mut fib.reader(), keys.native(), true));
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [_, family, stream, nexthops] = &args[..] {
        return match family.as_str() {
            "inet6" => one_of_many::<Inet6>(FULL_INET6, stream, nexthops),
            _ => one_of_many::<Inet>(FULL_INET, stream, nexthops),
        };
    }
    if args.first().is_some_and(|arg| arg == "nexthops") {
        more_nexthops::<Inet>(FULL_INET);
        return more_nexthops::<Inet6>(FULL_INET6);
    }
    if args.first().is_none_or(|arg| arg == "pin") {
        pins();
    }
    let wanted = |name: &str| args.first().is_none_or(|arg| arg == name);
    for (name, routes) in CASES.into_iter().filter(|(name, _)| wanted(name)) {
        let mode = args.get(1).map(String::as_str);
        if name.ends_with('6') {
            run::<Inet6>(name, routes, mode);
        } else {
            run::<Inet>(name, routes, mode);
        }
    }
}
