//! How long frames take: the sender writes the time into each, and the receiver adds up what has passed since then in a
//! map, in buckets a thirty-second of their octave wide.
//!
//! Behind the time stands its complement. So the two add nothing to a checksum (RFC 1071: a number and its
//! complement are a sum of all ones, which is zero), which was made for zeros in their place; and what is no
//! time is known.

use std::io;
use std::sync::atomic::Ordering;

use fwdlab_port::bpf::{Assembler, Condition, Helper, Map, Register::*, Width};
use fwdlab_traffic::LatencySummary;

/// Bytes of the time and its complement, behind the UDP header.
pub const STAMP_BYTES: usize = 16;

/// An octave has so many buckets, as a power of two. What is below two octaves of them has a bucket for each ns.
const FINE_BITS: i32 = 5;
/// Octaves are told apart up to 2^37 ns, which is two minutes; what took longer counts as that.
const STEPS: [(i32, &str); 5] =
    [(16, "below 16"), (8, "below 8"), (4, "below 4"), (2, "below 2"), (1, "below 1")];
const MOST_NS: u64 = (1 << 37) - 1;

/// Words of the map: a power of two, so that the kernel sees that a bucket lies in it. The last two are the least and the
/// most, in ns.
const WORDS: usize = 2048;
const LEAST: usize = WORDS - 2;
const MOST: usize = WORDS - 1;

/// What took how long.
#[derive(Debug)]
pub struct Latencies {
    map: Map,
}

impl Latencies {
    /// Nothing yet.
    ///
    /// # Errors
    /// There is no memory, or no privilege.
    pub fn new() -> io::Result<Self> {
        let map = Map::array("fwdlab_latency", 1, WORDS as u32)?;
        map.words()[LEAST].store(u64::MAX, Ordering::Relaxed);
        Ok(Self { map })
    }

    /// What was seen, to a thirty-second of each latency; nothing where no frame came.
    pub fn summary(&self) -> Option<LatencySummary> {
        let word = |at: usize| self.map.words()[at].load(Ordering::Acquire);
        let counts: Vec<u64> = (0..LEAST).map(word).collect();
        let (least, most) = (word(LEAST), word(MOST));
        let frames = counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
        // A frame that no bucket below has reached the share with.
        let at = |share: f64| {
            let rank = (share * frames as f64).ceil().max(1.0) as u64;
            let mut seen = 0_u64;
            let reached = counts.iter().position(|count| {
                seen = seen.saturating_add(*count);
                seen >= rank
            });
            reached.map_or(most, end_of).clamp(least, most)
        };
        (frames > 0).then(|| LatencySummary {
            frames,
            minimum_ns: least,
            median_ns: at(0.5),
            p99_ns: at(0.99),
            p99_9_ns: at(0.999),
            p99_99_ns: at(0.9999),
            maximum_ns: most,
        })
    }
}

/// The most ns that fall into a bucket.
fn end_of(bucket: usize) -> u64 {
    let fine = 1 << FINE_BITS;
    let octave = (bucket / fine).saturating_sub(1);
    let step = (bucket - octave * fine) as u64;
    ((step + 1) << octave) - 1
}

/// Writes the time `at` bytes behind the beginning of the frame, R1. R0 to R5 and R9 are lost.
pub(super) fn stamp(program: &mut Assembler, at: i16) {
    program
        .copy(R9, R1)
        .call(Helper::NowNs)
        .store(Width::Double, R9, at, R0)
        .set(R2, -1)
        .subtract(R2, R0)
        .store(Width::Double, R9, at + 8, R2);
}

/// Adds the time since that of the frame that begins at R8. R0 to R5 are lost.
pub(super) fn record(program: &mut Assembler, latencies: &Latencies, at: i16) {
    let word = |place: usize| (place * 8) as i16;
    program
        .call(Helper::NowNs)
        .load(Width::Double, R1, R8, at)
        .load(Width::Double, R2, R8, at + 8)
        .add_register(R2, R1)
        .add(R2, 1)
        .jump(Condition::NotEqual, R2, 0, "no time")
        .subtract(R0, R1)
        .set_wide(R1, MOST_NS)
        .jump_register(Condition::AtMost, R0, R1, "told apart")
        .copy(R0, R1)
        .label("told apart")
        .map_value(R5, &latencies.map, 0)
        .load(Width::Double, R1, R5, word(LEAST))
        .jump_register(Condition::AtLeast, R0, R1, "not the least")
        .store(Width::Double, R5, word(LEAST), R0)
        .label("not the least")
        .load(Width::Double, R1, R5, word(MOST))
        .jump_register(Condition::AtMost, R0, R1, "not the most")
        .store(Width::Double, R5, word(MOST), R0)
        .label("not the most")
        .set(R2, 0);
    // R2 = the most bits by which R0 >> R2 has an octave of buckets left; bucket = R2 * 32 + (R0 >> R2).
    for (bits, below) in STEPS {
        program
            .jump(Condition::Below, R0, 1 << (FINE_BITS + bits), below)
            .shift_right(R0, bits)
            .add(R2, bits)
            .label(below);
    }
    program
        .shift_left(R2, FINE_BITS)
        .add_register(R0, R2)
        .and(R0, WORDS as i32 - 1)
        .shift_left(R0, 3)
        .add_register(R5, R0)
        .increment(R5, 0, R1)
        .label("no time");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the program finds it.
    fn bucket_of(ns: u64) -> usize {
        let (mut left, mut octave) = (ns.min(MOST_NS), 0);
        for (bits, _) in STEPS {
            if left >= 1 << (FINE_BITS + bits) {
                left >>= bits;
                octave += bits;
            }
        }
        (octave << FINE_BITS) as usize + left as usize
    }

    #[test]
    fn buckets_follow_each_other_and_are_a_thirty_second_wide() {
        let mut begin = 0_u64;
        for bucket in 0..=bucket_of(MOST_NS) {
            let end = end_of(bucket);
            assert!(end >= begin, "{bucket}");
            assert_eq!((bucket_of(begin), bucket_of(end)), (bucket, bucket), "{begin} {end}");
            assert!((end - begin) * 32 <= begin.max(32), "{begin} {end}");
            begin = end + 1;
        }
        assert_eq!(begin, MOST_NS + 1);
        assert_eq!(bucket_of(u64::MAX), bucket_of(MOST_NS));
        assert!(bucket_of(MOST_NS) < LEAST);
    }

    #[test]
    fn a_time_and_its_complement_add_nothing_to_a_checksum() {
        for time in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef, 1 << 63] {
            let stamp = [time.to_ne_bytes(), (!time).to_ne_bytes()].concat();
            let sum =
                |bytes: &[u8]| fwdlab_wire::checksum::finish(fwdlab_wire::checksum::sum(bytes));
            let (without, with) =
                ([&[7; 8][..], &[0; 16]].concat(), [&[7; 8][..], stamp.as_slice()].concat());
            assert_eq!(sum(&with), sum(&without), "{time:x}");
        }
    }

    #[test]
    fn a_summary_is_of_the_buckets_with_the_least_and_the_most_exact() {
        let Ok(latencies) = Latencies::new() else {
            eprintln!("SKIPPED a_summary_is_of_the_buckets: no BPF maps here");
            return;
        };
        assert_eq!(latencies.summary(), None);
        let words = latencies.map.words();
        let add = |ns: u64, count: u64| {
            words[bucket_of(ns)].fetch_add(count, Ordering::Relaxed);
            words[LEAST].fetch_min(ns, Ordering::Relaxed);
            words[MOST].fetch_max(ns, Ordering::Relaxed);
        };
        add(1_000, 500);
        add(2_000, 480);
        add(50_000, 19);
        add(3_000_000, 1);
        let seen = latencies.summary().unwrap();
        assert_eq!((seen.frames, seen.minimum_ns, seen.maximum_ns), (1_000, 1_000, 3_000_000));
        let near = |found: u64, truth: u64| found >= truth && found <= truth + truth / 32;
        assert!(near(seen.median_ns, 1_000) && near(seen.p99_ns, 50_000), "{seen:?}");
        assert!(near(seen.p99_9_ns, 50_000) && seen.p99_99_ns == 3_000_000, "{seen:?}");
    }
}
