//! Tables that change under traffic: a packet goes the old or the new way, and never none.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use fwdlab_fib::{Choice, FibError, Inet, Nexthop, Prefix, Update};
use fwdlab_port::{Batch, Pool, PoolConfig, Port, ring};
use fwdlab_router::{Overflow, RouterError};
use fwdlab_wire::MacAddr;

use crate::rig::*;

/// A gateway behind port 1 beside the usual one.
const OTHER: u32 = 0xc613_00cc;

fn prefix(third: u8) -> Prefix<Inet> {
    format!("10.{third}.0.0/16").parse().unwrap()
}

fn to(third: u32) -> Vec<u8> {
    inet_with(|packet| packet.set_destination(0x0a00_0001 | third << 16))
}

#[test]
fn packets_in_the_middle_of_an_edit_go_the_way_of_the_number_s_new_nexthop() {
    let mut rig = Rig::new();
    rig.router.add_neighbour::<Inet>(1, OTHER, FAR).unwrap();
    for third in 1..=3 {
        rig.router.add_route::<Inet>(prefix(third), Nexthop::via(OTHER, 1)).unwrap();
    }
    rig.router.flush();
    rig.forwarded(to(1));
    // All routes of the number go and another route comes, with a packet before the edit ends.
    rig.inject(0, &[to(4)]);
    let Rig { router, worker, now_ns, .. } = &mut rig;
    router
        .edit_fib::<Inet>(0, |fib| {
            for third in 1..=3 {
                fib.delete(prefix(third))?;
            }
            fib.flush();
            fib.add(prefix(4), Nexthop::via(0xc612_0042, 0))?;
            fib.flush();
            worker.poll_at(*now_ns);
            Ok(())
        })
        .unwrap();
    assert_eq!(rig.counters().dropped(), 0, "{:?}", rig.drops());
    assert!(rig.take(1).is_empty(), "it went to the gateway that had the number before");
    assert_eq!(rig.worker.held(), 1, "it waits for its own gateway");
}

#[test]
fn a_nexthop_that_comes_in_the_middle_of_an_edit_takes_packets_at_once() {
    let mut rig = Rig::new();
    rig.router.add_neighbour::<Inet>(1, OTHER, NEAR).unwrap();
    rig.router.add_neighbour::<Inet>(1, OTHER + 1, FAR).unwrap();
    rig.inject(0, &[to(1), to(2), to(2)]);
    let Rig { router, worker, now_ns, .. } = &mut rig;
    router
        .edit_fib::<Inet>(0, |fib| {
            fib.add(prefix(1), Nexthop::via(OTHER, 1))?;
            let members = vec![(Nexthop::via(OTHER, 1), 1), (Nexthop::via(OTHER + 1, 1), 1)];
            fib.add(prefix(2), members)?;
            fib.flush();
            worker.poll_at(*now_ns);
            Ok(())
        })
        .unwrap();
    assert_eq!(rig.counters().dropped(), 0, "{:?}", rig.drops());
    let out = rig.take(1);
    assert_eq!(out.len(), 3);
    assert_eq!(out[0][..6], NEAR.0);
}

/// A batch of changes, as a routing daemon makes it, each to a nexthop that was not there, whose number
/// was another one's a moment ago; and frames that meet it on another thread.
#[test]
fn frames_in_flight_are_never_lost_when_routes_and_numbers_change() {
    let names: Vec<&str> = router().fib::<Inet>(0).unwrap().algorithms().collect();
    assert!(names.contains(&"dxr") && names.len() > 5, "{names:?}");
    for name in names {
        let met = change_under_frames(name);
        println!("{name}: {met} batches of frames met a change");
    }
}

/// Gateways, each with a MAC address of its own.
const GATEWAYS: usize = 200;
/// Changes of all routes.
const CHANGES: usize = 150;
/// Routes that change at once; frames go by one in the middle.
const ROUTES: u32 = 40;

fn change_under_frames(algorithm: &str) -> usize {
    let mut router = router();
    let via = |change: usize| Nexthop::via(0xc613_1000 + (change % GATEWAYS) as u32, 1);
    let mac = |change: usize| MacAddr([2, 0, 0, 9, 9, (change % GATEWAYS) as u8]);
    for change in 0..GATEWAYS {
        let gateway = via(change).gateway.unwrap();
        router.add_neighbour::<Inet>(1, gateway, mac(change)).unwrap();
    }
    let all = |change: usize| -> Vec<Update<Inet>> {
        let prefix = |i: u32| Prefix::covering(0x0a00_0000 | i << 8, 24);
        (0..ROUTES).map(|i| Update::Set(prefix(i), via(change).into())).collect()
    };
    router
        .edit_fib::<Inet>(0, |fib| {
            fib.apply(&all(0))?;
            Ok(fib.set_algorithm(Choice::Fixed(algorithm.to_owned()))?)
        })
        .unwrap();
    let pool = Pool::new(PoolConfig { frames: 256, ..PoolConfig::default() }).unwrap();
    let (mut near, inside) = ring::pair(256);
    let (mut far, outside) = ring::pair(256);
    let worker = router.worker([(0, inside), (1, outside)]).unwrap();
    let mut worker = worker.with_pool(pool.clone()).with_overflow(Overflow::Wait);
    let (begun, done) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
    let is_over = &AtomicBool::new(false);
    let bytes = inet_with(|packet| packet.set_destination(0x0a00_0001 | (ROUTES / 2) << 8));
    let (router, met) = std::thread::scope(|scope| {
        scope.spawn(move || {
            while worker.poll() > 0 || !is_over.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        });
        let changes = scope.spawn(move || {
            for change in 1..=CHANGES {
                begun.store(change, Ordering::SeqCst);
                let edited = router.edit_fib::<Inet>(0, |fib| {
                    fib.apply(&all(change))?;
                    if !fib.is_synced() {
                        fib.flush();
                    }
                    Ok::<_, RouterError>(())
                });
                edited.unwrap();
                done.store(change, Ordering::SeqCst);
                std::thread::yield_now();
            }
            router
        });
        let (mut sending, mut received) = (Batch::new(), Batch::new());
        let mut met = 0;
        while !changes.is_finished() {
            let first = done.load(Ordering::SeqCst);
            for _ in 0..64 {
                let mut frame = pool.take().unwrap();
                frame.set_len(bytes.len());
                frame.copy_from_slice(&bytes);
                sending.push(frame).unwrap();
            }
            assert_eq!(near.send(&mut sending), 64);
            let patience = std::time::Instant::now();
            while received.len() < 64 && patience.elapsed().as_secs() < 20 {
                far.receive(&mut received);
                std::thread::yield_now();
            }
            let last = begun.load(Ordering::SeqCst);
            met += usize::from(last > first);
            if received.len() < 64 {
                break;
            }
            for frame in received.drain() {
                let is_right = (first..=last).any(|change| frame[..6] == mac(change).0);
                assert!(is_right, "{algorithm}: {:?} from {first} to {last}", &frame[..6]);
            }
        }
        is_over.store(true, Ordering::Relaxed);
        (changes.join().unwrap(), met)
    });
    let counters = router.counters();
    assert_eq!(counters.dropped(), 0, "{algorithm}: {counters:?}");
    let numbers = router.fib::<Inet>(0).unwrap().nexthops().highest();
    assert!(numbers.index() < CHANGES / 2, "{algorithm}: numbers are not used again: {numbers:?}");
    met
}

#[test]
fn an_edit_that_fails_says_why() {
    let mut rig = Rig::new();
    let failed = rig.router.edit_fib::<Inet>(0, |fib| Ok(fib.delete(prefix(9))?));
    assert!(matches!(failed, Err(RouterError::Fib(FibError::Missing { .. }))), "{failed:?}");
}
