//! What lies below a /32: search trees of 16-bit keys in cache lines, and sorted lists.
//!
//! Layout of a tree with its root at line 0: one line of the root, 32 lines of the level below it,
//! 1,024 of the next, and the leaves; only the last level is cut to its length. A leaf is 16 keys
//! (the starts of runs) and their 16 nexthops, an inner line the first keys of 32 children. Unused
//! keys are the highest number and unused nexthops repeat the last, so that a search for that
//! number is right in a leaf. No leaf begins with it: inner lines are searched for at most one less,
//! and never find an unused key.

use std::sync::atomic::AtomicU16;
use std::sync::atomic::Ordering::Relaxed;

use super::{KIND_SHIFT, LINE_OFFSET, LINE_WORDS, LIST, TREE};
use crate::algo::spans::Span;
use crate::simd::count::Count;
use crate::simd::records::View;

const LEAF_RUNS: usize = 16;
const FAN_OUT: usize = 32;
/// Bits of an address below a key.
const KEY_SHIFT: u32 = 80;

/// The nexthop of an address below a value with [`TREE`].
#[inline(always)]
pub(super) fn find<C: Count>(records: View<'_>, value: u32, addr: u128) -> u32 {
    let kind = value >> KIND_SHIFT & 7;
    let mut line = (value & LINE_OFFSET) * LINE_WORDS;
    if kind >= LIST {
        return find_in_list(records, line, addr);
    }
    let key = (addr >> KEY_SHIFT) as u16;
    // Position within the level, and where the level begins: after 1, 1 + 32, 1 + 32 + 1024 lines.
    let (mut position, mut below) = (0, 1);
    let root = line;
    for _ in 0..kind {
        let child = C::up_to_32(records.line(line), key.min(u16::MAX - 1)).wrapping_sub(1);
        let child = child & (FAN_OUT as u32 - 1);
        position = position * FAN_OUT as u32 + child;
        line = root + (below + position) * LINE_WORDS;
        below = below * FAN_OUT as u32 + 1;
    }
    let leaf = records.line(line);
    let Ok(keys) = leaf[..LEAF_RUNS].try_into() else { return 0 };
    let run = (C::up_to_16(keys, key) as usize).wrapping_sub(1);
    u32::from(leaf[LEAF_RUNS + run % LEAF_RUNS].load(Relaxed))
}

/// A list is its length, then for each run two words: the 64 bits after the /32, and the last 32
/// bits of the start with the nexthop.
#[inline(never)]
fn find_in_list(records: View<'_>, list: u32, addr: u128) -> u32 {
    let wanted = ((addr >> 32) as u64, u64::from(addr as u32));
    let run = |i: u32| {
        let high = records.word(list + 1 + 2 * i);
        let low = records.word(list + 2 + 2 * i);
        ((high, low >> 16), low as u16)
    };
    // The run of the address is the last one that starts at or before it; the first starts at 0.
    let (mut low, mut high) = (0, records.word(list) as u32);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if run(middle).0 <= wanted { low = middle } else { high = middle }
    }
    u32::from(run(low).1)
}

/// What is to be written for the spans of a /32.
pub(super) enum Plan {
    /// Cache lines of 32 numbers, and the levels above the leaves.
    Lines(Vec<[u16; 32]>, u32),
    /// Words of a list.
    List(Vec<u64>),
}

impl Plan {
    /// For the spans of one /32, the first of which may start before it.
    pub(super) fn of(spans: &[Span<u128>]) -> Self {
        let short = spans[1..].iter().all(|span| span.0.trailing_zeros() >= KEY_SHIFT);
        if short { Self::tree(spans) } else { Self::list(spans) }
    }

    /// Words of memory.
    pub(super) fn words(&self) -> usize {
        match self {
            Self::Lines(lines, _) => lines.len() * LINE_WORDS as usize,
            Self::List(words) => words.len().next_multiple_of(LINE_WORDS as usize),
        }
    }

    /// The value for a record, when the words lie at `offset`.
    pub(super) fn value(&self, offset: u32) -> u32 {
        let kind = match self {
            Self::Lines(_, levels) => *levels,
            Self::List(_) => LIST,
        };
        TREE | (kind << KIND_SHIFT) | (offset / LINE_WORDS)
    }

    fn list(spans: &[Span<u128>]) -> Self {
        let mut words = vec![spans.len() as u64];
        for (i, &(start, nexthop)) in spans.iter().enumerate() {
            let start = if i == 0 { 0 } else { start };
            words.push((start >> 32) as u64);
            words.push(u64::from(start as u32) << 16 | u64::from(nexthop));
        }
        Self::List(words)
    }

    fn tree(spans: &[Span<u128>]) -> Self {
        let runs: Vec<(u16, u16)> = spans
            .iter()
            .enumerate()
            .map(|(i, span)| (if i == 0 { 0 } else { (span.0 >> KEY_SHIFT) as u16 }, span.1))
            .collect();
        let mut rest = runs.as_slice();
        let mut leaves = Vec::with_capacity(runs.len() / LEAF_RUNS + 1);
        while !rest.is_empty() {
            let mut count = rest.len().min(LEAF_RUNS);
            // Only the last run can start at the highest key; it must not be alone.
            if rest.len() == LEAF_RUNS + 1 {
                count -= 1;
            }
            let (runs, later) = rest.split_at(count);
            leaves.push(leaf(runs));
            rest = later;
        }
        // Levels from the leaves up, until one line is left.
        let mut levels = vec![leaves];
        while let Some(level) = levels.last().filter(|level| level.len() > 1) {
            let inner = level.chunks(FAN_OUT).map(inner_line).collect();
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
            full *= FAN_OUT;
        }
        Self::Lines(lines, above)
    }
}

fn leaf(runs: &[(u16, u16)]) -> [u16; 32] {
    let last = runs.last().map_or(0, |run| run.1);
    std::array::from_fn(|i| match i < LEAF_RUNS {
        true => runs.get(i).map_or(u16::MAX, |run| run.0),
        false => runs.get(i - LEAF_RUNS).map_or(last, |run| run.1),
    })
}

fn inner_line(children: &[[u16; 32]]) -> [u16; 32] {
    std::array::from_fn(|i| children.get(i).map_or(u16::MAX, |child| child[0]))
}

/// Writes lines from a 16-bit number on.
pub(super) fn write_lines(memory: &[AtomicU16], lines: &[[u16; 32]]) {
    for (slot, number) in memory.iter().zip(lines.iter().flatten()) {
        slot.store(*number, Relaxed);
    }
}
