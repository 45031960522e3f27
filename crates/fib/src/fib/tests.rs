//! The framework with algorithms made for the purpose, and with the real ones.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex};

use super::*;
use crate::algo::{
    Algorithm, AlgorithmError, Change, Dump, Limits, Linear, Module, Response, TableFacts,
};
use crate::lookup::Lookup;
use crate::rib::Rib;
use crate::{Grace, Inet, Inet6, Numbered, Prefix, Random, Target};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn net<F: Family<Addr = u32>>(number: u32) -> Prefix<F> {
    Prefix::covering(number << 8, 24)
}

/// Through a gateway: routes to connected networks never wait.
fn via<F: Family<Addr = u32>>(port: u16) -> Nexthop<F> {
    Nexthop::via(u32::from(port), port)
}

fn fixed(name: &str) -> Choice {
    Choice::Fixed(name.into())
}

thread_local! {
    /// How often `flaky` still fails to build, in this test's thread.
    static FAILURES: Cell<u32> = const { Cell::new(0) };
    /// Preference of `flaky`.
    static FLAKY: Cell<u8> = const { Cell::new(0) };
    /// Whether `steady` fails at the next change.
    static BREAKS: Cell<bool> = const { Cell::new(false) };
}

/// IPv4 with test algorithms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct TestNet;

impl Family for TestNet {
    type Addr = u32;
    type Ip = std::net::Ipv4Addr;
    const BITS: u8 = 32;
    const NAME: &'static str = "inet";
}

/// The test algorithms.
fn fakes() -> Registry<TestNet> {
    let mut registry = Registry::empty();
    let fakes: [&'static dyn Algorithm<TestNet>; 4] =
        [&Fake::Tiny, &Fake::Steady, &Fake::Flaky, &Fake::Narrow];
    fakes.into_iter().for_each(|fake| registry.attach(fake).unwrap());
    registry
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fake {
    /// For few routes; asks for a rebuild at each change.
    Tiny,
    /// For every table; replaces its structure at each change, and may break.
    Steady,
    /// Fails to build as often as it is told.
    Flaky,
    /// The best, but only for two nexthops and three prefixes.
    Narrow,
}

struct FakeModule {
    kind: Fake,
    lookup: Arc<dyn Lookup<TestNet>>,
}

impl Algorithm<TestNet> for Fake {
    fn name(&self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::Steady => "steady",
            Self::Flaky => "flaky",
            Self::Narrow => "narrow",
        }
    }

    fn limits(&self) -> Limits {
        match self {
            Self::Narrow => Limits { nexthops: 2, prefixes: 3 },
            _ => Limits::NONE,
        }
    }

    fn preference(&self, facts: &TableFacts) -> u8 {
        match self {
            Self::Tiny if facts.prefixes < 10 => 200,
            Self::Tiny => 138,
            Self::Steady => 150,
            Self::Flaky => FLAKY.get(),
            Self::Narrow => 0,
        }
    }

    fn build(&self, dump: &Dump<TestNet>) -> Result<Box<dyn Module<TestNet>>, AlgorithmError> {
        if *self == Self::Flaky && FAILURES.get() > 0 {
            FAILURES.set(FAILURES.get() - 1);
            return Err(AlgorithmError::OutOfMemory { bytes: 1 << 30 });
        }
        let lookup = Linear.build(dump)?.lookup();
        Ok(Box::new(FakeModule { kind: *self, lookup }))
    }
}

impl Module<TestNet> for FakeModule {
    fn lookup(&self) -> Arc<dyn Lookup<TestNet>> {
        self.lookup.clone()
    }

    fn apply(
        &mut self,
        _changes: &[Change<TestNet>],
        rib: &Rib<TestNet>,
        _grace: &Grace<'_>,
    ) -> Response<TestNet> {
        if self.kind == Fake::Tiny {
            return Response::Rebuild { reason: "it is tiny" };
        }
        if BREAKS.take() {
            return Response::Failed(AlgorithmError::Full { what: "box", limit: 1 });
        }
        self.lookup = Linear.build(&rib.dump()).unwrap().lookup();
        Response::Replaced(self.lookup.clone())
    }
}

/// A table whose messages are kept.
fn logged() -> (Fib<TestNet>, Arc<Mutex<Vec<String>>>) {
    let mut fib = Fib::start(3, CacheSizes::default(), fakes()).unwrap();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    fib.set_log(Some(Box::new(move |event| sink.lock().unwrap().push(event.to_string()))));
    (fib, lines)
}

#[test]
fn a_held_nexthop_has_its_number_before_the_first_route_and_after_the_last() {
    let mut fib = Fib::<Inet>::new(0).unwrap();
    let nexthop = Nexthop::connected(3);
    let id = fib.hold(nexthop).unwrap();
    assert_eq!((fib.nexthop(id), fib.rib().len()), (Some(&nexthop), 0));
    let prefix: Prefix<Inet> = "10.0.0.0/8".parse().unwrap();
    assert_eq!(fib.add(prefix, id), Ok(id));
    fib.delete(prefix).unwrap();
    assert_eq!(fib.nexthop(id), Some(&nexthop));
    fib.release(id);
    fib.flush();
    fib.sync(std::time::Duration::ZERO);
    assert_eq!(fib.nexthop(id), None);
}

#[test]
fn a_number_that_nobody_holds_cannot_be_taken_from_its_routes() {
    let mut fib = Fib::<Inet>::new(0).unwrap();
    let (prefix, nexthop) = ("10.0.0.0/8".parse::<Prefix<Inet>>().unwrap(), Nexthop::connected(1));
    let id = fib.add(prefix, nexthop).unwrap();
    let held = fib.hold(nexthop).unwrap();
    assert_eq!(held, id);
    for _ in 0..3 {
        fib.release(id);
    }
    for port in 100..120 {
        let net: Prefix<Inet> = format!("20.{port}.0.0/16").parse().unwrap();
        fib.add(net, Nexthop::connected(port)).unwrap();
    }
    fib.sync(std::time::Duration::from_secs(60));
    let found = fib.reader().lookup_ip(std::net::Ipv4Addr::new(10, 1, 1, 1));
    assert_eq!((found, fib.nexthop(found)), (id, Some(&nexthop)));
}

#[test]
fn whoever_keeps_things_by_number_is_told_of_each_before_readers_meet_it() {
    let mut fib = Fib::<Inet>::new(0).unwrap();
    let known = fib.add(net(1), via(1)).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let (sink, reader) = (told.clone(), Mutex::new(fib.reader()));
    fib.set_number_sink(Box::new(move |id, what| {
        let seen = reader.lock().unwrap().lookup(net::<Inet>(2).addr());
        assert_ne!(seen, id, "readers have met it already");
        let what = match what {
            Numbered::Nexthop(nexthop) => nexthop.gateway,
            Numbered::Group(group) => Some(group.members().len() as u32 + 1000),
        };
        sink.lock().unwrap().push((id, what));
    }));
    let take = || std::mem::take(&mut *told.lock().unwrap());
    assert_eq!(take(), [(known, Some(1))]);
    let second = fib.add(net(2), via(2)).unwrap();
    assert_eq!(take(), [(second, Some(2))]);
    // Known ones are not told again.
    fib.add(net(3), via(2)).unwrap();
    assert_eq!(take(), []);
    let group = fib.change(net(2), vec![(via(2), 1), (via(3), 1)]).unwrap();
    let third = fib.nexthops().number(&via(3)).unwrap();
    assert_eq!(take(), [(third, Some(3)), (group, Some(1002))]);
    fib.change_nexthop_group(group, &[(via(3), 1), (via(4), 1), (via(2), 2)]).unwrap();
    let fourth = fib.nexthops().number(&via(4)).unwrap();
    assert_eq!(take(), [(fourth, Some(4))]);
    // A number that is given away again is told again.
    fib.delete(net(1)).unwrap();
    fib.load([(net(5), via(5)), (net(6), via(6))]).unwrap();
    let numbers = [5, 6].map(|i| (fib.nexthops().number(&via(i)).unwrap(), Some(u32::from(i))));
    assert_eq!(take(), numbers);
    assert!(numbers.iter().any(|(id, _)| *id == known), "{numbers:?}");
}

#[test]
fn a_reader_sees_each_change() {
    let mut fib = Fib::<Inet>::new(0).unwrap();
    let mut reader = fib.reader();
    assert!(reader.lookup(1).is_none());
    let net = "198.18.0.0/16".parse().unwrap();
    let id = fib.add(net, via(1)).unwrap();
    assert_eq!(reader.lookup(net.addr()), id);
    let other = fib.change(net, Nexthop::via(7, 2)).unwrap();
    let mut answers = [NexthopId::NONE; 2];
    reader.lookup_batch(&[net.addr(), 0], &mut answers);
    assert_eq!(answers, [other, NexthopId::NONE]);
    assert_eq!(fib.nexthop(other).unwrap().gateway, Some(7));
    fib.delete(net).unwrap();
    assert!(reader.lookup(net.addr()).is_none());
    assert_eq!((reader.pin().generation(), fib.generation()), (3, 3));
}

#[test]
fn wrong_changes_are_refused_and_change_nothing() {
    let mut fib = Fib::<Inet>::new(0).unwrap();
    fib.add(net(1), via(1)).unwrap();
    assert_eq!(
        fib.add(net(1), via(2)).unwrap_err().to_string(),
        "route 0.0.1.0/24 exists already, change or delete it instead"
    );
    assert!(matches!(fib.change(net(2), via(1)), Err(FibError::Missing { .. })));
    assert!(matches!(fib.delete(net(2)), Err(FibError::Missing { .. })));
    let unknown = fib.add(net(2), NexthopId(77));
    assert_eq!(unknown, Err(FibError::UnknownNexthop { number: 77 }));
    assert!(matches!(fib.add(net(2), vec![(via(1), 0)]), Err(FibError::Group(_))));
    assert!(fib.load([(net(2), Target::from(via(4))), (net(3), NexthopId(99).into())]).is_err());
    fib.sync(ms(0));
    let stats = fib.stats();
    assert_eq!((stats.routes, stats.nexthops, stats.generation), (1, 1, 1));
}

#[test]
fn an_unknown_algorithm_is_refused_with_the_known_names() {
    let mut fib = Fib::<Inet6>::new(0).unwrap();
    let error = fib.set_algorithm(fixed("nosuch")).unwrap_err();
    assert!(error.to_string().contains("radix6_lockless, radix6"), "{error}");
    assert_eq!(fib.choice(), &Choice::Auto);
}

#[test]
fn a_reader_may_outlive_the_table() {
    let mut fib = Fib::<Inet>::new(0).unwrap();
    let id = fib.add(Prefix::DEFAULT, via(0)).unwrap();
    let mut reader = fib.reader();
    drop(fib);
    assert_eq!(reader.lookup(9), id);
}

#[test]
fn every_algorithm_can_be_attached_while_a_reader_runs() {
    let mut fib = Fib::<Inet>::new(0).unwrap();
    let mut reader = fib.reader();
    let names: Vec<_> = fib.algorithms().collect();
    for (port, name) in (1..).zip(names) {
        fib.set_algorithm(fixed(name)).unwrap();
        assert_eq!(fib.algorithm_name(), name);
        let id = fib.add(net(u32::from(port)), via(port)).unwrap();
        assert_eq!(reader.lookup(u32::from(port) << 8), id, "{name}");
    }
}

#[test]
fn a_change_that_cannot_be_applied_waits_for_its_bucket() {
    let (mut fib, lines) = logged();
    let mut reader = fib.reader();
    let id = fib.add(net(1), via(1)).unwrap();
    assert!(!fib.is_synced() && reader.lookup(256).is_none());
    assert_eq!(fib.sync(ms(1000)).next, Some(ms(1050)));
    assert!(!fib.sync(ms(1049)).rebuilt && reader.lookup(256).is_none());
    let synced = fib.sync(ms(1050));
    assert!(synced.rebuilt && !synced.switched);
    assert_eq!(reader.lookup(256), id);
    assert_eq!(reader.pin().generation(), 1);
    assert_eq!(fib.sync(ms(9999)), Synced::default());
    let lines = lines.lock().unwrap();
    assert_eq!(lines[0], "[fib_algo] inet.3 (tiny#1) rebuild: scheduled, it is tiny");
    assert!(
        lines[1].starts_with("[fib_algo] inet.3 (tiny#2) rebuild: done, 1 prefixes, 1 nexthops")
    );
    assert_eq!(lines.len(), 2);
}

#[test]
fn flush_makes_everything_visible_at_once() {
    let (mut fib, _) = logged();
    let mut reader = fib.reader();
    let id = fib.add(net(1), via(1)).unwrap();
    fib.flush();
    assert!(fib.is_synced());
    assert_eq!(reader.lookup(256), id);
}

#[test]
fn a_growing_table_moves_on_and_a_shrinking_one_comes_back() {
    let (mut fib, lines) = logged();
    for i in 0..99 {
        fib.add(net(i), via(1)).unwrap();
    }
    fib.sync(ms(0));
    assert_eq!(fib.algorithm_name(), "tiny");
    fib.add(net(99), via(1)).unwrap();
    // Steady's 150 is not worth it against 138.
    assert!(!fib.sync(ms(1)).switched);
    FLAKY.set(151);
    fib.change(net(0), via(2)).unwrap();
    assert!(!fib.sync(ms(2)).switched);
    // A hundred changes in the bucket are a flood: the rebuild waits for the next one.
    assert!(!fib.sync(ms(52)).switched);
    assert!(fib.sync(ms(102)).switched);
    assert_eq!(fib.algorithm_name(), "flaky");
    let line = "[fib_algo] inet.3 (tiny#1) rebuild: switching algo to flaky";
    assert!(lines.lock().unwrap().iter().any(|l| l == line), "{:?}", lines.lock().unwrap());
    for i in 0..95 {
        fib.delete(net(i)).unwrap();
    }
    fib.sync(ms(40_000));
    assert!(fib.sync(ms(70_000)).switched);
    assert_eq!(fib.algorithm_name(), "tiny");
}

#[test]
fn a_failing_algorithm_is_left_out_for_a_growing_time() {
    let (mut fib, lines) = logged();
    FLAKY.set(255);
    FAILURES.set(3);
    fib.load([(net(1), via(1))]).unwrap();
    // The table is served by the one that it has, and up to date.
    assert_eq!((fib.algorithm_name(), fib.is_synced()), ("tiny", true));
    let tries: Vec<u64> = (0..20)
        .filter(|s| {
            let before = FAILURES.get();
            fib.sync(ms(s * 1000));
            FAILURES.get() < before || (before == 0 && fib.algorithm_name() == "flaky" && *s < 8)
        })
        .collect();
    assert_eq!(tries, [1, 3, 7]);
    assert_eq!(fib.algorithm_name(), "flaky");
    let lines = lines.lock().unwrap();
    assert_eq!(
        lines[0],
        "[fib_algo] inet.3 (tiny#1) rebuild: flaky failed: cannot allocate 1073741824 bytes \
         (failures=1), left out for 1000 ms"
    );
}

#[test]
fn an_algorithm_that_always_fails_is_given_up() {
    let (mut fib, lines) = logged();
    FLAKY.set(255);
    FAILURES.set(1000);
    fib.load([(net(1), via(1))]).unwrap();
    let seconds_of_a_day = 24 * 3600;
    for s in 0..seconds_of_a_day {
        fib.sync(ms(s * 1000));
    }
    assert_eq!((1000 - FAILURES.get(), fib.algorithm_name()), (7, "tiny"));
    let last = lines.lock().unwrap().iter().rfind(|line| line.contains("failed")).cloned();
    assert!(last.unwrap().ends_with("(failures=7), not tried again"));
    assert_eq!(fib.sync(ms(seconds_of_a_day * 1000)).next, None);
    // As long as it is registered, another table is no other chance.
    FAILURES.set(0);
    fib.load([(net(2), via(1))]).unwrap();
    assert_eq!(fib.algorithm_name(), "tiny");
    fib.detach("flaky").unwrap();
    fib.attach(&Fake::Flaky).unwrap();
    assert_eq!(fib.algorithm_name(), "flaky");
}

#[test]
fn a_table_that_nobody_can_serve_is_tried_again_when_it_has_changed() {
    let mut registry = Registry::<TestNet>::empty();
    registry.attach(&Fake::Flaky).unwrap();
    let mut fib = Fib::with(registry).unwrap();
    let mut reader = fib.reader();
    fib.set_algorithm(fixed("flaky")).unwrap();
    FAILURES.set(1000);
    fib.load([(net(1), via(1))]).unwrap();
    let sync_until = |fib: &mut Fib<TestNet>, seconds: std::ops::Range<u64>| {
        let before = FAILURES.get();
        for s in seconds {
            fib.sync(ms(s * 1000));
        }
        before - FAILURES.get()
    };
    assert_eq!(sync_until(&mut fib, 0..1000), 6);
    assert_eq!((sync_until(&mut fib, 1000..9000), fib.is_synced()), (0, false));
    fib.change(net(1), via(2)).unwrap();
    assert_eq!(sync_until(&mut fib, 9000..9050), 0);
    assert_eq!(sync_until(&mut fib, 9050..20_000), 1);
    FAILURES.set(0);
    let id = fib.change(net(1), via(3)).unwrap();
    sync_until(&mut fib, 20_000..20_100);
    assert_eq!((reader.lookup(256), fib.is_synced()), (id, true));
}

#[test]
fn routes_to_connected_networks_never_wait() {
    let (mut fib, _) = logged();
    let mut reader = fib.reader();
    let far = fib.add(net(1), via(1)).unwrap();
    assert!(!fib.is_synced() && reader.lookup(256).is_none());
    let near = fib.add(net(2), Nexthop::connected(2)).unwrap();
    assert_eq!((reader.lookup(512), reader.lookup(256), fib.is_synced()), (near, far, true));
    fib.delete(net(2)).unwrap();
    assert!(reader.lookup(512).is_none() && fib.is_synced());
    fib.delete(net(1)).unwrap();
    assert!(!reader.lookup(256).is_none() && !fib.is_synced());
}

#[test]
fn routes_written_by_hand_never_wait() {
    let (mut fib, _) = logged();
    let mut reader = fib.reader();
    let learned = fib.add(net(1), via(1)).unwrap();
    assert!(!fib.is_synced());
    let builds = fib.builds();
    let own = fib.by_hand(|fib| {
        fib.add(net(2), via(2)).unwrap();
        fib.add(net(3), via(3)).unwrap()
    });
    // One rebuild for the batch, which brings what has waited, too.
    assert_eq!((fib.builds(), fib.is_synced()), (builds + 1, true));
    assert_eq!((reader.lookup(256), reader.lookup(768)), (learned, own));
    fib.by_hand(|fib| fib.delete(net(3))).unwrap();
    assert!(reader.lookup(768).is_none() && fib.is_synced());
    // What is wrong changes nothing, and what is there already costs no rebuild.
    let builds = fib.builds();
    assert!(fib.by_hand(|fib| fib.delete(net(3))).is_err());
    assert_eq!(fib.builds(), builds);
}

#[test]
fn a_change_of_a_group_is_seen_in_the_generation_while_routes_wait() {
    let (mut fib, _) = logged();
    let mut reader = fib.reader();
    let group = fib.add(net(1), vec![(via(1), 1), (via(2), 3)]).unwrap();
    fib.flush();
    fib.add(net(2), via(3)).unwrap();
    assert!(!fib.is_synced());
    let before = reader.pin().generation();
    let member = |reader: &mut Reader<TestNet>| reader.pin().member(group, 0);
    let old = member(&mut reader);
    fib.change_nexthop_group(group, &[(via(7), 1)]).unwrap();
    assert_ne!(member(&mut reader), old);
    assert_eq!((reader.pin().generation(), fib.is_synced()), (before + 1, false));
    fib.flush();
    assert_eq!((reader.pin().generation(), fib.generation()), (3, 3));
}

#[test]
fn a_table_of_very_many_nexthops_is_served_without_a_lock() {
    let mut fib = Fib::<Inet>::new(0).unwrap();
    let route = |i: u32| (net::<Inet>(i), Nexthop::via(i, 0));
    fib.load((0..70_000).map(route)).unwrap();
    assert_eq!(fib.algorithm_name(), "dpdk_lpm4");
    let mut reader = fib.reader();
    let is = |fib: &Fib<Inet>, id, gateway| fib.nexthop(id) == Some(&Nexthop::via(gateway, 0));
    for i in (0..70_000).step_by(997) {
        assert!(is(&fib, reader.lookup(i << 8), i));
    }
    // Changes with numbers of more than 16 bits are applied at once.
    fib.add(Prefix::covering(5 << 8 | 128, 25), Nexthop::via(80_000, 0)).unwrap();
    assert!(fib.is_synced());
    assert!(is(&fib, reader.lookup(5 << 8 | 200), 80_000) && is(&fib, reader.lookup(5 << 8), 5));
    // Fewer routes and nexthops are the fast ones' again.
    let gone: Vec<_> = (1_000..70_000).map(|i| Update::Delete(net(i))).collect();
    fib.apply(&gone).unwrap();
    fib.delete(Prefix::covering(5 << 8 | 128, 25)).unwrap();
    fib.sync(ms(60_000));
    fib.sync(ms(120_000));
    assert_eq!(fib.algorithm_name(), "direct4");
    let mut fib = Fib::<Inet6>::new(0).unwrap();
    let route = |i: u128| (Prefix::covering(i << 64, 64), Nexthop::via(i, 0));
    fib.load((0..70_000).map(route)).unwrap();
    assert_eq!(fib.algorithm_name(), "direct6");
    let id = fib.reader().lookup(69_999 << 64);
    assert_eq!(fib.nexthop(id), Some(&Nexthop::via(69_999, 0)));
}

#[test]
fn the_fast_search_of_ipv6_holds_very_many_nexthops() {
    let mut fib = Fib::<Inet6>::new(0).unwrap();
    let net = |i: u128| Prefix::covering((0x2001 + (i & 3)) << 112 | (i >> 2) << 80, 48);
    fib.load((0..70_000).map(|i| (net(i), Nexthop::via(i, 0)))).unwrap();
    assert_eq!(fib.algorithm_name(), "direct6");
    let mut reader = fib.reader();
    let mut is = |fib: &Fib<Inet6>, addr, gateway| {
        let mut batch = [NexthopId::NONE; 40];
        reader.lookup_batch(&[addr; 40], &mut batch);
        let id = reader.lookup(addr);
        batch == [id; 40] && fib.nexthop(id) == Some(&Nexthop::via(gateway, 0))
    };
    for i in (0..70_000).step_by(997) {
        assert!(is(&fib, net(i).addr() | 77, i), "{i}");
    }
    // Changes with other numbers of more than 16 bits are applied at once, on both sides of the /16.
    fib.add(Prefix::DEFAULT, Nexthop::via(90_000, 0)).unwrap();
    for (i, gateway) in (0..300).zip(80_000..) {
        fib.change(net(i), Nexthop::via(gateway, 0)).unwrap();
        assert!(fib.is_synced() && is(&fib, net(i).addr(), gateway), "{i}");
    }
    fib.delete(net(7)).unwrap();
    assert!(is(&fib, net(7).addr(), 90_000) && is(&fib, 9, 90_000) && is(&fib, u128::MAX, 90_000));
    assert_eq!(fib.algorithm_name(), "direct6");
}

#[test]
fn another_algorithm_takes_over_when_the_fixed_one_breaks() {
    let (mut fib, _) = logged();
    let mut reader = fib.reader();
    fib.set_algorithm(fixed("steady")).unwrap();
    fib.add(net(1), via(1)).unwrap();
    BREAKS.set(true);
    let id = fib.add(net(2), via(2)).unwrap();
    assert_eq!((fib.algorithm_name(), reader.lookup(512)), ("tiny", id));
    fib.sync(ms(999));
    assert_eq!(fib.algorithm_name(), "tiny");
    fib.sync(ms(1000));
    assert_eq!(fib.algorithm_name(), "steady");
}

#[test]
fn limits_are_kept_and_left_when_the_table_outgrows_them() {
    let (mut fib, _) = logged();
    let mut reader = fib.reader();
    for i in 1..=3 {
        fib.add(net(i), via(1)).unwrap();
    }
    fib.set_algorithm(fixed("narrow")).unwrap();
    fib.change(net(3), via(2)).unwrap();
    assert_eq!(fib.algorithm_name(), "narrow");
    let third = fib.change(net(3), via(3)).unwrap();
    assert_eq!((fib.algorithm_name(), reader.lookup(3 << 8)), ("tiny", third));
    let error = fib.set_algorithm(fixed("narrow")).unwrap_err();
    assert_eq!(error.to_string(), "algorithm narrow: nexthop number 3 is above its limit of 2");
}

#[test]
fn a_failed_build_by_name_leaves_everything_as_it_was() {
    let (mut fib, _) = logged();
    FAILURES.set(1);
    assert!(matches!(fib.set_algorithm(fixed("flaky")), Err(FibError::Algorithm { .. })));
    assert_eq!((fib.algorithm_name(), fib.choice()), ("tiny", &Choice::Auto));
}

/// A list that is told nothing of the default route, and keeps what it was told.
#[derive(Debug)]
struct Apart;

thread_local! {
    static TOLD: RefCell<Vec<Prefix<Inet>>> = const { RefCell::new(Vec::new()) };
}

struct ApartModule(Rib<Inet>, Arc<dyn Lookup<Inet>>);

impl Algorithm<Inet> for Apart {
    fn name(&self) -> &'static str {
        "apart"
    }
    fn preference(&self, _facts: &TableFacts) -> u8 {
        0
    }
    fn leaves_default(&self) -> bool {
        true
    }
    fn build(&self, dump: &Dump<Inet>) -> Result<Box<dyn Module<Inet>>, AlgorithmError> {
        TOLD.with_borrow_mut(|told| told.extend(dump.routes().iter().map(|route| route.0)));
        let lookup = Linear.build(dump)?.lookup();
        Ok(Box::new(ApartModule(Rib::from_dump(dump), lookup)))
    }
}

impl Module<Inet> for ApartModule {
    fn lookup(&self) -> Arc<dyn Lookup<Inet>> {
        self.1.clone()
    }
    fn apply(
        &mut self,
        changes: &[Change<Inet>],
        rib: &Rib<Inet>,
        _grace: &Grace<'_>,
    ) -> Response<Inet> {
        for change in changes {
            TOLD.with_borrow_mut(|told| told.push(change.prefix));
            let (outer, covered) = rib.part(change.prefix);
            TOLD.with_borrow_mut(|told| told.extend(covered.map(|route| route.0)));
            assert_eq!(outer, NexthopId::NONE, "nothing but the default route is around them");
            self.0.set(change.prefix, change.new);
        }
        self.1 = Linear.build(&self.0.dump()).unwrap().lookup();
        Response::Replaced(self.1.clone())
    }
}

#[test]
fn the_default_route_is_the_framework_s_where_an_algorithm_leaves_it() {
    let mut fib = Fib::<Inet>::new(0).unwrap();
    fib.attach(&Apart).unwrap();
    fib.load([(Prefix::DEFAULT, via(1)), (net(1), via(2))]).unwrap();
    fib.set_algorithm(fixed("apart")).unwrap();
    let (mut early, mut reader) = (fib.reader(), fib.reader());
    let in_hand = early.pin();
    let id = |fib: &Fib<Inet>, prefix| fib.rib().exact(prefix);
    let (one, two) = (id(&fib, Prefix::DEFAULT), id(&fib, net(1)));
    let ask = |reader: &mut Reader<Inet>| {
        let table = reader.pin();
        let addrs: Vec<u32> = (0..100).map(|i| (i % 3) << 8).collect();
        let mut answers = vec![NexthopId(77); 101];
        table.lookup_batch(&addrs, &mut answers);
        assert_eq!(answers.pop(), Some(NexthopId(77)), "an answer that nobody asked for");
        for (addr, answer) in addrs.iter().zip(&answers) {
            assert_eq!((table.lookup(*addr), *answer), (*answer, answers[*addr as usize >> 8]));
        }
        [answers[0], answers[1], answers[2]]
    };
    assert_eq!(ask(&mut reader), [one, two, one]);
    // In one call: the default comes first, and who holds the table before meets nothing of the rest.
    let builds = fib.builds();
    let updates = [
        Update::Set(net(2), via(3).into()),
        Update::Set(Prefix::DEFAULT, via(4).into()),
        Update::Delete(net(1)),
    ];
    fib.apply(&updates).unwrap();
    let (three, four) = (id(&fib, net(2)), id(&fib, Prefix::DEFAULT));
    assert_eq!(ask(&mut reader), [four, four, three]);
    assert_eq!((in_hand.lookup(0), in_hand.lookup(1 << 8)), (four, two));
    // Nor does a later one reach who held the structure before it.
    fib.change(Prefix::DEFAULT, via(7)).unwrap();
    assert_eq!((in_hand.lookup(0), ask(&mut reader)[0]), (four, id(&fib, Prefix::DEFAULT)));
    drop(in_hand);
    fib.delete(Prefix::DEFAULT).unwrap();
    assert_eq!(ask(&mut reader), [NexthopId::NONE, NexthopId::NONE, three]);
    fib.add(Prefix::DEFAULT, via(5)).unwrap();
    let five = id(&fib, Prefix::DEFAULT);
    assert_eq!(ask(&mut reader), [five, five, three]);
    assert_eq!(fib.builds(), builds, "no change has built a structure");
    let told = TOLD.take();
    assert!(!told.is_empty() && !told.contains(&Prefix::DEFAULT), "{told:?}");
    // An algorithm that keeps it in its structure is given it.
    fib.set_algorithm(fixed("linear")).unwrap();
    assert_eq!(ask(&mut reader), [five, five, three]);
    fib.change(Prefix::DEFAULT, via(6)).unwrap();
    fib.flush();
    assert_eq!(ask(&mut reader)[0], id(&fib, Prefix::DEFAULT));
    assert_eq!(fib.rib().len(), 2);
}

/// Serves every table better than anything else, from a list.
#[derive(Debug)]
struct Eager;

impl Algorithm<Inet> for Eager {
    fn name(&self) -> &'static str {
        "eager"
    }
    fn preference(&self, _facts: &TableFacts) -> u8 {
        255
    }
    fn build(&self, dump: &Dump<Inet>) -> Result<Box<dyn Module<Inet>>, AlgorithmError> {
        Linear.build(dump)
    }
}

#[test]
fn an_algorithm_from_outside_comes_and_goes_while_a_reader_runs() {
    let mut fib = Fib::<Inet>::new(0).unwrap();
    let mut reader = fib.reader();
    let routes = (0..500).map(|i| (net(i), via(1)));
    fib.load(routes).unwrap();
    let before = fib.algorithm_name();
    let generation = fib.generation();
    // At 255 the fastest of the large tables are its equals: it is not worth a change.
    fib.attach(&Eager).unwrap();
    assert_eq!((fib.algorithm_name(), fib.algorithms().last()), (before, Some("eager")));
    assert!(matches!(fib.attach(&Eager), Err(FibError::AlgorithmExists { name: "eager", .. })));
    fib.set_algorithm(fixed("eager")).unwrap();
    assert_eq!(fib.detach("eager"), Err(FibError::AlgorithmBusy { name: "eager" }));
    let id = fib.add(net(500), via(2)).unwrap();
    fib.flush();
    assert_eq!(reader.lookup(500 << 8), id);
    fib.set_algorithm(Choice::Auto).unwrap();
    fib.detach("eager").unwrap();
    assert!(fib.set_algorithm(fixed("eager")).is_err());
    assert_eq!((reader.lookup(500 << 8), fib.generation()), (id, generation + 1));
}

#[test]
fn a_better_algorithm_takes_over_when_it_is_attached() {
    let mut registry = Registry::<Inet>::empty();
    let error = Fib::with(registry.clone()).err().unwrap().to_string();
    assert!(error.starts_with("no inet lookup algorithm to serve the table"), "{error}");
    registry.attach(&Linear).unwrap();
    let mut fib = Fib::with(registry).unwrap();
    let id = fib.add(net(1), via(1)).unwrap();
    assert_eq!(fib.algorithm_name(), "linear");
    fib.attach(&Eager).unwrap();
    assert_eq!((fib.algorithm_name(), fib.reader().lookup(256)), ("eager", id));
}

#[test]
fn a_family_from_outside_has_the_algorithms_for_any_width() {
    let mut fib = Fib::<TestNet>::new(0).unwrap();
    let names: Vec<_> = fib.algorithms().collect();
    assert_eq!(names, ["bsearch", "radix_lockless", "radix", "linear"]);
    let id = fib.add(net(1), via(1)).unwrap();
    for name in names {
        fib.set_algorithm(fixed(name)).unwrap();
        assert_eq!(fib.reader().lookup(256), id, "{name}");
    }
}

#[test]
fn addresses_of_the_standard_library_are_taken_as_they_are() {
    let mut fib = Fib::<Inet6>::new(0).unwrap();
    let gateway = "2001:db8::1".parse().unwrap();
    let prefix = Prefix::of("2001:db8:7::".parse().unwrap(), 48).unwrap();
    let id = fib.add(prefix, Nexthop::through(gateway, 2)).unwrap();
    assert_eq!(fib.nexthop(id).unwrap().gateway_ip(), Some(gateway));
    let (mut reader, inside) = (fib.reader(), "2001:db8:7::99".parse().unwrap());
    assert_eq!((reader.lookup_ip(inside), reader.pin().lookup_ip(gateway)), (id, NexthopId::NONE));
    assert_eq!(prefix.ip().to_string(), "2001:db8:7::");
    assert!(Prefix::<Inet>::of([10, 0, 0, 0].into(), 33).is_err());
}

#[test]
fn a_batch_counts_what_it_did() {
    let mut fib = Fib::<Inet>::new(0).unwrap();
    let set = |i, port| Update::Set(net(i), via(port).into());
    let updates = [
        set(1, 1),
        set(2, 1),
        set(1, 2),
        set(2, 1),
        Update::Delete(net(2)),
        Update::Delete(net(9)),
    ];
    let applied = fib.apply(&updates).unwrap();
    assert_eq!(applied, Applied { added: 2, changed: 1, deleted: 1, unchanged: 2 });
    let mut reader = fib.reader();
    assert!(reader.lookup(512).is_none() && !reader.lookup(256).is_none());
    let bad = fib.apply(&[set(5, 1), Update::Set(net(6), NexthopId(50).into()), set(7, 1)]);
    assert_eq!(bad, Err(FibError::UnknownNexthop { number: 50 }));
    assert!(!reader.lookup(5 << 8).is_none() && reader.lookup(7 << 8).is_none());
}

#[test]
fn a_load_equals_the_same_routes_added_one_by_one() {
    let mut random = Random::new(5);
    let routes: Vec<_> = (0..3000)
        .map(|_| {
            let prefix = Prefix::<Inet>::covering(random.addr::<Inet>(), 8 + random.below(9) as u8);
            (prefix, via(random.below(50) as u16))
        })
        .collect();
    let mut loaded = Fib::<Inet>::new(0).unwrap();
    let report = loaded.load(routes.iter().copied()).unwrap();
    let again = loaded.load(routes.iter().copied()).unwrap();
    assert_eq!(report.duplicates, 3000 - report.routes);
    assert_eq!((again.routes, again.duplicates), (report.routes, 3000));
    let mut added = Fib::<Inet>::new(0).unwrap();
    for &(prefix, nexthop) in &routes {
        let _exists = added.add(prefix, nexthop).is_err() && added.change(prefix, nexthop).is_ok();
    }
    let gateways = |fib: &Fib<Inet>| -> Vec<_> {
        fib.rib().iter().map(|(prefix, id)| (prefix, *fib.nexthop(id).unwrap())).collect()
    };
    assert_eq!(gateways(&loaded), gateways(&added));
    let users = loaded.nexthops().iter().map(|(id, _)| loaded.nexthops().users(id) as usize);
    assert_eq!(users.sum::<usize>(), report.routes);
    loaded.clear();
    loaded.sync(ms(0));
    assert!(loaded.rib().is_empty() && loaded.nexthops().is_empty());
}

#[test]
fn readers_pick_members_of_groups_and_see_them_change() {
    let mut fib = Fib::<Inet>::new(0).unwrap();
    let mut reader = fib.reader();
    let group = fib.add(net(1), vec![(via(1), 1), (via(2), 3)]).unwrap();
    let single = fib.add(net(2), via(3)).unwrap();
    let pinned = reader.pin();
    assert_eq!(pinned.lookup(256), group);
    let port = |id| fib.nexthop(id).map(|nexthop| nexthop.port);
    let ports: Vec<_> = (0..256).map(|i| port(pinned.member(group, i << 24)).unwrap()).collect();
    assert_eq!(ports.iter().filter(|&&port| port == 1).count(), 64);
    assert_eq!(pinned.member(single, 12345), single);
    drop(pinned);
    fib.change_nexthop_group(group, &[(via(2), 1)]).unwrap();
    let pinned = reader.pin();
    assert!((0..256).all(|i| fib.nexthop(pinned.member(group, i << 24)).unwrap().port == 2));
    drop(pinned);
    assert!(matches!(fib.change_nexthop_group(single, &[]), Err(FibError::UnknownNexthop { .. })));
    // The number of a group that is gone may become a nexthop's.
    fib.delete(net(1)).unwrap();
    fib.sync(ms(0));
    let ids: Vec<_> =
        (10..14).map(|port| fib.add(net(u32::from(port)), via(port)).unwrap()).collect();
    assert!(ids.contains(&group));
    assert_eq!(reader.pin().member(group, 7), group);
}

#[test]
fn a_module_does_what_it_has_left_in_parts_between_other_things() {
    let mut fib = Fib::<Inet>::with_caches(0, CacheSizes::default()).unwrap();
    let route = |i: u32, port| Update::Set(net(i), via(port).into());
    fib.load((0..30_000).map(|i| (net(i), via(1 + (i % 2) as u16)))).unwrap();
    assert_eq!((fib.algorithm_name(), fib.sync(ms(0)).next), ("direct4", None));
    // Records of 64 networks: 200 are changed.
    let updates: Vec<_> = (0..200).map(|i| route(i * 64, 3)).collect();
    fib.apply(&updates).unwrap();
    let mut times = Vec::new();
    let mut next = Some(ms(5));
    while let Some(now) = next {
        times.push(now);
        next = fib.sync(now).next.filter(|next| *next < ms(1000));
    }
    assert_eq!(times, [5, 15, 25, 35].map(ms), "64 at a time");
    let mut reader = fib.reader();
    let id = fib.nexthops().number(&via(3)).unwrap();
    assert!((0..200).all(|i| reader.lookup((i * 64) << 8) == id));
}
