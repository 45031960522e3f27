//! The segments of a TCP session as a stateful device wants to see them (RFC 9293, sections 3.5 and 3.6):
//! three open it, data go there and back in turns, three close it. Nothing here answers: what each segment
//! says is known beforehand.

use fwdlab_wire::tcp::flag;

/// First sequence numbers of both ends: they differ, so that one taken for the other is seen.
const FIRST: [u32; 2] = [1_000, 500_000];

/// One segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its flags ([`fwdlab_wire::tcp::flag`]).
    pub flags: u8,
    /// Its sequence number.
    pub sequence: u32,
    /// What it acknowledges; 0 in the first.
    pub acknowledgement: u32,
    /// Bytes of data.
    pub data_bytes: u32,
}

/// The segments of a session from its beginning, those with an even number to the destination, the others
/// back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments(Vec<Segment>);

impl Segments {
    /// Segments that open a session, and as many that close it.
    pub const OPENING: usize = 3;

    /// So many segments, those between beginning and end with so many bytes of data; the last three close
    /// the session where `is_closed`, and are as the others where not.
    pub fn new(count: usize, data_bytes: u32, is_closed: bool) -> Self {
        let mut next = FIRST;
        let end = if is_closed { count.saturating_sub(Self::OPENING) } else { count };
        let segment = |number: usize| {
            let (flags, data_bytes) = match number {
                0 => (flag::SYN, 0),
                1 => (flag::SYN | flag::ACK, 0),
                2 => (flag::ACK, 0),
                _ if number < end => (flag::ACK | flag::PSH, data_bytes),
                // The other end has nothing more to say either: FIN, FIN, and the last acknowledgement.
                _ if number < end + 2 => (flag::FIN | flag::ACK, 0),
                _ => (flag::ACK, 0),
            };
            let way = number % 2;
            let acknowledgement = if number == 0 { 0 } else { next[1 - way] };
            let sequence = next[way];
            // SYN and FIN count as a byte.
            let counted = u32::from(flags & (flag::SYN | flag::FIN) != 0);
            next[way] = sequence.wrapping_add(data_bytes + counted);
            Segment { flags, sequence, acknowledgement, data_bytes }
        };
        Self((0..count).map(segment).collect())
    }

    /// The segment with this number, from 0; nothing beyond the last.
    pub fn get(&self, number: usize) -> Option<Segment> {
        self.0.get(number).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_segment_goes_on_where_the_last_of_its_end_stopped() {
        let Segments(all) = Segments::new(9, 6, true);
        let flags: Vec<u8> = all.iter().map(|segment| segment.flags).collect();
        assert_eq!(flags, [0x02, 0x12, 0x10, 0x18, 0x18, 0x18, 0x11, 0x11, 0x10]);
        let own: Vec<_> =
            all.iter().map(|s| (s.sequence, s.acknowledgement, s.data_bytes)).collect();
        let wanted = [
            (1_000, 0, 0),
            (500_000, 1_001, 0),
            (1_001, 500_001, 0),
            (500_001, 1_001, 6),
            (1_001, 500_007, 6),
            (500_007, 1_007, 6),
            (1_007, 500_013, 0),
            (500_013, 1_008, 0),
            (1_008, 500_014, 0),
        ];
        assert_eq!(own, wanted);
    }

    #[test]
    fn a_session_that_stays_open_sends_data_to_the_last() {
        let Segments(all) = Segments::new(7, 6, false);
        assert!(all[3..].iter().all(|segment| segment.flags == 0x18 && segment.data_bytes == 6));
        assert_eq!(Segments(all).get(7), None);
        assert_eq!(Segments::new(2, 0, true).get(1).map(|own| own.flags), Some(0x12));
    }
}
