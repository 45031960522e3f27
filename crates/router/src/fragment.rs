//! IPv4 fragmentation (RFC 791, section 3.2; RFC 1812, section 4.2.2.7): a packet longer than the
//! output port's MTU leaves as several, unless its sender forbids it.
//!
//! The frame itself becomes the first fragment; the others are taken from the worker's pool and
//! leave right behind it, in order.

use fwdlab_port::Frame;
use fwdlab_wire::{ethernet, ipv4};

use crate::checks::L3;
use crate::drops::DropReason;
use crate::fate::{Hop, Refusal, Ruling, SPLIT, Split};
use crate::plane::Plane;

/// Unit of fragment offsets, bytes.
const UNIT: usize = 8;
/// The smallest frame without FCS, bytes.
const MIN_LEN: usize = ethernet::MIN_FRAME_LEN_WITH_FCS - ethernet::FCS_LEN;
/// Most fragments of a packet: the largest packet through the smallest MTU.
const MOST_FRAGMENTS: usize = 60;

/// How a packet is cut. Lengths in bytes.
struct Cut {
    /// Header of the first fragment, with all options.
    header_len: usize,
    /// Header of the others, with the options that are copied.
    rest_header: Vec<u8>,
    /// Of the packet.
    total: usize,
    /// Data in the first fragment.
    first: usize,
    /// Data in each other fragment, but for the last.
    each: usize,
    /// Offset of the first fragment in the datagram, units.
    offset: usize,
    /// Whether the packet is itself a fragment that others follow.
    has_more: bool,
}

impl Plane {
    /// Sends an IPv4 packet to its next hop, whole if it fits.
    pub(crate) fn leave_inet(&mut self, frame: &mut Frame, hop: Hop) -> Ruling {
        let packet = ipv4::Packet::parse(&frame[L3..]).map_err(|_| DropReason::BadTotalLength)?;
        let mtu = self.facts(hop.port).mtu() as usize;
        if usize::from(packet.total_length()) <= mtu {
            return Ok(self.address(frame, hop));
        }
        let too_big = Refusal { mtu, ..DropReason::TooBig.into() };
        if packet.is_dont_fragment() {
            return Err(too_big);
        }
        let cut = Cut::new(&packet, mtu).ok_or(too_big)?;
        let rest = self.rest(frame, &cut, hop).ok_or(too_big)?;
        frame.set_len((L3 + cut.header_len + cut.first).max(MIN_LEN));
        mark(frame, cut.offset, true, cut.header_len + cut.first);
        let port = self.address(frame, hop);
        self.counters.originated.add(rest.len() as u64);
        self.splits.push_back(Split { port, rest });
        Ok(SPLIT)
    }

    /// All fragments but the first; `None` when the pool has no frames for them.
    fn rest(&mut self, frame: &Frame, cut: &Cut, hop: Hop) -> Option<Vec<Frame>> {
        let pool = self.pool.clone()?;
        let data = &frame[L3 + cut.header_len..L3 + cut.total];
        let mut rest = Vec::new();
        let mut at = cut.first;
        while at < data.len() {
            let len = cut.each.min(data.len() - at);
            let mut fragment = pool.take()?;
            let header_len = cut.rest_header.len();
            let end = L3 + header_len + len;
            if fragment.capacity() < end.max(MIN_LEN) || rest.len() == MOST_FRAGMENTS {
                return None;
            }
            fragment.set_len(end.max(MIN_LEN));
            fragment[..L3].copy_from_slice(&frame[..L3]);
            fragment[L3..L3 + header_len].copy_from_slice(&cut.rest_header);
            fragment[L3 + header_len..end].copy_from_slice(&data[at..at + len]);
            fragment[end..].fill(0);
            let has_more = cut.has_more || at + len < data.len();
            mark(&mut fragment, cut.offset + at / UNIT, has_more, header_len + len);
            self.address(&mut fragment, hop);
            rest.push(fragment);
            at += len;
        }
        Some(rest)
    }
}

impl Cut {
    /// As few fragments as possible; `None` when not even 8 bytes of data fit.
    fn new(packet: &ipv4::Packet<&[u8]>, mtu: usize) -> Option<Self> {
        let rest_header = rest_header(packet.header());
        let room = |header_len: usize| mtu.checked_sub(header_len).map(|room| room & !(UNIT - 1));
        let header_len = packet.header_len();
        let (first, each) = (room(header_len)?, room(rest_header.len())?);
        (first > 0 && each > 0).then_some(Self {
            header_len,
            rest_header,
            total: packet.total_length().into(),
            first,
            each,
            offset: packet.fragment_offset() / UNIT,
            has_more: packet.has_more_fragments(),
        })
    }
}

/// The header of all fragments but the first: the fixed part, and the options whose first bit
/// says that they are copied (RFC 791, section 3.1), filled up to whole words with ends.
fn rest_header(header: &[u8]) -> Vec<u8> {
    const COPIED: u8 = 0x80;
    const NOTHING: u8 = 1;
    let (fixed, mut options) = header.split_at(ipv4::HEADER_LEN.min(header.len()));
    let mut rest = fixed.to_vec();
    while let Some(&kind) = options.first().filter(|&&kind| kind != 0) {
        let len = if kind == NOTHING { 1 } else { options.get(1).map_or(1, |&len| len.into()) };
        // Their lengths were checked when the packet came in.
        let (option, behind) = options.split_at(usize::max(len, 1).min(options.len()));
        if kind & COPIED != 0 {
            rest.extend(option);
        }
        options = behind;
    }
    rest.resize(rest.len().next_multiple_of(4), 0);
    rest[0] = 0x40 | (rest.len() / 4) as u8;
    rest
}

/// Makes the header in a frame that of a fragment of `total` bytes.
fn mark(frame: &mut Frame, offset: usize, has_more: bool, total: usize) {
    let len = (total as u16).to_be_bytes();
    frame[L3 + 2..L3 + 4].copy_from_slice(&len);
    if let Ok(mut packet) = ipv4::Packet::parse(&mut frame[L3..]) {
        packet.set_fragment(offset as u16 | if has_more { ipv4::MORE_FRAGMENTS } else { 0 });
        packet.fill_checksum();
    }
}
