//! Lines of `direct6`: up to 16 runs of 16-bit keys in a cache line, and lists of 64-bit keys.
//!
//! A line is 16 keys, at which runs start, and their 16 nexthops. The first run reaches down to key
//! 0; unused keys are the highest number and unused nexthops repeat the last, so that a search for
//! that number is right. A deep line is followed by 16 numbers of 32 bits: the table for the next
//! key below a run, or 0 where its nexthop is the answer.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::{DEEP, LINE_OFFSET, NEXT_SHIFT};
use crate::algo::spans::Span;
use crate::simd::count::Count;
use crate::simd::records::View;

/// Runs of a line.
pub(super) const RUNS: usize = 16;
/// Words of a line, and of a deep one.
pub(super) const LINE_WORDS: usize = 8;
pub(super) const DEEP_WORDS: usize = 2 * LINE_WORDS;
/// A list of more than one block: the number of blocks comes first, in a line of its own.
pub(super) const LONG: u32 = 1 << 31;
/// Keys of a block of a list, which are followed by as many nexthops of 16 bits.
const BLOCK_RUNS: usize = 8;
const BLOCK_WORDS: u32 = 16;

/// How many runs of a line begin at or before a key; at least one.
#[inline(always)]
pub(super) fn count<C: Count>(records: View<'_>, line: u32, key: u32) -> u32 {
    let keys = records.line(line & LINE_OFFSET).first_chunk::<RUNS>();
    keys.map_or(1, |keys| C::up_to_16(keys, key as u16))
}

/// The nexthop of the last of `count` runs.
#[inline(always)]
pub(super) fn nexthop(records: View<'_>, line: u32, count: u32) -> u32 {
    u32::from(records.line_value(line & LINE_OFFSET, count))
}

/// The table below the last of `count` runs of a deep line; 0 for none.
#[inline(always)]
pub(super) fn below(records: View<'_>, line: u32, count: u32) -> u32 {
    records.half((line & LINE_OFFSET) + LINE_WORDS as u32, count.wrapping_sub(1))
}

/// The key that tables below a deep line take; 0 for lists.
#[inline(always)]
pub(super) fn next_key(line: u32) -> u32 {
    line >> NEXT_SHIFT & 3
}

/// The nexthop for the last 64 bits of an address in a list.
#[inline(always)]
pub(super) fn in_list<C: Count>(records: View<'_>, list: u32, wanted: u64) -> u32 {
    let mut block = list & LINE_OFFSET;
    if list & LONG != 0 {
        block = block_of(records, block, wanted);
    }
    let run = C::wide_up_to_8(records.wide_line(block), wanted).wrapping_sub(1);
    u32::from(records.quarter(block + LINE_WORDS as u32, run % BLOCK_RUNS as u32))
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
    Nexthop(u16),
    /// A table, whose route lengths end later.
    Table(u32),
}

/// Words of a line for at most [`RUNS`] runs; deep ones get their flag from [`is_deep`].
pub(super) fn words(runs: &[(u16, Below)]) -> Vec<u64> {
    let at = |i: usize| runs.get(i).or(runs.last()).map_or(Below::Nexthop(0), |run| run.1);
    let nexthop = |i| match at(i) {
        Below::Nexthop(nexthop) => nexthop,
        Below::Table(_) => 0,
    };
    let key = |i: usize| match i {
        0 => 0,
        _ => runs.get(i).map_or(u16::MAX, |run| run.0),
    };
    let mut numbers: Vec<u16> = (0..RUNS).map(key).chain((0..RUNS).map(nexthop)).collect();
    if is_deep(runs) {
        for i in 0..RUNS {
            let table = match at(i) {
                Below::Nexthop(_) => 0,
                Below::Table(table) => table,
            };
            // As the memory has them when it is read as 32-bit numbers.
            let bytes = table.to_ne_bytes();
            numbers.push(u16::from_ne_bytes([bytes[0], bytes[1]]));
            numbers.push(u16::from_ne_bytes([bytes[2], bytes[3]]));
        }
    }
    numbers.as_chunks::<4>().0.iter().map(word_of).collect()
}

/// A word that reads as these numbers when it is read as 16-bit numbers.
fn word_of(numbers: &[u16; 4]) -> u64 {
    let mut bytes = [0; 8];
    for (bytes, number) in bytes.as_chunks_mut::<2>().0.iter_mut().zip(numbers) {
        *bytes = number.to_ne_bytes();
    }
    u64::from_ne_bytes(bytes)
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
pub(super) fn list(spans: &[Span<u128>]) -> (Vec<u64>, u32) {
    let blocks = spans.len().div_ceil(BLOCK_RUNS).max(1);
    let mut words = Vec::with_capacity(blocks * BLOCK_WORDS as usize + LINE_WORDS);
    if blocks > 1 {
        words.resize(LINE_WORDS, 0);
        words[0] = blocks as u64;
    }
    let last = spans.last().map_or(0, |span| span.1);
    let key = |i: usize| match i {
        0 => 0,
        _ => spans.get(i).map_or(u64::MAX, |span| span.0 as u64),
    };
    let nexthop = |i: usize| spans.get(i).map_or(last, |span| span.1);
    for first in (0..blocks).map(|block| block * BLOCK_RUNS) {
        words.extend((first..first + BLOCK_RUNS).map(key));
        let four = |i: usize| word_of(&std::array::from_fn(|j| nexthop(first + i * 4 + j)));
        words.extend([four(0), four(1), 0, 0, 0, 0, 0, 0]);
    }
    (words, if blocks > 1 { LONG } else { 0 })
}

/// Words of a list in memory.
pub(super) fn list_words(memory: &[AtomicU64], list: u32) -> usize {
    let blocks = match list & LONG {
        0 => return BLOCK_WORDS as usize,
        _ => memory[(list & LINE_OFFSET) as usize].load(Relaxed) as usize,
    };
    LINE_WORDS + blocks * BLOCK_WORDS as usize
}
