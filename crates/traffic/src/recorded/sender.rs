//! Writes the frames of a recording, one after the other, over and over.

use std::sync::Arc;

use fwdlab_port::Frame;
use fwdlab_wire::{MacAddr, checksum, ethernet};

use super::recording::{Mark, RecordedFrame, Recording};

/// How far ahead the recording is asked for.
const PREFETCH: usize = 4;

/// The sender's half.
pub(crate) struct RecordedSender {
    recording: Arc<Recording>,
    macs: [MacAddr; 2],
    latency: bool,
    next: usize,
    /// The next number of each flow's marked frames.
    sequence: Vec<u32>,
    is_sent: Vec<bool>,
    sent: u64,
    bytes: u64,
}

impl RecordedSender {
    pub(crate) fn new(recording: &Arc<Recording>, macs: [MacAddr; 2], latency: bool) -> Self {
        let flows = recording.flows() as usize;
        Self {
            recording: Arc::clone(recording),
            macs,
            latency,
            next: 0,
            sequence: vec![0; flows],
            is_sent: vec![false; flows],
            sent: 0,
            bytes: 0,
        }
    }

    /// Writes the next frames; their headroom is right.
    pub(crate) fn write(&mut self, frames: &mut [Frame], stamp: u64) {
        let recording = &*self.recording;
        for at in 0..frames.len() {
            if let Some(ahead) = frames.get(at + PREFETCH) {
                ahead.prefetch_write();
            }
            let frame = &mut frames[at];
            let described = &recording.frames[self.next];
            let bytes = recording.bytes_of(described);
            frame.set_len(bytes.len());
            frame.copy_from_slice(bytes);
            frame[ethernet::DESTINATION].copy_from_slice(&self.macs[1].0);
            frame[ethernet::SOURCE].copy_from_slice(&self.macs[0].0);
            let flow = described.flow as usize;
            if described.mark != Mark::None {
                let stamp = self.latency.then_some(stamp);
                mark(frame, described, (self.next as u32, self.sequence[flow]), stamp);
                self.sequence[flow] = self.sequence[flow].wrapping_add(1);
            }
            self.is_sent[flow] = true;
            self.sent += 1;
            self.bytes += (bytes.len() + ethernet::FCS_LEN) as u64;
            self.next = if self.next + 1 == recording.frames() { 0 } else { self.next + 1 };
        }
    }

    /// Takes back the frames that were written last, from the latest on.
    #[cold]
    pub(crate) fn retract(&mut self, count: usize) {
        for _ in 0..count {
            self.next = self.next.checked_sub(1).unwrap_or(self.recording.frames() - 1);
            let frame = &self.recording.frames[self.next];
            if frame.mark != Mark::None {
                let sequence = &mut self.sequence[frame.flow as usize];
                *sequence = sequence.wrapping_sub(1);
            }
            self.sent -= 1;
            self.bytes -= (frame.len + ethernet::FCS_LEN) as u64;
        }
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn sent_of(&self, flow: usize) -> u32 {
        self.sequence[flow]
    }

    pub(crate) fn distinct_flows(&self) -> u32 {
        self.is_sent.iter().filter(|is_sent| **is_sent).count() as u32
    }
}

/// Puts a mark and perhaps a stamp where zeros are, and the checksum right.
fn mark(
    frame: &mut [u8],
    described: &RecordedFrame,
    (number, sequence): (u32, u32),
    stamp: Option<u64>,
) {
    let Some(at) = described.mark.at() else { return };
    frame[at..at + 4].copy_from_slice(&number.to_be_bytes());
    frame[at + 4..at + 8].copy_from_slice(&sequence.to_be_bytes());
    let mut end = at + 8;
    if let (Mark::Stamped(_), Some(stamp)) = (described.mark, stamp) {
        frame[end..end + 8].copy_from_slice(&stamp.to_be_bytes());
        end += 8;
    }
    let Some(field) = described.checksum_at.map(usize::from) else { return };
    let sum = with_mark([frame[field], frame[field + 1]], &frame[at..end]);
    frame[field..field + 2].copy_from_slice(&sum);
}

/// The checksum of a segment in which these words were zero (RFC 1624: HC' = ~(~HC + m')). As 0 and
/// 0xffff are the same number, UDP's "no checksum" never comes out.
pub(super) fn with_mark(before: [u8; 2], words: &[u8]) -> [u8; 2] {
    let sum = checksum::finish(u64::from(!u16::from_be_bytes(before)) + checksum::sum(words));
    if sum == 0 { [0xff; 2] } else { sum.to_be_bytes() }
}
