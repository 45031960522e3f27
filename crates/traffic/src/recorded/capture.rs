//! A capture as it was recorded: its IP packets with their times.
//!
//! VLAN tags and what follows a packet (padding, FCS) are taken off. Packets of which the capture
//! holds only the beginning get zeros for the rest, so that lengths are those of the wire.

use std::io::Read;

use fwdlab_port::PortError;
use fwdlab_port::pcap::PcapReader;
use fwdlab_wire::{ethernet, ipv4, ipv6};

use crate::error::TrafficError;
use crate::flows::Family;
use crate::size;

/// Most bytes of packets in memory.
const MOST_BYTES: usize = 256 << 20;
/// Most packets.
const MOST_PACKETS: usize = 4 << 20;

/// The IP packets of a capture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capture {
    pub(crate) packets: Vec<Packet>,
    left_out: LeftOut,
}

/// One packet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Packet {
    pub(crate) family: Family,
    /// From its IP header to its end.
    pub(crate) bytes: Vec<u8>,
    /// Since the first packet, never going back.
    pub(crate) time_ns: u64,
    /// How many of the bytes were recorded.
    pub(crate) recorded: usize,
}

/// Frames of a capture that are not replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Frames that are neither IPv4 nor IPv6, such as ARP.
    pub not_ip: u64,
    /// Frames whose IP header makes no sense.
    pub malformed: u64,
    /// Packets of a family that the experiment has no addresses of.
    pub other_family: u64,
}

/// What is wrong with a capture as traffic.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// It cannot be read.
    #[error(transparent)]
    Port(#[from] PortError),
    /// It holds nothing that a router forwards.
    #[error(
        "capture file: it holds no IP packet (frames: {frames}, not IP: {}, broken: {}); record with: tcpdump -i INTERFACE -w FILE ip or ip6",
        left_out.not_ip, left_out.malformed
    )]
    Empty {
        /// Frames in the file.
        frames: u64,
        /// Why they do not count.
        left_out: LeftOut,
    },
    /// All packets are of the family that has no addresses.
    #[error(
        "capture file: none of its packets is {family}, of {packets}; give source and destination of the other family"
    )]
    OtherFamily {
        /// Packets in the file.
        packets: usize,
        /// "IPv4" or "IPv6".
        family: &'static str,
    },
    /// A frame that is longer than a test frame may be.
    #[error(
        "capture file: packet {packet} makes a frame of {len} bytes with FCS, at most {most} can be sent; a host that hands its card more than it sends records such packets, leave them out with: tcpdump -r IN -w OUT less {}",
        most - ethernet::FCS_LEN
    )]
    TooLong {
        /// Its number, from 1.
        packet: u64,
        /// Length with FCS.
        len: usize,
        /// The longest.
        most: usize,
    },
    /// More than is kept in memory.
    #[error(
        "capture file: it is larger than {} packets or {} MiB of packets; take its beginning with: tcpdump -r IN -w OUT -c 1000000",
        MOST_PACKETS, MOST_BYTES >> 20
    )]
    TooLarge,
    /// Addresses that packets cannot be mapped onto.
    #[error(transparent)]
    Ends(#[from] TrafficError),
    /// All packets have one time, so that they cannot be sent as recorded.
    #[error(
        "capture file: all packets have the same time, so that there is no recorded rate; write load = \"max\" or a rate such as \"500kpps\""
    )]
    Timeless,
}

impl Capture {
    /// Reads the packets of a pcap or pcapng file.
    ///
    /// # Errors
    /// It is no capture of Ethernet frames, is cut, holds no IP packet, or is too large.
    pub fn read(input: impl Read) -> Result<Self, CaptureError> {
        let mut reader = PcapReader::new(input)?;
        let mut capture = Self::default();
        let (mut frame, mut frames, mut bytes) = (Vec::new(), 0_u64, 0);
        let (mut start, mut last) = (None, 0);
        while let Some(time_ns) = reader.next_packet(&mut frame)? {
            frames += 1;
            let start = *start.get_or_insert(time_ns);
            last = time_ns.saturating_sub(start).max(last);
            let is_whole = reader.last_len() <= frame.len();
            match strip(&frame) {
                None => capture.left_out.not_ip += 1,
                Some((family, rest)) => match Packet::of(family, rest, is_whole) {
                    None => capture.left_out.malformed += 1,
                    Some(packet) => {
                        let len = packet.bytes.len() + ethernet::HEADER_LEN + ethernet::FCS_LEN;
                        if len > size::MAX {
                            return Err(CaptureError::TooLong {
                                packet: frames,
                                len,
                                most: size::MAX,
                            });
                        }
                        bytes += len;
                        capture.packets.push(Packet { time_ns: last, ..packet });
                    }
                },
            }
            if bytes > MOST_BYTES || capture.packets.len() > MOST_PACKETS {
                return Err(CaptureError::TooLarge);
            }
        }
        if capture.packets.is_empty() {
            return Err(CaptureError::Empty { frames, left_out: capture.left_out });
        }
        Ok(capture)
    }

    /// Frames that are not among the packets.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }
}

/// The IP packet in a frame, without what may stand in front of it.
fn strip(frame: &[u8]) -> Option<(Family, &[u8])> {
    let mut at = ethernet::ETHER_TYPE.start;
    loop {
        let kind = u16::from_be_bytes(frame.get(at..at + 2)?.try_into().ok()?);
        let rest = frame.get(at + 2..)?;
        match kind {
            ethernet::TYPE_IPV4 => return Some((Family::Inet, rest)),
            ethernet::TYPE_IPV6 => return Some((Family::Inet6, rest)),
            ethernet::TYPE_VLAN | ethernet::TYPE_SERVICE_VLAN => at += 4,
            _ => return None,
        }
    }
}

impl Packet {
    fn of(family: Family, rest: &[u8], is_whole: bool) -> Option<Self> {
        let half =
            |at: usize| Some(usize::from(u16::from_be_bytes([rest[at], *rest.get(at + 1)?])));
        let (header, len) = match family {
            Family::Inet if rest.len() >= ipv4::HEADER_LEN && rest[0] >> 4 == 4 => {
                (usize::from(rest[0] & 15) * 4, half(ipv4::TOTAL_LENGTH.start)?)
            }
            Family::Inet6 if rest.len() >= ipv6::HEADER_LEN && rest[0] >> 4 == 6 => {
                (ipv6::HEADER_LEN, ipv6::HEADER_LEN + half(ipv6::PAYLOAD_LENGTH.start)?)
            }
            _ => return None,
        };
        let least = if family == Family::Inet { ipv4::HEADER_LEN } else { ipv6::HEADER_LEN };
        if header < least || len < header || rest.len() < header || (is_whole && rest.len() < len) {
            return None;
        }
        let recorded = len.min(rest.len());
        let mut bytes = rest[..recorded].to_vec();
        bytes.resize(len, 0);
        Some(Self { family, bytes, time_ns: 0, recorded })
    }
}
