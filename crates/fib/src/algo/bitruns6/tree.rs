//! What lies below a /32: search trees of 16-bit keys in cache lines, and lists of longer routes.
//!
//! A line is 16 *slots*: 16 keys and after them 16 nexthops. A leaf is one to 16 runs in slots that follow
//! one another in a line; its key of a run is the last one that belongs to it. So the last key of all is the
//! highest number, the first one from the leaf's first slot on that is not below a wanted key is the wanted
//! one, whatever comes after the leaf, and lines are filled with leaves of any size.
//!
//! More than 16 runs are leaves of whole lines below inner lines of 30 children that lie one after
//! the other: the last keys of each, unused ones the highest number, and the value that leads to the
//! first of them.
//!
//! Where there are routes longer than /48, the leaf says [`ESCAPE`] in place of a nexthop for what
//! they touch, and a sorted list has it.

use std::sync::atomic::Ordering::Relaxed;

use super::layout::{DEEP, DEEPER, DEEPEST, LINE, LINE_SHIFT, LINE_WORDS, LIST, key};
use crate::algo::spans::Span;
use crate::simd::count::Count;
use crate::simd::records::View;
use crate::simd::region::Region;

/// Slots of a line.
const SLOTS: u32 = 16;
/// Children of an inner line, and the number of 32 bits in it that leads to them.
const FAN_OUT: usize = 30;
const CHILDREN: u32 = 15;
/// The key of an address that trees take, and the bits below it.
const TREE_KEY: u32 = 2;
const KEY_SHIFT: u32 = 80;
/// In a leaf of a table with a list: ask the list. It is a nexthop as well, which is then in the list.
pub(super) const ESCAPE: u32 = u16::MAX as u32;
/// Runs of a block of a list.
const BLOCK_RUNS: usize = 8;
const BLOCK_WORDS: u32 = 2 * BLOCK_RUNS as u32;

/// The first word of the line that a value leads to.
#[inline(always)]
pub(super) fn line(value: u32) -> u32 {
    (value & LINE) >> LINE_SHIFT << LINE_WORDS.trailing_zeros()
}

/// The value that leads to the slots of a block of words, one for two of them.
pub(super) fn of_words(offset: u32) -> u32 {
    ((offset / LINE_WORDS) << LINE_SHIFT) + offset % LINE_WORDS * 2
}

/// The other way round.
pub(super) fn words_of(value: u32) -> u32 {
    line(value) + value % SLOTS / 2
}

/// The nexthop of an address below a value.
#[inline(always)]
pub(super) fn find<C: Count>(lines: View<'_>, value: u32, addr: u128) -> u32 {
    let mut at = value;
    while at & DEEP != 0 {
        at = below::<C>(lines, at, addr);
    }
    match answer::<C>(lines, at, addr) {
        ESCAPE if value & LIST != 0 => in_list(lines, value, addr),
        nexthop => nexthop,
    }
}

/// The value below one with [`DEEP`].
#[inline(always)]
pub(super) fn below<C: Count>(lines: View<'_>, value: u32, addr: u128) -> u32 {
    let line = line(value);
    let child = C::first_of_30(lines.line(line), key(addr, TREE_KEY) as u16);
    lines.half(line, CHILDREN).wrapping_add(child << LINE_SHIFT)
}

/// The nexthop that a leaf has for an address.
#[inline(always)]
pub(super) fn answer<C: Count>(lines: View<'_>, value: u32, addr: u128) -> u32 {
    let line = line(value);
    let Some(keys) = lines.line(line).first_chunk() else { return 0 };
    lines.slot(line, C::first_from(keys, value % 32, key(addr, TREE_KEY) as u16))
}

/// The nexthop of an address for which a leaf says [`ESCAPE`] that has a list.
///
/// The line before the tree has the place and the number of the list's blocks: 8 words with the 64 bits of
/// a start after the /32, and 8 words with the last 32 bits and the nexthop. Unused starts are the highest
/// number, unused nexthops the last.
#[inline(always)]
pub(super) fn in_list(lines: View<'_>, value: u32, addr: u128) -> u32 {
    let wanted = ((addr >> 32) as u64, u64::from(addr as u32));
    let block = block_of(lines, line(value).wrapping_sub(LINE_WORDS), wanted);
    // How many of the runs start at or before the address; the first of all always does.
    let mut after = 0;
    for i in 0..BLOCK_RUNS as u32 {
        let (high, low) = (lines.word(block + i), lines.word(block + i + LINE_WORDS) >> 16);
        after += u32::from((high < wanted.0) | ((high == wanted.0) & (low <= wanted.1)));
    }
    let run = after.wrapping_sub(1) & (BLOCK_RUNS as u32 - 1);
    lines.word(block + LINE_WORDS + run) as u32 & 0xffff
}

/// The last block of a list whose first run starts at or before the address.
#[inline(never)]
fn block_of(lines: View<'_>, head: u32, wanted: (u64, u64)) -> u32 {
    let first = lines.word(head) as u32;
    let block = |i: u32| first + i * BLOCK_WORDS;
    let (mut low, mut high) = (0, lines.word(head + 1) as u32);
    while low + 1 < high {
        let middle = low.midpoint(high);
        let at = block(middle);
        let start = (lines.word(at), lines.word(at + LINE_WORDS) >> 16);
        if start <= wanted { low = middle } else { high = middle }
    }
    block(low)
}

/// A run of a tree: its last key, and its nexthop.
type Run = (u16, u16);

/// What is to be written for the spans of a /32.
pub(super) struct Shape {
    runs: Vec<Run>,
    /// Lines of each level, leaves first; none for a leaf that is a part of a line.
    levels: Vec<usize>,
}

impl Shape {
    /// For the spans of one /32, the first of which may start before it; and the blocks of a list, if there
    /// must be one.
    pub(super) fn of(spans: &[Span<u128>]) -> (Self, Option<Vec<u64>>) {
        let is_short = spans[1..].iter().all(|span| span.0.trailing_zeros() >= KEY_SHIFT);
        if is_short {
            let last = |i: usize| spans.get(i + 1).map_or(u16::MAX, |next| end(next.0));
            let runs = spans.iter().enumerate().map(|(i, span)| (last(i), span.1));
            return (Self::of_runs(runs.collect()), None);
        }
        let runs = with_escapes(spans);
        let list = list(&escaped(spans, &runs));
        (Self::of_runs(runs), Some(list))
    }

    /// For one nexthop.
    pub(super) fn of_nexthop(nexthop: u16) -> Self {
        Self::of_runs(vec![(u16::MAX, nexthop)])
    }

    fn of_runs(runs: Vec<Run>) -> Self {
        let mut levels = Vec::new();
        if runs.len() > SLOTS as usize {
            let mut lines = runs.len().div_ceil(SLOTS as usize);
            levels.push(lines);
            while lines > 1 {
                lines = lines.div_ceil(FAN_OUT);
                levels.push(lines);
            }
        }
        Self { runs, levels }
    }

    /// Words of memory.
    pub(super) fn words(&self) -> usize {
        match self.levels.iter().sum::<usize>() {
            0 => self.runs.len().div_ceil(2),
            lines => lines * LINE_WORDS as usize,
        }
    }

    /// Writes it from a word of the lines on; returns the value that leads to it.
    pub(super) fn write(&self, lines: &Region, offset: u32) -> u32 {
        // Each level after all above it.
        let mut start = offset;
        let mut starts = vec![offset; self.levels.len()];
        for (level, count) in self.levels.iter().enumerate().rev() {
            starts[level] = start;
            start += *count as u32 * LINE_WORDS;
        }
        let leaves = starts.first().copied().unwrap_or(offset);
        let mut lasts = Vec::new();
        for (leaf, runs) in self.runs.chunks(SLOTS as usize).enumerate() {
            write_leaf(lines, of_words(leaves + leaf as u32 * LINE_WORDS), runs);
            lasts.push(runs.last().map_or(u16::MAX, |run| run.0));
        }
        for (level, &start) in starts.iter().enumerate().skip(1) {
            for (i, children) in lasts.chunks(FAN_OUT).enumerate() {
                let first = starts[level - 1] + (i * FAN_OUT) as u32 * LINE_WORDS;
                let child = of_words(first) | flags(level - 1);
                write_inner(lines, start + i as u32 * LINE_WORDS, children, child);
            }
            lasts = lasts.chunks(FAN_OUT).map(|children| children[children.len() - 1]).collect();
        }
        of_words(offset) | flags(self.levels.len().saturating_sub(1))
    }
}

/// The flags for so many inner lines.
fn flags(levels: usize) -> u32 {
    [0, DEEP, DEEP | DEEPER, DEEP | DEEPER | DEEPEST][levels]
}

/// The last key before an address where a run starts.
fn end(start: u128) -> u16 {
    ((start >> KEY_SHIFT) as u16).wrapping_sub(1)
}

fn write_leaf(lines: &Region, value: u32, runs: &[Run]) {
    let line = &lines.quarters()[line(value) as usize * 4..];
    for (at, run) in ((value % SLOTS) as usize..).zip(runs) {
        line[at].store(run.0, Relaxed);
        line[at + SLOTS as usize].store(run.1, Relaxed);
    }
}

fn write_inner(lines: &Region, line: u32, lasts: &[u16], first_child: u32) {
    let line = line as usize;
    for at in 0..FAN_OUT {
        let last = lasts.get(at).copied().unwrap_or(u16::MAX);
        lines.quarters()[line * 4 + at].store(last, Relaxed);
    }
    lines.halves()[line * 2 + CHILDREN as usize].store(first_child, Relaxed);
}

/// The runs of spans, with [`ESCAPE`] for each key that more than one span touches.
fn with_escapes(spans: &[Span<u128>]) -> Vec<Run> {
    let mut runs: Vec<(u32, u16)> = Vec::new();
    let mut start = |key: u32, nexthop| {
        if runs.last().is_none_or(|last| last.1 != nexthop) {
            runs.push((key, nexthop));
        }
    };
    for (i, span) in spans.iter().enumerate() {
        let (mut from, mut is_split) = (0, false);
        if i > 0 {
            from = (span.0 >> KEY_SHIFT) as u32 & 0xffff;
            is_split = span.0.trailing_zeros() < KEY_SHIFT;
        }
        if is_split {
            start(from, ESCAPE as u16);
            from += 1;
        }
        let to = spans.get(i + 1).map_or(1 << 16, |next| (next.0 >> KEY_SHIFT) as u32 & 0xffff);
        if from < to {
            start(from, span.1);
        }
    }
    let last = |i: usize| runs.get(i + 1).map_or(u16::MAX, |next| (next.0 - 1) as u16);
    runs.iter().enumerate().map(|(i, run)| (last(i), run.1)).collect()
}

/// The spans within runs that say [`ESCAPE`], each of which begins with one of its own.
fn escaped(spans: &[Span<u128>], runs: &[Run]) -> Vec<Span<u128>> {
    let slash_32 = spans[1].0 >> 96 << 96;
    let mut escaped = Vec::new();
    let mut start = slash_32;
    for run in runs {
        let last = slash_32 | u128::from(run.0) << KEY_SHIFT | !(u128::MAX << KEY_SHIFT);
        if u32::from(run.1) == ESCAPE {
            let first = spans.partition_point(|span| span.0 <= start).saturating_sub(1);
            escaped.push((start, spans[first].1));
            let inside = spans[first + 1..].iter().take_while(|span| span.0 <= last);
            escaped.extend(inside.copied());
        }
        start = last.wrapping_add(1);
    }
    escaped
}

/// The blocks of a list of spans, of which the first begins with what is looked up in it.
fn list(spans: &[Span<u128>]) -> Vec<u64> {
    let last = spans.last().map_or(0, |span| span.1);
    let run = |i: usize| spans.get(i).copied().unwrap_or((u128::MAX, last));
    let mut words = Vec::new();
    for first in (0..spans.len()).step_by(BLOCK_RUNS) {
        words.extend((first..first + BLOCK_RUNS).map(|i| (run(i).0 >> 32) as u64));
        let low = |i: usize| u64::from(run(i).0 as u32) << 16 | u64::from(run(i).1);
        words.extend((first..first + BLOCK_RUNS).map(low));
    }
    words
}

/// The first two words of the line before a tree with a list.
pub(super) fn head(list: u32, words: usize) -> [u64; 2] {
    [u64::from(list), words as u64 / u64::from(BLOCK_WORDS)]
}

/// Where the list is to which a value leads, and how many words it has.
pub(super) fn list_of(lines: View<'_>, value: u32) -> (u32, usize) {
    let head = line(value).wrapping_sub(LINE_WORDS);
    (lines.word(head) as u32, lines.word(head + 1) as usize * BLOCK_WORDS as usize)
}
