//! The general path: one frame, every rule, in the order of the standards, with a reason for
//! each refusal. The fast path hands over whatever is not plainly forwarded; speed matters less
//! here than being right by inspection.

use fwdlab_fib::NexthopId;
use fwdlab_port::Frame;
use fwdlab_wire::{MacAddr, checksum, ethernet, ipv4, ipv6};

use crate::adjacency::{Adjacency, Kind, pack_mac, unpack_mac};
use crate::drops::DropReason;
use crate::plane::{DROPPED, Plane};

const L3: usize = ethernet::HEADER_LEN;

/// Where a packet goes: out of this port to this MAC address.
struct Hop {
    port: u8,
    mac: MacAddr,
}

impl Plane {
    /// Handles one frame that came in on port `input`; returns its fate.
    pub(crate) fn general(&mut self, input: u8, frame: &mut Frame) -> u8 {
        match self.route(input, frame) {
            Ok(port) => port,
            Err(reason) => {
                self.counters.count_drop(reason);
                DROPPED
            }
        }
    }

    fn route(&mut self, input: u8, frame: &mut Frame) -> Result<u8, DropReason> {
        let header = ethernet::Frame::parse(&frame[..]).map_err(|_| DropReason::FrameTooShort)?;
        let destination = header.destination();
        if !destination.is_multicast() && pack_mac(destination) != self.facts(input).packed_mac() {
            return Err(DropReason::WrongMac);
        }
        match header.ether_type() {
            ethernet::TYPE_IPV4 => self.route_inet(input, frame),
            ethernet::TYPE_IPV6 => self.route_inet6(input, frame),
            ethernet::TYPE_VLAN | ethernet::TYPE_SERVICE_VLAN => Err(DropReason::UnknownVlan),
            _ => Err(DropReason::UnknownEtherType),
        }
    }

    fn route_inet(&mut self, input: u8, frame: &mut Frame) -> Result<u8, DropReason> {
        let in_group_frame = frame[0] & 1 != 0;
        let packet = check_inet(&frame[L3..])?;
        let (destination, total) = (packet.destination(), usize::from(packet.total_length()));
        check_inet_addresses(packet.source(), destination)?;
        if in_group_frame {
            return Err(DropReason::UnicastInGroupFrame);
        }
        let view = self.inet_view(input);
        let id = view.reader.lookup(destination);
        let adjacency = view.adjacencies.of(id);
        let known = |port| view.neighbours.lock().mac(port, destination);
        let hop = follow(id, adjacency, known)?;
        if packet.ttl() <= 1 {
            return Err(DropReason::TtlExpired);
        }
        self.check_output(&hop, total)?;
        let mut packet =
            ipv4::Packet::parse(&mut frame[L3..]).map_err(|_| DropReason::BadTotalLength)?;
        let old = u16::from_be_bytes([packet.ttl(), packet.protocol()]);
        packet.set_ttl(packet.ttl() - 1);
        let new = u16::from_be_bytes([packet.ttl(), packet.protocol()]);
        packet.set_checksum(checksum::update_u16(packet.checksum(), old, new));
        Ok(self.address(frame, &hop))
    }

    fn route_inet6(&mut self, input: u8, frame: &mut Frame) -> Result<u8, DropReason> {
        let in_group_frame = frame[0] & 1 != 0;
        let packet = check_inet6(&frame[L3..])?;
        let destination = packet.destination();
        let total = ipv6::HEADER_LEN + usize::from(packet.payload_length());
        check_inet6_addresses(packet.source(), destination)?;
        if in_group_frame {
            return Err(DropReason::UnicastInGroupFrame);
        }
        let view = self.inet6_view(input);
        let id = view.reader.lookup(destination);
        let adjacency = view.adjacencies.of(id);
        let known = |port| view.neighbours.lock().mac(port, destination);
        let hop = follow(id, adjacency, known)?;
        if packet.hop_limit() <= 1 {
            return Err(DropReason::TtlExpired);
        }
        self.check_output(&hop, total)?;
        frame[L3 + ipv6::HOP_LIMIT] -= 1;
        Ok(self.address(frame, &hop))
    }

    fn check_output(&self, hop: &Hop, packet_len: usize) -> Result<(), DropReason> {
        let output = self.facts(hop.port);
        if !output.is_present() {
            return Err(DropReason::NoSuchPort);
        }
        if packet_len > output.mtu() { Err(DropReason::TooBig) } else { Ok(()) }
    }

    /// Writes both MAC addresses and returns the output port.
    fn address(&self, frame: &mut Frame, hop: &Hop) -> u8 {
        frame[..6].copy_from_slice(&hop.mac.0);
        frame[6..12].copy_from_slice(&unpack_mac(self.facts(hop.port).packed_mac()).0);
        hop.port
    }
}

/// RFC 1812, section 5.2.2: the header is one. `packet` may have padding behind it.
fn check_inet(packet: &[u8]) -> Result<ipv4::Packet<&[u8]>, DropReason> {
    let Some(&first) = packet.first() else { return Err(DropReason::FrameTooShort) };
    if packet.len() < ipv4::HEADER_LEN {
        return Err(DropReason::FrameTooShort);
    }
    if first >> 4 != 4 {
        return Err(DropReason::BadVersion);
    }
    let header_len = usize::from(first & 15) * 4;
    let total = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
    if header_len < ipv4::HEADER_LEN || header_len > packet.len() {
        return Err(DropReason::BadHeaderLength);
    }
    if total < header_len || total > packet.len() {
        return Err(DropReason::BadTotalLength);
    }
    let packet = ipv4::Packet::parse(packet).map_err(|_| DropReason::BadTotalLength)?;
    if packet.has_valid_checksum() { Ok(packet) } else { Err(DropReason::BadChecksum) }
}

/// RFC 1812, sections 5.3.4, 5.3.5 and 5.3.7; RFC 3927, section 2.7; RFC 6890.
fn check_inet_addresses(source: u32, destination: u32) -> Result<(), DropReason> {
    if ipv4::is_martian_source(source) {
        return Err(DropReason::MartianSource);
    }
    if destination == u32::MAX {
        return Err(DropReason::Broadcast);
    }
    if ipv4::is_martian_destination(destination) {
        return Err(DropReason::MartianDestination);
    }
    if ipv4::is_multicast(destination) {
        return Err(DropReason::Multicast);
    }
    if ipv4::is_link_local(source) || ipv4::is_link_local(destination) {
        return Err(DropReason::LinkLocal);
    }
    Ok(())
}

/// RFC 8200, section 3.
fn check_inet6(packet: &[u8]) -> Result<ipv6::Packet<&[u8]>, DropReason> {
    if packet.len() < ipv6::HEADER_LEN {
        return Err(DropReason::FrameTooShort);
    }
    if packet[0] >> 4 != 6 {
        return Err(DropReason::BadVersion);
    }
    ipv6::Packet::parse(packet).map_err(|_| DropReason::BadTotalLength)
}

/// RFC 4291, sections 2.5.2, 2.5.3, 2.5.6 and 2.7; RFC 6890.
fn check_inet6_addresses(source: u128, destination: u128) -> Result<(), DropReason> {
    if ipv6::is_martian_source(source) {
        return Err(DropReason::MartianSource);
    }
    if ipv6::is_multicast(destination) {
        return Err(DropReason::Multicast);
    }
    if ipv6::is_martian_destination(destination) {
        return Err(DropReason::MartianDestination);
    }
    if ipv6::is_link_local(source) || ipv6::is_link_local(destination) {
        return Err(DropReason::LinkLocal);
    }
    Ok(())
}

/// What an adjacency says to do; `known` finds the MAC address of the destination itself on a
/// connected port.
fn follow(
    id: NexthopId,
    adjacency: Adjacency,
    known: impl FnOnce(u8) -> Option<MacAddr>,
) -> Result<Hop, DropReason> {
    if id.is_none() {
        return Err(DropReason::NoRoute);
    }
    let port = adjacency.port();
    match adjacency.kind() {
        Kind::Forward => Ok(Hop { port, mac: unpack_mac(adjacency.packed_mac()) }),
        Kind::Connected => known(port).map(|mac| Hop { port, mac }).ok_or(DropReason::Unresolved),
        Kind::Unresolved => Err(DropReason::Unresolved),
        Kind::Blackhole => Err(DropReason::Blackhole),
        Kind::Reject => Err(DropReason::Reject),
        Kind::Broadcast => Err(DropReason::Broadcast),
        Kind::Local => Err(DropReason::NotAccepted),
        Kind::None => Err(DropReason::NoRoute),
    }
}
