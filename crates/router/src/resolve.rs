//! Finding neighbours' MAC addresses, and saying ours: ARP (RFC 826) and neighbour discovery
//! (RFC 4861).
//!
//! Packets wait for an answer in a bounded queue: [`HELD_PER_NEIGHBOUR`] for each neighbour,
//! [`HELD_IN_ALL`] for the worker (RFC 1122, section 2.3.2.2, asks for at least one; RFC 4861,
//! section 7.2.2 likewise).

use fwdlab_fib::{Family, NexthopId};
use fwdlab_port::Frame;
use fwdlab_wire::{MacAddr, arp, ethernet, icmpv6, ipv6, ndisc};

use crate::adjacency::unpack_mac;
use crate::checks::L3;
use crate::drops::DropReason;
use crate::fate::{HELD, Hop, Outcome};
use crate::neighbours::Query;
use crate::plane::Plane;
use crate::tables::View;
use crate::waiting::{Target, Waiting};

/// Packets that wait for one neighbour.
const HELD_PER_NEIGHBOUR: usize = 4;
/// Packets that wait in one worker.
const HELD_IN_ALL: usize = 128;
/// How long a packet waits: as long as the three queries take, ns.
const PATIENCE_NS: u64 = 3_000_000_000;
/// Shortest frame without FCS, bytes.
const MIN_FRAME_LEN: usize = ethernet::MIN_FRAME_LEN_WITH_FCS - ethernet::FCS_LEN;

impl Plane {
    /// Holds an IPv4 packet until the MAC address of `gateway`, or of `destination`, is known.
    pub(crate) fn hold_inet(
        &mut self,
        input: u8,
        port: u8,
        gateway: NexthopId,
        destination: u32,
    ) -> Outcome {
        let now_ns = self.now_ns;
        let asked = ask(self.inet_view(input), port, (gateway, destination), now_ns)?;
        if let Some(query) = asked.1 {
            self.query_inet(query);
        }
        self.hold(input, port, Target::Inet(asked.0))
    }

    /// Holds an IPv6 packet likewise.
    pub(crate) fn hold_inet6(
        &mut self,
        input: u8,
        port: u8,
        gateway: NexthopId,
        destination: u128,
    ) -> Outcome {
        let now_ns = self.now_ns;
        let asked = ask(self.inet6_view(input), port, (gateway, destination), now_ns)?;
        if let Some(query) = asked.1 {
            self.query_inet6(query);
        }
        self.hold(input, port, Target::Inet6(asked.0))
    }

    fn hold(&mut self, input: u8, port: u8, target: Target) -> Outcome {
        let same =
            self.waiting.iter().filter(|one| (one.port, one.target) == (port, target)).count();
        if self.pool.is_none() || same >= HELD_PER_NEIGHBOUR || self.waiting.len() >= HELD_IN_ALL {
            return Err(DropReason::Unresolved.into());
        }
        self.waiting.push_back(Waiting {
            input,
            port,
            target,
            until_ns: self.now_ns + PATIENCE_NS,
        });
        Ok(HELD)
    }

    /// The MAC address that a waiting packet needs, if it is known now.
    pub(crate) fn found(&mut self, waiting: &Waiting) -> Option<Hop> {
        let port = waiting.port;
        let mac = match waiting.target {
            Target::Inet(address) => self.inet_view(waiting.input).known_mac(port, address),
            Target::Inet6(address) => self.inet6_view(waiting.input).known_mac(port, address),
        };
        mac.map(|mac| Hop { port, mac })
    }

    /// Sends a packet that has waited; returns its fate.
    pub(crate) fn leave_held(&mut self, frame: &mut Frame, hop: Hop, waiting: &Waiting) -> u8 {
        match waiting.target {
            Target::Inet(_) => {
                let outcome = self.leave_inet(frame, hop);
                outcome.unwrap_or_else(|refusal| self.refuse(waiting.input, frame, refusal))
            }
            Target::Inet6(_) => self.address(frame, hop),
        }
    }

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

    /// RFC 826: learns the sender if it asks for us or answers us, and answers it.
    pub(crate) fn accept_arp(&mut self, input: u8, frame: &mut Frame) -> Outcome {
        self.admit()?;
        let packet = arp::Packet::parse(&frame[L3..]).map_err(|_| DropReason::NotAccepted)?;
        let (mac, address) = (packet.sender_mac(), packet.sender_address());
        let (operation, ours) = (packet.operation(), packet.target_address());
        let is_ours = self.config(input).inet.iter().any(|at| at.address == ours);
        if !is_ours || mac.is_multicast() || address == 0 {
            return Err(DropReason::NotAccepted.into());
        }
        let now_ns = self.now_ns;
        let mut neighbours =
            self.inet_view(input).neighbours.try_lock().ok_or(DropReason::SlowPathFull)?;
        neighbours.heard(input, address, mac, operation == arp::REPLY, now_ns);
        drop(neighbours);
        if operation != arp::REQUEST {
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
    pub(crate) fn accept_neighbour_message(&mut self, input: u8, frame: &mut Frame) -> Outcome {
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
        if is_query && !self.is_own_inet6(input, target) {
            return Err(DropReason::NotAccepted.into());
        }
        let speaker = if is_query { source } else { target };
        if let Some(mac) = mac.filter(|mac| !mac.is_multicast() && !ipv6::is_unspecified(speaker)) {
            let now_ns = self.now_ns;
            let view = self.inet6_view(input);
            let mut neighbours = view.neighbours.try_lock().ok_or(DropReason::SlowPathFull)?;
            neighbours.heard(input, speaker, mac, !is_query, now_ns);
        }
        if !is_query {
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
        let advertisement =
            Message { kind: ndisc::ADVERTISEMENT, source: target, destination: back, target };
        write_message(frame, advertisement, own, flags | ndisc::FLAG_OVERRIDE)
            .ok_or(DropReason::NotAccepted)?;
        Ok(self.reply(frame, Hop { port: input, mac }))
    }

    fn query_inet(&mut self, query: Query<u32>) {
        let Some(address) = self.config(query.port).inet.first().map(|at| at.address) else {
            return;
        };
        let own = unpack_mac(self.facts(query.port).packed_mac());
        let Some(mut frame) = self.fresh_frame(MIN_FRAME_LEN) else { return };
        let mut header = ethernet::Frame::parse(&mut frame[..]).expect("invariant: 60 bytes");
        header.set_ether_type(ethernet::TYPE_ARP);
        let mut packet = arp::Packet::prepare(&mut frame[L3..]).expect("invariant: 46 bytes");
        packet.set_operation(arp::REQUEST);
        packet.set_sender(own, address);
        packet.set_target(query.mac.unwrap_or_default(), query.target);
        let mac = query.mac.unwrap_or(MacAddr::BROADCAST);
        self.originate(frame, Hop { port: query.port, mac });
    }

    fn query_inet6(&mut self, query: Query<u128>) {
        let own = unpack_mac(self.facts(query.port).packed_mac());
        let source = self.own_inet6_toward(query.port, query.target);
        let group = ipv6::to_solicited_node(query.target);
        let destination = if query.mac.is_some() { query.target } else { group };
        let mac = query.mac.unwrap_or(MacAddr::of_ipv6_multicast(group));
        let message =
            Message { kind: ndisc::SOLICITATION, source, destination, target: query.target };
        let Some(mut frame) = self.fresh_frame(MESSAGE_FRAME_LEN) else { return };
        if write_message(&mut frame, message, own, 0).is_some() {
            self.originate(frame, Hop { port: query.port, mac });
        }
    }

    /// A frame of zeros from the pool; `None` when there is none, or it is too small.
    pub(crate) fn fresh_frame(&self, len: usize) -> Option<Frame> {
        let mut frame = self.pool.as_ref()?.take()?;
        if frame.capacity() < len {
            return None;
        }
        frame.set_len(len);
        frame.fill(0);
        Some(frame)
    }
}

/// The address to ask for, and the query to send if one is due.
type Asked<A> = (A, Option<Query<A>>);

/// Asks for the neighbour that a packet needs.
fn ask<F: Family>(
    view: &mut View<F>,
    port: u8,
    (gateway, destination): (NexthopId, F::Addr),
    now_ns: u64,
) -> Result<Asked<F::Addr>, DropReason> {
    let mut neighbours = view.neighbours.try_lock().ok_or(DropReason::SlowPathFull)?;
    let target = neighbours.gateway(gateway).unwrap_or(destination);
    let query = neighbours.resolve(port, target, now_ns);
    Ok((target, query))
}

/// Bytes of a frame with a neighbour discovery message.
const MESSAGE_FRAME_LEN: usize = L3 + ipv6::HEADER_LEN + ndisc::MESSAGE_LEN;

/// A solicitation or advertisement.
struct Message {
    kind: u8,
    source: u128,
    destination: u128,
    target: u128,
}

/// Makes `frame` a neighbour discovery message, all but its MAC addresses; `None` when it has no
/// room.
fn write_message(frame: &mut Frame, message: Message, own: MacAddr, flags: u8) -> Option<()> {
    if frame.capacity() < MESSAGE_FRAME_LEN {
        return None;
    }
    frame.set_len(MESSAGE_FRAME_LEN);
    ethernet::Frame::parse(&mut frame[..]).ok()?.set_ether_type(ethernet::TYPE_IPV6);
    let mut packet = ipv6::Packet::prepare(&mut frame[L3..], ndisc::MESSAGE_LEN as u16).ok()?;
    packet.set_next_header(icmpv6::NEXT_HEADER);
    packet.set_hop_limit(ndisc::HOP_LIMIT);
    packet.set_source(message.source);
    packet.set_destination(message.destination);
    let pseudo = packet.pseudo_sum();
    let body = packet.payload_mut();
    ndisc::Message::prepare(&mut *body, message.kind, message.target, own).ok()?.set_flags(flags);
    icmpv6::Packet::parse(body).ok()?.fill_checksum(pseudo);
    Some(())
}
