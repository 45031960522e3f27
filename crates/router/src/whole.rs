//! Packets to the router that have come together from fragments: handled when the worker keeps house,
//! in a fresh frame; an echo request that is longer than any frame is answered in fragments. Of those
//! that never will come together the sender is told.

use fwdlab_port::Frame;
use fwdlab_wire::{ethernet, icmpv4, icmpv6, ipv4, ipv6};

use crate::answer::OWN_TTL;
use crate::checks::L3;
use crate::drops::DropReason;
use crate::fate::{DROPPED, Decision};
use crate::gather::{FRAGMENT_LEN, UNIT};
use crate::plane::Plane;
use crate::reassembly::{Key, Whole};
use crate::waiting::Wait;

/// Protocol number of a fragment header.
const FRAGMENT: u8 = 44;
/// Shortest frame without FCS, bytes.
const MIN_LEN: usize = ethernet::MIN_FRAME_LEN_WITH_FCS - ethernet::FCS_LEN;

/// Frames that the router sends, each with its fate.
type Made = Vec<(u8, Frame)>;

impl Plane {
    /// Handles the packets that have become whole, and tells the senders of those that never will
    /// (RFC 792, RFC 4443, section 3.3: where the first fragment came).
    pub(crate) fn keep_fragments(&mut self) -> Made {
        let mut made = Made::new();
        for late in self.reassembly.expire(self.now_ns) {
            let drops = &self.counters.drops[DropReason::ReassemblyTimeout as usize];
            drops.add(late.frames);
            if late.first.is_empty() {
                continue;
            }
            let Some(mut frame) = self.fresh_frame(late.first.len()) else { continue };
            frame.copy_from_slice(&late.first);
            let refusal = DropReason::ReassemblyTimeout.into();
            if let Some(fate) = self.answer_refusal(late.input, &mut frame, refusal) {
                made.push((fate, frame));
            }
        }
        for whole in std::mem::take(&mut self.whole) {
            // The last fragment is what the rest becomes.
            self.counters.consumed.add(whole.frames - 1);
            let answers = self.take_whole(&whole).unwrap_or_else(|reason| {
                self.counters.count_drop(reason);
                Made::new()
            });
            made.extend(answers);
        }
        made
    }

    /// What a packet that has come together is answered with, if anything.
    fn take_whole(&mut self, whole: &Whole) -> Result<Made, DropReason> {
        let Some(mut frame) = self.fresh_frame(MIN_LEN) else { return Err(DropReason::NoRoom) };
        let header = header(whole).ok_or(DropReason::BadFragment)?;
        let len = header.len() + whole.data.len();
        if header.len() - L3 + whole.data.len() > usize::from(u16::MAX) {
            return Err(DropReason::BadFragment);
        }
        let icmp = if whole.key.is_inet6 { icmpv6::NEXT_HEADER } else { icmpv4::PROTOCOL };
        if whole.protocol == icmp && (whole.is_too_long || len > frame.capacity()) {
            return self.answer_long(whole);
        }
        // Of what has no port here, its sender is told by as much of it as a frame holds.
        let len = len.min(frame.capacity());
        frame.set_len(len.max(MIN_LEN));
        frame[..header.len()].copy_from_slice(&header);
        frame[header.len()..len].copy_from_slice(&whole.data[..len - header.len()]);
        frame[len..].fill(0);
        let outcome = if whole.key.is_inet6 {
            let payload = (len - header.len()) as u16;
            frame[L3 + 4..L3 + 6].copy_from_slice(&payload.to_be_bytes());
            self.deliver_inet6(whole.input, &mut frame)
        } else {
            frame[L3 + 2..L3 + 4].copy_from_slice(&((len - L3) as u16).to_be_bytes());
            let mut packet =
                ipv4::Packet::parse(&mut frame[L3..]).map_err(|_| DropReason::BadFragment)?;
            packet.set_fragment(0);
            packet.fill_checksum();
            self.deliver_inet(whole.input, &mut frame)
        };
        let fate = outcome.unwrap_or_else(|refusal| self.refuse(whole.input, &mut frame, refusal));
        Ok(vec![(fate, frame)])
    }

    /// The reply to an echo request that is longer than a frame, or than its way takes.
    fn answer_long(&mut self, whole: &Whole) -> Result<Made, DropReason> {
        let mut key = whole.key;
        let mut message = whole.data.clone();
        let (is_echo, decision) = if key.is_inet6 {
            let len = message.len() as u32;
            let pseudo = |source, destination| {
                fwdlab_wire::checksum::pseudo_v6(source, destination, icmpv6::NEXT_HEADER, len)
            };
            let mut icmp =
                icmpv6::Packet::parse(&mut message[..]).map_err(|_| DropReason::NotAccepted)?;
            if !icmp.has_valid_checksum(pseudo(key.source, key.destination)) {
                return Err(DropReason::BadChecksum);
            }
            let is_echo = (icmp.kind(), icmp.code()) == (icmpv6::ECHO_REQUEST, 0);
            key.destination = self.own_for(whole.input, key.destination, key.source);
            icmp.set_kind(icmpv6::ECHO_REPLY, 0);
            icmp.fill_checksum(pseudo(key.destination, key.source));
            (is_echo && !ipv6::is_martian_source(key.source), {
                if whole.is_too_long && !ipv6::is_link_local(key.source) {
                    self.decide_again_inet6(whole.input, key.source, 0)?
                } else {
                    let mut link = self.fresh_frame(MIN_LEN).ok_or(DropReason::NoRoom)?;
                    link[..L3].copy_from_slice(&whole.first[..L3]);
                    self.back_inet6(whole.input, &link, key.source)?
                }
            })
        } else {
            let mut icmp =
                icmpv4::Packet::parse(&mut message[..]).map_err(|_| DropReason::NotAccepted)?;
            if !icmp.has_valid_checksum() {
                return Err(DropReason::BadChecksum);
            }
            let kinds = (icmp.kind(), icmp.code());
            icmp.set_kind(icmpv4::ECHO_REPLY, 0);
            icmp.fill_checksum();
            let decision = self.decide_inet(whole.input, key.source as u32, 0)?;
            (kinds == (icmpv4::ECHO, 0), decision)
        };
        self.counters.consumed.add(1);
        if !is_echo {
            return Ok(Made::new());
        }
        Ok(self.cut_reply((key, whole.input), &message, &decision))
    }

    /// A message from the router in fragments, as many as there are frames for; what it answers had this
    /// key and came in by this port.
    fn cut_reply(&mut self, of: (Key, u8), message: &[u8], decision: &Decision) -> Made {
        let key = of.0;
        let mut made = Made::new();
        let Some(port) = decision.port() else { return made };
        let front = if key.is_inet6 { ipv6::HEADER_LEN + FRAGMENT_LEN } else { ipv4::HEADER_LEN };
        let mut at = 0;
        while at < message.len() {
            let Some(mut frame) = self.fresh_frame(MIN_LEN) else { return made };
            let most = (self.facts(port).mtu() as usize).min(frame.capacity().saturating_sub(L3));
            let each = most.saturating_sub(front) & !(UNIT - 1);
            if each == 0 {
                return made;
            }
            let len = each.min(message.len() - at);
            frame.set_len((L3 + front + len).max(MIN_LEN));
            frame.fill(0);
            frame[L3 + front..L3 + front + len].copy_from_slice(&message[at..at + len]);
            let is_written = match key.is_inet6 {
                true => write_front6(&mut frame, &key, (at, len), at + len < message.len()),
                false => write_front(&mut frame, &key, (at, len), at + len < message.len()),
            };
            if is_written.is_none() {
                return made;
            }
            let fate = self.leave_fragment(&mut frame, of, decision);
            made.push((fate, frame));
            at += len;
        }
        made
    }

    fn leave_fragment(
        &mut self,
        frame: &mut Frame,
        (key, input): (Key, u8),
        decision: &Decision,
    ) -> u8 {
        self.counters.originated.add(1);
        let outcome = match *decision {
            Decision::Send(hop, _) => Ok(self.address(frame, hop)),
            Decision::Resolve { port, gateway } if key.is_inet6 => {
                let destination = key.source;
                self.hold_inet6(Wait { input, port, gateway, destination, is_own: true })
            }
            Decision::Resolve { port, gateway } => {
                let destination = key.source as u32;
                self.hold_inet(Wait { input, port, gateway, destination, is_own: true })
            }
            Decision::Local => Err(DropReason::NotAccepted.into()),
        };
        outcome.unwrap_or_else(|refusal| {
            self.counters.count_drop(refusal.reason);
            DROPPED
        })
    }
}

/// All that stands before the data: of the first fragment, without what made it one. IPv6 extension
/// headers before the fragment header have been obeyed and are left out.
fn header(whole: &Whole) -> Option<Vec<u8>> {
    let first = &whole.first;
    if whole.key.is_inet6 {
        let mut header = first.get(..L3 + ipv6::HEADER_LEN)?.to_vec();
        header[L3 + ipv6::NEXT_HEADER] = whole.protocol;
        return Some(header);
    }
    let len = 4 * usize::from(first.get(L3)? & 15);
    Some(first.get(..L3 + len)?.to_vec())
}

fn write_front(
    frame: &mut Frame,
    key: &Key,
    (at, len): (usize, usize),
    has_more: bool,
) -> Option<()> {
    frame[12..14].copy_from_slice(&ethernet::TYPE_IPV4.to_be_bytes());
    let total = (ipv4::HEADER_LEN + len) as u16;
    // It sets the header alone: the data behind it stays.
    let mut packet = ipv4::Packet::prepare(&mut frame[L3..], total).ok()?;
    packet.set_identification(key.identification as u16);
    packet.set_fragment((at / UNIT) as u16 | if has_more { ipv4::MORE_FRAGMENTS } else { 0 });
    packet.set_ttl(OWN_TTL);
    packet.set_protocol(icmpv4::PROTOCOL);
    packet.set_source(key.destination as u32);
    packet.set_destination(key.source as u32);
    packet.fill_checksum();
    Some(())
}

fn write_front6(
    frame: &mut Frame,
    key: &Key,
    (at, len): (usize, usize),
    has_more: bool,
) -> Option<()> {
    frame[12..14].copy_from_slice(&ethernet::TYPE_IPV6.to_be_bytes());
    let mut packet = ipv6::Packet::prepare(&mut frame[L3..], (FRAGMENT_LEN + len) as u16).ok()?;
    packet.set_next_header(FRAGMENT);
    packet.set_hop_limit(OWN_TTL);
    packet.set_source(key.destination);
    packet.set_destination(key.source);
    let header = packet.payload_mut().get_mut(..FRAGMENT_LEN)?;
    header[0] = icmpv6::NEXT_HEADER;
    header[2..4].copy_from_slice(&(at as u16 | u16::from(has_more)).to_be_bytes());
    header[4..8].copy_from_slice(&key.identification.to_be_bytes());
    Some(())
}
