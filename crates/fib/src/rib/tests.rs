//! The trie against a sorted map.

use std::collections::BTreeMap;

use super::Rib;
use crate::{Family, Inet, Inet6, NexthopId, Prefix, Random};

/// Prefixes from a small universe, so that all of them meet.
fn prefix<F: Family>(random: &mut Random) -> Prefix<F> {
    let len = match random.below(8) {
        0 => F::BITS,
        1 => 0,
        _ => random.below(9) as u8,
    };
    Prefix::covering(random.addr::<F>(), len)
}

fn behaves_like_a_map<F: Family>(seed: u64) {
    let mut random = Random::new(seed);
    let mut rib = Rib::<F>::new();
    let mut map = BTreeMap::new();
    for step in 0..4000 {
        let prefix = prefix::<F>(&mut random);
        let deletes = random.below(if step < 2000 { 3 } else { 2 }) == 0;
        let nexthop = NexthopId(if deletes { 0 } else { 1 + random.below(9) as u32 });
        let old = if deletes { map.remove(&prefix) } else { map.insert(prefix, nexthop) };
        assert_eq!(rib.set(prefix, nexthop), old.unwrap_or_default(), "step {step}");
        assert_eq!(rib.exact(prefix), nexthop);
        assert_eq!(rib.len(), map.len());
        if step % 50 > 0 {
            continue;
        }
        let routes: Vec<_> = map.iter().map(|(&p, &n)| (p, n)).collect();
        assert!(rib.iter().eq(routes.iter().copied()), "seed {seed} step {step}");
        assert!(Rib::from_dump(&rib.dump()).iter().eq(routes.iter().copied()));
        for _ in 0..20 {
            let probe = self::prefix::<F>(&mut random);
            let inside = routes.iter().copied().filter(|(p, _)| probe.covers(p));
            let around = routes.iter().copied().filter(|(p, _)| p.covers(&probe) && *p != probe);
            let (outer, covered) = rib.part(probe);
            assert!(covered.eq(inside));
            let around = around.max_by_key(|(p, _)| p.len());
            assert_eq!(outer, around.map_or(NexthopId::NONE, |route| route.1));
            let addr = random.addr::<F>();
            let found = rib.longest_match(addr).map_or(NexthopId::NONE, |route| route.1);
            let around = routes.iter().filter(|(p, _)| p.contains(addr));
            let longest = around.max_by_key(|(p, _)| p.len());
            assert_eq!(found, longest.map_or(NexthopId::NONE, |route| route.1));
        }
    }
    assert_eq!(rib.lengths().iter().sum::<usize>(), rib.len());
}

#[test]
fn a_trie_behaves_like_a_sorted_map() {
    for seed in 0..4 {
        behaves_like_a_map::<Inet>(seed);
        behaves_like_a_map::<Inet6>(seed);
    }
}

#[test]
fn deleted_nodes_are_used_again() {
    let mut rib = Rib::<Inet>::new();
    let fill = |rib: &mut Rib<Inet>, nexthop| {
        for i in 0..1000u32 {
            rib.set(Prefix::covering(i << 20, 12 + (i % 20) as u8), NexthopId(nexthop));
        }
        rib.memory_bytes()
    };
    fill(&mut rib, 1);
    fill(&mut rib, 0);
    assert!(rib.is_empty());
    let used = fill(&mut rib, 1);
    fill(&mut rib, 0);
    assert_eq!(fill(&mut rib, 2), used);
}

#[test]
fn an_empty_table_answers_nothing() {
    let mut rib = Rib::<Inet>::default();
    assert_eq!(rib.iter().count(), 0);
    assert_eq!(rib.longest_match(1), None);
    assert!(rib.part(Prefix::DEFAULT).0.is_none());
    assert!(rib.set(Prefix::host(7), NexthopId::NONE).is_none());
    assert!(rib.dump().is_empty());
}
