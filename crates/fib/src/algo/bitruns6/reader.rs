//! The tables, and the way of a lookup through them.

use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::{AtomicU32, AtomicUsize};

use super::layout::{
    BLOCK_PAGES, CELL_SHIFT, CELLS, MORE, PLACE_SHIFT, SHIFT_MASK, TOP_SHIFT, TOPS, key,
};
use super::tree;
use crate::simd::cells::Long;
use crate::simd::count::Count;
use crate::simd::records::{Direct, Records, View};

/// The tables that readers use.
#[derive(Debug)]
pub(super) struct Tables {
    /// The first level: for each /8 the second half of its block, in numbers of 32 bits.
    pub(super) top: Box<[AtomicU32; TOPS]>,
    pub(super) records: Records,
    /// What lies below a /32.
    pub(super) lines: Records,
    /// Words of `records` and `lines` that may hold data.
    pub(super) used_words: AtomicUsize,
}

/// The tables in registers.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) top: &'a [AtomicU32; TOPS],
    pub(super) entries: Direct<'a>,
    pub(super) records: View<'a>,
    pub(super) lines: View<'a>,
}

impl Tables {
    #[inline(always)]
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader {
            top: &self.top,
            entries: self.records.direct(),
            records: self.records.view(),
            lines: self.lines.view(),
        }
    }
}

impl Reader<'_> {
    /// Where the block of an address has its second half.
    #[inline(always)]
    fn places(self, addr: u128) -> u32 {
        self.top[(addr >> TOP_SHIFT) as usize].load(Acquire)
    }

    /// The nexthop of an address's whole /16, or [`MORE`].
    #[inline(always)]
    pub(super) fn whole(self, addr: u128) -> u32 {
        let page = key(addr, 0) % BLOCK_PAGES;
        self.entries.half(self.places(addr).wrapping_add(page).wrapping_sub(BLOCK_PAGES))
    }

    #[inline(always)]
    pub(super) fn record(self, addr: u128) -> u32 {
        let page = self.entries.half(self.places(addr).wrapping_add(key(addr, 0) % BLOCK_PAGES));
        self.entries.half((page >> PLACE_SHIFT) + (key(addr, 1) >> (page & SHIFT_MASK)))
    }

    /// What a record says of an address.
    #[inline(always)]
    pub(super) fn value(self, record: u32, addr: u128) -> u32 {
        let cell = ((addr >> 64) as u64 >> (CELL_SHIFT - 64)) as u32;
        let ends = self.records.word(record) >> (cell % CELLS as u32);
        self.records.ranked::<Long>(record, ends)
    }

    #[inline(always)]
    pub(super) fn lookup<C: Count>(self, addr: u128) -> u32 {
        match self.whole(addr) {
            nexthop if nexthop & MORE == 0 => nexthop,
            _ => self.lookup_below::<C>(addr),
        }
    }

    /// The nexthop of an address, whatever is said of its whole /16.
    #[inline(always)]
    pub(super) fn lookup_below<C: Count>(self, addr: u128) -> u32 {
        tree::find::<C>(self.lines, self.value(self.record(addr), addr), addr)
    }
}
