//! Fragments to the router itself, and packets in its name.

use fwdlab_fib::Inet;
use fwdlab_port::PoolConfig;
use fwdlab_router::{DropReason, PortConfig};
use fwdlab_wire::{icmpv4, icmpv6, ipv4, ipv6};

use crate::rig::*;

/// An echo request to the router in fragments of these lengths.
fn pieces(data: &[u8], identification: u16, lengths: &[usize]) -> Vec<Vec<u8>> {
    let whole = echo(INSIDE_ADDRESS, data);
    let mut start = 34;
    let mut all = Vec::new();
    for (turn, &len) in lengths.iter().enumerate() {
        all.push(cut(&whole, identification, (start, len), turn + 1 < lengths.len()));
        start += len;
    }
    assert_eq!(start, 42 + data.len());
    all
}

fn pieces6(data: &[u8], identification: u32, lengths: &[usize]) -> Vec<Vec<u8>> {
    let whole = message6(INSIDE_ADDRESS6, icmpv6::ECHO_REQUEST, data);
    let mut start = 54;
    let mut all = Vec::new();
    for (turn, &len) in lengths.iter().enumerate() {
        all.push(cut6(&whole, identification, (start, len), turn + 1 < lengths.len()));
        start += len;
    }
    assert_eq!(start, 62 + data.len());
    all
}

fn data(len: usize) -> Vec<u8> {
    (0..len).map(|at| at as u8).collect()
}

/// What these frames are answered with.
fn answers(rig: &mut Rig, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    rig.inject(0, frames);
    rig.poll();
    rig.assert_balance();
    rig.take(0)
}

#[test]
fn rfc791_an_echo_request_in_fragments_is_answered_in_any_order_and_on_both_paths() {
    for (path, order) in [("1", [0, 1, 2]), ("0", [2, 0, 1]), ("1", [1, 2, 0])] {
        let mut rig = Rig::new();
        rig.router.set("fwdlab.device.fast_path", path).unwrap();
        let all = pieces(&data(100), 5, &[48, 40, 20]);
        let frames: Vec<_> = order.iter().map(|&at| all[at].clone()).collect();
        let back = answers(&mut rig, &frames);
        assert_eq!(back.len(), 1, "{:?}", rig.drops());
        let packet = ipv4::Packet::parse(&back[0][14..]).unwrap();
        assert_eq!((packet.source(), packet.destination()), (INSIDE_ADDRESS, SOURCE));
        assert!(packet.has_valid_checksum() && !packet.has_more_fragments());
        let message = icmpv4::Packet::parse(packet.payload()).unwrap();
        assert!(message.has_valid_checksum());
        assert_eq!((message.kind(), message.payload()), (icmpv4::ECHO_REPLY, &data(100)[..]));
        let now = rig.counters();
        assert_eq!((now.received, now.consumed, now.originated, now.sent), (3, 3, 1, 1));

        let mut rig = Rig::new();
        let all = pieces6(&data(100), 5, &[48, 40, 20]);
        let frames: Vec<_> = order.iter().map(|&at| all[at].clone()).collect();
        let back = answers(&mut rig, &frames);
        assert_eq!(back.len(), 1, "{:?}", rig.drops());
        let packet = ipv6::Packet::parse(&back[0][14..]).unwrap();
        assert_eq!((packet.source(), packet.next_header()), (INSIDE_ADDRESS6, 58));
        let message = icmpv6::Packet::parse(packet.payload()).unwrap();
        assert!(message.has_valid_checksum(packet.pseudo_sum()));
        assert_eq!((message.kind(), message.payload()), (icmpv6::ECHO_REPLY, &data(100)[..]));
    }
}

#[test]
fn an_echo_longer_than_any_frame_is_answered_in_fragments() {
    let config = PoolConfig { frames: 256, capacity: 1700, ..PoolConfig::default() };
    let mut rig = Rig::with_pool(router(), config);
    let sent = data(4992);
    let back = answers(&mut rig, &pieces(&sent, 77, &[1480, 1480, 1480, 560]));
    assert_eq!(back.len(), 4, "{:?}", rig.drops());
    let mut whole = Vec::new();
    for (turn, frame) in back.iter().enumerate() {
        let packet = ipv4::Packet::parse(&frame[14..]).unwrap();
        assert!(packet.has_valid_checksum() && packet.identification() == 77);
        assert_eq!(
            (packet.fragment_offset(), packet.has_more_fragments()),
            (whole.len(), turn < 3)
        );
        whole.extend(packet.payload());
    }
    let message = icmpv4::Packet::parse(&whole[..]).unwrap();
    assert!(message.has_valid_checksum() && message.kind() == icmpv4::ECHO_REPLY);
    assert_eq!(message.payload(), sent);

    let back = answers(&mut rig, &pieces6(&sent, 78, &[1440, 1440, 1440, 680]));
    assert_eq!(back.len(), 4, "{:?}", rig.drops());
    let mut whole = Vec::new();
    for frame in &back {
        let packet = ipv6::Packet::parse(&frame[14..]).unwrap();
        let word = u16::from_be_bytes([packet.payload()[2], packet.payload()[3]]);
        assert_eq!((packet.next_header(), usize::from(word & !7)), (44, whole.len()));
        whole.extend(&packet.payload()[8..]);
    }
    let pseudo = fwdlab_wire::checksum::pseudo_v6(INSIDE_ADDRESS6, SOURCE6, 58, whole.len() as u32);
    let message = icmpv6::Packet::parse(&whole[..]).unwrap();
    assert!(message.has_valid_checksum(pseudo) && message.kind() == icmpv6::ECHO_REPLY);
    assert_eq!(message.payload(), sent);
    assert_eq!(rig.pool.available(), 256);
}

#[test]
fn other_protocols_in_fragments_are_refused_as_whole_packets_are() {
    let mut rig = Rig::new();
    let mut whole = inet_with(|packet| packet.set_destination(INSIDE_ADDRESS));
    let sent = [cut(&whole, 9, (34, 8), true), cut(&whole, 9, (42, 18), false)];
    let back = answers(&mut rig, &sent);
    assert_eq!((back.len(), &back[0][34..36]), (1, &[3, 3][..]), "{:?}", rig.drops());
    assert_eq!(rig.drops(), [(DropReason::NoSuchService, 1)]);
    whole[23] = 200;
    let sent = [cut(&whole, 9, (34, 8), true), cut(&whole, 9, (42, 18), false)];
    assert_eq!(answers(&mut rig, &sent)[0][34..36], [3, 2]);
}

#[test]
fn rfc5722_overlapping_fragments_are_dropped_with_all_others_and_nobody_is_told() {
    for second in [(40, 16), (34, 24)] {
        let mut rig = Rig::new();
        let whole = echo(INSIDE_ADDRESS, &data(40));
        let second = (if second.0 == 40 { 42 } else { 34 }, second.1);
        let frames = [
            cut(&whole, 3, (34, 16), true),
            cut(&whole, 3, second, true),
            cut(&whole, 3, (50, 32), false),
        ];
        assert_eq!(answers(&mut rig, &frames).len(), 0);
        assert_eq!(rig.drops(), [(DropReason::BadFragment, 3)]);
        let whole = message6(INSIDE_ADDRESS6, icmpv6::ECHO_REQUEST, &data(40));
        let frames = [
            cut6(&whole, 3, (54, 16), true),
            cut6(&whole, 3, (second.0 + 20, second.1), true),
            cut6(&whole, 3, (70, 32), false),
        ];
        assert_eq!(answers(&mut rig, &frames).len(), 0);
        assert_eq!(rig.drops(), [(DropReason::BadFragment, 6)]);
        assert_eq!((rig.worker.held(), rig.worker.fragments()), (0, 0));
    }
}

#[test]
fn time_is_bounded_and_only_who_sent_the_first_fragment_is_told() {
    let mut rig = Rig::new();
    let all = pieces(&data(40), 1, &[16, 32]);
    let others = pieces(&data(40), 2, &[16, 32]);
    let sent = [all[0].clone(), others[1].clone()];
    assert_eq!(answers(&mut rig, &sent).len(), 0);
    assert_eq!(rig.worker.fragments(), 2);
    rig.now_ns += 29 * SECOND;
    assert_eq!(answers(&mut rig, &[]).len(), 0);
    rig.now_ns += 2 * SECOND;
    let back = answers(&mut rig, &[]);
    assert_eq!((back.len(), &back[0][34..36]), (1, &[11, 1][..]));
    assert_eq!(back[0][42..62], all[0][14..34], "the first fragment is quoted");
    assert_eq!(rig.drops(), [(DropReason::ReassemblyTimeout, 2)]);

    let mut rig = Rig::new();
    let all = pieces6(&data(40), 1, &[16, 32]);
    let others = pieces6(&data(40), 2, &[16, 32]);
    assert_eq!(answers(&mut rig, &[all[0].clone(), others[1].clone()]).len(), 0);
    rig.now_ns += 61 * SECOND;
    let back = answers(&mut rig, &[]);
    assert_eq!((back.len(), &back[0][54..56]), (1, &[3, 1][..]));
    assert_eq!(back[0][62..], all[0][14..], "the first fragment is quoted");
    assert_eq!(rig.drops(), [(DropReason::ReassemblyTimeout, 2)]);
}

#[test]
fn memory_is_bounded_and_every_fragment_is_accounted_for() {
    let mut rig = Rig::new();
    let whole = echo(INSIDE_ADDRESS, &data(1400));
    for number in 0..2000 {
        rig.now_ns += SECOND / 1000;
        let back = answers(&mut rig, &[cut(&whole, number, (34, 1400), true)]);
        assert_eq!(back.len(), 0);
        assert!(rig.worker.fragments() <= 128 && rig.pool.available() == 1024);
    }
    let kept = rig.worker.fragments() as u64;
    assert_eq!(rig.drops(), [(DropReason::ReassemblyFull, 2000 - kept)]);
    rig.now_ns += 60 * SECOND;
    rig.poll();
    assert_eq!(rig.worker.fragments(), 0);
    assert_eq!(rig.counters().dropped(), 2000);
}

#[test]
fn rfc8200_section_4_5_fragments_that_are_wrong_are_answered() {
    let told = |frame: Vec<u8>| {
        let back = answers(&mut Rig::new(), &[frame]);
        back.first().map(|frame| {
            let pointer = u32::from_be_bytes([frame[58], frame[59], frame[60], frame[61]]);
            (frame[54], frame[55], pointer)
        })
    };
    let whole = message6(INSIDE_ADDRESS6, icmpv6::ECHO_REQUEST, &data(40));
    assert_eq!(told(cut6(&whole, 1, (54, 13), true)), Some((4, 0, 4)));
    let mut far = cut6(&whole, 1, (54, 16), true);
    far[56..58].copy_from_slice(&[0xff, 0xf9]);
    // RFC 4443, section 2.4 (e): what it is a part of may be an error, which cannot be seen.
    assert_eq!(told(far.clone()), None);
    // That of a datagram is none.
    far[54] = 17;
    assert_eq!(told(far), Some((4, 0, 42)));
    // RFC 8200, section 4.5: the first has all headers, that of UDP too.
    let mut short = cut6(&whole, 1, (54, 8), true);
    short[54] = 6;
    assert_eq!(told(short), Some((4, 3, 0)));
    let mut bare = cut6(&whole, 1, (54, 8), true);
    bare[54] = 60;
    assert_eq!(told(bare), Some((4, 3, 0)));
    // RFC 6946: one that is no fragment at all is a packet.
    assert_eq!(told(cut6(&whole, 1, (54, 48), false)).map(|answer| answer.0), Some(129));
}

#[test]
fn a_reply_that_has_to_be_resolved_first_is_sent_once_its_neighbour_has_answered() {
    let mut rig = Rig::new();
    let host = INSIDE_ADDRESS + 0x40;
    let mut whole = echo(INSIDE_ADDRESS, &data(40));
    ipv4::Packet::parse(&mut whole[14..]).unwrap().set_source(host);
    let sent = [cut(&whole, 1, (34, 16), true), cut(&whole, 1, (50, 32), false)];
    let back = answers(&mut rig, &sent);
    assert!(back.iter().all(|frame| frame[12..14] == [8, 6]), "it asks");
    assert_eq!(rig.worker.held(), 1);
    rig.router.add_neighbour::<Inet>(0, host, NEAR).unwrap();
    let back = answers(&mut rig, &[]);
    assert_eq!((back.len(), back[0][34], rig.worker.held()), (1, icmpv4::ECHO_REPLY, 0));
}

/// A router with this many addresses of each family on port 0.
fn with_addresses(count: u32) -> Rig {
    let mut router = fwdlab_router::Router::new().unwrap();
    let mut inside = PortConfig::new(INSIDE);
    for number in 0..count {
        let (a, b) = (number >> 8, number & 255);
        inside = inside.address(format!("198.18.{a}.{b}/32").parse().unwrap());
        inside = inside.address6(format!("2001:2::{number:x}/128").parse().unwrap());
    }
    router.add_port(inside).unwrap();
    router.add_port(PortConfig::new(OUTSIDE)).unwrap();
    add_gateways(&mut router);
    Rig::with(router)
}

#[test]
fn rfc1812_section_5_3_7_nobody_speaks_from_our_addresses_on_either_path() {
    for (count, path) in [(3, "1"), (3, "0"), (1000, "1"), (1000, "0")] {
        let mut rig = with_addresses(count);
        rig.router.set("fwdlab.device.fast_path", path).unwrap();
        for number in [0, 1, count / 2, count - 1] {
            let sent = inet_with(|packet| packet.set_source(0xc612_0000 + number));
            assert_eq!(rig.dropped(sent), DropReason::MartianSource, "{count} {number}");
            let own = 0x2001_0002 << 96 | u128::from(number);
            let sent = inet6_with(|packet| packet.set_source(own));
            assert_eq!(rig.dropped(sent), DropReason::MartianSource, "{count} {number}");
        }
        // Everybody else does.
        let strangers = 20_000..24_000;
        for number in strangers.clone() {
            rig.inject(0, &[inet_with(|packet| packet.set_source(0xc612_0000 + number))]);
            let other = 0x2001_0002 << 96 | u128::from(number);
            rig.inject(0, &[inet6_with(|packet| packet.set_source(other))]);
            if number % 200 == 199 {
                rig.poll();
                assert_eq!(rig.take(1).len(), 400);
            }
        }
        assert_eq!(rig.counters().sent, 2 * strangers.len() as u64);
    }
}
