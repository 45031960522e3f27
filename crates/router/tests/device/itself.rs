//! Packets to the router itself, and its own on their way back.

use fwdlab_fib::{Inet, Inet6};
use fwdlab_router::{DropReason, PortConfig, Router};
use fwdlab_wire::{MacAddr, arp, ethernet, icmpv4, icmpv6, ipv4, ipv6, ndisc};

use crate::rig::*;

/// A router whose way back to [`SOURCE`] leads through port 1, of this MTU.
fn bent(mtu: usize) -> Rig {
    let mut router = Router::new().unwrap();
    let inside = PortConfig::new(INSIDE)
        .address("198.18.0.1/24".parse().unwrap())
        .address6("2001:2::1/64".parse().unwrap());
    let outside = PortConfig::new(OUTSIDE)
        .address("198.19.0.1/24".parse().unwrap())
        .address6("2001:2:0:8000::1/64".parse().unwrap())
        .mtu(mtu);
    router.add_port(inside).unwrap();
    router.add_port(outside).unwrap();
    let (gateway, gateway6) = (0xc613_00cb, 0x2001_0002_0000_8000_u128 << 64 | 0xcb);
    let via = fwdlab_fib::Nexthop::via(gateway, 1);
    router.add_route::<Inet>("198.18.10.0/24".parse().unwrap(), via).unwrap();
    let via = fwdlab_fib::Nexthop::via(gateway6, 1);
    router.add_route::<Inet6>("2001:2:0:1::/64".parse().unwrap(), via).unwrap();
    router.add_neighbour::<Inet>(1, gateway, FAR).unwrap();
    router.add_neighbour::<Inet6>(1, gateway6, FAR).unwrap();
    Rig::with(router)
}

#[test]
fn an_echo_reply_that_is_too_long_for_its_way_back_leaves_in_fragments() {
    let mut rig = bent(1400);
    let mut sent = echo(INSIDE_ADDRESS, &[7; 1472]);
    let mut packet = ipv4::Packet::parse(&mut sent[14..]).unwrap();
    packet.set_fragment(ipv4::DONT_FRAGMENT);
    packet.fill_checksum();
    let (back, out) = rig.pass(sent);
    assert_eq!((back.len(), out.len()), (0, 2), "{:?}", rig.drops());
    for frame in &out {
        let packet = ipv4::Packet::parse(&frame[14..]).unwrap();
        assert!(packet.total_length() <= 1400 && packet.has_valid_checksum());
        assert_eq!(packet.destination(), SOURCE);
    }
}

/// RFC 8200, section 5: it is the source that cuts.
#[test]
fn an_ipv6_reply_that_is_too_long_for_its_way_back_leaves_in_fragments() {
    let mut rig = bent(1300);
    for len in [1252, 1253, 1400] {
        let (back, out) = rig.pass(message6(INSIDE_ADDRESS6, icmpv6::ECHO_REQUEST, &vec![7; len]));
        assert_eq!((back.len(), out.len()), (0, 1 + usize::from(len > 1252)), "{:?}", rig.drops());
        let mut whole = Vec::new();
        for frame in &out {
            let packet = ipv6::Packet::parse(&frame[14..]).unwrap();
            assert!(frame.len() <= 1314 && packet.source() == INSIDE_ADDRESS6);
            assert_eq!(packet.destination(), SOURCE6);
            let front = if packet.next_header() == 44 { 8 } else { 0 };
            whole.extend(&packet.payload()[front..]);
        }
        let len = whole.len() as u32;
        let pseudo = fwdlab_wire::checksum::pseudo_v6(INSIDE_ADDRESS6, SOURCE6, 58, len);
        let message = icmpv6::Packet::parse(&whole[..]).unwrap();
        assert!(message.has_valid_checksum(pseudo) && message.kind() == icmpv6::ECHO_REPLY);
    }
    let now = rig.counters();
    assert_eq!((now.consumed, now.originated, now.sent), (3, 5, 5));
    // The way back was taken three times, the pieces are not counted one by one.
    let counts = rig.router.nexthop_counts::<Inet6>(0);
    let via = counts.iter().find(|count| count.nexthop.is_some_and(|way| way.gateway.is_some()));
    assert_eq!(via.map(|count| count.packets), Some(3), "{counts:?}");
}

#[test]
fn a_reply_waits_for_the_mac_address_of_its_next_hop() {
    let mut rig = Rig::new();
    // A neighbour on port 0 that the router has never heard of, and a next hop for errors.
    let host = INSIDE_ADDRESS + 0x41;
    let from_host = |mut frame: Vec<u8>| {
        let mut packet = ipv4::Packet::parse(&mut frame[14..]).unwrap();
        packet.set_source(host);
        packet.fill_checksum();
        frame
    };
    let mut expired = inet_with(|packet| packet.set_ttl(1));
    expired = from_host(expired);
    for (sent, kind) in [
        (from_host(echo(INSIDE_ADDRESS, &[1; 18])), icmpv4::ECHO_REPLY),
        (expired, icmpv4::TIME_EXCEEDED),
    ] {
        let mut rig = Rig::new();
        let (back, out) = rig.pass(sent);
        assert_eq!((back.len(), out.len(), rig.worker.held()), (1, 0, 1), "{:?}", rig.drops());
        let request = arp::Packet::parse(&back[0][14..]).unwrap();
        assert_eq!((request.operation(), request.target_address()), (arp::REQUEST, host));
        let mut answer = vec![0; 60];
        let mut frame = ethernet::Frame::parse(&mut answer[..]).unwrap();
        frame.set_destination(INSIDE);
        frame.set_source(NEAR);
        frame.set_ether_type(ethernet::TYPE_ARP);
        let mut packet = arp::Packet::prepare(frame.payload_mut()).unwrap();
        packet.set_operation(arp::REPLY);
        packet.set_sender(MacAddr([2, 0, 0, 0, 5, 5]), host);
        packet.set_target(INSIDE, INSIDE_ADDRESS);
        rig.inject(0, &[answer]);
        rig.poll();
        let back = rig.take(0);
        assert_eq!((back.len(), rig.worker.held()), (1, 0));
        assert_eq!((&back[0][..6], back[0][34]), (&[2, 0, 0, 0, 5, 5][..], kind));
        rig.assert_balance();
    }
    rig.poll();
}

#[test]
fn nobody_is_told_that_a_reply_found_no_next_hop() {
    let mut rig = Rig::new();
    let mut sent = echo(INSIDE_ADDRESS, &[1; 18]);
    let mut packet = ipv4::Packet::parse(&mut sent[14..]).unwrap();
    packet.set_source(INSIDE_ADDRESS + 0x41);
    packet.fill_checksum();
    rig.pass(sent);
    for _ in 0..50 {
        rig.now_ns += SECOND / 10;
        rig.poll();
        rig.assert_balance();
    }
    let asked = rig.take(0).iter().filter(|frame| frame[12..14] != [8, 6]).count();
    assert_eq!((asked, rig.worker.held()), (0, 0));
    assert_eq!(rig.drops(), [(DropReason::Unresolved, 1)]);
}

#[test]
fn rfc4861_a_link_local_neighbour_may_speak_to_a_global_address() {
    let mut rig = Rig::new();
    let link_local = 0xfe80_u128 << 112 | 0x77;
    let mut sent = message6(INSIDE_ADDRESS6, icmpv6::ECHO_REQUEST, &[3; 8]);
    let mut packet = ipv6::Packet::parse(&mut sent[14..]).unwrap();
    packet.set_source(link_local);
    let pseudo = packet.pseudo_sum();
    icmpv6::Packet::parse(packet.payload_mut()).unwrap().fill_checksum(pseudo);
    let (back, out) = rig.pass(sent);
    assert_eq!((back.len(), out.len()), (1, 0), "{:?}", rig.drops());
    let packet = ipv6::Packet::parse(&back[0][14..]).unwrap();
    assert_eq!((packet.source(), packet.destination()), (INSIDE_ADDRESS6, link_local));
    assert_eq!(packet.payload()[0], icmpv6::ECHO_REPLY);
}

#[test]
fn rfc4291_section_2_6_1_the_subnet_router_anycast_address_is_answered_from_a_unicast_one() {
    let mut rig = Rig::new();
    let anycast = INSIDE_ADDRESS6 - 1;
    let (back, _) = rig.pass(message6(anycast, icmpv6::ECHO_REQUEST, &[3; 8]));
    assert_eq!(back.len(), 1, "{:?}", rig.drops());
    let packet = ipv6::Packet::parse(&back[0][14..]).unwrap();
    assert_eq!((packet.payload()[0], packet.source()), (icmpv6::ECHO_REPLY, INSIDE_ADDRESS6));
    // RFC 4861, section 7.2.7: its advertisement does not override.
    let mut asked = message6(ipv6::to_solicited_node(anycast), ndisc::SOLICITATION, &[0; 24]);
    asked[..6].copy_from_slice(&MacAddr::of_ipv6_multicast(ipv6::to_solicited_node(anycast)).0);
    let mut packet = ipv6::Packet::parse(&mut asked[14..]).unwrap();
    packet.set_hop_limit(255);
    let pseudo = packet.pseudo_sum();
    ndisc::Message::prepare(packet.payload_mut(), ndisc::SOLICITATION, anycast, NEAR).unwrap();
    icmpv6::Packet::parse(packet.payload_mut()).unwrap().fill_checksum(pseudo);
    let (back, _) = rig.pass(asked);
    let packet = ipv6::Packet::parse(&back[0][14..]).unwrap();
    assert_eq!(ndisc::Message::parse(packet.payload()).unwrap().flags() & ndisc::FLAG_OVERRIDE, 0);
}

#[test]
fn an_error_about_a_packet_to_an_address_comes_from_that_address() {
    let mut rig = Rig::new();
    // To the far port's address, which no route back leads through.
    let (reason, answer) = rig.refused(inet_with(|packet| packet.set_destination(OUTSIDE_ADDRESS)));
    assert_eq!(reason, DropReason::NoSuchService);
    assert_eq!(ipv4::Packet::parse(&answer[14..]).unwrap().source(), OUTSIDE_ADDRESS);
    let far = 0x2001_0002_0000_8000_u128 << 64 | 1;
    let (_, answer) = rig.refused(inet6_with(|packet| packet.set_destination(far)));
    assert_eq!(ipv6::Packet::parse(&answer[14..]).unwrap().source(), far);
}

#[test]
fn packets_from_our_own_addresses_to_us_are_dropped() {
    let mut rig = Rig::new();
    let mut sent = echo(INSIDE_ADDRESS, &[1; 18]);
    let mut packet = ipv4::Packet::parse(&mut sent[14..]).unwrap();
    packet.set_source(OUTSIDE_ADDRESS);
    packet.fill_checksum();
    assert_eq!(rig.dropped(sent), DropReason::MartianSource);
    let mut sent = message6(INSIDE_ADDRESS6, icmpv6::ECHO_REQUEST, &[1; 8]);
    ipv6::Packet::parse(&mut sent[14..]).unwrap().set_source(INSIDE_ADDRESS6);
    assert_eq!(rig.dropped(sent), DropReason::MartianSource);
}

/// An ICMPv6 message of this type behind a header of destination options, which are `options`.
fn behind_options(destination: u128, kind: u8, options: [u8; 6]) -> Vec<u8> {
    let mut sent = message6(destination, kind, &[5; 8]);
    let message = sent.split_off(54);
    sent[20] = 60;
    let len = (message.len() + 8) as u16;
    sent[18..20].copy_from_slice(&len.to_be_bytes());
    sent.extend([icmpv6::NEXT_HEADER, 0]);
    sent.extend(options);
    sent.extend(message);
    sent
}

#[test]
fn rfc8200_section_4_an_echo_behind_extension_headers_is_answered() {
    let mut rig = Rig::new();
    let sent = behind_options(INSIDE_ADDRESS6, icmpv6::ECHO_REQUEST, [1, 4, 0, 0, 0, 0]);
    let (back, _) = rig.pass(sent);
    assert_eq!(back.len(), 1, "{:?}", rig.drops());
    let packet = ipv6::Packet::parse(&back[0][14..]).unwrap();
    assert_eq!(packet.next_header(), icmpv6::NEXT_HEADER);
    let message = icmpv6::Packet::parse(packet.payload()).unwrap();
    assert_eq!((message.kind(), message.payload()), (icmpv6::ECHO_REPLY, &[5; 8][..]));
    assert!(message.has_valid_checksum(packet.pseudo_sum()));
    // And nothing behind it.
    assert_eq!(back[0].len(), 14 + 40 + 16);
}

/// What is answered about a packet to the router with these extension headers, the first of which is
/// destination options: type, code and pointer.
fn answer_about(headers: &[[u8; 8]], rest: &[u8]) -> Option<(u8, u8, u32)> {
    let mut sent = message6(INSIDE_ADDRESS6, icmpv6::ECHO_REQUEST, &[5; 8]);
    sent.truncate(54);
    sent[20] = 60;
    sent.extend(headers.as_flattened());
    sent.extend(rest);
    let len = (sent.len() - 54) as u16;
    sent[18..20].copy_from_slice(&len.to_be_bytes());
    let (back, _) = Rig::new().pass(sent);
    back.first().map(|frame| {
        let pointer = u32::from_be_bytes([frame[58], frame[59], frame[60], frame[61]]);
        (frame[54], frame[55], pointer)
    })
}

#[test]
fn rfc8200_section_4_what_is_not_known_is_named_where_it_is_named() {
    let padding = |next: u8| [next, 0, 1, 4, 0, 0, 0, 0];
    let problem = |pointer| Some((icmpv6::PARAMETER_PROBLEM, 1, pointer));
    // Options for every hop stand first or nowhere.
    let ping = [icmpv6::ECHO_REQUEST, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(answer_about(&[padding(0), padding(58)], &ping), problem(40));
    assert_eq!(answer_about(&[padding(60), padding(0), padding(58)], &ping), problem(48));
    assert_eq!(answer_about(&[padding(60), padding(253)], &[1; 8]), problem(48));
}

#[test]
fn rfc8200_section_4_7_nothing_behind_the_headers_is_nothing_to_answer() {
    assert_eq!(answer_about(&[[59, 0, 1, 4, 0, 0, 0, 0]], &[]), None);
    assert_eq!(answer_about(&[[59, 0, 1, 4, 0, 0, 0, 0]], &[1, 2, 3, 4]), None);
}

#[test]
fn rfc8200_section_4_2_unknown_options_are_skipped_dropped_or_answered_as_their_type_says() {
    let with = |kind: u8| {
        let mut rig = Rig::new();
        let options = [kind, 4, 0, 0, 0, 0];
        let sent = behind_options(INSIDE_ADDRESS6, icmpv6::ECHO_REQUEST, options);
        let (back, _) = rig.pass(sent);
        back.first().map(|frame| {
            let pointer = u32::from_be_bytes([frame[58], frame[59], frame[60], frame[61]]);
            (frame[54], frame[55], pointer)
        })
    };
    assert_eq!(with(0x1e).map(|answer| answer.0), Some(icmpv6::ECHO_REPLY));
    assert_eq!(with(0x5e), None);
    assert_eq!(with(0x9e), Some((icmpv6::PARAMETER_PROBLEM, 2, 42)));
    assert_eq!(with(0xde), Some((icmpv6::PARAMETER_PROBLEM, 2, 42)));
    // A group is told of by one of both kinds alone (RFC 4443, section 2.4 (e.3)).
    for (kind, answers) in [(0x9e, 1), (0xde, 0), (0x5e, 0)] {
        let mut sent = behind_options(ipv6::ALL_NODES, icmpv6::ECHO_REQUEST, [kind, 4, 0, 0, 0, 0]);
        sent[..6].copy_from_slice(&MacAddr::of_ipv6_multicast(ipv6::ALL_NODES).0);
        let (back, _) = Rig::new().pass(sent);
        assert_eq!(back.len(), answers, "{kind:x}");
        for frame in back {
            let packet = ipv6::Packet::parse(&frame[14..]).unwrap();
            assert_eq!((packet.source(), frame[54], frame[55]), (INSIDE_ADDRESS6, 4, 2));
        }
    }
}

#[test]
fn rfc4443_section_2_4_there_is_no_error_about_an_error_behind_extension_headers() {
    for (kind, answers) in [(icmpv6::UNREACHABLE, 0), (137, 0), (icmpv6::ECHO_REQUEST, 1)] {
        let mut rig = Rig::new();
        let mut sent = behind_options(DESTINATION6, kind, [1, 4, 0, 0, 0, 0]);
        sent[21] = 1;
        let (back, out) = rig.pass(sent);
        assert_eq!((back.len(), out.len()), (answers, 0), "type {kind}");
        assert_eq!(rig.drops(), [(DropReason::TtlExpired, 1)]);
    }
}
