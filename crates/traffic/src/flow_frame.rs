//! Frames of flows made one by one, as they go out: for testers that keep all of them ready.

use fwdlab_wire::lab::{DEVICE_MACS, TESTER_MACS};
use fwdlab_wire::{ethernet, ipv4, ipv6, tcp, udp};

use crate::flows::{Endpoints, Family, FlowSet};
use crate::segments::{Segment, Segments};

/// TTL and hop limit of the frames that are sent.
pub const TTL: u8 = 64;

/// Bytes of a mark behind the UDP header: the number of the flow.
pub const MARK_LEN: usize = 4;

/// Which frame: its flow, and which one of the flow's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameOf {
    /// Number of the flow: destination * sources + source.
    pub flow: u32,
    /// From 0.
    pub number: usize,
}

/// What frames hold behind their network header.
#[derive(Clone, Copy, Debug)]
pub enum Carried<'a> {
    /// A datagram.
    Datagram {
        /// Each has the number of its flow behind the UDP header.
        has_mark: bool,
    },
    /// A segment of TCP, each frame of a flow another.
    Segment(&'a Segments),
}

/// Length of all headers of a frame, bytes, with the mark.
pub fn header_len(flows: &FlowSet, carried: Carried<'_>) -> usize {
    let carried = match carried {
        Carried::Datagram { has_mark: false } => udp::HEADER_LEN,
        Carried::Datagram { has_mark: true } => udp::HEADER_LEN + MARK_LEN,
        Carried::Segment(_) => tcp::HEADER_LEN,
    };
    ethernet::HEADER_LEN + network_len(flows.family()) + carried
}

fn network_len(family: Family) -> usize {
    match family {
        Family::Inet => ipv4::HEADER_LEN,
        Family::Inet6 => ipv6::HEADER_LEN,
    }
}

/// The `number`th end of a range: address * ports + port.
fn end(range: &Endpoints, number: u32) -> (u128, u16) {
    let (address, port) = (number / range.ports(), number % range.ports());
    (range.first() + u128::from(address), range.first_port() + port as u16)
}

/// A frame of a flow to a port of the device, without FCS; the payload is zero but for the mark. Flows are
/// numbered destination * sources + source. Segments without data are padded to the length of the others.
/// Nothing where `length` bytes have no room for the headers, the session has no such segment, or the device
/// no such port.
pub fn flow_frame(
    flows: &FlowSet,
    FrameOf { flow, number }: FrameOf,
    length: usize,
    (port, carried): (usize, Carried<'_>),
) -> Option<Vec<u8>> {
    let sources = flows.source().count() as u32;
    let (source, source_port) = end(flows.source(), flow % sources);
    let (destination, destination_port) = end(flows.destination(), flow / sources);
    let ports = (source_port, destination_port);
    let mut bytes = vec![0; length];
    let mut ethernet = ethernet::Frame::parse(&mut bytes[..]).ok()?;
    ethernet.set_destination(*DEVICE_MACS.get(port)?);
    ethernet.set_source(*TESTER_MACS.get(port)?);
    ethernet.set_ether_type(match flows.family() {
        Family::Inet => ethernet::TYPE_IPV4,
        Family::Inet6 => ethernet::TYPE_IPV6,
    });
    let payload = ethernet.payload_mut();
    let network = network_len(flows.family());
    let (protocol, segment, total) = match carried {
        Carried::Datagram { .. } => (udp::PROTOCOL, None, payload.len()),
        Carried::Segment(script) => {
            let segment = script.get(number)?;
            let total = network + tcp::HEADER_LEN + segment.data_bytes as usize;
            (tcp::PROTOCOL, Some(segment), total)
        }
    };
    let write = |payload: &mut [u8], pseudo: u64| match (segment, carried) {
        (Some(own), _) => fill_segment(payload, ports, pseudo, own),
        (None, Carried::Datagram { has_mark: true }) => {
            datagram(payload, ports, (pseudo, Some(flow)))
        }
        (None, _) => datagram(payload, ports, (pseudo, None)),
    };
    match flows.family() {
        Family::Inet => {
            let mut packet = ipv4::Packet::prepare(payload, total as u16).ok()?;
            packet.set_ttl(TTL);
            packet.set_protocol(protocol);
            packet.set_source(source as u32);
            packet.set_destination(destination as u32);
            packet.fill_checksum();
            let pseudo = packet.pseudo_sum();
            write(packet.payload_mut(), pseudo).ok()?;
        }
        Family::Inet6 => {
            let length = (total - network) as u16;
            let mut packet = ipv6::Packet::prepare(payload, length).ok()?;
            packet.set_hop_limit(TTL);
            packet.set_next_header(protocol);
            packet.set_source(source);
            packet.set_destination(destination);
            let pseudo = packet.pseudo_sum();
            write(packet.payload_mut(), pseudo).ok()?;
        }
    }
    Some(bytes)
}

/// Bytes of data that a segment has room for in a frame (FCS included).
pub fn tcp_data_bytes(flows: &FlowSet, frame_bytes: u16) -> u32 {
    let headers = ethernet::HEADER_LEN + network_len(flows.family()) + tcp::HEADER_LEN;
    usize::from(frame_bytes).saturating_sub(headers + ethernet::FCS_LEN) as u32
}

fn fill_segment(
    payload: &mut [u8],
    (source, destination): (u16, u16),
    pseudo: u64,
    own: Segment,
) -> Result<(), fwdlab_wire::Error> {
    let mut segment = tcp::Segment::prepare(payload)?;
    segment.set_ports(source, destination);
    segment.set_numbers(own.sequence, own.acknowledgement);
    segment.set_flags(own.flags);
    segment.set_window(u16::MAX);
    segment.fill_checksum(pseudo);
    Ok(())
}

fn datagram(
    payload: &mut [u8],
    (source, destination): (u16, u16),
    (pseudo, mark): (u64, Option<u32>),
) -> Result<(), fwdlab_wire::Error> {
    let length = payload.len() as u16;
    if let (Some(mark), Some(place)) = (mark, payload.get_mut(udp::HEADER_LEN..)) {
        // Whoever asks for a mark has looked for its room.
        place.iter_mut().zip(mark.to_be_bytes()).for_each(|(place, byte)| *place = byte);
    }
    let mut datagram = udp::Datagram::prepare(payload, length)?;
    datagram.set_ports(source, destination);
    datagram.fill_checksum(pseudo);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(flow: u32) -> FrameOf {
        FrameOf { flow, number: 0 }
    }

    fn plain(port: usize) -> (usize, Carried<'static>) {
        (port, Carried::Datagram { has_mark: false })
    }

    #[test]
    fn segments_are_those_of_the_script_with_right_checksums() {
        for (source, destination, frame_bytes, network) in [
            ("198.18.10.1:2000", "198.19.10.1-198.19.10.9:53", 64, 20),
            ("[2001:2::1]:2000", "[2001:2:0:8010::1]-[2001:2:0:8010::9]:53", 82, 40),
        ] {
            let flows = FlowSet::parse(source, destination).expect("flows");
            let data = tcp_data_bytes(&flows, frame_bytes);
            assert_eq!(data, if network == 20 { 6 } else { 4 });
            let script = Segments::new(8, data, true);
            for number in 0..8 {
                let which = FrameOf { flow: 3, number };
                let length = usize::from(frame_bytes) - 4;
                let carried = (number % 2, Carried::Segment(&script));
                let bytes = flow_frame(&flows, which, length, carried).expect("a frame");
                assert_eq!(bytes.len(), length, "padded");
                let own = script.get(number).expect("a segment");
                let (payload, pseudo) = if network == 20 {
                    let packet = ipv4::Packet::parse(&bytes[14..]).expect("a packet");
                    assert!(packet.has_valid_checksum() && packet.protocol() == 6);
                    (packet.payload().to_vec(), packet.pseudo_sum())
                } else {
                    let packet = ipv6::Packet::parse(&bytes[14..]).expect("a packet");
                    assert_eq!(packet.next_header(), 6);
                    (packet.payload().to_vec(), packet.pseudo_sum())
                };
                let segment = tcp::Segment::parse(&payload[..]).expect("a segment");
                assert!(segment.has_valid_checksum(pseudo), "{number}");
                let found = (segment.flags(), segment.sequence(), segment.acknowledgement());
                assert_eq!(found, (own.flags, own.sequence, own.acknowledgement));
                assert_eq!(segment.payload().len(), own.data_bytes as usize);
            }
            let late = FrameOf { flow: 0, number: 8 };
            assert!(flow_frame(&flows, late, 90, (0, Carried::Segment(&script))).is_none());
        }
    }

    #[test]
    fn frames_hold_their_flow_with_right_checksums() {
        let flows = FlowSet::parse("198.18.10.1-198.18.10.20:2000", "198.19.10.1-198.19.10.9:53")
            .expect("flows");
        let bytes = flow_frame(&flows, of(20 * 3 + 7), 60, plain(0)).expect("a frame");
        let ethernet = ethernet::Frame::parse(&bytes[..]).expect("a frame");
        let packet = ipv4::Packet::parse(ethernet.payload()).expect("a packet");
        assert!(packet.has_valid_checksum());
        assert_eq!(packet.source(), u32::from_be_bytes([198, 18, 10, 8]));
        assert_eq!(packet.destination(), u32::from_be_bytes([198, 19, 10, 4]));
        let datagram = udp::Datagram::parse(packet.payload()).expect("a datagram");
        assert!(datagram.has_valid_checksum(packet.pseudo_sum(), false));
        let flows6 = FlowSet::parse("[2001:2::1]-[2001:2::4]:2000", "[2001:2:0:8010::1]:53-54")
            .expect("flows");
        let bytes = flow_frame(&flows6, of(5), 62, plain(1)).expect("a frame");
        let packet = ipv6::Packet::parse(&bytes[14..]).expect("a packet");
        let datagram = udp::Datagram::parse(packet.payload()).expect("a datagram");
        assert!(datagram.has_valid_checksum(packet.pseudo_sum(), false));
        assert_eq!((datagram.source_port(), datagram.destination_port()), (2000, 54));
        let bytes = flow_frame(&flows, of(67), 60, (0, Carried::Datagram { has_mark: true }))
            .expect("a frame");
        let packet = ipv4::Packet::parse(&bytes[14..]).expect("a packet");
        let datagram = udp::Datagram::parse(packet.payload()).expect("a datagram");
        assert!(datagram.has_valid_checksum(packet.pseudo_sum(), false));
        assert_eq!(bytes[42..46], [0, 0, 0, 67]);
    }
}
