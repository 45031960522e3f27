//! Test frames: one prepared line per frame size, patched for each frame.

use fwdlab_port::Frame;
use fwdlab_wire::{MacAddr, checksum, ethernet, ipv4, ipv6, udp};

use crate::flows::{Family, FlowSet};
use crate::layout::*;
use crate::numbering::Ends;

/// The constant part of the frames of one stream and one size.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    line: [u8; LINE],
    /// Length without FCS.
    pub(crate) len: usize,
    /// Sum over the constant words under the IPv4 header checksum.
    ip_sum: u64,
    /// Sum over the constant words under the UDP checksum, pseudo header included.
    udp_sum: u64,
    /// Whether the frame carries a time stamp.
    pub(crate) has_stamp: bool,
}

/// The addresses and counters that all frames of a trial share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    pub(crate) source_mac: MacAddr,
    pub(crate) device_mac: MacAddr,
    pub(crate) ttl: u8,
    pub(crate) latency: bool,
}

impl Template {
    /// The template of frames of `len` bytes without FCS.
    pub(crate) fn new(flows: &FlowSet, len: usize, common: &Common) -> Self {
        match flows.family() {
            Family::Inet => Self::inet(len, common),
            Family::Inet6 => Self::inet6(flows, len, common),
        }
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
        Self::from_bytes(&bytes, ip_sum, udp_sum, has_stamp)
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
        Self::from_bytes(&bytes, 0, checksum::sum(&bytes[INET6_UDP..]) + pseudo, has_stamp)
    }

    fn from_bytes(bytes: &[u8], ip_sum: u64, udp_sum: u64, has_stamp: bool) -> Self {
        let mut line = [0; LINE];
        let copied = bytes.len().min(LINE);
        line[..copied].copy_from_slice(&bytes[..copied]);
        // Folded, so that the sums in the loop stay below 2^48.
        let folded = |sum| u64::from(checksum::fold(sum));
        let (ip_sum, udp_sum) = (folded(ip_sum), folded(udp_sum));
        Self { line, len: bytes.len(), ip_sum, udp_sum, has_stamp }
    }

    /// Writes an IPv4 frame.
    #[inline(always)]
    pub(crate) fn write_inet(&self, frame: &mut Frame, ends: Ends, sequence: u32, stamp: u64) {
        frame.set_len(self.len);
        let line = frame.head_mut::<LINE>();
        *line = self.line;
        // An IPv4 address is a 32-bit word of the sum.
        let addresses = ends.source + ends.destination;
        let ports = u32::from(ends.source_port) << 16 | u32::from(ends.destination_port);
        let mut udp_sum = self.udp_sum + addresses + u64::from(ports) + u64::from(sequence);
        if self.has_stamp {
            udp_sum += halves(stamp);
            put(line, INET_STAMP, stamp.to_be_bytes());
        }
        put(line, INET_CHECKSUM, (!fold(self.ip_sum + addresses)).to_be_bytes());
        put(line, INET_ADDRESSES, (ends.source << 32 | ends.destination).to_be_bytes());
        put(line, INET_UDP, ports.to_be_bytes());
        put(line, INET_UDP_CHECKSUM, udp_checksum(udp_sum).to_be_bytes());
        put(line, INET_PAYLOAD, sequence.to_be_bytes());
    }

    /// Writes an IPv6 frame.
    #[inline(always)]
    pub(crate) fn write_inet6(&self, frame: &mut Frame, ends: Ends, sequence: u32, stamp: u64) {
        frame.set_len(self.len);
        let line = frame.head_mut::<LINE>();
        *line = self.line;
        let ports = u32::from(ends.source_port) << 16 | u32::from(ends.destination_port);
        let mut udp_sum =
            self.udp_sum + halves(ends.source) + halves(ends.destination) + u64::from(ports);
        if self.has_stamp {
            udp_sum += halves(stamp);
        }
        put(line, IP, (0x6000_0000 | sequence & INET6_SEQUENCE_MASK).to_be_bytes());
        put(line, INET6_SOURCE + 8, ends.source.to_be_bytes());
        put(line, INET6_DESTINATION + 8, ends.destination.to_be_bytes());
        put(line, INET6_UDP, ports.to_be_bytes());
        put(line, INET6_UDP_CHECKSUM, udp_checksum(udp_sum).to_be_bytes());
        if self.has_stamp {
            frame[INET6_STAMP..INET6_STAMP + STAMP_LEN].copy_from_slice(&stamp.to_be_bytes());
        }
    }
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
