//! RFC 791, section 3.2, and RFC 1812, section 4.2.2.7: fragmentation.

use fwdlab_port::PoolConfig;
use fwdlab_router::{DropReason, Router};
use fwdlab_wire::ipv4;

use crate::rig::*;

/// A router whose port 1 takes packets of at most 1280 bytes.
fn narrow() -> Rig {
    let mut router = Router::new().unwrap();
    let inside = fwdlab_router::PortConfig::new(INSIDE).address("198.18.0.1/24".parse().unwrap());
    let outside =
        fwdlab_router::PortConfig::new(OUTSIDE).address("198.19.0.1/24".parse().unwrap()).mtu(1280);
    router.add_port(inside.mtu(9216)).unwrap();
    router.add_port(outside).unwrap();
    add_gateways(&mut router);
    Rig::with(router)
}

/// A packet of `len` bytes whose data count up, with `edit` done to its header.
fn counting(len: usize, edit: impl FnOnce(&mut ipv4::Packet<&mut [u8]>)) -> Vec<u8> {
    let mut bytes = inet(len + 14);
    for (number, byte) in bytes[34..].iter_mut().enumerate() {
        *byte = (number % 251) as u8;
    }
    let mut packet = ipv4::Packet::parse(&mut bytes[14..]).unwrap();
    packet.set_identification(0x4321);
    edit(&mut packet);
    packet.fill_checksum();
    bytes
}

fn packet(frame: &[u8]) -> ipv4::Packet<&[u8]> {
    ipv4::Packet::parse(&frame[14..]).unwrap()
}

/// Puts fragments together; asserts that they are complete, in order, and alike.
fn reassembled(frames: &[Vec<u8>], start: usize) -> Vec<u8> {
    let mut data = Vec::new();
    for frame in frames {
        let fragment = packet(frame);
        assert!(fragment.has_valid_checksum());
        assert_eq!((fragment.identification(), fragment.ttl()), (0x4321, 63));
        assert_eq!(fragment.fragment_offset(), start + data.len());
        assert!(fragment.total_length() <= 1280 && frame.len() >= 60);
        assert_eq!((&frame[..6], &frame[6..12]), (&FAR.0[..], &OUTSIDE.0[..]));
        data.extend(fragment.payload());
    }
    data
}

#[test]
fn section_3_2_a_long_packet_leaves_in_as_few_fragments_as_possible() {
    let mut rig = narrow();
    for (len, count) in [(1281, 2), (1500, 2), (2536, 3), (2532, 2), (9216, 8)] {
        let sent = counting(len, |_| {});
        rig.inject(0, std::slice::from_ref(&sent));
        rig.poll();
        rig.assert_balance();
        let out = rig.take(1);
        assert_eq!(out.len(), count, "{len} bytes");
        assert_eq!(reassembled(&out, 0), sent[34..]);
        let more: Vec<_> = out.iter().map(|frame| packet(frame).has_more_fragments()).collect();
        assert!(more[..count - 1].iter().all(|&more| more) && !more[count - 1]);
    }
    assert_eq!(rig.pool.available(), 1024, "no frame is lost");
    rig.forwarded(counting(1280, |_| {}));
}

#[test]
fn section_3_2_fragments_are_fragmented_again() {
    let mut rig = narrow();
    let middle = ipv4::MORE_FRAGMENTS | 185;
    let sent = counting(1500, |packet| packet.set_fragment(middle));
    rig.inject(0, std::slice::from_ref(&sent));
    rig.poll();
    let out = rig.take(1);
    assert_eq!(reassembled(&out, 185 * 8), sent[34..]);
    assert!(out.iter().all(|frame| packet(frame).has_more_fragments()));
}

#[test]
fn section_3_1_only_options_that_are_copied_are_in_later_fragments() {
    let mut rig = narrow();
    let mut sent = counting(1500, |_| {});
    // Record route (not copied), no operation, stream identifier (copied), end.
    let options = [7, 7, 4, 0, 0, 0, 0, 1, 0x88, 4, 1, 2];
    sent[14] = 0x40 | 8;
    sent[34..46].copy_from_slice(&options);
    ipv4::Packet::parse(&mut sent[14..]).unwrap().fill_checksum();
    rig.inject(0, std::slice::from_ref(&sent));
    rig.poll();
    let out = rig.take(1);
    assert_eq!(packet(&out[0]).options(), options);
    assert_eq!(packet(&out[1]).options(), [0x88, 4, 1, 2]);
    assert_eq!(reassembled(&out, 0), sent[46..]);
}

#[test]
fn rfc1191_section_4_what_may_not_be_fragmented_is_answered_instead() {
    let mut rig = narrow();
    let (reason, _) = rig.refused(counting(1281, |packet| packet.set_fragment(0x4000)));
    assert_eq!(reason, DropReason::TooBig);
    assert_eq!(rig.take(1).len(), 0);
}

#[test]
fn fragments_keep_their_place_among_other_packets() {
    let mut rig = narrow();
    let numbered = |number: u8, len| {
        let mut frame = counting(len, |_| {});
        frame[15] = number << 2; // DSCP: something that fragments keep
        ipv4::Packet::parse(&mut frame[14..]).unwrap().fill_checksum();
        frame
    };
    let frames: Vec<_> =
        (0..40).map(|number| numbered(number, if number % 3 == 0 { 3000 } else { 100 })).collect();
    rig.inject(0, &frames);
    rig.poll();
    rig.assert_balance();
    let order: Vec<u8> = rig.take(1).iter().map(|frame| frame[15] >> 2).collect();
    assert_eq!(order.len(), 40 + 14 * 2);
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn without_frames_for_the_fragments_the_packet_is_a_counted_drop() {
    let mut router = narrow().router;
    let (mut near, inside) = fwdlab_port::ring::pair(8);
    let (_far, outside) = fwdlab_port::ring::pair(8);
    let mut worker = router.worker([(0, inside), (1, outside)]).unwrap();
    let config = PoolConfig { frames: 4, capacity: 9600, ..PoolConfig::default() };
    let pool = fwdlab_port::Pool::new(config).unwrap();
    let mut batch = fwdlab_port::Batch::new();
    let mut frame = pool.take().unwrap();
    frame.set_len(1514);
    frame.copy_from_slice(&counting(1500, |_| {}));
    batch.push(frame).unwrap();
    fwdlab_port::Port::send(&mut near, &mut batch);
    worker.poll_at(SECOND);
    assert_eq!(router.counters().drops(DropReason::TooBig), 1);
    assert_eq!(pool.available(), 4);
}

#[test]
fn a_packet_that_waited_for_its_neighbour_is_fragmented_when_it_leaves() {
    let mut rig = narrow();
    let host = 0xc613_0042;
    let sent = counting(2000, |packet| packet.set_destination(host));
    rig.inject(0, std::slice::from_ref(&sent));
    rig.poll();
    assert_eq!(rig.worker.held(), 1);
    rig.take(1);
    rig.router.add_neighbour::<fwdlab_fib::Inet>(1, host, FAR).unwrap();
    rig.poll();
    rig.assert_balance();
    assert_eq!(reassembled(&rig.take(1), 0), sent[34..]);
}
