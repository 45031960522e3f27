//! Whole trials against a device that misbehaves on purpose, on one thread and in made-up time.
#![allow(clippy::unwrap_used)] // Tests; the lint's own exception covers only `#[test]` functions.

mod both;
mod device;

use std::sync::atomic::AtomicBool;

use device::{Fault, StepDevice};
use fwdlab_port::{Pool, PoolConfig, ring};
use fwdlab_traffic::{
    Checks, FlowSet, FrameSizes, Load, Order, Outcome, Stream, Tester, TrafficError, TrafficPlan,
};

fn inet() -> Stream {
    let source = "198.18.10.1-198.18.10.20:2000";
    Stream::new(FlowSet::parse(source, "198.19.10.1-198.19.10.100:2000").unwrap())
}

fn inet6() -> Stream {
    let source = "[2001:2:0:10::1]-[2001:2:0:10::14]:2000";
    Stream::new(FlowSet::parse(source, "[2001:2:0:8010::1]-[2001:2:0:8010::64]:2000").unwrap())
}

fn plan(stream: Stream) -> TrafficPlan {
    let mut plan = TrafficPlan::new(vec![stream]);
    plan.duration_ns = 2_000_000;
    plan.interval_ns = 500_000;
    plan.drain_ns = 100_000;
    plan.frames_in_flight = 512;
    plan
}

fn run(plan: &TrafficPlan, fault: Fault) -> Outcome {
    let pool =
        Pool::new(PoolConfig { frames: 1024, capacity: 9216, ..PoolConfig::default() }).unwrap();
    let (outcome, device) = run_with(plan, fault, &pool);
    assert_eq!(
        outcome.sent() + outcome.streams.iter().map(|s| s.duplicated).sum::<u64>(),
        outcome.received() + outcome.lost()
    );
    assert_eq!(outcome.lost(), device.dropped, "the device's own count");
    outcome
}

fn run_with(plan: &TrafficPlan, fault: Fault, pool: &Pool) -> (Outcome, StepDevice) {
    let (out, device_in) = ring::pair(256);
    let (device_out, back) = ring::pair(256);
    let device = StepDevice::new(device_in, device_out, pool.clone(), fault);
    let state = std::rc::Rc::new(std::cell::RefCell::new(device));
    let time = device::SteppedTime::new(std::rc::Rc::clone(&state));
    let mut tester = Tester::with_time(plan, pool, (out, back), time).unwrap();
    let outcome = tester.run(&AtomicBool::new(false), &mut |_| {});
    drop(tester);
    let Ok(device) = std::rc::Rc::try_unwrap(state) else { panic!("the tester is gone") };
    (outcome, device.into_inner())
}

#[test]
fn finds_nothing_wrong_with_a_right_device() {
    for stream in [inet(), inet6()] {
        let outcome = run(&plan(stream), Fault::None);
        assert!(outcome.checks.is_clean(), "{:?}", outcome.checks);
        assert_eq!(outcome.flows_seen(), 2000);
        assert_eq!((outcome.lost(), outcome.faulty_flows), (0, 0));
        assert!(outcome.sent() > 10_000);
        assert!(outcome.checks.read_whole >= outcome.received() / Checks::WHOLE_EVERY);
    }
}

#[test]
fn intervals_add_up_to_the_totals() {
    let outcome = run(&plan(inet()), Fault::None);
    assert_eq!(outcome.intervals.len(), 4);
    assert_eq!(outcome.intervals.iter().map(|i| i.sent).sum::<u64>(), outcome.sent());
    let received = outcome.intervals.iter().map(|i| i.received).sum::<u64>();
    assert!(
        received <= outcome.received() && outcome.received() - received <= 512,
        "the rest came in the drain"
    );
    assert_eq!(outcome.intervals.iter().map(|i| i.length_ns).sum::<u64>(), outcome.duration_ns);
}

#[test]
fn counts_lost_frames_and_names_their_flows() {
    for stream in [inet(), inet6()] {
        let outcome = run(&plan(stream), Fault::DropEvery(1000));
        assert_eq!(outcome.lost(), outcome.sent() / 1000);
        assert!(outcome.checks.is_clean(), "a lost frame is no fault of those received");
        let listed: u32 = outcome.worst_flows.iter().map(|flow| flow.faults.lost).sum();
        // Every 1000th of 2000 flows in turn are two flows.
        assert_eq!((outcome.faulty_flows, u64::from(listed)), (2, outcome.lost()));
    }
}

#[test]
fn counts_duplicated_frames() {
    for stream in [inet(), inet6()] {
        let outcome = run(&plan(stream), Fault::DuplicateEvery(500));
        assert!(outcome.checks.duplicated > 10);
        assert_eq!(outcome.checks.duplicated, outcome.streams[0].duplicated);
        assert_eq!(outcome.lost(), 0);
    }
}

#[test]
fn counts_reordered_frames() {
    let source = "198.18.10.1:2000";
    let one_flow = Stream::new(FlowSet::parse(source, "198.19.10.1:2000").unwrap());
    let outcome = run(&plan(one_flow), Fault::SwapEvery(100));
    assert!(outcome.checks.reordered > 10);
    assert_eq!((outcome.lost(), outcome.checks.duplicated), (0, 0));
    assert_eq!(u64::from(outcome.worst_flows[0].faults.reordered), outcome.checks.reordered);
    assert_eq!(outcome.worst_flows[0].faults.lost, 0);
}

#[test]
fn finds_each_damage_to_headers() {
    for stream in [inet(), inet6()] {
        let is_inet6 = stream == inet6();
        let trial = |fault| run(&plan(stream.clone()), fault).checks;
        let checks = trial(Fault::KeepTtl);
        assert_eq!(checks.wrong_ttl, checks.faults(), "{checks:?}");
        assert!(checks.wrong_ttl > 10_000);
        let checks = trial(Fault::WrongMac);
        assert_eq!(checks.wrong_mac, checks.faults(), "{checks:?}");
        assert!(checks.wrong_mac > 10_000);
        if !is_inet6 {
            let checks = trial(Fault::WrongChecksum);
            assert_eq!(checks.bad_checksum, checks.faults(), "{checks:?}");
            assert!(checks.bad_checksum > 10_000);
        }
        let checks = trial(Fault::WrongLength);
        assert!(checks.wrong_header + checks.bad_checksum > 10_000, "{checks:?}");
    }
}

#[test]
fn finds_damaged_payload_in_the_first_line_always_and_beyond_by_turns() {
    for (mut stream, len) in [(inet(), 64), (inet6(), 80), (inet(), 1518), (inet6(), 9216)] {
        stream.sizes = FrameSizes::fixed(len);
        let mut plan = plan(stream);
        plan.duration_ns = 100_000;
        let checks = run(&plan, Fault::DamagePayload).checks;
        match len {
            64 => assert!(checks.bad_payload > 100, "{checks:?}"),
            _ => assert_eq!(checks.bad_payload, checks.read_whole, "{len} bytes"),
        }
        assert_eq!(checks.faults(), checks.bad_payload, "{checks:?}");
        assert!(checks.read_whole > 0);
    }
}

/// A half of those behind the first line was counted, by the place in the batch in which they came.
#[test]
fn damage_behind_the_first_line_is_counted_whole_once_it_is_found() {
    let mut stream = inet();
    stream.sizes = FrameSizes::fixed(512);
    let mut plan = plan(stream);
    // So few at once that most are not the first of a batch, and none is the 256th.
    plan.duration_ns = 4_000_000;
    let outcome = run(&plan, Fault::ChangePayloadBehindEvery(10));
    let (changed, found) = (outcome.sent() / 10, outcome.checks.bad_payload);
    assert!(changed > 1_000 && changed.abs_diff(found) * 10 < changed, "{found} of {changed}");
}

/// A right checksum was all that was asked for: none was counted.
#[test]
fn a_payload_that_is_changed_under_a_right_checksum_is_counted_once() {
    let outcome = run(&plan(inet()), Fault::ChangePayloadEvery(1000));
    let changed = outcome.sent() / 1000;
    assert!(changed > 10, "{changed}");
    assert_eq!((outcome.checks.bad_payload, outcome.checks.faults()), (changed, changed));
}

#[test]
fn counts_frames_on_the_wrong_port_and_of_unknown_flows() {
    let outcome = run(&plan(inet()), Fault::SendBackEvery(1000));
    assert!(outcome.checks.misrouted > 10);
    // They did not reach the receiver; but they came, so that no device dropped them.
    assert_eq!(outcome.checks.misrouted, outcome.lost());
    assert_eq!(outcome.dropped(), 0);
    let outcome = run(&plan(inet()), Fault::ChangeDestinationEvery(1000));
    assert_eq!(outcome.checks.unknown_flow, outcome.lost());
    assert!(outcome.checks.unknown_flow > 10);
}

#[test]
fn counts_foreign_frames_apart() {
    let outcome = run(&plan(inet()), Fault::ArpEvery(1000));
    assert!(outcome.checks.foreign > 10);
    assert!(outcome.checks.is_clean());
    assert_eq!(outcome.checks.foreign, outcome.lost());
}

#[test]
fn carries_on_when_the_device_drops_everything() {
    let outcome = run(&plan(inet()), Fault::DropEvery(1));
    assert_eq!(outcome.received(), 0);
    assert!(outcome.sent() > 1000, "frames come back through the pool: {}", outcome.sent());
    assert_eq!(outcome.lost(), outcome.sent());
}

#[test]
fn runs_both_families_and_mixed_sizes_in_one_trial() {
    let mut streams = vec![inet(), inet6()];
    streams[0].sizes = FrameSizes::imix();
    streams[0].weight = 3;
    streams[1].sizes = "66:1,1500:1".parse().unwrap();
    let mut plan = plan(inet());
    plan.streams = streams;
    plan.latency = true;
    let outcome = run(&plan, Fault::None);
    assert!(outcome.checks.is_clean(), "{:?}", outcome.checks);
    let [first, second] = outcome.streams[..] else { panic!("two streams") };
    assert!(first.sent.abs_diff(second.sent * 3) <= 4, "{first:?} {second:?}");
    assert_eq!(first.lost() + second.lost(), 0);
    let mean = outcome.sent_bytes as f64 / outcome.sent() as f64;
    let expected = (3.0 * (7.0 * 64.0 + 4.0 * 594.0 + 1518.0) / 12.0 + (66.0 + 1500.0) / 2.0) / 4.0;
    assert!((mean / expected - 1.0).abs() < 0.01, "{mean} {expected}");
    let latency = outcome.latency.expect("asked for");
    assert_eq!(latency.frames, first.received + second.received / 2, "66 bytes hold no stamp");
}

#[test]
fn sends_every_flow_in_every_order() {
    for order in [Order::Sequential, Order::Random] {
        let mut stream = inet();
        stream.order = order;
        assert_eq!(run(&plan(stream), Fault::None).flows_seen(), 2000);
    }
    let mut stream = inet();
    stream.order = Order::Zipf { exponent: 1.0 };
    let outcome = run(&plan(stream), Fault::DropEvery(100));
    assert!(outcome.checks.is_clean(), "{:?}", outcome.checks);
    assert!(outcome.flows_seen() > 1000 && outcome.faulty_flows > 20);
}

#[test]
fn keeps_the_asked_rate_within_a_frame() {
    for rate in [10_000.0, 1_488_095.0, 3_000_000.0] {
        let mut plan = plan(inet());
        plan.load = Load::Pps(rate);
        plan.duration_ns = 100_000_000;
        plan.interval_ns = 10_000_000;
        let outcome = run(&plan, Fault::None);
        assert!((outcome.sent() as f64 - rate / 10.0).abs() <= 2.0, "{rate}: {}", outcome.sent());
        for interval in &outcome.intervals {
            assert!((interval.sent as f64 - rate / 100.0).abs() <= 2.0, "{rate}: {interval:?}");
        }
        let pacing = outcome.pacing.expect("paced");
        assert_eq!((pacing.given_up, pacing.asked_pps.round()), (0, rate));
        assert!(pacing.max_lateness_ns <= 1000.0, "{pacing:?}");
        assert_eq!(outcome.lost(), 0);
    }
}

#[test]
fn measures_the_latency_of_a_slow_device() {
    let mut plan = plan(inet());
    plan.load = Load::Pps(100_000.0);
    plan.latency = true;
    let outcome = run(&plan, Fault::Delay(37));
    let latency = outcome.latency.expect("asked for");
    assert_eq!(latency.frames, outcome.received());
    // 37 steps of 100 ns, and the poll that follows.
    assert!((3700..=3900).contains(&latency.median_ns), "{latency:?}");
    assert!(latency.maximum_ns <= 4000, "{latency:?}");
}

#[test]
fn stops_when_told() {
    let pool = Pool::with_frames(1024).unwrap();
    let (out, device_in) = ring::pair(256);
    let (device_out, back) = ring::pair(256);
    let device = StepDevice::new(device_in, device_out, pool.clone(), Fault::None);
    let time = device::SteppedTime::new(std::rc::Rc::new(std::cell::RefCell::new(device)));
    let mut tester = Tester::with_time(&plan(inet()), &pool, (out, back), time).unwrap();
    let stop = AtomicBool::new(false);
    let outcome = tester.run(&stop, &mut |interval| {
        stop.store(interval.index == 1, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(outcome.intervals.len(), 2);
    assert_eq!(outcome.lost(), 0);
    drop(tester);
    assert!(pool.restore(), "all frames are home");
}

#[test]
fn refuses_what_cannot_work() {
    let pool = Pool::with_frames(600).unwrap();
    let attempt = |plan: &TrafficPlan| {
        let ((out, _a), (_b, back)) = (ring::pair(8), ring::pair(8));
        Tester::new(plan, &pool, out, back).err()
    };
    let mut large = plan(inet());
    large.frames_in_flight = 601;
    assert_eq!(attempt(&large), Some(TrafficError::PoolTooSmall { available: 600, needed: 601 }));
    let mut long = plan(inet());
    long.streams[0].sizes = FrameSizes::fixed(9000);
    assert_eq!(attempt(&long), Some(TrafficError::SlotTooSmall { len: 8996, capacity: 2048 }));
    let mut stamped = plan(inet6());
    stamped.latency = true;
    assert_eq!(attempt(&stamped), Some(TrafficError::NoTimestamp { len: 66, min: 74 }));
    let mut twice = plan(inet());
    twice.streams.push(inet());
    assert!(matches!(attempt(&twice), Some(TrafficError::Plan { field: "streams", .. })));
    let mut short = plan(inet6());
    short.streams[0].sizes = FrameSizes::fixed(64);
    assert!(matches!(attempt(&short), Some(TrafficError::FrameLen { len: 64, min: 66, .. })));
    assert_eq!(pool.available(), 600, "nothing is kept");
}
