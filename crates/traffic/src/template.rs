//! Test frames: one prepared line per frame size, patched for each frame.

use std::ops::Range;

use fwdlab_port::Frame;
use fwdlab_wire::{MacAddr, checksum, ethernet, ipv4, ipv6, udp};

use crate::flows::{Family, FlowSet};
use crate::layout::*;
use crate::numbering::{Ends, Numbering};
use crate::words::Shared;

/// The constant part of the frames of one stream and one size.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    line: Line,
    /// One bits where an arriving frame must be equal to the flow's arriving line: not the source
    /// MAC address, sequence number, time stamp, and the UDP checksum, which varies with them.
    pub(crate) mask: Line,
    /// The line as it must arrive, and the one bits of the mask that are the same for all flows: no
    /// addresses, ports and checksums.
    common: (Line, Line),
    arrival: Arrival,
    /// What all flows share, as they are sent and as they must arrive.
    pub(crate) sent: Shared,
    pub(crate) arrived: Shared,
    /// Length without FCS.
    pub(crate) len: usize,
    /// Sum over the constant words under the IPv4 header checksum.
    ip_sum: u64,
    /// Sum over the constant words under the UDP checksum, pseudo header included.
    udp_sum: u64,
    /// Whether the frame carries a time stamp.
    pub(crate) has_stamp: bool,
}

/// What the way changes.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    mac: MacAddr,
    ttl: u8,
    hops: u8,
}

/// The addresses and counters that all frames of a trial share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    pub(crate) source_mac: MacAddr,
    pub(crate) device_mac: MacAddr,
    pub(crate) arrival_mac: MacAddr,
    pub(crate) ttl: u8,
    pub(crate) hops: u8,
    pub(crate) latency: bool,
}

impl Template {
    /// The template of frames of `len` bytes without FCS.
    pub(crate) fn new(flows: &FlowSet, len: usize, common: &Common) -> Self {
        let mut template = match flows.family() {
            Family::Inet => Self::inet(len, common),
            Family::Inet6 => Self::inet6(flows, len, common),
        };
        let line = template.line_of(flows.family(), Numbering::new(flows).ends(0));
        let (family, of) = (flows.family(), (&template.mask.clone(), template.len));
        template.sent = Shared::of(family, &line, of);
        template.arrived = Shared::of(family, &template.arriving(family, &line), of);
        template
    }

    fn inet(len: usize, common: &Common) -> Self {
        let has_stamp = common.latency && len >= INET_STAMP + STAMP_LEN;
        let mut bytes = pattern_of(len);
        put_macs(&mut bytes, common, ethernet::TYPE_IPV4);
        let total_length = len - IP;
        let header = &mut bytes[IP..INET_UDP];
        header.fill(0);
        header[ipv4::VERSION_IHL] = 0x45;
        header[ipv4::TOTAL_LENGTH].copy_from_slice(&(total_length as u16).to_be_bytes());
        // RFC 6864: an atomic datagram (never fragmented) needs no identification.
        header[ipv4::FRAGMENT].copy_from_slice(&ipv4::DONT_FRAGMENT.to_be_bytes());
        header[ipv4::TTL] = common.ttl;
        header[ipv4::PROTOCOL] = udp::PROTOCOL;
        let udp_len = (len - INET_UDP) as u16;
        put_udp(&mut bytes, INET_UDP, udp_len);
        bytes[INET_PAYLOAD..INET_STAMP].fill(0);
        if has_stamp {
            bytes[INET_STAMP..INET_STAMP + STAMP_LEN].fill(0);
        }
        let udp_sum =
            checksum::sum(&bytes[INET_UDP..]) + checksum::pseudo_v4(0, 0, udp::PROTOCOL, udp_len);
        let ip_sum = checksum::sum(&bytes[IP..INET_UDP]);
        Self::from_bytes(&bytes, (ip_sum, udp_sum), has_stamp, common)
    }

    fn inet6(flows: &FlowSet, len: usize, common: &Common) -> Self {
        let has_stamp = common.latency && len >= INET6_STAMP + STAMP_LEN;
        let mut bytes = pattern_of(len);
        put_macs(&mut bytes, common, ethernet::TYPE_IPV6);
        let udp_len = (len - INET6_UDP) as u16;
        let header = &mut bytes[IP..INET6_UDP];
        header.fill(0);
        header[0] = 0x60;
        header[ipv6::PAYLOAD_LENGTH].copy_from_slice(&udp_len.to_be_bytes());
        header[ipv6::NEXT_HEADER] = udp::PROTOCOL;
        header[ipv6::HOP_LIMIT] = common.ttl;
        // The upper halves are the same for all flows of a set.
        let upper = |address: u128| address >> 64 << 64;
        let (source, destination) =
            (upper(flows.source().first()), upper(flows.destination().first()));
        header[ipv6::SOURCE].copy_from_slice(&source.to_be_bytes());
        header[ipv6::DESTINATION].copy_from_slice(&destination.to_be_bytes());
        put_udp(&mut bytes, INET6_UDP, udp_len);
        if has_stamp {
            bytes[INET6_STAMP..INET6_STAMP + STAMP_LEN].fill(0);
        }
        let pseudo = checksum::pseudo_v6(source, destination, udp::PROTOCOL, u32::from(udp_len));
        let udp_sum = checksum::sum(&bytes[INET6_UDP..]) + pseudo;
        Self::from_bytes(&bytes, (0, udp_sum), has_stamp, common)
    }

    fn from_bytes(
        bytes: &[u8],
        (ip_sum, udp_sum): (u64, u64),
        has_stamp: bool,
        common: &Common,
    ) -> Self {
        let mut line = [0; LINE];
        let copied = bytes.len().min(LINE);
        line[..copied].copy_from_slice(&bytes[..copied]);
        // Folded, so that the sums in the loop stay below 2^48.
        let folded = |sum| u64::from(checksum::fold(sum));
        let (ip_sum, udp_sum) = (folded(ip_sum), folded(udp_sum));
        let mut mask = [0xff; LINE];
        mask[copied..].fill(0);
        mask[ethernet::SOURCE].fill(0);
        if bytes[ethernet::ETHER_TYPE] == ethernet::TYPE_IPV4.to_be_bytes() {
            mask[INET_UDP_CHECKSUM..INET_STAMP].fill(0);
            if has_stamp {
                mask[INET_STAMP..INET_STAMP + STAMP_LEN].fill(0);
            }
        } else {
            // The flow label: 20 bits behind version and traffic class.
            mask[IP + 1] = 0xf0;
            mask[IP + 2..IP + 4].fill(0);
            if has_stamp {
                mask[INET6_UDP_CHECKSUM..].fill(0);
            }
        }
        let (line, mask) = (Line(line), Line(mask));
        let arrival = Arrival {
            mac: common.arrival_mac,
            ttl: common.ttl.saturating_sub(common.hops),
            hops: common.hops,
        };
        let is_inet = bytes[ethernet::ETHER_TYPE] == ethernet::TYPE_IPV4.to_be_bytes();
        let family = if is_inet { Family::Inet } else { Family::Inet6 };
        let (common, len) = ((line, common_of(family, mask)), bytes.len());
        let shared = Shared::of(family, &line, (&mask, len));
        let (sent, arrived) = (shared, shared);
        let mut template =
            Self { line, mask, common, arrival, sent, arrived, len, ip_sum, udp_sum, has_stamp };
        template.common.0 = template.arriving(family, &line);
        template
    }

    /// The first line of a flow's frame with sequence number 0 and no time stamp.
    #[inline(always)]
    pub(crate) fn line_of(&self, family: Family, ends: Ends) -> Line {
        let mut line = self.line.0;
        let ports = u32::from(ends.source_port) << 16 | u32::from(ends.destination_port);
        let addresses = match family {
            Family::Inet => {
                // An IPv4 address is a 32-bit word of the sum.
                let addresses = ends.source + ends.destination;
                put(&mut line, INET_CHECKSUM, (!fold(self.ip_sum + addresses)).to_be_bytes());
                put(
                    &mut line,
                    INET_ADDRESSES,
                    (ends.source << 32 | ends.destination).to_be_bytes(),
                );
                put(&mut line, INET_UDP, ports.to_be_bytes());
                addresses
            }
            Family::Inet6 => {
                put(&mut line, INET6_SOURCE + 8, ends.source.to_be_bytes());
                put(&mut line, INET6_DESTINATION + 8, ends.destination.to_be_bytes());
                put(&mut line, INET6_UDP, ports.to_be_bytes());
                halves(ends.source) + halves(ends.destination)
            }
        };
        let checksum = udp_checksum(self.udp_sum + addresses + u64::from(ports));
        put(&mut line, udp_checksum_at(family), checksum.to_be_bytes());
        Line(line)
    }

    /// What routers make of a line: the receiver's MAC address, TTL less the hops, and the IPv4
    /// header checksum that belongs to it.
    #[inline(always)]
    pub(crate) fn arriving(&self, family: Family, sent: &Line) -> Line {
        let mut line = sent.0;
        put(&mut line, 0, self.arrival.mac.0);
        match family {
            Family::Inet => {
                let sent = u16::from_be_bytes(field(&line, INET_CHECKSUM));
                put(&mut line, INET_CHECKSUM, self.lowered(sent).to_be_bytes());
                line[INET_TTL] = self.arrival.ttl;
            }
            Family::Inet6 => line[IP + ipv6::HOP_LIMIT] = self.arrival.ttl,
        }
        Line(line)
    }

    /// Whether a frame is as the frame of these ends, which belong to the stream, must arrive.
    #[inline(always)]
    pub(crate) fn is_arriving(&self, head: &[u8; LINE], family: Family, ends: Ends) -> bool {
        let has_checksum = match family {
            Family::Inet => {
                let sent = !fold(self.ip_sum + ends.source + ends.destination);
                field(head, INET_CHECKSUM) == self.lowered(sent).to_be_bytes()
            }
            // The number of the frame is not under it, but a time stamp is.
            Family::Inet6 if self.has_stamp => true,
            Family::Inet6 => {
                let ports = u32::from(ends.source_port) << 16 | u32::from(ends.destination_port);
                let sum = halves(ends.source) + halves(ends.destination) + u64::from(ports);
                let wanted = udp_checksum(self.udp_sum + sum);
                field(head, INET6_UDP_CHECKSUM) == wanted.to_be_bytes()
            }
        };
        has_checksum & !differ(head, &self.common.0, &self.common.1)
    }

    /// The IPv4 header checksum after all hops.
    ///
    /// Each hop takes 0x0100 (TTL) from the sum, so adds it to the checksum, with end-around carry;
    /// all ones cannot be, for the sum over an IPv4 header is never zero (RFC 1624, section 3).
    #[inline(always)]
    fn lowered(&self, sent: u16) -> u16 {
        let sum = u32::from(sent) + (u32::from(self.arrival.hops) << 8);
        if sum >= 0xffff { (sum - 0xffff) as u16 } else { sum as u16 }
    }

    /// Whether the payload behind number and time stamp is as the tester wrote it. A checksum says less: what changes a
    /// payload may make it right again.
    #[cold]
    pub(crate) fn has_pattern(&self, frame: &Frame, family: Family) -> bool {
        let behind_number = match family {
            Family::Inet => INET_STAMP,
            Family::Inet6 => INET6_STAMP,
        };
        let from = behind_number + if self.has_stamp { STAMP_LEN } else { 0 };
        let payload = frame.get(from..).unwrap_or_default();
        (from..).zip(payload).all(|(at, byte)| *byte == pattern(at))
    }

    /// Makes `frame` the frame of this line with this sequence number.
    #[inline(always)]
    pub(crate) fn write(&self, frame: &mut Frame, family: Family, line: &Line, sequence: u32) {
        frame.set_len(self.len);
        let head = frame.head_mut::<LINE>();
        *head = line.0;
        match family {
            Family::Inet => {
                let of_zero = u16::from_ne_bytes(field(&line.0, INET_UDP_CHECKSUM));
                let sequence = sequence.to_be();
                let checksum = with_sequence(of_zero, sequence);
                put(head, INET_UDP_CHECKSUM, checksum.to_ne_bytes());
                put(head, INET_PAYLOAD, sequence.to_ne_bytes());
            }
            Family::Inet6 => put_label(head, sequence),
        }
    }

    /// Makes `frame` the frame of these ends with this sequence number. What is written here is not
    /// read again: a wide load behind narrow stores would wait for them.
    #[inline(always)]
    pub(crate) fn write_computed(
        &self,
        frame: &mut Frame,
        family: Family,
        ends: Ends,
        sequence: u32,
    ) {
        frame.set_len(self.len);
        let head = frame.head_mut::<LINE>();
        *head = self.line.0;
        let ports = u32::from(ends.source_port) << 16 | u32::from(ends.destination_port);
        let sum = match family {
            Family::Inet => {
                let addresses = ends.source + ends.destination;
                put(head, INET_CHECKSUM, (!fold(self.ip_sum + addresses)).to_be_bytes());
                put(head, INET_ADDRESSES, (ends.source << 32 | ends.destination).to_be_bytes());
                put(head, INET_UDP, ports.to_be_bytes());
                put(head, INET_PAYLOAD, sequence.to_be_bytes());
                addresses + halves(u64::from(sequence))
            }
            Family::Inet6 => {
                put(head, INET6_SOURCE + 8, ends.source.to_be_bytes());
                put(head, INET6_DESTINATION + 8, ends.destination.to_be_bytes());
                put(head, INET6_UDP, ports.to_be_bytes());
                put_label(head, sequence);
                halves(ends.source) + halves(ends.destination)
            }
        };
        let checksum = udp_checksum(self.udp_sum + sum + u64::from(ports));
        put(head, udp_checksum_at(family), checksum.to_be_bytes());
    }

    /// Adds a time stamp to a frame just written.
    #[inline]
    pub(crate) fn write_stamp(&self, frame: &mut Frame, family: Family, stamp: u64) {
        if !self.has_stamp {
            return;
        }
        let head = frame.head_mut::<LINE>();
        let at = udp_checksum_at(family);
        let sum = u64::from(!u16::from_be_bytes(field(head, at))) + halves(stamp);
        put(head, at, udp_checksum(sum).to_be_bytes());
        let at = stamp_at(family);
        frame[at..at + STAMP_LEN].copy_from_slice(&stamp.to_be_bytes());
    }
}

/// The part of a mask that does not depend on the flow: without addresses, ports and checksums.
fn common_of(family: Family, mut mask: Line) -> Line {
    let mut clear = |field: Range<usize>| mask.0[field].fill(0);
    match family {
        Family::Inet => clear(INET_CHECKSUM..INET_UDP + 4),
        Family::Inet6 => {
            clear(INET6_SOURCE + 8..INET6_SOURCE + 16);
            clear(INET6_DESTINATION + 8..INET6_UDP + 4);
            clear(INET6_UDP_CHECKSUM..INET6_UDP_CHECKSUM + 2);
        }
    }
    mask
}

/// Writes version and flow label.
#[inline(always)]
fn put_label(head: &mut [u8; LINE], sequence: u32) {
    put(head, IP, label(sequence).to_be_bytes());
}

/// Where the time stamp of a family's frames is.
#[inline(always)]
pub(crate) fn stamp_at(family: Family) -> usize {
    match family {
        Family::Inet => INET_STAMP,
        Family::Inet6 => INET6_STAMP,
    }
}

#[inline(always)]
fn udp_checksum_at(family: Family) -> usize {
    match family {
        Family::Inet => INET_UDP_CHECKSUM,
        Family::Inet6 => INET6_UDP_CHECKSUM,
    }
}

/// The UDP checksum of an IPv4 frame, from that of sequence number 0. The number is a 32-bit
/// word of the sum, and a checksum is the complement of the sum; both as they lie in the frame, which
/// any byte order gives the same sum of (RFC 1071, section 2(B)).
#[inline(always)]
fn with_sequence(checksum_of_zero: u16, sequence: u32) -> u16 {
    match !fold_two(sequence, u32::from(!checksum_of_zero)) {
        0 => 0xffff,
        checksum => checksum,
    }
}

/// Whether two lines differ where the mask has one bits; in words, so that it becomes one vector
/// instruction or a few. The naive form: `(0..64).any(|at| (a[at] ^ b[at]) & mask[at] != 0)`.
#[inline(always)]
pub(crate) fn differ(a: &[u8; LINE], b: &Line, mask: &Line) -> bool {
    let words = |line: &[u8; LINE]| {
        let mut words = [0; LINE / 8];
        let chunks = line.as_chunks().0;
        for at in 0..LINE / 8 {
            words[at] = u64::from_ne_bytes(chunks[at]);
        }
        words
    };
    let (a, b, mask) = (words(a), words(&b.0), words(&mask.0));
    let mut differences = 0;
    for at in 0..LINE / 8 {
        differences |= (a[at] ^ b[at]) & mask[at];
    }
    differences != 0
}

/// RFC 768: a computed checksum of zero is sent as all ones, for zero means "none".
#[inline(always)]
fn udp_checksum(sum: u64) -> u16 {
    match !fold(sum) {
        0 => 0xffff,
        checksum => checksum,
    }
}

fn pattern_of(len: usize) -> Vec<u8> {
    (0..len).map(pattern).collect()
}

fn put_macs(bytes: &mut [u8], common: &Common, ether_type: u16) {
    bytes[ethernet::DESTINATION].copy_from_slice(&common.device_mac.0);
    bytes[ethernet::SOURCE].copy_from_slice(&common.source_mac.0);
    bytes[ethernet::ETHER_TYPE].copy_from_slice(&ether_type.to_be_bytes());
}

fn put_udp(bytes: &mut [u8], at: usize, len: u16) {
    let header = &mut bytes[at..at + udp::HEADER_LEN];
    header.fill(0);
    header[udp::LENGTH].copy_from_slice(&len.to_be_bytes());
}

/// Prepares a frame that the tester did not have before: everything behind the headers is the
/// pattern, which no router changes.
#[cold]
pub(crate) fn fill_pattern(frame: &mut Frame, len: usize) {
    frame.set_len(len);
    for (at, byte) in frame.iter_mut().enumerate().skip(LINE.min(len)) {
        *byte = pattern(at);
    }
}
