//! `dxr`: a trie of two stages, then a search in a short range table, as FreeBSD has it.
//!
//! After Zec, Rizzo and Mikuc, "DXR: towards a billion routing lookups per second in software" (ACM CCR
//! 42(5), 2012), and Zec and Mikuc, "Pushing the envelope: beyond two billion IP routing lookups per
//! second on commodity CPUs" (SoftCOM 2017): the direct table of the first form becomes two stages, and
//! what is equal is kept once.
//!
//! ```text
//! page  = first[addr >> 16]
//! entry = page[addr >> 12 & 15]
//! entry is a nexthop, or a chunk: the sorted ranges of a /20, searched by halving for 12 bits
//! ```
//!
//! A range is a start of 12 bits and a nexthop of 16 in one number, so that a step of the search and
//! its answer are one access. Its limit is the search, whose dependent loads cost some steps in the
//! dense parts of a BGP table.
//!
//! A change builds anew the pages and chunks that it concerns, beside the old ones, and one atomic
//! store for each /16 leads readers to them.

mod build;
mod pieces;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

pub(crate) use build::Dxr;

use crate::family::Inet;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::simd::records::Records;

/// Bits of an address below its page.
const PAGE_SHIFT: u32 = 16;
const PAGES: usize = 1 << (32 - PAGE_SHIFT);
/// Bits of an address below its chunk.
const CHUNK_SHIFT: u32 = 12;
/// Entries of a page.
const ENTRIES: usize = 1 << (PAGE_SHIFT - CHUNK_SHIFT);
/// An entry that is a nexthop, not a chunk.
const LEAF: u32 = 1 << 31;
/// Where the start of a range stands in its number; the nexthop is below.
const START_SHIFT: u32 = 16;

/// What readers use.
struct Tables {
    /// Offset of the page of each /16, in words of `records`.
    first: Records,
    /// Pages, and chunks: how many ranges, then the ranges.
    records: Records,
    used_words: AtomicUsize,
}

impl Tables {
    #[inline(always)]
    fn find(&self, addr: u32) -> u32 {
        let records = self.records.view();
        let page = self.first.direct().half(addr >> PAGE_SHIFT);
        let entry = records.half(page, addr >> CHUNK_SHIFT & (ENTRIES as u32 - 1));
        if entry & LEAF != 0 {
            return entry & !LEAF;
        }
        // Number `i` of the chunk, of any size: a word holds two.
        let number = |i: u32| records.half(entry + i / 2, i & 1);
        // The last range that starts at or before the address; the first starts at 0. Halving without
        // branches: the number of steps depends on the chunk only.
        let below = addr & ((1 << CHUNK_SHIFT) - 1);
        let (mut at, mut left) = (1, number(0));
        while left > 1 {
            let half = left / 2;
            at += if number(at + half) >> START_SHIFT <= below { half } else { 0 };
            left -= half;
        }
        number(at) & ((1 << START_SHIFT) - 1)
    }
}

impl Lookup<Inet> for Tables {
    fn lookup(&self, addr: u32) -> NexthopId {
        NexthopId(self.find(addr))
    }

    fn lookup_batch(&self, addrs: &[u32], answers: &mut [NexthopId]) {
        for (answer, &addr) in answers.iter_mut().zip(addrs) {
            *answer = NexthopId(self.find(addr));
        }
    }

    fn memory_bytes(&self) -> usize {
        PAGES * 4 + self.used_words.load(Relaxed) * 8
    }
}

/// The tables as the framework takes them.
fn shared(tables: &Arc<Tables>) -> Arc<dyn Lookup<Inet>> {
    tables.clone()
}
