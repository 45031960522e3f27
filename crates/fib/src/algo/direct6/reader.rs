//! The tables, and the way of one lookup through them.

use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

use super::layout::{DEEP, LINE_KEY, MORE, PAGES, key, slot};
use super::line;
use crate::nexthop::NexthopId;
use crate::simd::count::Count;
use crate::simd::records::{Direct, Records, View};

/// The tables that readers use.
#[derive(Debug)]
pub(super) struct Tables {
    /// [`PAGES`] numbers of 32 bits: the nexthop of a whole /16, or [`MORE`] and its gaps.
    pub(super) whole: Records,
    /// [`PAGES`] numbers of 32 bits: pages.
    pub(super) top: Records,
    pub(super) records: Records,
    /// Whether lines are wide: nexthop numbers may have more than 16 bits.
    pub(super) is_wide: bool,
    /// Whether batches fetch ahead.
    pub(super) is_large: AtomicBool,
    /// Words of `records` that may hold data.
    pub(super) used_words: AtomicUsize,
}

/// The tables in registers; lines are wide or not.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a, const WIDE: bool> {
    pub(super) whole: &'a [AtomicU32; PAGES],
    pub(super) top: &'a [AtomicU32; PAGES],
    pub(super) entries: Direct<'a>,
    pub(super) records: View<'a>,
}

/// The numbers of all pages.
#[inline(always)]
pub(super) fn numbers(records: &Records) -> &[AtomicU32; PAGES] {
    let numbers = records.region().halves().first_chunk();
    numbers.expect("invariant: it was made for all pages")
}

impl Tables {
    #[inline(always)]
    pub(super) fn reader<const WIDE: bool>(&self) -> Reader<'_, WIDE> {
        Reader {
            whole: numbers(&self.whole),
            top: numbers(&self.top),
            entries: self.records.direct(),
            records: self.records.view(),
        }
    }
}

impl<const WIDE: bool> Reader<'_, WIDE> {
    /// The nexthop of an address's whole /16, or [`MORE`] and where its gaps are.
    #[inline(always)]
    pub(super) fn whole(self, addr: u128) -> u32 {
        self.whole[usize::from(key(addr, 0) as u16)].load(Acquire)
    }

    /// Where the entry of an address is in its page.
    #[inline(always)]
    pub(super) fn in_page(self, addr: u128) -> u32 {
        slot(self.top[usize::from(key(addr, 0) as u16)].load(Acquire), key(addr, 1))
    }

    /// The entry of a table for a key.
    #[inline(always)]
    pub(super) fn entry(self, table: u32, key: u32) -> u32 {
        self.entries.half(slot(table, key))
    }

    /// The line at the end of the fixed path, with its flags.
    #[inline(always)]
    pub(super) fn line(self, addr: u128) -> u32 {
        let node = self.entries.half(self.in_page(addr));
        self.entry(node, key(addr, LINE_KEY))
    }

    /// What a line says, unless it is deep.
    #[inline(always)]
    pub(super) fn answer<C: Count>(self, line: u32, addr: u128) -> NexthopId {
        let count = line::count::<C>(self.records, line, key(addr, LINE_KEY));
        NexthopId(line::nexthop::<WIDE>(self.records, line, count))
    }

    #[inline(always)]
    pub(super) fn lookup<C: Count>(self, addr: u128) -> u32 {
        match self.whole(addr) {
            nexthop if nexthop & MORE == 0 => nexthop,
            _ => self.lookup_below::<C>(addr),
        }
    }

    #[inline(always)]
    pub(super) fn lookup_below<C: Count>(self, addr: u128) -> u32 {
        match self.lookup_upper::<C>(addr) {
            Ok(nexthop) => nexthop,
            Err(list) => line::in_list::<C, WIDE>(self.records, list, addr as u64),
        }
    }

    /// The nexthop of all addresses with these first 64 bits, or the list that tells them apart.
    #[inline(always)]
    pub(super) fn lookup_upper<C: Count>(self, addr: u128) -> Result<u32, u32> {
        let mut line = self.line(addr);
        let mut wanted = key(addr, LINE_KEY);
        loop {
            let count = line::count::<C>(self.records, line, wanted);
            let below = match line & DEEP {
                0 => 0,
                _ => line::below::<WIDE>(self.records, line, count),
            };
            if below == 0 {
                return Ok(line::nexthop::<WIDE>(self.records, line, count));
            }
            let next = line::next_key(line);
            if next == 0 {
                return Err(below);
            }
            wanted = key(addr, next);
            line = self.entry(below, wanted);
        }
    }
}
