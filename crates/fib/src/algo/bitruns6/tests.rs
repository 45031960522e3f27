use super::*;
use crate::algo::{Algorithm, Change, Dump, Response};
use crate::epoch::Grace;
use crate::prefix::Prefix;
use crate::random::Random;
use crate::rib::Rib;

fn answers_as(lookup: &dyn Lookup<Inet6>, rib: &Rib<Inet6>, addrs: &[u128]) {
    let mut answers = vec![NexthopId::NONE; addrs.len()];
    lookup.lookup_batch(addrs, &mut answers);
    for (addr, answer) in addrs.iter().zip(&answers) {
        let wanted = rib.longest_match(*addr).map_or(NexthopId::NONE, |route| route.1);
        assert_eq!((*answer, lookup.lookup(*addr)), (wanted, wanted), "{addr:x}");
    }
}

/// Runs of every number up to three levels of a tree, with and without one at the highest key.
#[test]
fn trees_of_all_sizes_find_every_key() {
    for count in [1u128, 15, 16, 17, 18, 31, 33, 511, 513, 545, 3000, 16_385, 65_535] {
        for last in [0, 1] {
            let key = |i: u128| 65_536 - last - count + i;
            let route = |i: u128| {
                (Prefix::covering(0x2001 << 112 | key(i) << 80, 48), NexthopId(1 + i as u32 % 9))
            };
            let dump = Dump::new((0..count).map(route).collect());
            let module = BitRuns6.build(&dump).unwrap();
            let lookup = module.lookup();
            let step = if count > 600 { 7 } else { 1 };
            let keys: Vec<u128> = (0..65_536).step_by(step).chain([65_535]).collect();
            let addrs: Vec<u128> = keys.iter().map(|key| 0x2001 << 112 | key << 80 | 5).collect();
            let mut together = vec![NexthopId::NONE; addrs.len()];
            lookup.lookup_batch(&addrs, &mut together);
            for ((key, addr), together) in keys.into_iter().zip(addrs).zip(together) {
                let first = 65_536 - last - count;
                let inside = key >= first && key < first + count;
                let wanted = NexthopId(if inside { 1 + (key - first) as u32 % 9 } else { 0 });
                let got = (lookup.lookup(addr), together);
                assert_eq!(got, (wanted, wanted), "{count} runs, key {key}");
            }
        }
    }
}

/// A leaf beside a list says by the highest number of all that the list is to be asked.
#[test]
fn the_highest_nexthop_is_one_beside_lists_too() {
    let mut rib = Rib::new();
    let mut routes = vec![("2001::/48", 65_535), ("2001:0:7::/48", 65_535)];
    for list in [&[][..], &[("2001:0:3::/64", 3), ("2001:0:7:1::1/128", 65_535)]] {
        routes.extend(list);
        for (prefix, nexthop) in &routes {
            rib.set(prefix.parse().unwrap(), NexthopId(*nexthop));
        }
        let ends = |(prefix, _): &(&str, u32)| {
            let prefix: Prefix<Inet6> = prefix.parse().unwrap();
            [prefix.addr(), prefix.last_addr(), prefix.last_addr() + 1]
        };
        let addrs: Vec<u128> = routes.iter().flat_map(ends).cycle().take(200).collect();
        let module = BitRuns6.build(&rib.dump()).unwrap();
        answers_as(&*module.lookup(), &rib, &addrs);
    }
}

/// Routes of a /8 and shorter, which share blocks, and of a few /16.
#[test]
fn blocks_are_shared_and_left() {
    let mut random = Random::new(8);
    let mut rib = Rib::new();
    let mut module = BitRuns6.build(&rib.dump()).unwrap();
    let grace = Grace::without_readers();
    let mut most = 0;
    for step in 0..600 {
        let len = [0, 1, 4, 8, 8, 8, 9, 16][random.below(8) as usize];
        let top = u128::from(random.next_u64() & 0x0f) << 120;
        let prefix = Prefix::covering(top | u128::from(random.next_u64() & 3) << 112, len);
        let new = NexthopId(if len < 16 { random.below(3000) as u32 } else { step % 3 });
        let old = rib.set(prefix, new);
        let outcome = module.apply(&[Change { prefix, old, new }], &rib, &grace);
        assert!(matches!(outcome, Response::Applied));
        if step % 100 == 0 {
            let addrs: Vec<u128> = (0..200).map(|i| (i % 20) << 120 | (i % 5) << 112 | i).collect();
            answers_as(&*module.lookup(), &rib, &addrs);
        }
        if step == 100 {
            most = module.lookup().memory_bytes();
        }
    }
    // A block for each nexthop that was ever that of a /8 would be some 600 KiB more.
    let more = module.lookup().memory_bytes() - most;
    assert!(more < 150_000, "{more} bytes more");
}

#[test]
fn long_and_short_routes_come_and_go() {
    let mut random = Random::new(47);
    let mut rib = Rib::new();
    let mut module = BitRuns6.build(&rib.dump()).unwrap();
    let mut addrs = Vec::new();
    for step in 0..3000 {
        let bits = (u128::from(random.next_u64()) << 64) | u128::from(random.next_u64());
        let addr = 0x2001_0db8 << 96 | bits & (0x1_0003 << 80 | 0xf << 64 | 7);
        let len = [0, 12, 16, 20, 29, 32, 40, 48, 48, 48, 56, 64, 128][random.below(13) as usize];
        let prefix = Prefix::covering(addr, len);
        let new = NexthopId([0, 1, 2, 3, 65_535][random.below(5) as usize]);
        let old = rib.set(prefix, new);
        addrs.extend([prefix.addr(), prefix.last_addr(), addr]);
        let change = Change { prefix, old, new };
        let outcome = module.apply(&[change], &rib, &Grace::without_readers());
        assert!(matches!(outcome, Response::Applied));
        if step % 300 == 0 {
            answers_as(&*module.lookup(), &rib, &addrs);
        }
    }
    answers_as(&*module.lookup(), &rib, &addrs);
}
