//! The frames of a traffic: their headers in the order of sending.

use std::io;
use std::sync::atomic::Ordering;

use fwdlab_port::bpf::Map;
use fwdlab_traffic::{Endpoints, Family, FlowSet, Order};
use fwdlab_wire::{ethernet, ipv4, ipv6, udp};

use super::programs::tester::HEADER_ROOM;
use fwdlab_traffic::{DEVICE_MACS, TESTER_MACS};

/// TTL and hop limit of the frames that are sent.
pub(super) const TTL: u8 = 64;

/// Bytes of a mark behind the UDP header: the number of the flow.
pub(super) const MARK_LEN: usize = 4;

/// The same seed in every trial: variants are compared with the same order of flows.
const SEED: u64 = 1;

/// Headers of a traffic in a map.
#[derive(Debug)]
pub(super) struct Headers {
    /// [`HEADER_ROOM`] bytes in each element.
    pub(super) map: Map,
    /// Elements.
    pub(super) entries: u32,
    /// Bytes of a header that are used.
    pub(super) length: usize,
    /// The first frame as a whole, without FCS.
    pub(super) frame: Vec<u8>,
}

impl Headers {
    /// Makes the headers; `frame_bytes` counts the FCS.
    ///
    /// # Errors
    /// There is no memory, or no privilege.
    pub(super) fn new(flows: &FlowSet, order: Order, frame_bytes: u16) -> io::Result<Self> {
        Self::of_turn(flows, &turn(flows, order), frame_bytes, (0, false))
    }

    /// As [`Headers::new`], of these flows one after the other, by their numbers, to a port of the device;
    /// with a mark, each frame has the number of its flow behind the UDP header.
    ///
    /// # Errors
    /// There is no memory, or no privilege.
    pub(super) fn of_turn(
        flows: &FlowSet,
        turn: &[u32],
        frame_bytes: u16,
        (port, has_mark): (usize, bool),
    ) -> io::Result<Self> {
        let entries = turn.len() as u32;
        let length = header_len(flows) + if has_mark { MARK_LEN } else { 0 };
        let words = HEADER_ROOM.max(length).div_ceil(8);
        let map = Map::array("fwdlab_headers", entries, words as u32)?;
        let mut first = Vec::new();
        for (&flow, element) in turn.iter().zip(map.words().chunks_exact(words)) {
            let whole = usize::from(frame_bytes) - ethernet::FCS_LEN;
            let mark = has_mark.then_some(flow);
            let frame = frame(flows, (flow, mark), whole, port)?;
            let mut header = vec![0; words * 8];
            header[..length].copy_from_slice(&frame[..length]);
            for (word, bytes) in element.iter().zip(header.as_chunks::<8>().0) {
                word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
            }
            if first.is_empty() {
                first = frame;
            }
        }
        Ok(Self { map, entries, length, frame: first })
    }
}

/// The numbers of a traffic's flows in the order of sending.
pub(super) fn turn(flows: &FlowSet, order: Order) -> Vec<u32> {
    order.turn(flows.count(), SEED)
}

/// Length of all headers of a frame.
fn header_len(flows: &FlowSet) -> usize {
    let network = match flows.family() {
        Family::Inet => ipv4::HEADER_LEN,
        Family::Inet6 => ipv6::HEADER_LEN,
    };
    ethernet::HEADER_LEN + network + udp::HEADER_LEN
}

/// The `number`th end of a range: address * ports + port.
fn end(range: &Endpoints, number: u32) -> (u128, u16) {
    let (address, port) = (number / range.ports(), number % range.ports());
    (range.first() + u128::from(address), range.first_port() + port as u16)
}

/// A frame of a flow to a port of the device, without FCS; the payload is zero but for the mark. Flows are
/// numbered destination * sources + source.
fn frame(
    flows: &FlowSet,
    (flow, mark): (u32, Option<u32>),
    length: usize,
    port: usize,
) -> io::Result<Vec<u8>> {
    let sources = flows.source().count() as u32;
    let (source, source_port) = end(flows.source(), flow % sources);
    let (destination, destination_port) = end(flows.destination(), flow / sources);
    let mut bytes = vec![0; length];
    let malformed = |_| io::Error::other("a frame too short for its headers");
    let mut ethernet = ethernet::Frame::parse(&mut bytes[..]).map_err(malformed)?;
    ethernet.set_destination(DEVICE_MACS[port]);
    ethernet.set_source(TESTER_MACS[port]);
    ethernet.set_ether_type(match flows.family() {
        Family::Inet => ethernet::TYPE_IPV4,
        Family::Inet6 => ethernet::TYPE_IPV6,
    });
    let payload = ethernet.payload_mut();
    let total = payload.len();
    match flows.family() {
        Family::Inet => {
            let mut packet = ipv4::Packet::prepare(payload, total as u16).map_err(malformed)?;
            packet.set_ttl(TTL);
            packet.set_protocol(udp::PROTOCOL);
            packet.set_source(source as u32);
            packet.set_destination(destination as u32);
            packet.fill_checksum();
            let pseudo = packet.pseudo_sum();
            let ports = (source_port, destination_port);
            datagram(packet.payload_mut(), ports, (pseudo, mark)).map_err(malformed)?;
        }
        Family::Inet6 => {
            let length = (total - ipv6::HEADER_LEN) as u16;
            let mut packet = ipv6::Packet::prepare(payload, length).map_err(malformed)?;
            packet.set_hop_limit(TTL);
            packet.set_next_header(udp::PROTOCOL);
            packet.set_source(source);
            packet.set_destination(destination);
            let pseudo = packet.pseudo_sum();
            let ports = (source_port, destination_port);
            datagram(packet.payload_mut(), ports, (pseudo, mark)).map_err(malformed)?;
        }
    }
    Ok(bytes)
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

    #[test]
    fn frames_hold_their_flow_with_right_checksums() {
        let flows = FlowSet::parse("198.18.10.1-198.18.10.20:2000", "198.19.10.1-198.19.10.9:53")
            .expect("flows");
        let bytes = frame(&flows, (20 * 3 + 7, None), 60, 0).expect("a frame");
        let ethernet = ethernet::Frame::parse(&bytes[..]).expect("a frame");
        let packet = ipv4::Packet::parse(ethernet.payload()).expect("a packet");
        assert!(packet.has_valid_checksum());
        assert_eq!(packet.source(), u32::from_be_bytes([198, 18, 10, 8]));
        assert_eq!(packet.destination(), u32::from_be_bytes([198, 19, 10, 4]));
        let datagram = udp::Datagram::parse(packet.payload()).expect("a datagram");
        assert!(datagram.has_valid_checksum(packet.pseudo_sum(), false));
        let flows6 = FlowSet::parse("[2001:2::1]-[2001:2::4]:2000", "[2001:2:0:8010::1]:53-54")
            .expect("flows");
        let bytes = frame(&flows6, (5, None), 62, 1).expect("a frame");
        let packet = ipv6::Packet::parse(&bytes[14..]).expect("a packet");
        let datagram = udp::Datagram::parse(packet.payload()).expect("a datagram");
        assert!(datagram.has_valid_checksum(packet.pseudo_sum(), false));
        assert_eq!((datagram.source_port(), datagram.destination_port()), (2000, 54));
        let bytes = frame(&flows, (67, Some(67)), 60, 0).expect("a frame");
        let packet = ipv4::Packet::parse(&bytes[14..]).expect("a packet");
        let datagram = udp::Datagram::parse(packet.payload()).expect("a datagram");
        assert!(datagram.has_valid_checksum(packet.pseudo_sum(), false));
        assert_eq!(bytes[42..46], [0, 0, 0, 67]);
    }
}
