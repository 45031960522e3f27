//! Finding neighbours' MAC addresses, and saying ours: ARP (RFC 826) and neighbour discovery
//! (RFC 4861).

use fwdlab_port::Frame;
use fwdlab_wire::{MacAddr, arp, ethernet, ipv6, ndisc};

use crate::adjacency::unpack_mac;
use crate::checks::L3;
use crate::drops::DropReason;
use crate::fate::{Hop, Ruling};
use crate::hold::{Message, write_message};
use crate::neighbours::{Advertised, Heard};
use crate::plane::Plane;
use crate::waiting::Target;

impl Plane {
    /// Ages the neighbours and sends what queries are due.
    pub(crate) fn tick_neighbours(&mut self) {
        let (mut queries, mut queries6) = (Vec::new(), Vec::new());
        for view in &self.inet {
            if let Some(mut neighbours) = view.neighbours.try_lock() {
                neighbours.tick(self.now_ns, &mut queries);
            }
        }
        for view in &self.inet6 {
            if let Some(mut neighbours) = view.neighbours.try_lock() {
                neighbours.tick(self.now_ns, &mut queries6);
            }
        }
        queries.into_iter().for_each(|query| self.query_inet(query));
        queries6.into_iter().for_each(|query| self.query_inet6(query));
    }

    /// RFC 826: updates a sender that is known, learns one that speaks to us, and answers what asks
    /// for us; probes, too (RFC 5227, section 2.1.1), whose sender has no address yet.
    pub(crate) fn accept_arp(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        self.admit()?;
        self.hear_arp(input, frame)
    }

    /// What a neighbour says in a frame that was admitted before.
    pub(crate) fn hear(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        match ethernet::Frame::parse(&frame[..]).map(|header| header.ether_type()) {
            Ok(ethernet::TYPE_ARP) => self.hear_arp(input, frame),
            _ => self.accept_neighbour_message(input, frame),
        }
    }

    fn hear_arp(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        let packet = arp::Packet::parse(&frame[L3..]).map_err(|_| DropReason::NotAccepted)?;
        let (mac, address) = (packet.sender_mac(), packet.sender_address());
        let (operation, ours) = (packet.operation(), packet.target_address());
        let has = |address| self.config(input).inet.iter().any(|at| at.address == address);
        let (is_ours, is_probe) = (has(ours), address == 0);
        // Who speaks from our own address is in conflict with us, and not learned.
        if mac.is_multicast() || mac == MacAddr::ZERO || has(address) || (is_probe && !is_ours) {
            return Err(DropReason::NotAccepted.into());
        }
        if !is_probe {
            let heard = match operation {
                arp::REPLY if is_ours => Heard::Answer(mac),
                _ if is_ours => Heard::Asked(mac),
                // Gratuitous, or between others: for those who know the sender already.
                _ => Heard::Moved(mac),
            };
            let now_ns = self.now_ns;
            let said = self.inet_view(input).hear((input, address), heard, now_ns);
            let Some(is_known) = said else {
                return self.postpone(input, false, Target::Unread);
            };
            if !is_ours && !is_known {
                return Err(DropReason::NotAccepted.into());
            }
        }
        if operation != arp::REQUEST || !is_ours || self.has_host {
            return Ok(self.consume());
        }
        let own = unpack_mac(self.facts(input).packed_mac());
        let mut reply =
            arp::Packet::prepare(&mut frame[L3..]).map_err(|_| DropReason::NotAccepted)?;
        reply.set_operation(arp::REPLY);
        reply.set_sender(own, ours);
        reply.set_target(mac, address);
        Ok(self.reply(frame, Hop { port: input, mac }))
    }

    /// RFC 4861, sections 7.2.3 to 7.2.5: learns from solicitations and advertisements, and
    /// answers solicitations for our addresses.
    pub(crate) fn accept_neighbour_message(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        let packet = ipv6::Packet::parse(&frame[L3..]).map_err(|_| DropReason::NotAccepted)?;
        let source = packet.source();
        let message =
            ndisc::Message::parse(packet.payload()).map_err(|_| DropReason::NotAccepted)?;
        if packet.hop_limit() != ndisc::HOP_LIMIT {
            return Err(DropReason::NotAccepted.into());
        }
        let target = message.target();
        let is_query = message.kind() == ndisc::SOLICITATION;
        let option = if is_query { ndisc::OPTION_SOURCE_MAC } else { ndisc::OPTION_TARGET_MAC };
        let mac = message.link_layer_address(option);
        let is_anycast = self.is_anycast(input, target);
        if is_query && !is_anycast && !self.is_own_inet6(input, target) {
            return Err(DropReason::NotAccepted.into());
        }
        // RFC 4861, section 7.1.1: who has no address yet says no MAC address.
        if is_query && ipv6::is_unspecified(source) && mac.is_some() {
            return Err(DropReason::NotAccepted.into());
        }
        let option_mac = mac.filter(|mac| !mac.is_multicast() && *mac != MacAddr::ZERO);
        let advertised = Advertised {
            mac: option_mac,
            is_solicited: message.flags() & ndisc::FLAG_SOLICITED != 0,
            is_override: message.flags() & ndisc::FLAG_OVERRIDE != 0,
        };
        let heard = match (is_query, option_mac) {
            (true, mac) => mac.map(Heard::Asked),
            // RFC 4861, section 7.1.2: no answer to a question goes to a group.
            (false, _) if advertised.is_solicited && ipv6::is_multicast(packet.destination()) => {
                return Err(DropReason::NotAccepted.into());
            }
            (false, _) if self.is_own_inet6(input, target) => None,
            (false, _) => Some(Heard::Advertised(advertised)),
        };
        let speaker = if is_query { source } else { target };
        if let Some(heard) = heard.filter(|_| !ipv6::is_unspecified(speaker)) {
            let now_ns = self.now_ns;
            if self.inet6_view(input).hear((input, speaker), heard, now_ns).is_none() {
                return self.postpone(input, false, Target::Unread);
            }
        }
        if !is_query || self.has_host {
            return Ok(self.consume());
        }
        // To a solicitation from `::` (duplicate address detection) everybody is told.
        let is_probe = ipv6::is_unspecified(source);
        let back = if is_probe { ipv6::ALL_NODES } else { source };
        let mac = match is_probe {
            true => MacAddr::of_ipv6_multicast(back),
            false => mac.unwrap_or(
                ethernet::Frame::parse(&frame[..]).map_or(MacAddr::ZERO, |f| f.source()),
            ),
        };
        let flags =
            if is_probe { ndisc::FLAG_ROUTER } else { ndisc::FLAG_ROUTER | ndisc::FLAG_SOLICITED };
        let own = unpack_mac(self.facts(input).packed_mac());
        let source = self.unicast_for(target).unwrap_or(target);
        let advertisement =
            Message { kind: ndisc::ADVERTISEMENT, source, destination: back, target };
        // RFC 4861, section 7.2.7: of several routers with an anycast address none overrides.
        let flags = if is_anycast { flags } else { flags | ndisc::FLAG_OVERRIDE };
        write_message(frame, advertisement, own, flags).ok_or(DropReason::NotAccepted)?;
        Ok(self.reply(frame, Hop { port: input, mac }))
    }
}
