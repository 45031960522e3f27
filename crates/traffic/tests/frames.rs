//! Test frames against the header views of `wire`, which know nothing of how they are made.
#![allow(clippy::unwrap_used)] // Tests; the lint's own exception covers only `#[test]` functions.

use fwdlab_port::{Batch, Pool, PoolConfig};
use fwdlab_traffic::{Family, FlowSet, FrameSizes, Order, Receiver, Sender, Stream, TrafficPlan};
use fwdlab_wire::{MacAddr, checksum, ethernet, ipv4, ipv6, udp};
use proptest::prelude::*;

fn pool() -> Pool {
    let config = PoolConfig { frames: 512, capacity: 9216, ..PoolConfig::default() };
    Pool::new(config).unwrap()
}

fn written(plan: &TrafficPlan, count: usize, stamp: u64) -> (Sender, Batch) {
    let mut sender = Sender::new(plan, 64).unwrap();
    let mut batch = Batch::new();
    pool().take_batch(&mut batch, count);
    for frame in batch.iter_mut() {
        sender.adopt(frame);
    }
    sender.write(&mut batch, stamp);
    (sender, batch)
}

/// Checks one frame by the views; returns source, destination, ports.
fn dissect(frame: &[u8], plan: &TrafficPlan) -> (u128, u128, u16, u16) {
    let frame = ethernet::Frame::parse(frame).unwrap();
    assert_eq!((frame.destination(), frame.source()), (plan.device_mac, plan.source_mac));
    let payload = frame.payload();
    match frame.ether_type() {
        ethernet::TYPE_IPV4 => {
            let packet = ipv4::Packet::parse(payload).unwrap();
            assert!(packet.has_valid_checksum());
            assert_eq!((packet.ttl(), packet.protocol()), (plan.ttl, udp::PROTOCOL));
            assert_eq!(usize::from(packet.total_length()), payload.len());
            assert!(packet.is_dont_fragment() && !packet.has_more_fragments());
            let datagram = udp::Datagram::parse(packet.payload()).unwrap();
            assert!(datagram.has_valid_checksum(packet.pseudo_sum(), false));
            let ends = (u128::from(packet.source()), u128::from(packet.destination()));
            (ends.0, ends.1, datagram.source_port(), datagram.destination_port())
        }
        ethernet::TYPE_IPV6 => {
            let packet = ipv6::Packet::parse(payload).unwrap();
            assert_eq!((packet.hop_limit(), packet.next_header()), (plan.ttl, udp::PROTOCOL));
            assert_eq!(usize::from(packet.payload_length()) + 40, payload.len());
            let datagram = udp::Datagram::parse(packet.payload()).unwrap();
            assert!(datagram.has_valid_checksum(packet.pseudo_sum(), false));
            (
                packet.source(),
                packet.destination(),
                datagram.source_port(),
                datagram.destination_port(),
            )
        }
        other => panic!("EtherType {other:#x}"),
    }
}

fn ranges(family: Family, first: u32, ports: u16) -> FlowSet {
    let (source, destination) = match family {
        Family::Inet => {
            let source = std::net::Ipv4Addr::from_bits(first);
            let last = std::net::Ipv4Addr::from_bits(first.saturating_add(6));
            (format!("{source}-{last}:{ports}"), "198.19.10.1-198.19.10.5:9-10".to_owned())
        }
        Family::Inet6 => (
            format!("[2001:2::{:x}:{:x}]:{ports}", first >> 16, first & 0xffff),
            "[2001:2:0:8010:ffff:ffff:ffff:fff0]-[2001:2:0:8010:ffff:ffff:ffff:fffe]:9-10"
                .to_owned(),
        ),
    };
    FlowSet::parse(&source, &destination).unwrap()
}

proptest! {
    #[test]
    fn every_frame_is_valid_and_of_the_plan(
        is_inet6 in any::<bool>(), first in 1_u32..0xffff_fff0, port in 1_u16..65_535,
        len in 80_usize..9216, latency in any::<bool>(), stamp in any::<u64>(), ttl in 2_u8..=255,
    ) {
        let family = if is_inet6 { Family::Inet6 } else { Family::Inet };
        let mut stream = Stream::new(ranges(family, first, port));
        stream.sizes = format!("min:1,{len}:2").parse().unwrap();
        let mut plan = TrafficPlan::new(vec![stream]);
        (plan.latency, plan.ttl) = (latency, ttl);
        let (_, batch) = written(&plan, 200, stamp);
        let flows = plan.streams[0].flows;
        for frame in batch.iter() {
            let (source, destination, source_port, destination_port) = dissect(frame, &plan);
            prop_assert!((flows.source().first()..=flows.source().last()).contains(&source));
            let range = flows.destination();
            prop_assert!((range.first()..=range.last()).contains(&destination));
            prop_assert_eq!(source_port, port);
            prop_assert!((9..=10).contains(&destination_port));
            prop_assert!([60, 62, len - 4].contains(&frame.len()));
        }
    }

    #[test]
    fn accepts_what_a_router_makes_of_a_frame_after_any_number_of_hops(
        is_inet6 in any::<bool>(), first in 1_u32..0xffff_fff0, hops in 0_u8..60, last in any::<u8>(),
    ) {
        let family = if is_inet6 { Family::Inet6 } else { Family::Inet };
        let mut plan = TrafficPlan::new(vec![Stream::new(ranges(family, first, 7))]);
        (plan.hops, plan.arrival_mac) = (hops, MacAddr([2, 7, 7, 7, 7, last]));
        let (sender, mut batch) = written(&plan, 200, 0);
        for frame in batch.iter_mut() {
            frame[0..6].copy_from_slice(&plan.arrival_mac.0);
            frame[6..12].copy_from_slice(&[2, 9, 9, 9, 9, 9]);
            if is_inet6 {
                frame[21] -= hops;
                continue;
            }
            // From scratch, not by difference.
            frame[22] -= hops;
            frame[24..26].fill(0);
            let sum = checksum::finish(checksum::sum(&frame[14..34]));
            frame[24..26].copy_from_slice(&sum.to_be_bytes());
        }
        let mut receiver = Receiver::new(&plan, &sender).unwrap();
        receiver.check(&batch, 0, |at| panic!("frame {at}"));
        prop_assert_eq!(receiver.received(), 200);
        prop_assert!(receiver.checks().is_clean(), "{:?}", receiver.checks());
    }
}

#[test]
fn notices_any_single_bit_that_changes_in_the_headers() {
    for (family, bit) in
        [Family::Inet, Family::Inet6].into_iter().flat_map(|f| (0..480).map(move |bit| (f, bit)))
    {
        let mut plan = TrafficPlan::new(vec![Stream::new(ranges(family, 0xc612_0a01, 7))]);
        (plan.hops, plan.arrival_mac) = (0, plan.device_mac);
        let (sender, mut batch) = written(&plan, 2, 0);
        // The second frame: the first is one of those that are always looked at closely.
        batch[1][bit / 8] ^= 0x80 >> (bit % 8);
        let mut receiver = Receiver::new(&plan, &sender).unwrap();
        receiver.check(&batch, 0, |_| {});
        let checks = receiver.checks();
        let is_source_mac = (6..12).contains(&(bit / 8));
        // The flow label is the sequence number: a change shows as a gap or an old frame.
        let is_label = family == Family::Inet6 && (15 * 8 + 4..18 * 8).contains(&bit);
        // The UDP checksum is looked at only by turns.
        let is_sum = matches!((family, bit / 8), (Family::Inet, 40 | 41));
        let is_noticed = !checks.is_clean() || checks.foreign > 0;
        assert!(
            is_noticed || is_source_mac || is_label || is_sum,
            "{family:?} bit {bit} {checks:?}"
        );
    }
}

#[test]
fn serves_ten_million_flows() {
    let flows = FlowSet::parse("10.0.0.0-10.0.3.231:1-10", "11.0.0.0-11.0.3.231:5").unwrap();
    assert_eq!(flows.count(), 10_000_000);
    let mut stream = Stream::new(flows);
    stream.order = Order::Random;
    let mut plan = TrafficPlan::new(vec![stream]);
    (plan.hops, plan.arrival_mac) = (0, plan.device_mac);
    let (mut sender, mut batch) = written(&plan, 256, 0);
    let mut receiver = Receiver::new(&plan, &sender).unwrap();
    for _ in 0..100 {
        for frame in batch.iter() {
            dissect(frame, &plan);
        }
        receiver.check(&batch, 0, |at| panic!("frame {at}"));
        sender.write(&mut batch, 0);
    }
    assert!(receiver.checks().is_clean(), "{:?}", receiver.checks());
    assert_eq!(receiver.flows_seen().sum::<u32>(), 25_600, "a permutation repeats no flow");
}

#[test]
fn sends_mixed_sizes_in_their_proportion() {
    let mut stream = Stream::new(ranges(Family::Inet, 0xc612_0a01, 7));
    stream.sizes = FrameSizes::imix();
    let (_, batch) = written(&TrafficPlan::new(vec![stream]), 240, 0);
    let count = |len| batch.iter().filter(|frame| frame.len() == len).count();
    assert_eq!((count(60), count(590), count(1514)), (140, 80, 20));
}

#[test]
fn reads_and_prints_ranges_loads_sizes_and_orders() {
    let round_trip = [
        ("198.18.10.1-198.18.10.20:2000", "198.18.10.1-198.18.10.20:2000"),
        ("198.18.10.1", "198.18.10.1-198.18.10.1:2000"),
        ("10.0.0.1:5-9", "10.0.0.1-10.0.0.1:5-9"),
        ("[2001:2::1-2001:2::9]:7", "[2001:2::1]-[2001:2::9]:7"),
        ("2001:2::1-2001:2::9", "[2001:2::1]-[2001:2::9]:2000"),
    ];
    for (text, printed) in round_trip {
        let range: fwdlab_traffic::Endpoints = text.parse().unwrap();
        assert_eq!(range.to_string(), printed);
        assert_eq!(printed.parse(), Ok(range));
    }
    let wrong = [
        "10.0.0.9-10.0.0.1:5",
        "10.0.0.1:70000",
        "10.0.0:5",
        "",
        "10.0.0.1:9-5",
        "[::1",
        "1.0.0.0-3.0.0.0:1",
    ];
    for text in wrong {
        assert!(text.parse::<fwdlab_traffic::Endpoints>().is_err(), "{text}");
    }
    for text in ["max", "1Gbps", "500kpps", "1.488Mpps", "7pps"] {
        let load: fwdlab_traffic::Load = text.parse().unwrap();
        assert_eq!(load.to_string(), text);
    }
    for text in ["", "fast", "0pps", "-1pps", "1", "1kps", "1e9pps", "infpps"] {
        assert!(text.parse::<fwdlab_traffic::Load>().is_err(), "{text}");
    }
    for text in ["min", "1518", "min:7,594:4,1518:1"] {
        assert_eq!(text.parse::<FrameSizes>().unwrap().to_string(), text);
    }
    for text in ["", "0", "x", "64:0", "64:7,", "64:1001"] {
        assert!(text.parse::<FrameSizes>().is_err(), "{text}");
    }
    for text in ["sequential", "random", "zipf(1.2)"] {
        assert_eq!(text.parse::<Order>().unwrap().to_string(), text);
    }
    for text in ["", "zipf", "zipf(9)", "zipf(x)", "backwards"] {
        assert!(text.parse::<Order>().is_err(), "{text}");
    }
}
