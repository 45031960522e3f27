//! What lies below a /32: search trees of 16-bit keys in cache lines, and sorted lists.
//!
//! Up to 4 or 8 runs are a small leaf: as many keys and their nexthops.
//!
//! Layout of a tree with its root at line 0: one line of the root, 32 lines of the level below it,
//! 1,024 of the next, and the leaves; only the last level is cut to its length. A leaf is 16 keys
//! (the starts of runs) and their 16 nexthops, an inner line the first keys of 32 children. Unused
//! keys are the highest number and unused nexthops repeat the last, so that a search for that
//! number is right in a leaf. No leaf begins with it: inner lines are searched for at most one less,
//! and never find an unused key.

use std::sync::atomic::AtomicU16;
use std::sync::atomic::Ordering::Relaxed;

use super::layout::{KIND_SHIFT, LINE_WORDS, OFFSET, TREE};
use crate::algo::spans::Span;
use crate::simd::count::Count;
use crate::simd::records::View;

const LEAF_RUNS: usize = 16;
/// Children of an inner line.
const FAN_OUT: u32 = 32;
/// Most levels above the leaves.
pub(super) const LEVELS: usize = 3;
/// Lines before the levels below the root, and before the root.
const LEVEL_STARTS: [u32; LEVELS + 1] = [0, 1, 1 + 32, 1 + 32 + 1024];
/// Bits of an address below a key.
const KEY_SHIFT: u32 = 80;
/// Kinds 0 to 3 are trees with so many levels above the leaves. This one: a list of at most
/// [`BLOCK_RUNS`] runs.
const LIST: u32 = 4;
/// A longer list.
const LONG_LIST: u32 = 5;
/// Small leaves.
const LEAF_OF_4: u32 = 6;
const LEAF_OF_8: u32 = 7;
/// Runs of a block of a list.
const BLOCK_RUNS: usize = 8;
const BLOCK_WORDS: u32 = 2 * BLOCK_RUNS as u32;

/// Whether a tree of this kind has levels above its leaves.
#[inline(always)]
pub(super) fn has_levels(kind: u32) -> bool {
    kind.wrapping_sub(1) < LEVELS as u32
}

#[inline(always)]
pub(super) fn is_list(kind: u32) -> bool {
    kind & !1 == LIST
}

/// Whether a tree of this kind is one leaf.
#[inline(always)]
pub(super) fn is_leaf(kind: u32) -> bool {
    (kind == 0) | (kind >= LEAF_OF_4)
}

/// Runs of a leaf of a tree of this kind.
#[inline(always)]
pub(super) fn leaf_runs(kind: u32) -> u32 {
    const RUNS: [u8; 8] = [16, 16, 16, 16, 16, 16, 4, 8];
    u32::from(RUNS[kind as usize & 7])
}

/// The nexthop of an address below a value with [`TREE`].
#[inline(always)]
pub(super) fn find<C: Count>(records: View<'_>, value: u32, addr: u128) -> u32 {
    let (kind, root) = (value >> KIND_SHIFT & 7, value & OFFSET);
    if is_list(kind) {
        return in_list(records, value, addr);
    }
    let mut line = root;
    if has_levels(kind) {
        for level in 0..kind as usize {
            line = below::<C>(records, (root, line), level, addr);
        }
    }
    leaf_nexthop::<C>(records, line, leaf_runs(kind), addr)
}

/// The line below an inner line of a level, of a tree with a root.
#[inline(always)]
pub(super) fn below<C: Count>(
    records: View<'_>,
    (root, line): (u32, u32),
    level: usize,
    addr: u128,
) -> u32 {
    let key = ((addr >> KEY_SHIFT) as u16).min(u16::MAX - 1);
    let child = C::up_to_32(records.line(line), key).wrapping_sub(1) & (FAN_OUT - 1);
    let [before, after] = [LEVEL_STARTS[level % LEVELS], LEVEL_STARTS[level % LEVELS + 1]];
    let position = line.wrapping_sub(root).wrapping_sub(before * LINE_WORDS);
    let place = position.wrapping_mul(FAN_OUT).wrapping_add((after + child) * LINE_WORDS);
    root.wrapping_add(place)
}

/// The nexthop of an address in a leaf of 4, 8 or 16 runs.
#[inline(always)]
pub(super) fn leaf_nexthop<C: Count>(records: View<'_>, line: u32, runs: u32, addr: u128) -> u32 {
    let leaf = records.line(line);
    let Some(keys) = leaf.first_chunk::<LEAF_RUNS>() else { return 0 };
    let run = C::up_to_first(keys, runs, (addr >> KEY_SHIFT) as u16).wrapping_sub(1);
    u32::from(leaf[(runs + (run & (runs - 1))) as usize % 32].load(Relaxed))
}

/// The nexthop of an address in a list: blocks of 8 words with the 64 bits of a start after the
/// /32, and 8 words with the last 32 bits and the nexthop. Unused starts are the highest number,
/// unused nexthops the last. A long list has a line with the number of its blocks first.
#[inline(always)]
pub(super) fn in_list(records: View<'_>, value: u32, addr: u128) -> u32 {
    let wanted = ((addr >> 32) as u64, u64::from(addr as u32));
    let mut block = value & OFFSET;
    if value >> KIND_SHIFT & 7 == LONG_LIST {
        block = block_of(records, block, wanted);
    }
    // How many of the runs start at or before the address; the first of all always does.
    let mut after = 0;
    for i in 0..BLOCK_RUNS as u32 {
        let (high, low) = (records.word(block + i), records.word(block + i + LINE_WORDS) >> 16);
        after += u32::from((high < wanted.0) | ((high == wanted.0) & (low <= wanted.1)));
    }
    let run = after.wrapping_sub(1) & (BLOCK_RUNS as u32 - 1);
    records.word(block + LINE_WORDS + run) as u32 & 0xffff
}

/// The last block of a long list whose first run starts at or before the address.
#[inline(never)]
fn block_of(records: View<'_>, list: u32, wanted: (u64, u64)) -> u32 {
    let first = list + LINE_WORDS;
    let block = |i: u32| first + i * BLOCK_WORDS;
    let (mut low, mut high) = (0, records.word(list) as u32);
    while low + 1 < high {
        let middle = low.midpoint(high);
        let at = block(middle);
        let start = (records.word(at), records.word(at + LINE_WORDS) >> 16);
        if start <= wanted { low = middle } else { high = middle }
    }
    block(low)
}

/// What is to be written for the spans of a /32.
pub(super) enum Shape {
    /// Numbers of a small leaf.
    Small(Vec<u16>),
    /// Cache lines of 32 numbers, and the levels above the leaves.
    Lines(Vec<[u16; 32]>, u32),
    /// Words of a list.
    List(Vec<u64>),
}

impl Shape {
    /// For the spans of one /32, the first of which may start before it.
    pub(super) fn of(spans: &[Span<u128>]) -> Self {
        let short = spans[1..].iter().all(|span| span.0.trailing_zeros() >= KEY_SHIFT);
        match spans.len() {
            _ if !short => Self::list(spans),
            0..=4 => Self::Small(leaf::<8>(&keys(spans)).to_vec()),
            5..=8 => Self::Small(leaf::<16>(&keys(spans)).to_vec()),
            _ => Self::tree(spans),
        }
    }

    /// Words of memory.
    pub(super) fn words(&self) -> usize {
        match self {
            Self::Small(numbers) => numbers.len() / 4,
            Self::Lines(lines, _) => lines.len() * LINE_WORDS as usize,
            Self::List(words) => words.len().next_multiple_of(LINE_WORDS as usize),
        }
    }

    /// The value for a record, when the words lie at `offset`.
    pub(super) fn value(&self, offset: u32) -> u32 {
        let kind = match self {
            Self::Small(numbers) if numbers.len() == 8 => LEAF_OF_4,
            Self::Small(_) => LEAF_OF_8,
            Self::Lines(_, levels) => *levels,
            Self::List(words) if words.len() <= BLOCK_WORDS as usize => LIST,
            Self::List(_) => LONG_LIST,
        };
        TREE | (kind << KIND_SHIFT) | offset
    }

    fn list(spans: &[Span<u128>]) -> Self {
        let blocks = spans.len().div_ceil(BLOCK_RUNS);
        let mut words = match blocks {
            1 => Vec::new(),
            _ => {
                let mut line = vec![0; LINE_WORDS as usize];
                line[0] = blocks as u64;
                line
            }
        };
        let last = spans.last().map_or(0, |span| span.1);
        let run = |i: usize| match spans.get(i) {
            Some(&(start, nexthop)) => (if i == 0 { 0 } else { start }, nexthop),
            None => (u128::MAX, last),
        };
        for first in (0..blocks).map(|block| block * BLOCK_RUNS) {
            words.extend((first..first + BLOCK_RUNS).map(|i| (run(i).0 >> 32) as u64));
            let low = |i: usize| u64::from(run(i).0 as u32) << 16 | u64::from(run(i).1);
            words.extend((first..first + BLOCK_RUNS).map(low));
        }
        Self::List(words)
    }

    fn tree(spans: &[Span<u128>]) -> Self {
        let runs = keys(spans);
        let mut rest = runs.as_slice();
        let mut leaves = Vec::with_capacity(runs.len() / LEAF_RUNS + 1);
        while !rest.is_empty() {
            let mut count = rest.len().min(LEAF_RUNS);
            // Only the last run can start at the highest key; it must not be alone.
            if rest.len() == LEAF_RUNS + 1 {
                count -= 1;
            }
            let (runs, later) = rest.split_at(count);
            leaves.push(leaf::<32>(runs));
            rest = later;
        }
        // Levels from the leaves up, until one line is left.
        let mut levels = vec![leaves];
        while let Some(level) = levels.last().filter(|level| level.len() > 1) {
            let inner = level.chunks(FAN_OUT as usize).map(inner_line).collect();
            levels.push(inner);
        }
        let above = levels.len() as u32 - 1;
        let mut lines = Vec::new();
        let mut full = 1;
        for (depth, level) in levels.into_iter().rev().enumerate() {
            lines.extend_from_slice(&level);
            if depth < above as usize {
                lines.resize(lines.len() + full - level.len(), [u16::MAX; 32]);
            }
            full *= FAN_OUT as usize;
        }
        Self::Lines(lines, above)
    }
}

/// The keys at which runs start, and their nexthops.
fn keys(spans: &[Span<u128>]) -> Vec<(u16, u16)> {
    let key = |(i, span): (usize, &Span<u128>)| match i {
        0 => (0, span.1),
        _ => ((span.0 >> KEY_SHIFT) as u16, span.1),
    };
    spans.iter().enumerate().map(key).collect()
}

/// A leaf of up to `N / 2` runs.
fn leaf<const N: usize>(runs: &[(u16, u16)]) -> [u16; N] {
    let last = runs.last().map_or(0, |run| run.1);
    std::array::from_fn(|i| match i.checked_sub(N / 2) {
        None => runs.get(i).map_or(u16::MAX, |run| run.0),
        Some(i) => runs.get(i).map_or(last, |run| run.1),
    })
}

fn inner_line(children: &[[u16; 32]]) -> [u16; 32] {
    std::array::from_fn(|i| children.get(i).map_or(u16::MAX, |child| child[0]))
}

/// Writes numbers of 16 bits.
pub(super) fn write(memory: &[AtomicU16], numbers: &[u16]) {
    for (slot, number) in memory.iter().zip(numbers) {
        slot.store(*number, Relaxed);
    }
}
