//! The general path: one frame, every rule, in the order of the standards, with a reason for
//! each refusal. The fast path hands over whatever is not plainly forwarded; speed matters less
//! here than being right by inspection.

use fwdlab_fib::NexthopId;
use fwdlab_port::Frame;
use fwdlab_wire::{MacAddr, checksum, ethernet, ipv4, ipv6};

use crate::adjacency::{Adjacency, Kind, pack_mac, unpack_mac};
use crate::checks::{self, L3};
use crate::drops::DropReason;
use crate::fate::{DROPPED, Decision, Hop, Refusal, Ruling};
use crate::flow;
use crate::plane::Plane;
use crate::tagging::tag;
use crate::waiting::Wait;

impl Plane {
    /// Handles one frame that came in on port `input`; returns its fate. When the frame is
    /// refused and its sender is to be told, the frame becomes the message.
    pub(crate) fn general(&mut self, input: u8, frame: &mut Frame) -> u8 {
        let (input, outcome) = match self.untag(input, frame) {
            Ok(input) => (input, self.route(input, frame)),
            Err(reason) => (input, Err(reason.into())),
        };
        outcome.unwrap_or_else(|refusal| self.refuse(input, frame, refusal))
    }

    /// Counts a refusal and answers it, if its sender is to be told; returns the frame's fate.
    pub(crate) fn refuse(&mut self, input: u8, frame: &mut Frame, refusal: Refusal) -> u8 {
        self.counters.count_drop(refusal.reason);
        self.answer_refusal(input, frame, refusal).unwrap_or(DROPPED)
    }

    fn route(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        let header = ethernet::Frame::parse(&frame[..]).map_err(|_| DropReason::FrameTooShort)?;
        let destination = header.destination();
        if !destination.is_multicast() && pack_mac(destination) != self.facts(input).packed_mac() {
            return Err(DropReason::WrongMac.into());
        }
        match header.ether_type() {
            ethernet::TYPE_IPV4 => self.route_inet(input, frame),
            ethernet::TYPE_IPV6 => self.route_inet6(input, frame),
            ethernet::TYPE_ARP => self.accept_arp(input, frame),
            ethernet::TYPE_VLAN | ethernet::TYPE_SERVICE_VLAN => {
                Err(DropReason::UnknownVlan.into())
            }
            _ => Err(DropReason::UnknownEtherType.into()),
        }
    }

    fn route_inet(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        let in_group_frame = frame[0] & 1 != 0;
        let packet = checks::inet(&frame[L3..])?;
        let (destination, total) = (packet.destination(), usize::from(packet.total_length()));
        checks::inet_addresses(packet.source(), destination)?;
        // RFC 1812, section 5.3.7: nobody else speaks from our addresses.
        if self.is_ours_inet(packet.source()) {
            return Err(DropReason::MartianSource.into());
        }
        if in_group_frame {
            return Err(DropReason::UnicastInGroupFrame.into());
        }
        let decision = self.decide_inet(input, destination, flow::inet(&frame[L3..]))?;
        if let Decision::Local = decision {
            return self.accept_inet(input, frame);
        }
        if packet.ttl() <= 1 {
            return Err(DropReason::TtlExpired.into());
        }
        let longest = if packet.is_dont_fragment() { total } else { 0 };
        self.check_output(&decision, longest)?;
        if let Decision::Send(hop, via) = decision {
            self.redirect_inet(input, frame, hop, via);
        }
        decrement_ttl(frame)?;
        match decision {
            Decision::Send(hop, _) => self.leave_inet(frame, hop),
            Decision::Resolve { port, gateway } => {
                self.hold_inet(Wait { input, port, gateway, destination, is_own: false })
            }
            Decision::Local => Err(DropReason::NotAccepted.into()),
        }
    }

    fn route_inet6(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        let in_group_frame = frame[0] & 1 != 0;
        let packet = checks::inet6(&frame[L3..])?;
        let destination = packet.destination();
        let total = ipv6::HEADER_LEN + usize::from(packet.payload_length());
        if self.is_ours_inet6(packet.source()) || packet.source() == self.config(input).link_local()
        {
            return Err(DropReason::MartianSource.into());
        }
        if self.is_local_link(input, destination) {
            return self.accept_inet6(input, frame);
        }
        let checked = checks::inet6_addresses(packet.source(), destination);
        if checked == Err(DropReason::LinkLocal) && !ipv6::is_link_local(destination) {
            // A neighbour may speak to any of our addresses from its link-local one.
            let decision = self.decide_inet6(input, destination, 0)?;
            if matches!(decision, Decision::Local) && !in_group_frame {
                return self.accept_inet6(input, frame);
            }
        }
        checked?;
        if in_group_frame {
            return Err(DropReason::UnicastInGroupFrame.into());
        }
        let decision = self.decide_inet6(input, destination, flow::inet6(&frame[L3..]))?;
        if let Decision::Local = decision {
            return self.accept_inet6(input, frame);
        }
        if packet.hop_limit() <= 1 {
            return Err(DropReason::TtlExpired.into());
        }
        self.check_output(&decision, total)?;
        if let Decision::Send(hop, via) = decision {
            self.redirect_inet6(input, frame, hop, via);
        }
        frame[L3 + ipv6::HOP_LIMIT] -= 1;
        match decision {
            Decision::Send(hop, _) => Ok(self.address(frame, hop)),
            Decision::Resolve { port, gateway } => {
                self.hold_inet6(Wait { input, port, gateway, destination, is_own: false })
            }
            Decision::Local => Err(DropReason::NotAccepted.into()),
        }
    }

    /// What the FIB of port `input` says about an IPv4 destination.
    pub(crate) fn decide_inet(
        &mut self,
        input: u8,
        destination: u32,
        flow: u32,
    ) -> Result<Decision, DropReason> {
        let view = self.inet_view(input);
        let (id, adjacency) = view.nexthop(destination, flow);
        follow(id, adjacency, |port| view.known_mac(port, destination))
    }

    /// What the FIB of port `input` says about an IPv6 destination.
    pub(crate) fn decide_inet6(
        &mut self,
        input: u8,
        destination: u128,
        flow: u32,
    ) -> Result<Decision, DropReason> {
        let view = self.inet6_view(input);
        let (id, adjacency) = view.nexthop(destination, flow);
        let decision = follow(id, adjacency, |port| view.known_mac(port, destination))?;
        // The first address of a connected network is every router's on it (RFC 4291, section
        // 2.6.1). Not a route of its own: that would cost every lookup in a small table.
        let is_connected = matches!(
            decision,
            Decision::Send(_, NexthopId::NONE) | Decision::Resolve { gateway: NexthopId::NONE, .. }
        );
        match is_connected && self.unicast_for(destination).is_some() {
            true => Ok(Decision::Local),
            false => Ok(decision),
        }
    }

    pub(crate) fn check_output(
        &self,
        decision: &Decision,
        packet_len: usize,
    ) -> Result<(), Refusal> {
        let (Decision::Send(Hop { port, .. }, _) | Decision::Resolve { port, .. }) = *decision
        else {
            return Ok(());
        };
        let output = self.facts(port);
        if !output.is_present() {
            return Err(DropReason::NoSuchPort.into());
        }
        let mtu = output.mtu() as usize;
        if packet_len > mtu { Err(Refusal { mtu, ..DropReason::TooBig.into() }) } else { Ok(()) }
    }

    /// Writes both MAC addresses, and the tag if the output port is a VLAN; returns the frame's
    /// fate, which is the output port unless there is no room for the tag.
    pub(crate) fn address(&self, frame: &mut Frame, hop: Hop) -> u8 {
        let output = self.facts(hop.port);
        frame[..6].copy_from_slice(&hop.mac.0);
        frame[6..12].copy_from_slice(&unpack_mac(output.packed_mac()).0);
        if output.vlan().is_some_and(|identifier| !tag(frame, identifier)) {
            self.counters.count_drop(DropReason::NoRoom);
            return DROPPED;
        }
        hop.port
    }
}

/// RFC 1812, section 5.3.1, with RFC 1624 for the checksum.
fn decrement_ttl(frame: &mut Frame) -> Result<(), DropReason> {
    let mut packet =
        ipv4::Packet::parse(&mut frame[L3..]).map_err(|_| DropReason::BadTotalLength)?;
    let old = u16::from_be_bytes([packet.ttl(), packet.protocol()]);
    packet.set_ttl(packet.ttl() - 1);
    let new = u16::from_be_bytes([packet.ttl(), packet.protocol()]);
    packet.set_checksum(checksum::update_u16(packet.checksum(), old, new));
    Ok(())
}

/// What an adjacency says to do; `known` finds the MAC address of the destination itself on a
/// connected port.
fn follow(
    id: NexthopId,
    adjacency: Adjacency,
    known: impl FnOnce(u8) -> Option<MacAddr>,
) -> Result<Decision, DropReason> {
    if id.is_none() {
        return Err(DropReason::NoRoute);
    }
    let port = adjacency.port();
    match adjacency.kind() {
        Kind::Forward => {
            Ok(Decision::Send(Hop { port, mac: unpack_mac(adjacency.packed_mac()) }, id))
        }
        Kind::Connected => Ok(match known(port) {
            Some(mac) => Decision::Send(Hop { port, mac }, NexthopId::NONE),
            None => Decision::Resolve { port, gateway: NexthopId::NONE },
        }),
        Kind::Unresolved => Ok(Decision::Resolve { port, gateway: id }),
        Kind::Local => Ok(Decision::Local),
        Kind::Blackhole => Err(DropReason::Blackhole),
        Kind::Reject => Err(DropReason::Reject),
        Kind::Prohibit => Err(DropReason::Prohibited),
        Kind::Broadcast => Err(DropReason::Broadcast),
        // A group's member was chosen before; a group within a group there is not.
        Kind::Group | Kind::None => Err(DropReason::NoRoute),
    }
}
