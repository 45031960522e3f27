//! Every frame in is a frame out or a counted drop; counters, knobs and control words.

use fwdlab_fib::{Inet, Inet6, Nexthop, Prefix, Update};
use fwdlab_port::{Batch, Pool, Port, ring};
use fwdlab_router::{DropReason, Overflow, PortConfig, Router, RouterError};
use fwdlab_wire::{MacAddr, ipv4};

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
    let mut single = Rig::new();
    single.router.set("fwdlab.device.batch_lookups", "0").unwrap();
    for fast in [&mut Rig::new(), &mut single] {
        for len in [60, 61, 100, 1514] {
            assert_eq!(fast.forwarded(inet(len)), slow.forwarded(inet(len)));
            assert_eq!(
                fast.forwarded(inet6(len + 2 - len / 1514 * 2)),
                slow.forwarded(inet6(len + 2 - len / 1514 * 2))
            );
        }
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
        ("net.route.algo.bucket_time_ms", "75"),
    ] {
        router.set(word, value).unwrap();
        assert_eq!(router.get(word).unwrap(), value);
    }
    for word in router.control_words() {
        router.get(word).unwrap();
    }
    assert!(matches!(
        router.set("net.route.algo.inet.algo", "nosuch"),
        Err(RouterError::Control(_))
    ));
    assert_eq!(router.get("net.route.algo.inet.algo").unwrap(), "radix4");
    for (word, value) in [
        ("fwdlab.device.fast_path", "2"),
        ("fwdlab.device.batch_lookups", "yes"),
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
        Err(RouterError::Control(_))
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

#[test]
fn flows_spread_over_a_nexthop_group_and_keep_their_member() {
    let mut rig = Rig::new();
    let members = vec![(Nexthop::via(0xc612_00cb, 0), 1), (Nexthop::via(0xc613_00cb, 1), 1)];
    rig.router.add_route::<Inet>("10.0.0.0/8".parse().unwrap(), members).unwrap();
    let frames: Vec<_> = (0..240u32)
        .map(|flow| inet_with(|packet| packet.set_destination(0x0a00_0000 + flow % 120)))
        .collect();
    for (path, batches) in [("1", "1"), ("1", "0"), ("0", "1")] {
        rig.router.set("fwdlab.device.fast_path", path).unwrap();
        rig.router.set("fwdlab.device.batch_lookups", batches).unwrap();
        rig.inject(0, &frames);
        rig.poll();
        let to = |frame: &Vec<u8>| frame[33];
        for port in 0..2 {
            let mut flows: Vec<_> = rig.take(port).iter().map(to).collect();
            assert!((80..160).contains(&flows.len()), "{path}: {}", flows.len());
            flows.sort_unstable();
            assert!(flows.chunks(2).all(|pair| pair[0] == pair[1]), "each flow twice: {flows:?}");
        }
    }
    assert_eq!(rig.counters().dropped(), 0);
}

/// The next hops of one batch: six by the first one's port, and from some frame on one by the other port,
/// one that nobody has resolved, or a frame that has expired or is longer than the port takes.
#[test]
fn a_batch_of_many_next_hops_is_split_where_one_of_them_leaves_by_another_port() {
    let to = |number: u32| 0x0a00_0001 + (number << 8);
    let frame = |number: u32, ttl: u8, len: usize| {
        let mut frame = inet(len);
        let mut packet = ipv4::Packet::parse(&mut frame[14..]).unwrap();
        packet.set_destination(to(number));
        packet.set_ttl(ttl);
        packet.fill_checksum();
        frame
    };
    let others = [frame(6, 64, 60), frame(7, 64, 60), frame(1, 1, 60), frame(1, 64, 9000)];
    for (at, other) in [0usize, 1, 37, 63, 64, 100]
        .into_iter()
        .flat_map(|at| others.iter().map(move |other| (at, other)))
    {
        let run = |path: &str| {
            let mut rig = Rig::new();
            rig.router.set("fwdlab.device.fast_path", path).unwrap();
            for number in 0..8 {
                let port = u16::from(number == 6);
                let gateway = [0xc613_0064, 0xc612_0064][usize::from(port)] + number;
                let hop = Nexthop::via(gateway, 1 - port);
                rig.router
                    .add_route::<Inet>(Prefix::covering(to(number), 24), vec![(hop, 1)])
                    .unwrap();
                if number != 7 {
                    let mac = MacAddr::numbered(number as u8);
                    rig.router.add_neighbour::<Inet>(1 - port, gateway, mac).unwrap();
                }
            }
            let mut frames: Vec<_> = (0..130).map(|i| frame(i * 5 % 6, 64, 60)).collect();
            frames[at] = other.clone();
            rig.inject(0, &frames);
            rig.poll();
            rig.assert_balance();
            let counts = rig.router.nexthop_counts::<Inet>(0);
            let counts: Vec<_> =
                counts.iter().map(|count| (count.nexthop, count.packets)).collect();
            (rig.take(1), rig.take(0), counts, rig.drops())
        };
        let (fast, slow) = (run("1"), run("0"));
        assert!(fast.0.len() >= 129, "{at}: {}", fast.0.len());
        assert_eq!(fast, slow, "frame {at}");
    }
}

#[test]
fn each_port_is_looked_up_in_its_own_fib() {
    let mut router = Router::with_fibs(2).unwrap();
    router.add_port(PortConfig::new(INSIDE)).unwrap();
    router.add_port(PortConfig::new(OUTSIDE).fib(1)).unwrap();
    let default = "0.0.0.0/0".parse().unwrap();
    router.add_route_to::<Inet>(0, default, Nexthop::via(1, 1)).unwrap();
    router.add_neighbour::<Inet>(1, 1, FAR).unwrap();
    let mut rig = Rig::with(router);
    rig.forwarded(inet(60));
    let mut frame = inet(60);
    frame[..6].copy_from_slice(&OUTSIDE.0);
    rig.inject(1, &[frame]);
    rig.poll();
    assert_eq!(rig.counters().drops(DropReason::NoRoute), 1);
    assert!(matches!(
        rig.router.add_route_to::<Inet>(2, default, Nexthop::via(1, 1)),
        Err(RouterError::NoSuchFib { fib: 2, fibs: 2 })
    ));
}

/// More frames than the route cache samples, so that it is in use when a route changes.
#[test]
fn a_route_that_changes_is_followed_at_once_by_frames_whose_answers_were_kept() {
    let to = |number: u128| 0x2001_0db8_u128 << 96 | number << 64 | 1;
    let mut rig = Rig::new();
    let gateway = |port: u128| 0x2001_0002 << 96 | port << 79 | 0xcb;
    let via = |port: u16| vec![(Nexthop::<Inet6>::via(gateway(port.into()), port), 1)];
    for number in 0..3000 {
        rig.router.add_route(Prefix::covering(to(number), 64), via(1)).unwrap();
    }
    rig.router.flush();
    let algorithm = rig.router.get("net.route.algo.inet6.algo").unwrap();
    assert_eq!(algorithm, "direct6", "no test otherwise");
    let frames: Vec<_> = (0..400)
        .map(|number| inet6_with(|packet| packet.set_destination(to(number % 100 * 30))))
        .collect();
    for round in 0..460 {
        rig.inject(0, &frames);
        rig.poll();
        assert_eq!((rig.take(0).len(), rig.take(1).len()), (0, 400), "round {round}");
    }
    let changed = Prefix::covering(to(30), 64);
    rig.router
        .edit_fib::<Inet6>(0, |fib| {
            Ok(fib.apply(&[Update::Set(changed, Nexthop::via(gateway(0), 0).into())]).map(drop)?)
        })
        .unwrap();
    rig.router.flush();
    rig.inject(0, &frames);
    rig.poll();
    assert_eq!((rig.take(0).len(), rig.take(1).len()), (4, 396));
    rig.assert_balance();
}
