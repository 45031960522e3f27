use super::*;
use crate::{Choice, Fib, Inet6, Nexthop, Prefix, Random, Reader, Update};

/// Nexthops of the tables.
const NEXTHOPS: u32 = 40;

/// A table of `direct6` with a few thousand routes, some of them longer than /64.
fn fib() -> Fib<Inet6> {
    let mut fib = Fib::new(0).unwrap();
    fib.set_algorithm(Choice::Fixed("direct6".into())).unwrap();
    let mut random = Random::new(7);
    for _ in 0..4000 {
        let addr = 1 << 125 | random.addr::<Inet6>() >> (3 + 20 * random.below(2));
        let len = [20, 32, 36, 44, 48, 64][random.below(6) as usize];
        // Some come twice.
        let _ = fib.add(Prefix::covering(addr, len), via(random.below(NEXTHOPS.into()) as u32));
    }
    for host in 0..200_u32 {
        fib.add(Prefix::host(split(host)), via(host)).unwrap();
    }
    fib.flush();
    fib
}

fn via(number: u32) -> Nexthop<Inet6> {
    Nexthop::via(u128::from(1 + number % NEXTHOPS), 1)
}

/// An address that has a route of its own within its /64.
fn split(host: u32) -> u128 {
    0x2001_0002 << 96 | u128::from(host / 2) << 64 | u128::from(host)
}

/// `count` addresses that come in a random order.
struct Traffic {
    destinations: Vec<u128>,
    random: Random,
}

impl Traffic {
    fn new(count: usize) -> Self {
        let mut random = Random::new(11);
        // Few that are never kept: of more the cache would not pay.
        let mut draw = |i: usize| match i % 40 {
            7 => split(random.below(400) as u32),
            1 => u128::from(random.next_u64()) << 64 | u128::from(random.next_u64()),
            // Many with the same first 64 bits.
            2 => 0x2001_0db8 << 96 | u128::from(random.next_u64()),
            _ => 1 << 125 | random.addr::<Inet6>() >> 3,
        };
        let destinations = (0..count).map(&mut draw).collect();
        Self { destinations, random: Random::new(12) }
    }

    fn next(&mut self) -> u128 {
        self.destinations[self.random.below(self.destinations.len() as u64) as usize]
    }
}

/// Looks up `chunks` of traffic with kept answers, holds each against a plain lookup, and returns in how
/// many they were used.
fn run(
    cache: &mut RouteCache,
    reader: &mut Reader<Inet6>,
    traffic: &mut Traffic,
    chunks: usize,
) -> usize {
    let mut used = 0;
    for chunk in 0..chunks {
        let count = [CHUNK, CHUNK, 1, 17, 48][chunk % 5];
        let addresses: [_; CHUNK] = std::array::from_fn(|_| traffic.next());
        let mut nexthops = [NexthopId(77); CHUNK];
        let table = reader.pin();
        if cache.look_up(&table, &addresses[..count], &mut nexthops[..count]) {
            used += 1;
            for (address, nexthop) in addresses.iter().zip(nexthops).take(count) {
                assert_eq!(nexthop, table.lookup(*address), "{address:032x} in chunk {chunk}");
            }
        }
    }
    used
}

/// Chunks in which a sample is taken, with some to spare.
const BEGIN: usize = SAMPLE as usize / 36 + 100;

#[test]
fn answers_are_those_of_the_table_through_all_changes() {
    let mut fib = fib();
    let (mut reader, mut cache) = (fib.reader(), RouteCache::new());
    let mut traffic = Traffic::new(2000);
    run(&mut cache, &mut reader, &mut traffic, BEGIN);
    assert!(run(&mut cache, &mut reader, &mut traffic, 2000) == 2000, "not in use");
    for round in 0..6_u32 {
        // Of all destinations, of a /64 that is kept, and of one within it.
        let (address, number) = (traffic.next(), NEXTHOPS + round);
        for len in [0, 3, 64, 128] {
            let nexthop = Nexthop::via(number.into(), 2).into();
            fib.apply(&[Update::Set(Prefix::covering(address, len), nexthop)]).unwrap();
            fib.flush();
            assert_eq!(
                run(&mut cache, &mut reader, &mut traffic, 20),
                0,
                "used when routes changed"
            );
        }
        let rest = BEGIN + REST_AFTER_CHANGE as usize / 36;
        run(&mut cache, &mut reader, &mut traffic, rest);
        assert_eq!(run(&mut cache, &mut reader, &mut traffic, 200), 200, "not in use again");
    }
}

#[test]
fn batches_of_any_length_are_answered_whether_it_is_used_or_not() {
    let fib = fib();
    let (mut reader, mut cache) = (fib.reader(), RouteCache::new());
    let mut traffic = Traffic::new(2000);
    let (mut lengths, mut used) = ([256, 0, 65, 32, 1000].into_iter().cycle(), 0);
    while used < 100_000 {
        let addresses: Vec<_> = (0..lengths.next().unwrap()).map(|_| traffic.next()).collect();
        // One more address than there is room, at times.
        let mut nexthops = vec![NexthopId(77); addresses.len().saturating_sub(used % 2)];
        let table = reader.pin();
        cache.lookup_batch(&table, &addresses, &mut nexthops);
        for (address, nexthop) in addresses.iter().zip(&nexthops) {
            assert_eq!(*nexthop, table.lookup(*address), "{address:032x}");
        }
        used += if cache.rest == 0 { nexthops.len() } else { 0 };
    }
}

#[test]
fn it_is_used_where_destinations_come_again() {
    let fib = fib();
    for (destinations, is_good) in [(1, true), (60_000, true), (3_000_000, false)] {
        let (mut reader, mut cache) = (fib.reader(), RouteCache::new());
        let mut traffic = Traffic::new(destinations);
        let before = run(&mut cache, &mut reader, &mut traffic, BEGIN);
        let after = run(&mut cache, &mut reader, &mut traffic, 5000);
        // 60,000 destinations in random order are known after some 300,000 addresses.
        let wanted = if is_good { before + after > 5000 } else { before + after == 0 };
        assert!(wanted, "{destinations} destinations: used in {before} and {after} chunks");
    }
}

#[test]
fn traffic_that_becomes_too_much_for_it_goes_without() {
    let fib = fib();
    let (mut reader, mut cache) = (fib.reader(), RouteCache::new());
    run(&mut cache, &mut reader, &mut Traffic::new(2000), BEGIN + 500);
    let mut many = Traffic::new(3_000_000);
    let used = run(&mut cache, &mut reader, &mut many, 5000);
    assert!((1..400).contains(&used), "used in {used} chunks");
    // And comes to it again.
    let later = (LEAST_REST + SAMPLE) as usize / 36 + 200;
    let used = run(&mut cache, &mut reader, &mut Traffic::new(2000), later + 500);
    assert!(used > 400, "used in {used} chunks");
}

#[test]
fn of_an_algorithm_that_does_not_tell_nothing_is_kept() {
    let mut fib = fib();
    fib.set_algorithm(Choice::Fixed("bitruns6".into())).unwrap();
    let (mut reader, mut cache) = (fib.reader(), RouteCache::new());
    assert_eq!(run(&mut cache, &mut reader, &mut Traffic::new(10), 3 * BEGIN), 0);
    assert!(cache.entries.is_none());
}

#[test]
fn entries_tell_all_keys_apart() {
    // Those that share their places differ in the rest of their products.
    let mut random = Random::new(3);
    for _ in 0..10_000 {
        let product = random.next_u64();
        let other = product ^ (1 + random.below((1 << (u64::BITS - NEXTHOP_BITS)) - 1));
        assert_eq!(place(product) / WAYS, place(other) / WAYS);
        for nexthop in [0, 1, MOST - 1] {
            let entry = product << NEXTHOP_BITS | (nexthop + 1);
            assert_eq!(difference(entry, product), nexthop);
            assert!(difference(entry, other) >= MOST && difference(0, other) >= MOST);
        }
    }
    assert_eq!(MIX & 1, 1, "no permutation otherwise");
}

#[test]
fn a_reader_keeps_answers_of_the_framework_s_choice_until_the_table_changes() {
    let mut fib = fib();
    fib.set_algorithm(Choice::Auto).unwrap();
    assert_eq!(fib.algorithm_name(), "direct6");
    let mut reader = fib.reader();
    let addresses: Vec<u128> = (0..500).map(|i| 1 << 125 | i << 90).collect();
    let mut answers = vec![NexthopId::NONE; addresses.len()];
    let warm = |reader: &mut Reader<Inet6>, answers: &mut [NexthopId]| {
        for _ in 0..2 * (REST_AFTER_CHANGE + SAMPLE) as usize / addresses.len() {
            reader.lookup_batch(&addresses, answers);
        }
    };
    for number in 1..4 {
        warm(&mut reader, &mut answers);
        assert_eq!(reader.pin_with_cache().1.rest, 0, "not in use");
        let nexthop = Nexthop::via(u128::from(NEXTHOPS + number), 1);
        fib.apply(&[Update::Set(Prefix::covering(addresses[7], 64), nexthop.into())]).unwrap();
        fib.flush();
        let before = answers[7];
        reader.lookup_batch(&addresses, &mut answers);
        assert_ne!(answers[7], before);
        for (address, answer) in addresses.iter().zip(&answers) {
            assert_eq!(*answer, fib.rib().longest_match(*address).map_or(NexthopId::NONE, |r| r.1));
        }
    }
    // One that a user named is asked each time.
    fib.set_algorithm(Choice::Fixed("direct6".into())).unwrap();
    warm(&mut reader, &mut answers);
    assert!(reader.pin_with_cache().1.rest > 0);
}
