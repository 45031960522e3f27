//! Whether a frame that arrived is one that was sent: for testers that keep all of their frames ready
//! ([`crate::flow_frame()`]) and so can compare them byte by byte.

use fwdlab_wire::lab::{DEVICE_MACS, TESTER_MACS};
use fwdlab_wire::{MacAddr, ethernet, ipv4, ipv6, udp};

use crate::flow_frame::MARK_LEN;

const MACS: usize = 12;
const TYPE: usize = 12;
const TYPE_IPV4: [u8; 2] = ethernet::TYPE_IPV4.to_be_bytes();
const IPV4_TTL: usize = ethernet::HEADER_LEN + 8;
const IPV4_CHECKSUM: usize = ethernet::HEADER_LEN + 10;
const IPV4_ADDRESSES: usize = ethernet::HEADER_LEN + 12;
const IPV6_HOPS: usize = ethernet::HEADER_LEN + 7;
const IPV6_ADDRESSES: usize = ethernet::HEADER_LEN + 8;
/// Source and destination port.
const PORTS_LEN: usize = 4;

/// What was found of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It is this one, as it has to be.
    Whole,
    /// It is this one, with other addresses or ports and right checksums.
    Translated,
    /// It is this one, and an address of its Ethernet header is not what it has to be.
    WrongMac,
    /// It is this one, and the TTL or hop limit is wrong.
    WrongTtl,
    /// It is this one, and a checksum is wrong.
    WrongChecksum,
    /// It is this one, and something else of it was changed.
    Changed,
    /// It is another one.
    Other,
}

/// How frames that go one way arrive.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    macs: [MacAddr; 2],
    hops: u8,
    has_mark: bool,
}

impl Arrival {
    /// Behind the device, where `port` took them. With marks, frames are known by these and not by their
    /// addresses, and all their checksums are computed, whether or not the device changed anything.
    pub fn behind_device(port: usize, has_mark: bool) -> Self {
        let far = usize::from(port == 0);
        Self { macs: [TESTER_MACS[far], DEVICE_MACS[far]], hops: 1, has_mark }
    }

    /// Behind a cable, which changes nothing.
    pub fn behind_cable(port: usize, has_mark: bool) -> Self {
        let near = usize::from(port != 0);
        Self { macs: [DEVICE_MACS[near], TESTER_MACS[near]], hops: 0, has_mark }
    }

    /// Compares what arrived with a frame that was sent.
    pub fn fit(&self, sent: &[u8], got: &[u8]) -> Fit {
        let Some(shape) = Shape::of(sent) else { return Fit::Other };
        // A kernel that forwards a packet leaves the padding behind it out.
        let sent = match got.len() {
            length if length == sent.len() => sent,
            length if length == shape.end_of_packet(sent) => &sent[..length],
            _ => return Fit::Other,
        };
        let is_it = match self.has_mark {
            true => got[shape.mark()] == sent[shape.mark()] && got[TYPE..14] == sent[TYPE..14],
            false => got[shape.ends()] == sent[shape.ends()],
        };
        if !is_it {
            return Fit::Other;
        }
        let macs = got[..6] == self.macs[0].0 && got[6..MACS] == self.macs[1].0;
        if !macs {
            return Fit::WrongMac;
        }
        if got[shape.ttl] != sent[shape.ttl].wrapping_sub(self.hops) {
            return Fit::WrongTtl;
        }
        if !shape.has_valid_header(got) || (self.has_mark && !shape.has_valid_datagram(got)) {
            return Fit::WrongChecksum;
        }
        if self.has_mark && got[shape.ends()] != sent[shape.ends()] {
            return Fit::Translated;
        }
        match shape.rest(sent).eq(shape.rest(got)) {
            true => Fit::Whole,
            false => Fit::Changed,
        }
    }
}

/// Where things are in a frame.
#[derive(Clone, Copy)]
struct Shape {
    ttl: usize,
    is_ipv4: bool,
    addresses: usize,
    /// Where the network's payload begins.
    payload: usize,
}

impl Shape {
    fn of(frame: &[u8]) -> Option<Self> {
        let is_ipv4 = frame.get(TYPE..ethernet::HEADER_LEN)? == TYPE_IPV4;
        let (ttl, addresses, network) = match is_ipv4 {
            true => (IPV4_TTL, IPV4_ADDRESSES, ipv4::HEADER_LEN),
            false => (IPV6_HOPS, IPV6_ADDRESSES, ipv6::HEADER_LEN),
        };
        let payload = ethernet::HEADER_LEN + network;
        let least = payload + udp::HEADER_LEN + MARK_LEN;
        (frame.len() >= least).then_some(Self { ttl, is_ipv4, addresses, payload })
    }

    /// Length without padding, where the packet says one that the frame has room for.
    fn end_of_packet(&self, frame: &[u8]) -> usize {
        let packet = &frame[ethernet::HEADER_LEN..];
        let length = |at: usize| usize::from(u16::from_be_bytes([packet[at], packet[at + 1]]));
        let length = match self.is_ipv4 {
            true => length(2),
            false => ipv6::HEADER_LEN + length(4),
        };
        (ethernet::HEADER_LEN + length).clamp(self.payload + udp::HEADER_LEN, frame.len())
    }

    /// Addresses and ports, which stand side by side.
    fn ends(&self) -> std::ops::Range<usize> {
        self.addresses..self.payload + PORTS_LEN
    }

    fn mark(&self) -> std::ops::Range<usize> {
        let start = self.payload + udp::HEADER_LEN;
        start..start + MARK_LEN
    }

    /// All that a router leaves alone.
    fn rest<'a>(&self, frame: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let after = if self.is_ipv4 { IPV4_CHECKSUM + 2 } else { self.ttl + 1 };
        let between = if self.is_ipv4 { self.ttl + 1..IPV4_CHECKSUM } else { 0..0 };
        [&frame[MACS..self.ttl], &frame[between], &frame[after..]].into_iter()
    }

    fn has_valid_header(&self, frame: &[u8]) -> bool {
        let packet = &frame[ethernet::HEADER_LEN..];
        !self.is_ipv4 || ipv4::Packet::parse(packet).is_ok_and(|own| own.has_valid_checksum())
    }

    fn has_valid_datagram(&self, frame: &[u8]) -> bool {
        let packet = &frame[ethernet::HEADER_LEN..];
        let is_valid = |payload: &[u8], pseudo| {
            udp::Datagram::parse(payload).is_ok_and(|own| own.has_valid_checksum(pseudo, false))
        };
        match self.is_ipv4 {
            true => ipv4::Packet::parse(packet)
                .is_ok_and(|own| is_valid(own.payload(), own.pseudo_sum())),
            false => ipv6::Packet::parse(packet)
                .is_ok_and(|own| is_valid(own.payload(), own.pseudo_sum())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_frame::{Carried, FrameOf, flow_frame};
    use crate::flows::FlowSet;
    use crate::segments::Segments;

    fn frame(ends: [&str; 2], flow: u32) -> Vec<u8> {
        let flows = FlowSet::parse(ends[0], ends[1]).expect("flows");
        let own = FrameOf { flow, number: 0 };
        flow_frame(&flows, own, 82, (0, Carried::Datagram { has_mark: true })).expect("a frame")
    }

    const INET: [&str; 2] = ["198.18.10.1-198.18.10.9:2000", "198.19.10.1:53"];
    const INET6: [&str; 2] = ["[2001:2::1]-[2001:2::9]:2000", "[2001:2:0:8010::1]:53"];

    /// What a router makes of a frame.
    fn forwarded(sent: &[u8]) -> Vec<u8> {
        let mut frame = sent.to_vec();
        frame[..6].copy_from_slice(&TESTER_MACS[1].0);
        frame[6..12].copy_from_slice(&DEVICE_MACS[1].0);
        if frame[12] == 8 {
            let mut packet = ipv4::Packet::parse(&mut frame[14..]).expect("a packet");
            packet.set_ttl(63);
            packet.fill_checksum();
        } else {
            frame[21] -= 1;
        }
        frame
    }

    #[test]
    fn what_a_router_makes_of_a_frame_fits_and_what_it_breaks_is_told() {
        for ends in [INET, INET6] {
            let (sent, other) = (frame(ends, 3), frame(ends, 4));
            for has_mark in [false, true] {
                let arrival = Arrival::behind_device(0, has_mark);
                let right = forwarded(&sent);
                assert_eq!(arrival.fit(&sent, &right), Fit::Whole, "{ends:?}");
                assert_eq!(arrival.fit(&other, &right), Fit::Other, "{ends:?}");
                assert_eq!(arrival.fit(&sent, &right[..70]), Fit::Other, "{ends:?}");
                assert_eq!(arrival.fit(&sent, &sent), Fit::WrongMac, "{ends:?}");
                let cable = Arrival::behind_cable(0, has_mark);
                assert_eq!(cable.fit(&sent, &sent), Fit::Whole, "{ends:?}");
                let at = if ends == INET { 22 } else { 21 };
                let broken = |at: usize| {
                    let mut frame = right.clone();
                    frame[at] ^= 1;
                    arrival.fit(&sent, &frame)
                };
                assert_eq!(broken(at), Fit::WrongTtl, "{ends:?}");
                assert_eq!(broken(5), Fit::WrongMac, "{ends:?}");
                let last = if has_mark { Fit::WrongChecksum } else { Fit::Changed };
                assert_eq!(broken(right.len() - 1), last, "{ends:?}");
                if ends == INET {
                    assert_eq!(broken(24), Fit::WrongChecksum);
                }
            }
        }
    }

    /// Linux forwards the packet alone: none of the segments that open a session was known in a guest.
    #[test]
    fn a_segment_without_data_is_known_without_its_padding() {
        let script = Segments::new(5, 6, false);
        for (ends, packet) in [(INET, 54), (INET6, 74)] {
            let flows = FlowSet::parse(ends[0], ends[1]).expect("flows");
            let frame = |number| {
                let (own, carried) = (FrameOf { flow: 3, number }, (0, Carried::Segment(&script)));
                flow_frame(&flows, own, 80, carried).expect("a frame")
            };
            let arrival = Arrival::behind_device(0, false);
            for (number, fit) in [(0, Fit::Whole), (4, Fit::Other)] {
                let (sent, right) = (frame(number), forwarded(&frame(number)));
                assert_eq!(arrival.fit(&sent, &right), Fit::Whole, "{ends:?}");
                assert_eq!(arrival.fit(&sent, &right[..packet]), fit, "{ends:?}");
                assert_eq!(arrival.fit(&sent, &right[..packet - 1]), Fit::Other, "{ends:?}");
                let mut broken = right[..packet].to_vec();
                broken[packet - 1] ^= 1;
                assert_ne!(arrival.fit(&sent, &broken), Fit::Whole, "{ends:?}");
            }
        }
    }

    #[test]
    fn other_addresses_are_a_translation_where_frames_have_marks_and_another_frame_where_not() {
        let sent = frame(INET, 3);
        let flows = FlowSet::parse("198.19.0.9:40000", "198.19.10.1:53").expect("flows");
        let own = FrameOf { flow: 0, number: 0 };
        let carried = (0, Carried::Datagram { has_mark: true });
        let mut translated = flow_frame(&flows, own, 82, carried).expect("a frame");
        // The mark is that of the session.
        let mut packet = ipv4::Packet::parse(&mut translated[14..]).expect("a packet");
        let pseudo = packet.pseudo_sum();
        packet.payload_mut()[8..12].copy_from_slice(&3_u32.to_be_bytes());
        let mut datagram = udp::Datagram::parse(packet.payload_mut()).expect("a datagram");
        datagram.fill_checksum(pseudo);
        let mut translated = forwarded(&translated);
        assert_eq!(Arrival::behind_device(0, true).fit(&sent, &translated), Fit::Translated);
        assert_eq!(Arrival::behind_device(0, false).fit(&sent, &translated), Fit::Other);
        translated[40] ^= 1;
        assert_eq!(Arrival::behind_device(0, true).fit(&sent, &translated), Fit::WrongChecksum);
    }
}
