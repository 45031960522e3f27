//! ARP (RFC 826, RFC 1122) and neighbour discovery (RFC 4861).

use fwdlab_fib::{Inet, Inet6, Nexthop};
use fwdlab_router::{DropReason, NeighbourState};
use fwdlab_wire::{MacAddr, arp, ethernet, icmpv4, icmpv6, ipv4, ipv6, ndisc};

use crate::rig::*;

const HOST: MacAddr = MacAddr([2, 0, 0, 0, 1, 1]);
/// A host on port 1's network without a neighbour entry.
const HOST_ADDRESS: u32 = 0xc613_0042; // 198.19.0.66
const HOST_ADDRESS6: u128 = 0x2001_0002_0000_8000 << 64 | 0x42;

fn arp_frame(operation: u16, sender: u32, target: u32) -> Vec<u8> {
    let mut bytes = vec![0; 60];
    let mut frame = ethernet::Frame::parse(&mut bytes[..]).unwrap();
    frame.set_destination(if operation == arp::REQUEST { MacAddr::BROADCAST } else { OUTSIDE });
    frame.set_source(HOST);
    frame.set_ether_type(ethernet::TYPE_ARP);
    let mut packet = arp::Packet::prepare(frame.payload_mut()).unwrap();
    packet.set_operation(operation);
    packet.set_sender(HOST, sender);
    packet.set_target(MacAddr::ZERO, target);
    bytes
}

fn nd_frame(kind: u8, source: u128, destination: u128, target: u128) -> Vec<u8> {
    let mut bytes = message6(destination, kind, &[0; 24]);
    bytes[..6].copy_from_slice(&OUTSIDE.0);
    let mut packet = ipv6::Packet::parse(&mut bytes[14..]).unwrap();
    packet.set_hop_limit(255);
    packet.set_source(source);
    let pseudo = packet.pseudo_sum();
    ndisc::Message::prepare(packet.payload_mut(), kind, target, HOST).unwrap();
    icmpv6::Packet::parse(packet.payload_mut()).unwrap().fill_checksum(pseudo);
    bytes
}

fn state(rig: &Rig) -> NeighbourState {
    let row = rig.router.neighbours::<Inet>().into_iter().find(|row| row.1 == HOST_ADDRESS);
    row.map_or(NeighbourState::Unknown, |row| row.3)
}

#[test]
fn rfc826_answers_requests_for_its_addresses_and_no_others() {
    let mut rig = Rig::new();
    rig.inject(1, &[arp_frame(arp::REQUEST, HOST_ADDRESS, OUTSIDE_ADDRESS)]);
    rig.poll();
    let answer = rig.take(1).remove(0);
    let header = ethernet::Frame::parse(&answer).unwrap();
    assert_eq!((header.destination(), header.source()), (HOST, OUTSIDE));
    let packet = arp::Packet::parse(header.payload()).unwrap();
    assert_eq!(packet.operation(), arp::REPLY);
    assert_eq!((packet.sender_mac(), packet.sender_address()), (OUTSIDE, OUTSIDE_ADDRESS));
    assert_eq!((packet.target_mac(), packet.target_address()), (HOST, HOST_ADDRESS));
    assert_eq!(state(&rig), NeighbourState::Stale, "the asker is learned");
    for other in [INSIDE_ADDRESS, HOST_ADDRESS + 1] {
        rig.inject(1, &[arp_frame(arp::REQUEST, HOST_ADDRESS, other)]);
    }
    rig.poll();
    // The asker is known, so that the requests say that it is where it was.
    assert_eq!((rig.take(1).len(), rig.counters().dropped()), (0, 0));
    rig.assert_balance();
}

#[test]
fn rfc1122_section_2_3_2_2_a_packet_waits_for_the_answer() {
    let mut rig = Rig::new();
    let sent = inet_with(|packet| packet.set_destination(HOST_ADDRESS));
    let (back, out) = rig.pass(sent.clone());
    assert_eq!((back.len(), out.len(), rig.worker.held()), (0, 1, 1));
    let request = arp::Packet::parse(&out[0][14..]).unwrap();
    assert_eq!((request.operation(), request.target_address()), (arp::REQUEST, HOST_ADDRESS));
    assert_eq!((request.sender_mac(), request.sender_address()), (OUTSIDE, OUTSIDE_ADDRESS));
    assert_eq!(out[0][..6], MacAddr::BROADCAST.0);
    assert_eq!(state(&rig), NeighbourState::Incomplete);

    rig.inject(1, &[arp_frame(arp::REPLY, HOST_ADDRESS, OUTSIDE_ADDRESS)]);
    rig.poll();
    let out = rig.take(1);
    assert_eq!((out.len(), rig.worker.held()), (1, 0));
    assert_eq!(out[0][..6], HOST.0);
    let packet = ipv4::Packet::parse(&out[0][14..]).unwrap();
    assert!(packet.ttl() == 63 && packet.has_valid_checksum());
    assert_eq!(state(&rig), NeighbourState::Reachable);
    assert_eq!(rig.forwarded(sent)[..6], HOST.0);
    rig.assert_balance();
}

#[test]
fn a_silent_host_is_asked_three_times_then_the_sender_is_told() {
    let mut rig = Rig::new();
    let frames = vec![inet_with(|packet| packet.set_destination(HOST_ADDRESS)); 6];
    rig.inject(0, &frames);
    rig.poll();
    assert_eq!((rig.worker.held(), rig.counters().drops(DropReason::Unresolved)), (4, 2));
    let mut errors = rig.take(0);
    for _ in 0..50 {
        rig.now_ns += SECOND / 10;
        rig.poll();
        rig.assert_balance();
    }
    assert_eq!(errors.len(), 0, "nobody is told at once");
    errors.extend(rig.take(0));
    assert_eq!(rig.take(1).len(), 3, "requests");
    assert_eq!((rig.worker.held(), rig.counters().drops(DropReason::Unresolved)), (0, 6));
    assert_eq!(errors.len(), 4, "of those that have waited to the end");
    for error in errors {
        assert_eq!(error[34..36], [icmpv4::UNREACHABLE, icmpv4::CODE_HOST]);
    }
}

#[test]
fn a_gateway_is_resolved_and_then_used_by_the_fast_path() {
    let mut rig = Rig::new();
    rig.router
        .add_route("10.0.0.0/8".parse().unwrap(), Nexthop::<Inet>::via(HOST_ADDRESS, 1))
        .unwrap();
    let sent = inet_with(|packet| packet.set_destination(0x0a01_0203));
    let (_, out) = rig.pass(sent.clone());
    assert_eq!(arp::Packet::parse(&out[0][14..]).unwrap().target_address(), HOST_ADDRESS);
    rig.inject(1, &[arp_frame(arp::REPLY, HOST_ADDRESS, OUTSIDE_ADDRESS)]);
    rig.poll();
    assert_eq!(rig.take(1).len(), 1);
    assert_eq!(rig.forwarded(sent)[..6], HOST.0);
}

#[test]
fn no_more_packets_wait_than_the_limit() {
    let mut rig = Rig::new();
    let to = |host: u32| inet_with(|packet| packet.set_destination(0xc613_0002 + host));
    let frames: Vec<_> = (0..200).map(to).collect();
    rig.inject(0, &frames);
    rig.poll();
    assert_eq!(rig.worker.held(), 128);
    rig.assert_balance();
}

#[test]
fn rfc4861_section_7_2_4_answers_solicitations() {
    let mut rig = Rig::new();
    let ours = 0x2001_0002_0000_8000_u128 << 64 | 1;
    let group = ipv6::to_solicited_node(ours);
    let mut frame = nd_frame(ndisc::SOLICITATION, HOST_ADDRESS6, group, ours);
    frame[..6].copy_from_slice(&MacAddr::of_ipv6_multicast(group).0);
    rig.inject(1, &[frame]);
    rig.poll();
    let answer = rig.take(1).remove(0);
    assert_eq!((&answer[..6], &answer[6..12]), (&HOST.0[..], &OUTSIDE.0[..]));
    let packet = ipv6::Packet::parse(&answer[14..]).unwrap();
    assert_eq!(
        (packet.source(), packet.destination(), packet.hop_limit()),
        (ours, HOST_ADDRESS6, 255)
    );
    assert!(
        icmpv6::Packet::parse(packet.payload()).unwrap().has_valid_checksum(packet.pseudo_sum())
    );
    let message = ndisc::Message::parse(packet.payload()).unwrap();
    assert_eq!((message.kind(), message.target()), (ndisc::ADVERTISEMENT, ours));
    assert_eq!(message.flags(), 0xe0, "router, solicited, override");
    assert_eq!(message.link_layer_address(ndisc::OPTION_TARGET_MAC), Some(OUTSIDE));
    rig.assert_balance();
}

#[test]
fn rfc4861_section_7_1_1_a_probe_that_says_a_mac_address_is_not_answered() {
    let ours = 0x2001_0002_0000_8000_u128 << 64 | 1;
    let group = ipv6::to_solicited_node(ours);
    let mut frame = nd_frame(ndisc::SOLICITATION, 0, group, ours);
    frame[..6].copy_from_slice(&MacAddr::of_ipv6_multicast(group).0);
    let mut bare = frame[..54 + ndisc::OPTIONS].to_vec();
    let len = (bare.len() - 54) as u16;
    bare[18..20].copy_from_slice(&len.to_be_bytes());
    let mut packet = ipv6::Packet::parse(&mut bare[14..]).unwrap();
    let pseudo = packet.pseudo_sum();
    icmpv6::Packet::parse(packet.payload_mut()).unwrap().fill_checksum(pseudo);
    for (frame, answers) in [(frame, 0), (bare, 1)] {
        let mut rig = Rig::new();
        rig.inject(1, &[frame]);
        rig.poll();
        assert_eq!(rig.take(1).len(), answers, "{:?}", rig.drops());
        rig.assert_balance();
    }
}

#[test]
fn rfc4861_section_7_1_forwarded_messages_are_not_believed() {
    let mut rig = Rig::new();
    let ours = 0x2001_0002_0000_8000_u128 << 64 | 1;
    let mut frame = nd_frame(ndisc::SOLICITATION, HOST_ADDRESS6, ours, ours);
    frame[21] = 254;
    rig.inject(1, &[frame]);
    rig.poll();
    assert_eq!((rig.take(1).len(), rig.counters().drops(DropReason::NotAccepted)), (0, 1));
    assert!(rig.router.neighbours::<Inet6>().iter().all(|row| row.1 != HOST_ADDRESS6));
}

#[test]
fn rfc4861_section_7_2_2_an_ipv6_packet_waits_for_the_advertisement() {
    let mut rig = Rig::new();
    let sent = inet6_with(|packet| packet.set_destination(HOST_ADDRESS6));
    let (_, out) = rig.pass(sent.clone());
    assert_eq!((out.len(), rig.worker.held()), (1, 1));
    let packet = ipv6::Packet::parse(&out[0][14..]).unwrap();
    assert_eq!(packet.destination(), ipv6::to_solicited_node(HOST_ADDRESS6));
    assert!(
        icmpv6::Packet::parse(packet.payload()).unwrap().has_valid_checksum(packet.pseudo_sum())
    );
    assert_eq!(ndisc::Message::parse(packet.payload()).unwrap().target(), HOST_ADDRESS6);
    let ours = packet.source();
    rig.inject(1, &[nd_frame(ndisc::ADVERTISEMENT, HOST_ADDRESS6, ours, HOST_ADDRESS6)]);
    rig.poll();
    let out = rig.take(1);
    assert_eq!((out.len(), &out[0][..6], out[0][21]), (1, &HOST.0[..], 63));
    rig.assert_balance();
}

#[test]
fn rfc4861_section_7_2_2_a_new_packet_takes_the_place_of_the_oldest() {
    let mut rig = Rig::new();
    let numbered = |number: u16| {
        inet_with(|packet| {
            packet.set_destination(HOST_ADDRESS);
            packet.set_identification(number);
        })
    };
    let frames: Vec<_> = (1..=6).map(numbered).collect();
    rig.inject(0, &frames);
    rig.poll();
    assert_eq!(rig.take(0).len(), 0, "nobody is told that it is unreachable");
    rig.take(1);
    rig.inject(1, &[arp_frame(arp::REPLY, HOST_ADDRESS, OUTSIDE_ADDRESS)]);
    rig.poll();
    let sent = rig.take(1).iter().map(|frame| u16::from_be_bytes([frame[18], frame[19]])).collect();
    assert_eq!(Vec::<u16>::from_iter::<Vec<u16>>(sent), [3, 4, 5, 6]);
    rig.assert_balance();
}

#[test]
fn rfc5227_section_2_1_1_a_probe_for_our_address_is_answered_and_not_learned() {
    let mut rig = Rig::new();
    rig.inject(1, &[arp_frame(arp::REQUEST, 0, OUTSIDE_ADDRESS)]);
    rig.poll();
    let answer = rig.take(1).remove(0);
    let packet = arp::Packet::parse(&answer[14..]).unwrap();
    assert_eq!((packet.operation(), packet.sender_address()), (arp::REPLY, OUTSIDE_ADDRESS));
    assert!(rig.router.neighbours::<Inet>().iter().all(|row| row.1 != 0));
    rig.inject(1, &[arp_frame(arp::REQUEST, 0, HOST_ADDRESS)]);
    rig.poll();
    assert_eq!(rig.take(1).len(), 0, "others defend their addresses themselves");
    rig.assert_balance();
}

#[test]
fn rfc826_a_gratuitous_arp_moves_a_known_neighbour_and_makes_no_new_one() {
    let mut rig = Rig::new();
    rig.inject(1, &[arp_frame(arp::REQUEST, HOST_ADDRESS, HOST_ADDRESS)]);
    rig.poll();
    assert_eq!(state(&rig), NeighbourState::Unknown);
    rig.inject(1, &[arp_frame(arp::REQUEST, HOST_ADDRESS, OUTSIDE_ADDRESS)]);
    rig.poll();
    rig.take(1);
    const MOVED: MacAddr = MacAddr([2, 0, 0, 0, 1, 2]);
    let mut frame = arp_frame(arp::REQUEST, HOST_ADDRESS, HOST_ADDRESS);
    frame[22..28].copy_from_slice(&MOVED.0);
    rig.inject(1, &[frame]);
    rig.poll();
    assert_eq!(rig.take(1).len(), 0);
    let sent = inet_with(|packet| packet.set_destination(HOST_ADDRESS));
    assert_eq!(rig.forwarded(sent)[..6], MOVED.0);
}

/// A MAC address of nobody is learned from nobody.
#[test]
fn no_neighbour_has_the_mac_address_zero() {
    let mut rig = Rig::new();
    let mut frame = arp_frame(arp::REPLY, HOST_ADDRESS, OUTSIDE_ADDRESS);
    frame[22..28].fill(0);
    rig.inject(1, &[arp_frame(arp::REQUEST, HOST_ADDRESS, OUTSIDE_ADDRESS), frame]);
    rig.poll();
    let sent = inet_with(|packet| packet.set_destination(HOST_ADDRESS));
    rig.take(1);
    assert_eq!(rig.forwarded(sent)[..6], HOST.0);
    let mut rig = with_host6();
    let flags = ndisc::FLAG_SOLICITED | ndisc::FLAG_OVERRIDE;
    rig.inject(1, &[advertisement(flags, Some(MacAddr::ZERO))]);
    rig.poll();
    assert_eq!(state6(&rig).0, Some(HOST));
    assert!(rig.router.add_neighbour::<Inet>(1, HOST_ADDRESS, MacAddr::ZERO).is_err());
}

/// An advertisement of the host with these flags; the option is left out without `mac`.
fn advertisement(flags: u8, mac: Option<MacAddr>) -> Vec<u8> {
    let ours = 0x2001_0002_0000_8000_u128 << 64 | 1;
    let mut frame = nd_frame(ndisc::ADVERTISEMENT, HOST_ADDRESS6, ours, HOST_ADDRESS6);
    frame[54 + ndisc::FLAGS] = flags;
    match mac {
        Some(mac) => frame[54 + ndisc::OPTIONS + 2..][..6].copy_from_slice(&mac.0),
        None => frame.truncate(54 + ndisc::OPTIONS),
    }
    let len = (frame.len() - 54) as u16;
    frame[18..20].copy_from_slice(&len.to_be_bytes());
    let mut packet = ipv6::Packet::parse(&mut frame[14..]).unwrap();
    let pseudo = packet.pseudo_sum();
    icmpv6::Packet::parse(packet.payload_mut()).unwrap().fill_checksum(pseudo);
    frame
}

/// A router that knows the host as reachable, through an IPv6 packet.
fn with_host6() -> Rig {
    let mut rig = Rig::new();
    rig.inject(0, &[inet6_with(|packet| packet.set_destination(HOST_ADDRESS6))]);
    rig.poll();
    rig.inject(1, &[advertisement(ndisc::FLAG_SOLICITED | ndisc::FLAG_OVERRIDE, Some(HOST))]);
    rig.poll();
    rig.take(1);
    assert_eq!(state6(&rig), (Some(HOST), NeighbourState::Reachable));
    rig
}

fn state6(rig: &Rig) -> (Option<MacAddr>, NeighbourState) {
    let row = rig.router.neighbours::<Inet6>().into_iter().find(|row| row.1 == HOST_ADDRESS6);
    row.map_or((None, NeighbourState::Unknown), |row| (row.2, row.3))
}

#[test]
fn rfc4861_section_7_2_5_an_advertisement_without_a_mac_address_confirms() {
    let mut rig = with_host6();
    // For five minutes, in which each probe is answered without the option.
    for _ in 0..3000 {
        rig.now_ns += SECOND / 10;
        rig.poll();
        if !rig.take(1).is_empty() {
            rig.inject(1, &[advertisement(ndisc::FLAG_SOLICITED, None)]);
            rig.poll();
        }
        assert_eq!(state6(&rig).0, Some(HOST), "after {} s", rig.now_ns / SECOND);
    }
    rig.assert_balance();
}

#[test]
fn rfc4861_section_7_2_5_override_and_solicited_flags_are_obeyed() {
    const OTHER: MacAddr = MacAddr([2, 0, 0, 0, 1, 7]);
    let after = |flags, mac| {
        let mut rig = with_host6();
        rig.inject(1, &[advertisement(flags, Some(mac))]);
        rig.poll();
        state6(&rig)
    };
    let (solicited, overriding) = (ndisc::FLAG_SOLICITED, ndisc::FLAG_OVERRIDE);
    assert_eq!(after(0, OTHER), (Some(HOST), NeighbourState::Stale), "doubtful, not replaced");
    assert_eq!(after(solicited, OTHER), (Some(HOST), NeighbourState::Stale));
    assert_eq!(after(overriding, OTHER), (Some(OTHER), NeighbourState::Stale));
    assert_eq!(after(solicited | overriding, OTHER), (Some(OTHER), NeighbourState::Reachable));
    assert_eq!(after(0, HOST), (Some(HOST), NeighbourState::Reachable), "nothing new");
}
