//! Every frame in is a frame out or a counted drop; counters, knobs and control words.

use fwdlab_port::{Batch, Pool, Port, ring};
use fwdlab_router::{DropReason, Overflow, RouterError};

use crate::rig::*;

#[test]
fn a_mixed_batch_is_forwarded_in_order_and_balanced() {
    let mut rig = Rig::new();
    let mut frames = Vec::new();
    for number in 0..250u8 {
        let mut frame = match number % 5 {
            0 => inet6(62),
            1 => inet_with(|packet| packet.set_ttl(1)),
            2 => vec![0; 60],
            _ => inet(60),
        };
        *frame.last_mut().unwrap() = number;
        frames.push(frame);
    }
    rig.inject(0, &frames);
    rig.poll();
    let out = rig.take(1);
    let order: Vec<u8> = out.iter().map(|frame| *frame.last().unwrap()).collect();
    let expected: Vec<u8> = (0..250).filter(|n| !matches!(n % 5, 1 | 2)).collect();
    assert_eq!(order, expected);
    assert_eq!(rig.take(0).len(), 50, "one error for each expired frame");
    let now = rig.counters();
    assert_eq!((now.received, now.sent, now.dropped(), now.originated), (250, 200, 100, 50));
    rig.assert_balance();
    assert_eq!(rig.pool.available(), 1024, "no frame is lost");
}

#[test]
fn both_paths_of_the_same_frame_give_the_same_bytes() {
    let mut slow = Rig::new();
    slow.router.set("fwdlab.device.fast_path", "0").unwrap();
    let mut fast = Rig::new();
    for len in [60, 61, 100, 1514] {
        assert_eq!(fast.forwarded(inet(len)), slow.forwarded(inet(len)));
        assert_eq!(
            fast.forwarded(inet6(len + 2 - len / 1514 * 2)),
            slow.forwarded(inet6(len + 2 - len / 1514 * 2))
        );
    }
}

#[test]
fn a_full_output_port_drops_or_waits_as_asked() {
    for (overflow, arrived, lost) in [(Overflow::Drop, 264, 336), (Overflow::Wait, 600, 0)] {
        let pool = Pool::with_frames(1024).unwrap();
        let mut router = router();
        let (mut near, inside) = ring::pair(1024);
        let (mut far, outside) = ring::pair(8);
        let worker = router.worker([(0, inside), (1, outside)]).unwrap();
        let mut worker = worker.with_pool(pool.clone()).with_overflow(overflow);
        let mut batch = Batch::new();
        for _ in 0..600 {
            let mut frame = pool.take().unwrap();
            frame.set_len(60);
            frame.copy_from_slice(&inet(60));
            batch.push(frame).unwrap();
            near.send(&mut batch);
        }
        for _ in 0..5 {
            worker.poll();
        }
        let mut received = 0;
        for _ in 0..1000 {
            received += far.receive(&mut batch);
            batch.clear();
            worker.poll();
        }
        assert_eq!(received, arrived, "{overflow:?}");
        let now = router.counters();
        assert_eq!((now.sent, now.drops(DropReason::OutputQueueFull)), (arrived as u64, lost));
        assert_eq!((now.received, pool.available()), (600, 1024));
    }
}

#[test]
fn busy_time_counts_frames_and_the_extra_burden_shows() {
    let mut rig = Rig::new();
    rig.router.set("fwdlab.device.extra_ns_per_frame", "20000.5").unwrap();
    rig.inject(0, &vec![inet(60); 100]);
    rig.poll();
    let now = rig.counters();
    assert_eq!((now.busy_frames, now.busy_polls > 0), (100, true));
    assert!(now.cost_ns().unwrap() >= 20_000.0, "{:?}", now.cost_ns());
    assert!(now.idle_polls > 0);
}

#[test]
fn control_words_read_back_what_was_set() {
    let mut router = router();
    assert!(router.get("net.route.algo.inet.algo_list").unwrap().contains("linear"));
    for (word, value) in [
        ("net.route.algo.inet.algo", "radix4"),
        ("net.route.algo.inet6.algo", "radix6"),
        ("fwdlab.device.extra_ns_per_frame", "0.25"),
        ("net.inet.icmp.icmplim", "17"),
    ] {
        router.set(word, value).unwrap();
        assert_eq!(router.get(word).unwrap(), value);
    }
    for word in router.control_words() {
        router.get(word).unwrap();
    }
    assert!(matches!(router.set("net.route.algo.inet.algo", "nosuch"), Err(RouterError::Fib(_))));
    assert_eq!(router.get("net.route.algo.inet.algo").unwrap(), "radix4");
    for (word, value) in [
        ("fwdlab.device.fast_path", "2"),
        ("net.inet.icmp.icmplim", "1.5"),
        ("net.inet.icmp.icmplim", "-1"),
    ] {
        assert!(
            matches!(router.set(word, value), Err(RouterError::BadValue { .. })),
            "{word} {value}"
        );
    }
    assert!(matches!(
        router.set("net.route.algo.inet.algo_list", "x"),
        Err(RouterError::ReadOnly { .. })
    ));
    assert!(matches!(router.set("net.nosuch", "x"), Err(RouterError::UnknownWord { .. })));
}

#[test]
fn a_port_of_another_worker_is_a_counted_drop() {
    let mut rig = Rig::new();
    let (mut near, inside) = ring::pair(64);
    let mut worker = rig.router.worker([(0, inside)]).unwrap();
    let mut batch = Batch::new();
    let mut frame = rig.pool.take().unwrap();
    frame.set_len(60);
    frame.copy_from_slice(&inet(60));
    batch.push(frame).unwrap();
    near.send(&mut batch);
    worker.poll();
    assert_eq!(rig.counters().drops(DropReason::NoSuchPort), 1);
}
