//! Frames that go both ways, through a device for each way that has a fault of its own.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use fwdlab_port::{Pool, PoolConfig, ring};
use fwdlab_traffic::{
    Duplex, Load, LoadChange, Outcome, Tester, TrafficError, TrafficPlan, WayBack,
};
use fwdlab_wire::MacAddr;

use crate::device::{Fault, Side, StepDevice, SteppedTime};
use crate::{inet, inet6, plan};

fn both(plan: TrafficPlan) -> TrafficPlan {
    let mac = |last| MacAddr([2, 0, 0, 0, 0, last]);
    let way_back = Some(WayBack { device_mac: mac(2), arrival_mac: mac(1) });
    TrafficPlan { way_back, ..plan }
}

/// A trial with a device for each way; what these dropped comes with it.
fn run(plan: &TrafficPlan, faults: [Fault; 2], stop_after: Option<usize>) -> (Outcome, [u64; 2]) {
    let pool =
        Pool::new(PoolConfig { frames: 1024, capacity: 9216, ..PoolConfig::default() }).unwrap();
    let [(out, ahead_in), (back, back_out)] = [ring::pair(256), ring::pair(256)];
    let [(far_out, back_in), (far_back, ahead_out)] = [ring::pair(256), ring::pair(256)];
    let device = |input, output, fault| {
        Rc::new(RefCell::new(StepDevice::new(input, output, pool.clone(), fault)))
    };
    let devices =
        vec![device(ahead_in, ahead_out, faults[0]), device(back_in, back_out, faults[1])];
    let time = SteppedTime::of(devices.clone());
    let sides = (Side { out, back }, Side { out: far_out, back: far_back });
    let mut tester = Duplex::with_time(plan, &pool, sides, time).unwrap();
    let stop = AtomicBool::new(false);
    let mut intervals = Vec::new();
    let outcome = tester.run(&stop, &mut |interval| {
        stop.store(Some(interval.index) == stop_after, Ordering::Relaxed);
        intervals.push(*interval);
    });
    assert_eq!(outcome.intervals, intervals);
    drop(tester);
    let dropped = [devices[0].borrow().dropped, devices[1].borrow().dropped];
    drop(devices);
    assert!(pool.restore(), "all frames are home");
    (outcome, dropped)
}

#[test]
fn each_way_is_right_and_their_sum_is_the_whole() {
    for stream in [inet(), inet6()] {
        let (outcome, _) = run(&both(plan(stream)), [Fault::None; 2], None);
        assert!(outcome.checks.is_clean(), "{:?}", outcome.checks);
        assert_eq!((outcome.flows_seen(), outcome.lost()), (4000, 0));
        let [ahead, back] = &outcome.ways[..] else { panic!("two ways") };
        assert_eq!((ahead.flows_seen(), back.flows_seen()), (2000, 2000));
        assert!(ahead.sent() > 5_000 && back.sent() > 5_000);
        assert_eq!(ahead.sent() + back.sent(), outcome.sent());
        assert_eq!(ahead.received() + back.received(), outcome.received());
        for (at, whole) in outcome.intervals.iter().enumerate() {
            assert_eq!(whole.sent, ahead.intervals[at].sent + back.intervals[at].sent);
            assert_eq!(whole.received, ahead.intervals[at].received + back.intervals[at].received);
        }
        // One device forwards as well as the other.
        assert!(ahead.received().abs_diff(back.received()) * 50 < outcome.received());
    }
}

#[test]
fn a_fault_is_found_on_the_way_that_has_it() {
    let (outcome, [_, dropped]) =
        run(&both(plan(inet())), [Fault::None, Fault::DropEvery(700)], None);
    let [ahead, back] = &outcome.ways[..] else { panic!("two ways") };
    assert_eq!((ahead.lost(), ahead.faulty_flows), (0, 0));
    assert!(dropped > 10);
    assert_eq!((back.lost(), outcome.lost()), (dropped, dropped));
    assert_eq!(outcome.faulty_flows, back.faulty_flows);
    // Streams of the way back stand behind those ahead.
    assert!(outcome.worst_flows.iter().all(|flow| flow.stream == 1));
    let (outcome, _) = run(&both(plan(inet())), [Fault::KeepTtl, Fault::None], None);
    let [ahead, back] = &outcome.ways[..] else { panic!("two ways") };
    assert!(ahead.checks.wrong_ttl > 1000 && back.checks.is_clean());
    assert_eq!(outcome.checks.wrong_ttl, ahead.checks.wrong_ttl);
    let slow = 4000;
    let mut stamped = both(plan(inet()));
    (stamped.latency, stamped.load) = (true, Load::Pps(1e6));
    let (outcome, _) = run(&stamped, [Fault::Delay(10), Fault::Delay(slow / 100)], None);
    let [ahead, back] = [0, 1].map(|way| outcome.ways[way].latency.unwrap());
    assert!(ahead.maximum_ns < slow as u64 && back.median_ns >= slow as u64, "{ahead:?} {back:?}");
    let latency = outcome.latency.unwrap();
    assert_eq!(latency.frames, ahead.frames + back.frames);
    assert_eq!((latency.minimum_ns, latency.maximum_ns), (ahead.minimum_ns, back.maximum_ns));
}

/// They were misrouted frames of the other way, and lost on their own.
#[test]
fn what_comes_back_to_its_senders_is_counted_once_and_on_its_own_way() {
    for (at, faults) in [
        (0, [Fault::SendBackEvery(700), Fault::DropEvery(900)]),
        (1, [Fault::DropEvery(900), Fault::SendBackEvery(700)]),
    ] {
        let (outcome, stray) = run(&both(plan(inet())), faults, None);
        assert!(stray[at] > 5, "{stray:?}");
        let misrouted = [0, 1].map(|way: usize| outcome.ways[way].checks.misrouted);
        let dropped = [0, 1].map(|way: usize| outcome.ways[way].dropped());
        assert_eq!((misrouted[at], misrouted[1 - at]), (stray[at], 0));
        assert_eq!((dropped[at], dropped[1 - at]), (0, stray[1 - at]));
        assert_eq!(outcome.checks.unknown_flow, 0);
        for own in outcome.ways.iter().chain([&outcome]) {
            assert_eq!(own.sent(), own.received() + own.checks.misrouted + own.dropped());
        }
        assert_eq!(outcome.checks.misrouted, misrouted.iter().sum::<u64>());
        assert_eq!(outcome.dropped(), dropped.iter().sum::<u64>());
    }
}

#[test]
fn a_device_that_loses_all_frames_of_one_way_does_not_starve_the_other() {
    let (outcome, [dropped, _]) =
        run(&both(plan(inet())), [Fault::DropEvery(1), Fault::None], None);
    let [ahead, back] = &outcome.ways[..] else { panic!("two ways") };
    assert_eq!((ahead.received(), ahead.sent()), (0, dropped));
    assert!(
        ahead.sent() > 5_000 && back.received() > 5_000,
        "{} {}",
        ahead.sent(),
        back.received()
    );
    assert_eq!(back.lost(), 0);
}

#[test]
fn each_way_gets_half_the_load_also_when_it_changes() {
    let mut half = both(plan(inet()));
    half.load = Load::Pps(4e6);
    half.change = Some(LoadChange { after_ns: 1_000_000, pps: 1e6 });
    let (outcome, _) = run(&half, [Fault::None; 2], None);
    for way in &outcome.ways {
        // 1 ms of 2 million a second, and 1 ms of half a million.
        assert!(way.sent().abs_diff(2_500) <= 10, "{}", way.sent());
        assert_eq!(way.lost(), 0);
    }
    assert_eq!(outcome.pacing.unwrap().asked_pps, 1e6, "the later one");
    let (outcome, _) = run(&half, [Fault::None; 2], Some(1));
    assert_eq!((outcome.intervals.len(), outcome.lost()), (2, 0));
}

#[test]
fn one_tester_refuses_two_ways_and_two_refuse_one() {
    let pool = Pool::with_frames(600).unwrap();
    let ports = || (ring::pair(8).0, ring::pair(8).0);
    let refused = |error: Option<TrafficError>| {
        assert!(matches!(error, Some(TrafficError::Plan { field: "way_back", .. })), "{error:?}");
    };
    let (out, back) = ports();
    refused(Tester::new(&both(plan(inet())), &pool, out, back).err());
    let (near, far) = ports();
    refused(Duplex::new(&plan(inet()), &pool, near, far).err());
    assert_eq!(pool.available(), 600, "nothing is kept");
}
