//! Lines of `direct6`: up to 16 runs of 16-bit keys in a cache line, and lists of 64-bit keys.
//!
//! A line is 16 keys, at which runs start, and their 16 nexthops. The first run reaches down to key
//! 0; unused keys are the highest number and unused nexthops repeat the last, so that a search for
//! that number is right. A deep line is followed by 16 numbers of 32 bits: the table for the next
//! key below a run, or 0 where its nexthop is the answer.
//!
//! Nexthops have 16 bits, or 32 in *wide* lines, which have room for half as many runs: their other 8 keys
//! are unused.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::{DEEP, LINE_OFFSET, NEXT_SHIFT};
use crate::algo::spans::Span;
use crate::simd::count::Count;
use crate::simd::records::View;

/// Keys of a line.
pub(super) const KEYS: usize = 16;
/// Runs of a wide line.
const WIDE_RUNS: usize = 8;
/// Words of a line, and of a deep one.
pub(super) const LINE_WORDS: usize = 8;
pub(super) const DEEP_WORDS: usize = 2 * LINE_WORDS;
/// The word of a line where its nexthops begin.
const NEXTHOPS: usize = 4;
/// A list of more than one block: the number of blocks comes first, in a line of its own.
pub(super) const LONG: u32 = 1 << 31;
/// Keys of a block of a list, which are followed by as many nexthops.
const BLOCK_RUNS: usize = 8;
const BLOCK_WORDS: u32 = 16;

/// Runs of a line, a power of two.
pub(super) const fn runs(is_wide: bool) -> usize {
    if is_wide { WIDE_RUNS } else { KEYS }
}

/// How many runs of a line begin at or before a key; at least one.
#[inline(always)]
pub(super) fn count<C: Count>(records: View<'_>, line: u32, key: u32) -> u32 {
    let keys = records.line(line & LINE_OFFSET).first_chunk::<KEYS>();
    keys.map_or(1, |keys| C::up_to_16(keys, key as u16))
}

/// The nexthop of the last of `count` runs.
#[inline(always)]
pub(super) fn nexthop<const WIDE: bool>(records: View<'_>, line: u32, count: u32) -> u32 {
    if WIDE {
        // The highest key of all is that of unused runs, too.
        let run = count.wrapping_sub(1) % WIDE_RUNS as u32;
        return records.half(line & LINE_OFFSET, KEYS as u32 / 2 + run);
    }
    u32::from(records.line_value(line & LINE_OFFSET, count))
}

/// The table below the last of `count` runs of a deep line; 0 for none.
#[inline(always)]
pub(super) fn below<const WIDE: bool>(records: View<'_>, line: u32, count: u32) -> u32 {
    records.half((line & LINE_OFFSET) + LINE_WORDS as u32, count.wrapping_sub(1))
}

/// The key that tables below a deep line take; 0 for lists.
#[inline(always)]
pub(super) fn next_key(line: u32) -> u32 {
    line >> NEXT_SHIFT & 3
}

/// The nexthop for the last 64 bits of an address in a list.
#[inline(always)]
pub(super) fn in_list<C: Count, const WIDE: bool>(
    records: View<'_>,
    list: u32,
    wanted: u64,
) -> u32 {
    let mut block = list & LINE_OFFSET;
    if list & LONG != 0 {
        block = block_of(records, block, wanted);
    }
    let run = C::wide_up_to_8(records.wide_line(block), wanted).wrapping_sub(1);
    let (nexthops, run) = (block + LINE_WORDS as u32, run % BLOCK_RUNS as u32);
    if WIDE { records.half(nexthops, run) } else { u32::from(records.quarter(nexthops, run)) }
}

/// The last block of a long list whose first run starts at or before the key.
#[inline(never)]
fn block_of(records: View<'_>, list: u32, wanted: u64) -> u32 {
    let block = |i: u32| list + LINE_WORDS as u32 + i * BLOCK_WORDS;
    let (mut low, mut high) = (0, records.word(list) as u32);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if records.word(block(middle)) <= wanted { low = middle } else { high = middle }
    }
    block(low)
}

/// What is below a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Below {
    Nexthop(u32),
    /// A table, whose route lengths end later.
    Table(u32),
}

/// Words of a line for at most [`runs`], and how many they are; deep ones get their flag from
/// [`deep_flags`].
pub(super) fn words(runs: &[(u16, Below)], is_wide: bool) -> ([u64; DEEP_WORDS], usize) {
    let last = runs.last().map_or(Below::Nexthop(0), |run| run.1);
    let mut keys = [u16::MAX; KEYS];
    let mut below = [last; KEYS];
    for (i, run) in runs.iter().take(KEYS).enumerate() {
        (keys[i], below[i]) = *run;
    }
    keys[0] = 0;
    let nexthops = below.map(|below| match below {
        Below::Nexthop(nexthop) => nexthop,
        Below::Table(_) => 0,
    });
    let mut words = [0; DEEP_WORDS];
    put(&mut words, 0, keys.map(u16::to_ne_bytes).as_flattened());
    match is_wide {
        true => {
            put(&mut words, NEXTHOPS, nexthops.map(u32::to_ne_bytes)[..WIDE_RUNS].as_flattened())
        }
        false => {
            let nexthops = nexthops.map(|nexthop| (nexthop as u16).to_ne_bytes());
            put(&mut words, NEXTHOPS, nexthops.as_flattened());
        }
    }
    if !is_deep(runs) {
        return (words, LINE_WORDS);
    }
    let tables = below.map(|below| match below {
        Below::Nexthop(_) => 0,
        Below::Table(table) => table,
    });
    put(&mut words, LINE_WORDS, tables.map(u32::to_ne_bytes).as_flattened());
    (words, DEEP_WORDS)
}

/// Writes bytes from a word on, so that they read as they were whatever the width they are read by.
fn put(words: &mut [u64; DEEP_WORDS], at: usize, bytes: &[u8]) {
    for (word, bytes) in words[at..].iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_ne_bytes(*bytes);
    }
}

/// Words that read as what was pushed, whatever the width they are read by.
struct Words(Vec<u8>);

impl Words {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    fn nexthop(&mut self, nexthop: u32, is_wide: bool) {
        match is_wide {
            true => self.push(&nexthop.to_ne_bytes()),
            false => self.push(&(nexthop as u16).to_ne_bytes()),
        }
    }

    fn done(self) -> Vec<u64> {
        self.0.as_chunks().0.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect()
    }
}

/// Whether a line of these runs must be deep.
pub(super) fn is_deep(runs: &[(u16, Below)]) -> bool {
    runs.iter().any(|run| matches!(run.1, Below::Table(_)))
}

/// The flags of a deep line whose tables take key `next`.
pub(super) fn deep_flags(next: u32) -> u32 {
    DEEP | next << NEXT_SHIFT
}

/// The words of a list for spans that agree in their first 64 bits, apart from the first span, which
/// may start before; and [`LONG`] or 0.
pub(super) fn list(spans: &[Span<u128, u32>], is_wide: bool) -> (Vec<u64>, u32) {
    let blocks = spans.len().div_ceil(BLOCK_RUNS).max(1);
    let mut words = Words(Vec::with_capacity(blocks * BLOCK_WORDS as usize * 8));
    if blocks > 1 {
        words.push(&(blocks as u64).to_ne_bytes());
        words.0.resize(LINE_WORDS * 8, 0);
    }
    let last = spans.last().map_or(0, |span| span.1);
    let key = |i: usize| match i {
        0 => 0,
        _ => spans.get(i).map_or(u64::MAX, |span| span.0 as u64),
    };
    let nexthop = |i: usize| spans.get(i).map_or(last, |span| span.1);
    for first in (0..blocks).map(|block| block * BLOCK_RUNS) {
        let end = words.0.len() + BLOCK_WORDS as usize * 8;
        (first..first + BLOCK_RUNS).for_each(|i| words.push(&key(i).to_ne_bytes()));
        (first..first + BLOCK_RUNS).for_each(|i| words.nexthop(nexthop(i), is_wide));
        words.0.resize(end, 0);
    }
    (words.done(), if blocks > 1 { LONG } else { 0 })
}

/// Words of a list in memory.
pub(super) fn list_words(memory: &[AtomicU64], list: u32) -> usize {
    let blocks = match list & LONG {
        0 => return BLOCK_WORDS as usize,
        _ => memory[(list & LINE_OFFSET) as usize].load(Relaxed) as usize,
    };
    LINE_WORDS + blocks * BLOCK_WORDS as usize
}
