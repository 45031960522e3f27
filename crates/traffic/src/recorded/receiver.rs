//! Checks the frames of a recording that come back.

use std::collections::HashMap;
use std::sync::Arc;

use fwdlab_port::Frame;
use fwdlab_wire::{MacAddr, checksum, ethernet, ipv4, ipv6};

use super::recording::{MARK, Mark, RecordedFrame, Recording, STAMPED, place};
use super::sender::with_mark;
use crate::checks::Checks;
use crate::flows::Family;
use crate::latency::Latency;
use crate::sequence::{Arrival, FlowFaults, FlowState};

/// How far ahead frames are asked for.
const PREFETCH: usize = 8;
/// Of frames without a mark, so many bytes from the IP header on tell them apart.
const TELLING: usize = 64;
const IP: usize = ethernet::HEADER_LEN;
const TTL: usize = IP + ipv4::TTL;
const SUM: std::ops::Range<usize> = IP + ipv4::CHECKSUM.start..IP + ipv4::CHECKSUM.end;
const HOP_LIMIT: usize = IP + ipv6::HOP_LIMIT;

/// The receiver's half.
pub(crate) struct RecordedReceiver {
    recording: Arc<Recording>,
    arrival_mac: MacAddr,
    hops: u8,
    /// The frames without a mark, by what tells them apart.
    unmarked: HashMap<u64, u32>,
    flows: Vec<FlowState>,
    is_seen: Vec<bool>,
    /// Empty until the first fault.
    faults: Vec<FlowFaults>,
    received: u64,
    duplicated: u64,
    checks: Checks,
    /// Since the last frame whose payload was looked at.
    since_whole: u64,
}

impl RecordedReceiver {
    pub(crate) fn new(recording: &Arc<Recording>, arrival_mac: MacAddr, hops: u8) -> Self {
        let unmarked = recording.frames.iter().enumerate();
        let unmarked = unmarked
            .filter(|(_, frame)| frame.mark == Mark::None)
            .map(|(number, frame)| (telling(recording.bytes_of(frame)), number as u32))
            .collect();
        let flows = recording.flows() as usize;
        Self {
            recording: Arc::clone(recording),
            arrival_mac,
            hops,
            unmarked,
            flows: vec![FlowState::default(); flows],
            is_seen: vec![false; flows],
            faults: Vec::new(),
            received: 0,
            duplicated: 0,
            checks: Checks::default(),
            since_whole: 0,
        }
    }

    /// Checks frames that came in at `now`.
    pub(crate) fn check(&mut self, frames: &[Frame], now: u64, mut latency: Option<&mut Latency>) {
        for at in 0..frames.len() {
            if let Some(ahead) = frames.get(at + PREFETCH) {
                ahead.prefetch_write();
            }
            let frame = &frames[at];
            match self.find(frame) {
                None => self.checks.foreign += 1,
                Some(number) => self.take(frame, number, now, latency.as_deref_mut()),
            }
        }
    }

    /// Which frame of the recording this is, whatever has become of it.
    fn find(&self, frame: &[u8]) -> Option<u32> {
        // As IP says it: short frames are padded.
        let packet = &frame.get(IP..end_of(frame)?)?;
        for len in [STAMPED, MARK] {
            let Some(at) = place(packet.len(), len).map(|at| IP + at) else { continue };
            let Some(bytes) = frame.get(at..at + 4) else { continue };
            let number = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let found = self.recording.frames.get(number as usize);
            let is_it = |it: &&RecordedFrame| it.mark.at() == Some(at) && self.is_of(it, frame);
            if found.filter(is_it).is_some() {
                return Some(number);
            }
        }
        let number = *self.unmarked.get(&telling(frame))?;
        self.is_of(&self.recording.frames[number as usize], frame).then_some(number)
    }

    /// Whether length, family and addresses are those of this frame.
    fn is_of(&self, described: &RecordedFrame, frame: &[u8]) -> bool {
        let addresses = match described.family {
            Family::Inet => IP + ipv4::SOURCE.start..IP + ipv4::DESTINATION.end,
            Family::Inet6 => IP + ipv6::SOURCE.start..IP + ipv6::DESTINATION.end,
        };
        let own = self.recording.bytes_of(described);
        (described.least..=own.len()).contains(&frame.len())
            && frame[ethernet::ETHER_TYPE] == own[ethernet::ETHER_TYPE]
            && end_of(frame) == Some(described.least)
            && frame[addresses.clone()] == own[addresses]
    }

    #[inline]
    fn take(&mut self, frame: &[u8], number: u32, now: u64, latency: Option<&mut Latency>) {
        let described = self.recording.frames[number as usize];
        let flow = described.flow as usize;
        self.received += 1;
        self.is_seen[flow] = true;
        if let Some(at) = described.mark.at() {
            let number = |at| {
                let bytes: [u8; 4] = [frame[at], frame[at + 1], frame[at + 2], frame[at + 3]];
                u32::from_be_bytes(bytes)
            };
            let arrival = self.flows[flow].take(number(at + 4), u32::MAX);
            if arrival != Arrival::InOrder {
                self.count_fault(flow, arrival);
            }
            if let (Mark::Stamped(_), Some(latency)) = (described.mark, latency) {
                let stamp = u64::from(number(at + 8)) << 32 | u64::from(number(at + 12));
                latency.record(std::iter::once(stamp), now);
            }
        }
        self.since_whole += 1;
        let is_whole = self.since_whole >= Checks::WHOLE_EVERY;
        if is_whole {
            self.since_whole = 0;
            self.checks.read_whole += 1;
        }
        if !self.has_right_header(frame, &described) {
            self.diagnose(frame, &described);
        } else if is_whole && !self.has_right_payload(frame, &described) {
            self.checks.bad_payload += 1;
        }
    }

    /// The Ethernet and IP headers, but for the source MAC address.
    fn has_right_header(&self, frame: &[u8], described: &RecordedFrame) -> bool {
        let own = self.recording.bytes_of(described);
        let is_ttl_right = |at: usize| frame[at] == own[at].wrapping_sub(self.hops);
        frame[ethernet::DESTINATION] == self.arrival_mac.0
            && match described.family {
                Family::Inet => {
                    let header = IP + usize::from(own[IP] & 15) * 4;
                    is_ttl_right(TTL)
                        && frame[IP..TTL] == own[IP..TTL]
                        && frame[TTL + 1] == own[TTL + 1]
                        && frame[SUM.end..header] == own[SUM.end..header]
                        && checksum::finish(checksum::sum(&frame[IP..header])) == 0
                }
                Family::Inet6 => {
                    let header = IP + ipv6::HEADER_LEN;
                    is_ttl_right(HOP_LIMIT)
                        && frame[IP..HOP_LIMIT] == own[IP..HOP_LIMIT]
                        && frame[HOP_LIMIT + 1..header] == own[HOP_LIMIT + 1..header]
                }
            }
    }

    /// All behind the IP header, of a frame that has a mark; what has none is told apart by it.
    #[cold]
    fn has_right_payload(&self, frame: &[u8], described: &RecordedFrame) -> bool {
        let own = self.recording.bytes_of(described);
        let start = match described.family {
            Family::Inet => IP + usize::from(own[IP] & 15) * 4,
            Family::Inet6 => IP + ipv6::HEADER_LEN,
        };
        let Some(at) = described.mark.at() else { return true };
        let end = at + if matches!(described.mark, Mark::Stamped(_)) { STAMPED } else { MARK };
        let sum = described.checksum_at.map(usize::from);
        let is_sum_right = sum.is_none_or(|field| {
            frame[field..field + 2] == with_mark([own[field], own[field + 1]], &frame[at..end])
        });
        let is_alike = |range: std::ops::Range<usize>| frame[range.clone()] == own[range];
        let before = sum.map_or(at, |field| field.clamp(start, at));
        let behind = sum.map_or(at, |field| (field + 2).clamp(start, at));
        is_sum_right
            && is_alike(start..before)
            && is_alike(behind..at)
            && is_alike(end..described.least)
    }

    /// Counts what is wrong with a header.
    #[cold]
    fn diagnose(&mut self, frame: &[u8], described: &RecordedFrame) {
        let own = self.recording.bytes_of(described);
        let before = self.checks.faults();
        if frame[ethernet::DESTINATION] != self.arrival_mac.0 {
            self.checks.wrong_mac += 1;
        }
        let ttl = match described.family {
            Family::Inet => {
                let header = IP + usize::from(own[IP] & 15) * 4;
                if checksum::finish(checksum::sum(&frame[IP..header])) != 0 {
                    self.checks.bad_checksum += 1;
                }
                TTL
            }
            Family::Inet6 => HOP_LIMIT,
        };
        if frame[ttl] != own[ttl].wrapping_sub(self.hops) {
            self.checks.wrong_ttl += 1;
        }
        if self.checks.faults() == before {
            self.checks.wrong_header += 1;
        }
    }

    /// Looks at a frame that came back on the sending port.
    #[cold]
    pub(crate) fn check_returned(&mut self, frame: &[u8]) {
        match self.find(frame) {
            Some(_) => {
                self.checks.misrouted += 1;
                self.checks.returned += 1;
            }
            None => self.checks.foreign += 1,
        }
    }

    #[cold]
    fn count_fault(&mut self, flow: usize, arrival: Arrival) {
        if self.faults.is_empty() {
            self.faults = vec![FlowFaults::default(); self.flows.len()];
        }
        match self.faults[flow].count(arrival) {
            Arrival::Late => self.checks.reordered += 1,
            Arrival::Again => {
                self.checks.duplicated += 1;
                self.duplicated += 1;
            }
            Arrival::InOrder | Arrival::Ahead(_) => {}
        }
    }

    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    pub(crate) fn duplicated(&self) -> u64 {
        self.duplicated
    }

    pub(crate) fn checks(&self) -> Checks {
        self.checks
    }

    pub(crate) fn flows_seen(&self) -> u32 {
        self.is_seen.iter().filter(|is_seen| **is_seen).count() as u32
    }

    pub(crate) fn faults_of(&self, flow: usize, sent: u32) -> FlowFaults {
        let faults = self.faults.get(flow).copied().unwrap_or_default();
        faults.at_end(&self.flows[flow], sent)
    }
}

/// Where the IP packet of a frame ends, as its header says.
fn end_of(frame: &[u8]) -> Option<usize> {
    let half = |at: usize| {
        let bytes = frame.get(at..at + 2)?;
        Some(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
    };
    let packet = match half(ethernet::ETHER_TYPE.start)? as u16 {
        ethernet::TYPE_IPV6 => half(IP + ipv6::PAYLOAD_LENGTH.start)? + ipv6::HEADER_LEN,
        _ => half(IP + ipv4::TOTAL_LENGTH.start)?,
    };
    Some(IP + packet).filter(|end| *end <= frame.len())
}

/// A number made of what stays as it is on the way: the headers without TTL and header checksum.
fn telling(frame: &[u8]) -> u64 {
    // 2^64 / golden ratio, as in Fibonacci hashing.
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let packet = end_of(frame).and_then(|end| frame.get(IP..end)).unwrap_or_default();
    let is_inet6 = frame.get(ethernet::ETHER_TYPE) == Some(&ethernet::TYPE_IPV6.to_be_bytes()[..]);
    let mut sum = packet.len() as u64;
    for (at, chunk) in packet.chunks(8).take(TELLING / 8).enumerate() {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        match (at, is_inet6) {
            // Byte 7 of IPv6, bytes 8, 10 and 11 of IPv4.
            (0, true) => word[ipv6::HOP_LIMIT] = 0,
            (1, false) => (word[0], word[2], word[3]) = (0, 0, 0),
            _ => {}
        }
        sum = (sum ^ u64::from_ne_bytes(word)).wrapping_mul(GOLDEN).rotate_left(29);
    }
    sum
}
