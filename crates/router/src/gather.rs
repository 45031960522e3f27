//! Fragments of packets to the router itself: taken in, put together, answered, and given up.
//!
//! A fragment's bytes are copied and its frame goes home, so that no sender can hold the pool's
//! frames. What has come together is handled when the worker keeps house, in a fresh frame; an echo
//! request that is longer than any frame is answered in fragments.

use fwdlab_port::Frame;
use fwdlab_wire::{ipv4, ipv6};

use crate::checks::{self, L3};
use crate::drops::DropReason;
use crate::fate::{CONSUMED, Problem, Refusal, Ruling};
use crate::plane::Plane;
use crate::reassembly::{Fragment, Key, Whole};

/// How long the fragments of a packet are waited for: 30 s as Linux does (RFC 791 suggests 15 s, RFC
/// 1122, section 3.3.2, a minute or more), and 60 s by RFC 8200, section 4.5; ns.
const PATIENCE_NS: u64 = 30_000_000_000;
const PATIENCE6_NS: u64 = 60_000_000_000;
/// Unit of fragment offsets, bytes.
pub(crate) const UNIT: usize = 8;
/// Bytes of an IPv6 fragment header.
pub(crate) const FRAGMENT_LEN: usize = 8;

impl Plane {
    /// Takes in a fragment of an IPv4 packet to the router.
    pub(crate) fn gather_inet(&mut self, input: u8, frame: &Frame) -> Ruling {
        let packet = ipv4::Packet::parse(&frame[L3..]).map_err(|_| DropReason::NotAccepted)?;
        let (data, has_more) = (packet.payload(), packet.has_more_fragments());
        if has_more && !data.len().is_multiple_of(UNIT) {
            return Err(DropReason::BadFragment.into());
        }
        let key = Key {
            source: packet.source().into(),
            destination: packet.destination().into(),
            identification: packet.identification().into(),
            protocol: packet.protocol(),
            is_inet6: false,
        };
        self.gather(&Fragment {
            key,
            input,
            start: packet.fragment_offset(),
            data,
            has_more,
            frame: &frame[..L3 + usize::from(packet.total_length())],
            protocol: packet.protocol(),
            until_ns: self.now_ns + PATIENCE_NS,
        })
    }

    /// Takes in an IPv6 packet to the router whose fragment header is at this place of its payload.
    pub(crate) fn gather_inet6(&mut self, input: u8, frame: &Frame, at: usize) -> Ruling {
        let packet = checks::inet6(&frame[L3..])?;
        let problem = |code, pointer: usize| Refusal {
            problem: Problem { code, pointer: pointer as u32 },
            ..DropReason::BadFragment.into()
        };
        let payload = packet.payload();
        let Some(header) = payload.get(at..at + FRAGMENT_LEN) else {
            return Err(DropReason::BadFragment.into());
        };
        let data = &payload[at + FRAGMENT_LEN..];
        let word = u16::from_be_bytes([header[2], header[3]]);
        let (start, has_more) = (usize::from(word & !7), word & 1 != 0);
        // RFC 8200, section 4.5: length of the payload, then offset of the fragment; who sent a
        // fragment other than the first hears nothing, as it may be part of an error.
        if has_more && !data.len().is_multiple_of(UNIT) {
            return Err(problem(0, 4));
        }
        if start + data.len() > usize::from(u16::MAX) {
            return Err(problem(0, ipv6::HEADER_LEN + at + 2));
        }
        if start == 0 && !crate::extensions::has_upper_layer(header[0], data) {
            return Err(problem(3, 0));
        }
        let key = Key {
            source: packet.source(),
            destination: packet.destination(),
            identification: u32::from_be_bytes([header[4], header[5], header[6], header[7]]),
            protocol: 0,
            is_inet6: true,
        };
        let len = L3 + ipv6::HEADER_LEN + usize::from(packet.payload_length());
        if start == 0 && !has_more {
            // RFC 6946: by itself, whatever else has its number.
            let first = frame[..len].to_vec();
            let (protocol, data) = (header[0], data.to_vec());
            let (frames, is_too_long) = (1, false);
            self.whole.push(Whole { key, input, first, protocol, data, frames, is_too_long });
            return Ok(CONSUMED);
        }
        self.gather(&Fragment {
            key,
            input,
            start,
            data,
            has_more,
            frame: &frame[..len],
            protocol: header[0],
            until_ns: self.now_ns + PATIENCE6_NS,
        })
    }

    fn gather(&mut self, fragment: &Fragment<'_>) -> Ruling {
        let drops = &self.counters.drops;
        let lost = self.reassembly.make_place(2 * fragment.frame.len());
        drops[DropReason::ReassemblyFull as usize].add(lost);
        match self.reassembly.add(fragment) {
            Ok(whole) => self.whole.extend(whole),
            Err(lost) => {
                drops[DropReason::BadFragment as usize].add(lost - 1);
                return Err(DropReason::BadFragment.into());
            }
        }
        // Counted with the packet that it becomes a part of.
        Ok(CONSUMED)
    }

    /// Frames that are kept as fragments.
    pub(crate) fn fragments(&self) -> usize {
        let whole: u64 = self.whole.iter().map(|whole| whole.frames).sum();
        self.reassembly.frames() + whole as usize
    }
}
