//! Finding neighbours' MAC addresses, and saying ours: ARP (RFC 826) and neighbour discovery
//! (RFC 4861).
//!
//! Packets wait for an answer in a bounded queue: [`HELD_PER_NEIGHBOUR`] for each neighbour,
//! [`HELD_IN_ALL`] for the worker (RFC 1122, section 2.3.2.2, asks for at least one; RFC 4861,
//! section 7.2.2 likewise).

use fwdlab_fib::Family;
use fwdlab_port::Frame;
use fwdlab_wire::{MacAddr, arp, ethernet, icmpv6, ipv6, ndisc};

use crate::adjacency::unpack_mac;
use crate::checks::L3;
use crate::drops::DropReason;
use crate::fate::{HELD, Hop, Ruling};
use crate::neighbours::{Advertised, Heard, Query};
use crate::plane::Plane;
use crate::tables::View;
use crate::waiting::{Target, Wait, Waiting};

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
    pub(crate) fn hold_inet(&mut self, wait: Wait<u32>) -> Ruling {
        let now_ns = self.now_ns;
        let asked = ask(self.inet_view(wait.input), &wait, now_ns)?;
        if let Some(query) = asked.1 {
            self.query_inet(query);
        }
        self.hold(&wait, Target::Inet(asked.0))
    }

    /// Holds an IPv6 packet likewise.
    pub(crate) fn hold_inet6(&mut self, wait: Wait<u128>) -> Ruling {
        let now_ns = self.now_ns;
        let asked = ask(self.inet6_view(wait.input), &wait, now_ns)?;
        if let Some(query) = asked.1 {
            self.query_inet6(query);
        }
        self.hold(&wait, Target::Inet6(asked.0))
    }

    /// Puts a packet into the queue. When that is full, the newest packet takes the place of the
    /// oldest (RFC 4861, section 7.2.2).
    fn hold<A>(&mut self, wait: &Wait<A>, target: Target) -> Ruling {
        if self.pool.is_none() {
            return Err(DropReason::Unresolved.into());
        }
        let key = (wait.port, target);
        let is_same = |one: &Waiting| !one.is_replaced && (one.port, one.target) == key;
        self.make_place(HELD_PER_NEIGHBOUR, is_same);
        self.make_place(HELD_IN_ALL, |one| !one.is_replaced);
        self.waiting.push_back(Waiting {
            input: wait.input,
            port: wait.port,
            target,
            until_ns: self.now_ns + PATIENCE_NS,
            is_own: wait.is_own,
            is_replaced: false,
        });
        Ok(HELD)
    }

    /// Gives up the oldest of the waiting packets that are such, unless they are fewer than `most`.
    fn make_place(&mut self, most: usize, is_such: impl Fn(&Waiting) -> bool) {
        if self.waiting.iter().filter(|one| is_such(one)).count() >= most
            && let Some(oldest) = self.waiting.iter_mut().find(|one| is_such(one))
        {
            oldest.is_replaced = true;
        }
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

    /// RFC 826: updates a sender that is known, learns one that speaks to us, and answers what asks
    /// for us; probes, too (RFC 5227, section 2.1.1), whose sender has no address yet.
    pub(crate) fn accept_arp(&mut self, input: u8, frame: &mut Frame) -> Ruling {
        self.admit()?;
        let packet = arp::Packet::parse(&frame[L3..]).map_err(|_| DropReason::NotAccepted)?;
        let (mac, address) = (packet.sender_mac(), packet.sender_address());
        let (operation, ours) = (packet.operation(), packet.target_address());
        let has = |address| self.config(input).inet.iter().any(|at| at.address == address);
        let (is_ours, is_probe) = (has(ours), address == 0);
        // Who speaks from our own address is in conflict with us, and not learned.
        if mac.is_multicast() || has(address) || (is_probe && !is_ours) {
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
            let mut neighbours =
                self.inet_view(input).neighbours.try_lock().ok_or(DropReason::SlowPathFull)?;
            let is_known = neighbours.heard((input, address), heard, now_ns);
            drop(neighbours);
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
        let option_mac = mac.filter(|mac| !mac.is_multicast());
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
            let view = self.inet6_view(input);
            let mut neighbours = view.neighbours.try_lock().ok_or(DropReason::SlowPathFull)?;
            neighbours.heard((input, speaker), heard, now_ns);
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
    wait: &Wait<F::Addr>,
    now_ns: u64,
) -> Result<Asked<F::Addr>, DropReason> {
    let mut neighbours = view.neighbours.try_lock().ok_or(DropReason::SlowPathFull)?;
    let target = neighbours.gateway(wait.gateway).unwrap_or(wait.destination);
    let query = neighbours.resolve(wait.port, target, now_ns);
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
