//! RFC 8200 (IPv6), RFC 4443 (ICMPv6) and RFC 4291 (addresses), by section.

use fwdlab_fib::{Inet6, Nexthop, NexthopKind};
use fwdlab_router::DropReason;
use fwdlab_wire::{MacAddr, ethernet, icmpv6, ipv6};

use crate::rig::*;

/// Checks an ICMPv6 error as a whole and returns (type, code, rest, quoted bytes).
fn error(frame: &[u8]) -> (u8, u8, u32, Vec<u8>) {
    let header = ethernet::Frame::parse(frame).unwrap();
    assert_eq!((header.destination(), header.source()), (NEAR, INSIDE));
    let packet = ipv6::Packet::parse(&frame[14..]).unwrap();
    assert_eq!((packet.source(), packet.destination()), (INSIDE_ADDRESS6, SOURCE6));
    assert_eq!((packet.hop_limit(), packet.next_header()), (64, icmpv6::NEXT_HEADER));
    assert_eq!(frame.len(), 54 + usize::from(packet.payload_length()));
    let message = icmpv6::Packet::parse(packet.payload()).unwrap();
    assert!(message.has_valid_checksum(packet.pseudo_sum()));
    (message.kind(), message.code(), message.rest(), message.payload().to_vec())
}

fn with_bytes(edit: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut frame = inet6(62);
    edit(&mut frame);
    frame
}

#[test]
fn rfc8200_section_3_forwards_with_new_addresses_and_hop_limit() {
    let sent = inet6(62);
    let out = Rig::new().forwarded(sent.clone());
    let header = ethernet::Frame::parse(&out).unwrap();
    assert_eq!((header.destination(), header.source()), (FAR, OUTSIDE));
    assert_eq!(out[14 + ipv6::HOP_LIMIT], 63);
    assert_eq!((&out[12..21], &out[22..]), (&sent[12..21], &sent[22..]));
}

#[test]
fn rfc8200_section_3_drops_wrong_versions_and_lengths() {
    let mut rig = Rig::new();
    assert_eq!(rig.dropped(with_bytes(|f| f[14] = 0x45)), DropReason::BadVersion);
    assert_eq!(rig.dropped(with_bytes(|f| f[19] = 9)), DropReason::BadTotalLength);
    assert_eq!(rig.dropped(with_bytes(|f| f[18] = 1)), DropReason::BadTotalLength);
    for len in [14, 53] {
        assert_eq!(rig.dropped(inet6(62)[..len].to_vec()), DropReason::FrameTooShort, "{len}");
    }
    rig.forwarded(with_bytes(|f| f[19] = 0));
}

#[test]
fn rfc8200_section_4_extension_headers_are_not_looked_at() {
    let mut rig = Rig::new();
    for next_header in [0, 43, 44, 60, 59] {
        rig.forwarded(inet6_with(|packet| packet.set_next_header(next_header)));
    }
}

#[test]
fn rfc4443_section_3_3_hop_limit_of_one_or_zero_is_answered() {
    let mut rig = Rig::new();
    for hops in [0, 1] {
        let sent = inet6_with(|packet| packet.set_hop_limit(hops));
        let (reason, answer) = rig.refused(sent.clone());
        assert_eq!(reason, DropReason::TtlExpired);
        assert_eq!(error(&answer), (icmpv6::TIME_EXCEEDED, 0, 0, sent[14..].to_vec()));
    }
    assert_eq!(rig.forwarded(inet6_with(|packet| packet.set_hop_limit(2)))[21], 1);
}

#[test]
fn rfc4443_section_3_1_unreachable_says_why() {
    let mut rig = Rig::new();
    let sent = inet6_with(|packet| packet.set_destination(0x2a00 << 112 | 1));
    let (reason, answer) = rig.refused(sent.clone());
    assert_eq!(reason, DropReason::NoRoute);
    assert_eq!(
        error(&answer),
        (icmpv6::UNREACHABLE, icmpv6::CODE_NO_ROUTE, 0, sent[14..].to_vec())
    );
    let reject = Nexthop::<Inet6>::special(NexthopKind::Reject);
    rig.router.add_route("2a00::/16".parse().unwrap(), reject).unwrap();
    let (reason, answer) = rig.refused(sent.clone());
    assert_eq!((reason, error(&answer).1), (DropReason::Reject, icmpv6::CODE_REJECT_ROUTE));
    let prohibit = Nexthop::<Inet6>::special(NexthopKind::Prohibit);
    rig.router.change_route("2a00::/16".parse().unwrap(), prohibit).unwrap();
    let (reason, answer) = rig.refused(sent);
    assert_eq!((reason, error(&answer).1), (DropReason::Prohibited, icmpv6::CODE_PROHIBITED));
}

#[test]
fn rfc4443_section_3_2_packet_too_big_tells_the_mtu() {
    let mut rig = Rig::new();
    let sent = inet6(1515);
    let (reason, answer) = rig.refused(sent.clone());
    let (kind, code, rest, quoted) = error(&answer);
    assert_eq!(reason, DropReason::TooBig);
    assert_eq!((kind, code, rest), (icmpv6::PACKET_TOO_BIG, 0, 1500));
    // Section 2.4 (c): as much as fits 1280 bytes.
    assert_eq!(quoted, sent[14..14 + 1280 - 48]);
    rig.forwarded(inet6(1514));
}

#[test]
fn rfc4861_section_8_2_a_host_is_told_of_a_neighbour() {
    let mut rig = Rig::new();
    let (sender, neighbour) = (INSIDE_ADDRESS6 + 0x1f, INSIDE_ADDRESS6 + 0x2f);
    for address in [sender, neighbour] {
        rig.router.add_neighbour::<fwdlab_fib::Inet6>(0, address, NEAR).unwrap();
    }
    let sent = inet6_with(|packet| {
        packet.set_source(sender);
        packet.set_destination(neighbour);
    });
    assert_eq!(rig.pass(sent.clone()).0.len(), 1, "off by default");
    rig.router.set("net.inet6.ip6.redirect", "1").unwrap();
    let (back, _) = rig.pass(sent);
    let packet = ipv6::Packet::parse(&back[1][14..]).unwrap();
    let message = icmpv6::Packet::parse(packet.payload()).unwrap();
    assert!(message.has_valid_checksum(packet.pseudo_sum()));
    assert_eq!((message.kind(), packet.hop_limit(), packet.destination()), (137, 255, sender));
    assert!(ipv6::is_link_local(packet.source()));
    let both = [neighbour.to_be_bytes(), neighbour.to_be_bytes()].concat();
    assert_eq!(message.payload()[..32], both);
    assert_eq!(message.payload()[34..40], NEAR.0);
}

#[test]
fn rfc4443_section_2_4_e_no_error_answers_an_error_or_a_group() {
    let mut rig = Rig::new();
    let nowhere = 0x2a00 << 112 | 1;
    assert_eq!(rig.dropped(message6(nowhere, icmpv6::TIME_EXCEEDED, b"")), DropReason::NoRoute);
    assert_eq!(rig.refused(message6(nowhere, icmpv6::ECHO_REQUEST, b"")).0, DropReason::NoRoute);
    let in_group_frame = with_bytes(|frame| frame[..6].copy_from_slice(&[0x33, 0x33, 0, 0, 0, 1]));
    assert_eq!(rig.dropped(in_group_frame), DropReason::UnicastInGroupFrame);
}

#[test]
fn rfc4443_section_2_4_f_errors_are_rate_limited() {
    let mut rig = Rig::new();
    rig.router.set("net.inet6.icmp6.errppslimit", "3").unwrap();
    rig.inject(0, &vec![inet6_with(|packet| packet.set_hop_limit(1)); 10]);
    rig.poll();
    assert_eq!((rig.take(0).len(), rig.counters().drops(DropReason::TtlExpired)), (3, 10));
    rig.assert_balance();
}

#[test]
fn rfc4443_section_4_2_echo_is_answered() {
    let mut rig = Rig::new();
    let sent = message6(INSIDE_ADDRESS6, icmpv6::ECHO_REQUEST, b"some data");
    let (back, _) = rig.pass(sent.clone());
    let packet = ipv6::Packet::parse(&back[0][14..]).unwrap();
    assert_eq!((packet.source(), packet.destination()), (INSIDE_ADDRESS6, SOURCE6));
    let message = icmpv6::Packet::parse(packet.payload()).unwrap();
    assert!(message.has_valid_checksum(packet.pseudo_sum()));
    assert_eq!((message.kind(), message.rest()), (icmpv6::ECHO_REPLY, 0x1234_0001));
    assert_eq!(message.payload(), b"some data");
}

#[test]
fn rfc4443_section_3_4_unknown_next_headers_to_the_router_are_a_parameter_problem() {
    let sent = inet6_with(|packet| {
        packet.set_destination(INSIDE_ADDRESS6);
        packet.set_next_header(6);
    });
    let (reason, answer) = Rig::new().refused(sent);
    assert_eq!(reason, DropReason::NoSuchProtocol);
    let (kind, code, pointer, _) = error(&answer);
    assert_eq!((kind, code, pointer), (icmpv6::PARAMETER_PROBLEM, 1, 6));
}

#[test]
fn rfc4291_section_2_5_martians_multicast_and_link_local_are_not_forwarded() {
    let mut rig = Rig::new();
    for source in [0, 1, 0xff02 << 112 | 1, 0xffff_0808_0808] {
        let frame = inet6_with(|packet| packet.set_source(source));
        assert_eq!(rig.dropped(frame), DropReason::MartianSource, "{source:x}");
    }
    for destination in [0, 1, 0xffff_0808_0808] {
        let frame = inet6_with(|packet| packet.set_destination(destination));
        assert_eq!(rig.dropped(frame), DropReason::MartianDestination, "{destination:x}");
    }
    let frame = inet6_with(|packet| packet.set_destination(0xff0e << 112 | 5));
    assert_eq!(rig.dropped(frame), DropReason::Multicast);
    // RFC 4443, section 3.1: beyond the scope of the source address, code 2, for a sender that
    // an answer can reach.
    let (back, _) = rig.pass(inet6_with(|packet| packet.set_source(0xfe80 << 112 | 9)));
    assert_eq!(rig.counters().drops(DropReason::LinkLocal), 1);
    let packet = ipv6::Packet::parse(&back[0][14..]).unwrap();
    assert_eq!(packet.payload()[..2], [icmpv6::UNREACHABLE, icmpv6::CODE_BEYOND_SCOPE]);
    assert_eq!(MacAddr(back[0][..6].try_into().unwrap()), NEAR);
}
