//! Which test frames have their time taken by stamps of the kernel or the card: a sample, told by what no
//! router changes in them (addresses, ports, sequence number), so that frames need no room of their own
//! for it and none is added to the traffic.

use fwdlab_port::stamps::{FilterLine, StampRule};
use fwdlab_wire::ethernet;

use crate::layout::*;

/// One frame in so many, spread over flows and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probes {
    every: u32,
}

/// Frames of the sample in one run. Not all are stamped, and a run may be slower than the one before.
const ENOUGH: f64 = 1_500.0;
/// At least so many a second.
const LEAST_PER_SECOND: f64 = 500.0;
/// One in so many, where it is not known how many frames are sent: 500 of 125,000.
const OF_UNKNOWN: u32 = 250;

/// An odd number (2^32 divided by the golden ratio) whose multiples are far apart.
const SPREAD: u32 = 0x9e37_79b1;
/// The upper bits of a product are those that all lower ones have gone into.
const UPPER: u32 = 16;

const KIND: usize = ethernet::ETHER_TYPE.start;
const INET: u32 = ethernet::TYPE_IPV4 as u32;
const INET6: u32 = ethernet::TYPE_IPV6 as u32;
/// The last four bytes of each address.
const INET_ENDS: [usize; 2] = [INET_ADDRESSES, INET_ADDRESSES + 4];
const INET6_ENDS: [usize; 2] = [INET6_SOURCE + 12, INET6_DESTINATION + 12];

impl Probes {
    /// At most so many frames of a sample a second: cards stamp one sent frame at a time, and none that comes
    /// too soon after.
    pub const MOST_PER_SECOND: f64 = 2_000.0;

    /// A sample for frames a second, as far as they are known, in a run of so many seconds.
    pub fn of_load(pps: Option<f64>, seconds: f64) -> Self {
        let wanted = (ENOUGH / seconds).clamp(LEAST_PER_SECOND, Self::MOST_PER_SECOND);
        Self::every(pps.map_or(OF_UNKNOWN, |pps| (pps / wanted) as u32))
    }

    /// One frame in `every`.
    pub fn every(every: u32) -> Self {
        // What is compared has 16 bits.
        Self { every: every.clamp(1, 1 << 15) }
    }

    fn takes(self, sum: u32) -> bool {
        (sum.wrapping_mul(SPREAD) >> UPPER).is_multiple_of(self.every)
    }
}

impl StampRule for Probes {
    fn key(&self, frame: &[u8]) -> Option<u64> {
        let line = frame.first_chunk::<LINE>().copied().or_else(|| {
            // The smallest frames end before the line does.
            let mut line = [0; LINE];
            let is_long_enough = frame.len() >= INET_PAYLOAD + 4;
            line.get_mut(..frame.len()).filter(|_| is_long_enough)?.copy_from_slice(frame);
            Some(line)
        })?;
        let word = |at| u32::from_be_bytes(field(&line, at));
        let (sequence, ends, from, to) = match u32::from(u16::from_be_bytes(field(&line, KIND))) {
            INET => (word(INET_PAYLOAD), INET_ENDS, INET_ADDRESSES, INET_UDP + 4),
            INET6 => (word(IP) & INET6_SEQUENCE_MASK, INET6_ENDS, INET6_SOURCE, INET6_UDP + 4),
            _ => return None,
        };
        let sum =
            ends.iter().fold(sequence, |sum, &at| sum.wrapping_mul(SPREAD).wrapping_add(word(at)));
        self.takes(sum).then(|| digest(sequence, &line[from..to]))
    }

    fn most_per_second(&self) -> u32 {
        Self::MOST_PER_SECOND as u32
    }

    fn filter(&self) -> Vec<FilterLine> {
        let mut lines = vec![load(HALF, KIND), jump(JUMP_IF_EQUAL, INET, 0, 10)];
        lines.push(load(WORD, INET_PAYLOAD));
        lines.extend(add_ends(INET_ENDS));
        lines.push(jump(JUMP, 11, 0, 0));
        lines.push(jump(JUMP_IF_EQUAL, INET6, 0, 15));
        lines.extend([load(WORD, IP), with(AND, INET6_SEQUENCE_MASK)]);
        lines.extend(add_ends(INET6_ENDS));
        let rest = [with(MULTIPLY, SPREAD), with(SHIFT_RIGHT, UPPER), with(MODULO, self.every)];
        lines.extend(rest);
        lines.push(jump(JUMP_IF_EQUAL, 0, 0, 1));
        lines.extend([with(RETURN, u32::MAX), with(RETURN, 0)]);
        lines
    }
}

/// FNV-1a over what tells a frame from all others of a trial.
fn digest(sequence: u32, ends: &[u8]) -> u64 {
    let step = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    sequence.to_be_bytes().iter().chain(ends).fold(0xcbf2_9ce4_8422_2325, step)
}

/// Codes of linux/filter.h.
const WORD: u16 = 0x20;
const HALF: u16 = 0x28;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const AND: u16 = 0x54;
const MULTIPLY: u16 = 0x24;
const SHIFT_RIGHT: u16 = 0x74;
const MODULO: u16 = 0x94;
const RETURN: u16 = 0x06;
const KEEP: u16 = 0x07;
const ADD_KEPT: u16 = 0x0c;

const fn load(width: u16, at: usize) -> FilterLine {
    with(width, at as u32)
}

const fn with(code: u16, value: u32) -> FilterLine {
    jump(code, value, 0, 0)
}

const fn jump(code: u16, value: u32, if_true: u8, if_false: u8) -> FilterLine {
    FilterLine { code, if_true, if_false, value }
}

/// Adds the ends of both addresses to the sum, which is spread before each: plain sums of neighbours are few.
fn add_ends(ends: [usize; 2]) -> impl Iterator<Item = FilterLine> {
    ends.into_iter()
        .flat_map(|at| [with(MULTIPLY, SPREAD), with(KEEP, 0), load(WORD, at), with(ADD_KEPT, 0)])
}

#[cfg(test)]
mod tests {
    use fwdlab_port::{Batch, Pool};

    use super::*;
    use crate::{FlowSet, FrameSizes, Sender, Stream, TrafficPlan};

    /// Runs a filter as the kernel does.
    fn passes(lines: &[FilterLine], frame: &[u8]) -> bool {
        let (mut sum, mut kept, mut at) = (0_u32, 0_u32, 0_usize);
        loop {
            let FilterLine { code, if_true, if_false, value } = lines[at];
            at += 1;
            let from = value as usize;
            match code {
                WORD | HALF => {
                    let len = if code == WORD { 4 } else { 2 };
                    let Some(bytes) = frame.get(from..from + len) else { return false };
                    sum = bytes.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
                }
                KEEP => kept = sum,
                ADD_KEPT => sum = sum.wrapping_add(kept),
                AND => sum &= value,
                MULTIPLY => sum = sum.wrapping_mul(value),
                SHIFT_RIGHT => sum >>= value,
                MODULO => sum %= value,
                JUMP => at += from,
                JUMP_IF_EQUAL => at += usize::from(if sum == value { if_true } else { if_false }),
                RETURN => return value > 0,
                other => panic!("{other:#x}"),
            }
        }
    }

    /// The first frames of so many flows.
    fn frames(source: &str, destination: &str, len: usize, count: usize) -> Vec<Vec<u8>> {
        let mut stream = Stream::new(FlowSet::parse(source, destination).unwrap());
        stream.sizes = FrameSizes::fixed(len);
        let plan = TrafficPlan::new(vec![stream]);
        let pool = Pool::with_frames(256).unwrap();
        let mut sender = Sender::new(&plan, pool.config().headroom).unwrap();
        let mut all = Vec::new();
        while all.len() < count {
            let mut batch = Batch::new();
            pool.take_batch(&mut batch, 100);
            batch.iter_mut().for_each(|frame| sender.adopt(frame));
            sender.write(&mut batch, 0);
            all.extend(batch.iter().map(|frame| frame.to_vec()));
        }
        all
    }

    #[test]
    fn filter_and_key_take_the_same_frames_and_about_as_many_as_asked_for() {
        let inet = ("198.18.10.1-198.18.10.20:2000", "198.19.10.1-198.19.10.100:2000");
        let inet6 =
            ("[2001:2:0:10::1]-[2001:2:0:10::14]:2000", "[2001:2:0:8010::1]-[2001:2:0:8010::64]:9");
        let one = ("198.18.10.1:2000", "198.19.10.1:2000");
        for ((source, destination), len) in [(inet, 64), (inet, 512), (inet6, 66), (one, 64)] {
            let frames = frames(source, destination, len, 20_000);
            for every in [1, 7, 50, 200] {
                let (probes, filter) = (Probes::every(every), Probes::every(every).filter());
                let mut taken = 0;
                for frame in &frames {
                    let is_taken = probes.key(frame).is_some();
                    assert_eq!(is_taken, passes(&filter, frame), "{source} {len} {every}");
                    taken += usize::from(is_taken);
                }
                let wanted = frames.len() as f64 / f64::from(every);
                let share = taken as f64 / wanted;
                assert!((0.7..1.3).contains(&share), "{source} {len} {every}: {taken}");
            }
        }
    }

    #[test]
    fn a_run_has_enough_of_them_as_long_as_they_do_not_come_too_fast() {
        // A device that forwards 150,000 frames a second, whose rate is known from its warm-up.
        for (pps, seconds, at_least) in [
            (150e3, 1.0, 1_400.0),
            (150e3, 10.0, 4_900.0),
            (1e6, 2.0, 1_400.0),
            (200.0, 1.0, 200.0),
        ] {
            let Probes { every } = Probes::of_load(Some(pps), seconds);
            let (a_second, count) = (pps / f64::from(every), seconds * pps / f64::from(every));
            assert!(count >= at_least, "{pps} {seconds}: {count}");
            assert!(a_second < 1.1 * Probes::MOST_PER_SECOND, "{pps} {seconds}: {a_second}");
        }
        let short = Probes::of_load(Some(150e3), 0.1);
        assert_eq!(short.every, (150e3 / Probes::MOST_PER_SECOND) as u32);
        assert_eq!(Probes::of_load(None, 1.0).every, OF_UNKNOWN);
    }

    #[test]
    fn no_two_frames_have_one_key_and_forwarding_does_not_change_it() {
        let (source, destination) = ("198.18.10.1-198.18.10.4:7", "198.19.10.1-198.19.10.5:7");
        let mut frames = frames(source, destination, 64, 5_000);
        let probes = Probes::every(1);
        let keys: Vec<_> = frames.iter().map(|frame| probes.key(frame).unwrap()).collect();
        let mut different = keys.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), keys.len());
        for (frame, key) in frames.iter_mut().zip(keys) {
            // Other MAC addresses, a lower TTL, another checksum.
            frame[..12].fill(9);
            frame[INET_TTL] -= 1;
            frame[INET_CHECKSUM] ^= 1;
            assert_eq!(probes.key(frame), Some(key));
        }
    }

    #[test]
    fn other_frames_are_no_probes() {
        let probes = Probes::every(1);
        let mut arp = [0; 60];
        arp[12..14].copy_from_slice(&[8, 6]);
        assert_eq!(probes.key(&arp), None);
        assert!(!passes(&probes.filter(), &arp));
        for len in 0..46 {
            let mut short = vec![0; len];
            if len >= 14 {
                short[12..14].copy_from_slice(&[8, 0]);
            }
            assert_eq!(probes.key(&short), None, "{len}");
            assert!(!passes(&probes.filter(), &short), "{len}");
        }
    }
}
