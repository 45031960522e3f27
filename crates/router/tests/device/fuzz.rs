//! Malformed frames: deterministic mutations of good ones, sent both through the fast and the
//! general path. Nothing panics, nothing leaks, nothing wrong comes out.
//!
//! `FWDLAB_FUZZ_FRAMES` sets how many (default 2,000,000), `FWDLAB_FUZZ_SECONDS` for how long instead,
//! `FWDLAB_FUZZ_SEED` where they begin. `cargo xtask test` takes a minute. The nightly form, 10 million:
//! `cargo test -p fwdlab-router --test device -- --ignored`.

use std::time::{Duration, Instant};

use fwdlab_fib::{Inet, Nexthop, Random};
use fwdlab_router::PortConfig;
use fwdlab_wire::{ethernet, icmpv4, icmpv6, ipv4, ipv6};

use crate::rig::*;

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![
        inet(60),
        inet(61),
        inet(1514),
        inet6(62),
        inet6(1514),
        echo(INSIDE_ADDRESS, b"echo data"),
        message6(INSIDE_ADDRESS6, icmpv6::ECHO_REQUEST, b"echo"),
        message6(INSIDE_ADDRESS6, 135, &[0; 24]),
        message6(INSIDE_ADDRESS6, 136, &[0; 24]),
    ];
    // To a port with a smaller MTU: fragmented, unless forbidden.
    seeds.push(inet(1514));
    seeds[9][30..34].copy_from_slice(&INTO_VLAN.to_be_bytes());
    ipv4::Packet::parse(&mut seeds[9][14..]).unwrap().fill_checksum();
    let mut tagged = seeds[9].clone();
    tagged.splice(12..12, [0x81, 0, 0, 7]);
    seeds.push(tagged);
    // Fragments to the router itself, and packets in its own name.
    for (at, more) in [(0, true), (1, true), (2, false), (1, false)] {
        seeds.push(fragment(INSIDE_ADDRESS, 7, at, more));
        seeds.push(fragment6(INSIDE_ADDRESS6, 7, at, more));
    }
    seeds.push(inet_with(|packet| packet.set_source(OUTSIDE_ADDRESS)));
    seeds.push(inet6_with(|packet| packet.set_source(INSIDE_ADDRESS6)));
    let mut arp = vec![0; 60];
    arp[..6].fill(0xff);
    arp[12..22].copy_from_slice(&[8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    seeds.push(arp);
    seeds
}

/// One of: bits flipped, bytes set to edge values, cut, lengthened; the IPv4 checksum mended in
/// half of the cases, so that mutations get past it.
fn mutate(random: &mut Random, frame: &mut Vec<u8>) {
    for _ in 0..random.below(4) {
        let headers = frame.len().min(if random.below(4) == 0 { frame.len() } else { 60 });
        let at = random.below(headers as u64) as usize;
        match random.below(4) {
            0 => frame[at] ^= 1 << random.below(8),
            1 => frame[at] = [0, 1, 0x7f, 0x80, 0xff, 0x45, 0x46, 0x60][random.below(8) as usize],
            2 => frame[at] = random.next_u64() as u8,
            _ => frame[at] = frame[at].wrapping_add(1),
        }
    }
    match random.below(12) {
        0 => frame.truncate(random.below(frame.len() as u64 + 1) as usize),
        1 => frame.extend(std::iter::repeat_n(0xa5, random.below(40) as usize)),
        _ => {}
    }
    if random.below(2) == 0
        && frame.len() > 14
        && let Ok(mut packet) = ipv4::Packet::parse(&mut frame[14..])
    {
        packet.fill_checksum();
    }
}

/// What leaves the router has right checksums, whatever went in.
fn check(frame: &[u8]) {
    let frame = match &frame[12..14] {
        [0x81, 0] => &[&frame[..12], &frame[16..]].concat()[..],
        _ => frame,
    };
    let header = ethernet::Frame::parse(frame).unwrap();
    match header.ether_type() {
        ethernet::TYPE_IPV4 => {
            let packet = ipv4::Packet::parse(header.payload()).unwrap();
            assert!(packet.has_valid_checksum(), "{frame:02x?}");
            assert!(packet.ttl() > 0);
            // From the router to the tester: made by the router, not forged and forwarded.
            let ends = (packet.source(), packet.destination());
            if ends == (INSIDE_ADDRESS, SOURCE) && packet.protocol() == icmpv4::PROTOCOL {
                let message = icmpv4::Packet::parse(packet.payload()).unwrap();
                assert!(message.has_valid_checksum(), "{frame:02x?}");
            }
        }
        ethernet::TYPE_IPV6 => {
            let packet = ipv6::Packet::parse(header.payload()).unwrap();
            assert!(packet.hop_limit() > 0);
            if (packet.source(), packet.destination()) == (INSIDE_ADDRESS6, SOURCE6) {
                let message = icmpv6::Packet::parse(packet.payload()).unwrap();
                assert!(message.has_valid_checksum(packet.pseudo_sum()), "{frame:02x?}");
            }
        }
        ethernet::TYPE_ARP => {}
        other => panic!("forwarded type {other:04x}"),
    }
}

/// Behind port 3, which is VLAN 9 on port 1 and takes packets of at most 1280 bytes.
const INTO_VLAN: u32 = 0xc613_8001;

fn fuzzed_rig() -> Rig {
    let mut router = router();
    let vlan = PortConfig::new(INSIDE).address("198.18.7.1/24".parse().unwrap()).vlan(0, 7);
    router.add_port(vlan).unwrap();
    let vlan = PortConfig::new(OUTSIDE).address("198.19.9.1/24".parse().unwrap()).vlan(1, 9);
    router.add_port(vlan.mtu(1280)).unwrap();
    let gateway = 0xc613_09cb; // 198.19.9.203
    router.add_route::<Inet>("198.19.128.0/17".parse().unwrap(), Nexthop::via(gateway, 3)).unwrap();
    router.add_neighbour::<Inet>(3, gateway, FAR).unwrap();
    router.set("net.inet.ip.redirect", "1").unwrap();
    router.set("net.inet6.ip6.redirect", "1").unwrap();
    Rig::with(router)
}

/// When fuzzing ends.
enum Budget {
    Frames(u64),
    Time(Duration),
}

#[test]
fn mutated_frames_are_forwarded_right_or_dropped_with_a_reason() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let budget = match number("FWDLAB_FUZZ_SECONDS") {
        Some(seconds) => Budget::Time(Duration::from_secs(seconds)),
        None => Budget::Frames(number("FWDLAB_FUZZ_FRAMES").unwrap_or(2_000_000)),
    };
    fuzz(number("FWDLAB_FUZZ_SEED").unwrap_or(20), &budget);
}

#[test]
#[ignore = "the nightly form"]
fn ten_million_mutated_frames_are_forwarded_right_or_dropped_with_a_reason() {
    fuzz(22, &Budget::Frames(10_000_000));
}

/// Sends mutated frames through both paths.
fn fuzz(seed: u64, budget: &Budget) {
    const BATCH: u64 = 200;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let (mut fast, mut general) = (fuzzed_rig(), fuzzed_rig());
    general.router.set("fwdlab.device.fast_path", "0").unwrap();
    let seeds = seeds();
    let (start, mut frames) = (Instant::now(), 0);
    while match budget {
        Budget::Frames(most) => frames < *most,
        Budget::Time(most) => start.elapsed() < *most,
    } {
        let batch: Vec<_> = (0..BATCH)
            .map(|_| {
                let mut frame = seeds[random.below(seeds.len() as u64) as usize].clone();
                mutate(&mut random, &mut frame);
                frame
            })
            .collect();
        let mut outputs = Vec::new();
        for rig in [&mut fast, &mut general] {
            rig.now_ns += SECOND / 50;
            rig.inject(0, &batch);
            rig.poll();
            rig.assert_balance();
            outputs.push((rig.take(0), rig.take(1)));
            let kept = rig.worker.held() - rig.worker.fragments();
            assert_eq!(rig.pool.available(), 1024 - kept, "frame {frames}: a leak");
        }
        assert_eq!(outputs[0], outputs[1], "frame {frames}: both paths agree");
        outputs[0].0.iter().chain(&outputs[0].1).for_each(|frame| check(frame));
        frames += BATCH;
    }
    assert_eq!(fast.drops(), general.drops());
    println!("{frames} frames, drops: {:?}", fast.drops());
}

#[test]
fn forwarding_then_reversing_the_edits_gives_the_original() {
    let mut random = Random::new(21);
    let mut rig = Rig::new();
    for _ in 0..2000 {
        let len = 60 + random.below(1400) as usize;
        let mut frame = if random.below(2) == 0 { inet(len) } else { inet6(len + 2) };
        let is_inet = frame[12] == 8;
        let ttl = 2 + random.below(254) as u8;
        frame[if is_inet { 22 } else { 21 }] = ttl;
        let start = if is_inet { 42 } else { 62 };
        frame[start..].iter_mut().for_each(|byte| *byte = random.next_u64() as u8);
        if is_inet {
            frame[18..20].copy_from_slice(&(random.next_u64() as u16).to_be_bytes());
            ipv4::Packet::parse(&mut frame[14..]).unwrap().fill_checksum();
        }
        let mut out = rig.forwarded(frame.clone());
        out[..12].copy_from_slice(&frame[..12]);
        if is_inet {
            out[22] += 1;
            ipv4::Packet::parse(&mut out[14..]).unwrap().fill_checksum();
        } else {
            out[21] += 1;
        }
        assert_eq!(out, frame);
    }
}
