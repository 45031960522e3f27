//! `bitruns4`: IPv4 tables of any size in a few MB, two memory accesses for a lookup.
//!
//! A direct table of the first 18 bits leads to a record for 64 networks of /24 (*cells*). A
//! record is a bitmap with a bit for each cell in which a run of equal nexthops ends, followed by
//! the runs' nexthops, last run first:
//!
//! ```text
//! index   = addr >> 14
//! record  = top[index]
//! nexthop = record.nexthops[popcount(record.bitmap >> cell) - 1]     cell = addr >> 8 & 63
//! ```
//!
//! `bitmap >> cell` keeps the ends at or after the cell: their number tells the run. Nexthops take 8
//! bits as long as all numbers are below 255, else 16 bits. A record of up to 48 (28) runs lies in one
//! cache line. Above that, all 64 nexthops are stored and the bitmap is a constant of all ones (*plain*),
//! so that a lookup still touches one line and takes no branch.
//!
//! A cell with routes longer than /24 has the highest number in place of a nexthop, and a *block* of 256
//! nexthops. Before such a record stand 64 offsets of blocks, 0 for cells that have none.
//!
//! The bitmap with a count of bits is that of Asai and Ohara, "Poptrie" (SIGCOMM 2015), itself
//! after Degermark et al. (SIGCOMM 1997); run ends in place of leaf vectors, records sized to cache
//! lines and one branch-free form for sparse and dense parts are what is different here.
//!
//! A record is never changed once readers can find it: an update writes a new one, stores its
//! number into `top` and reuses the old one after a grace period.
//!
//! Where this is the table behind [`direct4`](super::direct4), records can be set *aside*: lookups that
//! begin here are told to look elsewhere, until the record is written anew.

mod build;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicUsize};

pub use build::BitRuns4;
pub(super) use build::Builder;

use crate::family::Inet;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::simd::cells::{self, Cells, LANES, Long, Width};
use crate::simd::count::Count;
use crate::simd::lanes::{self, Groups};
use crate::simd::level::{self, Kernel};
use crate::simd::records::{Records, View};

/// Bits that `top` does not look at: 64 cells of 256 addresses.
const RECORD_SHIFT: u32 = 14;
const RECORDS: usize = 1 << (32 - RECORD_SHIFT);
/// Length of the prefixes that have a record of their own: a change rewrites whole records.
pub(super) const BLOCK_LEN: u8 = (32 - RECORD_SHIFT) as u8;
const CELL_SHIFT: u32 = 8;
/// Cells of a record, and words of the offsets of their blocks.
const CELLS: usize = 64;
const CELLS_WORDS: u32 = CELLS as u32 / 2;

/// An entry of `top`: flags and the record's offset in words. Of a plain record the word before its
/// nexthops, of one with blocks the word after their offsets.
const PLAIN: u32 = 1 << 31;
const BLOCKS: u32 = 1 << 30;
/// Of a record that may be out of date.
const ASIDE: u32 = 1 << 29;
const OFFSET: u32 = ASIDE - 1;
/// The word of all ones that stands in for the bitmap of plain records.
const ALL_ONES: u32 = 0;

/// Addresses between two looks at what lies in blocks.
const STAGE: usize = 4 * LANES;

/// The tables that readers use, with nexthops of a width.
#[derive(Debug)]
pub(super) struct Tables<W> {
    top: Cells<Long, RECORDS>,
    records: Records,
    /// Words of `records` that may hold data.
    used_words: AtomicUsize,
    width: PhantomData<W>,
}

/// The tables in registers.
pub(super) struct Reader<'a, W> {
    top: &'a [AtomicU32; RECORDS],
    records: View<'a>,
    width: PhantomData<W>,
}

impl<W> Clone for Reader<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Reader<'_, W> {}

impl<W: Width> Tables<W> {
    #[inline(always)]
    pub(super) fn reader(&self) -> Reader<'_, W> {
        Reader { top: self.top.as_array(), records: self.records.view(), width: PhantomData }
    }

    /// Bytes that lookups may touch.
    pub(super) fn memory_bytes(&self) -> usize {
        RECORDS * 4 + self.used_words.load(Relaxed) * 8
    }
}

impl<W: Width> Reader<'_, W> {
    /// The nexthop of an address; `None` where its record was set aside.
    #[inline(always)]
    pub(super) fn lookup_unless_aside(self, addr: u32) -> Option<u32> {
        let entry = self.entry(addr);
        // One branch for what is common.
        if entry & (ASIDE | BLOCKS) == 0 {
            return Some(self.find(entry, addr));
        }
        (entry & ASIDE == 0).then(|| self.lookup_from(entry, addr))
    }

    /// The nexthop of an address.
    #[inline(always)]
    pub(super) fn lookup(self, addr: u32) -> u32 {
        self.lookup_from(self.entry(addr), addr)
    }

    #[inline(always)]
    fn lookup_from(self, entry: u32, addr: u32) -> u32 {
        match self.block(entry, addr) {
            0 => self.find(entry, addr),
            block => self.records.number::<W>(block, addr & 255),
        }
    }

    /// The block of an address; 0 where it has none.
    #[inline(always)]
    fn block(self, entry: u32, addr: u32) -> u32 {
        match entry & BLOCKS {
            0 => 0,
            _ => {
                let offsets = (entry & OFFSET).wrapping_sub(CELLS_WORDS);
                self.records.half(offsets, addr >> CELL_SHIFT & 63)
            }
        }
    }

    #[inline(always)]
    fn entry(self, addr: u32) -> u32 {
        Long::load(&self.top[(addr >> RECORD_SHIFT) as usize])
    }

    /// What a record says of an address, from the record's entry of `top`.
    #[inline(always)]
    fn find(self, entry: u32, addr: u32) -> u32 {
        // All ones for plain records, else 0: selects without a branch.
        let plain = (entry as i32 >> 31) as u32;
        let bitmap = self.records.word(entry & !plain | ALL_ONES & plain);
        self.records.ranked::<W>(entry, bitmap >> (addr >> CELL_SHIFT & 63))
    }

    /// Looks again for the addresses of a stage that lie in blocks, when what records said has found its
    /// way to the cache: a vector load of numbers that were just stored one by one waits for that.
    #[inline(always)]
    fn look_again<C: Count>(self, addrs: &[[u32; LANES]], answers: &mut [[NexthopId; LANES]]) {
        let left = cells::no_answers_of::<W, C>(answers);
        let again = |answer: &mut NexthopId, addr| *answer = NexthopId(self.lookup(addr));
        lanes::look_again(left, addrs, answers, again);
    }

    /// Lookups of some addresses: a stage at a time goes to its records, which are fetched, then through
    /// them, and what lies in blocks is looked for one stage later.
    ///
    /// Some 18 instructions for an address, of which fetching takes four. In one walk, a processor with
    /// room for 96 waiting instructions has but six lookups on their way at a time; with AVX-512 they have
    /// more room, and fetching was seen to gain nothing.
    #[inline(always)]
    fn batch<C: Count>(self, addrs: &[[u32; LANES]], answers: &mut [[NexthopId; LANES]]) {
        let (mut before, mut done) = (0, 0);
        let count = addrs.len().min(answers.len());
        while done < count {
            let end = count.min(done + STAGE / LANES);
            if C::HAS_AVX512 {
                self.in_one_walk(&addrs[done..end], &mut answers[done..end]);
            } else {
                self.in_two_walks(&addrs[done..end], &mut answers[done..end]);
            }
            self.look_again::<C>(&addrs[before..done], &mut answers[before..done]);
            (before, done) = (done, end);
        }
        self.look_again::<C>(&addrs[before..done], &mut answers[before..done]);
    }

    // Note: zipped, these are calls where nothing is optimised across crates.
    #[inline(always)]
    fn in_one_walk(self, addrs: &[[u32; LANES]], answers: &mut [[NexthopId; LANES]]) {
        for group in 0..addrs.len().min(answers.len()) {
            let (addrs, answers) = (&addrs[group], &mut answers[group]);
            for i in 0..LANES {
                answers[i] = NexthopId(self.find(self.entry(addrs[i]), addrs[i]));
            }
        }
    }

    #[inline(always)]
    fn in_two_walks(self, addrs: &[[u32; LANES]], answers: &mut [[NexthopId; LANES]]) {
        let mut entries = [[0; LANES]; STAGE / LANES];
        let count = addrs.len().min(answers.len()).min(entries.len());
        for group in 0..count {
            let entries = &mut entries[group];
            for i in 0..LANES {
                entries[i] = self.entry(addrs[group][i]);
                // The second word of a record lies in the line of its nexthops.
                self.records.prefetch_second(entries[i]);
            }
        }
        for group in 0..count {
            let (entries, answers) = (&entries[group], &mut answers[group]);
            for i in 0..LANES {
                answers[i] = NexthopId(self.find(entries[i], addrs[group][i]));
            }
        }
    }
}

struct Single<'a, W>(&'a Tables<W>, u32);

impl<W: Width> Kernel for Single<'_, W> {
    type Output = NexthopId;

    #[inline(always)]
    fn run<C: Count>(self) -> NexthopId {
        let Self(tables, addr) = self;
        NexthopId(tables.reader().lookup(addr))
    }
}

struct Batch<'a, W>(&'a Tables<W>, &'a [u32], &'a mut [NexthopId]);

impl<W: Width> Kernel for Batch<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<C: Count>(self) {
        let Self(tables, addrs, answers) = self;
        let reader = tables.reader();
        let Groups { addrs, answers, rest, rest_answers } =
            lanes::groups::<_, _, LANES>(addrs, answers);
        reader.batch::<C>(addrs, answers);
        for i in 0..rest.len().min(rest_answers.len()) {
            rest_answers[i] = NexthopId(reader.lookup(rest[i]));
        }
    }
}

struct Shared<W>(Arc<Tables<W>>);

impl<W: Width> Lookup<Inet> for Shared<W> {
    fn lookup(&self, addr: u32) -> NexthopId {
        level::run_one(Single(&self.0, addr))
    }

    fn lookup_batch(&self, addrs: &[u32], answers: &mut [NexthopId]) {
        level::run(Batch(&self.0, addrs, answers));
    }

    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}
