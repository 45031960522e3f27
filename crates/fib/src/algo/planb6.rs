//! `planb6`: the ranges of an IPv6 table in a linearised B+-tree.
//!
//! After "PlanB" (NSDI 2026): the prefixes become disjoint ranges, their starts the keys of a
//! B+-tree whose lines follow each other level by level, so that no pointers are stored and the
//! place of a child is computed. Here the keys are the first 64 bits of a start, eight to a cache
//! line, which the compiler compares with one vector instruction; the ranges that begin within one
//! /64 are left to a sorted list. What limits it: a cache line for each level, and a BGP table of
//! 220,000 ranges has six.

use super::anew::{self, OfDump};
use super::levels;
use super::spans::{self, MAX_NEXTHOP, Span};
use super::{Algorithm, AlgorithmError, Dump, Limits, Module, TableFacts};
use crate::family::Inet6;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::simd::count::Count;
use crate::simd::level::{self, Batched, Kernel};
use crate::simd::prefetch::prefetch;

/// Keys of a line, and children of an inner line.
const KEYS: usize = 8;
/// Addresses that go down the tree together.
const STAGE: usize = 32;

/// A linearised B+-tree over ranges.
#[derive(Debug, Clone, Copy)]
pub struct PlanB6;

/// Eight keys; unused ones are the highest number, which only the last line can hold.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u64; KEYS]);

/// Marks an answer that is no nexthop but a position in `within`: more ranges begin within the key's /64.
const WITHIN: u32 = 1 << 31;

struct Tree {
    /// Levels from the root down; the last one holds the keys of all ranges.
    levels: Vec<Vec<Line>>,
    /// For each key the nexthop of the range that begins with it, or its place in `within` and [`WITHIN`].
    answers: Vec<u32>,
    /// The answer of the last key, which is also that of the positions behind it.
    last: u32,
    /// Index of the first and end in `fine`, for the /64s in which several ranges begin.
    within: Vec<(u32, u32)>,
    /// Last 64 bits of starts, for the same.
    fine: Vec<(u64, u16)>,
}

impl Algorithm<Inet6> for PlanB6 {
    fn name(&self) -> &'static str {
        "planb6"
    }

    fn limits(&self) -> Limits {
        Limits { nexthops: MAX_NEXTHOP, ..Limits::NONE }
    }

    fn preference(&self, facts: &TableFacts) -> u8 {
        if facts.prefixes < 32 { 1 } else { 165 }
    }

    fn build(&self, dump: &Dump<Inet6>) -> Result<Box<dyn Module<Inet6>>, AlgorithmError> {
        anew::build::<_, Tree>(dump)
    }
}

impl OfDump<Inet6> for Tree {
    fn of_dump(dump: &Dump<Inet6>) -> Result<Self, AlgorithmError> {
        Ok(Self::new(&spans::of_dump(dump)?))
    }
}

impl Tree {
    fn new(spans: &[Span<u128>]) -> Self {
        let high = |start: u128| (start >> 64) as u64;
        // After a /64 in which ranges begin, the last of them goes on with a key of its own.
        let next = |start: u128| (start as u64 != 0).then(|| high(start).checked_add(1)).flatten();
        let mut keys: Vec<u64> =
            spans.iter().flat_map(|span| [Some(high(span.0)), next(span.0)]).flatten().collect();
        keys.sort_unstable();
        keys.dedup();
        let (mut within, mut fine) = (Vec::new(), Vec::new());
        let mut answer = |&key: &u64| {
            let start = u128::from(key) << 64;
            let from = spans.partition_point(|span| span.0 <= start).saturating_sub(1);
            let to = spans.partition_point(|span| span.0 <= start | u128::from(u64::MAX));
            if to <= from + 1 {
                return u32::from(spans[from].1);
            }
            let first = fine.len() as u32;
            fine.extend(spans[from..to].iter().map(|span| (span.0.max(start) as u64, span.1)));
            within.push((first, fine.len() as u32));
            (within.len() - 1) as u32 | WITHIN
        };
        let answers: Vec<u32> = keys.iter().map(&mut answer).collect();
        let last = answers.last().copied().unwrap_or(0);
        let levels = levels::of_keys(&keys, (Line, |line| line.0[0]), 1);
        Self { levels, answers, last, within, fine }
    }

    /// Position among the lines of the next level (or among the keys) for an address.
    #[inline(always)]
    fn child(line: &Line, high: u64) -> usize {
        // One vector comparison and a count: `line.0.iter().filter(|key| **key <= high).count()`.
        let mut count = 0_usize;
        for key in &line.0 {
            count += usize::from(*key <= high);
        }
        count.saturating_sub(1)
    }

    #[inline(always)]
    fn answer(&self, position: usize, addr: u128) -> u32 {
        let answer = self.answers.get(position).copied().unwrap_or(self.last);
        if answer & WITHIN == 0 { answer } else { self.answer_within(answer, addr as u64) }
    }

    #[inline(never)]
    fn answer_within(&self, answer: u32, low: u64) -> u32 {
        let (first, end) = self.within.get((answer & !WITHIN) as usize).copied().unwrap_or((0, 0));
        let ranges = self.fine.get(first as usize..end as usize).unwrap_or_default();
        let after = ranges.partition_point(|range| range.0 <= low);
        ranges.get(after.wrapping_sub(1)).map_or(0, |range| u32::from(range.1))
    }

    #[inline(always)]
    fn find(&self, addr: u128) -> u32 {
        let high = (addr >> 64) as u64;
        let position = self.levels.iter().fold(0, |position, level| {
            let line = level.get(position.min(level.len() - 1));
            position * KEYS + line.map_or(0, |line| Self::child(line, high))
        });
        self.answer(position, addr)
    }

    /// Up to [`STAGE`] addresses, level by level, each line fetched before it is compared.
    #[inline(always)]
    fn stage(&self, addrs: &[u128], answers: &mut [NexthopId]) {
        let mut positions = [0usize; STAGE];
        // Counted loops: iterators that are zipped stay calls in a build of parts (see `simd::lanes`).
        let count = addrs.len().min(answers.len()).min(STAGE);
        let (addrs, answers) = (&addrs[..count], &mut answers[..count]);
        for depth in 0..self.levels.len() {
            let level = self.levels[depth].as_slice();
            let below = self.levels.get(depth + 1).map_or(&[][..], Vec::as_slice);
            // Unused keys lead beyond the end for the highest addresses only.
            let last = level.len() - 1;
            for at in 0..count {
                let line = &level[positions[at].min(last)];
                positions[at] = positions[at] * KEYS + Self::child(line, (addrs[at] >> 64) as u64);
                prefetch(below, positions[at]);
            }
        }
        for at in 0..count {
            answers[at] = NexthopId(self.answer(positions[at], addrs[at]));
        }
    }
}

struct Single<'a>(&'a Tree, u128);

impl Kernel for Single<'_> {
    type Output = NexthopId;

    #[inline(always)]
    fn run<C: Count>(self) -> NexthopId {
        NexthopId(self.0.find(self.1))
    }
}

impl Batched<u128> for &Tree {
    #[inline(always)]
    fn batch<C: Count>(self, addrs: &[u128], answers: &mut [NexthopId]) {
        let count = addrs.len().min(answers.len());
        let mut from = 0;
        while from < count {
            let to = (from + STAGE).min(count);
            self.stage(&addrs[from..to], &mut answers[from..to]);
            from = to;
        }
    }
}

impl Lookup<Inet6> for Tree {
    fn lookup(&self, addr: u128) -> NexthopId {
        level::run_one(Single(self, addr))
    }

    fn lookup_batch(&self, addrs: &[u128], answers: &mut [NexthopId]) {
        level::run_batch(self, addrs, answers);
    }

    fn memory_bytes(&self) -> usize {
        let lines: usize = self.levels.iter().map(Vec::len).sum();
        lines * size_of::<Line>()
            + size_of_val(self.answers.as_slice())
            + size_of_val(self.within.as_slice())
            + size_of_val(self.fine.as_slice())
    }
}
