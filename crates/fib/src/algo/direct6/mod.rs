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
mod deep;
mod line;
mod lines;
mod retire;
mod stages;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

pub use build::Direct6;
use deep::Lanes;
use stages::{Stages, for_each_bit, for_each_lane};

use crate::family::Inet6;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::simd::count::Count;
use crate::simd::lanes;
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
/// Addresses of a chunk that tell whether it is worth a first look, and how many of them may lie
/// beyond.
const SAMPLE: usize = 8;
const FEW_OF_SAMPLE: usize = 2;
/// From this size on, a table is not expected to stay in the nearest caches.
const LARGE_BYTES: usize = 1 << 20;

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

    /// What `whole` says of [`STAGE`] addresses.
    #[inline(always)]
    fn first_look(self, addrs: &[u128; STAGE], answers: &mut [NexthopId; STAGE]) {
        for_each_lane(|i| answers[i] = NexthopId(self.whole(addrs[i])));
    }

    /// A bit for each address for which `whole` said [`MORE`]; fetches the pages of a few.
    #[inline(always)]
    fn second_look<C: Count>(self, addrs: &[u128; STAGE], answers: &[NexthopId; STAGE]) -> u32 {
        let more = C::high_bits(&lanes::map(answers, |answer| answer.0));
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

    /// The fixed path for some stages of a chunk, level by level, so that all their addresses wait
    /// for memory together; `at` holds the lines in the end.
    #[inline(always)]
    fn by_level<C: Count>(self, mut stages: Stages<'_>, at: &mut [[u32; STAGE]; CHUNK / STAGE]) {
        stages.for_each(at, |addr, at, _| {
            *at = self.in_page(addr);
            self.entries.prefetch(*at);
        });
        stages.for_each(at, |addr, at, _| {
            *at = slot(self.entries.half(*at), key(addr, LINE_KEY));
            self.entries.prefetch(*at);
        });
        stages.for_each(at, |_, at, _| {
            *at = self.entries.half(*at);
            self.records.prefetch(*at & LINE_OFFSET);
        });
        stages.for_each(at, |addr, at, answer| *answer = self.answer::<C>(*at, addr));
    }

    /// For each stage of a chunk, a bit for each address that `whole` does not answer; all bits when
    /// a sample says that most addresses are of that kind.
    #[inline(always)]
    fn look_first<C: Count>(
        self,
        addrs: &[[u128; STAGE]],
        answers: &mut [[NexthopId; STAGE]],
    ) -> [u32; CHUNK / STAGE] {
        let mut more = [u32::MAX; CHUNK / STAGE];
        let Some(sample) = addrs.first() else { return more };
        let below = sample.iter().step_by(STAGE / SAMPLE).filter(|addr| self.whole(**addr) == MORE);
        if below.count() > FEW_OF_SAMPLE {
            return more;
        }
        // Each stage's numbers are read again by vector only after the others' have been written:
        // read at once they would wait for their way to the cache.
        for (addrs, answers) in addrs.iter().zip(answers.iter_mut()) {
            self.first_look(addrs, answers);
        }
        for ((more, addrs), answers) in more.iter_mut().zip(addrs).zip(answers.iter()) {
            *more = self.second_look::<C>(addrs, answers);
        }
        more
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
        let more = self.look_first::<C>(addrs, answers);
        let mut lines = [[0; STAGE]; CHUNK / STAGE];
        let stages = addrs.iter().zip(answers.iter_mut());
        for ((lines, &more), (addrs, answers)) in lines.iter_mut().zip(&more).zip(stages) {
            if more.count_ones() <= FEW {
                for_each_bit(more, |i| answers[i] = NexthopId(self.lookup_below::<C>(addrs[i])));
            } else if !AHEAD {
                *lines = self.at_once::<C>(addrs, answers);
            }
        }
        if AHEAD {
            self.by_level::<C>(Stages { more: &more, addrs, answers }, &mut lines);
        }
        let mut deep = Lanes::new();
        for (stage, lines) in lines.iter().enumerate().take(addrs.len()) {
            let flagged = C::high_bits(lines);
            for_each_bit(flagged, |i| deep.push(stage * STAGE + i, lines[i], LINE_KEY, true));
        }
        if deep.count > 0 {
            self.finish::<C>(deep, addrs.as_flattened(), answers.as_flattened_mut());
        }
    }
}

/// A single lookup beyond the first look.
struct Below<'a>(&'a Tables, u128);

impl Kernel for Below<'_> {
    type Output = NexthopId;

    #[inline(always)]
    fn run<C: Count>(self) -> NexthopId {
        let Self(tables, addr) = self;
        NexthopId(tables.reader().lookup_below::<C>(addr))
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
        // Loops, not `for_each`: a closure may end up outside of the code for vector units.
        if tables.is_large.load(Relaxed) {
            for (addrs, answers) in chunks {
                reader.chunk::<C, true>(addrs, answers);
            }
        } else {
            for (addrs, answers) in chunks {
                reader.chunk::<C, false>(addrs, answers);
            }
        }
        for (answer, &addr) in rest_answers.iter_mut().zip(rest) {
            *answer = NexthopId(reader.lookup::<C>(addr));
        }
    }
}

struct Shared(Arc<Tables>);

impl Lookup<Inet6> for Shared {
    fn lookup(&self, addr: u128) -> NexthopId {
        match self.0.reader().whole(addr) {
            MORE => level::run(Below(&self.0, addr)),
            nexthop => NexthopId(nexthop),
        }
    }

    fn lookup_batch(&self, addrs: &[u128], answers: &mut [NexthopId]) {
        level::run(Batch(&self.0, addrs, answers));
    }

    fn memory_bytes(&self) -> usize {
        2 * PAGES * 4 + self.0.used_words.load(Relaxed) * 8
    }
}
