//! Packets for the router itself: echo, neighbour discovery, and a refusal for all else.

use fwdlab_port::Frame;
use fwdlab_wire::{ethernet, icmpv4, icmpv6, ipv4, ipv6, ndisc, udp};

use crate::checks::{self, L3};
use crate::drops::DropReason;
use crate::fate::{CONSUMED, Decision, Hop, Outcome};
use crate::plane::Plane;

/// Hop limit of what the router sends itself (RFC 1700's recommended default TTL).
pub(crate) const OWN_TTL: u8 = 64;

impl Plane {
    /// Takes a place on the slow path, if the rate limit leaves one.
    pub(crate) fn admit(&mut self) -> Result<(), DropReason> {
        if self.slow_path.take(self.now_ns) { Ok(()) } else { Err(DropReason::SlowPathFull) }
    }

    /// The fate of a frame that was for the router and is done with.
    pub(crate) fn consume(&self) -> u8 {
        self.counters.consumed.add(1);
        CONSUMED
    }

    /// The fate of a frame that was for the router and has become the reply.
    pub(crate) fn reply(&self, frame: &mut Frame, hop: Hop) -> u8 {
        self.counters.consumed.add(1);
        self.counters.originated.add(1);
        self.address(frame, hop)
    }

    /// Whether an IPv6 destination stays on the link: link-local, or a group that we listen to.
    pub(crate) fn is_local_link(&self, input: u8, destination: u128) -> bool {
        let is_our_group = ipv6::is_multicast(destination)
            && (destination == ipv6::ALL_NODES
                || destination == ipv6::ALL_ROUTERS
                || self.own_inet6(input).any(|own| ipv6::to_solicited_node(own) == destination));
        is_our_group || destination == self.config(input).link_local()
    }

    /// Whether this is an address of port `input`.
    pub(crate) fn is_own_inet6(&self, input: u8, address: u128) -> bool {
        self.own_inet6(input).any(|own| own == address)
    }

    fn own_inet6(&self, port: u8) -> impl Iterator<Item = u128> + '_ {
        let config = self.config(port);
        config.inet6.iter().map(|at| at.address).chain([config.link_local()])
    }

    /// Our address on `port` to speak to `target` from: of the same network, or link-local.
    pub(crate) fn own_inet6_toward(&self, port: u8, target: u128) -> u128 {
        let config = self.config(port);
        let same = config.inet6.iter().find(|at| at.network.contains(target));
        same.map_or(config.link_local(), |at| at.address)
    }

    /// RFC 1812, section 5.2.3: an IPv4 packet for one of our addresses.
    pub(crate) fn accept_inet(&mut self, input: u8, frame: &mut Frame) -> Outcome {
        self.admit()?;
        let packet = ipv4::Packet::parse(&frame[L3..]).map_err(|_| DropReason::NotAccepted)?;
        if packet.has_more_fragments() || packet.fragment_offset() > 0 {
            return Err(DropReason::NotAccepted.into());
        }
        match packet.protocol() {
            icmpv4::PROTOCOL => self.accept_icmpv4(input, frame),
            udp::PROTOCOL => Err(DropReason::NoSuchService.into()),
            _ => Err(DropReason::NoSuchProtocol.into()),
        }
    }

    /// RFC 1812, section 4.3.3.6: an echo is answered from the address that it was sent to.
    fn accept_icmpv4(&mut self, input: u8, frame: &mut Frame) -> Outcome {
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
        let Decision::Send(hop, _) = self.decide_inet(input, source, 0)? else {
            return Err(DropReason::Unresolved.into());
        };
        let mut packet =
            ipv4::Packet::parse(&mut frame[L3..]).map_err(|_| DropReason::NotAccepted)?;
        packet.set_source(destination);
        packet.set_destination(source);
        packet.set_ttl(OWN_TTL);
        packet.fill_checksum();
        let mut message =
            icmpv4::Packet::parse(packet.payload_mut()).map_err(|_| DropReason::NotAccepted)?;
        message.set_kind(icmpv4::ECHO_REPLY, 0);
        message.fill_checksum();
        Ok(self.reply(frame, hop))
    }

    /// RFC 8200, section 3: an IPv6 packet for one of our addresses or groups.
    pub(crate) fn accept_inet6(&mut self, input: u8, frame: &mut Frame) -> Outcome {
        self.admit()?;
        let packet = checks::inet6(&frame[L3..])?;
        match packet.next_header() {
            icmpv6::NEXT_HEADER => self.accept_icmpv6(input, frame),
            udp::PROTOCOL => Err(DropReason::NoSuchService.into()),
            _ => Err(DropReason::NoSuchProtocol.into()),
        }
    }

    fn accept_icmpv6(&mut self, input: u8, frame: &mut Frame) -> Outcome {
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
            icmpv6::ECHO_REQUEST if message.code() == 0 => self.answer_echo6(input, frame),
            _ => Ok(self.consume()),
        }
    }

    /// RFC 4443, section 4.2.
    fn answer_echo6(&mut self, input: u8, frame: &mut Frame) -> Outcome {
        let packet = checks::inet6(&frame[L3..])?;
        let (source, destination) = (packet.source(), packet.destination());
        if ipv6::is_martian_source(source) {
            return Err(DropReason::MartianSource.into());
        }
        let hop = self.back_inet6(input, frame, source)?;
        let is_group = ipv6::is_multicast(destination);
        let own = if is_group { self.own_inet6_toward(input, source) } else { destination };
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
        Ok(self.reply(frame, hop))
    }

    /// The way back to the sender of an IPv6 packet. A link-local sender is on the link that its
    /// packet came from, at the MAC address that it came from.
    pub(crate) fn back_inet6(
        &mut self,
        input: u8,
        frame: &Frame,
        source: u128,
    ) -> Result<Hop, DropReason> {
        if ipv6::is_link_local(source) {
            let mac =
                ethernet::Frame::parse(&frame[..]).map_err(|_| DropReason::FrameTooShort)?.source();
            return Ok(Hop { port: input, mac });
        }
        match self.decide_inet6(input, source, 0)? {
            Decision::Send(hop, _) => Ok(hop),
            _ => Err(DropReason::Unresolved),
        }
    }
}
