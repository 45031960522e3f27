//! Static tables with their right answers.

use fwdlab_fib::algo::Dump;
use fwdlab_fib::{Address, Family, NexthopId, Prefix, Random};

use crate::oracle::{Routes, edges, oracle};

/// A table, addresses to look up, and the right answers.
pub(super) struct Case<F: Family> {
    pub(super) name: String,
    pub(super) dump: Dump<F>,
    pub(super) probes: Vec<F::Addr>,
    pub(super) answers: Vec<NexthopId>,
}

/// At most this many addresses for one table: the oracle looks at each route for each of them.
const MOST_PROBES: usize = 20_000;

impl<F: Family> Case<F> {
    fn new(name: impl Into<String>, routes: Routes<F>, random: &mut Random) -> Self {
        let most = if routes.len() > 20_000 { MOST_PROBES / 10 } else { MOST_PROBES };
        let dump = Dump::new(routes);
        let mut probes = vec![F::Addr::ZERO, F::Addr::MAX];
        let step = dump.len() * 5 / most + 1;
        for (prefix, _) in dump.routes().iter().step_by(step) {
            probes.extend(edges(prefix, random));
        }
        probes.extend((0..300).map(|_| random.addr::<F>()));
        let answers = probes.iter().map(|&addr| oracle(dump.routes(), addr)).collect();
        Self { name: name.into(), dump, probes, answers }
    }
}

/// All cases of a seed.
pub(super) fn all<F: Family>(seed: u64) -> Vec<Case<F>> {
    let mut random = Random::new(seed);
    let mut cases = Vec::new();
    edge_cases(&mut cases, &mut random);
    nested_cases(&mut cases, &mut random);
    flood_cases(&mut cases, &mut random);
    for (size, spread) in
        [(3, 4), (10, 8), (40, 16), (100, 12), (1000, 20), (1000, F::BITS), (10_000, F::BITS)]
    {
        for round in 0..if size < 1000 { 5 } else { 1 } {
            let name = format!("random table of {size} over {spread} bits, round {round}");
            let routes = random_table(size, spread, &mut random);
            cases.push(Case::new(name, routes, &mut random));
        }
    }
    cases
}

fn edge_cases<F: Family>(cases: &mut Vec<Case<F>>, random: &mut Random) {
    let route = |addr, len, hop| (Prefix::<F>::covering(addr, len), NexthopId(hop));
    let (zero, max, bits) = (F::Addr::ZERO, F::Addr::MAX, F::BITS);
    let mut add = |name: &str, routes| cases.push(Case::new(name, routes, random));
    add("empty", vec![]);
    add("default only", vec![route(zero, 0, 7)]);
    add("lower half", vec![route(zero, 1, 1)]);
    add("upper half", vec![route(max, 1, 1)]);
    add("two halves", vec![route(zero, 1, 1), route(max, 1, 2)]);
    add("default and two halves", vec![route(zero, 0, 3), route(zero, 1, 1), route(max, 1, 2)]);
    add("first host", vec![route(zero, bits, 1)]);
    add("last host", vec![route(max, bits, 1)]);
    add(
        "both outermost hosts and default",
        vec![route(zero, bits, 1), route(max, bits, 2), route(zero, 0, 3)],
    );
    add(
        "outermost pairs and hosts",
        vec![
            route(zero, bits - 1, 1),
            route(zero, bits, 2),
            route(max, bits - 1, 3),
            route(max, bits, 4),
        ],
    );
    add("largest common nexthop", vec![route(zero, 0, 65_535), route(max, 9, 65_534)]);
    // For those who can say them; for the others it is beyond their limits.
    let high = |i: u32| {
        let addr = F::Addr::truncate(u128::from(i)) << u32::from(bits - 16);
        route(addr, 13 + (i % 14) as u8, 65_500 + i)
    };
    add("nexthops of more than 16 bits", (0..4096).map(|i| high(7 * i)).collect());
    add("largest nexthop of 31 bits", vec![route(zero, 0, u32::MAX >> 1), route(max, bits, 1)]);
    add(
        "nexthops of many numbers",
        (0..512)
            .map(|i| route(F::Addr::truncate(i) << u32::from(bits - 9), 9, 128 * i as u32 + 1))
            .collect(),
    );
    add("same nexthop everywhere", vec![route(zero, 0, 9), route(zero, 1, 9), route(max, 5, 9)]);
    for len in 1..=bits {
        let base = F::Addr::MAX << u32::from(bits - len);
        let sibling = base ^ (F::Addr::truncate(1) << u32::from(bits - len));
        let name = format!("siblings of length {len}");
        add(&name, vec![route(base, len, 1), route(sibling, len, 2)]);
    }
}

fn nested_cases<F: Family>(cases: &mut Vec<Case<F>>, random: &mut Random) {
    let spine = |addr, from: u8, step: usize| -> Routes<F> {
        let lens = (from..=F::BITS).step_by(step);
        lens.map(|len| (Prefix::covering(addr, len), NexthopId(u32::from(len) + 1))).collect()
    };
    let anywhere = random.addr::<F>();
    for (name, addr) in [
        ("at the first address", F::Addr::ZERO),
        ("at the last", F::Addr::MAX),
        ("inside", anywhere),
    ] {
        cases.push(Case::new(format!("all lengths nested {name}"), spine(addr, 0, 1), random));
        cases.push(Case::new(
            format!("every third length nested {name}"),
            spine(addr, 2, 3),
            random,
        ));
    }
    // At each length the prefix and its sibling: every node on the way is full.
    let mut comb = spine(anywhere, 1, 1);
    for len in 1..=F::BITS {
        let flipped = anywhere ^ (F::Addr::truncate(1) << u32::from(F::BITS - len));
        comb.push((Prefix::covering(flipped, len), NexthopId(500 + u32::from(len))));
    }
    cases.push(Case::new("all lengths nested, with siblings", comb, random));
}

fn flood_cases<F: Family>(cases: &mut Vec<Case<F>>, random: &mut Random) {
    let bits = u32::from(F::BITS);
    let base = random.addr::<F>() & F::Addr::mask(F::BITS / 4);
    let hop = |i: u128| NexthopId(1 + (i % 60_000) as u32);
    let mut flood = |name: &str, len: u8, count: u128| {
        let at = |i: u128| base | (F::Addr::truncate(i) << (bits - u32::from(len)));
        let routes = (0..count).map(|i| (Prefix::covering(at(i), len), hop(i))).collect();
        cases.push(Case::new(name, routes, random));
    };
    let quarter = F::BITS / 4;
    flood("4096 sibling networks", quarter + 12, 4096);
    flood("65536 sibling networks", quarter + 16, 1 << 16);
    flood("flood of hosts", F::BITS, 5000);
    flood("flood of pairs", F::BITS - 1, 5000);
    let scattered = (0..5000).map(|i| (Prefix::host(random.addr::<F>()), hop(i))).collect();
    cases.push(Case::new("scattered hosts", scattered, random));
}

/// Random prefixes whose addresses differ in the first `spread` bits only: the smaller, the denser.
pub(super) fn random_table<F: Family>(size: usize, spread: u8, random: &mut Random) -> Routes<F> {
    (0..size)
        .map(|_| (random_prefix(spread, random), NexthopId(1 + random.below(60) as u32)))
        .collect()
}

/// A random prefix; one in four is a refinement of lengths beyond `spread`.
pub(super) fn random_prefix<F: Family>(spread: u8, random: &mut Random) -> Prefix<F> {
    let addr = random.addr::<F>() & F::Addr::mask(spread);
    let len = match random.below(4) {
        0 => random.below(u64::from(F::BITS) + 1),
        _ => random.below(u64::from(spread) + 1),
    };
    Prefix::covering(addr, len as u8)
}
