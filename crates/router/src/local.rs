//! Packets for the router itself: echo, neighbour discovery, and a refusal for all else.

use fwdlab_port::Frame;
use fwdlab_wire::{icmpv4, icmpv6, ipv4, ipv6, ndisc, udp};

use crate::answer::OWN_TTL;
use crate::checks::{self, L3};
use crate::drops::DropReason;
use crate::extensions::{self, Upper, Upshot};
use crate::fate::{CONSUMED, Decision, Problem, Refusal, Ruling};
use crate::plane::Plane;
use crate::reassembly::{Key, Whole};

impl Plane {
    /// RFC 1812, section 5.2.3: an IPv4 packet for one of our addresses.
    pub(crate) fn accept_inet(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        if self.has_host {
            return Ok(self.consume());
        }
        self.admit()?;
        let packet = ipv4::Packet::parse(&frame[L3..]).map_err(|_| DropReason::NotAccepted)?;
        if packet.has_more_fragments() || packet.fragment_offset() > 0 {
            return self.gather_inet(input, frame);
        }
        self.deliver_inet(input, frame)
    }

    /// Hands a whole packet on by its protocol.
    pub(crate) fn deliver_inet(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        let packet = ipv4::Packet::parse(&frame[L3..]).map_err(|_| DropReason::NotAccepted)?;
        match packet.protocol() {
            icmpv4::PROTOCOL => self.accept_icmpv4(input, frame),
            udp::PROTOCOL => Err(DropReason::NoSuchService.into()),
            _ => Err(DropReason::NoSuchProtocol.into()),
        }
    }

    /// RFC 1812, section 4.3.3.6: an echo is answered from the address that it was sent to.
    fn accept_icmpv4(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        let packet = ipv4::Packet::parse(&frame[L3..]).map_err(|_| DropReason::NotAccepted)?;
        let (source, destination) = (packet.source(), packet.destination());
        let message =
            icmpv4::Packet::parse(packet.payload()).map_err(|_| DropReason::NotAccepted)?;
        if !message.has_valid_checksum() {
            return Err(DropReason::BadChecksum.into());
        }
        if message.kind() != icmpv4::ECHO || message.code() != 0 {
            return Ok(self.consume());
        }
        let decision = self.decide_inet(input, source, 0)?;
        let mut packet =
            ipv4::Packet::parse(&mut frame[L3..]).map_err(|_| DropReason::NotAccepted)?;
        packet.set_source(destination);
        packet.set_destination(source);
        packet.set_ttl(OWN_TTL);
        // It may be fragmented where the request could not be, on another way back.
        packet.set_fragment(0);
        packet.fill_checksum();
        let mut message =
            icmpv4::Packet::parse(packet.payload_mut()).map_err(|_| DropReason::NotAccepted)?;
        message.set_kind(icmpv4::ECHO_REPLY, 0);
        message.fill_checksum();
        self.counters.consumed.add(1);
        Ok(self.leave_own_inet(input, frame, decision))
    }

    /// RFC 8200, section 3: an IPv6 packet for one of our addresses or groups.
    pub(crate) fn accept_inet6(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        let packet = checks::inet6(&frame[L3..])?;
        // Of what a host answers, the router needs to know its neighbours.
        if self.has_host && packet.next_header() != icmpv6::NEXT_HEADER {
            return Ok(self.consume());
        }
        self.admit()?;
        match extensions::read(&packet) {
            Upshot::Fragment(at) => self.gather_inet6(input, frame, at),
            _ => self.deliver_inet6(input, frame),
        }
    }

    /// Hands a whole packet on by what its extension headers lead to.
    pub(crate) fn deliver_inet6(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        let packet = checks::inet6(&frame[L3..])?;
        let (upper, named_at) = match extensions::read(&packet) {
            Upshot::Pass(upper, named_at) => (upper, named_at),
            Upshot::Fragment(_) | Upshot::Drop => return Err(DropReason::NotAccepted.into()),
            Upshot::Problem(code, pointer) => {
                let problem = Problem { code, pointer: pointer as u32 };
                return Err(Refusal { problem, ..DropReason::BadOptions.into() });
            }
        };
        match upper.protocol {
            icmpv6::NEXT_HEADER => {
                strip(frame, upper)?;
                self.accept_icmpv6(input, frame)
            }
            udp::PROTOCOL => Err(DropReason::NoSuchService.into()),
            // RFC 8200, section 4.7.
            extensions::NOTHING => Ok(self.consume()),
            _ => {
                let (code, pointer) = (extensions::CODE_NEXT_HEADER, named_at as u32);
                let problem = Problem { code, pointer };
                Err(Refusal { problem, ..DropReason::NoSuchProtocol.into() })
            }
        }
    }

    fn accept_icmpv6(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        let packet = checks::inet6(&frame[L3..])?;
        let pseudo = packet.pseudo_sum();
        let message =
            icmpv6::Packet::parse(packet.payload()).map_err(|_| DropReason::NotAccepted)?;
        if !message.has_valid_checksum(pseudo) {
            return Err(DropReason::BadChecksum.into());
        }
        match message.kind() {
            ndisc::SOLICITATION | ndisc::ADVERTISEMENT => {
                self.accept_neighbour_message(input, frame)
            }
            icmpv6::ECHO_REQUEST if message.code() == 0 && !self.has_host => {
                self.answer_echo6(input, frame)
            }
            _ => Ok(self.consume()),
        }
    }

    /// RFC 4443, section 4.2. The reply has no extension headers.
    fn answer_echo6(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        let packet = checks::inet6(&frame[L3..])?;
        let (source, destination) = (packet.source(), packet.destination());
        if ipv6::is_martian_source(source) {
            return Err(DropReason::MartianSource.into());
        }
        let decision = self.back_inet6(input, frame, source)?;
        if self.is_too_long(&decision, ipv6::HEADER_LEN + packet.payload().len()) {
            return Ok(self.postpone_long_echo6(input, frame));
        }
        let own = self.own_for(input, destination, source);
        let mut packet =
            ipv6::Packet::parse(&mut frame[L3..]).map_err(|_| DropReason::NotAccepted)?;
        packet.set_source(own);
        packet.set_destination(source);
        packet.set_hop_limit(OWN_TTL);
        let pseudo = packet.pseudo_sum();
        let mut message =
            icmpv6::Packet::parse(packet.payload_mut()).map_err(|_| DropReason::NotAccepted)?;
        message.set_kind(icmpv6::ECHO_REPLY, 0);
        message.fill_checksum(pseudo);
        self.counters.consumed.add(1);
        Ok(self.leave_own_inet6(input, frame, decision))
    }

    /// Which of our addresses answers `source` for what was sent to `destination`: neither a group nor an
    /// anycast address may be a source (RFC 4443, section 2.2).
    pub(crate) fn own_for(&self, input: u8, destination: u128, source: u128) -> u128 {
        match self.unicast_for(destination) {
            Some(own) => own,
            None if ipv6::is_multicast(destination) => self.own_inet6_toward(input, source),
            None => destination,
        }
    }

    /// Whether a packet of this length needs fragments on this way.
    fn is_too_long(&self, decision: &Decision, packet_len: usize) -> bool {
        decision.port().is_some_and(|port| {
            let output = self.facts(port);
            output.is_present() && packet_len > output.mtu() as usize
        })
    }

    /// Keeps an echo request, to be answered in fragments when the worker keeps house: by RFC 8200,
    /// section 5, it is the source that cuts.
    fn postpone_long_echo6(&mut self, input: u8, frame: &Frame) -> u8 {
        let Ok(packet) = checks::inet6(&frame[L3..]) else { return self.consume() };
        self.identification = self.identification.wrapping_add(1);
        let key = Key {
            source: packet.source(),
            destination: packet.destination(),
            identification: self.identification,
            protocol: 0,
            is_inet6: true,
        };
        self.whole.push(Whole {
            key,
            input,
            first: frame[..L3 + ipv6::HEADER_LEN].to_vec(),
            protocol: icmpv6::NEXT_HEADER,
            data: packet.payload().to_vec(),
            frames: 1,
            is_too_long: true,
        });
        CONSUMED
    }
}

/// Takes the extension headers out of a packet.
fn strip(frame: &mut Frame, upper: Upper) -> Result<(), DropReason> {
    if upper.at == 0 {
        return Ok(());
    }
    let packet = checks::inet6(&frame[L3..])?;
    let end = L3 + ipv6::HEADER_LEN + usize::from(packet.payload_length());
    let len = usize::from(packet.payload_length()).saturating_sub(upper.at);
    let start = L3 + ipv6::HEADER_LEN;
    frame.copy_within(start + upper.at..end, start);
    frame[L3 + ipv6::NEXT_HEADER] = upper.protocol;
    frame[L3 + 4..L3 + 6].copy_from_slice(&(len as u16).to_be_bytes());
    // Nothing of what was moved stays behind the packet.
    frame[start + len..].fill(0);
    checks::trim(frame, ipv6::HEADER_LEN + len);
    Ok(())
}
