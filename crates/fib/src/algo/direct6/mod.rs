//! `direct6`: IPv6 tables at four memory accesses and no branch for routes of up to /48.
//!
//! A first look at a table of the first 16 bits answers what has one nexthop for its whole /16. All
//! other lookups go the same way, whatever they meet: through a table of the first 16 bits, a *page*
//! for the next 16, a *node* for the 16 after them, and a *line* with up to 16 runs of equal
//! nexthops, which one vector comparison searches:
//!
//! ```text
//! page    = top[addr >> 112]
//! node    = page.entries[key(1) >> page.shift]        key(i) = addr >> 112 - 16 i & 65535
//! line    = node.entries[key(2) >> node.shift]
//! nexthop = line.nexthops[number of line.keys <= key(2), less 1]
//! ```
//!
//! Pages and nodes are as wide as they must be: a page has 2^16 entries only where routes are that
//! long, a node has one as long as its /32 has at most 16 runs. What is shorter, an empty /16 for
//! example, is a shared page of one entry, a shared node and a shared line. So there is nothing to
//! decide on the way, and the processor works on some twenty lookups at a time; a wrongly predicted
//! branch would cost as much as a whole lookup.
//!
//! Lines with routes longer than /48 have a flag and a second line with the nodes for the next 16
//! bits; what is longer than /64 ends in a sorted list. A /16 with few routes that would need a
//! large page takes this way from its first 16 bits on. Batches note the flagged lines in a mask
//! and finish them level by level. With large tables they go the fixed path level by level, too, and
//! fetch each level ahead: half as many instructions again, and nearly twice the rate of random
//! lookups that miss the nearest caches.
//!
//! Tables of direct entries with run-time shifts are those of LC-tries (Nilsson and Karlsson, "IP
//! address lookup using LC-tries", IEEE JSAC 1999); cache lines of keys searched at once are those
//! of PlanB (NSDI 2026). What is different: one path of fixed length, in which short answers go
//! through shared one-entry tables in place of tests.
//!
//! Entries are single atomic numbers; nodes and lines are never changed once readers can find them.

mod build;
mod line;
mod lines;
mod retire;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

pub use build::Direct6;

use crate::family::Inet6;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::simd::count::Count;
use crate::simd::level::{self, Kernel};
use crate::simd::records::{Direct, Records, View};

const PAGES: usize = 1 << 16;
/// An entry of `whole` that is no nexthop: the /16 has more than one.
const MORE: u32 = 1 << 31;
/// An entry of `top` and of a page: where a table of entries starts, in 32-bit numbers (27 bits), and
/// in the low 5 bits how far keys are shifted to index it.
const SHIFT_BITS: u32 = 5;
const SHIFT_MASK: u32 = (1 << SHIFT_BITS) - 1;
/// A shift that leaves nothing of a key: tables of one entry.
const KEY_BITS: u32 = 16;

/// An entry of a node: flags and the offset of a line in words.
const DEEP: u32 = 1 << 31;
/// The line is shared between all places with its nexthop.
const SHARED: u32 = 1 << 30;
/// Which key comes after a deep line: 1 to 3, or 0 for lists of the last 64 bits.
const NEXT_SHIFT: u32 = 28;
const LINE_OFFSET: u32 = (1 << NEXT_SHIFT) - 1;

/// The key that the fixed path ends with.
const LINE_KEY: u32 = 2;
/// Addresses that go through the levels together.
const STAGE: usize = 32;
/// Addresses whose deep lines are finished together.
const CHUNK: usize = 8 * STAGE;
/// Up to so many addresses of a stage beyond `whole` are looked up by themselves.
const FEW: u32 = 6;
/// From this number of routes on, a table is not expected to stay in the nearest caches.
const LARGE: usize = 4096;

/// The tables that readers use.
#[derive(Debug)]
struct Tables {
    /// [`PAGES`] numbers of 32 bits: the nexthop of a whole /16, or [`MORE`].
    whole: Records,
    /// [`PAGES`] numbers of 32 bits: pages.
    top: Records,
    records: Records,
    /// Whether batches fetch ahead.
    is_large: AtomicBool,
    /// Words of `records` that may hold data.
    used_words: AtomicUsize,
}

/// The tables in registers.
#[derive(Clone, Copy)]
struct Reader<'a> {
    whole: &'a [AtomicU32; PAGES],
    top: &'a [AtomicU32; PAGES],
    entries: Direct<'a>,
    records: View<'a>,
}

/// Bits 16 i to 16 i + 15 of an address, counted from the first.
#[inline(always)]
fn key(addr: u128, i: u32) -> u32 {
    ((addr >> 64) as u64 >> (48 - 16 * (i & 3)) & 0xffff) as u32
}

/// Where a table has its entry for a key.
#[inline(always)]
fn slot(table: u32, key: u32) -> u32 {
    (table >> SHIFT_BITS) + (key >> (table & SHIFT_MASK))
}

/// The numbers of all pages.
#[inline(always)]
fn numbers(records: &Records) -> &[AtomicU32; PAGES] {
    let numbers = records.region().halves().first_chunk();
    numbers.expect("invariant: it was made for all pages")
}

impl Tables {
    #[inline(always)]
    fn reader(&self) -> Reader<'_> {
        Reader {
            whole: numbers(&self.whole),
            top: numbers(&self.top),
            entries: self.records.direct(),
            records: self.records.view(),
        }
    }
}

impl Reader<'_> {
    /// The nexthop of an address's whole /16, or [`MORE`].
    #[inline(always)]
    fn whole(self, addr: u128) -> u32 {
        self.whole[usize::from(key(addr, 0) as u16)].load(Acquire)
    }

    /// Where the entry of an address is in its page.
    #[inline(always)]
    fn in_page(self, addr: u128) -> u32 {
        slot(self.top[usize::from(key(addr, 0) as u16)].load(Acquire), key(addr, 1))
    }

    /// The entry of a table for a key.
    #[inline(always)]
    fn entry(self, table: u32, key: u32) -> u32 {
        self.entries.half(slot(table, key))
    }

    /// The line at the end of the fixed path, with its flags.
    #[inline(always)]
    fn line(self, addr: u128) -> u32 {
        let node = self.entries.half(self.in_page(addr));
        self.entry(node, key(addr, LINE_KEY))
    }

    /// What a line says, unless it is deep.
    #[inline(always)]
    fn answer<C: Count>(self, line: u32, addr: u128) -> NexthopId {
        let count = line::count::<C>(self.records, line, key(addr, LINE_KEY));
        NexthopId(line::nexthop(self.records, line, count))
    }

    #[inline(always)]
    fn lookup<C: Count>(self, addr: u128) -> u32 {
        match self.whole(addr) {
            MORE => self.lookup_below::<C>(addr),
            nexthop => nexthop,
        }
    }

    #[inline(always)]
    fn lookup_below<C: Count>(self, addr: u128) -> u32 {
        let mut line = self.line(addr);
        let mut wanted = key(addr, LINE_KEY);
        loop {
            let count = line::count::<C>(self.records, line, wanted);
            let below = match line & DEEP {
                0 => 0,
                _ => line::below(self.records, line, count),
            };
            if below == 0 {
                return line::nexthop(self.records, line, count);
            }
            let next = line::next_key(line);
            if next == 0 {
                return line::in_list::<C>(self.records, below, addr as u64);
            }
            wanted = key(addr, next);
            line = self.entry(below, wanted);
        }
    }

    /// What `whole` says of [`STAGE`] addresses, and a bit for each for which it says [`MORE`].
    #[inline(always)]
    fn first_look<C: Count>(self, addrs: &[u128; STAGE], answers: &mut [NexthopId; STAGE]) -> u32 {
        let mut found = [0; STAGE];
        for_each_lane(|i| {
            found[i] = self.whole(addrs[i]);
            answers[i] = NexthopId(found[i]);
        });
        let more = C::high_bits(&found);
        if more.count_ones() <= FEW {
            for_each_bit(more, |i| self.entries.prefetch(self.in_page(addrs[i])));
        }
        more
    }

    /// The fixed path, one address after the other; returns the lines.
    #[inline(always)]
    fn at_once<C: Count>(
        self,
        addrs: &[u128; STAGE],
        answers: &mut [NexthopId; STAGE],
    ) -> [u32; STAGE] {
        let mut lines = [0; STAGE];
        for_each_lane(|i| {
            lines[i] = self.line(addrs[i]);
            answers[i] = self.answer::<C>(lines[i], addrs[i]);
        });
        lines
    }

    /// The fixed path, level by level, so that all addresses wait for memory together.
    #[inline(always)]
    fn by_level<C: Count>(
        self,
        addrs: &[u128; STAGE],
        answers: &mut [NexthopId; STAGE],
    ) -> [u32; STAGE] {
        let mut at = [0; STAGE];
        for_each_lane(|i| {
            at[i] = self.in_page(addrs[i]);
            self.entries.prefetch(at[i]);
        });
        for_each_lane(|i| {
            at[i] = slot(self.entries.half(at[i]), key(addrs[i], LINE_KEY));
            self.entries.prefetch(at[i]);
        });
        for_each_lane(|i| {
            at[i] = self.entries.half(at[i]);
            self.records.prefetch(at[i] & LINE_OFFSET);
        });
        for_each_lane(|i| {
            answers[i] = self.answer::<C>(at[i], addrs[i]);
        });
        at
    }

    /// Up to [`CHUNK`] lookups. Random addresses mostly fall into whole /16 without routes of their
    /// own: stages with a few exceptions look those up by themselves, after their pages have been
    /// fetched. In other stages all go the fixed path, which serves any address. What is deep there
    /// is finished for the whole chunk together: each loop of unknown length costs a wrongly
    /// predicted branch at its end.
    #[inline(always)]
    fn chunk<C: Count, const AHEAD: bool>(
        self,
        addrs: &[[u128; STAGE]],
        answers: &mut [[NexthopId; STAGE]],
    ) {
        let mut more = [0; CHUNK / STAGE];
        for ((more, addrs), answers) in more.iter_mut().zip(addrs).zip(answers.iter_mut()) {
            *more = self.first_look::<C>(addrs, answers);
        }
        let mut deep = Lanes::new();
        let stages = addrs.iter().zip(answers.iter_mut());
        for (stage, (&more, (addrs, answers))) in more.iter().zip(stages).enumerate() {
            if more.count_ones() <= FEW {
                for_each_bit(more, |i| answers[i] = NexthopId(self.lookup_below::<C>(addrs[i])));
                continue;
            }
            let lines = match AHEAD {
                true => self.by_level::<C>(addrs, answers),
                false => self.at_once::<C>(addrs, answers),
            };
            let flagged = C::high_bits(&lines);
            for_each_bit(flagged, |i| deep.push(stage * STAGE + i, lines[i], LINE_KEY, true));
        }
        if deep.count > 0 {
            self.finish::<C>(deep, addrs.as_flattened(), answers.as_flattened_mut());
        }
    }

    /// Answers the lookups whose line is deep, level by level.
    #[inline(always)]
    fn finish<C: Count>(self, mut deep: Lanes, addrs: &[u128], answers: &mut [NexthopId]) {
        let (mut below, mut lists) = (Lanes::new(), Lanes::new());
        while deep.count > 0 {
            (below.count, lists.count) = (0, 0);
            for (at, line, level) in deep.iter() {
                let Some(&addr) = addrs.get(at) else { continue };
                let count = line::count::<C>(self.records, line, key(addr, level));
                let table = line::below(self.records, line, count);
                let next = line::next_key(line);
                below.push(at, table, next, (table != 0) & (next != 0));
                lists.push(at, table, next, (table != 0) & (next == 0));
            }
            for i in 0..below.count {
                let (at, table, level) = below.get(i);
                let Some(&addr) = addrs.get(at) else { continue };
                let line = self.entry(table, key(addr, level));
                self.records.prefetch(line & LINE_OFFSET);
                below.set(i, line);
            }
            for (at, list, _) in lists.iter() {
                let (Some(&addr), Some(answer)) = (addrs.get(at), answers.get_mut(at)) else {
                    continue;
                };
                *answer = NexthopId(line::in_list::<C>(self.records, list, addr as u64));
            }
            deep.count = 0;
            for (at, line, level) in below.iter() {
                let (Some(&addr), Some(answer)) = (addrs.get(at), answers.get_mut(at)) else {
                    continue;
                };
                let count = line::count::<C>(self.records, line, key(addr, level));
                *answer = NexthopId(line::nexthop(self.records, line, count));
                deep.push(at, line, level, line & DEEP != 0);
            }
        }
    }
}

/// Addresses of a chunk that need more: their places, a line or table, and the level of its key.
struct Lanes {
    at: [u8; CHUNK],
    entry: [u32; CHUNK],
    level: [u8; CHUNK],
    count: usize,
}

impl Lanes {
    #[inline(always)]
    fn new() -> Self {
        Self { at: [0; CHUNK], entry: [0; CHUNK], level: [0; CHUNK], count: 0 }
    }

    /// Adds an address if `counts`; without a branch, as nobody can predict that.
    #[inline(always)]
    fn push(&mut self, at: usize, entry: u32, level: u32, counts: bool) {
        let i = self.count % CHUNK;
        (self.at[i], self.entry[i], self.level[i]) = (at as u8, entry, level as u8);
        self.count += usize::from(counts);
    }

    #[inline(always)]
    fn get(&self, i: usize) -> (usize, u32, u32) {
        let i = i % CHUNK;
        (usize::from(self.at[i]), self.entry[i], u32::from(self.level[i]))
    }

    #[inline(always)]
    fn set(&mut self, i: usize, entry: u32) {
        self.entry[i % CHUNK] = entry;
    }

    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = (usize, u32, u32)> {
        (0..self.count).map(|i| self.get(i))
    }
}

/// Calls `each` with all numbers below [`STAGE`]; four at a time, so that the compiler unrolls it.
#[inline(always)]
fn for_each_lane(mut each: impl FnMut(usize)) {
    for four in 0..STAGE / 4 {
        for i in 0..4 {
            each(four * 4 + i);
        }
    }
}

/// Calls `each` with the number of every bit, from the lowest.
#[inline(always)]
fn for_each_bit(mut mask: u32, mut each: impl FnMut(usize)) {
    while mask != 0 {
        each(mask.trailing_zeros() as usize % STAGE);
        mask &= mask - 1;
    }
}

struct Single<'a>(&'a Tables, u128);

impl Kernel for Single<'_> {
    type Output = NexthopId;

    #[inline(always)]
    fn run<C: Count>(self) -> NexthopId {
        let Self(tables, addr) = self;
        NexthopId(tables.reader().lookup::<C>(addr))
    }
}

struct Batch<'a>(&'a Tables, &'a [u128], &'a mut [NexthopId]);

impl Kernel for Batch<'_> {
    type Output = ();

    #[inline(always)]
    fn run<C: Count>(self) {
        let Self(tables, addrs, answers) = self;
        let reader = tables.reader();
        let count = addrs.len().min(answers.len());
        let (addrs, rest) = addrs[..count].as_chunks::<STAGE>();
        let (answers, rest_answers) = answers[..count].as_chunks_mut::<STAGE>();
        let chunks = addrs.chunks(CHUNK / STAGE).zip(answers.chunks_mut(CHUNK / STAGE));
        match tables.is_large.load(Relaxed) {
            true => chunks.for_each(|(addrs, answers)| reader.chunk::<C, true>(addrs, answers)),
            false => chunks.for_each(|(addrs, answers)| reader.chunk::<C, false>(addrs, answers)),
        }
        for (answer, &addr) in rest_answers.iter_mut().zip(rest) {
            *answer = NexthopId(reader.lookup::<C>(addr));
        }
    }
}

struct Shared(Arc<Tables>);

impl Lookup<Inet6> for Shared {
    fn lookup(&self, addr: u128) -> NexthopId {
        level::run(Single(&self.0, addr))
    }

    fn lookup_batch(&self, addrs: &[u128], answers: &mut [NexthopId]) {
        level::run(Batch(&self.0, addrs, answers));
    }

    fn memory_bytes(&self) -> usize {
        2 * PAGES * 4 + self.0.used_words.load(Relaxed) * 8
    }
}
