//! RFC 1812 (requirements for IPv4 routers) and what it refers to, by section.

use fwdlab_fib::{Inet, Nexthop, NexthopKind};
use fwdlab_router::DropReason;
use fwdlab_wire::{MacAddr, ethernet, icmpv4, ipv4};

use crate::rig::*;

fn packet(frame: &[u8]) -> ipv4::Packet<&[u8]> {
    let packet = ipv4::Packet::parse(&frame[14..]).unwrap();
    assert!(packet.has_valid_checksum());
    packet
}

/// Checks an ICMP error as a whole and returns (type, code, rest, quoted bytes).
fn error(frame: &[u8]) -> (u8, u8, u32, Vec<u8>) {
    let header = ethernet::Frame::parse(frame).unwrap();
    assert_eq!((header.destination(), header.source()), (NEAR, INSIDE));
    let packet = packet(frame);
    assert_eq!((packet.source(), packet.destination()), (INSIDE_ADDRESS, SOURCE));
    assert_eq!((packet.ttl(), packet.protocol()), (64, icmpv4::PROTOCOL));
    assert_eq!(frame.len(), 14 + usize::from(packet.total_length()));
    let message = icmpv4::Packet::parse(packet.payload()).unwrap();
    assert!(message.has_valid_checksum());
    (message.kind(), message.code(), message.rest(), message.payload().to_vec())
}

type Edit = fn(&mut [u8]);

fn with_bytes(edit: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut frame = inet(60);
    edit(&mut frame);
    frame
}

#[test]
fn section_5_2_1_forwards_with_new_addresses_ttl_and_checksum() {
    let sent = inet(60);
    let out = Rig::new().forwarded(sent.clone());
    let header = ethernet::Frame::parse(&out).unwrap();
    assert_eq!((header.destination(), header.source()), (FAR, OUTSIDE));
    assert_eq!(packet(&out).ttl(), 63);
    // Nothing else has changed.
    assert_eq!((&out[12..22], out[23], &out[26..]), (&sent[12..22], sent[23], &sent[26..]));
}

#[test]
fn section_5_2_2_silently_discards_broken_headers() {
    let mut rig = Rig::new();
    let cases: [(DropReason, Edit); 9] = [
        (DropReason::BadVersion, |f| f[14] = 0x65),
        (DropReason::BadVersion, |f| f[14] = 0x05),
        (DropReason::BadHeaderLength, |f| f[14] = 0x44),
        (DropReason::BadHeaderLength, |f| f[14] = 0x4f),
        (DropReason::BadTotalLength, |f| f[17] = 19),
        (DropReason::BadTotalLength, |f| f[17] = 47),
        (DropReason::BadTotalLength, |f| f[16] = 0xff),
        (DropReason::BadChecksum, |f| f[25] ^= 1),
        (DropReason::BadChecksum, |f| f[22] -= 1),
    ];
    for (reason, edit) in cases {
        assert_eq!(rig.dropped(with_bytes(edit)), reason);
    }
    for len in [0, 1, 13, 14, 33] {
        assert_eq!(rig.dropped(inet(60)[..len].to_vec()), DropReason::FrameTooShort, "{len}");
    }
}

#[test]
fn section_5_2_2_link_padding_is_not_part_of_the_packet() {
    let mut frame = inet_with(|_| {});
    frame[16..18].copy_from_slice(&28u16.to_be_bytes());
    ipv4::Packet::parse(&mut frame[14..]).unwrap().fill_checksum();
    let out = Rig::new().forwarded(frame);
    assert_eq!((out.len(), packet(&out).total_length()), (60, 28));
}

/// RFC 894: what lies behind the packet is not part of it, and a packet that fits its way leaves whatever
/// was behind it.
#[test]
fn rfc894_a_trailer_is_left_behind_on_both_paths() {
    let mut rig = Rig::new();
    for path in ["1", "0"] {
        rig.router.set("fwdlab.device.fast_path", path).unwrap();
        for (plain, trailer) in
            [(inet(100), 1400), (inet6(100), 1400), (inet(60), 1), (inet(61), 1), (inet6(62), 4)]
        {
            let wanted = rig.forwarded(plain.clone());
            assert_eq!(wanted.len(), plain.len());
            let mut long = plain;
            long.extend(vec![0xee; trailer]);
            assert_eq!(rig.forwarded(long), wanted, "{path}");
        }
    }
}

#[test]
fn section_4_2_2_11_zero_checksum_is_valid_only_where_it_is_the_sum() {
    let mut frame = inet(60);
    frame[24..26].fill(0);
    assert_eq!(Rig::new().dropped(frame), DropReason::BadChecksum);
}

#[test]
fn section_4_2_2_6_options_pass_and_broken_ones_do_not() {
    let with_options = |options: [u8; 4]| {
        let mut frame = inet(64);
        frame[14] = 0x46;
        frame[34..38].copy_from_slice(&options);
        frame[24..26].fill(0);
        let mut packet = ipv4::Packet::parse(&mut frame[14..]).unwrap();
        packet.fill_checksum();
        frame
    };
    let mut rig = Rig::new();
    let sent = with_options([1, 1, 1, 0]);
    let out = rig.forwarded(sent.clone());
    assert_eq!((packet(&out).ttl(), &out[34..]), (63, &sent[34..]));
    rig.forwarded(with_options([148, 4, 0, 0])); // router alert
    // RFC 1812, section 4.3.3.5: the pointer leads to the option at fault.
    for (options, pointer) in
        [([7, 5, 4, 0], 20), ([7, 1, 0, 0], 20), ([1, 1, 1, 7], 23), ([1, 7, 0, 0], 21)]
    {
        let (reason, answer) = rig.refused(with_options(options));
        let (kind, code, rest, _) = error(&answer);
        assert_eq!(reason, DropReason::BadOptions, "{options:?}");
        assert_eq!(
            (kind, code, rest),
            (icmpv4::PARAMETER_PROBLEM, 0, pointer << 24),
            "{options:?}"
        );
    }
    // RFC 791, section 3.1: room for addresses begins behind the pointer and is whole.
    let with_two = |options: [u8; 8]| {
        let mut frame = inet(68);
        frame[14] = 0x47;
        frame[34..42].copy_from_slice(&options);
        ipv4::Packet::parse(&mut frame[14..]).unwrap().fill_checksum();
        frame
    };
    for (options, pointer) in [
        ([7, 7, 3, 0, 0, 0, 0, 0], 22),
        ([7, 7, 5, 0, 0, 0, 0, 0], 22),
        ([7, 3, 4, 7, 3, 4, 0, 0], 23),
        ([68, 3, 5, 0, 0, 0, 0, 0], 21),
        ([68, 8, 4, 0, 0, 0, 0, 0], 22),
        ([68, 8, 5, 1, 0, 0, 0, 0], 22),
        ([68, 8, 9, 0xf0, 0, 0, 0, 0], 23),
    ] {
        let (reason, answer) = rig.refused(with_two(options));
        assert_eq!((reason, answer[34]), (DropReason::BadOptions, icmpv4::PARAMETER_PROBLEM));
        assert_eq!(error(&answer).2, pointer << 24, "{options:?}");
    }
    for options in
        [[7, 7, 4, 0, 0, 0, 0, 0], [7, 7, 8, 1, 2, 3, 4, 0], [68, 8, 9, 0xe0, 1, 2, 3, 4]]
    {
        rig.forwarded(with_two(options));
    }
    // Section 4.3.3.1: a source route is refused by its own code.
    let (_, answer) = rig.refused(with_options([131, 3, 4, 0]));
    let (kind, code, ..) = error(&answer);
    assert_eq!((kind, code), (icmpv4::UNREACHABLE, icmpv4::CODE_SOURCE_ROUTE));
}

#[test]
fn section_5_3_1_ttl_of_one_or_zero_is_not_forwarded_but_answered() {
    let mut rig = Rig::new();
    for ttl in [0, 1] {
        let sent = inet_with(|packet| packet.set_ttl(ttl));
        let (reason, answer) = rig.refused(sent.clone());
        let (kind, code, rest, quoted) = error(&answer);
        assert_eq!(reason, DropReason::TtlExpired);
        assert_eq!((kind, code, rest), (icmpv4::TIME_EXCEEDED, 0, 0));
        assert_eq!(quoted, sent[14..], "the packet is quoted as it came");
    }
    assert_eq!(packet(&rig.forwarded(inet_with(|packet| packet.set_ttl(2)))).ttl(), 1);
}

#[test]
fn section_5_3_4_does_not_forward_what_came_in_a_group_frame() {
    let mut rig = Rig::new();
    for mac in [MacAddr::BROADCAST, MacAddr([1, 0, 0x5e, 0, 0, 1])] {
        let frame = with_bytes(|frame| frame[..6].copy_from_slice(&mac.0));
        assert_eq!(rig.dropped(frame), DropReason::UnicastInGroupFrame);
    }
    let frame = with_bytes(|frame| frame[5] ^= 1);
    assert_eq!(rig.dropped(frame), DropReason::WrongMac);
}

#[test]
fn section_5_3_5_does_not_forward_broadcasts() {
    let mut rig = Rig::new();
    for destination in [u32::MAX, 0xc613_00ff, 0xc612_00ff] {
        let frame = inet_with(|packet| packet.set_destination(destination));
        assert_eq!(rig.dropped(frame), DropReason::Broadcast, "{destination:08x}");
    }
}

#[test]
fn section_5_3_7_martians_are_dropped_by_their_source() {
    let mut rig = Rig::new();
    for source in [0, 0x0000_0001, 0x7f00_0001, 0xe000_0001, 0xf000_0001, u32::MAX] {
        let frame = inet_with(|packet| packet.set_source(source));
        assert_eq!(rig.dropped(frame), DropReason::MartianSource, "{source:08x}");
    }
}

#[test]
fn section_5_3_7_martians_are_dropped_by_their_destination() {
    let mut rig = Rig::new();
    for destination in [0, 0x0000_0001, 0x7f00_0001] {
        let frame = inet_with(|packet| packet.set_destination(destination));
        assert_eq!(rig.dropped(frame), DropReason::MartianDestination, "{destination:08x}");
    }
    let frame = inet_with(|packet| packet.set_destination(0xe000_0001));
    assert_eq!(rig.dropped(frame), DropReason::Multicast);
    // Class E is looked up, as Linux does.
    for destination in [0xf000_0001, 0xffff_fffe] {
        let (reason, answer) = Rig::new().refused(inet_with(|p| p.set_destination(destination)));
        assert_eq!(reason, DropReason::NoRoute, "{destination:08x}");
        assert_eq!(error(&answer).1, icmpv4::CODE_NET);
    }
}

#[test]
fn rfc3927_section_2_7_link_local_addresses_stay_on_their_link() {
    let mut rig = Rig::new();
    let frame = inet_with(|packet| packet.set_destination(0xa9fe_0001));
    assert_eq!(rig.dropped(frame), DropReason::LinkLocal);
    let frame = inet_with(|packet| packet.set_source(0xa9fe_0001));
    assert_eq!(rig.dropped(frame), DropReason::LinkLocal);
}

#[test]
fn section_5_2_7_1_no_route_is_answered_with_network_unreachable() {
    let sent = inet_with(|packet| packet.set_destination(0x0808_0808));
    let (reason, answer) = Rig::new().refused(sent.clone());
    let (kind, code, _, quoted) = error(&answer);
    assert_eq!(reason, DropReason::NoRoute);
    assert_eq!((kind, code), (icmpv4::UNREACHABLE, icmpv4::CODE_NET));
    assert_eq!(quoted, sent[14..]);
}

#[test]
fn rfc1191_section_4_too_big_is_answered_with_the_mtu() {
    let mut rig = Rig::new();
    let mut sent = inet(1515);
    sent[20] = 0x40;
    ipv4::Packet::parse(&mut sent[14..]).unwrap().fill_checksum();
    let (reason, answer) = rig.refused(sent.clone());
    let (kind, code, rest, quoted) = error(&answer);
    assert_eq!(reason, DropReason::TooBig);
    assert_eq!((kind, code, rest), (icmpv4::UNREACHABLE, icmpv4::CODE_FRAGMENTATION_NEEDED, 1500));
    // Section 4.3.2.3: at most 576 bytes in all.
    assert_eq!(quoted, sent[14..14 + 576 - 28]);
    rig.forwarded(inet(1514));
}

#[test]
fn section_4_3_2_7_no_error_answers_an_error_a_fragment_or_a_group() {
    let mut rig = Rig::new();
    let mut reply_to_error = echo(0x0808_0808, b"12345678");
    reply_to_error[34] = icmpv4::TIME_EXCEEDED;
    assert_eq!(rig.dropped(reply_to_error), DropReason::NoRoute);
    let fragment = inet_with(|packet| {
        packet.set_fragment(1);
        packet.set_ttl(1);
    });
    assert_eq!(rig.dropped(fragment), DropReason::TtlExpired);
    let first_fragment = inet_with(|packet| {
        packet.set_fragment(ipv4::MORE_FRAGMENTS);
        packet.set_ttl(1);
    });
    assert_eq!(rig.refused(first_fragment).0, DropReason::TtlExpired);
    // An echo is no error: its sender is told.
    assert_eq!(rig.refused(echo(0x0808_0808, b"12345678")).0, DropReason::NoRoute);
}

#[test]
fn section_4_3_2_8_errors_are_rate_limited() {
    let mut rig = Rig::new();
    rig.router.set("net.inet.icmp.icmplim", "5").unwrap();
    let frames = vec![inet_with(|packet| packet.set_ttl(1)); 20];
    rig.inject(0, &frames);
    rig.poll();
    assert_eq!(rig.take(0).len(), 5);
    rig.now_ns += SECOND;
    rig.inject(0, &frames);
    rig.poll();
    assert_eq!((rig.take(0).len(), rig.counters().drops(DropReason::TtlExpired)), (5, 40));
    rig.assert_balance();
}

#[test]
fn section_4_3_3_6_echo_is_answered_from_the_address_asked() {
    let mut rig = Rig::new();
    for address in [INSIDE_ADDRESS, OUTSIDE_ADDRESS] {
        let sent = echo(address, b"some data, of odd length.");
        let (mut back, out) = rig.pass(sent.clone());
        assert_eq!((back.len(), out.len()), (1, 0), "{:?}", rig.drops());
        let answer = back.remove(0);
        assert_eq!(packet(&answer).source(), address);
        assert_eq!(packet(&answer).destination(), SOURCE);
        let message = icmpv4::Packet::parse(packet(&answer).payload().to_vec()).unwrap();
        assert!(message.has_valid_checksum());
        assert_eq!((message.kind(), message.rest()), (icmpv4::ECHO_REPLY, 0x1234_0001));
        assert_eq!(message.payload(), &sent[42..]);
    }
    assert_eq!(rig.counters().consumed, 2);
}

#[test]
fn section_5_2_3_a_ttl_of_one_is_enough_for_the_router_itself() {
    let mut frame = echo(INSIDE_ADDRESS, b"12345678");
    let mut packet = ipv4::Packet::parse(&mut frame[14..]).unwrap();
    packet.set_ttl(1);
    packet.fill_checksum();
    assert_eq!(Rig::new().pass(frame).0.len(), 1);
}

#[test]
fn section_5_2_7_1_services_and_protocols_that_are_not_here_are_refused() {
    let mut rig = Rig::new();
    let (reason, answer) = rig.refused(inet_with(|packet| packet.set_destination(INSIDE_ADDRESS)));
    assert_eq!((reason, error(&answer).1), (DropReason::NoSuchService, icmpv4::CODE_PORT));
    let (reason, answer) = rig.refused(inet_with(|packet| {
        packet.set_destination(INSIDE_ADDRESS);
        packet.set_protocol(6);
    }));
    assert_eq!((reason, error(&answer).1), (DropReason::NoSuchProtocol, icmpv4::CODE_PROTOCOL));
}

#[test]
fn section_5_2_4_3_the_longest_match_decides() {
    let mut rig = Rig::new();
    let special = |kind| Nexthop::<Inet> { gateway: None, port: 0, kind };
    rig.router
        .add_route("198.19.10.0/24".parse().unwrap(), special(NexthopKind::Blackhole))
        .unwrap();
    assert_eq!(rig.dropped(inet(60)), DropReason::Blackhole);
    rig.router.add_route("198.19.10.1/32".parse().unwrap(), special(NexthopKind::Reject)).unwrap();
    let (reason, answer) = rig.refused(inet(60));
    assert_eq!((reason, error(&answer).1), (DropReason::Reject, icmpv4::CODE_HOST));
    rig.router
        .change_route("198.19.10.1/32".parse().unwrap(), special(NexthopKind::Prohibit))
        .unwrap();
    let (reason, answer) = rig.refused(inet(60));
    assert_eq!((reason, error(&answer).1), (DropReason::Prohibited, icmpv4::CODE_PROHIBITED));
    rig.router
        .change_route("198.19.10.1/32".parse().unwrap(), Nexthop::<Inet>::via(0xc613_00cb, 1))
        .unwrap();
    rig.forwarded(inet(60));
    rig.router.delete_route::<Inet>("198.19.10.1/32".parse().unwrap()).unwrap();
    assert_eq!(rig.dropped(inet(60)), DropReason::Blackhole);
}

#[test]
fn section_5_2_7_2_a_host_is_told_of_a_next_hop_on_its_own_link() {
    let mut rig = Rig::new();
    let sender = 0xc612_0020; // 198.18.0.32, on the port's network
    rig.router.add_neighbour::<fwdlab_fib::Inet>(0, sender, NEAR).unwrap();
    rig.router.set("net.inet.ip.redirect", "1").unwrap();
    let sent = inet_with(|packet| {
        packet.set_source(sender);
        packet.set_destination(SOURCE + 1);
    });
    for path in ["1", "0"] {
        rig.router.set("fwdlab.device.fast_path", path).unwrap();
        let (back, out) = rig.pass(sent.clone());
        assert_eq!((back.len(), out.len()), (2, 0));
        // The packet is forwarded all the same, and the sender is told of the gateway.
        assert_eq!(packet(&back[0]).ttl(), 63);
        let told = packet(&back[1]);
        let message = icmpv4::Packet::parse(told.payload()).unwrap();
        assert!(told.has_valid_checksum() && message.has_valid_checksum());
        assert_eq!((message.kind(), message.code(), message.rest()), (5, 1, 0xc612_00cb));
        assert_eq!(message.payload(), &sent[14..]);
        assert_eq!((told.source(), told.destination()), (INSIDE_ADDRESS, sender));
    }
    // Not to senders beyond the link, and not for what leaves through another port.
    let (back, _) = rig.pass(inet_with(|packet| packet.set_destination(SOURCE + 1)));
    assert_eq!(back.len(), 1);
    rig.forwarded(inet(60));
}

#[test]
fn section_4_3_3_2_redirects_are_off_and_the_packet_goes_back() {
    let (back, out) = Rig::new().pass(inet_with(|packet| packet.set_destination(SOURCE + 1)));
    assert_eq!((back.len(), out.len()), (1, 0));
    assert_eq!(packet(&back[0]).ttl(), 63);
}
