use super::*;
use crate::algo::{Algorithm, Change, Dump, Response};
use crate::epoch::Grace;
use crate::family::Inet;
use crate::prefix::Prefix;
use crate::random::Random;
use crate::rib::Rib;

#[test]
fn a_record_of_any_number_of_runs_answers_each_cell() {
    for high in [2, 254, 255, 65_535] {
        for cells in 1..=32 {
            // /24s that alternate with the default.
            let route = |i: u32| (Prefix::<Inet>::covering(i << 9, 24), NexthopId(high));
            let mut routes: Vec<_> = (0..cells).map(route).collect();
            routes.push((Prefix::DEFAULT, NexthopId(1)));
            let module = BitRuns4.build(&Dump::new(routes)).unwrap();
            let lookup = module.lookup();
            for addr in (0..1 << 14).step_by(64) {
                let inside = addr >> 8 & 1 == 0 && addr >> 9 < cells;
                let wanted = if inside { high } else { 1 };
                assert_eq!(lookup.lookup(addr), NexthopId(wanted), "{addr:x}, {cells} of {high}");
            }
        }
    }
}

/// Every address of four records, one by one and together.
fn answers_as(lookup: &dyn Lookup<Inet>, rib: &Rib<Inet>, random: &mut Random) {
    let addrs: Vec<u32> = (0..1 << 16).filter(|_| random.below(4) == 0).collect();
    let mut answers = vec![NexthopId::NONE; addrs.len()];
    lookup.lookup_batch(&addrs, &mut answers);
    for (addr, answer) in addrs.iter().zip(&answers) {
        let wanted = rib.longest_match(*addr).map_or(NexthopId::NONE, |route| route.1);
        assert_eq!((*answer, lookup.lookup(*addr)), (wanted, wanted), "{addr:x}");
    }
}

/// Runs, plain records, both with blocks, and the highest numbers of a width, as changes make them.
fn changes_as_the_table_does(highest: u32, lens: &[u8]) {
    let mut random = Random::new(u64::from(highest) + lens.len() as u64);
    let mut rib = Rib::new();
    let default = (Prefix::DEFAULT, NexthopId(highest));
    rib.set(default.0, default.1);
    let mut module = BitRuns4.build(&rib.dump()).unwrap();
    for step in 0..2400 {
        let len = lens[random.below(lens.len() as u64) as usize];
        let prefix = Prefix::covering(random.below(1 << 16) as u32, len);
        // More come than go, then the other way round.
        let goes = random.below(4) < if step < 1200 { 1 } else { 3 };
        let number = [highest, highest - 1, 1, 2, 3][random.below(5) as usize];
        let new = NexthopId(if goes { 0 } else { number });
        let prefix = match (goes, rib.dump().routes().get(random.below(200) as usize)) {
            (true, Some(route)) => route.0,
            _ => prefix,
        };
        let old = rib.set(prefix, new);
        let change = Change { prefix, old, new };
        let outcome = module.apply(&[change], &rib, &Grace::without_readers());
        assert!(matches!(outcome, Response::Applied));
        if step % 200 == 199 {
            answers_as(&*module.lookup(), &rib, &mut random);
        }
    }
}

#[test]
fn records_of_all_kinds_come_and_go() {
    for highest in [254, 255, 65_534, 65_535] {
        changes_as_the_table_does(highest, &[18, 20, 22, 24, 24, 24]);
        changes_as_the_table_does(highest, &[17, 22, 24, 25, 26, 30, 32, 32]);
        changes_as_the_table_does(highest, &[24, 24, 24, 24, 24, 24, 28, 32]);
    }
}

#[test]
fn numbers_above_254_widen_the_records() {
    let mut rib = Rib::new();
    rib.set(Prefix::<Inet>::covering(0, 8), NexthopId(254));
    let mut module = BitRuns4.build(&rib.dump()).unwrap();
    let narrow = module.lookup().memory_bytes();
    let (prefix, new) = (Prefix::covering(1 << 24, 9), NexthopId(255));
    let old = rib.set(prefix, new);
    let outcome = module.apply(&[Change { prefix, old, new }], &rib, &Grace::without_readers());
    assert!(matches!(outcome, Response::Rebuild { .. }));
    let built = BitRuns4.build(&rib.dump()).unwrap();
    assert_eq!(built.lookup().lookup(1 << 24), NexthopId(255));
    assert!(narrow <= BitRuns4::build_wide(&rib.dump()).unwrap().lookup().memory_bytes());
}

#[test]
fn what_changes_give_back_is_used_again() {
    let mut rib = Rib::new();
    let mut module = BitRuns4.build(&rib.dump()).unwrap();
    let mut used = Vec::new();
    for round in 0..40 {
        for i in 0..512u32 {
            // A record full of blocks, and empty again.
            let prefix = Prefix::<Inet>::covering(i << 5 | i << 14, 28);
            let new = NexthopId((round + 1) % 2 * (1 + i % 7));
            let old = rib.set(prefix, new);
            let change = Change { prefix, old, new };
            module.apply(&[change], &rib, &Grace::without_readers());
        }
        used.push(module.lookup().memory_bytes());
    }
    assert!(used[39] <= used[3] * 11 / 10, "{used:?}");
}
