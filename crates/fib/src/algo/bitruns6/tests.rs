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
            for key in (0..65_536u128).step_by(if count > 600 { 7 } else { 1 }).chain([65_535]) {
                let addr = 0x2001 << 112 | key << 80 | 5;
                let first = 65_536 - last - count;
                let inside = key >= first && key < first + count;
                let wanted = if inside { 1 + (key - first) as u32 % 9 } else { 0 };
                assert_eq!(lookup.lookup(addr), NexthopId(wanted), "{count} runs, key {key}");
            }
        }
    }
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
        let new = NexthopId(random.below(5) as u32);
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
