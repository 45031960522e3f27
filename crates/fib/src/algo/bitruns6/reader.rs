//! The tables, and the way of a lookup through them.

use std::sync::atomic::AtomicUsize;

use super::layout::{CELL_SHIFT, DIRECT, RECORD_SHIFT, TOP_SHIFT, TREE};
use super::tree;
use crate::simd::count::Count;
use crate::simd::cells::Long;
use crate::simd::records::{Direct, Records, View};

/// The tables that readers use.
#[derive(Debug)]
pub(super) struct Tables {
    /// [`PAGES`] numbers of 32 bits: offsets of pages, or nexthops with [`DIRECT`].
    pub(super) top: Records,
    pub(super) records: Records,
    /// Words of `records` that may hold data.
    pub(super) used_words: AtomicUsize,
}

/// The tables in registers.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) top: Direct<'a>,
    pub(super) records: View<'a>,
}

impl Tables {
    #[inline(always)]
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader { top: self.top.direct(), records: self.records.view() }
    }
}

impl Reader<'_> {
    /// The entry of `top`.
    #[inline(always)]
    pub(super) fn page(self, addr: u128) -> u32 {
        self.top.half(((addr >> 64) as u64 >> (TOP_SHIFT - 64)) as u32)
    }

    #[inline(always)]
    pub(super) fn record(self, page: u32, addr: u128) -> u32 {
        self.records.half(page, ((addr >> 64) as u64 >> (RECORD_SHIFT - 64)) as u32)
    }

    #[inline(always)]
    pub(super) fn value(self, record: u32, addr: u128) -> u32 {
        let cell = ((addr >> 64) as u64 >> (CELL_SHIFT - 64)) as u32;
        let ends = self.records.word(record) >> (cell & 63);
        self.records.ranked::<Long>(record, ends)
    }

    #[inline(always)]
    pub(super) fn lookup<C: Count>(self, addr: u128) -> u32 {
        let page = self.page(addr);
        if page & DIRECT != 0 {
            return page & !DIRECT;
        }
        match self.value(self.record(page, addr), addr) {
            value if value & TREE != 0 => tree::find::<C>(self.records, value, addr),
            nexthop => nexthop,
        }
    }
}
