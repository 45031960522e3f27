//! The tables, and the way of a lookup through them.

use std::sync::atomic::AtomicUsize;

use super::layout::{CELL_SHIFT, CELLS, DIRECT, PAGE_SHIFT, RECORD_SHIFT, TOP_SHIFT, TOPS, TREE};
use super::tree;
use crate::simd::cells::{Cells, Long, Width};
use crate::simd::count::Count;
use crate::simd::records::{Records, View};

/// The first level: for each /10 its record of pages.
pub(super) type Top = Cells<Long, TOPS>;

/// The tables that readers use.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) top: Top,
    pub(super) records: Records,
    /// Words of `records` that may hold data.
    pub(super) used_words: AtomicUsize,
}

/// The tables in registers.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) top: &'a [<Long as Width>::Atomic; TOPS],
    pub(super) records: View<'a>,
}

impl Tables {
    #[inline(always)]
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader { top: self.top.as_array(), records: self.records.view() }
    }
}

impl Reader<'_> {
    /// The page of an address, or its nexthop with [`DIRECT`].
    #[inline(always)]
    pub(super) fn page(self, addr: u128) -> u32 {
        let top = Long::load(&self.top[(addr >> TOP_SHIFT) as usize]);
        self.ranked(top, (addr >> PAGE_SHIFT) as u32)
    }

    #[inline(always)]
    pub(super) fn record(self, page: u32, addr: u128) -> u32 {
        self.records.half(page, ((addr >> 64) as u64 >> (RECORD_SHIFT - 64)) as u32)
    }

    #[inline(always)]
    pub(super) fn value(self, record: u32, addr: u128) -> u32 {
        self.ranked(record, ((addr >> 64) as u64 >> (CELL_SHIFT - 64)) as u32)
    }

    /// What a record says of a cell.
    #[inline(always)]
    fn ranked(self, record: u32, cell: u32) -> u32 {
        let ends = self.records.word(record) >> (cell % CELLS as u32);
        self.records.ranked::<Long>(record, ends)
    }

    #[inline(always)]
    pub(super) fn lookup<C: Count>(self, addr: u128) -> u32 {
        match self.page(addr) {
            page if page & DIRECT != 0 => page & !DIRECT,
            page => self.lookup_in::<C>(page, addr),
        }
    }

    /// The nexthop of an address in a page.
    #[inline(always)]
    pub(super) fn lookup_in<C: Count>(self, page: u32, addr: u128) -> u32 {
        match self.value(self.record(page, addr), addr) {
            value if value & TREE != 0 => tree::find::<C>(self.records, value, addr),
            nexthop => nexthop,
        }
    }
}
