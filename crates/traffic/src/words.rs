//! The words of 64 bits in which the frames of a stream differ, worked out for many frames at once.
//!
//! A frame by itself takes some 60 instructions of arithmetic: addresses and ports from its flow's
//! number, two checksums. Vectors do them for a [`Block`] of frames in a tenth of that for each, without a
//! table of flows: all that is kept of a flow is the number of its next frame.
//!
//! ```text
//! IPv4   24 checksum, source, half the destination   32 the other half, ports   40 UDP checksum, sequence
//! IPv6    8 flow label, upper bits   16 flow label, lower bits   32 source   48 destination, source port
//!        56 destination port, UDP checksum
//! ```

use fwdlab_port::{Columns, Frame, Places, count_alike, write_lines};

use crate::flows::Family;
use crate::layout::*;
use crate::numbering::{Ends, LANES, Lanes, Numbering, Steps, padded};

/// What the frames of all flows of a stream share in one size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    /// The first line, zero in what the words hold.
    line: Line,
    /// Which bits of it an arriving frame must have.
    mask: Line,
    /// Length without FCS.
    len: usize,
    /// Sum under the IPv4 header checksum of the first flow.
    ip_sum: u16,
    /// Sum under the UDP checksum of the first flow, with sequence number 0 and no time stamp.
    udp_sum: u16,
}

impl Shared {
    /// What the first flow's line shares with the lines of all. The mask is without sequence numbers.
    pub(crate) fn of(family: Family, first: &Line, (mask, len): (&Line, usize)) -> Self {
        let half = |at| u16::from_be_bytes(field(&first.0, at));
        let (mut line, mut mask) = (*first, *mask);
        let (ip_sum, udp_sum) = match family {
            Family::Inet => {
                line.0[INET_CHECKSUM..INET_UDP + 4].fill(0);
                line.0[INET_UDP_CHECKSUM..INET_STAMP].fill(0);
                mask.0[INET_PAYLOAD..INET_STAMP].fill(0xff);
                (half(INET_CHECKSUM), half(INET_UDP_CHECKSUM))
            }
            Family::Inet6 => {
                line.0[IP..IP + 4].copy_from_slice(&label(0).to_be_bytes());
                // The upper bits of addresses are those of all flows.
                line.0[INET6_SOURCE + 10..INET6_SOURCE + 16].fill(0);
                line.0[INET6_DESTINATION + 10..INET6_UDP + 4].fill(0);
                line.0[INET6_UDP_CHECKSUM..INET6_UDP_CHECKSUM + 2].fill(0);
                mask.0[IP..IP + 4].fill(0xff);
                (0xffff, half(INET6_UDP_CHECKSUM))
            }
        };
        // A checksum is the complement of its sum.
        Self { line, mask, len, ip_sum: !ip_sum, udp_sum: !udp_sum }
    }
}

/// Frames that are worked on together: up to [`LANES`], each a flow, a sequence number, and its words. It is
/// used again and again, so that nothing of it is cleared or moved.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    flows: Lanes<u32>,
    /// Instead, if they are in turn.
    first_in_turn: Option<u32>,
    inputs: Inputs,
    words: Words,
}

/// What words are made of.
#[derive(Clone, Debug)]
struct Inputs {
    steps: Steps,
    numbers: Lanes<u32>,
    ip_sums: Lanes<u32>,
    udp_sums: Lanes<u32>,
}

/// As they lie in memory.
#[derive(Clone, Debug)]
struct Words {
    inet: Columns<{ INET_PLACES.len() }>,
    inet6: Columns<{ INET6_PLACES.len() }>,
}

/// Which words of a line differ.
const INET_PLACES: Places<3> = [3, 4, 5];
const INET6_PLACES: Places<5> = [1, 2, 4, 6, 7];

/// What frames of a block are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Sent,
    Judged,
}

impl Block {
    /// A block of frames that share this.
    pub(crate) fn new(shared: &Shared) -> Self {
        let zeros = [0; LANES];
        let mut inputs =
            Inputs { steps: Steps::default(), numbers: zeros, ip_sums: zeros, udp_sums: zeros };
        (0..LANES).for_each(|lane| inputs.share(lane, shared));
        let zero = [0; LANES];
        let words = Words { inet: [zero; 3], inet6: [zero; 5] };
        Self { flows: zeros, first_in_turn: None, inputs, words }
    }

    /// A frame of another size shares something else.
    #[inline(always)]
    pub(crate) fn share(&mut self, lane: usize, shared: &Shared) {
        self.inputs.share(lane, shared);
    }

    /// The flows are so many in turn, and these their next numbers.
    #[inline(always)]
    pub(crate) fn set_turn(&mut self, first: usize, next: &[u32]) {
        self.first_in_turn = Some(first as u32);
        for (number, next) in self.inputs.numbers.iter_mut().zip(next) {
            *number = *next;
        }
    }

    /// Flow and number of a frame.
    #[inline(always)]
    pub(crate) fn set(&mut self, lane: usize, flow: u32, number: u32) {
        self.first_in_turn = None;
        (self.flows[lane], self.inputs.numbers[lane]) = (flow, number);
    }

    /// Works out the words of the first frames, at least so many.
    #[inline(always)]
    pub(crate) fn work_out(
        &mut self,
        (family, to_be): (Family, Use),
        numbering: &Numbering,
        count: usize,
    ) {
        let (inputs, count) = (&mut self.inputs, padded(count));
        match self.first_in_turn {
            Some(first) => numbering.steps_in_turn(first, count, &mut inputs.steps),
            None => numbering.steps(&self.flows, count, &mut inputs.steps),
        }
        let (words, first) = (&mut self.words, numbering.first());
        match (family, numbering.has_ports()) {
            (Family::Inet, false) => words.inet::<false>(inputs, first, (count, to_be)),
            (Family::Inet, true) => words.inet::<true>(inputs, first, (count, to_be)),
            (Family::Inet6, false) => words.inet6::<false>(inputs, first, count),
            (Family::Inet6, true) => words.inet6::<true>(inputs, first, count),
        }
    }

    /// Writes first lines of frames, from a lane on; those in `later` are asked for meanwhile.
    #[inline(always)]
    pub(crate) fn write(
        &self,
        (frames, later): (&mut [Frame], &[Frame]),
        (family, shared): (Family, &Shared),
        lane: usize,
        realign: impl Fn(&mut Frame),
    ) {
        // In a loop of its own, for it calls what is seldom needed, and the other one keeps much in registers.
        for frame in &mut *frames {
            realign(frame);
            if frame.len() != shared.len {
                frame.set_len(shared.len);
            }
        }
        let (frames, line) = ((frames, later), &shared.line.0);
        match family {
            Family::Inet => write_lines(frames, line, (INET_PLACES, &self.words.inet, lane)),
            Family::Inet6 => write_lines(frames, line, (INET6_PLACES, &self.words.inet6, lane)),
        }
    }

    /// How many frames are, from a lane on, as they must arrive in every bit that is looked at.
    #[inline(always)]
    pub(crate) fn count_right(
        &self,
        frames: (&[Frame], &[Frame]),
        (family, shared): (Family, &Shared),
        lane: usize,
    ) -> usize {
        let whole = (&shared.line.0, &shared.mask.0, shared.len);
        match family {
            Family::Inet => count_alike(frames, whole, (INET_PLACES, &self.words.inet, lane)),
            Family::Inet6 => count_alike(frames, whole, (INET6_PLACES, &self.words.inet6, lane)),
        }
    }
}

impl Inputs {
    #[inline(always)]
    fn share(&mut self, lane: usize, shared: &Shared) {
        self.ip_sums[lane] = shared.ip_sum.into();
        self.udp_sums[lane] = shared.udp_sum.into();
    }

    /// The ports of a flow, where they differ.
    #[inline(always)]
    fn ports<const DIFFER: bool>(&self, first: Ends, at: usize) -> (u32, u32) {
        let first = (u32::from(first.source_port), u32::from(first.destination_port));
        if !DIFFER {
            return first;
        }
        let Steps { source_port, destination_port, .. } = &self.steps;
        (first.0.wrapping_add(source_port[at]), first.1.wrapping_add(destination_port[at]))
    }

    /// How much larger both addresses of a flow are than those of the first one. One's complement sums need no more
    /// of them: 2^16 is 1 modulo 65,535, so that a number counts as much as the sum of its parts of 16 bits.
    #[inline(always)]
    fn addresses(&self, at: usize) -> u32 {
        self.steps.source[at].wrapping_add(self.steps.destination[at])
    }

    /// The sum under the UDP checksum but for the sequence number.
    #[inline(always)]
    fn udp_sum<const PORTS_DIFFER: bool>(&self, at: usize) -> u32 {
        let sum = self.udp_sums[at].wrapping_add(self.addresses(at));
        if !PORTS_DIFFER {
            return sum;
        }
        sum.wrapping_add(self.steps.source_port[at]).wrapping_add(self.steps.destination_port[at])
    }
}

impl Words {
    #[inline(always)]
    fn inet<const PORTS: bool>(
        &mut self,
        inputs: &Inputs,
        first: Ends,
        (count, to_be): (usize, Use),
    ) {
        let [one, two, three] = &mut self.inet;
        let (source, destination) = (first.source as u32, first.destination as u32);
        for at in 0..count {
            let checksum = !fold_two(inputs.ip_sums[at].wrapping_add(inputs.addresses(at)), 0);
            let source = source.wrapping_add(inputs.steps.source[at]);
            let destination = destination.wrapping_add(inputs.steps.destination[at]);
            let (source_port, destination_port) = inputs.ports::<PORTS>(first, at);
            one[at] =
                pair(u32::from(checksum) << 16 | source >> 16, source << 16 | destination >> 16);
            two[at] = pair(destination << 16 | source_port, destination_port << 16);
        }
        for (at, three) in three[..count].iter_mut().enumerate() {
            let number = inputs.numbers[at];
            let checksum = match to_be {
                Use::Sent => {
                    let sum = inputs.udp_sum::<PORTS>(at);
                    udp_checksum(sum.wrapping_add(number & 0xffff).wrapping_add(number >> 16))
                }
                // Not looked at.
                Use::Judged => 0,
            };
            *three = pair(checksum << 16 | number >> 16, number << 16);
        }
    }

    #[inline(always)]
    fn inet6<const PORTS: bool>(&mut self, inputs: &Inputs, first: Ends, count: usize) {
        let [one, two, three, four, five] = &mut self.inet6;
        for at in 0..count {
            let number = inputs.numbers[at] & INET6_SEQUENCE_MASK;
            one[at] = pair(0, number >> 16);
            two[at] = pair(number << 16, 0);
        }
        for at in 0..count {
            let (source, destination) = (inputs.steps.source[at], inputs.steps.destination[at]);
            let (source_port, destination_port) = inputs.ports::<PORTS>(first, at);
            let checksum = udp_checksum(inputs.udp_sum::<PORTS>(at));
            three[at] = (first.source.wrapping_add(source.into()) << 16).to_be();
            let destination = first.destination.wrapping_add(destination.into());
            four[at] = (destination << 16 | u64::from(source_port)).to_be();
            five[at] = pair(destination_port << 16, checksum << 16);
        }
    }
}

/// RFC 768: a computed checksum of zero is sent as all ones, for zero means "none".
#[inline(always)]
fn udp_checksum(sum: u32) -> u32 {
    let checksum = !fold_two(sum, 0);
    (if checksum == 0 { 0xffff } else { checksum }).into()
}

/// Two halves of a word as it lies in memory, each the most significant byte first.
#[inline(always)]
fn pair(first: u32, second: u32) -> u64 {
    let (first, second) = (u64::from(first.to_be()), u64::from(second.to_be()));
    if cfg!(target_endian = "little") { second << 32 | first } else { first << 32 | second }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::FlowSet;
    use crate::plan::{Stream, TrafficPlan};
    use crate::prepared::Prepared;
    use crate::size::FrameSizes;
    use crate::template::differ;
    use fwdlab_port::{Batch, Pool};

    const NUMBERS: [u32; 8] = [0, 1, 0xfffe, 0xffff, 0x1_0000, 0xf_ffff, 0xffff_0000, u32::MAX];

    #[test]
    fn blocks_are_written_and_judged_as_each_frame_by_its_own_line() {
        let pool = Pool::with_frames(2 * LANES).unwrap();
        let (mut batch, mut plain) = (Batch::new(), Batch::new());
        pool.take_batch(&mut batch, LANES);
        pool.take_batch(&mut plain, 1);
        for (source, destination) in [
            // Over a carry into the next 16 bits, and addresses with a checksum near all ones.
            ("198.18.255.250-198.19.0.13:2000", "198.19.10.1-198.19.20.3:2000"),
            ("255.255.0.0-255.255.0.99:65535", "255.255.255.250-255.255.255.255:65535"),
            ("10.0.0.1-10.0.0.3:5-9", "10.9.0.250-10.9.1.4:65530-65535"),
            ("10.0.0.1:7", "10.9.0.1-10.9.255.250:9"),
            (
                "[2001:2:0:10::fffa]-[2001:2:0:10::1:d]:2000",
                "[2001:2:0:8010::1]-[2001:2:0:8010::f]:9",
            ),
            ("[2001:2::ffff:ffff:fff0]-[2001:2::ffff:ffff:ffff]:1-3", "[fe80::1]-[fe80::9]:65535"),
        ] {
            let mut stream = Stream::new(FlowSet::parse(source, destination).unwrap());
            stream.sizes = FrameSizes::fixed(110);
            for (hops, latency) in [(1, false), (3, true)] {
                let mut plan = TrafficPlan::new(vec![stream.clone()]);
                (plan.hops, plan.latency) = (hops, latency);
                let prepared = Prepared::new(&stream, &plan).unwrap();
                let (template, family) = (&prepared.templates[0], prepared.family);
                let (mut sent, mut judged) =
                    (Block::new(&template.sent), Block::new(&template.arrived));
                let flows = stream.flows.count();
                let sequence_mask = match family {
                    Family::Inet => u32::MAX,
                    Family::Inet6 => INET6_SEQUENCE_MASK,
                };
                for first in [0, 7, flows - LANES as u32] {
                    let number = |lane: usize| NUMBERS[lane % NUMBERS.len()];
                    let numbers: [u32; LANES] = std::array::from_fn(number);
                    sent.set_turn(first as usize, &numbers);
                    sent.work_out((family, Use::Sent), &prepared.numbering, LANES);
                    judged.set_turn(first as usize, &numbers);
                    judged.work_out((family, Use::Judged), &prepared.numbering, LANES);
                    sent.write((&mut batch[..], &[]), (family, &template.sent), 0, |_| {});
                    for (lane, frame) in batch.iter_mut().enumerate() {
                        let ends = prepared.numbering.ends(first + lane as u32);
                        let line = template.line_of(family, ends);
                        template.write(&mut plain[0], family, &line, number(lane));
                        assert_eq!(frame.head::<LINE>(), plain[0].head(), "{source} {lane}");
                        assert_eq!(frame.len(), plain[0].len());
                        let arriving = template.arriving(family, &line);
                        let right = template.arriving(family, &Line(*frame.head()));
                        *frame.head_mut() = right.0;
                        let count = |frame: &Frame, block: &Block| {
                            let one = (std::slice::from_ref(frame), &[][..]);
                            block.count_right(one, (family, &template.arrived), lane)
                        };
                        assert_eq!(count(frame, &judged), 1, "{source} {lane}");
                        if lane % 9 > 0 {
                            continue;
                        }
                        for bit in 0..LINE * 8 {
                            frame.head_mut::<LINE>()[bit / 8] ^= 1 << (bit % 8);
                            let head = frame.head::<LINE>();
                            let carried = crate::inspect::sequence_of(head, family);
                            let is_next = carried == number(lane) & sequence_mask;
                            let wanted = is_next && !differ(head, &arriving, &template.mask);
                            let found = count(frame, &judged) == 1;
                            assert_eq!(found, wanted, "{source}, lane {lane}, bit {bit}");
                            frame.head_mut::<LINE>()[bit / 8] ^= 1 << (bit % 8);
                        }
                    }
                }
            }
        }
    }
}
