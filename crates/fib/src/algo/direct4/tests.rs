use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use super::*;
use crate::algo::spans;
use crate::algo::{Algorithm, Change, Response};
use crate::epoch::Grace;
use crate::prefix::Prefix;
use crate::random::Random;
use crate::rib::Rib;
use crate::simd::cells::Narrow;

/// A table in which /16 number i has nexthop `nexthop(i)`, and so large that its cells are narrow if they can.
fn rib_of(nexthop: impl Fn(u32) -> u32) -> Rib<Inet> {
    let mut rib = Rib::new();
    for i in 0..5000 {
        rib.set(Prefix::covering(i << 16, 16), NexthopId(nexthop(i)));
    }
    for i in 0..5000 {
        rib.set(Prefix::covering((6 << 29) + (i << 8), 24), NexthopId(1));
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
    for i in 0..150 {
        let prefix = Prefix::covering(i << 20, 14 + (i % 19) as u8);
        let new = NexthopId(200 + i);
        let old = rib.set(prefix, new);
        let change = Change { prefix, old, new };
        let outcome = module.apply(&[change], &rib, &Grace::without_readers());
        assert!(matches!(outcome, Response::Applied));
    }
    answers_as(&*module.lookup(), &rib);
}

#[test]
fn records_behind_are_right_whenever_cells_begin_to_lead_there() {
    let mut random = Random::new(18);
    let mut rib = rib_of(|i| 1 + i % 250);
    // So many others that the cells stay narrow.
    for i in 0..100_000 {
        rib.set(Prefix::covering((1 << 30) + (i << 8), 24), NexthopId(1));
    }
    let mut module = Direct4.build(&rib.dump()).unwrap();
    let lookup = module.lookup();
    for _ in 0..20_000 {
        // A few /16 in which nexthops on both sides of the codes cover and uncover each other.
        let addr = random.next_u64() as u32 & 0x0001_c3e1;
        let prefix =
            Prefix::covering(addr, [14, 16, 17, 18, 18, 20, 24, 32][random.below(8) as usize]);
        let new = NexthopId([0, 0, 5, 6, 253, 254, 300][random.below(7) as usize]);
        let old = rib.set(prefix, new);
        let change = Change { prefix, old, new };
        let outcome = module.apply(&[change], &rib, &Grace::without_readers());
        assert!(matches!(outcome, Response::Applied));
        for addr in [prefix.addr(), prefix.last_addr(), addr ^ 1, addr ^ 0x4000] {
            let wanted = rib.longest_match(addr).map_or(NexthopId::NONE, |route| route.1);
            assert_eq!(lookup.lookup(addr), wanted, "{addr:x} after {change:?}");
        }
    }
    answers_as(&*lookup, &rib);
}

#[test]
fn cells_are_widened_when_their_codes_run_out() {
    let mut rib = rib_of(|i| 1 + i % 250);
    let mut module = Direct4.build(&rib.dump()).unwrap();
    let mut applied = 0;
    let asked = (0..5000).any(|i| {
        let prefix = Prefix::covering(i << 16, 16);
        let new = NexthopId(300 + i);
        let old = rib.set(prefix, new);
        match module.apply(&[Change { prefix, old, new }], &rib, &Grace::without_readers()) {
            Response::Applied => applied += 1,
            Response::Rebuild { reason } => return reason == "nexthop numbers outgrow the cells",
            _ => panic!("neither applied nor to be built anew"),
        }
        false
    });
    assert_eq!((asked, applied), (true, 200), "one route in 50");
    let module = Direct4.build(&rib.dump()).unwrap();
    answers_as(&*module.lookup(), &rib);
    assert!(module.lookup().memory_bytes() > 32 << 20);
}

/// Cells that tell when one is written.
struct Watched<W>(PhantomData<W>);

thread_local! {
    /// Called after each write of a watched cell.
    static WATCH: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
}

impl<W: Width> Width for Watched<W> {
    type Atomic = W::Atomic;
    type Code = W::Code;
    const BYTES: usize = W::BYTES;
    const MAX: u32 = W::MAX;
    fn load(cell: &W::Atomic) -> W::Code {
        W::load(cell)
    }
    fn store(cell: &W::Atomic, code: u32) {
        W::store(cell, code);
        WATCH.with_borrow_mut(|watch| watch.as_mut().map_or((), |watch| watch()));
    }
}

#[test]
fn nobody_meets_the_old_answer_after_the_new_one() {
    nobody_meets_the_old_one_after_the_new_one::<Narrow>();
    nobody_meets_the_old_one_after_the_new_one::<Coded>();
}

fn nobody_meets_the_old_one_after_the_new_one<W: Width>() {
    let mut rib = rib_of(|i| 1 + i % 250);
    let spans = spans::of_dump(&rib.dump()).unwrap();
    let behind = bitruns4::Builder::of_spans(&spans).unwrap();
    let mut module = build::Builder::<Watched<W>>::build(behind, &spans, 0).unwrap();
    let lookup = module.lookup();
    let prefix = Prefix::covering(7 << 16, 16);
    let mut moments = 0;
    for new in [60, 61, 0, 62].map(NexthopId) {
        let old = rib.set(prefix, new);
        let seen = Arc::new(AtomicUsize::new(0));
        let (lookup, count) = (lookup.clone(), seen.clone());
        WATCH.set(Some(Box::new(move || {
            for addr in [prefix.addr(), prefix.addr() + 0x8000, prefix.last_addr()] {
                let mut batch = [NexthopId::NONE];
                // Batches look at cells, single lookups first at the whole /16.
                lookup.lookup_batch(&[addr], &mut batch);
                if batch == [new] {
                    assert_eq!(lookup.lookup(addr), new, "{addr:x}");
                    count.fetch_add(1, Relaxed);
                }
            }
        })));
        let outcome = module.apply(&[Change { prefix, old, new }], &rib, &Grace::without_readers());
        assert!(matches!(outcome, Response::Applied));
        WATCH.set(None);
        moments += seen.load(Relaxed);
    }
    assert!(moments > 4 * 256, "{moments}");
    answers_as(&*lookup, &rib);
}

/// So many spans that single lookups begin at the table behind.
fn large_rib() -> Rib<Inet> {
    let mut rib = rib_of(|i| 1 + i % 250);
    for i in 0..40_000 {
        rib.set(Prefix::covering((1 << 30) + (i << 8), 24), NexthopId(1 + i % 2));
    }
    rib
}

#[test]
fn single_lookups_of_a_large_table_never_differ_from_batches_while_it_changes() {
    single_lookups_never_differ_from_batches::<Narrow>();
    single_lookups_never_differ_from_batches::<Coded>();
}

fn single_lookups_never_differ_from_batches<W: Width>() {
    let mut rib = large_rib();
    let spans = spans::of_dump(&rib.dump()).unwrap();
    let behind = bitruns4::Builder::of_spans(&spans).unwrap();
    let mut module = build::Builder::<Watched<W>>::build(behind, &spans, 0).unwrap();
    let lookup = module.lookup();
    let mut random = Random::new(46);
    for round in 0..2000 {
        let len = [14, 17, 18, 20, 24, 26, 32][random.below(7) as usize];
        let prefix = Prefix::covering(random.next_u64() as u32 & 0x0003_ffff, len);
        let new = NexthopId([0, 5, 6, 253, 300][random.below(5) as usize]);
        let old = rib.set(prefix, new);
        let watched = lookup.clone();
        WATCH.set(Some(Box::new(move || {
            for addr in [prefix.addr(), prefix.addr() ^ 0x100, prefix.last_addr()] {
                let mut batch = [NexthopId::NONE];
                watched.lookup_batch(&[addr], &mut batch);
                assert_eq!(watched.lookup(addr), batch[0], "{addr:x}, {prefix:?}");
            }
        })));
        let outcome = module.apply(&[Change { prefix, old, new }], &rib, &Grace::without_readers());
        assert!(matches!(outcome, Response::Applied));
        WATCH.set(None);
        if round % 50 == 0 {
            answers_as(&*lookup, &rib);
            module.do_some(&rib, &Grace::without_readers());
            answers_as(&*lookup, &rib);
        }
    }
}

#[test]
fn what_changes_leave_aside_is_written_anew_a_part_at_a_time() {
    let mut rib = large_rib();
    let spans = spans::of_dump(&rib.dump()).unwrap();
    let behind = bitruns4::Builder::of_spans(&spans).unwrap();
    let tables = behind.tables();
    let mut module = build::Builder::<Narrow>::build(behind, &spans, 0).unwrap();
    let addrs: Vec<u32> = (0..1000).map(|i| i << 14).collect();
    let aside =
        || addrs.iter().filter(|a| tables.reader().lookup_unless_aside(**a).is_none()).count();
    assert!(!module.has_left_some());
    for round in 0..3 {
        for (i, addr) in addrs.iter().enumerate() {
            let prefix = Prefix::covering(addr + (1 << 8), 24);
            let new = NexthopId(7 + round);
            let old = rib.set(prefix, new);
            let change = Change { prefix, old, new };
            let outcome = module.apply(&[change], &rib, &Grace::without_readers());
            assert!(matches!(outcome, Response::Applied));
            assert_eq!(aside(), i + 1);
        }
        let mut parts = 0;
        while module.has_left_some() {
            module.do_some(&rib, &Grace::without_readers());
            parts += 1;
        }
        assert_eq!((aside(), parts), (0, 16), "64 records at a time");
        answers_as(&*module.lookup(), &rib);
    }
    // A change that the table behind is told of leaves nothing.
    let (prefix, new) = (Prefix::covering(9, 32), NexthopId(3));
    let old = rib.set(prefix, new);
    module.apply(&[Change { prefix, old, new }], &rib, &Grace::without_readers());
    assert_eq!((aside(), module.has_left_some()), (0, false));
}

#[test]
fn the_first_look_follows_pages_from_the_usual_code_to_another_and_back() {
    // 5000 pages have a route; all others have none, which is usual.
    let mut rib = rib_of(|i| 1 + i % 250);
    assert_eq!(first::usual_code(&spans::of_dump(&rib.dump()).unwrap()), 0);
    let mut module = Direct4.build(&rib.dump()).unwrap();
    let lookup = module.lookup();
    let usual = |code| [NexthopId::NONE, NexthopId(9)][usize::from(code)];
    for (round, len) in [8, 16, 15, 20, 24, 32, 0, 12].into_iter().enumerate() {
        for has_route in [true, false] {
            let prefix = Prefix::covering((200 + round as u32) << 24, len);
            let new = usual(has_route);
            let old = rib.set(prefix, new);
            let outcome =
                module.apply(&[Change { prefix, old, new }], &rib, &Grace::without_readers());
            assert!(matches!(outcome, Response::Applied));
            for addr in [prefix.addr(), prefix.last_addr(), 199 << 24, 0x8123_4567, u32::MAX] {
                let wanted = rib.longest_match(addr).map_or(NexthopId::NONE, |route| route.1);
                assert_eq!(lookup.lookup(addr), wanted, "{addr:x} after {prefix:?} {new:?}");
            }
            answers_as(&*lookup, &rib);
        }
    }
    // A default route is usual; its number is beyond the narrow codes.
    rib.set(Prefix::DEFAULT, NexthopId(300));
    assert_eq!(first::usual_code(&spans::of_dump(&rib.dump()).unwrap()), 300);
    answers_as(&*Direct4.build(&rib.dump()).unwrap().lookup(), &rib);
}

/// Single lookups and batches of all lengths against the RIB, at the ends of each prefix.
fn is_as(lookup: &dyn Lookup<Inet>, rib: &Rib<Inet>, prefixes: &[Prefix<Inet>]) {
    let ends =
        |p: &Prefix<Inet>| [p.addr().wrapping_sub(1), p.addr(), p.last_addr(), p.last_addr() ^ 8];
    let addrs: Vec<u32> = prefixes.iter().flat_map(ends).collect();
    let mut answers = vec![NexthopId::NONE; addrs.len()];
    lookup.lookup_batch(&addrs, &mut answers);
    for (addr, answer) in addrs.iter().zip(&answers) {
        let wanted = rib.longest_match(*addr).map_or(NexthopId::NONE, |route| route.1);
        assert_eq!((*answer, lookup.lookup(*addr)), (wanted, wanted), "{addr:x}");
    }
}

#[test]
fn cells_with_long_routes_have_blocks_as_long_as_there_are_some() {
    let mut rib = rib_of(|i| 1 + i * 12);
    let mut random = Random::new(32);
    // In more cells than there are blocks, of some several, of some at their ends.
    let long: Vec<Prefix<Inet>> = (0..7000u32)
        .map(|i| {
            let low = random.below(256) as u32;
            Prefix::covering((1 << 30) + ((i % 5500) << 8) + low, 25 + (i % 8) as u8)
        })
        .collect();
    for (i, prefix) in long.iter().enumerate() {
        rib.set(*prefix, NexthopId(60_000 + i as u32 % 5500));
    }
    let mut module = Direct4.build(&rib.dump()).unwrap();
    let lookup = module.lookup();
    let tables = |lookup: &Arc<dyn Lookup<Inet>>| {
        let shared = lookup.as_any().unwrap().downcast_ref::<Shared<Coded>>().unwrap();
        let cells = shared.0.cells.as_array();
        let count =
            |is: fn(u32) -> bool| cells.iter().filter(|c| is(Coded::load(c).into())).count();
        (count(|code| code > Coded::MAX), count(|code| code == Coded::MAX))
    };
    assert_eq!(blocks::<Coded>(), 4095);
    let (with_block, left) = tables(&lookup);
    assert_eq!((with_block, with_block + left), (4095, 5500));
    is_as(&*lookup, &rib, &long);

    // Whoever gives a block back makes room for another, once nobody can look at it.
    let mut change = |rib: &mut Rib<Inet>, prefix: &Prefix<Inet>, new: NexthopId| {
        let old = rib.set(*prefix, new);
        let change = Change { prefix: *prefix, old, new };
        let outcome = module.apply(&[change], rib, &Grace::without_readers());
        assert!(matches!(outcome, Response::Applied));
    };
    for prefix in long.iter().filter(|prefix| prefix.addr() >> 8 & 3 != 0) {
        change(&mut rib, prefix, NexthopId::NONE);
    }
    let (with_block, left) = tables(&lookup);
    assert_eq!(with_block + left, 5500 / 4);
    is_as(&*lookup, &rib, &long);
    let others: Vec<Prefix<Inet>> =
        (0..2000).map(|i| Prefix::covering((1 << 31) + (i << 8) + 128, 26)).collect();
    for (i, prefix) in others.iter().enumerate() {
        change(&mut rib, prefix, NexthopId(1 + i as u32));
    }
    let (now_with_block, now_left) = tables(&lookup);
    assert_eq!(now_with_block + now_left, 5500 / 4 + 2000);
    assert!(now_with_block > with_block + 1900, "{now_with_block}, {with_block} before");
    is_as(&*lookup, &rib, &long);
    is_as(&*lookup, &rib, &others);

    // What covers a block, and what lies in it, changes within it; so does a nexthop that no cell can say.
    for round in 0..300 {
        let prefix = others[random.below(2000) as usize];
        let len = [8, 23, 24, 25, 26, 27, 32][round % 7];
        let prefix = Prefix::covering(prefix.addr() + random.below(256) as u32, len);
        let new = NexthopId([0, 7, 61_439, 61_440, 65_535][random.below(5) as usize]);
        change(&mut rib, &prefix, new);
        is_as(&*lookup, &rib, &[prefix]);
    }
    is_as(&*lookup, &rib, &others);
}
