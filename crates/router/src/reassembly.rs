//! Fragments of packets to the router itself, until they are whole (RFC 791, section 3.2; RFC 815;
//! RFC 8200, section 4.5): bounded in memory and time, whatever is sent.
//!
//! Fragments that overlap spoil their packet, in both families (RFC 5722, RFC 8200): what belongs to
//! it is dropped until its time is up. An exact copy of a fragment is dropped alone.

use std::collections::VecDeque;

/// Most packets that are put together at a time.
const MOST_PACKETS: usize = 64;
/// Most fragments of a packet.
const MOST_PIECES: usize = 128;
/// Most bytes of all fragments.
pub(crate) const MOST_BYTES: usize = 256 << 10;
/// What an IP packet may carry, bytes.
const MOST_DATA: usize = 65_535;

/// Which packet a fragment belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    /// IPv4 addresses stand in the lowest bits; a packet of the other family differs in `is_inet6`.
    pub(crate) source: u128,
    pub(crate) destination: u128,
    pub(crate) identification: u32,
    /// IPv4 only, else 0.
    pub(crate) protocol: u8,
    pub(crate) is_inet6: bool,
}

/// A fragment.
pub(crate) struct Fragment<'a> {
    pub(crate) key: Key,
    /// Port that it came in on.
    pub(crate) input: u8,
    /// Place of its data in the packet's, bytes.
    pub(crate) start: usize,
    pub(crate) data: &'a [u8],
    pub(crate) has_more: bool,
    /// The frame that it is in, without its padding.
    pub(crate) frame: &'a [u8],
    /// What the data begins with: the protocol of IPv4, the next header of IPv6.
    pub(crate) protocol: u8,
    /// When the router gives the packet up.
    pub(crate) until_ns: u64,
}

/// All of a packet, or what there is of it once its time is up.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) key: Key,
    pub(crate) input: u8,
    /// The frame of the first fragment; empty when it never came.
    pub(crate) first: Vec<u8>,
    pub(crate) protocol: u8,
    /// What the fragments carried; empty when the packet is not whole.
    pub(crate) data: Vec<u8>,
    /// How many frames its fragments were.
    pub(crate) frames: u64,
    /// An echo request whose way back, which has been counted, does not take the reply in one piece.
    pub(crate) is_too_long: bool,
}

/// What is known of a packet.
struct Partial {
    key: Key,
    input: u8,
    until_ns: u64,
    /// Data by its place, in order, without overlap.
    pieces: Vec<(usize, Vec<u8>)>,
    /// How long the data is, once the last fragment is there.
    end: Option<usize>,
    first: Vec<u8>,
    protocol: u8,
    /// Fragments have overlapped: nothing is kept.
    is_spoilt: bool,
}

impl Partial {
    fn bytes(&self) -> usize {
        self.first.len() + self.pieces.iter().map(|(_, data)| data.len()).sum::<usize>()
    }

    /// Forgets all data; returns how many fragments that were.
    fn spoil(&mut self) -> u64 {
        self.is_spoilt = true;
        self.first = Vec::new();
        std::mem::take(&mut self.pieces).len() as u64
    }

    /// Takes a fragment in. False when it must not be there: nothing has changed then.
    fn insert(&mut self, fragment: &Fragment<'_>) -> bool {
        let (start, end) = (fragment.start, fragment.start + fragment.data.len());
        let at = self.pieces.partition_point(|(other, _)| *other < start);
        let overlaps_before = at > 0 && self.pieces[at - 1].0 + self.pieces[at - 1].1.len() > start;
        let overlaps_next = self.pieces.get(at).is_some_and(|(next, _)| *next < end);
        let last = self.pieces.last().map_or(0, |(start, data)| start + data.len());
        let is_beyond = self.end.is_some_and(|known| match fragment.has_more {
            true => end > known,
            false => end != known,
        });
        let is_short = !fragment.has_more && last > end;
        if overlaps_before || overlaps_next || is_beyond || is_short {
            return false;
        }
        if start == 0 {
            (self.first, self.protocol) = (fragment.frame.to_vec(), fragment.protocol);
            self.input = fragment.input;
        }
        if !fragment.has_more {
            self.end = Some(end);
        }
        self.pieces.insert(at, (start, fragment.data.to_vec()));
        true
    }

    fn is_whole(&self) -> bool {
        let mut expected = 0;
        for (start, data) in &self.pieces {
            if *start != expected {
                return false;
            }
            expected += data.len();
        }
        self.end == Some(expected)
    }

    fn give(self) -> Whole {
        let is_whole = self.is_whole() && !self.is_spoilt;
        let frames = self.pieces.len() as u64;
        let data = match is_whole {
            true => self.pieces.into_iter().flat_map(|(_, data)| data).collect(),
            false => Vec::new(),
        };
        let Self { key, input, first, protocol, .. } = self;
        Whole { key, input, first, protocol, data, frames, is_too_long: false }
    }
}

/// All packets that are not whole yet, the oldest first.
#[derive(Default)]
pub(crate) struct Reassembly {
    partials: VecDeque<Partial>,
}

impl Reassembly {
    /// Takes a fragment in; the whole packet when it was the last that was missing.
    ///
    /// # Errors
    /// It was not kept: how many fragments are lost, this one among them.
    pub(crate) fn add(&mut self, fragment: &Fragment<'_>) -> Result<Option<Whole>, u64> {
        if fragment.data.is_empty() || fragment.start + fragment.data.len() > MOST_DATA {
            return Err(1);
        }
        let found = self.partials.iter().position(|partial| partial.key == fragment.key);
        let at = found.unwrap_or_else(|| {
            self.partials.push_back(Partial {
                key: fragment.key,
                input: fragment.input,
                until_ns: fragment.until_ns,
                pieces: Vec::new(),
                end: None,
                first: Vec::new(),
                protocol: fragment.protocol,
                is_spoilt: false,
            });
            self.partials.len() - 1
        });
        let partial = &mut self.partials[at];
        let is_same = |(start, data): &(usize, Vec<u8>)| {
            *start == fragment.start && data.as_slice() == fragment.data
        };
        if partial.is_spoilt || partial.pieces.iter().any(is_same) {
            return Err(1);
        }
        if partial.pieces.len() == MOST_PIECES || !partial.insert(fragment) {
            return Err(1 + partial.spoil());
        }
        if !partial.is_whole() {
            return Ok(None);
        }
        Ok(self.partials.remove(at).map(Partial::give))
    }

    /// Gives up the oldest packets until a fragment has its place; returns how many fragments are lost.
    pub(crate) fn make_place(&mut self, bytes: usize) -> u64 {
        let mut lost = 0;
        while self.partials.len() >= MOST_PACKETS || self.bytes() + bytes > MOST_BYTES {
            let Some(oldest) = self.partials.pop_front() else { break };
            lost += oldest.pieces.len() as u64;
        }
        lost
    }

    /// The packets whose time is up.
    pub(crate) fn expire(&mut self, now_ns: u64) -> Vec<Whole> {
        // Both families wait for different times, so that the oldest need not be the first to go.
        let mut late = Vec::new();
        while let Some(at) = self.partials.iter().position(|partial| partial.until_ns <= now_ns) {
            late.extend(self.partials.remove(at).map(Partial::give));
        }
        late
    }

    /// How many frames are kept as fragments.
    pub(crate) fn frames(&self) -> usize {
        self.partials.iter().map(|partial| partial.pieces.len()).sum()
    }

    fn bytes(&self) -> usize {
        self.partials.iter().map(Partial::bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key =
        Key { source: 1, destination: 2, identification: 3, protocol: 17, is_inet6: false };

    fn fragment(start: usize, data: &[u8], has_more: bool) -> Fragment<'_> {
        Fragment {
            key: KEY,
            input: 0,
            start,
            data,
            has_more,
            frame: &[7; 60],
            protocol: 17,
            until_ns: 100,
        }
    }

    #[test]
    fn a_packet_is_whole_in_any_order_of_its_fragments() {
        let data: Vec<u8> = (0..40).collect();
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for order in orders {
            let mut all = Reassembly::default();
            let mut whole = None;
            for (turn, part) in order.into_iter().enumerate() {
                assert_eq!(all.frames(), turn);
                let end = (part * 16 + 16).min(40);
                whole = all.add(&fragment(part * 16, &data[part * 16..end], part < 2)).unwrap();
                assert_eq!(whole.is_some(), turn == 2, "{order:?}");
            }
            let whole = whole.unwrap();
            assert_eq!((whole.data, whole.frames, whole.first.len()), (data.clone(), 3, 60));
            assert_eq!((all.frames(), all.bytes()), (0, 0));
        }
    }

    #[test]
    fn overlaps_spoil_a_packet_for_good_and_copies_do_not() {
        let mut all = Reassembly::default();
        assert!(all.add(&fragment(8, &[1; 16], true)).unwrap().is_none());
        assert_eq!(all.add(&fragment(8, &[1; 16], true)).unwrap_err(), 1);
        assert_eq!(all.frames(), 1);
        for (start, len, has_more) in [
            (0, 16, true),
            (16, 16, true),
            (8, 8, true),
            (0, 32, true),
            (8, 16, false),
            (0, 8, false),
        ] {
            let mut all = Reassembly::default();
            assert!(all.add(&fragment(8, &[1; 16], true)).unwrap().is_none());
            let other = [2; 32];
            let lost = all.add(&fragment(start, &other[..len], has_more)).unwrap_err();
            assert_eq!(lost, 2, "{start} {len}");
            // The rest of it, too.
            assert_eq!(all.add(&fragment(0, &[1; 8], true)).unwrap_err(), 1);
            assert_eq!((all.frames(), all.expire(100).len()), (0, 1));
        }
    }

    #[test]
    fn nothing_lies_behind_the_end_and_there_is_one_end() {
        for (start, has_more) in [(24, true), (24, false), (8, false)] {
            let mut all = Reassembly::default();
            assert!(all.add(&fragment(16, &[1; 8], false)).unwrap().is_none());
            assert!(all.add(&fragment(start, &[1; 8], has_more)).is_err(), "{start}");
        }
        let mut all = Reassembly::default();
        assert!(all.add(&fragment(65_528, &[1; 8], false)).is_err());
        assert!(all.add(&fragment(0, &[], true)).is_err());
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_go_first() {
        let mut all = Reassembly::default();
        let (mut lost, mut kept) = (0, 0);
        let data = [1; 1400];
        for number in 0..10_000u32 {
            let mut one = fragment(0, &data, true);
            one.key.identification = number;
            lost += all.make_place(2 * data.len());
            kept += u64::from(all.add(&one).is_ok());
            assert!(all.bytes() <= MOST_BYTES && all.partials.len() <= MOST_PACKETS);
        }
        assert_eq!((kept, lost + all.frames() as u64), (10_000, 10_000));
        let oldest = all.partials.front().unwrap().key.identification;
        assert_eq!(oldest as usize, 10_000 - all.partials.len());
        // Many small fragments of one packet.
        let mut all = Reassembly::default();
        let lost = (0..500).find_map(|at| all.add(&fragment(at * 16, &[1; 8], true)).err());
        assert_eq!(lost, Some(MOST_PIECES as u64 + 1));
    }
}
