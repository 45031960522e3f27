//! The general path: one frame, every rule, in the order of the standards, with a reason for
//! each refusal. The fast path hands over whatever is not plainly forwarded; speed matters less
//! here than being right by inspection.

use fwdlab_port::Frame;
use fwdlab_wire::{checksum, ethernet, ipv4, ipv6};

use crate::adjacency::pack_mac;
use crate::checks::{self, L3};
use crate::drops::DropReason;
use crate::fate::{Decision, Ruling};
use crate::flow;
use crate::plane::Plane;
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
        let (source, destination) = (packet.source(), packet.destination());
        let (ttl, is_dont_fragment) = (packet.ttl(), packet.is_dont_fragment());
        let total = usize::from(packet.total_length());
        checks::trim(frame, total);
        checks::inet_addresses(source, destination)?;
        // RFC 1812, section 5.3.7: nobody else speaks from our addresses.
        if self.is_ours_inet(source) {
            return Err(DropReason::MartianSource.into());
        }
        if in_group_frame {
            return Err(DropReason::UnicastInGroupFrame.into());
        }
        let decision = self.decide_inet(input, destination, flow::inet(&frame[L3..]))?;
        if let Decision::Local = decision {
            return self.accept_inet(input, frame);
        }
        if ttl <= 1 {
            return Err(DropReason::TtlExpired.into());
        }
        let longest = if is_dont_fragment { total } else { 0 };
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
        let (source, destination) = (packet.source(), packet.destination());
        let (hop_limit, payload) = (packet.hop_limit(), packet.payload_length());
        let total = ipv6::HEADER_LEN + usize::from(payload);
        checks::trim(frame, total);
        if self.is_ours_inet6(source) || source == self.config(input).link_local() {
            return Err(DropReason::MartianSource.into());
        }
        if self.is_local_link(input, destination) {
            return self.accept_inet6(input, frame);
        }
        let checked = checks::inet6_addresses(source, destination);
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
        if hop_limit <= 1 {
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
