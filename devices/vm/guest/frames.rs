//! The frames that are sent, and known again when they arrive.
//!
//! The file: the number of frames and the number of flows, in 4 bytes each; then for each frame its
//! flow, where it ends among the frames, and its length without padding, in 4 bytes each; then the
//! frames as they are sent; then as they arrive when the device has forwarded them, which may have
//! taken the padding off.

use crate::sys;
use crate::text::Problem;

const LARGEST: usize = 256 << 20;

/// Bytes in front of the frames' descriptions, and of one of these.
const HEAD: usize = 8;
const DESCRIPTION: usize = 12;

/// Ethernet and the shortest IP header.
const SHORTEST: usize = 34;

#[derive(Clone, Copy)]
pub struct Frames {
    pub count: usize,
    pub flows: usize,
    described: &'static [u8],
    sent: &'static [u8],
    expected: &'static [u8],
}

impl Frames {
    pub fn read(path: &[u8], is_cable: bool) -> Result<Self, Problem> {
        let bytes = sys::whole(path, LARGEST).map_err(Problem::with("cannot read the frames"))?;
        let broken = Problem::new("the file of frames is broken");
        let bytes: &'static [u8] = bytes;
        let Some((head, rest)) = bytes.split_at_checked(HEAD) else { return Err(broken) };
        let [count, flows] = [0, 4].map(|at| word(&head[at..]) as usize);
        let Some((described, frames)) = rest.split_at_checked(DESCRIPTION * count) else {
            return Err(broken);
        };
        if count == 0 || flows == 0 {
            return Err(broken);
        }
        let mut start = 0;
        for description in described.chunks(DESCRIPTION) {
            let [flow, end, least] = [0, 4, 8].map(|at| word(&description[at..]) as usize);
            if flow >= flows || least < SHORTEST || end < start + least {
                return Err(broken);
            }
            start = end;
        }
        if frames.len() != 2 * start {
            return Err(broken);
        }
        let (sent, forwarded) = frames.split_at(start);
        let expected = if is_cable { sent } else { forwarded };
        Ok(Self { count, flows, described, sent, expected })
    }

    fn place(&self, at: usize) -> core::ops::Range<usize> {
        let end = |at: usize| word(&self.described[DESCRIPTION * at + 4..]) as usize;
        let start = if at == 0 { 0 } else { end(at - 1) };
        start..end(at)
    }

    pub fn sent(&self, at: usize) -> &[u8] {
        &self.sent[self.place(at)]
    }

    pub fn expected(&self, at: usize) -> &[u8] {
        &self.expected[self.place(at)]
    }

    /// Whether an arriving frame is this one, with its padding or without.
    pub fn is(&self, at: usize, frame: &[u8]) -> bool {
        let expected = self.expected(at);
        let least = word(&self.described[DESCRIPTION * at + 8..]) as usize;
        (least..=expected.len()).contains(&frame.len()) && same(&frame[..least], &expected[..least])
    }

    pub fn flow(&self, at: usize) -> usize {
        word(&self.described[DESCRIPTION * at..]) as usize
    }

    pub fn after(&self, at: usize) -> usize {
        if at + 1 == self.count { 0 } else { at + 1 }
    }
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len()
        && a.chunks(8).zip(b.chunks(8)).all(|(a, b)| {
            match (<[u8; 8]>::try_from(a), <[u8; 8]>::try_from(b)) {
                (Ok(a), Ok(b)) => u64::from_ne_bytes(a) == u64::from_ne_bytes(b),
                _ => a == b,
            }
        })
}

/// The addresses and ports of a packet, which no router changes.
pub fn addresses(frame: &[u8]) -> Option<&[u8]> {
    match frame.get(12..14)? {
        [8, 0] => frame.get(26..38),
        [0x86, 0xdd] => frame.get(22..58),
        _ => None,
    }
}
