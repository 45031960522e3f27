//! Packets that wait for a neighbour's MAC address, and the questions for it: in a bounded queue, of
//! [`HELD_PER_NEIGHBOUR`] for each neighbour and [`HELD_IN_ALL`] for the worker (RFC 1122, section
//! 2.3.2.2, asks for at least one; RFC 4861, section 7.2.2 likewise). While somebody else has the table
//! of neighbours, the control side or another worker, packets wait for that, too, and are taken up again
//! at each poll: the lock is tried, never waited for.

use fwdlab_fib::Family;
use fwdlab_port::{Batch, Frame};
use fwdlab_wire::{MacAddr, arp, ethernet, icmpv6, ipv6, ndisc};

use crate::adjacency::unpack_mac;
use crate::checks::L3;
use crate::drops::DropReason;
use crate::fate::{HELD, Hop, Ruling};
use crate::neighbours::Query;
use crate::plane::Plane;
use crate::tables::View;
use crate::waiting::{Target, Wait, Waiting};

/// Packets that wait for one neighbour.
const HELD_PER_NEIGHBOUR: usize = 4;
/// Packets that wait in one worker.
const HELD_IN_ALL: usize = 128;
/// Packets that wait in one worker for the table of neighbours: a batch.
const POSTPONED_IN_ALL: usize = Batch::CAPACITY;
/// How long a packet waits: as long as the three queries take, ns.
const PATIENCE_NS: u64 = 3_000_000_000;
/// Shortest frame without FCS, bytes.
const MIN_FRAME_LEN: usize = ethernet::MIN_FRAME_LEN_WITH_FCS - ethernet::FCS_LEN;

impl Plane {
    /// Holds an IPv4 packet until the MAC address of `gateway`, or of `destination`, is known.
    pub(crate) fn hold_inet(&mut self, wait: Wait<u32>) -> Ruling {
        let now_ns = self.now_ns;
        match ask(self.inet_view(wait.input), &wait, now_ns) {
            None => self.postpone(wait.input, wait.is_own, Target::Unasked(wait.destination)),
            Some((address, query)) => {
                if let Some(query) = query {
                    self.query_inet(query);
                }
                self.hold(&wait, Target::Inet(address))
            }
        }
    }

    /// Holds an IPv6 packet likewise.
    pub(crate) fn hold_inet6(&mut self, wait: Wait<u128>) -> Ruling {
        let now_ns = self.now_ns;
        match ask(self.inet6_view(wait.input), &wait, now_ns) {
            None => self.postpone(wait.input, wait.is_own, Target::Unasked6(wait.destination)),
            Some((address, query)) => {
                if let Some(query) = query {
                    self.query_inet6(query);
                }
                self.hold(&wait, Target::Inet6(address))
            }
        }
    }

    /// Holds a packet until the table of neighbours is free: nobody waits for its lock here.
    pub(crate) fn postpone(&mut self, input: u8, is_own: bool, target: Target) -> Ruling {
        let postponed = self.waiting.iter().filter(|one| one.target.is_table()).count();
        if postponed >= POSTPONED_IN_ALL {
            return Err(DropReason::SlowPathFull.into());
        }
        let until_ns = self.now_ns + PATIENCE_NS;
        // Which port it leaves through is decided anew: routes change while the table is held.
        let (port, is_replaced) = (input, false);
        self.waiting.push_back(Waiting { input, port, target, until_ns, is_own, is_replaced });
        Ok(HELD)
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
        self.make_place(HELD_IN_ALL, |one| !one.is_replaced && !one.target.is_table());
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

    pub(crate) fn query_inet(&mut self, query: Query<u32>) {
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

    pub(crate) fn query_inet6(&mut self, query: Query<u128>) {
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

/// Asks for the neighbour that a packet needs. `None` when somebody else has the table, or the
/// neighbour has just answered: then the packet is not one of the few that may wait for it.
fn ask<F: Family>(view: &mut View<F>, wait: &Wait<F::Addr>, now_ns: u64) -> Option<Asked<F::Addr>> {
    let mut neighbours = view.neighbours.try_lock()?;
    let target = neighbours.gateway(wait.gateway).unwrap_or(wait.destination);
    if neighbours.mac(wait.port, target).is_some() {
        return None;
    }
    let query = neighbours.resolve(wait.port, target, now_ns);
    Some((target, query))
}

/// Bytes of a frame with a neighbour discovery message.
const MESSAGE_FRAME_LEN: usize = L3 + ipv6::HEADER_LEN + ndisc::MESSAGE_LEN;

/// A solicitation or advertisement.
pub(crate) struct Message {
    pub(crate) kind: u8,
    pub(crate) source: u128,
    pub(crate) destination: u128,
    pub(crate) target: u128,
}

/// Makes `frame` a neighbour discovery message, all but its MAC addresses; `None` when it has no
/// room.
pub(crate) fn write_message(
    frame: &mut Frame,
    message: Message,
    own: MacAddr,
    flags: u8,
) -> Option<()> {
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
