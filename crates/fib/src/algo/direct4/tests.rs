use super::*;
use crate::algo::{Algorithm, Change, Outcome};
use crate::epoch::Grace;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// A table in which /16 number i has nexthop `nexthop(i)`.
fn rib_of(nexthop: impl Fn(u32) -> u32) -> Rib<Inet> {
    let mut rib = Rib::new();
    for i in 0..5000 {
        rib.set(Prefix::covering(i << 16, 16), NexthopId(nexthop(i)));
    }
    rib
}

fn answers_as(lookup: &dyn Lookup<Inet>, rib: &Rib<Inet>) {
    let addrs: Vec<u32> = (0..6000).map(|i| (i << 16) + i * 7).collect();
    let mut answers = vec![NexthopId::NONE; addrs.len()];
    lookup.lookup_batch(&addrs, &mut answers);
    for (addr, answer) in addrs.iter().zip(&answers) {
        let wanted = rib.longest_match(*addr).map_or(NexthopId::NONE, |route| route.1);
        assert_eq!((*answer, lookup.lookup(*addr)), (wanted, wanted), "{addr:x}");
    }
}

#[test]
fn low_nexthop_numbers_take_narrow_cells_and_high_ones_wide_ones() {
    let narrow = rib_of(|i| 1 + i % 260 % 254 + u32::from(i == 0) * 65_000);
    let module = Direct4.build(&narrow.dump()).unwrap();
    answers_as(&*module.lookup(), &narrow);
    assert!(module.lookup().memory_bytes() < 20 << 20);

    let wide = rib_of(|i| 65_535 - i * 12);
    let module = Direct4.build(&wide.dump()).unwrap();
    answers_as(&*module.lookup(), &wide);
    assert!(module.lookup().memory_bytes() > 32 << 20);
}

#[test]
fn nexthops_beyond_the_codes_are_found_behind() {
    let mut rib = rib_of(|i| 1 + i % 250);
    let mut module = Direct4.build(&rib.dump()).unwrap();
    for i in 0..300 {
        let prefix = Prefix::covering(i << 20, 14 + (i % 19) as u8);
        let new = NexthopId(200 + i);
        let old = rib.set(prefix, new);
        let change = Change { prefix, old, new };
        let outcome = module.apply(&[change], &rib, &Grace::without_readers());
        assert!(matches!(outcome, Outcome::Applied));
    }
    answers_as(&*module.lookup(), &rib);
}
