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
//! `bitmap >> cell` keeps the ends at or after the cell: their number tells the run. Records are
//! powers of two in size and aligned to it, so one of up to 28 runs lies in one cache line. Above
//! that, all 64 nexthops are stored and the bitmap is a constant of all ones (*plain*), so that a
//! lookup still touches one line and takes no branch. Cells with routes longer than /24 make a
//! record *deep*: 64 numbers, each a nexthop or a block of 256 nexthops.
//!
//! The bitmap with a count of bits is that of Asai and Ohara, "Poptrie" (SIGCOMM 2015), itself
//! after Degermark et al. (SIGCOMM 1997); run ends in place of leaf vectors, records sized to cache
//! lines and one branch-free form for sparse and dense parts are what is different here.
//!
//! A record is never changed once readers can find it: an update writes a new one, stores its
//! number into `top` and reuses the old one after a grace period.

mod build;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

pub use build::BitRuns4;
pub(super) use build::Builder;

use crate::family::Inet;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::simd::count::Count;
use crate::simd::lanes::{self, Groups};
use crate::simd::level::{self, Kernel};
use crate::simd::records::{Direct, Records, View};

/// Bits that `top` does not look at: 64 cells of 256 addresses.
const RECORD_SHIFT: u32 = 14;
const RECORDS: usize = 1 << (32 - RECORD_SHIFT);
/// Length of the prefixes that have a record of their own: a change rewrites whole records.
pub(super) const BLOCK_LEN: u8 = (32 - RECORD_SHIFT) as u8;
const CELL_SHIFT: u32 = 8;

/// An entry of `top`: flags and the record's offset in words.
const PLAIN: u32 = 1 << 31;
const DEEP: u32 = 1 << 30;
const OFFSET: u32 = DEEP - 1;
/// The word of all ones that stands in for the bitmap of plain records.
const ALL_ONES: u32 = 0;
/// In a deep record: the rest is the offset of a block of 256 nexthops.
const BLOCK: u32 = 1 << 31;

/// Addresses between two looks at deep records.
const STAGE: usize = 32;

/// The tables that readers use.
#[derive(Debug)]
pub(super) struct Tables {
    /// [`RECORDS`] numbers of 32 bits, as records of two.
    top: Records,
    records: Records,
    /// Words of `records` that may hold data.
    used_words: AtomicUsize,
}

/// The tables in registers.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    top: Direct<'a>,
    records: View<'a>,
}

impl Tables {
    #[inline(always)]
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader { top: self.top.direct(), records: self.records.view() }
    }

    /// Bytes that lookups may touch.
    pub(super) fn memory_bytes(&self) -> usize {
        RECORDS * 4 + self.used_words.load(Relaxed) * 8
    }
}

impl Reader<'_> {
    /// The nexthop of an address.
    #[inline(always)]
    pub(super) fn lookup(self, addr: u32) -> u32 {
        let entry = self.entry(addr);
        match entry & DEEP {
            0 => self.find(entry, addr),
            _ => self.find_deep(entry, addr),
        }
    }

    #[inline(always)]
    fn entry(self, addr: u32) -> u32 {
        self.top.half(addr >> RECORD_SHIFT)
    }

    /// The nexthop of an address from its entry of `top`; any number for deep records.
    #[inline(always)]
    fn find(self, entry: u32, addr: u32) -> u32 {
        // All ones for plain records, else 0: selects without a branch.
        let plain = (entry as i32 >> 31) as u32;
        let bitmap = self.records.word(entry & !plain | ALL_ONES & plain);
        let ends = bitmap >> (addr >> CELL_SHIFT & 63);
        u32::from(self.records.ranked_quarter(entry, ends))
    }

    /// The nexthop of an address in a deep record.
    #[inline(always)]
    fn find_deep(self, entry: u32, addr: u32) -> u32 {
        let value = self.records.half(entry, addr >> CELL_SHIFT & 63);
        let nexthop = self.records.quarter(value, addr & 255);
        if value & BLOCK == 0 { value } else { u32::from(nexthop) }
    }

    /// [`STAGE`] lookups: all records, then the deep ones, which a bit mask tells: a branch on each
    /// address would be predicted wrongly wherever traffic meets both kinds.
    ///
    /// Some 16 instructions for an address; the processor overlaps the lookups by itself. Note: we
    /// tried stages with prefetch, which cost half as many instructions again and gained nothing
    /// while the table is in a cache.
    #[inline(always)]
    fn stage<C: Count>(self, addrs: &[u32; STAGE], answers: &mut [NexthopId; STAGE]) {
        let mut entries = [0; STAGE];
        // Note: zipped, these are calls where nothing is optimised across crates.
        for i in 0..STAGE {
            let entry = self.entry(addrs[i]);
            // The flag of deep records comes to the highest bit.
            entries[i] = entry << 1;
            answers[i] = NexthopId(self.find(entry, addrs[i]));
        }
        let mut deep = C::high_bits(&entries);
        while deep != 0 {
            let i = deep.trailing_zeros() as usize % STAGE;
            deep &= deep - 1;
            answers[i] = NexthopId(self.find_deep(entries[i] >> 1, addrs[i]));
        }
    }
}

struct Single<'a>(&'a Tables, u32);

impl Kernel for Single<'_> {
    type Output = NexthopId;

    #[inline(always)]
    fn run<C: Count>(self) -> NexthopId {
        let Self(tables, addr) = self;
        NexthopId(tables.reader().lookup(addr))
    }
}

struct Batch<'a>(&'a Tables, &'a [u32], &'a mut [NexthopId]);

impl Kernel for Batch<'_> {
    type Output = ();

    #[inline(always)]
    fn run<C: Count>(self) {
        let Self(tables, addrs, answers) = self;
        let reader = tables.reader();
        let Groups { addrs, answers, rest, rest_answers } =
            lanes::groups::<_, _, STAGE>(addrs, answers);
        // Not zipped, as above.
        for i in 0..addrs.len().min(answers.len()) {
            reader.stage::<C>(&addrs[i], &mut answers[i]);
        }
        for i in 0..rest.len().min(rest_answers.len()) {
            rest_answers[i] = NexthopId(reader.lookup(rest[i]));
        }
    }
}

struct Shared(Arc<Tables>);

impl Lookup<Inet> for Shared {
    fn lookup(&self, addr: u32) -> NexthopId {
        level::run(Single(&self.0, addr))
    }

    fn lookup_batch(&self, addrs: &[u32], answers: &mut [NexthopId]) {
        level::run(Batch(&self.0, addrs, answers));
    }

    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}
