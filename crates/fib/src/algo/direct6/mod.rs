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

    /// [`STAGE`] lookups. Random addresses mostly fall into whole /16 without routes of their own;
    /// where more than a few do not, all go the fixed path, which serves any address.
    #[inline(always)]
    fn stage<C: Count, const AHEAD: bool>(
        self,
        addrs: &[u128; STAGE],
        answers: &mut [NexthopId; STAGE],
    ) {
        let mut lines = [0; STAGE];
        for ((answer, whole), &addr) in answers.iter_mut().zip(&mut lines).zip(addrs) {
            *whole = self.whole(addr);
            *answer = NexthopId(*whole);
        }
        let more = C::high_bits(&lines);
        if more.count_ones() <= FEW {
            for_each_bit(more, |i| answers[i] = NexthopId(self.lookup_below::<C>(addrs[i])));
            return;
        }
        match AHEAD {
            true => self.by_level::<C>(addrs, answers, &mut lines),
            false => self.at_once::<C>(addrs, answers, &mut lines),
        }
        let deep = C::high_bits(&lines);
        if deep != 0 {
            self.finish::<C>(deep, &mut lines, addrs, answers);
        }
    }

    /// The fixed path, one address after the other.
    #[inline(always)]
    fn at_once<C: Count>(
        self,
        addrs: &[u128; STAGE],
        answers: &mut [NexthopId; STAGE],
        lines: &mut [u32; STAGE],
    ) {
        // Four at a time, so that the compiler unrolls the loop.
        let (lines, addrs) = (lines.as_chunks_mut::<4>().0, addrs.as_chunks::<4>().0);
        for ((lines, addrs), answers) in
            lines.iter_mut().zip(addrs).zip(answers.as_chunks_mut::<4>().0)
        {
            for ((line, &addr), answer) in lines.iter_mut().zip(addrs).zip(answers) {
                *line = self.line(addr);
                *answer = self.answer::<C>(*line, addr);
            }
        }
    }

    /// The fixed path, level by level, so that all addresses wait for memory together.
    #[inline(always)]
    fn by_level<C: Count>(
        self,
        addrs: &[u128; STAGE],
        answers: &mut [NexthopId; STAGE],
        lines: &mut [u32; STAGE],
    ) {
        for (slot, &addr) in lines.iter_mut().zip(addrs) {
            *slot = self.in_page(addr);
            self.entries.prefetch(*slot);
        }
        for (place, &addr) in lines.iter_mut().zip(addrs) {
            *place = slot(self.entries.half(*place), key(addr, LINE_KEY));
            self.entries.prefetch(*place);
        }
        for line in lines.iter_mut() {
            *line = self.entries.half(*line);
            self.records.prefetch(*line & LINE_OFFSET);
        }
        for ((answer, &line), &addr) in answers.iter_mut().zip(lines.iter()).zip(addrs) {
            *answer = self.answer::<C>(line, addr);
        }
    }

    /// Answers the lookups, a bit each, whose line is deep.
    #[inline(always)]
    fn finish<C: Count>(
        self,
        mut deep: u32,
        lines: &mut [u32; STAGE],
        addrs: &[u128; STAGE],
        answers: &mut [NexthopId; STAGE],
    ) {
        let mut keys = [LINE_KEY; STAGE];
        let mut tables = [0; STAGE];
        while deep != 0 {
            let (mut below, mut lists) = (0, 0);
            for_each_bit(deep, |i| {
                let count = line::count::<C>(self.records, lines[i], key(addrs[i], keys[i]));
                tables[i] = line::below(self.records, lines[i], count);
                keys[i] = line::next_key(lines[i]);
                below |= u32::from(tables[i] != 0) << i;
                lists |= u32::from(keys[i] == 0) << i;
            });
            for_each_bit(below & !lists, |i| {
                lines[i] = self.entry(tables[i], key(addrs[i], keys[i]));
                self.records.prefetch(lines[i] & LINE_OFFSET);
            });
            for_each_bit(below & lists, |i| {
                let table = tables[i];
                answers[i] = NexthopId(line::in_list::<C>(self.records, table, addrs[i] as u64));
            });
            deep = 0;
            for_each_bit(below & !lists, |i| {
                let count = line::count::<C>(self.records, lines[i], key(addrs[i], keys[i]));
                answers[i] = NexthopId(line::nexthop(self.records, lines[i], count));
                deep |= (lines[i] >> 31) << i;
            });
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
        let stages = addrs.iter().zip(answers);
        match tables.is_large.load(Relaxed) {
            true => stages.for_each(|(addrs, answers)| reader.stage::<C, true>(addrs, answers)),
            false => stages.for_each(|(addrs, answers)| reader.stage::<C, false>(addrs, answers)),
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
