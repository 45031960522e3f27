//! Records in a region, found by offsets that other entries hold: reads without bounds checks that
//! are in bounds by construction.
//!
//! The region spans a power of two of words and [`MARGIN_WORDS`] more. Every offset is masked to
//! the power of two, and what is added to it is below the margin: so any number is safe to read at,
//! for the price of the `and` that strips an entry's flags anyway. A wrong offset would give a
//! wrong answer, never a stray access.
#![allow(unsafe_code)]

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

use super::cells::{Wide, Width};
use super::region::Region;

/// Words beyond the mask: the largest block that is read with an index (64 numbers of 32 bits, 256
/// of 16 bits, 64 nexthops after a bitmap, a page of 1024 numbers of 32 bits).
const MARGIN_WORDS: usize = 512;

/// Memory for records.
#[derive(Debug)]
pub(crate) struct Records {
    region: Region,
    mask: u32,
}

/// A view of records whose number is fixed and that are read by index: the first level.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Direct<'a>(View<'a>);

impl Direct<'_> {
    /// 32-bit number `index`, which wraps at the number of halves. What it leads to was written
    /// before.
    #[inline(always)]
    pub(crate) fn half(self, index: u32) -> u32 {
        let index = index as usize & (self.0.mask as usize * 2 + 1);
        // SAFETY: the masked index is below twice the number of words.
        unsafe { &*self.0.words.as_ptr().cast::<AtomicU32>().add(index) }.load(Acquire)
    }
}

impl Direct<'_> {
    /// Fetches the cache line of 32-bit number `index`.
    #[inline(always)]
    pub(crate) fn prefetch(self, index: u32) {
        self.0.prefetch(index / 2);
    }
}

/// A borrowed view of [`Records`] that fits two registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    words: &'a [AtomicU64],
    mask: u32,
}

impl Records {
    /// Room for at least `words` words; pages cost nothing until they are written. `None` without
    /// memory.
    pub(crate) fn zeroed(words: usize) -> Option<Self> {
        let words = words.max(1).next_power_of_two();
        let mask = u32::try_from(words - 1).ok()?;
        Some(Self { region: Region::zeroed(words + MARGIN_WORDS)?, mask })
    }

    /// The memory, for the builder.
    pub(crate) fn region(&self) -> &Region {
        &self.region
    }

    /// The memory as numbers of a width, for the builder.
    pub(crate) fn numbers<W: Width>(&self) -> &[W::Atomic] {
        let words = self.region.words();
        // SAFETY: the same bytes counted in smaller units, which are atomics of that width.
        unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len() * (8 / W::BYTES)) }
    }

    /// Words that offsets can reach.
    pub(crate) fn words(&self) -> usize {
        self.mask as usize + 1
    }

    /// For readers that index the whole memory.
    #[inline(always)]
    pub(crate) fn direct(&self) -> Direct<'_> {
        Direct(self.view())
    }

    /// For readers.
    #[inline(always)]
    pub(crate) fn view(&self) -> View<'_> {
        View { words: self.region.words(), mask: self.mask }
    }
}

impl<'a> View<'a> {
    /// The word at an offset.
    #[inline(always)]
    pub(crate) fn word(self, offset: u32) -> u64 {
        let index = (offset & self.mask) as usize;
        // SAFETY: the masked index is below the region's length, as `zeroed` made it.
        unsafe { self.words.get_unchecked(index) }.load(Relaxed)
    }

    /// The number that follows the word at an offset: number `ones(ends) - 1` of this width.
    #[inline(always)]
    pub(crate) fn ranked<W: Width>(self, offset: u32, ends: u64) -> u32 {
        let in_word = 8 / W::BYTES;
        let index = (offset & self.mask) as usize * in_word + ends.count_ones() as usize;
        // SAFETY: at most 71 numbers of at most 32 bits beyond the masked offset, within the margin.
        unsafe { W::read(self.words.as_ptr().cast::<W::Atomic>().add(in_word - 1), index) }
    }

    /// 32-bit number `index` (below 1024) of a block.
    #[inline(always)]
    pub(crate) fn half(self, offset: u32, index: u32) -> u32 {
        let index = (offset & self.mask) as usize * 2 + (index & 1023) as usize;
        // SAFETY: at most 1023 numbers of 32 bits beyond the masked offset, within the margin.
        unsafe { &*self.words.as_ptr().cast::<AtomicU32>().add(index) }.load(Relaxed)
    }

    /// Number `index` (below 256) of a block of this width.
    #[inline(always)]
    pub(crate) fn number<W: Width>(self, offset: u32, index: u32) -> u32 {
        let index = (offset & self.mask) as usize * (8 / W::BYTES) + (index & 255) as usize;
        // SAFETY: at most 255 numbers of at most 32 bits beyond the masked offset, within the margin.
        unsafe { W::read(self.words.as_ptr().cast(), index) }
    }

    /// 16-bit number `index` (below 256) of a block.
    #[inline(always)]
    pub(crate) fn quarter(self, offset: u32, index: u32) -> u16 {
        let index = (offset & self.mask) as usize * 4 + (index & 255) as usize;
        // SAFETY: at most 255 numbers of 16 bits beyond the masked offset, within the margin.
        unsafe { &*self.words.as_ptr().cast::<AtomicU16>().add(index) }.load(Relaxed)
    }

    /// The 32 numbers of 16 bits from an offset on: a cache line, when the offset is aligned.
    #[inline(always)]
    pub(crate) fn line(self, offset: u32) -> &'a [AtomicU16; 32] {
        let index = (offset & self.mask) as usize * 4;
        // SAFETY: 32 numbers of 16 bits from the masked offset lie within the margin; the region
        // lives as long as the view, and holds atomics.
        unsafe { &*self.words.as_ptr().cast::<AtomicU16>().add(index).cast() }
    }

    /// The 16-bit number that belongs to the last of the first `count` keys of a line: 16 keys, at
    /// least one of them counted, and 16 numbers.
    #[inline(always)]
    pub(crate) fn line_value(self, offset: u32, count: u32) -> u16 {
        let index = (offset & self.mask) as usize * 4 + 15 + (count & 31) as usize;
        // SAFETY: at most 46 numbers of 16 bits beyond the masked offset, within the margin.
        unsafe { &*self.words.as_ptr().cast::<AtomicU16>().add(index) }.load(Relaxed)
    }

    /// Number `slot` (below 64) of the 16-bit numbers after the first 16 of a line.
    #[inline(always)]
    pub(crate) fn slot(self, offset: u32, slot: u32) -> u32 {
        let line = (offset & self.mask) as usize;
        // SAFETY: at most 79 numbers of 16 bits beyond the masked offset, within the margin.
        unsafe {
            let first = self.words.as_ptr().add(line).cast::<AtomicU16>().add(16);
            Wide::read(first, (slot & 63) as usize)
        }
    }

    /// The 8 words from an offset on: a cache line, when the offset is aligned.
    #[inline(always)]
    pub(crate) fn wide_line(self, offset: u32) -> &'a [AtomicU64; 8] {
        let index = (offset & self.mask) as usize;
        // SAFETY: 8 words from the masked offset lie within the margin; the region lives as long
        // as the view, and holds atomics.
        unsafe { &*self.words.as_ptr().add(index).cast() }
    }

    /// Fetches the cache line of the word after an offset.
    #[inline(always)]
    pub(crate) fn prefetch_second(self, offset: u32) {
        super::prefetch::prefetch(self.words, (offset & self.mask) as usize + 1);
    }

    /// Fetches the cache line of an offset.
    #[inline(always)]
    pub(crate) fn prefetch(self, offset: u32) {
        super::prefetch::prefetch(self.words, (offset & self.mask) as usize);
    }
}
