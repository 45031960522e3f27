//! ICMP errors: the refused frame becomes the message to its sender (RFC 1812, section 4.3.2;
//! RFC 4443, sections 2.4 and 3).

use fwdlab_port::Frame;
use fwdlab_wire::{ethernet, icmpv4, icmpv6, ipv4, ipv6};

use crate::answer::OWN_TTL;
use crate::checks::L3;
use crate::drops::DropReason;
use crate::extensions::{CODE_OPTION, Upper, is_rest_of_other, upper_layer};
use crate::fate::{DROPPED, Problem, Refusal};
use crate::plane::Plane;
use crate::redirect::REDIRECT6;

/// RFC 1812, section 4.3.2.3: an ICMP error is at most 576 bytes with its IP header.
const MAX_ERROR_LEN: usize = 576;
/// RFC 4443, section 2.4 (c): as much as fits the least MTU.
const MAX_ERROR6_LEN: usize = ipv6::MIN_MTU;

/// What goes in front of the quoted packet.
const FRONT: usize = ipv4::HEADER_LEN + icmpv4::HEADER_LEN;
const FRONT6: usize = ipv6::HEADER_LEN + icmpv6::HEADER_LEN;

/// Type, code and the type's own 32 bits of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Message {
    kind: u8,
    code: u8,
    rest: u32,
}

impl Message {
    /// Whether this tells of an IPv6 option that is not known.
    fn is_of_option(self) -> bool {
        (self.kind, self.code) == (icmpv6::PARAMETER_PROBLEM, CODE_OPTION)
    }
}

/// Which IPv4 error a refusal calls for.
fn message_inet(refusal: Refusal) -> Option<Message> {
    let (kind, code, rest) = match refusal.reason {
        DropReason::TtlExpired => (icmpv4::TIME_EXCEEDED, 0, 0),
        DropReason::ReassemblyTimeout => (icmpv4::TIME_EXCEEDED, 1, 0),
        DropReason::NoRoute => (icmpv4::UNREACHABLE, icmpv4::CODE_NET, 0),
        DropReason::Reject | DropReason::Unresolved => (icmpv4::UNREACHABLE, icmpv4::CODE_HOST, 0),
        DropReason::Prohibited => (icmpv4::UNREACHABLE, icmpv4::CODE_PROHIBITED, 0),
        DropReason::TooBig => {
            (icmpv4::UNREACHABLE, icmpv4::CODE_FRAGMENTATION_NEEDED, refusal.mtu as u32)
        }
        DropReason::NoSuchProtocol => (icmpv4::UNREACHABLE, icmpv4::CODE_PROTOCOL, 0),
        DropReason::BadOptions if refusal.problem.code == icmpv4::CODE_SOURCE_ROUTE => {
            (icmpv4::UNREACHABLE, icmpv4::CODE_SOURCE_ROUTE, 0)
        }
        DropReason::BadOptions => (icmpv4::PARAMETER_PROBLEM, 0, refusal.problem.pointer << 24),
        DropReason::NoSuchService => (icmpv4::UNREACHABLE, icmpv4::CODE_PORT, 0),
        _ => return None,
    };
    Some(Message { kind, code, rest })
}

/// Which IPv6 error a refusal calls for.
fn message_inet6(refusal: Refusal) -> Option<Message> {
    let (kind, code, rest) = match refusal.reason {
        DropReason::TtlExpired => (icmpv6::TIME_EXCEEDED, 0, 0),
        DropReason::ReassemblyTimeout => (icmpv6::TIME_EXCEEDED, 1, 0),
        // Of fragments that overlap nobody is told (RFC 5722, section 4).
        DropReason::BadFragment if refusal.problem == Problem::default() => return None,
        DropReason::NoRoute => (icmpv6::UNREACHABLE, icmpv6::CODE_NO_ROUTE, 0),
        // "If the reason for the failure is that the route to the destination is a reject route"
        DropReason::Reject => (icmpv6::UNREACHABLE, icmpv6::CODE_REJECT_ROUTE, 0),
        DropReason::Prohibited => (icmpv6::UNREACHABLE, icmpv6::CODE_PROHIBITED, 0),
        DropReason::LinkLocal => (icmpv6::UNREACHABLE, icmpv6::CODE_BEYOND_SCOPE, 0),
        DropReason::Unresolved => (icmpv6::UNREACHABLE, icmpv6::CODE_ADDRESS, 0),
        DropReason::TooBig => (icmpv6::PACKET_TOO_BIG, 0, refusal.mtu as u32),
        DropReason::NoSuchProtocol | DropReason::BadOptions | DropReason::BadFragment => {
            (icmpv6::PARAMETER_PROBLEM, refusal.problem.code, refusal.problem.pointer)
        }
        DropReason::NoSuchService => (icmpv6::UNREACHABLE, icmpv6::CODE_PORT, 0),
        _ => return None,
    };
    Some(Message { kind, code, rest })
}

impl Plane {
    /// Counts a refusal and answers it, if its sender is to be told; returns the frame's fate.
    pub(crate) fn refuse(&mut self, input: u8, frame: &mut Frame, refusal: Refusal) -> u8 {
        self.counters.count_drop(refusal.reason);
        self.answer_refusal(input, frame, refusal).unwrap_or(DROPPED)
    }

    /// Turns a refused frame into the ICMP error that its sender should have, and returns its
    /// fate; `None` when no error is called for, allowed, or possible.
    pub(crate) fn answer_refusal(
        &mut self,
        input: u8,
        frame: &mut Frame,
        refusal: Refusal,
    ) -> Option<u8> {
        let header = ethernet::Frame::parse(&frame[..]).ok()?;
        let is_group = header.destination().is_multicast();
        match header.ether_type() {
            // Never to what came to a group (RFC 1812, section 4.3.2.7).
            ethernet::TYPE_IPV4 if !is_group => {
                self.answer_inet(input, frame, message_inet(refusal)?)
            }
            ethernet::TYPE_IPV6 => {
                let message = message_inet6(refusal)?;
                // RFC 4443, section 2.4 (e.3), has one such exception here.
                if is_group && !message.is_of_option() {
                    return None;
                }
                self.answer_inet6(input, frame, message)
            }
            _ => None,
        }
    }

    fn answer_inet(&mut self, input: u8, frame: &mut Frame, message: Message) -> Option<u8> {
        let packet = ipv4::Packet::parse(&frame[L3..]).ok()?;
        let (source, total) = (packet.source(), usize::from(packet.total_length()));
        let is_error = packet.protocol() == icmpv4::PROTOCOL
            && packet.payload().first().is_none_or(|&kind| icmpv4::is_error(kind));
        let may_not_fragment =
            packet.is_dont_fragment() || message.code != icmpv4::CODE_FRAGMENTATION_NEEDED;
        if is_error || packet.fragment_offset() > 0 || !may_not_fragment {
            return None;
        }
        let destination = packet.destination();
        let decision = self.decide_inet(input, source, 0).ok()?;
        let port = decision.port()?;
        // RFC 1812, section 4.3.2.4: from an address of the port that it leaves through; but who
        // spoke to one of our addresses hears that one.
        let of_port = || self.config(port).inet.first().or(self.config(input).inet.first());
        let own = match self.is_ours_inet(destination) {
            true => destination,
            false => of_port()?.address,
        };
        if !self.icmp_limit.take(self.now_ns) {
            return None;
        }
        let quoted = total.min(MAX_ERROR_LEN - FRONT);
        make_room(frame, FRONT, quoted)?;
        let mut packet = ipv4::Packet::prepare(&mut frame[L3..], (FRONT + quoted) as u16).ok()?;
        // RFC 1812, section 4.3.2.5: precedence "internetwork control".
        packet.set_traffic_class(0xc0);
        packet.set_ttl(OWN_TTL);
        packet.set_protocol(icmpv4::PROTOCOL);
        packet.set_source(own);
        packet.set_destination(source);
        packet.fill_checksum();
        let mut error = icmpv4::Packet::parse(packet.payload_mut()).ok()?;
        error.set_kind(message.kind, message.code);
        error.set_rest(message.rest);
        error.fill_checksum();
        Some(self.leave_own_inet(input, frame, decision))
    }

    fn answer_inet6(&mut self, input: u8, frame: &mut Frame, message: Message) -> Option<u8> {
        let packet = ipv6::Packet::parse(&frame[L3..]).ok()?;
        let source = packet.source();
        let total = ipv6::HEADER_LEN + usize::from(packet.payload_length());
        let destination = packet.destination();
        if !may_answer6(&packet)
            || ipv6::is_multicast(destination) && !message.is_of_option()
            || ipv6::is_martian_source(source)
        {
            return None;
        }
        let decision = self.back_inet6(input, frame, source).ok()?;
        let port = decision.port()?;
        let own = self.own_inet6_toward(port, source);
        let own = match self.config(port).inet6.first() {
            // RFC 4443, section 2.2: who spoke to one of our addresses hears that one.
            _ if self.is_ours_inet6(destination) || self.is_own_inet6(input, destination) => {
                destination
            }
            Some(at) if ipv6::is_link_local(own) && !ipv6::is_link_local(source) => at.address,
            _ => own,
        };
        if !self.icmp6_limit.take(self.now_ns) {
            return None;
        }
        let quoted = total.min(MAX_ERROR6_LEN - FRONT6);
        make_room(frame, FRONT6, quoted)?;
        let mut packet =
            ipv6::Packet::prepare(&mut frame[L3..], (icmpv6::HEADER_LEN + quoted) as u16).ok()?;
        packet.set_next_header(icmpv6::NEXT_HEADER);
        packet.set_hop_limit(OWN_TTL);
        packet.set_source(own);
        packet.set_destination(source);
        let pseudo = packet.pseudo_sum();
        let mut error = icmpv6::Packet::parse(packet.payload_mut()).ok()?;
        error.set_kind(message.kind, message.code);
        error.set_rest(message.rest);
        error.fill_checksum(pseudo);
        Some(self.leave_own_inet6(input, frame, decision))
    }
}

/// RFC 4443, section 2.4 (e): there is no error about an error or a redirect, wherever in the packet
/// it begins, and none where that cannot be seen.
fn may_answer6(packet: &ipv6::Packet<&[u8]>) -> bool {
    match upper_layer(packet) {
        Some(Upper { protocol: icmpv6::NEXT_HEADER, at }) => {
            let kind = packet.payload().get(at);
            kind.is_some_and(|&kind| !icmpv6::is_error(kind) && kind != REDIRECT6)
        }
        Some(_) => true,
        None => is_rest_of_other(packet),
    }
}

/// Puts `front` free bytes before the packet and cuts it to `quoted`. Of the Ethernet header
/// only the type is kept. `None`, and nothing changed, when the slot is too small.
fn make_room(frame: &mut Frame, front: usize, quoted: usize) -> Option<()> {
    let ether_type = [frame[12], frame[13]];
    let len = L3 + front + quoted;
    if frame.headroom() >= front && frame.capacity() + front >= len && frame.push_front(front) {
        frame.set_len(len);
    } else if frame.capacity() >= len {
        frame.set_len(len);
        frame.copy_within(L3..L3 + quoted, L3 + front);
    } else {
        return None;
    }
    frame[12..14].copy_from_slice(&ether_type);
    Some(())
}
