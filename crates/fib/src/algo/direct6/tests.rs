use std::cell::RefCell;
use std::sync::atomic::AtomicUsize;

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

/// Runs of every number up to the widest node, with and without one at the highest key.
#[test]
fn nodes_of_all_sizes_find_every_key() {
    for (len, count) in [7u128, 8, 9, 15, 16, 17, 31, 33, 511, 3000, 65_535]
        .map(|n| [(48, n), (64, n)])
        .as_flattened()
    {
        // Low and high nexthops: lines of 16 runs and of 8.
        for (last, base) in [(0, 1), (0, 70_000), (1, 1), (1, 70_000)] {
            let key = |i: u128| 65_536 - last - count + i;
            let at = |key: u128| 0x2001 << 112 | key << (128 - len);
            let route = |i: u128| {
                (Prefix::covering(at(key(i)), *len as u8), NexthopId(base + i as u32 % 9))
            };
            let dump = Dump::new((0..*count).map(route).collect());
            let module = Direct6.build(&dump).unwrap();
            let lookup = module.lookup();
            for key in (0..65_536u128).step_by(if *count > 600 { 7 } else { 1 }).chain([65_535]) {
                let first = 65_536 - last - count;
                let inside = key >= first && key < first + count;
                let wanted = if inside { base + (key - first) as u32 % 9 } else { 0 };
                assert_eq!(
                    lookup.lookup(at(key) | 5),
                    NexthopId(wanted),
                    "{count} runs, key {key}"
                );
            }
        }
    }
}

#[test]
fn routes_of_all_lengths_come_and_go() {
    let mut random = Random::new(47);
    let mut rib = Rib::new();
    let mut module = Direct6.build(&rib.dump()).unwrap();
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

/// Host routes all over the address space: most /16 cannot have a page of their own.
#[test]
fn pages_with_few_routes_take_little_memory_and_hold_changes() {
    let mut random = Random::new(9);
    let mut rib = Rib::new();
    let addrs: Vec<u128> = (0..4000)
        .map(|_| (u128::from(random.next_u64()) << 64) | u128::from(random.next_u64()))
        .collect();
    for addr in &addrs {
        rib.set(Prefix::host(*addr), NexthopId(1 + random.below(40) as u32));
    }
    let mut module = Direct6.build(&rib.dump()).unwrap();
    assert!(module.lookup().memory_bytes() < 24 << 20);
    answers_as(&*module.lookup(), &rib, &addrs);
    for addr in &addrs[..2000] {
        let prefix = Prefix::host(*addr);
        let old = rib.set(prefix, NexthopId::NONE);
        let change = Change { prefix, old, new: NexthopId::NONE };
        let outcome = module.apply(&[change], &rib, &Grace::without_readers());
        assert!(matches!(outcome, Response::Applied));
    }
    answers_as(&*module.lookup(), &rib, &addrs);
    for addr in &addrs {
        let prefix = Prefix::host(*addr);
        let old = rib.set(prefix, NexthopId::NONE);
        module.apply(
            &[Change { prefix, old, new: NexthopId::NONE }],
            &rib,
            &Grace::without_readers(),
        );
    }
    answers_as(&*module.lookup(), &rib, &addrs);
}

/// A route that differs from its surroundings only after the surroundings have changed.
#[test]
fn a_hidden_route_appears_when_the_one_around_it_changes() {
    let mut rib = Rib::new();
    let mut set = |module: Option<&mut Box<dyn crate::algo::Module<Inet6>>>, text: &str, hop| {
        let prefix: Prefix<Inet6> = text.parse().unwrap();
        let old = rib.set(prefix, NexthopId(hop));
        let change = Change { prefix, old, new: NexthopId(hop) };
        if let Some(module) = module {
            module.apply(&[change], &rib, &Grace::without_readers());
        }
        rib.clone()
    };
    set(None, "2001::/20", 5);
    set(None, "2001:0:a000::/40", 5);
    let rib_before = set(None, "2001:4000::/18", 7);
    let mut module = Direct6.build(&rib_before.dump()).unwrap();
    let after = set(Some(&mut module), "2001::/20", 6);
    answers_as(&*module.lookup(), &after, &[0x2001 << 112, 0x2001_0000_a001u128 << 80]);
}

thread_local! {
    /// Called between the writes of a change.
    static WATCH: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
}

/// A page or an entry has been replaced, what belongs to it may not.
pub(super) fn a_page_has_changed() {
    WATCH.with_borrow_mut(|watch| watch.as_mut().map_or((), |watch| watch()));
}

#[test]
fn nobody_meets_the_old_answer_after_the_new_one() {
    let page = |number: u128| number << 112;
    let mut rib = Rib::new();
    rib.set(Prefix::covering(page(0x2001), 16), NexthopId(5));
    // A /16 whose addresses need more than the first look.
    rib.set(Prefix::covering(page(0x2002), 32), NexthopId(6));
    rib.set(Prefix::covering(page(0x2002), 40), NexthopId(7));
    let mut module = Direct6.build(&rib.dump()).unwrap();
    let lookup = module.lookup();
    let addr = page(0x2001) | 99;
    let mut batch = [page(0x2002); STAGE];
    // So many of the others need more that nobody in this batch takes the first look.
    batch[1] = addr;
    let seen = Arc::new(AtomicUsize::new(0));
    for new in [8, 0, 9].map(NexthopId) {
        let prefix = Prefix::covering(page(0x2001), 16);
        let old = rib.set(prefix, new);
        let (lookup, count) = (lookup.clone(), seen.clone());
        WATCH.set(Some(Box::new(move || {
            let mut answers = [NexthopId::NONE; STAGE];
            lookup.lookup_batch(&batch, &mut answers);
            if answers[1] == new {
                assert_eq!(lookup.lookup(addr), new);
                count.fetch_add(1, Relaxed);
            }
        })));
        let outcome = module.apply(&[Change { prefix, old, new }], &rib, &Grace::without_readers());
        assert!(matches!(outcome, Response::Applied));
        WATCH.set(None);
    }
    assert_eq!(seen.load(Relaxed), 3);
    answers_as(&*lookup, &rib, &batch);
}

/// Lines, deep lines and lists hold numbers of up to 31 bits; a table without them is built anew for one.
#[test]
fn wide_lines_and_lists_say_high_numbers_before_and_after_changes() {
    let mut random = Random::new(31);
    let mut rib = Rib::new();
    let mut addrs = Vec::new();
    let mut route = |rib: &mut Rib<Inet6>, nexthops: u32| {
        let bits = (u128::from(random.next_u64()) << 64) | u128::from(random.next_u64());
        let addr = 0x2001_0db8 << 96 | bits & (0x1_001f << 80 | 0xf << 64 | 0x3f);
        let len = [16, 29, 32, 40, 48, 48, 56, 64, 128][random.below(9) as usize];
        let prefix = Prefix::covering(addr, len);
        let new = NexthopId(random.below(5) as u32 * nexthops);
        addrs.extend([prefix.addr(), prefix.last_addr(), addr]);
        Change { prefix, old: rib.set(prefix, new), new }
    };
    for _ in 0..1000 {
        route(&mut rib, 1);
    }
    let mut module = Direct6.build(&rib.dump()).unwrap();
    let high = std::iter::repeat_with(|| route(&mut rib, (1 << 29) - 1));
    let high = high.take(100).find(|change| !change.new.is_none()).unwrap();
    let outcome = module.apply(&[high], &rib, &Grace::without_readers());
    assert!(matches!(outcome, Response::Rebuild { .. }));
    module = Direct6.build(&rib.dump()).unwrap();
    for _ in 0..1000 {
        let change = route(&mut rib, (1 << 29) - 1);
        let outcome = module.apply(&[change], &rib, &Grace::without_readers());
        assert!(matches!(outcome, Response::Applied));
    }
    answers_as(&*module.lookup(), &rib, &addrs);
    // As they are when they are built at once.
    answers_as(&*Direct6.build(&rib.dump()).unwrap().lookup(), &rib, &addrs);
}

/// Addresses of a page in a stage whose others are answered by their whole /16, so that gaps are asked.
fn in_stages(addrs: &[u128]) -> Vec<u128> {
    let stage = |few: &[u128]| {
        let mut stage = [0x3fff << 112; STAGE];
        // Not where a chunk probes.
        few.iter().enumerate().for_each(|(i, addr)| stage[1 + i * 5] = *addr);
        stage
    };
    addrs.chunks(FEW as usize).flat_map(stage).collect()
}

#[test]
fn gaps_say_what_their_pages_say_before_and_after_changes() {
    let mut random = Random::new(64);
    let page = 0x2a00 << 112;
    let mut rib = Rib::new();
    rib.set(Prefix::covering(page, 16), NexthopId(3));
    rib.set(Prefix::covering(page | 0x77 << 96, 32), NexthopId(4));
    let mut module = Direct6.build(&rib.dump()).unwrap();
    let mut addrs = vec![page, page | 0x77 << 96, page | 0x70 << 96, page | 0x78 << 96];
    for step in 0..2000 {
        let addr = page | u128::from(random.below(1 << 16)) << 96 | 0xffff << 48;
        let len = [16, 17, 24, 28, 29, 30, 32, 32, 32, 33, 48][random.below(11) as usize];
        let prefix = Prefix::covering(addr, len);
        let new = NexthopId([0, 3, 3, 4, 70][random.below(5) as usize]);
        let old = rib.set(prefix, new);
        addrs.extend([prefix.addr(), prefix.last_addr(), addr, prefix.last_addr().wrapping_add(1)]);
        let change = Change { prefix, old, new };
        let outcome = module.apply(&[change], &rib, &Grace::without_readers());
        assert!(matches!(outcome, Response::Applied));
        if step % 50 == 0 || step < 20 {
            let before = addrs.len().saturating_sub(600);
            answers_as(&*module.lookup(), &rib, &in_stages(&addrs[before..]));
        }
    }
    answers_as(&*module.lookup(), &rib, &in_stages(&addrs));
    answers_as(&*Direct6.build(&rib.dump()).unwrap().lookup(), &rib, &in_stages(&addrs));
}

#[test]
fn nobody_meets_the_old_answer_in_a_gap_after_the_new_one_in_an_entry() {
    let page = 0x2a00 << 112;
    let mut rib = Rib::new();
    rib.set(Prefix::covering(page, 16), NexthopId(3));
    rib.set(Prefix::covering(page | 0x77 << 96, 32), NexthopId(4));
    let mut module = Direct6.build(&rib.dump()).unwrap();
    let lookup = module.lookup();
    let addr = page | 0x1234 << 96;
    let few = in_stages(&[addr]);
    let seen = Arc::new(AtomicUsize::new(0));
    // Out of the gap, to another nexthop, and back.
    for new in [9, 5, 0].map(NexthopId) {
        let prefix = Prefix::covering(addr, 32);
        let wanted = if new.is_none() { NexthopId(3) } else { new };
        let old = rib.set(prefix, new);
        let (lookup, few, count) = (lookup.clone(), few.clone(), seen.clone());
        WATCH.set(Some(Box::new(move || {
            // A single lookup goes through the entry.
            assert_eq!(lookup.lookup(addr), wanted);
            let mut answers = [NexthopId::NONE; STAGE];
            lookup.lookup_batch(&few, &mut answers);
            assert_eq!(answers[1], wanted);
            count.fetch_add(1, Relaxed);
        })));
        let outcome = module.apply(&[Change { prefix, old, new }], &rib, &Grace::without_readers());
        assert!(matches!(outcome, Response::Applied));
        WATCH.set(None);
    }
    assert_eq!(seen.load(Relaxed), 3);
}
